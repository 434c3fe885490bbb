import ArgumentParser
import BelfryActions
import BelfryCore
import BelfryDocuments
import BelfryInput
import BelfryScheduler
import BelfryStore
import BelfryTerminal

struct Stats: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "stats",
    abstract: "Show streaks, counts, delays and a calendar.",
    discussion: """
        belfry stats                       # all alarms
        belfry stats pills last month      # one alarm in a period
        belfry stats +home this quarter
        belfry stats --since 2026-01-01

      A period is this or last week, month, quarter or year, 'last 30 days', today, 2026, 2026-11, 2026-Q4, november, a \
      date, or two of them: 2026-01-01..2026-03-31. The dates are those of the occurrences. Weeks start on Monday.

      An occurrence is done on time if it is confirmed early or within 30 minutes. The percentage is of those that were \
      done, missed or completed automatically; skipped ones do not count. The delay is the time from an occurrence to \
      its confirmation: the median, and the quartiles, between which half of the delays are.

      A streak is a series of occurrences that were confirmed as done. A missed occurrence, or one that was completed \
      automatically, ends it. A skipped one does not, unless 'belfry settings set skipBreaksStreak on'. In a period, a \
      streak starts with its first occurrence.
      """)

  @Argument(help: "Alarms, or +tag, a state, and a period (default: all).", completion: .selections)
  var words: [String] = []

  @Option(help: ArgumentHelp("The first date.", valueName: "date"))
  var since: String?

  @Option(help: ArgumentHelp("The last date.", valueName: "date"))
  var until: String?

  @OptionGroup var pager: PagerOptions
  @OptionGroup var common: CommonOptions
  @ParentCommand var root: Belfry

  private static let nothing = "No alarms yet."

  func run() throws {
    let context = try common.context(root)
    // A period alone names no alarm.
    let isPlain = period(context) { _ in false }.words.isEmpty
    guard let store = try isPlain ? context.openIfAny() : context.open(.reading) else {
      if common.json { return try Console.write([StatisticsDocument]()) }
      return Console.line(Stats.nothing)
    }
    let period = period(context, isTitle: store.hasTitle)
    let dates = try dates(period.dates, context)
    let selection = try context.shown(period.words, in: store)
    let settings = try context.settings(store)
    let items = store.history.statistics(
      of: selection.summaries.sortedByTitle(), on: dates,
      skipBreaksStreak: settings.skipBreaksStreak
    ) { path, error in
      CommandDiagnostic.warn("\(Printable.text(path)) is not valid: \(Printable.text(error.text)).")
    }
    let output = AlarmOutput(store: store, style: context.style)
    if common.json {
      let documents = items.map { StatisticsDocument($0, on: dates, zones: output.zones) }
      // A filter that matches one alarm still lists.
      let isOne = !selection.isFiltered && documents.count == 1
      return isOne ? try Console.write(documents[0]) : try Console.write(documents)
    }
    pager.start(context, root)
    show(items, dates, output, hasWords: !period.words.isEmpty)
  }

  private func show(
    _ items: [AlarmStatistics], _ dates: ClosedRange<CivilDate>?, _ output: AlarmOutput,
    hasWords: Bool
  ) {
    let shown = items.filter { !$0.responses.isEmpty }
    let responses = shown.map(\.responses)
    if shown.isEmpty {
      if items.isEmpty { return Console.line(hasWords ? "No alarm matches." : Stats.nothing) }
      let title = items.count == 1 ? items[0].summary.title : nil
      return Console.write(StatsText.nothing(title, on: dates, output.times))
    }
    let all = responses.count == 1 ? responses[0] : Array(responses.joined())
    let start =
      shown.count == 1
      ? [StatsText.alarm(shown[0], on: dates, output)]
      : [
        StatsText.table(shown, on: dates, output),
        StatsText.total(of: shown, all, on: dates, output),
      ]
    let parts =
      start + [
        hasWords || dates != nil ? StatsText.missed(shown, output) : "",
        DelayPlot.text(all, output.times, output.style), StatsText.groups(all, output),
        HeatMap(responses).text(output.times, output.style, on: dates),
      ]
    Console.write(parts.filter { !$0.isEmpty }.joined(separator: "\n"))
    let rest = items.count - shown.count
    if rest > 0 {
      Console.line(
        "\n\(rest) alarm\(rest == 1 ? " has" : "s have") no settled occurrences\(dates == nil ? " yet" : " in this time")."
      )
    }
  }

  // MARK: The period

  private func period(
    _ context: CommandContext, isTitle: (String) -> Bool
  ) -> Input.WordsWithPeriod {
    Input.period(in: words, InputParser(context).context, isTitle: isTitle)
  }

  /// Returns the dates of the words, or of the options.
  private func dates(
    _ period: ClosedRange<CivilDate>?, _ context: CommandContext
  ) throws -> ClosedRange<CivilDate>? {
    if since == nil, until == nil { return period }
    if period != nil {
      throw ValidationError("--since and --until cannot be combined with a period.")
    }
    let parser = InputParser(context)
    func limit(_ limit: Input.PeriodLimit, _ text: String?, _ option: String) throws -> CivilDate? {
      try text.map {
        try parser.read($0, .date, option) { (text, context) throws(InputError) in
          try Input.date(limit, ofPeriod: text, in: context)
        }
      }
    }
    let first = try limit(.first, since, "--since") ?? .earliest
    let last = try limit(.last, until, "--until") ?? .latest
    if first > last { throw ValidationError("--until \(last) is before --since \(first).") }
    return first...last
  }
}
