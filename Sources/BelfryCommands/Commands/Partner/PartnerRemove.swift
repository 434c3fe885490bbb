import ArgumentParser
import BelfryActions
import BelfryDocuments
import BelfryPartners
import BelfryStore
import BelfryTerminal

struct PartnerRemove: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "remove",
    abstract: "Remove a partner, the keys and the partner's alarms.",
    discussion: """
      The partner is notified, and decides whether to keep the alarms that you have set on their devices. 'belfry undo' \
      cannot restore the keys: to undo the removal, re-pair. Your other devices that have the keys delete them after the \
      next sync.
      """)

  @Argument(help: "The partner.", completion: .partners)
  var partner: String

  @Flag(name: .shortAndLong, help: "Do not ask for confirmation.")
  var yes = false

  @OptionGroup var common: CommonOptions
  @ParentCommand var parent: PartnerCommand

  func run() async throws {
    let session = try PartnerSession(common, parent.root)
    let partner = try session.find(self.partner)
    let name = partner.name.isEmpty ? "the invitation" : Printable.text(partner.name)
    let set = partner.received.filter { !$0.isOver && $0.alarm != nil }
    let count = set.count == 1 ? "an alarm" : "\(set.count) alarms"
    try Confirmation(isGiven: yes, json: common.json).require(
      "Remove \(name) and the keys?"
        + (set.isEmpty ? "" : " \(count.capitalizedFirst) of theirs will be deleted."),
      change: "remove \(name) and the keys" + (set.isEmpty ? "" : ", and delete \(count) of theirs")
    )
    let cancelled = try session.change(partner.id) { partner in
      // The daemon may have accepted more during the prompt. The keys go last: a failed deletion can be repeated.
      let deleted = try DeleteAlarms(
        ofPartner: partner.received.filter { !$0.isOver }.compactMap(\.alarm),
        reason: .partnerRemoved(partner: partner.name), isFinal: true
      ).perform(in: session.store)
      try partner.end(at: session.now)
      return deleted.count
    }
    let document = PartnerRemovalDocument(partner: partner.name, cancelled: cancelled)
    if !common.json {
      Console.line(
        "Removed \(name)"
          + (cancelled == 0
            ? "." : "; \(cancelled) of their alarms \(cancelled == 1 ? "was" : "were") deleted."))
    }
    try await session.syncMailboxes(
      ifUnreachable: "\(name) is notified when the mailbox can be reached.",
      document: common.json ? { document } : nil)
  }
}
