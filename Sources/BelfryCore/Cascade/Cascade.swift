/// Who is to ring when the first device stays silent, one after the other.
///
/// Two devices may edit it without knowing of each other, so each part of it is a register of its own, with the stamp
/// of its last edit: whether it is on, the interval, the first device, and every one of the targets. `plan` is what
/// they make together: it leaves out a target whose device rings first or has an earlier place. See `join` for how two
/// versions become one.
public struct Cascade: Hashable, Sendable {
  /// One part, which is edited as a whole.
  public enum Part: Hashable, Sendable {
    case on, every, primary
    /// A target, by its `CascadeTarget.key`.
    case target(String)
  }

  /// The value of a part.
  public enum Value: Hashable, Sendable {
    case on(Bool)
    /// In seconds.
    case every(Int64)
    case primary(Identifier?)
    /// Targets ring in the order of their positions, and of their keys where two have the same.
    case target(CascadeTarget, position: Int64)
    /// A target that was in the list.
    case removed
  }

  /// A part's value with the stamp of its last edit.
  public struct Register: Hashable, Sendable {
    public let value: Value
    /// The last edit; nil for a value that nobody has stamped, which is older than any other.
    public let stamp: Stamp?

    public init(_ value: Value, _ stamp: Stamp?) {
      self.value = value
      self.stamp = stamp
    }
  }

  /// A list as it stood until a moment.
  public struct Version: Hashable, Sendable {
    public let plan: Plan
    /// The moment of the edit that replaced it.
    public let until: Instant

    public init(plan: Plan, until: Instant) {
      self.plan = plan
      self.until = until
    }
  }

  /// The parts that somebody has set; another has its default value, or is no target.
  public let registers: [Part: Register]
  /// The latest eight earlier versions, the oldest first. Occurrences that were due then go by them.
  public let earlier: [Version]
  private let current: Plan

  /// 120 s.
  public static let interval: Int64 = 120
  /// The shortest and the longest time between two, in seconds.
  public static let intervals: ClosedRange<Int64> = 5...3600
  /// The most targets that a person can add to one alarm. A join may bring more.
  public static let most = 12
  /// The age in seconds at which what stood before is dropped; no cascade lasts as long without a snooze.
  private static let kept: Int64 = 86_400
  private static let mostVersions = 8

  init(registers: [Part: Register], earlier: [Version]) {
    self.registers = registers
    // One order and one bound wherever they come from, so that joining stays associative.
    let ordered = Set(earlier).sorted {
      ($0.until, $0.plan.canonicalText) < ($1.until, $1.plan.canonicalText)
    }
    self.earlier = Array(ordered.suffix(Cascade.mostVersions))
    current = Plan(registers)
  }

  /// - Parameters:
  ///   - plan: gets no stamps.
  ///   - stamps: of the parts that have one; those of removed targets included.
  ///   - positions: of targets, by key, as a record gives them. The order of `plan` stands over them.
  public init(
    _ plan: Plan = Plan(), stamps: [Part: Stamp] = [:], positions: [String: Int64] = [:],
    earlier: [Version] = []
  ) {
    let defaults = Plan()
    var registers: [Part: Register] = [:]
    func set(_ part: Part, _ value: Value, isDefault: Bool) {
      if isDefault, stamps[part] == nil { return }
      registers[part] = Register(value, stamps[part])
    }
    set(.on, .on(plan.isOn), isDefault: plan.isOn == defaults.isOn)
    set(.every, .every(plan.interval), isDefault: plan.interval == defaults.interval)
    set(.primary, .primary(plan.primary), isDefault: plan.primary == nil)
    for case (.target(let key), let stamp) in stamps {
      registers[.target(key)] = Register(.removed, stamp)
    }
    let places = TargetOrder.positions(of: plan.targets.map(\.key), keeping: positions)
    for target in plan.targets {
      let part = Part.target(target.key)
      registers[part] = Register(
        .target(target, position: places[target.key] ?? 0), stamps[part])
    }
    self.init(registers: registers, earlier: earlier)
  }

