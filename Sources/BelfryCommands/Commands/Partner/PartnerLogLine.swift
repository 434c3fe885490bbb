import BelfryCore
import BelfryDocuments
import BelfryPartners
import BelfryStore
import BelfryTerminal

/// A request in the log, sent or received.
struct PartnerLogLine {
  enum Item {
    case sent(SentRequest)
    case received(ReceivedRequest)
  }
  let partner: Partnership
  /// The time when the request was sent or received.
  let at: Instant
  let item: Item

  func lines(_ text: PartnerText) -> [String] {
    let name = Printable.text(partner.name)
    switch item {
    case .sent(let sent):
      let replies = sent.receipts.filter { $0.state == .reply }
      return [
        "\(text.when(at))  to \(name): \(text.summary(sent.request))  \(sent.request.id.short)",
        "    \(text.status(sent))",
      ] + replies.map { "    \(text.summary($0))" }
    case .received(let received):
      let alarm = received.alarm.map { "  \($0.short)" } ?? ""
      let status = received.standing.map { text.summary($0) } ?? "recalled before it arrived"
      let replies = received.receipts.filter { $0.state == .reply }
      return [
        "\(text.when(at))  from \(name): \(text.summary(received.request))\(alarm)",
        "    reported: \(status)",
      ] + replies.map { "    reported: \(text.summary($0))" }
    }
  }

  func document(_ zones: ZoneLibrary) -> PartnerRequestDocument {
    switch item {
    case .sent(let sent): PartnerRequestDocument(sent, to: partner, zones: zones)
    case .received(let received): PartnerRequestDocument(received, from: partner, zones: zones)
    }
  }
}
