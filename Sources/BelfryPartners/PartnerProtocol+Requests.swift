import BelfryCore

/// Requests that a partner has sent.
extension PartnerProtocol {
  /// Processes a request. Returns true if it can be deleted from the mailbox.
  mutating func process(_ request: PartnerRequest) throws -> Bool {
    guard known.insert(request.id).inserted else {
      recordFault(.replayed)
      return true
    }
    if partner.recalled.contains(request.id) {
      // The recall arrived before the request.
      remember(ReceivedRequest(request: request, received: now, isOver: true))
      return true
    }
    var verdict = PartnerVerdict.refused(.notPaired)
    if partner.phase == .active {
      if partner.isValid(at: now) {
        verdict = handler.verdict(
          request, partner.limits, accepted: acceptedToday, rings: ringsByDay())
      } else {
        recordFault(.outlived)
        verdict = .refused(.outlived)
      }
    }
    var entry = ReceivedRequest(request: request, received: now)
    if verdict == .accepted {
      let alarm = Derived.identifier(
        "belfry partner alarm",
        [Array(partner.id.text.utf8), Array(request.id.text.utf8)])
      let origin = PartnerOrigin(
        name: partner.name, partnership: partner.id, request: request.id,
        quiet: partner.limits.quiet)
      if let refusal = try handler.set(request, as: alarm, from: origin) {
        verdict = .refused(refusal)
      } else {
        entry.alarm = alarm
        acceptedToday += 1
        knownRings = nil
      }
    }
    let receipt: PartnerReceipt
    switch verdict {
    case .accepted:
      receipt = PartnerReceipt(.scheduled, of: request.id, at: now, detail: handler.channelSummary)
      addNews(.scheduled(request))
    case .expired:
      receipt = PartnerReceipt(.expired, of: request.id, at: now)
      addNews(.refused(request, nil))
    case .refused(let refusal):
      receipt = PartnerReceipt(.refused, of: request.id, at: now, detail: refusal.textForSender)
      addNews(.refused(request, refusal))
    }
    entry.isOver = entry.alarm == nil
    entry.receipts.append(receipt)
    receipts.append(receipt)
    remember(entry)
    return entry.isOver
  }

  /// The number of times that accepted requests ring on each day.
  mutating func ringsByDay() -> [CivilDate: Int] {
    if let knownRings { return knownRings }
    let active = partner.received.filter { $0.alarm != nil && !$0.isOver }
    let rings = handler.ringsByDay(active.map(\.request))
    knownRings = rings
    return rings
  }

  mutating func remember(_ entry: ReceivedRequest) {
    partner.received.append(entry)
    // Completed requests are dropped first.
    while partner.received.count > PartnerProtocol.maxRememberedCount,
      let index = partner.received.firstIndex(where: \.isOver)
    {
      partner.received.remove(at: index)
    }
  }

  mutating func recall(_ id: Identifier) throws {
    knownRings = nil
    guard let index = partner.received.firstIndex(where: { $0.request.id == id }) else {
      partner.recalled.insert(id)
      let receipt = PartnerReceipt(.recalled, of: id, at: now)
      receipts.append(receipt)
      return
    }
    guard !partner.received[index].isOver else { return }
    if let alarm = partner.received[index].alarm {
      try handler.cancel(alarm, recalledBy: partner.name)
    }
    let receipt = PartnerReceipt(.recalled, of: id, at: now)
    partner.received[index].receipts.append(receipt)
    partner.received[index].isOver = true
    receipts.append(receipt)
    addNews(.recalled(partner.received[index].request))
  }

  // MARK: Requests of the user

  /// The maximum number of times that a request is sent again.
  private static let maxResendCount = 3

  /// Sends requests again that have disappeared from the mailbox without a receipt, because it was lost and created
  /// again. The receiver deletes a request only after sending a receipt.
  ///
  /// - Parameters:
  ///   - posted: the requests that were in the mailbox before the listing.
  ///   - listed: the names of all mail in the mailbox.
  /// - Precondition: The mail in the inbox was processed.
  mutating func resendLost(_ posted: Set<Identifier>, listed: Set<String>) throws {
    guard partner.phase == .active, let addresses = partner.channel?.addresses,
      // Mail that waits may hold the receipt.
      listed.allSatisfy({
        !$0.hasPrefix("\(addresses.inbox)/") || partner.mail.seen[$0] != nil
      })
    else { return }
    for index in partner.sent.indices {
      let sent = partner.sent[index]
      guard sent.state == nil, sent.isPosted, !sent.isRecalled, !sent.isLost,
        posted.contains(sent.request.id),
        !listed.contains("\(addresses.outbox)/\(sent.request.id)")
      else { continue }
      if now < sent.request.latestUse, partner.isValid(at: now),
        sent.resendCount < PartnerProtocol.maxResendCount
      {
        partner.sent[index].isPosted = false
        partner.sent[index].resendCount += 1
        try partner.post(sent.request, at: now)
        addNews(.resent(sent.request))
      } else {
        partner.sent[index].isLost = true
        addNews(.lost(sent.request))
      }
    }
  }
}
