import ArgumentParser
import BelfryCore
import BelfryDocuments
import BelfryPartners
import BelfryStore
import BelfryTerminal

struct PartnerAlarms: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "alarms",
    abstract:
      "List the alarms that partners have set, and keep or delete those of a former partner.",
    discussion: """
      After a partner has ended the partnership, the alarms that they had set ring until you decide. 'belfry undo' \
      reverts the decision.
      """)

  @Argument(help: "The partner, also a former one (default: all).", completion: .partners)
  var partner: String?

  @Flag(help: "Keep a former partner's alarms as your own.")
  var keep = false

  @Flag(help: "Delete a former partner's alarms.")
  var delete = false

  @OptionGroup var common: CommonOptions
  @ParentCommand var parent: PartnerCommand

  func validate() throws {
    if keep, delete { throw ValidationError("--keep and --delete cannot be combined.") }
  }

  func run() throws {
    let isChange = keep || delete
    let session = try PartnerSession(common, parent.root, isChange ? .writing : .reading)
    let all = FormerPartnerAlarms(session)
    let sets = try all.sets(of: partner)
    if isChange {
      guard let partner else {
        throw CommandError(
          .usage, "the partner is missing.", hint: "Name a former partner: belfry partner alarms")
      }
      if let active = sets.first(where: { !$0.isFormer }) {
        throw CommandError(
          .notPossible, "\(Printable.text(active.name)) is still a partner.",
          hint: "To delete single alarms: belfry delete. To end it: belfry partner remove")
      }
      if sets.allSatisfy(\.alarms.isEmpty) {
        throw CommandError(
          .notPossible, "no alarm of \(Printable.text(partner)) is left.",
          hint: "See 'belfry partner alarms'.")
      }
      for set in sets { try all.decide(keep ? .keep : .delete, set) }
    }
    if common.json {
      let decision = keep ? "kept" : delete ? "deleted" : nil
      return try Console.write(
        sets.map {
          PartnerAlarmsDocument(
            partner: $0.name, former: $0.isFormer, decision: decision,
            alarms: $0.alarms.map(\.id.text))
        })
    }
    if isChange { return Console.line(FormerPartnerAlarms.summary(keep ? .keep : .delete, sets)) }
    if sets.allSatisfy(\.alarms.isEmpty) { return Console.line("No alarm of a partner is set.") }
    for set in sets where !set.alarms.isEmpty {
      Console.line(Printable.text(set.name) + (set.isFormer ? ", no longer a partner:" : ":"))
      for line in all.lines(set) { Console.line("  \(line)") }
    }
    try all.ask(of: partner)
  }
}
