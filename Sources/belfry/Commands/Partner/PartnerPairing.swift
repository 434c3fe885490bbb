import ArgumentParser
import BelfryCore
import BelfryPartners
import BelfryStore
import Git
import Glibc

/// What both sides of a pairing may say.
struct PairingOptions: ParsableArguments {
  @Option(
    name: .customLong("as"), help: ArgumentHelp("What the partner calls you.", valueName: "name"))
  var ownName: String?

  @Flag(help: "Do not ask.")
  var yes = false

  @Flag(help: "Do not wait for the other side: 'belfry partner' tells of it.")
  var noWait = false
}

struct PartnerInvite: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "invite",
    abstract: "Invite somebody: a QR code and a link, good for ten minutes and one answer.",
    discussion: """
      The mailbox is a git remote that both can push to, and no store: 'git init --bare' on a host of yours, or an \
      empty repository at any host. Without --remote it is the one that you share with a partner already. Its URL may \
      not hold a password or a token, which the invitation would give away: use a credential helper.

      Show the code, or send the link by a way that you trust: whoever has it may answer. Both of you then compare \
      six digits, by voice or side by side.
      """)

  @Option(help: ArgumentHelp("The mailbox: a git remote.", valueName: "url"))
  var remote: String?

  @Option(help: ArgumentHelp("Draw the QR code into a PNG file, too.", valueName: "file"))
  var png: String?

  @OptionGroup var pairing: PairingOptions
  @OptionGroup var common: CommonOptions
  @ParentCommand var parent: PartnerCommand

  func run() async throws {
    let place = try PartnerSession(common, parent.root)
    try place.requireTier()
    let mailbox = try await mailbox(place)
    let name = try place.ownName(pairing.ownName)
    let text = PartnerText(place.context)
    if !common.json {
      for line in text.consent(to: nil, mailbox: mailbox, limits: PartnerLimits()) {
        Console.line(line)
      }
      if !pairing.yes, Style.canAsk {
        Console.prompt("Invite somebody to that, as \(Printable.text(name))?")
        guard Console.confirmed() else {
          throw CommandError(.failed, "nobody was invited.", hint: "Answer y to invite.")
        }
      }
      Console.write("\n")
    }
    let partner = Partnership.inviting(as: name, mailbox: mailbox, at: place.now)
    guard let link = partner.invitation?.link else {
      throw CommandError(.failed, "the invitation could not be made.", hint: "Try again.")
    }
    let code = png == nil && common.json ? nil : try drawing(link)
    if let png, let code { try write(code, to: CommandContext.absolute(png)) }
    try place.book.change { $0.append(partner) }
    _ = place.store.pokeDaemon()
    if common.json {
      return Console.write(
        JSON.object([
          "id": JSON(partner.id), "link": .string(link),
          "mailbox": .string(URLMask.masked(url: mailbox)),
          "expires": .string(place.context.storeContext.zones.text(partner.expires)),
        ]).document)
    }
    show(code, place)
    // Whole, however long: it is to be copied.
    Console.write("\(link)\n\n")
    Console.line(
      "It holds until \(text.when(partner.expires)), for one answer. You are called \(Printable.text(name))."
    )
    if let png { Console.line("The code is in \(Printable.text(png)): delete it afterwards.") }
    guard !pairing.noWait, Style.canAsk else {
      Console.line("Once it is answered: belfry partner sync, then belfry partner")
      return
    }
    try await PairingDialogue(place, partner.id).run(
      waiting: "Waiting for an answer; Ctrl-C leaves it open ('belfry partner' goes on) …")
  }

  /// The mailbox, once it was seen that it can be reached.
  private func mailbox(_ place: PartnerSession) async throws -> String {
    let url: String
    if let remote {
      url = RemoteURLInput.absolute(remote)
    } else {
      let known = place.partners.filter { $0.phase == .active }.map(\.mailbox)
      guard let first = known.first, Set(known).count == 1 else {
        throw CommandError(
          .usage, known.isEmpty ? "no mailbox is known yet." : "several mailboxes are known.",
          hint: "Name one, a git remote that both can push to: --remote URL")
      }
      url = first
    }
    try MailboxURL.refuseCredentials(in: url)
    let hint = "Make a repository of its own for the mailbox: git init --bare"
    try MailboxURL.checkIsNoStore(url, place.store, hint: hint)
    do {
      try await MailboxURL.checkHoldsMailOnly(url, place.book, hint: hint)
    } catch let error as CommandError {
      throw error
    } catch {
      throw CommandError(partnerMailbox: error)
    }
    return url
  }

  private func drawing(_ link: String) throws -> QRCode? {
    do throws(QRCode.Failure) {
      return try QRCode(link)
    } catch {
      let failure = CommandError(drawing: error)
      if png != nil { throw failure }
      Console.error("belfry: warning: no QR code, as \(failure.message) The link does as well.")
      if let hint = failure.hint { Console.error(hint) }
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
    // Whoever reads it may answer.
    try DurableFile.write(bytes, to: path, temporary: "\(path).new", mode: 0o600)
  }

  private func show(_ code: QRCode?, _ place: PartnerSession) {
    guard let code else { return }
    if let width = Style.width(STDOUT_FILENO), width < code.columns {
      Console.line("(The QR code needs \(code.columns) columns.)")
      return
    }
    for line in code.lines(isColoured: place.context.style.isColoured) {
      Console.write(line + "\n")
    }
    Console.write("\n")
  }
}

