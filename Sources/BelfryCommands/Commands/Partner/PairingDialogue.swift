import BelfryCore
import BelfryPartners
import BelfryTerminal
import Files

/// The terminal dialogue while two devices pair: waiting for the other side, comparing codes, confirming.
struct PairingDialogue {
  private let session: PartnerSession
  private let id: Identifier

  /// The time between two checks of the mailbox, in seconds.
  private static let pollInterval = 2
  /// The time to wait for the other side's confirmation, in seconds.
  private static let confirmationTimeout: Int64 = 120

  init(_ session: PartnerSession, _ id: Identifier) {
    self.session = session
    self.id = id
  }

  private var partner: Partnership? { session.partners.first { $0.id == id } }

  /// Pairs from the open invitation to the mutual confirmation.
  ///
  /// - Parameter waiting: the message to print before the wait for the other side.
  func run(waiting: String) async throws {
    Console.line(waiting)
    guard
      try await wait(
        until: session.now.adding(seconds: Invitation.lifetime), { $0.phase == .comparing })
    else {
      throw CommandError(
        .notPossible, "the invitation was not answered in time.",
        hint: "Start again: belfry partner invite")
    }
    guard try compareCodes() else { return }
    try confirm(name: nil, replacing: false)
    guard let partner else { return }
    let name = Printable.text(partner.name)
    _ = try await session.round()
    Console.line("Waiting for \(name) to confirm, too …")
    let isPaired = try await wait(
      until: session.now.adding(seconds: PairingDialogue.confirmationTimeout),
      { $0.phase == .active })
    Console.line(
      isPaired
        ? "You and \(name) are partners: belfry partner send \(ShellWord.quoted(Printable.text(partner.name))) \"Wake up ❤️\" --at 16:45"
        : "\(name) has not confirmed yet. To see the status: belfry partner")
  }

  /// Checks the mailbox until a condition holds.
  ///
  /// - Returns: false if the condition does not hold at `end`.
  /// - Throws: `CommandError` if the pairing was removed or the mailbox cannot be used.
  private func wait(
    until end: Instant, _ condition: (Partnership) -> Bool
  ) async throws -> Bool {
    while true {
      guard let partner, partner.phase != .ended else {
        throw CommandError(
          .notPossible, "the pairing was cancelled.", hint: "Start again: belfry partner invite")
      }
      if condition(partner) { return true }
      if session.now >= end { return false }
      let report = try await session.round()
      let text = PartnerText(session.context)
      for item in report.news {
        // The dialogue reports these itself.
        switch item.event {
        case .code, .paired: continue
        default: break
        }
        for line in text.lines(item) { Console.line(line) }
      }
      if let failure = report.failures.first { throw CommandError(partnerMailbox: failure.error) }
      if self.partner.map(condition) == true { return true }
      try await Task.sleep(for: .seconds(PairingDialogue.pollInterval))
    }
  }

  /// Asks whether the partner sees the same code.
  ///
  /// - Returns: true if the codes match; false if there is no code to compare.
  /// - Throws: `CommandError` if they differ. The pairing is removed before.
  func compareCodes() throws -> Bool {
    guard let partner, let code = partner.code else { return false }
    let name = Printable.text(partner.name)
    Console.line("\(name) has answered. Both of you now see a code. Yours is")
    Console.line("\n    \(code)\n")
    Console.line("Ask \(name) for theirs: side by side, or by voice.")
    Console.prompt("Is it the same?")
    if Console.confirmed() { return true }
    try session.change(id) { try $0.end(at: session.now) }
    throw CommandError(
      .failed, "the codes differ, so you are not paired: someone may be intercepting the pairing.",
      hint: "Start again: belfry partner invite")
  }

  /// Confirms the code on this side.
  ///
  /// - Parameters:
  ///   - name: another name for the partner; nil for the name they chose.
  ///   - replacing: replace a partner of the same name without asking.
  func confirm(name: String?, replacing: Bool) throws {
    guard let partner else { return }
    if let name, PartnerOrigin.name(name) == nil {
      throw CommandError(
        .usage, "'\(Printable.text(name))' is not a valid name.",
        hint: PartnerOrigin.nameRule)
    }
    let chosen = name ?? partner.name
    try PartnerNames.checkLooks(
      chosen, besides: id, session,
      hint: "Ask them who they are. To continue, give them another name: --name NAME")
    let others = PartnerNames.namesakes(chosen, besides: id, session)
    let shown = Printable.text(chosen)
    if let other = others.first, other.isValid(at: session.now), !replacing {
      if name == nil, Style.canAsk {
        Console.prompt(
          "You already have a partner \(shown). Is this the same person, pairing again?")
      }
      guard name == nil, Style.canAsk, Console.confirmed() else {
        throw CommandError(
          .usage, "you already have a partner \(shown).",
          hint: "If it is the same person, add --replace. Otherwise: --name NAME")
      }
    }
    for other in others {
      // The alarms that they have set stay: it is the same person.
      try session.change(other.id) { try $0.end(at: session.now, successor: id) }
    }
    try session.change(id) { partner in
      partner.name = chosen
      if let earlier = others.first { partner.limits = earlier.limits }
      try partner.confirm(at: session.now)
    }
  }
}
