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
      let isExpired =
        entry.state == .claimed && abs(now.seconds(since: entry.at)) > DeliveryLedger.leaseLength
      if !isExpired, owner.isAlive(name) { continue }
      // The time of the attempt is moved back, so that no back-off applies.
      self[key] = Entry(
        due: entry.due, at: entry.due.adding(seconds: -86_400), attempts: entry.attempts,
        state: .undelivered, isLogged: entry.isLogged)
    }
  }

  /// Claims the pending deliveries that no other process has claimed or delivered, and returns their identities.
  ///
  /// | entry of the same occurrence | claimed |
  /// |---|---|
  /// | none, or of an earlier due time | yes |
  /// | of a later due time, undelivered | yes |
  /// | of a later due time, claimed or delivered | no: this notification was superseded |
  /// | of this delivery and due time, claimed or delivered | no |
  /// | of this delivery and due time, undelivered | once its retry is due |
  public mutating func claim(
    _ pending: [PendingDelivery], at now: Instant, for owner: LeaseOwner
  ) -> Set<DeliveryID> {
    releaseExpired(at: now, for: owner)
    var claimed: Set<DeliveryID> = []
    for delivery in pending {
      let same = entry(delivery.key, due: delivery.due)
      if let same, same.state != .undelivered || same.retry > now { continue }
      if case .occurrence(let id, _) = delivery.key, let latest = latest(of: id),
        latest.due > delivery.due, latest.state != .undelivered
      {
        continue
      }
      self[delivery.key] = Entry(
        due: delivery.due, at: now, attempts: (same?.attempts ?? 0) + 1, state: .claimed,
        owner: owner.name, isLogged: same?.isLogged ?? !delivery.key.isLogged)
      claimed.insert(delivery.id)
    }
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
    case .withdrawn, nil: isNeeded = false
    }
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

  /// Records that a delivered notification no longer reaches the user and has to be delivered again. Does nothing if the
  /// ledger does not have it as delivered.
  public mutating func fail(_ id: DeliveryID, at now: Instant) {
    guard let known = entry(id.key, due: id.due), known.state == .delivered else { return }
    self[id.key] = Entry(
      due: known.due, at: now, attempts: known.attempts, state: .undelivered,
      isLogged: known.isLogged)
  }

  /// Applies the changes of a recording.
  ///
  /// - Parameter owner: the name of the process that records.
  public mutating func apply(
    _ recording: DeliveryEngine.Recording, at now: Instant, owner: String
  ) {
    for id in recording.released { release(id, owner: owner) }
    for id in recording.failed { fail(id, at: now) }
    for item in recording.outcomes { record(item.outcome, of: item.pending, at: now) }
  }
}
