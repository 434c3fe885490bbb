import ArgumentParser
import BelfryCore
import BelfryStore

struct Delete: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "delete",
    abstract: "Delete an alarm on all devices.",
    discussion: "Other devices delete the alarm with their next sync. Its log entries are kept.")

  @Argument(help: "The alarm.")
  var alarm: String

  @Flag(help: "Do not ask for confirmation.")
  var yes = false

  @OptionGroup var common: CommonOptions
  @ParentCommand var root: Belfry

  func run() throws {
    let context = try common.context(root)
    let store = try context.open()
    let summary = try context.find(alarm, in: store)
    let title = Printable.text(summary.title)
    if !yes, Style.canAsk {
      Console.prompt("Delete \(title) (\(summary.id.short), \(summary.badge))?")
      guard Console.confirmed() else {
        throw CommandError(.failed, "nothing was deleted.", hint: "Answer y to delete it.")
      }
    }
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
}