extension CommandError {
  fileprivate init(drawing failure: QRCode.Failure) {
    self.init(
      .failed, "\(failure.reason).",
      hint: failure.package.map { "Install it: apt-get install \($0)" })
  }
}

struct PartnerAccept: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "accept",
    abstract: "Answer an invitation by its link, or by what a QR code holds.",
    discussion: """
      Without LINK it is read from standard input, so that it is in no shell's history:

        zbarimg --quiet --raw invitation.png | belfry partner accept --yes
      """)

  @Argument(help: "belfry://pair?…")
  var link: String?

  @OptionGroup var pairing: PairingOptions
  @OptionGroup var common: CommonOptions
  @ParentCommand var parent: PartnerCommand

  func run() async throws {
    let place = try PartnerSession(common, parent.root)
    try place.requireTier()
    let invitation = try invitation()
    let text = PartnerText(place.context)
    if place.now > invitation.expires {
      throw CommandError(
        .notPossible, "the invitation was good until \(text.when(invitation.expires)).",
        hint: "Ask \(Printable.text(invitation.name)) for another.")
    }
    let another = "Ask \(Printable.text(invitation.name)) for an invitation to another mailbox."
    try MailboxURL.checkIsNoStore(invitation.mailbox, place.store, hint: another)
    let name = try place.ownName(pairing.ownName)
    let partner = try Partnership.accepting(invitation, as: name, at: place.now)
    if place.partners.contains(where: { $0.id == partner.id }) {
      throw CommandError(
        .notPossible, "this device has answered, or made, this very invitation.",
        hint: "See 'belfry partner'.")
    }
    if let other = PartnerNames.lookAlike(invitation.name, besides: partner.id, place) {
      Console.error(
        "belfry: warning: the name \(Printable.text(invitation.name)) looks like that of your partner \(Printable.text(other.name)), and is another."
      )
    }
    if !common.json {
      let who = Printable.text(invitation.name)
      Console.line("\(who) invites you to be partners.")
      for line in text.consent(
        to: invitation.name, mailbox: invitation.mailbox, limits: partner.limits)
      { Console.line(line) }
    }
    if !pairing.yes {
      guard Style.canAsk else {
        throw CommandError(
          .usage, "nobody can be asked here.", hint: "If you agree to the above: --yes")
      }
      Console.prompt("Accept, as \(Printable.text(name))?")
      guard Console.confirmed() else {
        throw CommandError(.failed, "nothing was sent.", hint: "Answer y to accept.")
      }
    }
    do {
      try await MailboxURL.checkHoldsMailOnly(invitation.mailbox, place.book, hint: another)
    } catch let error as CommandError {
      throw error
    } catch {
      // Whatever cannot be reached now is tried again, and says so.
    }
    try place.book.change { $0.append(partner) }
    _ = place.store.pokeDaemon()
    try await place.roundAfter(
      "It is tried again by 'belfry partner sync' until \(text.when(invitation.expires)).",
      json: common.json ? { place.json(partner.id) } : nil)
    if common.json { return }
    guard !pairing.noWait, Style.canAsk else {
      Console.line(
        "Answered. Once their device has seen it: belfry partner sync, then belfry partner")
      return
    }
    try await PairingDialogue(place, partner.id).run(
      waiting: "Waiting for \(Printable.text(invitation.name))'s device; Ctrl-C leaves it open …")
  }

  private func invitation() throws -> Invitation {
    var text = link ?? ""
    if link == nil || link == "-" {
      if Style.canAsk { Console.error("The link (belfry://pair?…):") }
      text = readLine() ?? ""
      // What a QR reader puts before it.
      if text.hasPrefix("QR-Code:") { text.removeFirst(8) }
    }
    do throws(Invitation.Malformed) {
      return try Invitation(text)
    } catch {
      throw CommandError(
        .usage, "this is no invitation: \(Printable.text(error.reason)).",
        hint: error.holdsCredentials
          ? "Nothing was sent. Ask for another whose mailbox is named without it."
          : "Copy the whole link, in quotes: belfry partner accept 'belfry://pair?…'")
    }
  }
}

