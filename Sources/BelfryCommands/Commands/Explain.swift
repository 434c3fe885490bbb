import ArgumentParser
import BelfryCore
import BelfryDocuments
import BelfryStore
import BelfryTerminal

struct Explain: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "explain",
    abstract: "Show which device, commit and rule set each value.",
    discussion: """
      Where a merge had to choose, * marks the value that it kept, and - the one that it set aside.
      """)

  @Argument(help: "The alarm.", completion: .alarms) var alarm: String

  @Argument(help: "One occurrence: a date, or 2026-11-23T09:00.")
  var occurrence: String?

  @OptionGroup var pager: PagerOptions
  @OptionGroup var common: CommonOptions
  @ParentCommand var root: Belfry

  func run() async throws {
    let context = try common.context(root)
    let store = try context.open(.reading)
    let id = try context.find(alarm, in: store).id
    pager.start(context, root)
    let civil = try occurrence.map { try InputParser(context).occurrence($0, of: id, in: store) }
    let explanation = try await store.history.explain(id, occurrence: civil)
    if let civil, !store.timeline(explanation.alarm).scheduled.contains(civil),
      explanation.occurrences.allSatisfy(\.parts.isEmpty)
    {
      throw CommandError(
        .notPossible,
        "\(Printable.text(explanation.alarm.title)) has no occurrence at \(context.times.full(civil)).",
        hint: "See 'belfry next' and 'belfry log'.")
    }
    if common.json {
      return try Console.write(ExplanationDocument(explanation, zones: context.storeContext.zones))
    }
    let text = ExplanationText(
      times: context.times, names: store.deviceNames(), style: context.style)
    Console.write(text.table(explanation))
  }
}
