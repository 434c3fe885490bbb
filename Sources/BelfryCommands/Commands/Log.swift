import ArgumentParser
import BelfryActions
import BelfryCore
import BelfryDocuments
import BelfryInput
import BelfryScheduler
import BelfryStore
import BelfryTerminal
import Synchronization

struct Log: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "log",
    abstract: "Show the log by day, newest entries first.",
    discussion: """
      Words select entries: an alarm, +tag, an action such as done, missed, skipped, or a part of a title. Reports of several \
      devices about the same event are one row, as is an action on several alarms. With --json, each entry is separate and has \
      a 'payload' with the facts beyond the action: {"kind": "snooze", "until": …}.

        belfry log rent
        belfry log done +home --since monday
        belfry log missed skipped last week
        belfry log rent pills since monday
        belfry log --commit 3a25f117

      --commit shows what one commit changed, in words. The commits: belfry git -- log --stat
      """)

  @Argument(
    help: "An alarm (a deleted one by its id), +tag, an action, a time, or text (default: all).",
    completion: .logWords)
  var words: [String] = []

  @Option(
    name: [.short, .customShort("n"), .long],
    help: "The maximum number of rows, or of entries with --json (default: all).")
  var count: Int?

  @Option(help: "Only entries since a time, such as 'monday' or '2 weeks ago'.")
  var since: String?

  @Option(help: "Only entries before a time.")
  var until: String?

  @Option(
    help: ArgumentHelp("Show the changes of a commit, by the start of its id.", valueName: "id"))
  var commit: String?

  @OptionGroup var formatting: FormatOptions
  @OptionGroup var pager: PagerOptions
  @OptionGroup var common: CommonOptions
  @ParentCommand var root: Belfry

  func validate() throws {
    if let count, count < 1 { throw ValidationError("--count is at least 1.") }
    let isPlain = words.isEmpty && count == nil && since == nil && until == nil
    if commit != nil, !isPlain {
      throw ValidationError("--commit cannot be combined with other words and options.")
    }
  }

  func run() throws {
    if let commit { return try show(commit: commit) }
    let format = try formatting.parsed(json: common.json, LogText.keys)
    var context = try common.context(root)
    context.isQuiet = common.json || format != nil
    let parser = InputParser(context)
    var start = try since.map { try parser.past($0, of: "--since") }
    var end = try until.map { try parser.past($0, of: "--until") }
    guard let store = try words.isEmpty ? context.openIfAny() : context.open(.reading) else {
      if format != nil { return }
      return common.json ? Console.write("[]\n") : Console.line(Log.nothing)
    }
    pager.start(context, root)
    var words = words
    if since == nil, until == nil, let (rest, text) = Input.since(in: words, parser.context),
      !store.hasTitle(words.joined(separator: " "))
    {
      (words, start) = (rest, try parser.past(text, of: "--since"))
    } else if since == nil, until == nil {
      let period = Input.period(in: words, parser.context, isTitle: store.hasTitle)
      words = period.words
      if let dates = period.dates {
        func midnight(_ date: CivilDate) -> Instant {
          parser.context.zone.instant(of: CivilDateTime(date, .midnight))
        }
        (start, end) = (midnight(dates.lowerBound), midnight(dates.upperBound.adding(days: 1)))
      }
    }
    let filter = try context.explaining {
      try LogFilter(words, context.silentSelector(of: store), in: store)
    }
    // Entries are read while lines are written, which a warning must not interrupt.
    var warnings: [String] = []
    func warn() {
      for warning in warnings { CommandDiagnostic.warn(warning) }
      warnings = []
    }
    func read() -> some Sequence<LogEntry> {
      let log = store.history.log(of: filter.alarm) { path, error in
        warnings.append("\(Printable.text(path)) is not valid: \(Printable.text(error.text)).")
      }
      return log.lazy.drop { [end] entry in end.map { entry.at >= $0 } ?? false }
        .prefix { [start] entry in start.map { entry.at >= $0 } ?? true }
        .filter { filter.matches($0) }
    }
    if let unnamed = filter.unnamed, filter.alarm == nil, !read().contains(where: { _ in true }) {
      return try context.explaining { throw unnamed }
    }
    let entries = NewestFirst(read())
    if common.json { return writeDocuments(entries, LogText(store, context), warn) }
    let text = LogText(store, context)
    if let format {
      _ = write(entries, warn) { entry, _, bytes in
        bytes.append(format.text(text.json(entry)))
        bytes.append("\n")
      }
      return
    }
    let isEmpty = write(LogLines(entries), warn) { entries, previous, bytes in
      if let day = text.day(entries), day != previous.flatMap(text.day) {
        text.append(heading: day, to: &bytes)
      }
      text.append(entries, to: &bytes)
      bytes.append("\n")
    }
    let isFiltered = !self.words.isEmpty || since != nil || until != nil
    if isEmpty { Console.line(isFiltered ? "No log entry matches." : Log.nothing) }
  }

  /// Shows the changes of one commit.
  private func show(commit: String) throws {
    let context = try common.context(root)
    let store = try context.open(.reading)
    guard let changes = try store.history.changes(ofCommit: commit) else {
      throw CommandError(
        .noSuchAlarm, "there is no commit '\(Printable.text(commit))', or there are several.",
        hint: "To list the commits: belfry git -- log --oneline")
    }
    if common.json {
      return try Console.write(CommitDocument(changes, zones: context.storeContext.zones))
    }
    pager.start(context, root)
    let text = CommitText(LogText(store, context), context.style)
    for line in text.lines(changes) { Console.write(line + "\n") }
  }

  private func writeDocuments(
    _ entries: some Sequence<LogEntry>, _ text: LogText, _ warn: () -> Void
  ) {
    Console.write("[")
    let isEmpty = write(entries, warn) { entry, previous, bytes in
      bytes.append(previous == nil ? "\n" : ",\n")
      bytes.append(text.json(entry).line)
    }
    Console.write(isEmpty ? "]\n" : "\n]\n")
  }

  private static let nothing = "No log entries."

  /// The number of items that are written first, so that `| head` need not wait for years of history.
  private static let firstBatch = 64
  /// The number of items that are made into text together.
  private static let largestBatch = 4096

  /// Writes up to `count` items as text, each batch while the next one is read. Returns true if there are none.
  ///
  /// - Parameters:
  ///   - warn: Called before each batch is written, while nothing else is.
  ///   - append: Appends an item. Its second argument is the item before; nil for the first one.
  private func write<Items: Sequence>(
    _ items: Items, _ warn: () -> Void,
    _ append: @escaping @Sendable (Items.Element, Items.Element?, inout [UInt8]) -> Void
  ) -> Bool where Items.Element: Sendable {
    var rest = items.prefix(count ?? .max).makeIterator()
    func read(_ size: Int) -> [Items.Element] {
      var batch: [Items.Element] = []
      while batch.count < size, let item = rest.next() { batch.append(item) }
      return batch
    }
    func write(_ batch: [Items.Element], after last: Items.Element?) {
      let parts = Chunks.map(batch.count) { range in
        var bytes: [UInt8] = []
        for index in range { append(batch[index], index > 0 ? batch[index - 1] : last, &bytes) }
        return [bytes]
      }
      for part in parts { Console.write(part) }
    }
    var batch = read(Log.firstBatch)
    warn()
    let isEmpty = batch.isEmpty
    var last: Items.Element?
    var size = Log.firstBatch
    while batch.count == size {
      let (complete, before) = (batch, last)
      Chunks.both {
        write(complete, after: before)
      } and: {
        batch = read(Log.largestBatch)
      }
      warn()
      last = complete.last
      size = Log.largestBatch
    }
    write(batch, after: last)
    return isEmpty
  }
}

