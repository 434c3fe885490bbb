import ArgumentParser
import BelfryCore
import BelfryStore

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
    if finished {
      let finished = try context.overview(store).filter(\.status.isFinished)
      // An alarm may have been edited since.
      return try delete(finished, "finished alarm", context, store) { alarm in
        try store.status(alarm).isFinished
      }
    }
    let summaries = try AlarmSelection.listed(alarms, in: store, context)
    guard let summary = summaries.first else {
      throw CommandError(
        .noSuchAlarm, "no alarm matches '\(Printable.text(alarms.joined(separator: " ")))'.",
        hint: "See 'belfry list'.")
    }
    if summaries.count > 1 { return try delete(summaries, "alarm", context, store) { _ in true } }
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

  /// Deletes several alarms in one commit.
  ///
  /// - Parameters:
  ///   - noun: What they are, in the singular.
  ///   - isWanted: Returns true if an alarm is still one of them.
  private func delete(
    _ summaries: [AlarmSummary], _ noun: String, _ context: CommandContext, _ store: Store,
    where isWanted: (Alarm) throws -> Bool
  ) throws {
    func count(_ number: Int) -> String { "\(number) \(noun)\(number == 1 ? "" : "s")" }
    let output = AlarmOutput(store: store, style: context.style)
    if !summaries.isEmpty {
      let more = summaries.count - Delete.maxTitles
      let titles = summaries.prefix(Delete.maxTitles).map { Printable.text($0.title) }
      try Confirmation(isGiven: yes, json: common.json).require(
        "Delete \(count(summaries.count)) on all devices?",
        details: titles + (more > 0 ? ["and \(more) more"] : []),
        change:
          "delete \(count(summaries.count)) on all devices (\(titles.joined(separator: ", ")))")
    }
    let deleted = try store.delete(summaries.map(\.id), reason: nil, where: isWanted)
    if common.json {
      return try Console.write(
        deleted.map {
          output.document($0, AlarmStatus(state: .disabled), event: Event(.deleted))
        })
    }
    Console.line(
      deleted.isEmpty
        ? "No alarm is finished."
        : "Deleted \(count(deleted.count)). To restore: belfry undo")
  }

  /// The maximum number of titles in a question.
  private static let maxTitles = 20
}
