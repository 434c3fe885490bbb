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

  @Flag(help: "Do not ask for confirmation.")
  var yes = false

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
    try confirm(summaries, output)
    let ids = summaries.map(\.id)
    let deleted = try (finished ? DeleteAlarms(finishedOf: ids) : DeleteAlarms(ids))
      .perform(in: store)
    if common.json { return try write(deleted, isBulk: finished || ids.count > 1, output) }
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
    let confirmation = Confirmation(isGiven: yes, json: common.json)
    if !finished, summaries.count == 1, let summary = summaries.first {
      let next = summary.status.next.map {
        ", next on \(output.when($0, zone: summary.zone))"
      }
      let shown =
        "\(Printable.text(summary.title)) (\(summary.id.short), \(summary.badge)\(next ?? ""))"
      return try confirmation.require(
        "Delete \(shown) on all devices?", change: "delete \(shown) on all devices")
    }
    if summaries.isEmpty { return }
    let more = summaries.count - Delete.maxTitles
    let titles = summaries.prefix(Delete.maxTitles).map { Printable.text($0.title) }
    try confirmation.require(
      "Delete \(count(summaries.count)) on all devices?",
      details: titles + (more > 0 ? ["and \(more) more"] : []),
      change:
        "delete \(count(summaries.count)) on all devices (\(titles.joined(separator: ", ")))")
  }

  /// The maximum number of titles in a question.
  private static let maxTitles = 20
}
