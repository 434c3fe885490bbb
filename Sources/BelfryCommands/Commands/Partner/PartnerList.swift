import ArgumentParser
import BelfryPartners
import BelfryStore
import BelfryTerminal

struct PartnerList: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "list", abstract: "List partners and their status.")

  @OptionGroup var common: CommonOptions
  @ParentCommand var parent: PartnerCommand

  func run() throws {
    let session = try PartnerSession(common, parent.root, .reading)
    let text = PartnerText(session.context)
    let partners = session.partners.filter { $0.phase != .ended }
    if common.json {
      return try Console.write(partners.map(text.document))
    }
    let former = try FormerPartnerAlarms(session).hints()
    if partners.isEmpty, former.isEmpty {
      Console.line("You have no partners. Invite one: belfry partner invite --remote URL")
      Console.line("More: belfry help partner")
      return
    }
    for (index, partner) in partners.enumerated() {
      if index > 0 { Console.write("\n") }
      for line in text.lines(partner) { Console.line(line) }
    }
    for line in former { Console.line(line) }
  }
}
