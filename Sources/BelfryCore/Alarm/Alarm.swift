/// An alarm as the user defined it, with its progress.
///
/// Each definition field is a last-writer-wins register: the later stamp decides between two edits of the field.
public struct Alarm: Hashable, Sendable {
  /// The alarm's identifier, the same on every device.
  public let id: Identifier
  /// The title, 1 to 200 characters; see `AlarmText.title`.
  public var title: String
  /// The note, up to 2,000 characters; nil if there is none.
  public var note: String?
  /// The tags.
  public var tags: Set<AlarmTag>
  /// True if the alarm is enabled. A disabled alarm never fires.
  public var enabled: Bool
  /// The recurrence rule and the times of day, in civil time.
  public var schedule: Schedule
  /// The zone of the schedule's civil times.
  public var zone: Zone
  /// The delivery options.
  public var delivery: Delivery
  /// The period in which no occurrence fires; nil if there is none.
  public var pause: Pause?
  /// The devices, people and phone numbers that ring after an unanswered primary device; nil if none was ever
  /// configured.
  public var cascade: Cascade?
  /// The time zone that all devices of the cascade use while the alarm's zone is `floating`.
  ///
  /// The primary device records it and updates it when it travels. An IANA name, or `UTC-08:00` if the zone has no
  /// name; nil until the primary device has recorded it.
  public var cascadeZone: String?
  /// The partner who requested the alarm; nil for an alarm of the store's own users.
  public var partner: PartnerOrigin?
  /// The state of the alarm's occurrences.
  public var progress: Progress
  /// The stamps of the last edits and of the deletion, and the unknown keys of the record.
  public var mergeState: MergeState

  /// The definition fields, named as in records.
  public enum Field: String, CaseIterable, Comparable, Sendable {
    /// The property of the same name.
    case cascade, cascadeZone, delivery, enabled, note, partner, pause, schedule, tags, title, zone

    /// True for a field that most alarms never set. It has no stamp until then.
    var isOptional: Bool {
      switch self {
      case .pause, .cascade, .cascadeZone, .partner, .tags: true
      case .delivery, .enabled, .note, .schedule, .title, .zone: false
      }
    }

    /// Returns true if the name of `a` precedes that of `b` alphabetically.
    public static func < (a: Field, b: Field) -> Bool { a.rawValue < b.rawValue }
  }

  /// The wall clock that a schedule follows.
  public enum Zone: Hashable, Sendable {
    /// The wall clock of the zone that the device is in.
    case floating
    /// The wall clock of a fixed zone, by its IANA name.
    case named(String)

    /// The zone as text in records: `floating` or the IANA name.
    public var text: String {
      switch self {
      case .floating: "floating"
      case .named(let name): name
      }
    }
  }

  /// The delivery options of an alarm.
  public struct Delivery: Hashable, Sendable {
    /// True if the alarm rings until it is answered. Otherwise it is missed after the ring timeout.
    public var persistent: Bool
    /// The name of a sound; nil for the device's default.
    public var sound: String?
    /// True if follow-ups ring instead of asking, and a pending occurrence stays pending when the next one fires.
    public var strict: Bool
    /// The follow-up times after a stop; nil for those of the settings.
    public var followUps: FollowUpPlan?
    /// The times of advance warnings; nil for none.
    public var warnings: WarningPlan?
    /// The devices that ring for the alarm; empty for all devices.
    public var devices: Set<Identifier>
    /// The action that each ringing device runs when the alarm fires; nil for none.
    public var run: ActionName?
    /// The action that the device runs on which an occurrence is marked as done; nil for none.
    public var runDone: ActionName?

    /// Returns true if a device rings for the alarm.
    ///
    /// - Parameters:
    ///   - device: a device of the store.
    ///   - known: all devices of the store. If it contains none of the named devices, every device rings, because a
    ///     false alarm is better than a missed one.
    public func rings(on device: Identifier, known: Set<Identifier>) -> Bool {
      devices.isEmpty || devices.contains(device) || devices.isDisjoint(with: known)
    }

