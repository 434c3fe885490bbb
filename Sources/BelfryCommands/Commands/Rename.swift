import ArgumentParser
import BelfryActions
import BelfryCore
import BelfryScheduler
import BelfryStore
import BelfryTerminal

struct Rename: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "rename",
    abstract: "Change the title of an alarm.",
    discussion: """
        belfry rename rent "Pay rent"
        belfry rename "pay rent" Rent
      """)

  @Argument(
    help: ArgumentHelp("The alarm, then the new title.", valueName: "alarm"), completion: .alarms)
  var words: [String]

  @OptionGroup var confirmation: ConfirmationOptions
  @OptionGroup var common: CommonOptions
  @ParentCommand var root: Belfry

  func run() throws {
    let context = try common.context(root)
    let store = try context.open(.writing)
    let divided = try context.explaining { try context.selector(of: store).divideText(words) }
    guard !divided.rest.isEmpty else {
      throw CommandError(
        .usage, "the new title is missing.",
        hint: "Write it behind the alarm: belfry rename rent 'Pay rent'")
    }
    let title = try AlarmText.title(divided.rest.joined(separator: " "))
    let editing = try AlarmEditing(
      divided.selection, in: store, context, confirmation, json: common.json)
    let summary = try editing.only(for: "a new title")
    guard let changes = try editing.run(.renaming([summary.id], to: title)),
      let change = changes.first
    else { return }
    warn(aboutOthersThan: summary, title, in: store)
    if editing.isBulk { return }
    if common.json { return try editing.write(changes) }
    let (old, new) = (Printable.text(summary.title), Printable.text(title))
    Console.line(change.fields.isEmpty ? "\(new) is unchanged." : "Renamed \(old) to \(new).")
  }

  /// Warns about another alarm with the same title.
  private func warn(aboutOthersThan summary: AlarmSummary, _ title: String, in store: Store) {
    guard let matches = try? store.alarms(named: title), matches.rule == .whole,
      let other = matches.summaries.first(where: { $0.id != summary.id })
    else { return }
    CommandDiagnostic.warn("there is another \(Printable.text(other.title)): \(other.id.short).")
  }
}
