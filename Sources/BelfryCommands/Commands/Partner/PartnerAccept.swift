import ArgumentParser
import BelfryCore
import BelfryPartners
import BelfryScheduler
import BelfryStore
import BelfryTerminal

struct PartnerAccept: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "accept",
    abstract: "Accept an invitation by its link or QR code text.",
    discussion: """
      Without LINK, the link is read from standard input. That keeps it out of the shell's history:

        zbarimg -q --raw -Sdisable -Sqrcode.enable a.png | belfry partner accept --yes
      """)

  @Argument(help: "belfry://pair?…", completion: .text)
  var link: String?

  @OptionGroup var pairing: PairingOptions
  @OptionGroup var common: CommonOptions
  @ParentCommand var parent: PartnerCommand

  func run() async throws {
    let session = try PartnerSession(common, parent.root, .creating)
    try session.requireTier()
    let invitation = try invitation()
    let text = PartnerText(session.context)
    let inviter = Printable.text(invitation.name)
    if session.now > invitation.expires {
      throw CommandError(
        .notPossible, "the invitation was valid until \(text.when(invitation.expires)).",
        hint: "Ask \(inviter) for another.")
    }
    let hint = "Ask \(inviter) for an invitation to another mailbox."
    try MailboxURL.checkIsNoStore(invitation.mailbox, session.store, hint: hint)
    let name = try session.ownName(pairing.ownName)
    let partner = try Partnership.accepting(invitation, as: name, at: session.now)
    if session.partners.contains(where: { $0.id == partner.id }) {
      throw CommandError(
        .notPossible, "this device has already accepted, or created, this invitation.",
        hint: "See 'belfry partner'.")
    }
    if let other = PartnerNames.lookAlike(invitation.name, besides: partner.id, session) {
      CommandDiagnostic.warn(
        "the name \(inviter) looks like that of your partner \(Printable.text(other.name)), but is a different one."
      )
    }
    if !common.json {
      Console.line("\(inviter) invites you to be partners.")
      for line in text.consent(
        to: invitation.name, mailbox: invitation.mailbox, limits: partner.limits)
      { Console.line(line) }
    }
    try confirm(as: name)
    do {
      try await MailboxURL.checkHoldsMailOnly(
        invitation.mailbox, session.partnerStore, hint: hint)
    } catch let error as CommandError {
      throw error
    } catch {
      // An unreachable mailbox is retried and reported by the exchange below.
    }
    try session.partnerStore.change { $0.append(partner) }
    _ = session.store.pokeDaemon()
    try await session.syncMailboxes(
      ifUnreachable: "'belfry partner sync' retries until \(text.when(invitation.expires)).",
      document: common.json ? { session.document(of: partner.id) } : nil)
    if common.json { return }
    guard !pairing.noWait, Style.canAsk else {
      Console.line(
        "Accepted. After their device has seen it: belfry partner sync, then belfry partner")
      return
    }
    try await PairingDialogue(session, partner.id).run(
      waiting:
        "Waiting for \(inviter)'s device. To continue later: Ctrl-C, then 'belfry partner' …")
  }

  /// Asks for confirmation, unless `--yes` gives it.
  private func confirm(as name: String) throws {
    if pairing.yes { return }
    guard Style.canAsk else {
      throw CommandError(
        .usage, "accepting needs a confirmation, and this is not a terminal.",
        hint: "If you agree to the above: --yes")
    }
    Console.prompt("Accept, as \(Printable.text(name))?")
    guard Console.confirmed() else {
      throw CommandError(.failed, "nothing was sent.", hint: "Answer y to accept.")
    }
  }

  private func invitation() throws -> Invitation {
    var text = link ?? ""
    if link == nil || link == "-" {
      if Style.canAsk { Console.error("The link (belfry://pair?…):") }
      text = readLine() ?? ""
      // A prefix that QR code readers print.
      if text.hasPrefix("QR-Code:") { text.removeFirst(8) }
    }
    do throws(Invitation.Malformed) {
      return try Invitation(text)
    } catch {
      throw CommandError(
        .usage, "this is not a valid invitation: \(Printable.text(error.reason)).",
        hint: error.holdsCredentials
          ? "Nothing was sent. Ask for an invitation whose mailbox URL has no credentials."
          : "Copy the whole link, in quotes: belfry partner accept 'belfry://pair?…'")
    }
  }
}
