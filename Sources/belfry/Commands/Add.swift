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
      """)

  @Argument(help: "What it is called: at most 200 characters.")
  var title: String

  @OptionGroup var schedule: ScheduleOptions

  @Option(help: "More words: at most 2,000 characters.")
  var note: String?

  @OptionGroup var common: CommonOptions
  @ParentCommand var root: Belfry

  func run() throws {
    let context = try common.context(root)
    let title = try AlarmText.title(self.title)
    let note = try self.note.flatMap { try AlarmText.note($0) }
    let zones = context.storeContext.zones
    let zone = try schedule.zone(zones) ?? .floating
    let now = context.storeContext.now
    let rules = zone == .floating ? zones.local : zones.zone(named: zone.text) ?? zones.local
    let schedule = try self.schedule.schedule(changing: nil, now: rules.civil(at: now))

    let store = try context.open()
    let alarm = Alarm.created(
      id: context.storeContext.makeIdentifier(), title: title, note: note, schedule: schedule,
      zone: zone, delivery: Alarm.Delivery(persistent: self.schedule.persistent ?? false), at: now,
      device: store.device)
    let status = store.timeline(alarm).status(at: now, settings: Settings(), firings: Firings())
    guard status.next != nil else {
      throw CommandError(
        .usage, "\(schedule.summary) has no occurrence ahead.", hint: "Name a time that is to come."
      )
    }
    try warn(store, alarm, status)
    let event = Event(.created, detail: schedule.summary)
    try store.commit(
      Store.Change(
        alarms: [alarm], entries: store.entries([event], of: alarm),
        message: CommitMessage(event, of: alarm, device: store.device)))

    let output = AlarmOutput(store: store, style: context.style)
    if common.json {
      output.print(output.json(alarm, status))
    } else {
      Console.line(
        "Added \(Printable.text(title)) (\(alarm.id.short)): \(output.next(alarm, status)).")
    }
  }

  /// Says when there is one like it, or one at the same minute; both are made all the same.
  private func warn(_ store: Store, _ alarm: Alarm, _ status: AlarmStatus) throws {
    guard let next = status.next else { return }
    let cards = try store.likely(titled: alarm.title, comingAt: next.at)
    for card in cards where card.title == alarm.title {
      if let other = try store.alarm(card.id), other.schedule.hasSameTimes(as: alarm.schedule) {
        Console.error(
          "belfry: warning: there is another \(Printable.text(card.title)) with this schedule: \(card.id.short)."
        )
        return
      }
    }
    let same = cards.filter { $0.status.next?.at == next.at }
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
