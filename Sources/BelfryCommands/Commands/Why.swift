import ArgumentParser
import BelfryCore
import BelfryScheduler
import BelfryStore
import BelfryTerminal

struct Why: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "why",
    abstract: "Explain why an alarm rang, did not ring, or will not ring here.",
    discussion: """
      Without an occurrence, explains the latest one and the next one on this device.

        belfry why pills
        belfry why rent 2026-12-01
        belfry why pills yesterday
      """)

  @Argument(help: "The alarm.", completion: .alarms)
  var alarm: String

  @Argument(help: "The occurrence: a date, or 2026-11-23T09:00.")
  var occurrence: [String] = []

  @OptionGroup var common: CommonOptions
  @ParentCommand var root: Belfry

  func run() async throws {
    let context = try common.context(root)
    let store = try context.open(.reading)
    let alarms = try context.listed([alarm], in: store).compactMap { try store.alarm($0.id) }
    let known = RingingReasons.Circumstances(
      scheduler: SchedulerState(store), reach: await context.hooks().reach(),
      settings: try context.settings(store), names: store.deviceNames(), times: context.times)
    let text = occurrence.joined(separator: " ")
    let explained = try alarms.flatMap { alarm in
      let occurrences =
        try text.isEmpty
        ? currentAndNext(alarm, store)
        : named(text, store.timeline(alarm), InputParser(context))
      return try occurrences.map { try RingingReasons($0, of: alarm, in: store, known) }
    }
    if common.json { return try Console.write(explained.map(\.document)) }
    for (index, reasons) in explained.enumerated() {
      if index > 0 { Console.line("") }
      for line in reasons.lines { Console.write(wrapped(line, context.style)) }
    }
    if explained.isEmpty, let alarm = alarms.first {
      Console.line("\(Printable.text(alarm.title)) has had no occurrence, and has none ahead.")
    }
  }

  /// Returns the current or latest occurrence, and the next one in the schedule.
  private func currentAndNext(_ alarm: Alarm, _ store: Store) throws -> [CivilDateTime] {
    let timeline = store.timeline(alarm)
    let now = timeline.zone.civil(at: store.context.now)
    let latest = timeline.latest(onOrBefore: now).flatMap { civil in
      timeline.occurrence(civil).at >= alarm.progress.armed ? civil : nil
    }
    let current = try store.status(alarm).current ?? latest
    let next = timeline.first(after: max(now, current.map { timeline.occurrence($0).time } ?? now))
    return [current, next].compactMap { $0 }
  }

  /// Returns the occurrences that an argument names, or its time if it has none.
  private func named(
    _ text: String, _ timeline: Timeline, _ parser: InputParser
  ) throws -> [CivilDateTime] {
    let local = parser.with(zone: timeline.zone, calendar: timeline.calendar)
    var moment = try local.moment(text, .past, of: nil)
    // A date without a year before the alarm existed is one ahead.
    if moment.instant(.past, in: local.context).adding(seconds: 86_400)
      < timeline.alarm.progress.armed
    {
      moment = try local.moment(text, of: nil)
    }
    guard case .date(let date) = moment else {
      return [timeline.occurrence(named: moment.civil(.past, in: local.context))]
    }
    let occurrences = timeline.occurrences(on: date)
    let time = timeline.alarm.schedule.times.first ?? .midnight
    return occurrences.isEmpty ? [CivilDateTime(date, time)] : occurrences
  }

  /// Returns a line in the width of the terminal, with continuations indented.
  private func wrapped(_ line: String, _ style: Style) -> String {
    guard let columns = style.width else { return line + "\n" }
    let isReason = line.hasPrefix("  ")
    let lines = TextWidth.wrapped(
      isReason ? String(line.dropFirst(2)) : line, to: columns - (isReason ? 4 : 0))
    return lines.enumerated().map { index, text in
      (isReason ? (index == 0 ? "  " : "    ") : "") + text + "\n"
    }.joined()
  }
}
