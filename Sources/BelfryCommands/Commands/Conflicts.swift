import ArgumentParser
import BelfryCore
import BelfryDocuments
import BelfryInput
import BelfryStore
import BelfryTerminal

struct Conflicts: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "conflicts",
    abstract: "List the edits that merges set aside, and restore them.",
    discussion: """
      A merge resolves every conflict automatically: it keeps one value and sets the other aside.
      """,
    subcommands: [ConflictsList.self, ConflictsRestore.self],
    defaultSubcommand: ConflictsList.self)

  @ParentCommand var root: Belfry
}

/// The number of conflicts that are listed without `--all`.
private let defaultLimit = 20

struct ConflictsList: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "list", abstract: "List the edits that merges set aside, newest first.")

  @Flag(help: "List all of them, not only the latest \(defaultLimit).")
  var all = false

  @OptionGroup var common: CommonOptions
  @ParentCommand var parent: Conflicts

  func run() async throws {
    let context = try common.context(parent.root)
    let store = try context.open(.reading)
    let items = try await store.history.conflicts(limit: all ? .max : defaultLimit)
    if common.json {
      return try Console.write(
        items.enumerated().map {
          ConflictDocument(
            $0.element, number: $0.offset + 1, zones: context.storeContext.zones)
        })
    }
    if items.isEmpty { return Console.line("No merge has set an edit aside.") }
    let (names, times) = (store.deviceNames(), context.times)
    for (index, item) in items.enumerated() {
      let decision = item.decision
      let mark = item.isRestored ? " (restored)" : ""
      Console.line(
        "\(index + 1). \(Printable.text(decision.title)), \(subject(decision, names, times))\(mark)"
      )
      let kept = side(
        decision.shown(decision.keptText, names, times), decision.keptStamp, item.kept, names, times
      )
      let discarded = side(
        decision.shown(decision.discardedText, names, times), decision.discardedStamp,
        item.discarded,
        names, times)
      Console.line("   kept       \(kept)")
      Console.line("   set aside  \(discarded)")
      Console.line(
        "   because \(decision.rule.text)\(item.merge.map { "; merge \($0.commit.short)" } ?? "")")
    }
    Console.line("To use the other value: belfry conflicts restore N")
  }

  /// Returns one side of a conflict: `"Pay rent" by laptop, Fri 20 Nov 2026, 23:00, commit 3a25f117`.
  private func side(
    _ value: String, _ stamp: Stamp?, _ origin: SetAside.Origin?, _ names: [Identifier: String],
    _ times: TimeText
  ) -> String {
    let device = (stamp?.device ?? origin?.device).map { names[$0] ?? $0.short }
    let time = stamp?.time ?? origin?.time
    let parts =
      [
        "\"\(value)\""
          + (device.map { " by \(Printable.text($0))" } ?? "")
      ]
      + [time.map { times.full($0) }, origin.map { "commit \($0.commit.short)" }]
      .compactMap { $0 }
    return parts.joined(separator: ", ")
  }

}

/// Returns the subject of a decision, with the names of devices in place of their ids.
private func subject(
  _ decision: MergeDecision, _ names: [Identifier: String], _ times: TimeText
) -> String {
  Printable.text(times.dates(in: decision.subject.fieldText.text(names)))
}

struct ConflictsRestore: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "restore", abstract: "Restore a value that a merge set aside.",
    discussion: "This is a new edit; 'belfry undo' reverts it.")

  @Argument(help: "The number in the list of 'belfry conflicts'.", completion: .text)
  var number: Int

  @OptionGroup var common: CommonOptions
  @ParentCommand var parent: Conflicts

  func run() async throws {
    let context = try common.context(parent.root)
    let store = try context.open(.writing)
    let items = number > 0 ? try await store.history.conflicts(limit: number) : []
    guard number > 0, items.count >= number else {
      throw CommandError(
        .notPossible, "there is no conflict \(number).", hint: "See 'belfry conflicts list --all'.")
    }
    let item = items[number - 1]
    if item.isRestored {
      throw CommandError(
        .notPossible, "conflict \(number) is already restored.",
        hint: "See 'belfry conflicts list'.")
    }
    try store.history.restore(item)
    let decision = item.decision
    if common.json {
      return try Console.write(
        RestoredConflictDocument(
          alarm: decision.alarm?.text, field: decision.subject.name, value: decision.discarded))
    }
    let names = store.deviceNames()
    Console.line(
      "\(Printable.text(decision.title)), \(subject(decision, names, context.times)): now \"\(decision.shown(decision.discardedText, names, context.times))\"."
    )
  }
}
