import ArgumentParser
import BelfryCore
import BelfryDocuments
import BelfryScheduler
import BelfryStore
import BelfryTerminal

struct Stats: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "stats",
    abstract: "Show streaks, counts and a calendar.",
    discussion: """
      A streak is a series of occurrences that were confirmed as done. A missed occurrence, or one that was completed \
      automatically, ends it. A skipped one does not, unless 'belfry settings set skipBreaksStreak on'.
      """)

  @Argument(help: "The alarm (default: all).", completion: .alarms)
  var alarm: String?

  @OptionGroup var common: CommonOptions
  @ParentCommand var root: Belfry

  private static let nothing = "No alarms yet."

  func run() throws {
    let context = try common.context(root)
    guard let store = try alarm == nil ? context.openIfAny() : context.open(.reading) else {
      if common.json { return try Console.write([StatisticsDocument]()) }
      return Console.line(Stats.nothing)
    }
    let settings = try context.settings(store)
    let output = AlarmOutput(store: store, style: context.style)
    let summaries =
      try alarm.map { [try context.find($0, in: store)] }
      ?? context.overview(store).sorted { ($0.title, $0.id) < ($1.title, $1.id) }
    var tallies: [Identifier: Statistics.Tally] = [:]
    let log = store.history.log(of: summaries.count == 1 ? summaries[0].id : nil) { path, error in
      CommandDiagnostic.warn(
        "\(Printable.text(path)) is not valid: \(Printable.text(error.text)).")
    }
    for entry in log { tallies[entry.alarm, default: Statistics.Tally()].add(entry) }
    let all = summaries.map { summary in
      (
        summary: summary,
        statistics: (tallies[summary.id] ?? Statistics.Tally())
          .statistics(skipBreaksStreak: settings.skipBreaksStreak)
      )
    }
    if common.json {
      let list = try all.map { summary, statistics in
        StatisticsDocument(
          summary, statistics, lateness: try lateness(summary, statistics, store),
          zones: output.zones)
      }
      return alarm == nil ? try Console.write(list) : try Console.write(list[0])
    }
    if all.isEmpty { return Console.line(Stats.nothing) }
    if alarm != nil {
      let (summary, statistics) = all[0]
      Console.write(
        StatsText.alarm(
          summary, statistics, lateness: try lateness(summary, statistics, store), output))
      Console.write("\n" + HeatMap([statistics]).text(output.times, context.style))
    } else {
      Console.write(StatsText.table(all, output))
      let days = HeatMap(all.map(\.statistics))
      Console.write("\n" + days.text(output.times, context.style))
    }
  }

  /// Returns how many seconds after its due time each occurrence was done, in ascending order.
  private func lateness(
    _ summary: AlarmSummary, _ statistics: Statistics, _ store: Store
  ) throws -> [Int64] {
    guard let alarm = try store.alarm(summary.id) else { return [] }
    let zone = store.timeline(alarm).zone
    return statistics.lateness { zone.instant(of: $0) }
  }
}
