extension PartnerReceipt {
  /// Returns the receipt that determines the state of a request; nil if there are no receipts.
  ///
  /// The receiver's devices report independently. The result follows the order of outcomes, as in
  /// `OccurrenceRecord.join`, and does not depend on the order of arrival:
  ///
  /// 1. `recalled` wins over everything.
  /// 2. Of several occurrences, the latest counts. Within an occurrence, the highest `revision` counts, then the rank
  ///    `rung < missed < snoozed < stopped < skipped < acknowledged`. Ringing again after a snooze has the rank of the
  ///    snooze.
  /// 3. The acknowledgment or skip of a one-time request wins over later events of its alarm.
  /// 4. Otherwise the latest of these counts: the outcome, a change of the alarm, its deletion, its restoration.
  /// 5. Without any of those, `scheduled` wins over `refused` and `expired`, because one device has set the alarm.
  ///
  /// - Parameters:
  ///   - receipts: the receipts in the order of arrival.
  ///   - repeats: true if the request has more than one occurrence.
  public static func current(in receipts: [PartnerReceipt], repeats: Bool) -> PartnerReceipt? {
    func latest(_ state: State, _ isIncluded: (PartnerReceipt) -> Bool = { _ in true })
      -> PartnerReceipt?
    {
      receipts.filter { $0.state == state && isIncluded($0) }.max { $0.at < $1.at }
    }
    if let recalled = latest(.recalled) { return recalled }
    let outcome = outcome(receipts, repeats: repeats)
    if !repeats, let outcome, outcome.state == .acknowledged || outcome.state == .skipped {
      return outcome
    }
    let withdrawn = latest(.withdrawn)
    let restored = withdrawn.flatMap { withdrawn in latest(.scheduled) { $0.at > withdrawn.at } }
    let changed = latest(.changed) { $0.due == nil }
    // At equal times, a change of the alarm wins over an outcome.
    return [outcome, changed, withdrawn, restored].compactMap { $0 }.max { $0.at < $1.at }
      ?? latest(.scheduled) ?? receipts.last { $0.state == .refused || $0.state == .expired }
  }

  /// Returns the receipt that determines the outcome of the latest reported occurrence; nil if there is none.
  private static func outcome(_ receipts: [PartnerReceipt], repeats: Bool) -> PartnerReceipt? {
    let relevant = receipts.filter { $0.outcomeRank != nil }
    // Receipts of earlier versions have no `due`.
    let byOccurrence = Dictionary(grouping: relevant) { repeats ? $0.due ?? $0.at : nil }
    func recency(_ group: [PartnerReceipt]) -> Instant {
      group.map { min($0.due ?? $0.at, $0.at) }.max() ?? Instant(seconds: 0)
    }
    guard let group = byOccurrence.values.max(by: { recency($0) < recency($1) }) else {
      return nil
    }
    /// Returns the revision of a receipt. `rung` has none of its own and takes the latest one before it.
    func revision(_ receipt: PartnerReceipt) -> Int {
      guard receipt.state == .rung else { return receipt.revision }
      return group.filter { $0.at <= receipt.at }.map(\.revision).max() ?? receipt.revision
    }
    let newest = group.map(revision).max()
    let counting = group.filter { revision($0) == newest }
    let snoozed = counting.filter { $0.state == .snoozed }.map(\.at).max()
    func rank(_ receipt: PartnerReceipt) -> Int {
      if receipt.state == .rung, let snoozed,
        receipt.at.seconds(since: snoozed) >= PartnerReceipt.shortestSnooze
      {
        return State.snoozed.outcomeRank ?? 0
      }
      return receipt.outcomeRank ?? 0
    }
    let highest = counting.map(rank).max()
    let candidates = counting.filter { rank($0) == highest }
    // Of equal outcomes the first counts: the device that reported the second one had not seen it.
    let isFinal = candidates.allSatisfy { $0.state.isFinal }
    let outcome =
      isFinal ? candidates.min { $0.at < $1.at } : candidates.max { $0.at < $1.at }
    // The device that reported the miss did not know that another one rang.
    let hasRung = group.contains {
      $0.state == .rung && $0.due == outcome?.due && $0.detail == nil
    }
    return outcome?.state == .missed && hasRung ? outcome?.withoutDetail : outcome
  }

  /// The minimum time between a snooze and ringing again, in seconds. An earlier ring is of a device that had not seen
  /// the snooze.
  private static let shortestSnooze: Int64 = 60

  /// The rank of the receipt as an outcome of an occurrence; nil if it is not an outcome.
  private var outcomeRank: Int? {
    state == .changed ? due.map { _ in 0 } : state.outcomeRank
  }
}

extension PartnerReceipt.State {
  /// The rank among the outcomes of an occurrence; nil for states of the request or its alarm.
  fileprivate var outcomeRank: Int? {
    switch self {
    case .rung: 0
    case .missed: 1
    case .snoozed: 2
    case .stopped: 3
    case .skipped: 4
    case .acknowledged: 5
    case .scheduled, .expired, .refused, .recalled, .changed, .withdrawn, .reply: nil
    }
  }

  /// True if the state ends an occurrence.
  fileprivate var isFinal: Bool {
    self == .missed || self == .stopped || self == .skipped || self == .acknowledged
  }
}
