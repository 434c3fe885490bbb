import ArgumentParser
import BelfryCore
import BelfryPartners
import BelfryStore
import BelfryTerminal

struct PartnerLog: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "log",
    abstract: "Show requests and receipts in both directions.",
    discussion: "The newest request comes first.")

  @Argument(help: "The partner (default: all).", completion: .partners)
  var partner: String?

  @Option(name: .shortAndLong, help: "Maximum number of requests (default: all).")
  var count: Int?

  @OptionGroup var common: CommonOptions
  @ParentCommand var parent: PartnerCommand

  func run() throws {
    let session = try PartnerSession(common, parent.root, .reading)
    let partners = try partner.map { [try known($0, session)] } ?? session.partners
    let text = PartnerText(session.context)
    var items: [PartnerLogLine] = partners.flatMap { partner in
      partner.sent.map { PartnerLogLine(partner: partner, at: $0.created, item: .sent($0)) }
        + partner.received.map {
          PartnerLogLine(partner: partner, at: $0.received, item: .received($0))
        }
    }.sorted { $0.at > $1.at }
    if let count { items = Array(items.prefix(max(0, count))) }
    if common.json {
      return try Console.write(items.map { $0.document(session.context.storeContext.zones) })
    }
    if items.isEmpty { Console.line("There are no requests yet.") }
    for item in items {
      for line in item.lines(text) { Console.line(line) }
    }
    for partner in partners {
      for fault in MailFault.allCases {
        guard let faults = partner.mail.faults[fault] else { continue }
        let name = partner.name.isEmpty ? "an invitation" : Printable.text(partner.name)
        Console.line("Refused messages in the inbox for \(name): \(text.summary(fault, faults)).")
      }
    }
  }

  /// Returns the partner of this name, or a former one if there is no current one.
  private func known(_ name: String, _ session: PartnerSession) throws -> Partnership {
    if let partner = try? session.find(name) { return partner }
    return try session.find(name, where: { _ in true })
  }
}
