import ArgumentParser
import BelfryCore
import BelfryStore

struct Delete: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "delete",
    abstract: "Delete an alarm on all devices.",
    discussion: """
      Other devices delete the alarm with their next sync. Its log entries are kept.

        belfry delete rent
        belfry delete --finished        # the alarms of 'belfry list --finished'
      """)

  @Argument(help: "The alarm.", completion: .alarms)
  var alarm: String?

  @Flag(help: "Delete all finished alarms.")
  var finished = false

  @Flag(help: "Do not ask for confirmation.")
  var yes = false

  @OptionGroup var common: CommonOptions
  @ParentCommand var root: Belfry

  func validate() throws {
    if (alarm == nil) != finished {
      throw ValidationError("name an alarm, or give --finished.")
    }
  }

  func run() throws {
    let context = try common.context(root)
    let store = try context.open(.writing)
    guard let alarm else { return try deleteFinished(context, store) }
    let summary = try context.find(alarm, in: store)
    let title = Printable.text(summary.title)
    let next = summary.status.next.map {
      ", next on \(AlarmOutput(store: store, style: context.style).when($0.civil, zone: summary.zone))"
    }
    let shown = "\(title) (\(summary.id.short), \(summary.badge)\(next ?? ""))"
    try Confirmation(isGiven: yes, json: common.json).require(
      "Delete \(shown) on all devices?", change: "delete \(shown) on all devices")
    guard let deleted = try store.delete(summary.id) else {
      throw StoreError.noSuchAlarm(summary.id.text)
    }
    let output = AlarmOutput(store: store, style: context.style)
    if common.json {
      try Console.write(
        output.document(deleted, AlarmStatus(state: .disabled), event: Event(.deleted)))
    } else {
      Console.line("Deleted \(title). Its history stays: belfry log \(summary.id.short)")
    }
  }

  /// Deletes the finished alarms in one commit.
  private func deleteFinished(_ context: CommandContext, _ store: Store) throws {
    let finished = try context.overview(store).filter(\.status.isFinished)
    let output = AlarmOutput(store: store, style: context.style)
    if !finished.isEmpty {
      let more = finished.count - Delete.maxTitles
      try Confirmation(isGiven: yes, json: common.json).require(
        "Delete \(Delete.count(finished.count)) on all devices?",
        details: finished.prefix(Delete.maxTitles).map { Printable.text($0.title) }
          + (more > 0 ? ["and \(more) more"] : []),
        change: "delete \(Delete.count(finished.count)) on all devices")
    }
    // An alarm may have been edited since.
    let deleted = try store.delete(finished.map(\.id), reason: nil) { alarm in
      try store.status(alarm).isFinished
    }
    if common.json {
      return try Console.write(
        deleted.map {
          output.document($0, AlarmStatus(state: .disabled), event: Event(.deleted))
        })
    }
    Console.line(
      deleted.isEmpty
        ? "No alarm is finished."
        : "Deleted \(Delete.count(deleted.count)). To restore: belfry undo")
  }

  private static func count(_ alarms: Int) -> String {
    "\(alarms) finished alarm\(alarms == 1 ? "" : "s")"
  }

  /// The maximum number of titles in a question.
  private static let maxTitles = 20
}
