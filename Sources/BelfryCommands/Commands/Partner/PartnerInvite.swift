import ArgumentParser
import BelfryCore
import BelfryDocuments
import BelfryPartners
import BelfryScheduler
import BelfryStore
import BelfryTerminal
import Files
import Git
import Glibc

struct PartnerInvite: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "invite",
    abstract: "Create an invitation: a QR code and a link.",
    discussion: """
      The invitation is valid for ten minutes and for one answer.

      The mailbox is a git remote that both of you can push to: 'git init --bare' on a host of yours, or an empty \
      repository at any hosting service. It must not be a store. Without --remote, the mailbox that you already share \
      with a partner is used. The URL must not hold a password or a token, as the invitation would reveal it: use a \
      credential helper.

      Show the code, or send the link over a channel that you trust: anyone who has it can answer. Both of you then \
      compare six digits, by voice or side by side.
      """)

  @Option(help: ArgumentHelp("The mailbox: a git remote.", valueName: "url"))
  var remote: String?

  @Option(
    help: ArgumentHelp("Also write the QR code to a PNG file.", valueName: "file"),
    completion: .file())
  var png: String?

  @OptionGroup var pairing: PairingOptions
  @OptionGroup var common: CommonOptions
  @ParentCommand var parent: PartnerCommand

  func run() async throws {
    let session = try PartnerSession(common, parent.root, .creating)
    try session.requireTier()
    let mailbox = try await mailbox(session)
    let name = try session.ownName(pairing.ownName)
    let text = PartnerText(session.context)
    if !common.json {
      for line in text.consent(to: nil, mailbox: mailbox, limits: PartnerLimits()) {
        Console.line(line)
      }
      if !pairing.yes, Style.canAsk {
        Console.prompt("Create an invitation with these rights, as \(Printable.text(name))?")
        guard Console.confirmed() else {
          throw CommandError(.failed, "no invitation was created.", hint: "Answer y to invite.")
        }
      }
      Console.write("\n")
    }
    let partner = Partnership.inviting(as: name, mailbox: mailbox, at: session.now)
    guard let link = partner.invitation?.link else {
      throw CommandError(.failed, "the invitation could not be created.", hint: "Try again.")
    }
    let code = png == nil && common.json ? nil : try qrCode(link)
    if let png, let code { try write(code, to: CommandEnvironment.absolute(png)) }
    try session.partnerStore.change { $0.append(partner) }
    _ = session.store.pokeDaemon()
    if common.json {
      return try Console.write(
        InvitationDocument(
          id: partner.id.text, link: link, mailbox: URLMask.masked(url: mailbox),
          expires: session.context.storeContext.zones.text(partner.expires)))
    }
    show(code, session)
    // Not wrapped, so that it can be copied.
    Console.write("\(link)\n\n")
    Console.line(
      "It is valid until \(text.when(partner.expires)), for one answer. Your name in it is \(Printable.text(name))."
    )
    if let png {
      Console.line("The QR code is in \(Printable.text(png)). Delete the file after pairing.")
    }
    guard !pairing.noWait, Style.canAsk else {
      Console.line("After your partner has answered: belfry partner sync, then belfry partner")
      return
    }
    try await PairingDialogue(session, partner.id).run(
      waiting: "Waiting for an answer. To continue later: Ctrl-C, then 'belfry partner' …")
  }

  /// Returns the URL of the mailbox, after checking that it can be reached and is no store.
  private func mailbox(_ session: PartnerSession) async throws -> String {
    let url: String
    if let remote {
      url = RemoteURLInput.absolute(remote)
    } else {
      let known = session.partners.filter { $0.phase == .active }.map(\.mailbox)
      guard let first = known.first, Set(known).count == 1 else {
        throw CommandError(
          .usage, known.isEmpty ? "no mailbox is known." : "several mailboxes are known.",
          hint: "Name a git remote that both of you can push to: --remote URL")
      }
      url = first
    }
    try MailboxURL.refuseCredentials(in: url)
    let hint = "Create a separate repository for the mailbox: git init --bare"
    try MailboxURL.checkIsNoStore(url, session.store, hint: hint)
    do {
      try await MailboxURL.checkHoldsMailOnly(url, session.partnerStore, hint: hint)
    } catch let error as CommandError {
      throw error
    } catch {
      throw CommandError(partnerMailbox: error)
    }
    return url
  }

  /// Returns the QR code of a link.
  ///
  /// Returns nil after a warning if it cannot be drawn and no PNG file is requested.
  private func qrCode(_ link: String) throws -> QRCode? {
    do throws(QRCode.Failure) {
      return try QRCode(link)
    } catch {
      let failure = CommandError(drawing: error)
      if png != nil { throw failure }
      CommandDiagnostic.warn(
        "no QR code: \(failure.message) Use the link instead.", hints: failure.hints)
      return nil
    }
  }

  private func write(_ code: QRCode, to path: String) throws {
    let bytes: [UInt8]
    do throws(QRCode.Failure) {
      bytes = try code.png()
    } catch {
      throw CommandError(drawing: error)
    }
    // Private, as anyone who reads it can answer.
    try DurableFile.write(bytes, to: path, temporary: "\(path).new", mode: 0o600)
  }

  /// Prints a code if the whole of it fits on the screen. A phone cannot read a part of it.
  private func show(_ code: QRCode?, _ session: PartnerSession) {
    guard let code else { return }
    let lines = code.lines(isColored: session.context.style.isColored)
    if let lack = lack(code.columns, lines.count) {
      Console.line(lack)
      guard !pairing.yes, !pairing.noWait, Style.canAsk,
        Console.answer(to: "Press Enter when it is larger, or to continue with the link alone:")
          != nil, self.lack(code.columns, lines.count) == nil
      else { return Console.write("\n") }
    }
    for line in lines { Console.write(line + "\n") }
    Console.write("\n")
  }

  /// Returns how to make room for a code; nil if it fits or standard output is no terminal.
  private func lack(_ columns: Int, _ rows: Int) -> String? {
    guard let size = Style.size(STDOUT_FILENO), size.columns < columns || size.rows < rows else {
      return nil
    }
    return """
      The QR code needs \(columns) columns and \(rows) rows, but this terminal has \(size.columns) and \(size.rows). \
      Enlarge the window or choose a smaller font (in most terminals Ctrl and -), send the link instead, or write the \
      code to an image: --png FILE
      """
  }
}

extension CommandError {
  fileprivate init(drawing failure: QRCode.Failure) {
    self.init(
      .failed, "\(failure.reason).",
      hint: failure.package.map { "Install it: apt-get install \($0)" })
  }
}
