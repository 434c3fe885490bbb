/// Who is to ring when the first device stays silent, one after the other.
public struct Backup: Hashable, Sendable {
  /// The list as it stands.
  public var plan: Plan
  /// What stood before, and until when, the oldest first: what was due then goes by it.
  public private(set) var earlier: [Version]

  public struct Version: Hashable, Sendable {
    public let plan: Plan
    /// The moment of the edit that replaced it.
    public let until: Instant

    public init(plan: Plan, until: Instant) {
      self.plan = plan
      self.until = until
    }
  }

  /// A list of backups.
  public struct Plan: Hashable, Sendable {
    public var isOn: Bool
    /// Between one and the next, in seconds.
    public var interval: Int64
    /// The device that the alarm is at home on: it rings at its time, and calls speak of it.
    public var primary: Identifier?
    public var targets: [BackupTarget]

    public init(
      isOn: Bool = false, interval: Int64 = Backup.interval, primary: Identifier? = nil,
      targets: [BackupTarget] = []
    ) {
      self.isOn = isOn
      self.interval = interval
      self.primary = primary
      self.targets = targets
    }

    /// Whether any number is to be called.
    public var calls: Bool { targets.contains(where: \.isPhone) }

    /// Whether anybody is to ring after the first device.
    public var isActive: Bool { isOn && !targets.isEmpty }

    /// The place of a device in the list, the first is 1; nil when it has none.
    public func step(of device: Identifier) -> Int? {
      targets.firstIndex { $0.device == device }.map { $0 + 1 }
    }

    /// When each would ring of what is due at a moment, if nobody ever answers.
    public func preview(due: Instant) -> [(target: BackupTarget, at: Instant)] {
      targets.enumerated().map { index, target in
        (target, due.adding(seconds: Int64(index + 1) * interval))
      }
    }
  }

  /// Two minutes.
  public static let interval: Int64 = 120
  /// The shortest and the longest time between two, in seconds.
  public static let intervals: ClosedRange<Int64> = 5...3600
  /// The most backups of one alarm.
  public static let most = 12
  /// For so long what stood before is kept, in seconds; no cascade lasts for so long without a snooze.
  private static let kept: Int64 = 86_400
  private static let mostVersions = 8

  public init(_ plan: Plan = Plan(), earlier: [Version] = []) {
    self.plan = plan
    self.earlier = earlier
  }

  /// The list as it stood at a moment.
  public func plan(at moment: Instant) -> Plan {
    earlier.first { moment < $0.until }?.plan ?? plan
  }

  /// The same with another list from a moment on.
  public func replaced(by plan: Plan, at now: Instant) -> Backup {
    let recent = earlier.filter { $0.until > now.adding(seconds: -Backup.kept) && $0.until <= now }
    // Alarms come at whole minutes: what stood within one was never in force.
    let isPassing =
      recent.last.map { $0.until.milliseconds / 60_000 == now.milliseconds / 60_000 } ?? false
    let versions = isPassing ? recent : recent + [Version(plan: self.plan, until: now)]
    return Backup(plan, earlier: Array(versions.suffix(Backup.mostVersions)))
  }
}

/// One of those who ring when the first device stays silent.
public enum BackupTarget: Hashable, Sendable {
  /// A device of the store.
  case device(Identifier)
  /// Somebody else.
  case person(BackupPerson)
  /// Called, and told so in a voice; the message is what a person added.
  case phone(PhoneNumber, message: String?)

  /// The device of the store that rings for it; nil where none does.
  public var device: Identifier? {
    switch self {
    case .device(let id): id
    case .person(let person): person.device
    case .phone: nil
    }
  }

  /// Whether it is called.
  public var isPhone: Bool {
    if case .phone = self { true } else { false }
  }

  /// Whether it is reached through whichever device can, and not by a device's own ringing.
  public var isRemote: Bool { device == nil }

  /// What tells it from the others of a list, and names what is agreed on about it.
  public var key: String {
    switch self {
    case .device(let id): "device \(id)"
    case .person(let person): "person \(person.name)"
    case .phone(let number, _): "phone \(number)"
    }
  }
}

/// Somebody who is to be woken in another's place.
public struct BackupPerson: Hashable, Sendable {
  public var name: String
  /// A device of the store that is theirs; nil where they are reached by `address`.
  public var device: Identifier?
  /// How they are reached otherwise, as the hook `person` understands it: an address such as `https://ntfy.sh/…`.
  public var address: String?
  /// What rings there, in words: `iPhone`.
  public var gadget: String?

  /// The longest name and the longest address, in characters.
  public static let longestName = 64
  public static let longestAddress = 512

  public init(
    name: String, device: Identifier? = nil, address: String? = nil, gadget: String? = nil
  ) {
    self.name = name
    self.device = device
    self.address = address
    self.gadget = gadget
  }
}

extension BackupTarget {
  /// The longest message that a call adds, in characters.
  public static let longestMessage = 500

  /// What rings, in words: `Watch`, `Jen's iPhone`, `(555) 123-4567`.
  ///
  /// - Parameter names: what people call the devices.
  public func label(_ names: [Identifier: String]) -> String {
    switch self {
    case .device(let id): return names[id] ?? "device \(id.short)"
    case .person(let person):
      guard let gadget = person.gadget ?? person.device.map({ names[$0] ?? $0.short }) else {
        return person.name
      }
      return gadget.lowercased().hasPrefix(person.name.lowercased())
        ? gadget : "\(person.name)'s \(gadget)"
    case .phone(let number, _): return number.shown
    }
  }

  /// What happens, in words: `Alarm on Watch`, `Call (555) 123-4567`.
  public func deed(_ names: [Identifier: String]) -> String {
    switch self {
    case .phone: "Call \(label(names))"
    case .person(let person) where person.device == nil && person.gadget == nil:
      "Message to \(label(names))"
    case .device, .person: "Alarm on \(label(names))"
    }
  }
}

extension Backup {
  /// Words that are equal exactly when two are.
  var canonicalText: String {
    let versions = earlier.map { "\($0.plan.canonicalText) until \($0.until.rfc3339Milliseconds)" }
    return ([plan.canonicalText] + versions.reversed()).joined(separator: "; before ")
  }
}

extension Backup.Plan {
  fileprivate var canonicalText: String {
    let list = targets.map { target in
      switch target {
      case .device: target.key
      case .person(let person):
        target.key
          + [person.device.map { " on \($0)" }, person.address.map { " at \($0)" }, person.gadget]
          .compactMap { $0 }.joined(separator: " ")
      case .phone(_, let message): target.key + (message.map { " saying \($0)" } ?? "")
      }
    }
    return "\(isOn ? "on" : "off"), every \(Span.code(interval))"
      + (primary.map { ", first \($0)" } ?? "") + list.map { ", \($0)" }.joined()
  }
}

extension Alarm {
  /// The backups as they stood when something was due; nil when nobody was to ring.
  public func backupPlan(at due: Instant) -> Backup.Plan? {
    guard let plan = backup?.plan(at: due), plan.isActive else { return nil }
    return plan
  }

  /// Returns true when a device rings at the alarm's time, and not as a backup of a list, while every device counts as
  /// alive: the first two rules of `role(of:seenBy:plan:)`.
  public func ringsFirst(
    on device: Identifier, known: Set<Identifier>, plan: Backup.Plan?
  ) -> Bool {
    role(of: device, seenBy: Viewer(device: device, known: known), plan: plan) != nil
  }
}