struct PartnerConfirm: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "confirm",
    abstract: "Say that the partner sees the same code.",
    discussion: """
      CODE is what the partner reads out. If it is another than 'belfry partner' shows here, somebody is between you: \
      belfry partner remove.
      """)

  @Argument(help: "The six digits that the partner sees.")
  var code: String?

  @Option(help: "Call the partner by another name than their own.")
  var name: String?

  @Flag(help: "Take the place of a partner of the same name, whose keys are forgotten.")
  var replace = false

  @OptionGroup var common: CommonOptions
  @ParentCommand var parent: PartnerCommand

  func run() async throws {
    let place = try PartnerSession(common, parent.root)
    let digits = try code.map(digits)
    _ = try? await place.round()
    let waiting = place.partners.filter { $0.phase == .comparing }
    guard !waiting.isEmpty else {
      throw CommandError(
        .notPossible, "there is no code to confirm.",
        hint: "See 'belfry partner': the other side may not have answered yet.")
    }
    let chosen: Partnership
    if let digits {
      guard let match = waiting.first(where: { $0.code?.replacing(" ", with: "") == digits }) else {
        throw CommandError(
          .notPossible, "that is not the code here.",
          hint:
            "If the partner's device really shows it, somebody is between you: belfry partner remove \(waiting[0].id.short)"
        )
      }
      chosen = match
    } else {
      guard Style.canAsk, !common.json, waiting.count == 1 else {
        throw CommandError(
          .usage, "name the code that the partner sees.", hint: "belfry partner confirm CODE")
      }
      chosen = waiting[0]
      guard try PairingDialogue(place, chosen.id).ask() else { return }
    }
    try PairingDialogue(place, chosen.id).confirm(name: name, replacing: replace)
    try await place.roundAfter(
      "It is told them when the mailbox can be reached.",
      json: common.json ? { place.json(chosen.id) } : nil)
    if common.json { return }
    PartnerSwitching.show(try place.find(chosen.id.text), place, json: false)
  }
}

extension PartnerConfirm {
  /// The digits of a code, however they are set apart.
  private func digits(_ code: String) throws -> String {
    let digits = code.filter { $0 != " " && $0 != "-" }
    guard digits.count == 6, digits.allSatisfy({ $0.isASCII && $0.isNumber }) else {
      throw CommandError(
        .usage, "'\(Printable.text(code))' is no code.", hint: "It has six digits: 481209.")
    }
    return digits
  }
}

