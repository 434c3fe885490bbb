import ArgumentParser
import BelfryCore
import BelfryPartners
import BelfryStore

struct PartnerReply: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "reply", abstract: "Reply to a partner's alarm with a short message.",
    discussion: "To send only ❤️ Got it, use 'belfry done'.")

  @Argument(help: "The alarm.", completion: .alarms)
  var alarm: String

  @Argument(help: "The reply: at most 300 characters.", completion: .text)
  var message: String

  @OptionGroup var common: CommonOptions
  @ParentCommand var parent: PartnerCommand

  func run() async throws {
    let session = try PartnerSession(common, parent.root)
    guard let origin = try origin(session) else {
      throw CommandError(
        .notPossible, "this alarm is not from a partner.",
        hint: "To see alarms from partners: belfry partner log")
    }
    // Looked up by the request: after re-pairing, the same person has another partnership.
    guard
      let partner = session.partners.first(where: {
        $0.phase == .active && $0.received.contains { $0.request.id == origin.request }
      })
    else {
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
    if !common.json { Console.line("To \(Printable.text(partner.name)): \(reply)") }
    try await session.syncMailboxes(
      ifUnreachable: "The reply is sent when the mailbox can be reached.",
      document: common.json ? { session.document(ofRequest: origin.request) } : nil)
  }

  private func origin(_ session: PartnerSession) throws -> PartnerOrigin? {
    let summary = try session.context.find(alarm, in: session.store)
    return try session.store.alarm(summary.id)?.partner
  }
}
