/// Claims and leases. Of several processes that deliver for one store, each delivery is claimed by one.
extension DeliveryLedger {
  /// The maximum time in seconds between a claim and its recorded outcome. All hooks of one attempt end long before. A
  /// process that takes longer hangs, and must not keep others from delivering.
  public static let leaseLength: Int64 = 300

  /// Releases the leases that no process works on. Their deliveries are due again at once, as one attempt more:
  ///
  /// 1. the owner has died, before or after it delivered;
  /// 2. the owner lives, but its claim is older than `leaseLength`, or as far in the future.
  ///
  /// The leases of this process do not expire.
  public mutating func releaseExpired(at now: Instant, for owner: LeaseOwner) {
    for key in keys(where: { $0.owner != nil && $0.owner != owner.name }) {
      guard let entry = self[key], let name = entry.owner else { continue }
      if !isExpired(entry, at: now), owner.isAlive(name) { continue }
      // The time of the attempt is moved back, so that no back-off applies.
      self[key] = Entry(
        due: entry.due, at: entry.due.adding(seconds: -86_400), attempts: entry.attempts,
        state: .undelivered, isLogged: entry.isLogged)
    }
    assert(
      keys { isExpired($0, at: now) && $0.owner != nil && $0.owner != owner.name }.isEmpty,
      "no other process has an expired lease")
  }

  /// Returns true if a claim is older than `leaseLength`, or as far in the future.
  private func isExpired(_ entry: Entry, at now: Instant) -> Bool {
    entry.state == .claimed && abs(now.seconds(since: entry.at)) > DeliveryLedger.leaseLength
  }

  /// Claims the pending deliveries that no other process has claimed or delivered, and returns their identities.
  ///
  /// | entry of the same occurrence | claimed |
  /// |---|---|
  /// | none, or of an earlier due time | yes |
  /// | of a later due time, undelivered or withdrawn | yes |
  /// | of a later due time, claimed or delivered | no: this notification was superseded |
  /// | of this delivery and due time, claimed or delivered | no |
  /// | of this delivery and due time, undelivered | once its retry is due |
  /// | of this delivery and due time, withdrawn | yes |
  public mutating func claim(
    _ pending: [PendingDelivery], at now: Instant, for owner: LeaseOwner
  ) -> Set<DeliveryID> {
    releaseExpired(at: now, for: owner)
    var claimed: Set<DeliveryID> = []
    for delivery in pending {
      let same = entry(delivery.key, due: delivery.due)
      if let same, same.nextAttempt.map({ $0 > now }) ?? true { continue }
      if case .occurrence(let id, _) = delivery.key, let latest = latest(of: id),
        latest.due > delivery.due, latest.nextAttempt == nil
      {
        continue
      }
      self[delivery.key] = Entry(
        due: delivery.due, at: now, attempts: (same?.attempts ?? 0) + 1, state: .claimed,
        owner: owner.name, isLogged: same?.isLogged ?? !delivery.key.isLogged)
      claimed.insert(delivery.id)
    }
    assert(
      claimed.allSatisfy { self[$0.key]?.owner == owner.name && self[$0.key]?.state == .claimed },
      "this process has the lease of each delivery that it has claimed")
    return claimed
  }

  /// Records the outcome of a claimed delivery. A nil outcome means that the delivery was no longer needed.
  public mutating func record(
    _ outcome: DeliveryOutcome?, of delivery: PendingDelivery, at now: Instant
  ) {
    let known = entry(delivery.key, due: delivery.due)
    var state = DeliveryState.delivered
    var owner: String?
    var isNeeded = true
    switch outcome {
    case .delivered: break
    case .ongoing(let process): owner = process
    case .undelivered: state = .undelivered
    case .withdrawn, nil:
      state = .withdrawn
      isNeeded = false
    }
    assert(owner == nil || state == .delivered, "only a delivered notification goes on")
    self[delivery.key] = Entry(
      due: delivery.due, at: now, attempts: known?.attempts ?? 1, state: state, owner: owner,
      isLogged: known?.isLogged ?? !delivery.key.isLogged || !isNeeded)
  }

  /// Releases the lease of a delivery that a process has ended.
  public mutating func release(_ id: DeliveryID, owner: String) {
    guard let known = entry(id.key, due: id.due), known.state == .delivered, known.owner == owner
    else { return }
    self[id.key]?.owner = nil
  }

  /// Records that the channels of a delivered notification were ended. If the notification is needed again, it is
  /// delivered again. Does nothing if another process has delivered it since.
  public mutating func withdraw(_ id: DeliveryID, owner: String) {
    guard var known = entry(id.key, due: id.due), known.state == .delivered,
      known.owner.map({ $0 == owner }) ?? true
    else { return }
    known.state = .withdrawn
    known.owner = nil
    self[id.key] = known
  }

  /// Applies the changes of a recording.
  ///
  /// - Parameter owner: the name of the process that records.
  public mutating func apply(
    _ recording: DeliveryEngine.Recording, at now: Instant, owner: String
  ) {
    for item in recording.outcomes { record(item.outcome, of: item.pending, at: now) }
    for id in recording.released { release(id, owner: owner) }
    for id in recording.withdrawn { withdraw(id, owner: owner) }
  }
}
