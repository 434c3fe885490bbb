import ArgumentParser
import BelfryCore
import BelfryStore

struct Delete: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Delete an alarm, on all devices once they have synced.")

  @Argument(help: "The alarm.")
  var alarm: String

  @Flag(help: "Do not ask.")
  var yes = false

  @OptionGroup var common: CommonOptions
  @ParentCommand var root: Belfry

  func run() throws {
    let context = try common.context(root)
    let store = try context.open()
    let card = try context.find(alarm, in: store)
    let title = Printable.text(card.title)
    if !yes, Style.canAsk {
      Console.prompt("Delete \(title) (\(card.id.short), \(card.badge))?")
      guard Console.confirmed() else {
        throw CommandError(.failed, "nothing was deleted.", hint: "Answer y to delete it.")
      }
    }
    guard let deleted = try store.delete(card.id) else {
      throw StoreError.noSuchAlarm(card.id.text)
    }
    let output = AlarmOutput(store: store, style: context.style)
    if common.json {
      output.print(output.json(deleted, AlarmStatus(state: .disabled), event: Event(.deleted)))
    } else {
      Console.line("Deleted \(title). Its history stays: belfry log \(card.id.short)")
    }
  }
}
