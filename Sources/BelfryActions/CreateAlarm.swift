import BelfryCore
import BelfryStore

/// The creation of an alarm.
public struct CreateAlarm {
  /// The title, see `AlarmText.title(_:)`.
  public var title: String
  /// The note; nil for none.
  public var note: String?
  /// The tags.
  public var tags: Set<AlarmTag>
  /// The zone; nil for the default, which the setting `fixedZone` decides.
  public var zone: Alarm.Zone?
  /// The delivery settings.
  public var delivery: Alarm.Delivery
  /// The identifier; nil for a random one.
  public var id: Identifier?
  /// The place outside Belfry where the person acted, such as `phone`; nil for none.
  public var place: String?
  /// Returns the schedule. What a person has written can depend on the rules of the alarm's zone and on the holidays.
  public var schedule: (TimeZoneRules, WorkCalendar) throws -> Schedule

  /// Creates the action from its input.
  public init(
    title: String, note: String? = nil, tags: Set<AlarmTag> = [], zone: Alarm.Zone? = nil,
    delivery: Alarm.Delivery = Alarm.Delivery(),
    schedule: @escaping (TimeZoneRules, WorkCalendar) throws -> Schedule
  ) {
    self.title = title
    self.note = note
    self.tags = tags
    self.zone = zone
    self.delivery = delivery
    self.schedule = schedule
  }

  /// A new alarm.
  public struct Result: Sendable {
    /// The alarm.
    public let change: AlarmChange
    /// Another alarm with the same title and schedule; nil if there is none.
    public let twin: AlarmSummary?
  }

  /// Returns the alarm that would be created. Nothing is recorded.
  ///
  /// - Throws: `ActionError.noFutureOccurrence`, `StoreError.alarmLimit`, and the errors of `schedule`.
  public func preview(in store: Store, settings: Settings) throws -> Result {
    let alarm = try alarm(in: store, settings)
    try store.requireRoom(for: [alarm.alarm])
    return try Result(change: alarm, twin: twin(of: alarm.alarm, in: store))
  }

  /// Creates the alarm, in one commit.
  ///
  /// - Parameter settings: The settings of the store, with those of this device.
  /// - Throws: `ActionError.noFutureOccurrence`, `StoreError.alarmLimit`, and the errors of `schedule`.
  public func perform(in store: Store, settings: Settings) throws -> Result {
    let change = try alarm(in: store, settings)
    let twin = try twin(of: change.alarm, in: store)
    if var new = store.change([change]) {
      if let place { new.setPlace(place) }
      try store.add(new)
    }
    return Result(change: change, twin: twin)
  }

  private func alarm(in store: Store, _ settings: Settings) throws -> AlarmChange {
    let (context, zones) = (store.context, store.context.zones)
    // With the setting, a new alarm keeps the zone that this device is in now.
    let fixed = settings.fixedZone ? zones.zone(named: zones.local.name) : nil
    let zone = zone ?? fixed.map { .named($0.name) } ?? .floating
    let rules = zone == .floating ? nil : zones.zone(named: zone.text)
    let schedule = try schedule(rules ?? zones.local, store.calendars.workCalendar)
    let alarm = Alarm.created(
      id: id ?? context.makeIdentifier(), title: title, note: note, tags: tags, schedule: schedule,
      zone: zone, delivery: delivery, at: context.now, device: store.device)
    let status = store.timeline(alarm).status(
      at: context.now, settings: settings, ledger: DeliveryLedger())
    guard status.next != nil else { throw ActionError.noFutureOccurrence(schedule) }
    return AlarmChange(
      before: nil, alarm: alarm, events: [Event(.created, payload: .schedule(schedule))],
      status: status)
  }

  private func twin(of alarm: Alarm, in store: Store) throws -> AlarmSummary? {
    try store.likely(titled: alarm.title).first { summary in
      guard summary.id != alarm.id, summary.title == alarm.title,
        let other = try store.alarm(summary.id)
      else { return false }
      // The start counts only where it changes the occurrences.
      return other.schedule.summary == alarm.schedule.summary
    }
  }
}