    /// Creates delivery options. The defaults are those of a new alarm.
    public init(
      persistent: Bool = false, sound: String? = nil, strict: Bool = false,
      followUps: FollowUpPlan? = nil, warnings: WarningPlan? = nil, devices: Set<Identifier> = [],
      run: ActionName? = nil, runDone: ActionName? = nil
    ) {
      self.run = run
      self.runDone = runDone
      self.warnings = warnings
      self.devices = devices
      self.persistent = persistent
      self.sound = sound
      self.strict = strict
      self.followUps = followUps
    }
  }

  /// Creates an alarm from the parts of its record.
  public init(
    id: Identifier, title: String, note: String? = nil, tags: Set<AlarmTag> = [],
    enabled: Bool = true,
    schedule: Schedule,
    zone: Zone = .floating, delivery: Delivery = Delivery(), pause: Pause? = nil,
    cascade: Cascade? = nil, cascadeZone: String? = nil, partner: PartnerOrigin? = nil,
    progress: Progress, mergeState: MergeState = MergeState()
  ) {
    self.id = id
    self.title = title
    self.note = note
    self.tags = tags
    self.enabled = enabled
    self.schedule = schedule
    self.zone = zone
    self.delivery = delivery
    self.pause = pause
    self.cascade = cascade
    self.cascadeZone = cascadeZone
    self.partner = partner
    self.progress = progress
    self.mergeState = mergeState
  }

  /// True if the alarm is deleted: no field has a later stamp than the deletion had seen.
  ///
  /// The stamp of `cascadeZone` is ignored, because a device updates that field without a user's edit.
  public var isDeleted: Bool { mergeState.isDeleted }

  /// The latest stamp in the record, which the stamp of the next edit must exceed; nil if there is none.
  public var latestStamp: Stamp? {
    ([mergeState.latestStamp].compactMap { $0 } + Array(mergeState.tagStamps.values)
      + progress.moves.values.compactMap(\.stamp)
      + (cascade?.registers.values.compactMap(\.stamp) ?? []))
      .max()
  }

  /// Returns a field's value as text, for comparison and display.
  ///
  /// The text also breaks ties in `join`. A change of its wording changes the result of such a join between devices
  /// with different versions of Belfry.
  public func text(of field: Field) -> String {
    switch field {
    case .title: title
    case .note: note ?? ""
    case .tags: tags.text
    case .enabled: enabled ? "enabled" : "disabled"
    case .schedule: schedule.canonicalText
    case .zone: zone.text
    case .delivery: delivery.fieldText.plain
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

  /// Returns true if a field has the same text as in another version of the alarm.
  ///
  /// It is faster than a comparison of the texts, because equal values have equal texts.
  public func hasSame(_ field: Field, as other: Alarm) -> Bool {
    let isEqual =
      switch field {
      case .title: title == other.title
      case .note: note == other.note
      case .tags: tags == other.tags
      case .enabled: enabled == other.enabled
      case .schedule: schedule == other.schedule
      case .zone: zone == other.zone
      case .delivery: delivery == other.delivery
      case .pause: pause == other.pause
      case .cascade: cascade == other.cascade
      case .cascadeZone: cascadeZone == other.cascadeZone
      case .partner: partner == other.partner
      }
    return isEqual || text(of: field) == other.text(of: field)
  }

  /// Copies a field's value, but not its stamp, from another version of the alarm.
  mutating func take(_ field: Field, from other: Alarm) {
    switch field {
    case .title: title = other.title
    case .note: note = other.note
    case .tags: tags = other.tags
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
  /// Text that is equal for two schedules if and only if the schedules are equal.
  var canonicalText: String {
    var text = summary
    if let cadence = recurrence.cadence {
      text += cadence.interval == 1 ? "; from" : "; every \(cadence.interval) from"
      text += " \(cadence.start)"
    }
    if case .afterDone(_, let origin) = recurrence, let ignored = origin.completionsAfter {
      text += "; completions after \(ignored)"
    }
    switch recurrence {
    case .elapsed(_, let start): text += "; from \(CivilDateTime(start, times[0]))"
    case .dates(let dates): text += "; on " + dates.map(\.description).joined(separator: ",")
    default: break
    }
    // The summary shortens a long list.
    if !limits.months.isEmpty { text += "; only in \(Schedule.words(ofMonths: limits.months))" }
    if !limits.exceptions.isEmpty {
      text += "; except " + limits.exceptions.map(\.description).joined(separator: ",")
    }
    return text
  }
}
