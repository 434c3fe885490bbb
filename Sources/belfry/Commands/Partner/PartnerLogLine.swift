import BelfryCore
import BelfryPartners
import BelfryStore

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

  func json(_ text: PartnerText, _ context: CommandContext) -> JSON {
    switch item {
    case .sent(let sent): PartnerLogLine.json(sent, partner, text, context)
    case .received(let received):
      PartnerLogLine.json(
        received.request, received.receipts, partner, context,
        [
          "direction": "from", "at": .string(context.storeContext.zones.text(received.received)),
          "alarm": received.alarm.map { JSON($0) }, "over": .bool(received.isOver),
        ])
    }
  }

  /// Returns the JSON of a request, or an empty object if there is no such request.
  static func json(_ request: Identifier, _ session: PartnerSession) -> JSON {
    let text = PartnerText(session.context)
    for partner in session.partners {
      if let sent = partner.sent.first(where: { $0.request.id == request }) {
        return json(sent, partner, text, session.context)
      }
      if let received = partner.received.first(where: { $0.request.id == request }) {
        return PartnerLogLine(partner: partner, at: received.received, item: .received(received))
          .json(text, session.context)
      }
    }
    return .object([:])
  }

  static func json(
    _ sent: SentRequest, _ partner: Partnership, _ text: PartnerText, _ context: CommandContext
  ) -> JSON {
    json(
      sent.request, sent.receipts, partner, context,
      [
        "direction": "to", "at": .string(context.storeContext.zones.text(sent.created)),
        "posted": .bool(sent.isPosted), "recalled": .bool(sent.isRecalled),
        "state": .string(sent.state?.rawValue ?? (sent.isPosted ? "posted" : "waiting")),
      ])
  }

  /// `{direction, partner, id, message, time, repeat?, zone?, at, receipts, …}`
  private static func json(
    _ request: PartnerRequest, _ receipts: [PartnerReceipt], _ partner: Partnership,
    _ context: CommandContext, _ more: [String: JSON?]
  ) -> JSON {
    let zones = context.storeContext.zones
    let members: [String: JSON?] = [
      "partner": .string(partner.name), "id": JSON(request.id),
      "message": .string(request.message), "time": .string(zones.text(request.at)),
      "repeat": request.repeats.map { ScheduleRecord.encode($0.schedule) },
      "zone": request.repeats.map { .string($0.zone) },
      "receipts": .array(
        receipts.map { receipt in
          .object(omittingNil: [
            "state": .string(receipt.state.rawValue), "at": .string(zones.text(receipt.at)),
            "detail": receipt.detail.map { .string($0) },
          ])
        }),
    ]
    return .object(omittingNil: members.merging(more) { $1 })
  }
}
