import ArgumentParser
import BelfryActions
import BelfryCore
import BelfryStore
import BelfryTerminal

struct NoteCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "note",
    abstract: "Set, show or remove the note of alarms.",
    discussion: """
      The last argument is the text if it is in quotes; otherwise all words behind the first alarm are. Without a text, \
      the note is shown. The text - is read from standard input.

        belfry note rent "call the bank"
        belfry note rent                     # shows it
        belfry note rent pills "at noon"     # both
        belfry note +home "ask Alex"
        belfry note rent --clear
      """)

  @Argument(
    help: ArgumentHelp(
      "The alarms, or +tag, a state or due:week; then the text.", valueName: "alarms"),
    completion: .selections)
  var words: [String]

  @Flag(help: "Remove the note.")
  var clear = false

  @OptionGroup var confirmation: ConfirmationOptions
  @OptionGroup var common: CommonOptions
  @ParentCommand var root: Belfry

  func run() throws {
    let context = try common.context(root)
    let store = try context.open(words.count > 1 || clear ? .writing : .reading)
    let divided = try context.explaining { try context.selector(of: store).divideText(words) }
    let selection = clear ? words : divided.selection
    let editing = try AlarmEditing(selection, in: store, context, confirmation, json: common.json)
    guard clear || !divided.rest.isEmpty else { return try show(editing) }
    let note = try clear ? nil : AlarmText.note(text(divided.rest))
    guard let changes = try editing.run(.noting(editing.selection.ids, note)), !editing.isBulk,
      let change = changes.first
    else { return }
    if common.json { return try editing.write(changes) }
    let title = Printable.text(change.alarm.title)
    Console.line(
      change.fields.isEmpty
        ? "The note of \(title) is unchanged."
        : note == nil ? "Removed the note of \(title)." : "Changed the note of \(title).")
  }

  /// Returns the text of some words.
  private func text(_ words: [String]) throws -> String {
    guard words == ["-"] else { return words.joined(separator: " ") }
    return String(decoding: try InputFile.read("-", limit: 1 << 16), as: UTF8.self)
  }

  private func show(_ editing: AlarmEditing) throws {
    if common.json { return try editing.writeAlarms() }
    for summary in editing.selection.summaries {
      let title = Printable.text(summary.title)
      guard let note = summary.note else {
        Console.line("\(title) has no note.")
        continue
      }
      if editing.isBulk { Console.line("\(title):") }
      for line in note.split(separator: "\n", omittingEmptySubsequences: false) {
        Console.line((editing.isBulk ? "  " : "") + Printable.text(String(line)))
      }
    }
  }
}
