import ArgumentParser
import BelfryCore
import BelfryScheduler
import BelfryStore

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
    let store = try context.open(.reading)
    let wanted = try alarm.map { try identifier($0, context, store) }
    let text = LogText(names: store.deviceNames(), times: context.times)
    let log = store.history.log(of: wanted) { path, error in
      CommandDiagnostic.warn(
        "\(Printable.text(path)) is not valid: \(Printable.text(error.text)).")
    }
    var shown = 0
    var buffer: [UInt8] = []
    // The output is written while entries are read, so that `| head` need not wait for years of history.
    func flush(_ limit: Int) {
      guard buffer.count > limit else { return }
      Console.write(buffer)
      buffer = []
    }
    let entries = NewestFirst(log)
    if common.json {
      buffer.append(contentsOf: "[".utf8)
      for entry in entries.prefix(count ?? .max) {
        buffer.append(contentsOf: (shown == 0 ? "\n" : ",\n").utf8)
        buffer.append(contentsOf: text.json(entry).line.utf8)
        shown += 1
        flush(1 << 14)
      }
      buffer.append(contentsOf: (shown == 0 ? "]\n" : "\n]\n").utf8)
    } else {
      for line in LogLines(entries).prefix(count ?? .max) {
        buffer.append(contentsOf: (Console.fitted(text.line(line)) + "\n").utf8)
        shown += 1
        flush(1 << 14)
      }
      if shown == 0 { buffer.append(contentsOf: "No log entries.\n".utf8) }
    }
    flush(0)
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