/// The talk with a person while two devices pair: waiting, comparing the code, confirming it.
struct PairingDialogue {
  private let place: PartnerSession
  private let id: Identifier

  /// Between two looks into the mailbox, in seconds.
  private static let pause = 2
  /// How long the other's word is waited for, in seconds: they may be typing.
  private static let patience: Int64 = 120

  init(_ place: PartnerSession, _ id: Identifier) {
    self.place = place
    self.id = id
  }

  private var partner: Partnership? { place.partners.first { $0.id == id } }

  func run(waiting: String) async throws {
    Console.line(waiting)
    guard
      try await wait(
        until: place.now.adding(seconds: Invitation.lifetime), { $0.phase == .comparing })
    else {
      throw CommandError(
        .notPossible, "nobody has answered in time.", hint: "Begin anew: belfry partner invite")
    }
    guard try ask() else { return }
    try confirm(name: nil, replacing: false)
    guard let partner else { return }
    let name = Printable.text(partner.name)
    _ = try await place.round()
    Console.line("Waiting for \(name) to confirm, too …")
    let isPaired = try await wait(
      until: place.now.adding(seconds: PairingDialogue.patience), { $0.phase == .active })
    Console.line(
      isPaired
        ? "You and \(name) are partners: belfry partner send \(CascadeText.quoted(partner.name)) \"Wake up ❤️\" --at 16:45"
        : "\(name) has not confirmed yet; 'belfry partner' tells when.")
  }

  /// Looks into the mailbox until something has become of it; returns false when it did not in time.
  private func wait(until end: Instant, _ isThere: (Partnership) -> Bool) async throws -> Bool {
    while true {
      guard let partner, partner.phase != .ended else {
        throw CommandError(
          .notPossible, "the pairing was given up.", hint: "Begin anew: belfry partner invite")
      }
      if isThere(partner) { return true }
      if place.now >= end { return false }
      let report = try await place.round()
      let text = PartnerText(place.context)
      for item in report.news {
        // The dialogue says so itself.
        switch item.event {
        case .code, .paired: continue
        default: break
        }
        for line in text.lines(item) { Console.line(line) }
      }
      if let failure = report.failures.first { throw CommandError(partnerMailbox: failure.error) }
      if self.partner.map(isThere) == true { return true }
      try await Task.sleep(for: .seconds(PairingDialogue.pause))
    }
  }

  /// Asks whether the other sees the same code; parts from whoever does not.
  func ask() throws -> Bool {
    guard let partner, let code = partner.code else { return false }
    let name = Printable.text(partner.name)
    Console.line("\(name) has answered. Both of you now see a code; yours is")
    Console.line("\n    \(code)\n")
    Console.line("Ask \(name) for theirs: side by side, or by voice.")
    Console.prompt("Is it the same?")
    if Console.confirmed() { return true }
    try place.change(id) { try $0.end(at: place.now) }
    throw CommandError(
      .failed, "you are not paired: without the same code somebody may be between you.",
      hint: "Begin anew: belfry partner invite")
  }

  func confirm(name: String?, replacing: Bool) throws {
    guard let partner else { return }
    if let name, PartnerOrigin.name(name) == nil {
      throw CommandError(
        .usage, "'\(Printable.text(name))' is no name.",
        hint: PartnerOrigin.nameRule)
    }
    let chosen = name ?? partner.name
    try PartnerNames.checkLooks(
      chosen, besides: id, place,
      hint: "Ask them who they are. To go on, call them otherwise: --name NAME")
    let others = PartnerNames.namesakes(chosen, besides: id, place)
    let shown = Printable.text(chosen)
    if let other = others.first, other.isValid(at: place.now), !replacing {
      if name == nil, Style.canAsk {
        Console.prompt("You have a partner \(shown) already. Is this the same person, paired anew?")
      }
      guard name == nil, Style.canAsk, Console.confirmed() else {
        throw CommandError(
          .usage, "you have a partner \(shown) already.",
          hint: "The same person, paired anew: --replace. Another: --name NAME")
      }
    }
    for other in others {
      // What they have set stays: it is the same person.
      try place.change(other.id) { try $0.end(at: place.now, successor: id) }
    }
    try place.change(id) { partner in
      partner.name = chosen
      if let earlier = others.first { partner.limits = earlier.limits }
      try partner.confirm(at: place.now)
    }
  }
}

