import ArgumentParser
import BelfryCore
import BelfryScheduler
import BelfryStore
import BelfryTerminal

struct Log: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "log",
    abstract: "Show the log, newest entries first.",
    discussion: """
      Reports of several devices about the same event are one line, as is an action on several alarms. With --json, each \
      entry is separate and has a 'payload' with the facts beyond the action: {"kind": "snooze", "until": …}.
      For the history of the files: belfry git -- log --stat
      """)

  @Argument(help: "The alarm; a deleted one by its id (default: all alarms).", completion: .alarms)
  var alarm: String?

  @Option(
    name: .shortAndLong,
    help: "The maximum number of lines, or of entries with --json (default: all).")
  var count: Int?

  @OptionGroup var common: CommonOptions
  @ParentCommand var root: Belfry

  func validate() throws {
    if let count, count < 1 { throw ValidationError("--count is at least 1.") }
  }

  func run() throws {
    let context = try common.context(root)
    guard let store = try alarm == nil ? context.openIfAny() : context.open(.reading) else {
      return common.json ? Console.write("[]\n") : Console.line(Log.nothing)
    }
    let wanted = try alarm.map { try identifier($0, context, store) }
    let partnerAlarms = (try? store.partnerAlarms()) ?? []
    let text = LogText(
      names: store.deviceNames(), times: context.times,
      titles: Dictionary(partnerAlarms.map { ($0.id, $0.shownTitle) }) { one, _ in one })
    // Entries are read while lines are written, which a warning must not interrupt.
    var warnings: [String] = []
    let log = store.history.log(of: wanted) { path, error in
      warnings.append("\(Printable.text(path)) is not valid: \(Printable.text(error.text)).")
    }
    func warn() {
      for warning in warnings { CommandDiagnostic.warn(warning) }
      warnings = []
    }
    let entries = NewestFirst(log)
    if common.json {
      Console.write("[")
      let isEmpty = write(entries, separatedBy: ",", warn) { entry, bytes in
        bytes.append("\n")
        bytes.append(text.json(entry).line)
      }
      return Console.write(isEmpty ? "]\n" : "\n]\n")
    }
    let isWrapped = context.style.width != nil
    let isEmpty = write(LogLines(entries), separatedBy: "", warn) { entries, bytes in
      if isWrapped {
        bytes.append(Console.fitted(text.line(entries)))
      } else {
        text.append(entries, to: &bytes)
      }
      bytes.append("\n")
    }
    if isEmpty { Console.line(Log.nothing) }
  }

  private static let nothing = "No log entries."

  /// The number of items that are written first, so that `| head` need not wait for years of history.
  private static let firstBatch = 64
  /// The number of items that are made into text together.
  private static let largestBatch = 4096

  /// Writes up to `count` items as text, each batch while the next one is read. Returns true if there are none.
  ///
  /// - Parameter warn: Called before each batch is written, while nothing else is.
  private func write<Items: Sequence>(
    _ items: Items, separatedBy separator: String, _ warn: () -> Void,
    _ append: @escaping @Sendable (Items.Element, inout [UInt8]) -> Void
  ) -> Bool where Items.Element: Sendable {
    var rest = items.prefix(count ?? .max).makeIterator()
    func read(_ size: Int) -> [Items.Element] {
      var batch: [Items.Element] = []
      while batch.count < size, let item = rest.next() { batch.append(item) }
      return batch
    }
    func write(_ batch: [Items.Element], isFirst: Bool) {
      let parts = Chunks.map(batch.count) { range in
        var bytes: [UInt8] = []
        for index in range {
          if index > 0 || !isFirst { bytes.append(separator) }
          append(batch[index], &bytes)
        }
        return [bytes]
      }
      for part in parts { Console.write(part) }
    }
    var batch = read(Log.firstBatch)
    warn()
    let isEmpty = batch.isEmpty
    var isFirst = true
    while batch.count == (isFirst ? Log.firstBatch : Log.largestBatch) {
      let (complete, wasFirst) = (batch, isFirst)
      Chunks.both {
        write(complete, isFirst: wasFirst)
      } and: {
        batch = read(Log.largestBatch)
      }
      warn()
      isFirst = false
    }
    write(batch, isFirst: isFirst)
    return isEmpty
  }

  /// Returns the id of the alarm that the argument names. A deleted alarm is found by its log entries.
  private func identifier(
    _ name: String, _ context: CommandContext, _ store: Store
  ) throws -> Identifier {
    do {
      return try context.find(name, in: store).id
    } catch let error as StoreError {
      guard case .noSuchAlarm = error, name.utf8.allSatisfy(Identifier.isCharacter) else {
        throw error
      }
      let matches = Set(store.history.log().lazy.map(\.alarm).filter { $0.text.hasPrefix(name) })
      guard matches.count == 1, let id = matches.first else { throw error }
      return id
    }
  }
}
