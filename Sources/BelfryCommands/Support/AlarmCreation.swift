import BelfryCore
import BelfryScheduler
import BelfryStore

/// The creation of an alarm, and the report about it.
struct AlarmCreation {
  let title: String
  var note: String?
  var tags: Set<AlarmTag> = []
  /// The zone of the options; nil for the default zone.
  var zone: Alarm.Zone?
  let delivery: DeliveryOptions
  var isStill = false
  let json: Bool
  /// Returns the schedule, from a parser in the alarm's zone and the store's calendar.
  let schedule: (InputParser) throws -> Schedule

  /// Throws if the tier doesn't allow another alarm, before a command on a terminal asks a question.
  static func requireRoom(_ context: CommandContext, json: Bool) throws {
    guard Style.canAsk, !json, let store = context.existing else { return }
    try store.requireRoom()
  }

  /// Adds the alarm to the store, which is created if there is none.
  func run(_ context: CommandContext, _ parser: InputParser) throws {
    let title = try AlarmText.title(title)
    let note = try note.flatMap { try AlarmText.note($0) }
    let zones = context.storeContext.zones
    let now = context.storeContext.now
    // Invalid options are reported before the first command creates a store.
    _ = try schedule(parser)
    _ = try delivery.changed(Alarm.Delivery())
    let store = try context.open(.creating)
    let settings = try context.settings(store)
    // With the setting fixedZone, a new alarm keeps the time zone of this device.
    let localZone = zones.zone(named: zones.local.name).map { Alarm.Zone.named($0.name) }
    let zone = zone ?? (settings.fixedZone ? localZone : nil) ?? .floating
    let rules = zone == .floating ? zones.local : zones.zone(named: zone.text) ?? zones.local
    let schedule = try schedule(
      parser.with(zone: rules, calendar: store.calendars.workCalendar))
    let alarm = Alarm.created(
      id: context.storeContext.makeIdentifier(), title: title, note: note, tags: tags,
      schedule: schedule, zone: zone,
      delivery: try delivery.changed(Alarm.Delivery(), devices: DeviceDirectory(store)), at: now,
      device: store.device)
    let status = store.timeline(alarm).status(at: now, settings: settings, ledger: DeliveryLedger())
    guard status.next != nil else {
      throw CommandError(
        .usage, "\(schedule.summary) has no future occurrence.", hint: "Use a time in the future.")
    }
    let likely = try store.likely(titled: alarm.title)
    let event = Event(.created, payload: .schedule(schedule))
    try store.add(
      Store.Change(
        alarms: [alarm], entries: store.entries([event], of: alarm),
        message: CommitMessage(event, of: alarm, device: store.device)))
    try warn(store, alarm, likely)
    delivery.warn(settings.tier)

    var output = AlarmOutput(
      store: store, style: context.style,
      batteryWarnings: BatteryWarnings(context, store, alarm, status))
    output.actions = ActionCheck(context, store)
    output.actions?.warn(about: alarm)
    output.scheduler = context.checkScheduler(of: store)
    HolidayCheck(store).warn(about: schedule)
    if json { return try Console.write(output.document(alarm, status)) }
    let summary = schedule.summary(today: store.timeline(alarm).zone.civil(at: now).date)
    let parts = [summary] + extras(of: alarm, store)
    Console.line(
      "Added \(Printable.text(title)) (\(alarm.id.short)), \(parts.joined(separator: ", ")): \(output.next(alarm, status))."
    )
    context.show(output.batteryWarnings[alarm.id], isStill: isStill)
    SoundPreview(context).play(delivery.sound)
  }

  /// Returns the settings beside the schedule that decide when and where the alarm rings.
  private func extras(of alarm: Alarm, _ store: Store) -> [String] {
    var extras: [String] = []
    if case .named(let zone) = alarm.zone { extras.append("\(zone) time") }
    if let warnings = alarm.delivery.warnings {
      let lengths = warnings.seconds.map { Span.length($0) }.joined(separator: " and ")
      extras.append("warns \(lengths) before")
    }
    if !alarm.delivery.devices.isEmpty {
      let names = store.deviceNames()
      let devices = alarm.delivery.devices.map { Printable.text(names[$0] ?? $0.short) }
      extras.append("on \(devices.sorted().joined(separator: ", "))")
    }
    return extras
  }

  /// Warns if another alarm has the same title and schedule.
  private func warn(
    _ store: Store, _ alarm: Alarm, _ summaries: [AlarmSummary]
  ) throws {
    for summary in summaries where summary.title == alarm.title {
      if let other = try store.alarm(summary.id), other.schedule.hasSameTimes(as: alarm.schedule) {
        CommandDiagnostic.warn(
          "there is another \(Printable.text(summary.title)) with this schedule: \(summary.id.short)."
        )
        return
      }
    }
  }
}

extension Schedule {
  /// Returns true if two schedules have the same occurrences. The start counts only where it changes them.
  fileprivate func hasSameTimes(as other: Schedule) -> Bool {
    summary == other.summary
  }
}
