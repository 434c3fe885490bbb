import ArgumentParser
import BelfryCore
import BelfryPartners
import BelfryStore
import BelfryTerminal

struct PartnerReply: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "reply", abstract: "Reply to a partner's alarm with a short message.",
    discussion: "To send only ❤️ Got it, use 'belfry done'.")

  @Argument(help: "The alarm.", completion: .alarms)
  var alarm: String

  @Argument(
    help: "The reply: at most 300 characters. On a terminal, it is asked for.", completion: .text)
  var message: String?

  @OptionGroup var common: CommonOptions
  @ParentCommand var parent: PartnerCommand

  func run() async throws {
    let session = try PartnerSession(common, parent.root)
    guard let origin = try origin(session) else {
      throw CommandError(
        .notPossible, "this alarm is not from a partner.",
        hint: "To see alarms from partners: belfry partner log")
    }
    let (name, reply) = try PartnerReply.queue(
      message ?? typedMessage(to: origin), to: origin, session)
    if !common.json { Console.line("To \(name): \(reply)") }
    try await session.syncMailboxes(
      ifUnreachable: "The reply is sent when the mailbox can be reached.",
      document: common.json ? { session.document(ofRequest: origin.request) } : nil)
  }

  /// Asks for the reply on the terminal.
  private func typedMessage(to origin: PartnerOrigin) throws -> String {
    guard Style.canAsk, !common.json else {
      throw CommandError(
        .usage, "the reply is missing.", hint: "belfry partner reply ALARM \"On my way\""
      ).needingTerminal()
    }
    let typed = Console.answer(to: "Reply to \(Printable.text(origin.name)):")
    guard let typed, !typed.isEmpty else { throw CommandError(.failed, "nothing was sent.") }
    return typed
  }

  /// Queues a reply for the mailbox.
  ///
  /// - Returns: The name of the partner and the reply, made printable.
  /// - Throws: `CommandError` if the device does not have the keys, or the reply is not valid.
  static func queue(
    _ message: String, to origin: PartnerOrigin, _ session: PartnerSession
  ) throws -> (name: String, reply: String) {
    guard let partner = recipient(of: origin, among: session.partners) else {
      throw CommandError(
        .notPossible, "this device does not have the keys to \(Printable.text(origin.name)).",
        hint: "Reply on the device that has them: belfry help partner keys")
    }
    let reply = try AlarmText.note(message)?.replacing("\n", with: " ") ?? ""
    guard !reply.isEmpty, reply.count <= PartnerReceipt.longestDetail,
      !reply.unicodeScalars.contains(where: \.isHidden)
    else {
      throw CommandError(
        .usage, "a reply has 1 to \(PartnerReceipt.longestDetail) visible characters.",
        hint: "Nothing was sent.")
    }
    try PartnerMessageText.checkScalars(of: reply, maxLength: PartnerReceipt.longestDetail)
    try session.change(partner.id) { try $0.reply(reply, to: origin.request, at: session.now) }
    return (Printable.text(partner.name), reply)
  }

  /// Returns the partner who gets a reply; nil if the device does not have the keys.
  static func recipient(
    of origin: PartnerOrigin, among partners: [Partnership]
  ) -> Partnership? {
    // Looked up by the request: after re-pairing, the same person has another partnership.
    partners.first {
      $0.phase == .active && $0.received.contains { $0.request.id == origin.request }
    }
  }

  /// Returns the origin of the named alarm. Of several with the same message, it is the one that is not finished, else
  /// the latest one.
  private func origin(_ session: PartnerSession) throws -> PartnerOrigin? {
    let matches = try session.store.alarms(named: alarm).summaries
    if matches.count > 1, matches.allSatisfy(\.isFinished) {
      let origins = try matches.compactMap { try session.store.alarm($0.id)?.partner }
      let received = session.partners.flatMap(\.received)
      let latest = received.filter { item in
        origins.contains { $0.request == item.request.id }
      }.max { $0.received < $1.received }
      if let latest { return origins.first { $0.request == latest.request.id } }
    }
    let summary = try session.context.find(alarm, in: session.store)
    return try session.store.alarm(summary.id)?.partner
  }
}
