import BelfryCore
import BelfryDocuments
import BelfryPartners
import BelfryScheduler
import BelfryStore
import BelfryTerminal

/// The store, the settings and the partners, as every partner command opens them.
struct PartnerSession: Sendable {
  let context: CommandContext
  let store: Store
  let settings: Settings
  let partnerStore: PartnerStore
  private let opened = ElapsedTime()

  init(_ common: CommonOptions, _ root: Belfry, _ use: StoreUse = .writing) throws {
    try self.init(common.context(root), use)
  }

  init(_ context: CommandContext, _ use: StoreUse = .writing) throws {
    self.context = context
    store = try context.open(use)
    settings = try context.settings(store)
    partnerStore = PartnerStore(store)
  }

  /// Creates the session of a store that is open already.
  init(_ context: CommandContext, _ store: Store, _ settings: Settings) {
    (self.context, self.store, self.settings) = (context, store, settings)
    partnerStore = PartnerStore(store)
  }

  /// Throws `CommandError` if the tier has no partners.
  func requireTier() throws {
    guard settings.tier.hasPartners else {
      throw CommandError(
        .tierLimit, Paywall.partners(settings.tier), hint: Paywall.partnersOffer)
    }
  }

  var now: Instant { context.present(after: opened).storeContext.now }

  /// All partners, former ones included. Prints a warning for each file that cannot be read.
  var partners: [Partnership] {
    let (partners, unreadable) = partnerStore.read()
    for path in unreadable {
      CommandDiagnostic.warn(
        "\(Printable.text(path)) is not valid and is ignored.",
        hints: ["Restore it from a backup, or remove it and re-pair."])
    }
    return partners
  }

  /// Returns the partner with a name, or with the start of a name or identifier.
  ///
  /// - Parameter isWanted: the partners to consider.
  /// - Throws: `CommandError` if no partner matches, or several.
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
      hint: list.isEmpty ? "Pair with a partner: belfry partner invite" : "Your partners: \(list).")
  }

  /// Returns the partner with a name, if requests can be sent to it now.
  ///
  /// - Throws: `CommandError` if the partner is not paired yet, or the pairing has expired.
  func active(_ name: String) throws -> Partnership {
    // An unfinished pairing under the same name does not hide the active one.
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
        .notPossible, "the pairing with \(shown) has expired.",
        hint: "Re-pair with \(shown): belfry partner invite")
    }
    return partner
  }

  /// Returns the document of a partner, former ones included; an empty one if there is no such partner.
  func document(of id: Identifier) -> any JSONDocument {
    partners.first { $0.id == id }.map(PartnerText(context).document) ?? EmptyDocument()
  }

  /// Returns the document of a sent or received request; an empty one if there is no such request.
  func document(ofRequest id: Identifier) -> any JSONDocument {
    let zones = context.storeContext.zones
    for partner in partners {
      if let sent = partner.sent.first(where: { $0.request.id == id }) {
        return PartnerRequestDocument(sent, to: partner, zones: zones)
      }
      if let received = partner.received.first(where: { $0.request.id == id }) {
        return PartnerRequestDocument(received, from: partner, zones: zones)
      }
    }
    return EmptyDocument()
  }

  /// Changes the record of a partner.
  ///
  /// - Throws: `CommandError` if the partner does not exist, and the errors of `body`.
  @discardableResult
  func change<Result>(
    _ id: Identifier, _ body: (inout Partnership) throws -> Result
  ) throws -> Result {
    let result = try partnerStore.change { partners -> Result? in
      guard let index = partners.firstIndex(where: { $0.id == id }) else { return nil }
      return try body(&partners[index])
    }
    guard let result else {
      throw CommandError(
        .noSuchAlarm, "the partner was removed in the meantime.", hint: "See 'belfry partner'.")
    }
    // The daemon may have to check the mailbox more often now.
    _ = store.pokeDaemon()
    return result
  }

  // MARK: The mailbox

  /// Exchanges messages with all mailboxes once.
  func round() async throws -> MailboxSync.Report {
    let hooks = context.hooks()
    let present = store.with(context.present(after: opened).storeContext)
    return try await MailboxSync(
      present, settings: settings, ways: { await DeliveryDescription.text(hooks) },
      words: { CommandError(partnerMailbox: $0).message }
    ).run()
  }

  /// Exchanges messages with all mailboxes after a command has finished its local work, and prints the news.
  ///
  /// - Parameters:
  ///   - hint: the consequence of a failure, for the error's hint.
  ///   - document: the document that the command prints; nil without `--json`. With it, news go to standard error. The
  ///     document is also printed if a mailbox cannot be used.
  /// - Throws: `CommandError` if a mailbox cannot be used.
  func syncMailboxes(
    ifUnreachable hint: String, document: (() throws -> any JSONDocument)? = nil
  ) async throws {
    let report = try await round()
    PartnerText(context).show(report.news, isApart: document != nil)
    if let document { try Console.write(document()) }
    guard let failure = report.failures.first else { return }
    let error = CommandError(partnerMailbox: failure.error)
    throw error.with(hints: [hint] + error.hints)
  }

  /// Returns the name that partners see: the given one, else the device's owner, the user, or the device's name.
  func ownName(_ given: String?) throws -> String {
    let source =
      given ?? store.devices.own.owner ?? context.environment["USER"]
      ?? context.environment["LOGNAME"] ?? store.devices.own.name
    let shown = given == nil ? source.prefix(1).uppercased() + source.dropFirst() : source
    guard let name = PartnerOrigin.name(shown) else {
      throw CommandError(
        .usage, "'\(Printable.text(shown))' is not a valid name.",
        hint: "\(PartnerOrigin.nameRule) Set another with --as NAME.")
    }
    return name
  }

  // MARK: Output

  /// Prints a partner, as text or as JSON.
  func show(_ partner: Partnership, json: Bool) throws {
    let text = PartnerText(context)
    if json { return try Console.write(text.document(partner)) }
    for line in text.lines(partner) { Console.line(line) }
  }
}

