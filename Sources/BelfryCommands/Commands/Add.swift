import ArgumentParser
import BelfryCore
import BelfryScheduler
import BelfryStore

struct Add: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "add",
    abstract: "Add an alarm.",
    discussion: """
      Without a schedule option, the alarm rings weekly on today's weekday; without --at, at the current minute.

        belfry add "Rent reminder" --weekly mon,fri --at 09:00 --note "Pay landlord"
        belfry add "Take pills" --daily --at 09:00,21:00 --persistent
        belfry add "Close the books" --monthly last --at 17:00
        belfry add "Team call" --monthly "first mon" --at 10:00 --zone Europe/Berlin
        belfry add "Renew passport" --annual 03-01 --at 10:00 --warn 30d,7d --on laptop
        belfry add "Rent" --monthly "last workday" --at 09:00 --ends 2027-12-31
        belfry add "Water filter" --after-done 90d --at 18:00
      """)

  @Argument(help: "The title, at most 200 characters.")
  var title: String

  @OptionGroup var schedule: ScheduleOptions
  @OptionGroup var delivery: DeliveryOptions

  @Option(help: "A note, at most 2,000 characters.")
  var note: String?

  @OptionGroup var motion: MotionOptions
  @OptionGroup var common: CommonOptions
  @ParentCommand var root: Belfry

  func run() throws {
    let context = try common.context(root)
    let title = try AlarmText.title(self.title)
    let note = try self.note.flatMap { try AlarmText.note($0) }
    let zones = context.storeContext.zones
    let requestedZone = try schedule.zone(zones)
    let now = context.storeContext.now
    // Invalid options are reported before the first command creates a store.
    _ = try self.schedule.schedule(.init(now: zones.local.civil(at: now)))
    _ = try delivery.changed(Alarm.Delivery())
    let store = try context.open()
    let settings = try context.settings(store)
    // With the setting fixedZone, a new alarm keeps the time zone of this device.
    let localZone = zones.zone(named: zones.local.name).map { Alarm.Zone.named($0.name) }
    let zone = requestedZone ?? (settings.fixedZone ? localZone : nil) ?? .floating
    let rules = zone == .floating ? zones.local : zones.zone(named: zone.text) ?? zones.local
    let schedule = try self.schedule.schedule(
      .init(now: rules.civil(at: now), calendar: store.calendars.workCalendar))
    let alarm = Alarm.created(
      id: context.storeContext.makeIdentifier(), title: title, note: note, schedule: schedule,
      zone: zone,
      delivery: try delivery.changed(Alarm.Delivery(), devices: DeviceDirectory(store)), at: now,
      device: store.device)
    let status = store.timeline(alarm).status(at: now, settings: settings, ledger: DeliveryLedger())
    guard let next = status.next else {
      throw CommandError(
        .usage, "\(schedule.summary) has no future occurrence.", hint: "Use a time in the future.")
    }
    let likely = try store.likely(titled: alarm.title, comingAt: next.at)
    let event = Event(.created, payload: .schedule(schedule))
    try store.add(
      Store.Change(
        alarms: [alarm], entries: store.entries([event], of: alarm),
        message: CommitMessage(event, of: alarm, device: store.device)))
    try warn(store, alarm, next, likely)
    delivery.warn(settings.tier)

    let output = AlarmOutput(
      store: store, style: context.style,
      batteryWarnings: BatteryWarnings(context, store, alarm, status))
    if common.json { return try Console.write(output.document(alarm, status)) }
    Console.line(
      "Added \(Printable.text(title)) (\(alarm.id.short)): \(output.next(alarm, status)).")
    context.show(output.batteryWarnings[alarm.id], isStill: motion.noAnimation)
  }

  /// Warns if another alarm has the same title and schedule, or rings at the same minute. Neither is an error.
  private func warn(
    _ store: Store, _ alarm: Alarm, _ next: Timeline.Occurrence, _ summaries: [AlarmSummary]
  ) throws {
    for summary in summaries where summary.title == alarm.title {
      if let other = try store.alarm(summary.id), other.schedule.hasSameTimes(as: alarm.schedule) {
        CommandDiagnostic.warn(
          "there is another \(Printable.text(summary.title)) with this schedule: \(summary.id.short)."
        )
        return
      }
    }
    let same = summaries.filter { $0.status.next?.at == next.at }
    guard let first = same.first else { return }
    let more = same.count > 1 ? " and \(same.count - 1) more" : ""
    CommandDiagnostic.warn(
      "\(Printable.text(first.title))\(more) \(same.count > 1 ? "ring" : "rings") at the same minute: \(next.civil.spoken)."
    )
  }
}

extension Schedule {
  /// Returns true if two schedules have the same occurrences. The start counts only where it changes them.
  fileprivate func hasSameTimes(as other: Schedule) -> Bool {
    summary == other.summary
  }
}
