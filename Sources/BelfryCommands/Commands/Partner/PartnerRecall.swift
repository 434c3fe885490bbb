import ArgumentParser
import BelfryCore
import BelfryPartners
import BelfryTerminal

struct PartnerRecall: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "recall", abstract: "Recall a request and delete the partner's alarm.")

  @Argument(
    help: "The request: the start of its ID (see 'belfry partner log'), or part of its message.")
  var request: String

  @OptionGroup var common: CommonOptions
  @ParentCommand var parent: PartnerCommand

  func run() async throws {
    let session = try PartnerSession(common, parent.root)
    let (partner, sent) = try session.sentRequest(request)
    let text = PartnerText(session.context)
    let summary = text.summary(sent.request)
    guard !sent.isOver, !sent.isRecalled else {
      throw CommandError(
        .notPossible, "\(summary) has ended: \(text.status(sent)).",
        hint: "See 'belfry partner log'.")
    }
    try session.change(partner.id) { try $0.recall(sent.request.id, at: session.now) }
    let now = session.now
    if !common.json {
      Console.line("Recalled: \(summary).")
      if sent.request.repeats == nil, sent.request.at <= now {
        Console.line("Its time has passed: it may have rung already.")
      }
    }
    try await session.syncMailboxes(
      ifUnreachable:
        "\(Printable.text(partner.name)) is notified when the mailbox can be reached.",
      document: common.json ? { session.document(ofRequest: sent.request.id) } : nil)
  }
}

extension PartnerSession {
  /// Returns the sent request that a text names: by the start of its identifier, or by a part of its message.
  ///
  /// - Throws: `CommandError` if no request matches, or several.
  fileprivate func sentRequest(
    _ name: String
  ) throws -> (partner: Partnership, sent: SentRequest) {
    let all = partners.flatMap { partner in partner.sent.map { (partner, $0) } }
    let wanted = name.lowercased()
    var matches = all.filter { $0.1.request.id.text.hasPrefix(wanted) }
    if matches.isEmpty {
      let named = all.filter { $0.1.request.message.lowercased().contains(wanted) }
      let exact = named.filter { $0.1.request.message.lowercased() == wanted }
      // Requests that have ended match only if no open one does.
      matches =
        [exact.filter { !$0.1.isOver }, named.filter { !$0.1.isOver }, exact].first { !$0.isEmpty }
        ?? named
    }
    if matches.count == 1 { return matches[0] }
    let text = PartnerText(context)
    let list = matches.prefix(4).map { "\(text.summary($0.1.request)) \($0.1.request.id.short)" }
      .joined(separator: "; ")
    throw CommandError(
      .noSuchAlarm,
      matches.isEmpty
        ? "no sent request matches '\(Printable.text(name))'."
        : "'\(Printable.text(name))' could be any of \(matches.count) requests.",
      hint: matches.isEmpty ? "See 'belfry partner log'." : list)
  }
}
