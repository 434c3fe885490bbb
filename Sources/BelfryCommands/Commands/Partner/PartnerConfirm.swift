import ArgumentParser
import BelfryCore
import BelfryPartners
import BelfryTerminal

struct PartnerConfirm: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "confirm",
    abstract: "Confirm that your partner sees the same code.",
    discussion: """
      CODE is the code that the partner reads out. If 'belfry partner' shows a different one here, someone may be \
      intercepting the pairing: belfry partner remove.
      """)

  @Argument(help: "The six digits that the partner sees.", completion: .text)
  var code: String?

  @Option(help: "Give the partner another name on this device.")
  var name: String?

  @Flag(help: "Replace the partner of the same name and delete their old keys.")
  var replace = false

  @OptionGroup var common: CommonOptions
  @ParentCommand var parent: PartnerCommand

  func run() async throws {
    let session = try PartnerSession(common, parent.root)
    let digits = try code.map(digits)
    _ = try? await session.round()
    let waiting = session.partners.filter { $0.phase == .comparing }
    guard !waiting.isEmpty else {
      throw CommandError(
        .notPossible, "there is no code to confirm.",
        hint: "See 'belfry partner': the other side may not have answered yet.")
    }
    let chosen: Partnership
    if let digits {
      guard let match = waiting.first(where: { $0.code?.replacing(" ", with: "") == digits }) else {
        throw CommandError(
          .notPossible, "this device shows a different code.",
          hint:
            "If the partner's device really shows yours, someone may be intercepting the pairing: belfry partner remove \(waiting[0].id.short)"
        )
      }
      chosen = match
    } else {
      guard Style.canAsk, !common.json, waiting.count == 1 else {
        throw CommandError(
          .usage, "the code that the partner sees is missing.", hint: "belfry partner confirm CODE"
        ).needingTerminal()
      }
      chosen = waiting[0]
      guard try PairingDialogue(session, chosen.id).compareCodes() else { return }
    }
    try PairingDialogue(session, chosen.id).confirm(name: name, replacing: replace)
    try await session.syncMailboxes(
      ifUnreachable: "The confirmation is sent when the mailbox can be reached.",
      document: common.json ? { session.document(of: chosen.id) } : nil)
    if common.json { return }
    try session.show(try session.find(chosen.id.text), json: false)
  }

  /// Returns the digits of a code, without spaces and hyphens.
  private func digits(_ code: String) throws -> String {
    let digits = code.filter { $0 != " " && $0 != "-" }
    guard digits.count == 6, digits.allSatisfy({ $0.isASCII && $0.isNumber }) else {
      throw CommandError(
        .usage, "'\(Printable.text(code))' is not a code.", hint: "A code has six digits: 481209.")
    }
    return digits
  }
}
