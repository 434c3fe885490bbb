import BelfryCore

/// Receipts for requests, in both directions.
extension PartnerProtocol {
  /// Processes receipts. Returns false if some belong to requests of another device of this user, which has to read
  /// them, too.
  mutating func process(_ receipts: [PartnerReceipt]) -> Bool {
    var areOurs = true
    for given in receipts {
      guard let index = partner.sent.firstIndex(where: { $0.request.id == given.request })
      else {
        areOurs = false
        continue
      }
      // Of a muted partner, states count, but replies and details are dropped.
      if partner.limits.isMuted, given.state == .reply { continue }
      let receipt = partner.limits.isMuted ? given.withoutDetail : given
      guard !partner.sent[index].receipts.contains(receipt),
        partner.sent[index].receipts.count < PartnerProtocol.maxRememberedCount
      else { continue }
      partner.sent[index].receipts.append(receipt)
      partner.sent[index].isPosted = true
      // A late receipt that does not change the state of the request is no news.
      guard receipt.state == .reply || partner.sent[index].standing == receipt else { continue }
      addNews(.receipt(receipt, partner.sent[index].request))
    }
    return areOurs
  }

  /// Adds receipts for the events of alarms since the last report.
  ///
  /// - Parameter eventsByAlarm: the reportable log events by alarm.
  mutating func report(_ eventsByAlarm: [Identifier: [AlarmEvent]]) throws {
    for index in partner.received.indices where !partner.received[index].isOver {
      let entry = partner.received[index]
      guard let alarm = entry.alarm, let events = eventsByAlarm[alarm] else { continue }
      let reported = Set(entry.receipts.map { "\($0.state) \($0.at)" })
      let fresh = events.filter { !reported.contains("\($0.state) \($0.at)") }
        .sorted { ($0.at, $0.state) < ($1.at, $1.state) }
      for event in fresh {
        let receipt = PartnerReceipt(
          event.state, of: entry.request.id, at: event.at, due: event.due,
          revision: event.revision, detail: event.detail)
        if partner.received[index].isKnown(toRing: receipt) { continue }
        partner.received[index].receipts.append(receipt)
        receipts.append(receipt)
      }
    }
    try reportAlarmStates()
    let inbox = partner.channel?.addresses.inbox
    for index in partner.received.indices {
      let entry = partner.received[index]
      let isPast = now.seconds(since: entry.request.at) > Instant.day
      if entry.request.repeats == nil, !entry.isOver {
        // A response can be undone for a while.
        let isAnswered = entry.standing?.state == .acknowledged
        let days: Int64 = isAnswered ? 2 : 7
        if now.seconds(since: entry.request.at) > days * Instant.day {
          partner.received[index].isOver = true
        }
      }
      let isAnswered =
        entry.request.repeats == nil
        && entry.receipts.contains {
          [.acknowledged, .skipped, .withdrawn].contains($0.state)
        }
      // The user's other devices have had time to receive the request.
      if let inbox, partner.received[index].isOver || isPast || isAnswered {
        partner.mail.seen["\(inbox)/\(entry.request.id)"]?.isDone = true
      }
    }
    try sealReceipts()
  }

  /// Adds receipts for alarms that were deleted, disabled or restored.
  mutating func reportAlarmStates() throws {
    for index in partner.received.indices where !partner.received[index].isOver {
      let entry = partner.received[index]
      guard let alarm = entry.alarm, let state = try handler.state(of: alarm) else { continue }
      let previous = entry.receipts.last { $0.state == .scheduled || $0.state == .withdrawn }?.state
      let receipt: PartnerReceipt
      switch state {
      case .enabled where previous == .withdrawn:
        receipt = PartnerReceipt(
          .scheduled, of: entry.request.id, at: now, detail: "restored on their device")
      case .disabled where previous != .withdrawn:
        receipt = PartnerReceipt(
          .withdrawn, of: entry.request.id, at: now, detail: "disabled on their device")
      case .deleted where previous != .withdrawn:
        receipt = PartnerReceipt(
          .withdrawn, of: entry.request.id, at: now, detail: "deleted on their device")
      default: continue
      }
      partner.received[index].receipts.append(receipt)
      receipts.append(receipt)
    }
  }

  mutating func sealReceipts() throws {
    guard partner.phase != .ended else {
      receipts = []
      return
    }
    while !receipts.isEmpty {
      let part = Array(receipts.prefix(PartnerMessage.maxReceiptCount))
      receipts.removeFirst(part.count)
      // All devices of this user derive the same name, so that equal receipts are sent once.
      let place = Derived.identifier(
        "belfry receipts",
        [Array(partner.id.text.utf8)]
          + part.map { Array("\($0.request) \($0.state) \($0.at) \($0.detail ?? "")".utf8) })
      try partner.seal(.receipts(part), at: now, place: place)
    }
  }
}

/// A reportable event of a partner's alarm.
struct AlarmEvent: Hashable, Sendable {
  let state: PartnerReceipt.State
  let at: Instant
  /// The due time of the occurrence; nil for an event of the alarm.
  var due: Instant?
  /// The revision of the occurrence; 0 for an event of the alarm.
  var revision = 0
  var detail: String?
}

extension ReceivedRequest {
  /// True if the reported state means that the alarm does not ring again.
  var hasFinalState: Bool {
    switch standing?.state {
    case .acknowledged, .skipped, .missed: request.repeats == nil
    default: false
    }
  }

  /// Returns true if a receipt reports ringing that the partner already knows about.
  ///
  /// The partner must not learn which of the user's devices ring one after the other.
  fileprivate func isKnown(toRing receipt: PartnerReceipt) -> Bool {
    guard receipt.state == .rung else { return false }
    let same = receipts.filter { $0.due == receipt.due && $0.at <= receipt.at }
    let snoozed = same.filter { $0.state == .snoozed }.map(\.at).max()
    return same.contains { earlier in
      earlier.state == .rung && snoozed.map { earlier.at > $0 } ?? true
        // A ring that was delivered after a failed delivery is reported.
        && (earlier.detail == nil || receipt.detail != nil)
    }
  }
}
