import BelfryCore
import BelfryPartners
import BelfryScheduler
import BelfryStore
import Git

/// What every command about partners begins with: the store, the settings, and the book of partners.
struct PartnerSession: Sendable {
  let context: CommandContext
  let store: Store
  let settings: Settings
  let book: PartnerStore
  private let opened = ElapsedTime()

  init(_ common: CommonOptions, _ root: Belfry) throws {
    try self.init(common.context(root))
  }

  /// - Parameter creates: create a store where there is none; false for commands that run in the background.
  init(_ context: CommandContext, creates: Bool = true) throws {
    self.context = context
    store = try context.open(creates: creates)
    settings = try context.settings(store)
    book = PartnerStore(store)
  }

  /// Throws unless the tier has partners.
  func requireTier() throws {
    guard settings.tier.hasPartners else {
      throw CommandError(
        .tierLimit, Paywall.partners(settings.tier), hint: Paywall.partnersOffer)
    }
  }

  var now: Instant { context.present(after: opened).storeContext.now }

  /// Everybody in the book; what cannot be read is told.
  var partners: [Partnership] {
    let (partners, unreadable) = book.read()
    for path in unreadable {
      Console.error(
        "belfry: warning: \(Printable.text(path)) is not valid, and counts for nothing.")
      Console.error("Put it back from a backup; else remove it, and pair anew.")
    }
    return partners
  }

  /// The partner that a person means: by name, or the start of the identifier.
  ///
  /// - Parameter isWanted: which of them may be meant.
  func find(
    _ name: String, where isWanted: (Partnership) -> Bool = { $0.phase != .ended }
  ) throws -> Partnership {
    let all = partners.filter(isWanted)
    let wanted = name.lowercased()
    let named = all.filter { $0.name.lowercased() == wanted }
    let matches =
      named.isEmpty
      ? all.filter {
        $0.name.lowercased().hasPrefix(wanted) || $0.id.text.hasPrefix(wanted)
      } : named
    if matches.count == 1 { return matches[0] }
    let list = (matches.isEmpty ? all : matches).filter { !$0.name.isEmpty }
      .map { "\(Printable.text($0.name)) (\($0.id.short))" }.joined(separator: ", ")
    throw CommandError(
      .noSuchAlarm,
      matches.isEmpty
        ? "there is no partner '\(Printable.text(name))'."
        : "'\(Printable.text(name))' could be any of \(matches.count) partners.",
      hint: list.isEmpty ? "Pair with somebody: belfry partner invite" : "There are: \(list).")
  }

  /// A partner who may be asked for something now.
  func active(_ name: String) throws -> Partnership {
    // Who is still pairing under the same name keeps nobody from being asked.
    let partner = try (try? find(name, where: { $0.phase == .active })) ?? find(name)
    let shown = Printable.text(partner.name)
    guard partner.phase == .active else {
      let hint =
        partner.phase == .confirmed
        ? "\(shown) has not confirmed the code yet." : "See 'belfry partner'."
      throw CommandError(.notPossible, "you and \(shown) are not paired yet.", hint: hint)
    }
    guard partner.isValid(at: now) else {
      throw CommandError(
        .notPossible, "the pairing with \(shown) is past its year.",
        hint: "Re-pair with \(shown): belfry partner invite")
    }
    return partner
  }

  /// A partner as JSON shows one, also one who is none any more.
  func json(_ id: Identifier) -> JSON {
    partners.first { $0.id == id }.map(PartnerText(context).json) ?? .object([:])
  }

  /// Changes one partner in the book.
  @discardableResult
  func change<Result>(
    _ id: Identifier, _ body: (inout Partnership) throws -> Result
  ) throws -> Result {
    let result = try book.change { partners -> Result? in
      guard let index = partners.firstIndex(where: { $0.id == id }) else { return nil }
      return try body(&partners[index])
    }
    guard let result else {
      throw CommandError(
        .noSuchAlarm, "that partner is gone meanwhile.", hint: "See 'belfry partner'.")
    }
    // The daemon may have to look more often.
    _ = store.pokeDaemon()
    return result
  }

