import ArgumentParser
import BelfryActions
import BelfryCore
import BelfryStore
import BelfryTerminal

struct Delete: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "delete",
    abstract: "Delete alarms on all devices.",
    discussion: """
      Other devices delete the alarm with their next sync. Its log entries are kept.

        belfry delete rent
        belfry delete rent tea          # or a filter: +home, disabled
        belfry delete --finished        # the alarms of 'belfry list --finished'
      """)

  @Argument(help: "The alarms, or +tag or a state.", completion: .selections)
  var alarms: [String] = []

  @Flag(help: "Delete all finished alarms.")
  var finished = false

  @OptionGroup var confirmation: ConfirmationOptions

  @OptionGroup var common: CommonOptions
  @ParentCommand var root: Belfry

  func validate() throws {
    if alarms.isEmpty != finished { throw ValidationError("name alarms, or give --finished.") }
  }

  func run() throws {
    let context = try common.context(root)
    let store = try context.open(.writing)
    let output = AlarmOutput(store: store, style: context.style)
    let summaries =
      try finished
      ? context.overview(store).filter(\.status.isFinished)
      : context.explaining { try context.selector(of: store).selectAny(alarms).summaries }
    let ids = summaries.map(\.id)
    let action = finished ? DeleteAlarms(finishedOf: ids) : DeleteAlarms(ids)
    let isBulk = finished || ids.count > 1
    if confirmation.dryRun {
      if common.json { return try write(action.preview(in: store), isBulk: isBulk, output) }
      return Console.line("Would \(change(summaries, output)).")
    }
    try confirm(summaries, output)
    let deleted = try action.perform(in: store)
    if common.json { return try write(deleted, isBulk: isBulk, output) }
    if !finished, ids.count == 1, let alarm = deleted.first?.alarm {
      return Console.line(
        "Deleted \(Printable.text(alarm.title)). Its history stays: belfry log \(alarm.id.short)")
    }
    Console.line(
      deleted.isEmpty
        ? "No alarm is finished." : "Deleted \(count(deleted.count)). To restore: belfry undo")
  }

  private func write(_ deleted: [AlarmChange], isBulk: Bool, _ output: AlarmOutput) throws {
    let documents = deleted.map {
      output.document($0.alarm, $0.status, event: Event(.deleted))
    }
    try Console.write(documents, asList: isBulk)
  }

  private func count(_ number: Int) -> String {
    "\(number) \(finished ? "finished alarm" : "alarm")\(number == 1 ? "" : "s")"
  }

  /// Asks for confirmation.
  private func confirm(_ summaries: [AlarmSummary], _ output: AlarmOutput) throws {
    if summaries.isEmpty { return }
    let change = change(summaries, output)
    let isSingle = !finished && summaries.count == 1
    try Confirmation(isGiven: confirmation.yes, json: common.json).require(
      isSingle
        ? "\(change.capitalizedFirst)?" : "Delete \(count(summaries.count)) on all devices?",
      details: isSingle ? [] : titles(summaries), change: change)
  }

  /// Returns the deletion of some alarms as a clause: `delete 2 alarms on all devices (Tea, Rent)`.
  private func change(_ summaries: [AlarmSummary], _ output: AlarmOutput) -> String {
    guard !finished, summaries.count == 1, let summary = summaries.first else {
      let titles = summaries.isEmpty ? "" : " (\(titles(summaries).joined(separator: ", ")))"
      return "delete \(count(summaries.count)) on all devices\(titles)"
    }
    let next = summary.status.next.map {
      ", next on \(output.when($0, zone: summary.zone))"
    }
    let title = Printable.text(summary.title)
    return "delete \(title) (\(summary.id.short), \(summary.badge)\(next ?? "")) on all devices"
  }

  private func titles(_ summaries: [AlarmSummary]) -> [String] {
    let more = summaries.count - Delete.maxTitles
    return summaries.prefix(Delete.maxTitles).map { Printable.text($0.title) }
      + (more > 0 ? ["and \(more) more"] : [])
  }

  /// The maximum number of titles in a question.
  private static let maxTitles = 20
}
