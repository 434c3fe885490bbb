/// What a person set up: a title, a schedule, how to deliver it, and how far it has come.
///
/// Each definition field is a register of its own: its stamp tells which of two edits stands.
public struct Alarm: Hashable, Sendable {
  public let id: Identifier
  public var title: String
  public var note: String?
  public var enabled: Bool
  public var schedule: Schedule
  public var zone: Zone
  public var delivery: Delivery
  /// When it does not come, by a person's wish.
  public var pause: Pause?
  /// Who rings when the first device stays silent; nil while nobody has thought of it.
  public var cascade: Cascade?
  /// The time zone that all devices of a cascadeRun follow while the alarm's zone is `floating`: that of the first
  /// device, which updates it when it travels. An IANA name, or `UTC-08:00` where the zone has no name; nil while
  /// the first device has not recorded it.
  public var cascadeZone: String?
  /// The partner who set it; nil for the store's own people.
  public var partner: PartnerOrigin?
  public var progress: Progress
  /// When each field was last edited, by whom.
  public var stamps: [Field: Stamp]
  /// Set once the alarm has been deleted: the stamps that the deletion had seen.
  ///
  /// The definition stays beside it, so that an edit made elsewhere before the deletion was known
  /// can bring the whole alarm back, and so that joining stays associative.
  public var deletion: [Field: Stamp]?
  /// Keys that this version does not know, as canonical JSON by path (`key` or `object/key`).
  public var extras: [String: String]

  /// The fields a person edits, as records name them.
  public enum Field: String, CaseIterable, Comparable, Sendable {
    case cascade, cascadeZone, delivery, enabled, note, partner, pause, schedule, title, zone

    /// Most alarms never had it, and have no stamp of it.
    var isOptional: Bool {
      switch self {
      case .pause, .cascade, .cascadeZone, .partner: true
      case .delivery, .enabled, .note, .schedule, .title, .zone: false
      }
    }

    public static func < (a: Field, b: Field) -> Bool { a.rawValue < b.rawValue }
  }

  /// Whose wall clock the schedule speaks of.
  public enum Zone: Hashable, Sendable {
    /// That of wherever the device is.
    case floating
    /// That of a place, by its IANA name.
    case named(String)

    /// `floating` or the IANA name.
    public var text: String {
      switch self {
      case .floating: "floating"
      case .named(let name): name
      }
    }
  }

  /// How the alarm reaches a person.
  public struct Delivery: Hashable, Sendable {
    /// Rings on until it is answered; otherwise it is missed after the ring time-out.
    public var persistent: Bool
    /// The name of a sound; nil for the device's own choice.
    public var sound: String?
    /// Stopped, it rings again where others only ask, and it waits for somebody's word even when the
    /// next occurrence comes.
    public var strict: Bool
    /// When it asks again after it was stopped; nil for the settings' own.
    public var followUps: FollowUpPlan?
    /// When word of it is given ahead of its time; nil for never.
    public var warnings: WarningPlan?
    /// The devices that ring for it; none named: every one.
    public var devices: Set<Identifier>

    /// Whether one of the devices of a store is to ring for it.
    ///
    /// - Parameter known: the devices that there are. When none of those that are named is among them, all ring: rather
    ///   a false alarm than a missed one.
    public func rings(on device: Identifier, known: Set<Identifier>) -> Bool {
      devices.isEmpty || devices.contains(device) || devices.isDisjoint(with: known)
    }

    public init(
      persistent: Bool = false, sound: String? = nil, strict: Bool = false,
      followUps: FollowUpPlan? = nil, warnings: WarningPlan? = nil, devices: Set<Identifier> = []
    ) {
      self.warnings = warnings
      self.devices = devices
      self.persistent = persistent
      self.sound = sound
      self.strict = strict
      self.followUps = followUps
    }
  }

  public init(
    id: Identifier, title: String, note: String? = nil, enabled: Bool = true, schedule: Schedule,
    zone: Zone = .floating, delivery: Delivery = Delivery(), pause: Pause? = nil,
    cascade: Cascade? = nil, cascadeZone: String? = nil, partner: PartnerOrigin? = nil,
    progress: Progress,
    stamps: [Field: Stamp] = [:],
    deletion: [Field: Stamp]? = nil,
    extras: [String: String] = [:]
  ) {
    self.id = id
    self.title = title
    self.note = note
    self.enabled = enabled
    self.schedule = schedule
    self.zone = zone
    self.delivery = delivery
    self.pause = pause
    self.cascade = cascade
    self.cascadeZone = cascadeZone
    self.partner = partner
    self.progress = progress
    self.stamps = stamps
    self.deletion = deletion
    self.extras = extras
  }

  /// Whether a deletion stands: no field was edited that it had not seen.
  ///
  /// `cascadeZone` is recorded without a person's doing, so that it overrules no deletion.
  public var isDeleted: Bool {
    guard let deletion else { return false }
    return stamps.allSatisfy { field, stamp in
      field == .cascadeZone || deletion[field].map { stamp <= $0 } ?? false
    }
  }

  /// The latest stamp in the record: the next edit's must be later.
  public var latestStamp: Stamp? {
    (Array(stamps.values) + Array((deletion ?? [:]).values)
      + (cascade?.registers.values.compactMap(\.stamp) ?? [])).max()
  }

  /// The value of a field as text, for comparing and for telling a person.
  public func text(of field: Field) -> String {
    switch field {
    case .title: title
    case .note: note ?? ""
    case .enabled: enabled ? "enabled" : "disabled"
    case .schedule: schedule.canonicalText
    case .zone: zone.text
    case .delivery:
      (delivery.persistent ? "persistent" : "not persistent")
        + (delivery.sound.map { ", sound \($0)" } ?? "") + (delivery.strict ? ", strict" : "")
        + (delivery.followUps.map { ", follow-ups \($0)" } ?? "")
        + (delivery.warnings.map { ", warnings \($0)" } ?? "")
        + (delivery.devices.isEmpty
          ? "" : ", on \(delivery.devices.map(\.text).sorted().joined(separator: " "))")
    case .pause: pause.map { "from \($0.from) until \($0.until)" } ?? ""
    case .cascade: cascade?.canonicalText ?? ""
    case .cascadeZone: cascadeZone ?? ""
    case .partner:
      partner.map { origin in
        "\(origin.partnership) \(origin.request) \(origin.name)"
          + (origin.quiet.map { ", quiet \($0)" } ?? "")
      } ?? ""
    }
  }

  /// Takes a field's value over from another version, not its stamp.
  mutating func take(_ field: Field, from other: Alarm) {
    switch field {
    case .title: title = other.title
    case .note: note = other.note
    case .enabled: enabled = other.enabled
    case .schedule: schedule = other.schedule
    case .zone: zone = other.zone
    case .delivery: delivery = other.delivery
    case .pause: pause = other.pause
    case .cascade where cascade == nil: cascade = other.cascade
    case .cascade: cascade?.plan = other.cascade?.plan ?? Cascade.Plan()
    case .cascadeZone: cascadeZone = other.cascadeZone
    case .partner: partner = other.partner
    }
  }
}

extension Schedule {
  /// Words that are equal exactly when two schedules are.
  var canonicalText: String {
    guard let cadence = recurrence.cadence else { return summary }
    return "\(summary); every \(cadence.interval) from \(cadence.start)"
  }
}
