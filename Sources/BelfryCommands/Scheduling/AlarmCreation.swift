import BelfryActions
import BelfryCore
import BelfryScheduler
import BelfryStore
import BelfryTerminal

/// The creation of an alarm, and the report about it.
struct AlarmCreation {
  let title: String
  var note: String?
  var tags: Set<AlarmTag> = []
  /// The zone of the options; nil for the default zone.
  var zone: Alarm.Zone?
  let delivery: DeliveryOptions
  /// The minutes of an interval on the hours of the day, so that the report says how to count from now; nil for none.
  var wholeDayInterval: Int?
  /// True if nobody typed a time of day, so that the report says where it comes from.
  var lacksTime = false
  var isStill = false
  let json: Bool
  /// Returns the schedule, from a parser in the alarm's zone and the store's calendar.
  let schedule: (InputParser) throws -> Schedule

  /// Throws if the tier doesn't allow another alarm, before a command on a terminal asks a question.
  static func requireRoom(_ context: CommandContext, json: Bool) throws {
    guard Style.canAsk, !json, let store = context.existing else { return }
    try store.requireRoom()
  }

  /// Returns the action that adds the alarm.
  ///
  /// - Throws: `CommandError` if a value is not valid.
  func action(_ parser: InputParser) throws -> CreateAlarm {
    let action = CreateAlarm(
      title: try AlarmText.title(title), note: try note.flatMap { try AlarmText.note($0) },
      tags: tags, zone: zone
    ) { zone, calendar in
      try schedule(parser.with(zone: zone, calendar: calendar))
    }
    // Invalid options are reported before the first command creates a store.
    _ = try schedule(parser)
    _ = try delivery.changed(Alarm.Delivery())
    return action
  }

  /// Adds the alarm to the store, which is created if there is none.
  func run(_ context: CommandContext, _ parser: InputParser) throws {
    var action = try action(parser)
    let store = try context.open(.creating)
    let settings = try context.settings(store)
    action.delivery = try delivery.changed(Alarm.Delivery(), devices: DeviceDirectory(store))
    let created = try context.explaining { try action.perform(in: store, settings: settings) }
    warn(about: created.twin)
    delivery.warn(settings.tier)
    try show(created.change, settings.dayTimes, store, context)
  }

  private func show(
    _ change: AlarmChange, _ dayTimes: DayTimes, _ store: Store, _ context: CommandContext
  ) throws {
    let (alarm, status) = (change.alarm, change.status)
    let output = AlarmOutput(
      store: store, style: context.style,
      batteryWarnings: BatteryWarnings(context, store, alarm, status))
    let actions = ActionCheck(context, store)
    actions?.warn(about: alarm)
    let scheduler = context.checkScheduler(of: store)
    HolidayCheck(store).warn(about: alarm.schedule)
    if json {
      return try Console.write(
        output.document(alarm, status, actions: actions, scheduler: scheduler))
    }
    var parts = [output.times.schedule(alarm.schedule, zone: alarm.zone.text)]
    // Nobody should take `Sat, Sun 10:00` for two dates.
    if case .weekly(let days, let cadence) = alarm.schedule.recurrence, days.count > 1,
      cadence.interval == 1, alarm.schedule.limits.until == nil
    {
      parts.append("every week")
    }
    if lacksTime {
      parts.append(dayTimes.standard == nil ? "the time of day now" : "the default time")
    }
    parts += extras(of: alarm, store)
    Console.line(
      "Added \(Printable.text(alarm.title)) (\(alarm.id.short)), \(parts.joined(separator: ", ")): \(output.next(alarm, status))."
    )
    if let wholeDayInterval {
      let phrase = "every \(Schedule.distance(wholeDayInterval)) from now"
      Console.line("To count from now: belfry edit \(alarm.id.short) \(phrase)")
    }
    context.show(output.batteryWarnings[alarm.id], isStill: isStill)
    SoundPreview(context).play(delivery.sound)
  }

  /// Returns the settings beside the schedule that decide when and where the alarm rings.
  func extras(of alarm: Alarm, _ store: Store) -> [String] {
    var extras: [String] = []
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

  /// Warns about another alarm with the same title and schedule.
  private func warn(about twin: AlarmSummary?) {
    guard let twin else { return }
    CommandDiagnostic.warn(
      "there is another \(Printable.text(twin.title)) with this schedule: \(twin.id.short).")
  }
}
