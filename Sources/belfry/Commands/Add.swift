import ArgumentParser
import BelfryCore
import BelfryStore

struct Add: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Add an alarm.",
    discussion: """
      Without a cycle it comes weekly, on today's weekday; without --at, at the current minute.

        belfry add "Rent reminder" --weekly mon,fri --at 09:00 --note "Pay landlord"
        belfry add "Take pills" --daily --at 09:00,21:00 --persistent
        belfry add "Close the books" --monthly last --at 17:00
        belfry add "Team call" --monthly "first mon" --at 10:00 --zone Europe/Berlin
        belfry add "Renew passport" --annual 03-01 --at 10:00 --warn 30d,7d --on laptop
      """)

  @Argument(help: "What it is called: at most 200 characters.")
  var title: String

  @OptionGroup var schedule: ScheduleOptions
  @OptionGroup var delivery: DeliveryOptions

  @Option(help: "More words: at most 2,000 characters.")
  var note: String?

  @OptionGroup var motion: MotionOptions
  @OptionGroup var common: CommonOptions
  @ParentCommand var root: Belfry

  func run() throws {
    let context = try common.context(root)
    let title = try AlarmText.title(self.title)
    let note = try self.note.flatMap { try AlarmText.note($0) }
    let zones = context.storeContext.zones
    let given = try schedule.zone(zones)
    let now = context.storeContext.now
    // What is wrong is said before a store is made.
    _ = try self.schedule.schedule(changing: nil, now: zones.local.civil(at: now))
    _ = try delivery.changed(Alarm.Delivery())
    let store = try context.open()
    let settings = try context.settings(store)
    // Where the clocks of places are meant, a new alarm is one of this place.
    let here = zones.zone(named: zones.local.name).map { Alarm.Zone.named($0.name) }
    let zone = given ?? (settings.fixedZone ? here : nil) ?? .floating
    let rules = zone == .floating ? zones.local : zones.zone(named: zone.text) ?? zones.local
    let schedule = try self.schedule.schedule(changing: nil, now: rules.civil(at: now))
    let alarm = Alarm.created(
      id: context.storeContext.makeIdentifier(), title: title, note: note, schedule: schedule,
      zone: zone,
      delivery: try delivery.changed(Alarm.Delivery(), devices: DeviceDirectory(store)), at: now,
      device: store.device)
    let status = store.timeline(alarm).status(at: now, settings: settings, ledger: DeliveryLedger())
    guard let next = status.next else {
      throw CommandError(
        .usage, "\(schedule.summary) has no occurrence ahead.", hint: "Name a time that is to come."
      )
    }
    let likely = try store.likely(titled: alarm.title, comingAt: next.at)
    let event = Event(.created, detail: schedule.summary)
    try store.add(
      Store.Change(
        alarms: [alarm], entries: store.entries([event], of: alarm),
        message: CommitMessage(event, of: alarm, device: store.device)))
    try warn(store, alarm, next, likely)
    if let warning = delivery.warning(settings.tier) { Console.error(warning) }

    let output = AlarmOutput(
      store: store, style: context.style,
      batteryWarnings: BatteryWarnings(context, store, alarm, status))
    if common.json { return output.print(output.json(alarm, status)) }
    Console.line(
      "Added \(Printable.text(title)) (\(alarm.id.short)): \(output.next(alarm, status)).")
    context.show(output.batteryWarnings[alarm.id], isStill: motion.noAnimation)
  }

  /// Says when there is one like it, or one at the same minute; both are made all the same.
  private func warn(
    _ store: Store, _ alarm: Alarm, _ next: Timeline.Occurrence, _ summaries: [AlarmSummary]
  ) throws {
    for summary in summaries where summary.title == alarm.title {
      if let other = try store.alarm(summary.id), other.schedule.hasSameTimes(as: alarm.schedule) {
        Console.error(
          "belfry: warning: there is another \(Printable.text(summary.title)) with this schedule: \(summary.id.short)."
        )
        return
      }
    }
    let same = summaries.filter { $0.status.next?.at == next.at }
    guard let first = same.first else { return }
    let more = same.count > 1 ? " and \(same.count - 1) more" : ""
    Console.error(
      "belfry: warning: \(Printable.text(first.title))\(more) \(same.count > 1 ? "come" : "comes") at the same minute: \(next.civil.spoken)."
    )
  }
}

extension Schedule {
  /// Whether two schedules are the same rule, wherever counting starts when it does not matter.
  fileprivate func hasSameTimes(as other: Schedule) -> Bool {
    summary == other.summary
  }
}
