import ArgumentParser
import BelfryCore
import BelfryDocuments
import BelfryStore
import BelfryTerminal

struct Pending: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "pending",
    abstract: "List stopped occurrences that are not confirmed as done.")

  @Argument(help: "Alarms, or +tag, due:week (default: all).", completion: .selections)
  var words: [String] = []

  @OptionGroup var pager: PagerOptions
  @OptionGroup var common: CommonOptions
  @ParentCommand var root: Belfry

  private static let nothing = "Nothing is pending."

  func run() throws {
    let context = try common.context(root)
    guard let store = try words.isEmpty ? context.openIfAny() : context.open(.reading) else {
      if common.json { return try Console.write([PendingDocument]()) }
      return Console.line(Pending.nothing)
    }
    pager.start(context, root)
    let output = AlarmOutput(store: store, style: context.style)
    let items = try context.listed(words, in: store)
      .flatMap { summary in summary.status.pending.map { (summary: summary, pending: $0) } }
      .sorted { ($0.pending.since, $0.summary.id) < ($1.pending.since, $1.summary.id) }
    if common.json {
      return try Console.write(
        items.map { PendingDocument($0.summary, $0.pending, zones: output.zones) })
    }
    if items.isEmpty { return Console.line(Pending.nothing) }
    for (index, item) in items.enumerated() {
      if index > 0 { Console.line("") }
      Console.write(output.pending(item.summary, item.pending))
    }
  }
}
