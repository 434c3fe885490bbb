extension PartnerReceipt {
  /// Returns the receipt that tells how a request stands, whatever order the receipts arrived in; nil without any.
  ///
  /// Several devices of the receiver report to the sender, and each at its own time. The order is that of an
  /// occurrence's outcome, as in `OccurrenceRecord.join`, not that of arrival:
  ///
  /// 1. `recalled` stands over everything.
  /// 2. Of several occurrences the latest counts; of one occurrence the highest `revision`, and then the rank
  ///    `rung < missed < snoozed < stopped < skipped < acknowledged`. Ringing again after a snooze ranks with the snooze.
  /// 3. The answer to a one-time request stands over anything that happens to its alarm later.
  /// 4. Otherwise the latest of: the outcome, a change of the alarm, its deletion, and its restoration.
  /// 5. Without any of those `scheduled` stands over `refused` and `expired`: some device has set the alarm.
  ///
  /// - Parameter repeats: whether the request has more than one occurrence.
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
    // At one moment the alarm was rather changed than rung.
    return [outcome, changed, withdrawn, restored].compactMap { $0 }.max { $0.at < $1.at }
      ?? latest(.scheduled) ?? receipts.last { $0.state == .refused || $0.state == .expired }
  }

  /// Returns how the latest occurrence that was reported stands.
  private static func outcome(_ receipts: [PartnerReceipt], repeats: Bool) -> PartnerReceipt? {
    let relevant = receipts.filter { $0.outcomeRank != nil }
    // Earlier versions did not say which occurrence they meant.
    let byOccurrence = Dictionary(grouping: relevant) { repeats ? $0.due ?? $0.at : nil }
    func recency(_ group: [PartnerReceipt]) -> Instant {
      group.map { min($0.due ?? $0.at, $0.at) }.max() ?? Instant(seconds: 0)
    }
    guard let group = byOccurrence.values.max(by: { recency($0) < recency($1) }) else {
      return nil
    }
    /// A firing has no revision of its own: it belongs to the one that was open.
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
    // Of two equal answers the first was given, and the other device had not heard of it.
    let isSettled = candidates.allSatisfy { $0.state.isSettled }
    return isSettled
      ? candidates.min { $0.at < $1.at } : candidates.max { $0.at < $1.at }
  }

  /// A device that rings sooner after a snooze had not heard of it, in seconds.
  private static let shortestSnooze: Int64 = 60

  /// Nil for what is no outcome of an occurrence.
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

  fileprivate var isSettled: Bool {
    self == .missed || self == .stopped || self == .skipped || self == .acknowledged
  }
}
