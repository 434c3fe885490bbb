import ArgumentParser
import BelfryCore
import BelfryStore

struct Log: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Show what happened, newest first.",
    discussion: "For the history of the files: belfry git -- log --stat")

  @Argument(help: "The alarm, deleted ones included by their identifier (default: all).")
  var alarm: String?

  @Option(name: .shortAndLong, help: "At most so many entries (default: all).")
  var count: Int?

  @OptionGroup var common: CommonOptions
  @ParentCommand var root: Belfry

  func validate() throws {
    if let count, count < 1 { throw ValidationError("--count is at least 1.") }
  }

  func run() throws {
    let context = try common.context(root)
    let store = try context.open()
    let wanted = try alarm.map { try identifier($0, context, store) }
    let names = store.deviceNames()
    let output = AlarmOutput(store: store, style: context.style)
    let entries = store.log(of: wanted) { path, error in
      Console.error(
        "belfry: warning: \(Printable.text(path)) is not valid: \(Printable.text(error.words)).")
    }
    var shown = 0
    var pending: [UInt8] = []
    // Written as it is read, so that `| head` need not wait for years of history.
    func flush(_ limit: Int) {
      guard pending.count > limit else { return }
      Console.write(pending)
      pending = []
    }
    if common.json { pending.append(contentsOf: "[".utf8) }
    for entry in entries {
      if let count, shown == count { break }
      if common.json {
        pending.append(contentsOf: (shown == 0 ? "\n" : ",\n").utf8)
        pending.append(contentsOf: json(entry, names, context).line.utf8)
      } else {
        pending.append(contentsOf: (Console.fitted(line(entry, names, output)) + "\n").utf8)
      }
      shown += 1
      flush(1 << 14)
    }
    if common.json { pending.append(contentsOf: (shown == 0 ? "]\n" : "\n]\n").utf8) }
    if shown == 0, !common.json { pending.append(contentsOf: "Nothing has happened yet.\n".utf8) }
    flush(0)
  }

  /// The alarm that is meant; one that was deleted has no card any more, but may have entries.
  private func identifier(
    _ name: String, _ context: CommandContext, _ store: Store
  ) throws -> Identifier {
    do {
      return try context.find(name, in: store).id
    } catch let error as StoreError {
      guard case .noSuchAlarm = error, name.utf8.allSatisfy(Identifier.isCharacter) else {
        throw error
      }
      let matches = Set(store.log().lazy.map(\.alarm).filter { $0.text.hasPrefix(name) })
      guard matches.count == 1, let id = matches.first else { throw error }
      return id
    }
  }

  private func line(
    _ entry: LogEntry, _ names: [Identifier: String], _ output: AlarmOutput
  ) -> String {
    let zones = output.zones
    let at = zones.local.civil(at: entry.at)
    var text = "\(at.date.spoken), \(at.time)  \(entry.action.label)"
    if entry.auto { text += " (by itself)" }
    text += ": \(Printable.text(entry.title))"
    if let occurrence = entry.occurrence { text += " (\(occurrence.date) \(occurrence.time))" }
    if let detail = entry.detail { text += ", \(Printable.text(detail))" }
    if let done = entry.effective { text += ", at \(output.when(done))" }
    return text + "  \(Printable.text(names[entry.device] ?? entry.device.short))"
  }

  /// `{id, alarm, title, occurrence?, action, at, device}`, `auto`, `detail` and `doneAt` where there are any.
  private func json(
    _ entry: LogEntry, _ names: [Identifier: String], _ context: CommandContext
  ) -> JSON {
    .object(omittingNil: [
      "id": JSON(entry.id), "alarm": JSON(entry.alarm), "title": .string(entry.title),
      "occurrence": entry.occurrence.map { JSON($0) }, "action": .string(entry.action.rawValue),
      "at": .string(context.storeContext.zones.text(entry.at)),
      "device": .string(names[entry.device] ?? entry.device.text), "auto": entry.auto ? true : nil,
      "detail": entry.detail.map { .string($0) },
      "doneAt": entry.effective.map { .string(context.storeContext.zones.text($0)) },
    ])
  }
}