extension LogText {
  /// Creates the text of a store's log.
  ///
  /// - Parameters:
  ///   - style: The form of the text; nil for that of the command's output.
  ///   - hasTitles: False if all rows are about one alarm, which they need not name.
  init(
    _ store: Store, _ context: CommandContext, _ style: Style? = nil, hasTitles: Bool = true
  ) {
    let partnerAlarms = hasTitles ? (try? store.partnerAlarms()) ?? [] : []
    self.init(
      names: store.deviceNames(), times: context.times,
      titles: Dictionary(partnerAlarms.map { ($0.id, $0.shownTitle) }) { one, _ in one },
      style: style ?? context.style, moves: AlarmMoves(store).moves(of:), hasTitles: hasTitles)
  }
}

/// The moves of the alarms in the log. Each alarm is read once.
private final class AlarmMoves: Sendable {
  private let store: Store
  private let known = Mutex<[Identifier: [CivilDateTime: OccurrenceMove]]>([:])

  init(_ store: Store) { self.store = store }

  /// Returns the moves of an alarm's occurrences; none if it cannot be read.
  @Sendable func moves(of id: Identifier) -> [CivilDateTime: OccurrenceMove] {
    if let moves = known.withLock({ $0[id] }) { return moves }
    let moves = (try? store.alarm(id))?.progress.moves ?? [:]
    known.withLock { $0[id] = moves }
    return moves
  }
}

extension InputParser {
  /// Returns the instant of an option about the past: `monday`, `2026-11-01 9:00`, `2 weeks ago`, `2w`.
  fileprivate func past(_ text: String, of option: String) throws -> Instant {
    if let seconds = try? Input.length(text, in: context) {
      return context.instant.adding(seconds: -seconds)
    }
    let moment = try moment(text, .past, of: option)
    if case .date(let date) = moment {
      return context.zone.instant(of: CivilDateTime(date, .midnight))
    }
    return moment.instant(.past, in: context)
  }
}