  /// The list as it stands. What is set to another value keeps its stamp until `stamped(against:at:by:)`.
  public var plan: Plan {
    get { current }
    set { self = with(newValue) }
  }

  /// The list as it stood at a moment.
  ///
  /// The earlier version of then, with every part as it is now whose last edit was no later: two devices that edited
  /// without knowing of each other each kept the version from before their own edit only.
  public func plan(at moment: Instant) -> Plan {
    guard let version = earlier.first(where: { moment < $0.until }) else { return plan }
    let settled = registers.filter { _, register in
      register.stamp.map { $0.time <= moment } ?? false
    }
    return version.plan.with(settled)
  }

  /// The same with another version that stood until now.
  func keeping(_ plan: Plan, until now: Instant) -> Cascade {
    let recent = earlier.filter { $0.until > now.adding(seconds: -Cascade.kept) && $0.until <= now }
    // Alarms come at whole minutes: what stood within one was never in force.
    let isPassing =
      recent.last.map { $0.until.milliseconds / 60_000 == now.milliseconds / 60_000 } ?? false
    let versions = isPassing ? recent : recent + [Version(plan: plan, until: now)]
    return Cascade(registers: registers, earlier: versions)
  }
}

extension Cascade.Plan {
  /// The list that registers make together.
  fileprivate init(_ registers: [Cascade.Part: Cascade.Register]) {
    self = Cascade.Plan().with(registers)
  }

  /// The list with some parts as registers have them. Targets that it lacks follow, in the order of their positions.
  fileprivate func with(_ registers: [Cascade.Part: Cascade.Register]) -> Cascade.Plan {
    var plan = self
    var added: [(position: Int64, key: String, target: CascadeTarget)] = []
    for (part, register) in registers {
      switch (part, register.value) {
      case (_, .on(let isOn)): plan.isOn = isOn
      case (_, .every(let interval)): plan.interval = interval
      case (_, .primary(let primary)): plan.primary = primary
      case (.target(let key), .target(let target, let position)):
        if let index = plan.targets.firstIndex(where: { $0.key == key }) {
          plan.targets[index] = target
        } else {
          added.append((position, key, target))
        }
      case (.target(let key), .removed): plan.targets.removeAll { $0.key == key }
      case (_, .target), (_, .removed): break
      }
    }
    plan.targets += added.sorted { ($0.position, $0.key) < ($1.position, $1.key) }.map(\.target)
    // Two devices can have given one device two places: each rings once, as early as it can.
    var places = Set([plan.primary].compactMap { $0 })
    plan.targets.removeAll { target in target.device.map { !places.insert($0).inserted } ?? false }
    return plan
  }
}

extension Cascade {
  /// Words that are equal exactly when two lists are, with what stood before.
  var canonicalText: String {
    let versions = earlier.map { "\($0.plan.canonicalText) until \($0.until.rfc3339Milliseconds)" }
    return ([plan.canonicalText] + versions.reversed()).joined(separator: "; before ")
  }
}

extension Cascade.Part {
  /// As commits and documents name it: `cascade.every`, `cascade.person Jen`.
  public var name: String {
    switch self {
    case .on: "cascade.on"
    case .every: "cascade.every"
    case .primary: "cascade.primary"
    case .target(let key): "cascade.\(key)"
    }
  }

  /// Reads what `name` writes; nil for anything else.
  public init?(name: String) {
    guard name.hasPrefix("cascade.") else { return nil }
    let part = String(name.dropFirst("cascade.".count))
    switch part {
    case "on": self = .on
    case "every": self = .every
    case "primary": self = .primary
    default:
      guard ["device ", "person ", "phone "].contains(where: part.hasPrefix) else { return nil }
      self = .target(part)
    }
  }
}

extension Cascade.Value {
  /// The value as text, which is compared and shown. The position of a target is left out.
  public var text: String {
    switch self {
    case .on(let isOn): isOn ? "on" : "off"
    case .every(let interval): Span.code(interval)
    case .primary(let primary): primary?.text ?? ""
    case .target(let target, _): target.canonicalText
    case .removed: "removed"
    }
  }
}