/// A description of how this device shows alarms, for a partner's receipt.
private enum DeliveryDescription {
  static func text(_ hooks: HookDelivery) async -> String {
    // The name of the program stays private.
    switch await hooks.reach() {
    case .ownHook: "shown by a hook of their own"
    case .terminals: "shown on terminals only"
    case .desktop: "shown by desktop notifications"
    case .unreachable:
      "listed there, but nothing can show it now: no desktop, no terminal"
    }
  }
}

extension CommandError {
  /// Creates the error for a mailbox that could not be used.
  init(partnerMailbox error: any Error) {
    switch error {
    case let refused as MailboxRefused:
      self.init(
        .network,
        "\(Printable.text(refused.url)) rejected the message: \(Printable.text(refused.reason)).",
        hint: "Ask the owner of the mailbox. Belfry retries automatically.", source: error)
    case StoreError.remoteFailed(_, let failure) where failure.isAuthentication:
      let denied = CommandError("the mailbox denies access", causedBy: error)
      self = denied.with(
        hints: ["Its key or password may have expired."] + denied.hints + [
          "If the mailbox is gone for good, re-pair with another: belfry partner invite --remote URL"
        ])
    default:
      self.init(error)
      if case StoreError.remoteFailed(_, let failure) = error {
        // The store's own git configuration does not apply to a mailbox.
        switch failure.kind {
        case .certificate:
          self = with(
            hints: ["Set the certificate authority: git config --global http.sslCAInfo FILE."])
        case .missing:
          self = with(hints: [
            "Create it there with 'git init --bare'. If it has moved for good, re-pair: belfry partner invite --remote URL"
          ])
        case .redirected:
          self = with(hints: [
            "If you trust that address, re-pair through it: belfry partner invite --remote URL"
          ])
        case .other, .damaged, .unwritable, .foreign, .rejected, .stalled, .hostKey,
          .authentication, .locked, .hook, .objectFormat:
          break
        }
      }
    }
  }
}

extension RemoteFailure {
  fileprivate var isAuthentication: Bool {
    if case .authentication = kind { true } else { false }
  }
}
