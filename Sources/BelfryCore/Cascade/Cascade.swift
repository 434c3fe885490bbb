/// The ordered list of fallback devices, people and phone numbers of an alarm.
///
/// Each part is a register with the stamp of its last edit, so that two devices can edit a cascade concurrently: the
/// on/off state, the interval, the primary device and each target. `plan` combines the registers. It leaves out a
/// target whose device is the primary device or has an earlier step. `join` merges two versions.
public struct Cascade: Hashable, Sendable {
  /// A part of a cascade that is edited as a whole.
  public enum Part: Hashable, Sendable {
    /// The on/off state, the interval and the primary device.
    case on, every, primary
    /// The target with this `CascadeTarget.key`.
    case target(String)
  }

  /// The value of a part.
  public enum Value: Hashable, Sendable {
    /// True if the cascade is on.
    case on(Bool)
    /// The interval in seconds.
    case every(Int64)
    /// The primary device; nil for none.
    case primary(Identifier?)
    /// A target. Targets ring in the order of their positions; equal positions are ordered by key.
    case target(CascadeTarget, position: Int64)
    /// A target that was removed.
    case removed
  }

  /// The value of a part with the stamp of its last edit.
  public struct Register: Hashable, Sendable {
    /// The value.
    public let value: Value
    /// The stamp of the last edit. A value without a stamp is older than any stamped one.
    public let stamp: Stamp?

    /// Creates a register.
    public init(_ value: Value, _ stamp: Stamp?) {
      self.value = value
      self.stamp = stamp
    }
  }

  /// A plan that was in force until an edit replaced it.
  public struct Version: Hashable, Sendable {
    /// The replaced plan.
    public let plan: Plan
    /// The time of the edit.
    public let until: Instant

    /// Creates a version.
    public init(plan: Plan, until: Instant) {
      self.plan = plan
      self.until = until
    }
  }

  /// The parts that were set. Any other part has its default value, and any other target does not exist.
  public let registers: [Part: Register]
  /// The latest eight replaced plans, oldest first. They apply to occurrences that were due at the time. They leave out
  /// the tasks on a phone, which earlier versions of Belfry would lose.
  public let earlier: [Version]
  private let current: Plan

  /// The default time between two steps, in seconds.
  public static let interval: Int64 = 120
  /// The allowed time between two steps, in seconds.
  public static let intervals: ClosedRange<Int64> = 5...3600
  /// The maximum number of targets that commands add to one cascade. A merge can exceed it.
  public static let maxTargets = 12
  /// The age in seconds at which earlier plans are dropped. A cascade without a snooze ends sooner.
  private static let versionLifetime: Int64 = 86_400
  private static let maxVersionCount = 8

  init(registers: [Part: Register], earlier: [Version]) {
    self.registers = registers
    // One order and one limit for all sources keep the join associative.
    let ordered = Set(earlier).sorted {
      ($0.until, $0.plan.canonicalText) < ($1.until, $1.plan.canonicalText)
    }
    self.earlier = Array(ordered.suffix(Cascade.maxVersionCount))
    current = Plan(registers)
    assert(
      Set(current.targets.map(\.key)).count == current.targets.count, "each target has one step")
    assert(
      Set(current.targets.compactMap(\.device)).count
        == current.targets.count(where: { $0.device != nil }),
      "each device has one step")
  }

  /// Creates a cascade from a plan.
  ///
  /// - Parameters:
  ///   - plan: the values of the parts.
  ///   - stamps: the stamps of the parts that have one, removed targets included.
  ///   - positions: the recorded positions of targets, by key. The order in `plan` takes precedence.
  ///   - earlier: the replaced plans.
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

  /// The current plan. A part that is set keeps its stamp until `stamped(against:at:by:)`.
  public var plan: Plan {
    get { current }
    set { self = with(newValue) }
  }

  /// Returns the plan that was in force at a moment.
  ///
  /// It is the earlier version of that time, updated with every register whose last edit is not later than the moment:
  /// each of two devices that edit concurrently keeps only the version before its own edit. So the step of the tasks on a
  /// phone is in force unless it was itself edited since.
  public func plan(at moment: Instant) -> Plan {
    guard let version = earlier.first(where: { moment < $0.until }) else { return plan }
    let settled = registers.filter { _, register in
      register.stamp.map { $0.time <= moment } ?? false
    }
    return version.plan.with(settled)
  }

  /// Returns the cascade with another plan that was in force until now.
  func keeping(_ plan: Plan, until now: Instant) -> Cascade {
    let recent = earlier.filter {
      $0.until > now.adding(seconds: -Cascade.versionLifetime) && $0.until <= now
    }
    // Alarms are due at whole minutes: a plan that was replaced within one never applied.
    let isPassing =
      recent.last.map { $0.until.milliseconds / 60_000 == now.milliseconds / 60_000 } ?? false
    var plan = plan
    plan.targets.removeAll { $0 == .phoneTasks }
    let versions = isPassing ? recent : recent + [Version(plan: plan, until: now)]
    return Cascade(registers: registers, earlier: versions)
  }
}

extension Cascade.Plan {
  /// Creates the plan that registers describe.
  fileprivate init(_ registers: [Cascade.Part: Cascade.Register]) {
    self = Cascade.Plan().with(registers)
  }

  /// Returns the plan with the values of some registers. New targets are appended in the order of their positions.
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
    plan.targets += added.filter { $0.target != .phoneTasks }
      .sorted { ($0.position, $0.key) < ($1.position, $1.key) }.map(\.target)
    if let tasks = added.first(where: { $0.target == .phoneTasks }) {
      // An earlier version of the cascade leaves it out.
      let place = plan.targets.firstIndex { target in
        guard case .target(_, let position)? = registers[.target(target.key)]?.value else {
          return false
        }
        return (position, target.key) > (tasks.position, tasks.key)
      }
      plan.targets.insert(.phoneTasks, at: place ?? plan.targets.count)
    }
    // Two devices can have given one device two steps: it rings once, at the earlier step.
    var places = Set([plan.primary].compactMap { $0 })
    plan.targets.removeAll { target in target.device.map { !places.insert($0).inserted } ?? false }
    return plan
  }
}

extension Cascade {
  /// A text that is equal for two cascades exactly if they are equal, earlier plans included.
  var canonicalText: String {
    let versions = earlier.map { "\($0.plan.canonicalText) until \($0.until.rfc3339Milliseconds)" }
    return ([plan.canonicalText] + versions.reversed()).joined(separator: "; before ")
  }
}

extension Cascade.Part {
  /// The name in commits and records: `cascade.every`, `cascade.person Jen`.
  public var name: String {
    switch self {
    case .on: "cascade.on"
    case .every: "cascade.every"
    case .primary: "cascade.primary"
    case .target(let key): "cascade.\(key)"
    }
  }

  /// Creates a part from its `name`; nil for any other text.
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
  /// The value as text for comparison. It omits the position of a target.
  public var text: String { fieldText.plain }
}
