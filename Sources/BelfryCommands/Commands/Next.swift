import ArgumentParser
import BelfryActions
import BelfryCore
import BelfryDocuments
import BelfryInput
import BelfryStore
import BelfryTerminal

struct Next: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "next",
    abstract: "Show the next occurrences of all alarms, or of some.",
    discussion: """
        belfry next -n 30
        belfry next today                # also tomorrow, this week, december
        belfry next week                 # those of the next week
        belfry next +home due:month
      """)

  @Argument(help: "Alarms, or +tag, a state, due:week (default: all).", completion: .selections)
  var words: [String] = []

  @Option(
    name: [.short, .customShort("n"), .long],
    help: "The maximum number of occurrences (default: 10; of a time, all).")
  var count: Int?

  @OptionGroup var formatting: FormatOptions
  @OptionGroup var pager: PagerOptions
  @OptionGroup var common: CommonOptions
  @ParentCommand var root: Belfry

  func validate() throws {
    if let count, !(1...Next.maxCount).contains(count) {
      throw ValidationError("--count is 1 to 10000.")
    }
  }

  private static let maxCount = 10_000
  private static let nothing = "No upcoming occurrences."

  private typealias Item = OccurrenceTable.Item

  func run() throws {
    let format = try formatting.parsed(json: common.json, DocumentKeys(NextDocument.self))
    var context = try common.context(root)
    context.isQuiet = common.json || format != nil
    guard let store = try words.isEmpty ? context.openIfAny() : context.open(.reading) else {
      if common.json { return try Console.write([NextDocument]()) }
      if format != nil { return }
      return Console.line(Next.nothing)
    }
    pager.start(context, root)
    let words = periods(in: store, InputParser(context).context)
    // Without words, alarms that ring too late to be shown are not even read from the index.
    let names = words.filter { !AlarmFilter.isDue($0) }
    let dates = try dueDates(words, context)
    let count = count ?? (dates == nil ? 10 : Next.maxCount)
    let summaries =
      names.isEmpty && dates == nil
      ? try context.overview(store, ringingFirst: count)
      : try context.listed(names, in: store)
    let items = try upcoming(summaries, count, store, dates, context)
    let output = AlarmOutput(store: store, style: context.style)
    let scheduler = context.checkScheduler(of: store)
    if common.json || format != nil {
      let documents = items.map {
        NextDocument($0.alarm, $0.occurrence, scheduler: scheduler, zones: output.zones)
      }
      return try format?.write(documents) ?? Console.write(documents)
    }
    if items.isEmpty { Console.line(Next.nothing) }
    Console.write(OccurrenceTable(output).text(items, on: dates))
  }

  /// Returns the words with periods as words `due:`. `next week` means the next week.
  private func periods(in store: Store, _ context: InputContext) -> [String] {
    let units = ["week", "month", "year"]
    if let first = words.first, units.contains(first.lowercased()), !store.hasTitle(first) {
      return ["due:next \(first)"] + words.dropFirst()
    }
    return AlarmFilter.readingPeriods(words, context, isTitle: store.hasTitle)
  }

  /// Returns the dates of the words `due:`, which select occurrences here; nil without such a word.
  private func dueDates(
    _ words: [String], _ context: CommandContext
  ) throws -> ClosedRange<CivilDate>? {
    let words = words.filter(AlarmFilter.isDue)
    if words.isEmpty { return nil }
    let parser = InputParser(context)
    let filter = try AlarmFilter(words, parser.context) {
      try parser.date($0, of: "due")
    }
    return filter.dueDates
  }

  /// Returns the first `count` occurrences of alarms, all or those on some dates.
  ///
  /// An alarm whose next occurrence is later than those of `count` other alarms has none of them. So at most `count`
  /// records are read.
  private func upcoming(
    _ summaries: [AlarmSummary], _ count: Int, _ store: Store, _ dates: ClosedRange<CivilDate>?,
    _ context: CommandContext
  ) throws -> [Item] {
    let zone = context.storeContext.zones.local
    func midnight(_ date: CivilDate) -> Instant {
      zone.instant(of: CivilDateTime(date, .midnight))
    }
    // The first date begins with the occurrence at its midnight.
    let start = dates.map { midnight($0.lowerBound).adding(seconds: -1) }
    let now = max(context.storeContext.now, start ?? context.storeContext.now)
    let end = dates.map { midnight($0.upperBound.adding(days: 1)).adding(seconds: -1) }
    // Sorting small keys is faster than moving whole summaries.
    let first = summaries.indices
      .compactMap { index in
        summaries[index].next.map { (at: $0.at.milliseconds, index: index) }
      }
      .sorted { $0 < $1 }
      .prefix(dates == nil ? count : summaries.count)
      .map { summaries[$0.index] }
    var items: [Item] = []
    /// The time of the last of `count` occurrences. Later ones are not among the first.
    var bound = end ?? .distantFuture
    func reduce() {
      items.sort {
        ($0.occurrence.at, $0.alarm.title, $0.alarm.id) < (
          $1.occurrence.at, $1.alarm.title, $1.alarm.id
        )
      }
      guard items.count >= count else { return }
      items.removeLast(items.count - count)
      bound = items[count - 1].occurrence.at
    }
    let reader = store.alarmReader()
    for summary in first {
      guard let alarm = try reader.alarm(summary.id), alarm.enabled else { continue }
      for occurrence in store.timeline(alarm).upcoming(after: now).prefix(count) {
        if occurrence.at > bound { break }
        items.append(Item(alarm: alarm, occurrence: occurrence))
      }
      if items.count >= 2 * count { reduce() }
    }
    reduce()
    return items
  }
}