struct PartnerKeys: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "keys",
    abstract: "Take the keys to your partners to another device of yours.",
    discussion: """
      The alarms that partners set reach all your devices by your own sync. With the keys a device looks into the \
      mailbox itself, and can send: useful where the first one is often off.

        belfry partner keys export | ssh desktop belfry partner keys import
      """,
    subcommands: [PartnerKeysExport.self, PartnerKeysImport.self])

  @ParentCommand var parent: PartnerCommand
}

struct PartnerKeysExport: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "export", abstract: "Print the keys: whoever has them is you to your partners.")

  @Argument(help: "The partner (default: all).")
  var partner: String?

  @Option(help: "The store's folder (default: BELFRY_STORE, else the data folder).")
  var store: String?

  @ParentCommand var parent: PartnerKeys

  func run() throws {
    let root = parent.parent.root
    let place = try PartnerSession(CommandContext(store: store ?? root.store))
    let partners =
      try partner.map { [try place.find($0)] } ?? place.partners.filter { $0.phase == .active }
    guard partners.allSatisfy({ $0.phase == .active }), !partners.isEmpty else {
      throw CommandError(
        .notPossible, "there are no keys to take along.", hint: "See 'belfry partner'.")
    }
    // Redirected into a file, it is for its owner alone.
    var status = stat()
    if fstat(STDOUT_FILENO, &status) == 0, status.st_mode & S_IFMT == S_IFREG {
      _ = fchmod(STDOUT_FILENO, 0o600)
    }
    if isatty(STDOUT_FILENO) == 1 {
      throw CommandError(
        .usage, "keys are not shown on a terminal.",
        hint: "Pipe them: belfry partner keys export | ssh HOST belfry partner keys import")
    }
    Console.write(PartnerStore.exported(partners))
  }
}

struct PartnerKeysImport: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "import", abstract: "Take keys from standard input.")

  @Option(help: "The store's folder (default: BELFRY_STORE, else the data folder).")
  var store: String?

  @ParentCommand var parent: PartnerKeys

  func run() throws {
    let place = try PartnerSession(CommandContext(store: store ?? parent.parent.root.store))
    try place.requireTier()
    var bytes: [UInt8] = []
    while bytes.count < 1 << 20, let line = readLine(strippingNewline: false) { bytes += line.utf8 }
    guard let partners = PartnerStore.imported(bytes) else {
      throw CommandError(
        .usage, "these are no keys.", hint: "They come from 'belfry partner keys export'.")
    }
    var taken: [String] = []
    if place.partners.contains(where: { known in
      partners.contains { $0.id == known.id && $0.isInviter != known.isInviter }
    }) {
      throw CommandError(
        .usage, "these are the keys of a partner of yours, not your own.",
        hint: "Keys go to other devices of the same person.")
    }
    try place.book.change { known in
      for partner in partners where !known.contains(where: { $0.id == partner.id }) {
        known.append(partner)
        taken.append(partner.name)
      }
    }
    _ = place.store.pokeDaemon()
    let names = taken.map { Printable.text($0) }.joined(separator: ", ")
    Console.line(
      taken.isEmpty ? "They are here already." : "Took the keys to \(names): belfry partner sync")
    if !place.store.hasRemote {
      Console.error(
        "belfry: warning: this store does not sync with the one that the keys come from:")
      Console.error(
        "what is answered or taken back there is not known here. See 'belfry help remote'.")
    }
  }
}