  // MARK: The mailbox

  /// Looks into the mailboxes once.
  func round() async throws -> MailboxSync.Report {
    let hooks = context.hooks()
    let present = store.with(context.present(after: opened).storeContext)
    return try await MailboxSync(
      present, settings: settings, ways: { await Ways.words(hooks) },
      words: { CommandError(partnerMailbox: $0).message }
    ).run()
  }

  /// Does the same where the command has done its work already: what cannot be reached is told, and an error of its own
  /// in the end.
  ///
  /// - Parameter json: what the command prints when it is asked for JSON: that alone goes to standard output then, also
  ///   where the mailbox is not reached, and news go to standard error.
  func roundAfter(_ what: String, json: (() throws -> JSON)? = nil) async throws {
    let report = try await round()
    PartnerText(context).tell(report.news, isApart: json != nil)
    if let json { Console.write(try json().document) }
    guard let failure = report.failures.first else { return }
    let error = CommandError(partnerMailbox: failure.error)
    throw CommandError(
      error.code, error.message, hint: [what, error.hint].compactMap { $0 }.joined(separator: " "))
  }

  /// What this person calls themselves towards partners.
  func ownName(_ given: String?) throws -> String {
    let words =
      given ?? store.ownDevice.owner ?? context.environment["USER"]
      ?? context.environment["LOGNAME"] ?? store.ownDevice.name
    let shown = given == nil ? words.prefix(1).uppercased() + words.dropFirst() : words
    guard let name = PartnerOrigin.name(shown) else {
      throw CommandError(
        .usage, "'\(Printable.text(shown))' is no name.",
        hint: "\(PartnerOrigin.nameRule) Say it with --as NAME.")
    }
    return name
  }
}

/// How an alarm can be heard on this device, in words for a partner.
private enum Ways {
  static func words(_ hooks: HookDelivery) async -> String {
    // Which program it is is no matter of theirs.
    switch await hooks.reach() {
    case .reachable(_, by: .ownHook): "told by a hook of their own"
    case .reachable(_, by: .terminals): "shown on terminals only"
    case .reachable(_, by: .desktop): "shown by desktop notifications"
    case .unreachable:
      "stands in the list there, but nothing shows it now: no desktop, no terminal"
    }
  }
}

extension CommandError {
  /// Why a mailbox could not be used.
  init(partnerMailbox error: any Error) {
    switch error {
    case let refused as MailboxRefused:
      self.init(
        .network,
        "\(Printable.text(refused.url)) did not take it: \(Printable.text(refused.reason)).",
        hint: "Ask whoever keeps the mailbox; it is tried again.")
    case StoreError.remoteFailed(_, let failure) where failure.isAuthentication:
      let known = CommandError(explaining: error)
      self.init(
        .network,
        "the mailbox lets you in no more: \(known?.message ?? "")",
        hint: [
          "Its key or password may have expired.", known?.hint,
          "If the mailbox is gone for good, re-pair with another: belfry partner invite --remote URL",
        ].compactMap { $0 }.joined(separator: " "))
    default:
      let known = CommandError(explaining: error)
      var hint = known?.hint
      if case StoreError.remoteFailed(_, let failure) = error {
        // A mailbox has no configuration of the store's.
        switch failure.kind {
        case .certificate: hint = "Name the authority: git config --global http.sslCAInfo FILE."
        case .missing:
          hint =
            "Make one there, 'git init --bare'; if it has moved for good, re-pair: belfry partner invite --remote URL."
        case .redirected:
          hint =
            "If you trust it, re-pair through that address: belfry partner invite --remote URL."
        case .other, .damaged, .rejected, .stalled, .hostKey, .authentication: break
        }
      }
      self.init(
        known?.code ?? .failed, known?.message ?? "\(Printable.text("\(error)")).", hint: hint)
    }
  }
}

extension RemoteFailure {
  fileprivate var isAuthentication: Bool {
    if case .authentication = kind { true } else { false }
  }
}
