/// The schedule by which one of several devices makes a call or sends a message for a cascade step.
///
/// Every device that can call is a caller, since any of them may be the only one online:
///
/// | the remote | the device |
/// |---|---|
/// | can be asked | claims an attempt by creating its reference; the next one follows an outcome or an expired lease |
/// | cannot be asked | makes the attempts in `own`, each at its fixed time |
///
/// An attempt counts if the call went out, or may have gone out before its device died. Failed attempts, for example
/// because the provider cannot be reached, are retried with exponential back-off and do not count. The callers take
/// turns, so another device attempts before the same one again.
///
/// The devices that can ask the remote make at most `maxAttempts` attempts together. The attempts in `own` belong to one
/// caller each: the devices that cannot ask the remote make at most `maxAttempts` together if they are no more than
/// that, otherwise one each.
public struct CallElection: Hashable, Sendable {
  /// The position of this device among the callers, starting at 0.
  public let rank: Int
  /// The number of callers.
  public let callers: Int
  /// The time at which the cascade step became due.
  public let due: Instant

  /// Creates the election of one device for one cascade step of one occurrence.
  public init(rank: Int, callers: Int, due: Instant) {
    self.rank = rank
    self.callers = callers
    self.due = due
  }

  /// The maximum number of attempts for one target and occurrence while the remote can be asked.
  public static let maxAttempts = 3
  /// The delay between the first attempts of two callers that can ask the remote, in seconds.
  public static let stagger: Int64 = 10
  /// The delay between two attempts of callers that cannot ask the remote, in seconds.
  public static let spacing: Int64 = 90
  /// The maximum number of places by which the order of the callers delays a device. Devices ahead of it may be offline.
  public static let maxPlace = 3
  /// The time after which other callers take over from a claim without an outcome, in seconds.
  public static let lease: Int64 = 180
  /// The delay between an attempt without an answer and the next one, in seconds.
  public static let pause: Int64 = 15
  /// The maximum delay between two failed attempts of one device, in seconds.
  private static let maxBackoff: Int64 = 600

  /// Returns the delay between a failed attempt of a device and its next one, in seconds: 15 s, 30 s, … 10 min.
  ///
  /// - Parameter failures: The number of failed attempts so far.
  public static func backoff(after failures: Int) -> Int64 {
    min(pause << min(max(failures - 1, 0), 10), maxBackoff)
  }

  /// The numbers of the attempts that this device makes if the remote cannot be asked, starting at 1.
  public var own: [Int] {
    guard rank >= 0, rank < callers else { return [] }
    if rank >= CallElection.maxAttempts { return [rank + 1] }
    let count = min(callers, CallElection.maxAttempts)
    return (1...CallElection.maxAttempts).filter { ($0 - 1) % count == rank }
  }

  /// The state of one attempt at the remote.
  public struct Claim: Hashable, Sendable {
    /// The result of an attempt.
    public enum Outcome: String, CaseIterable, Sendable {
      /// The call was answered or the message was delivered.
      case answered
      /// The call went out and was not answered.
      case failed
      /// The call did not go out. The attempt does not count.
      case unplaced
    }
    /// The number of the attempt, starting at 1.
    public let term: Int
    /// The time at which this device first saw the claim, by its own clock.
    public let seen: Instant
    /// The outcome; nil while the attempt is in progress or if the claiming device has crashed.
    public let outcome: Outcome?
    /// True if this device is known to have made the claim.
    public let isOwn: Bool

    /// Creates a claim.
    public init(term: Int, seen: Instant, outcome: Outcome?, isOwn: Bool = false) {
      self.isOwn = isOwn
      self.term = term
      self.seen = seen
      self.outcome = outcome
    }
  }

  /// The next action of this device.
  public enum Move: Hashable, Sendable {
    /// Ask again at this time.
    case wait(until: Instant)
    /// Create the reference of this attempt. The device that creates it calls.
    case claim(term: Int)
    /// Call without a claim, because the remote cannot be asked.
    case call
    /// Make no further attempt.
    case over
  }

  /// Returns the next action of this device.
  ///
  /// - Parameters:
  ///   - leases: the claims at the remote; nil if the remote cannot be asked.
  ///   - tried: the number of attempts of this device that count, interrupted ones included.
  ///   - retryAt: the earliest time of the next attempt after a failed one of this device; nil if there is none.
  public func move(
    at now: Instant, leases: [Claim]?, tried: Int, retryAt: Instant? = nil
  ) -> Move {
    if tried >= CallElection.maxAttempts { return .over }
    func wait(_ moment: Instant, _ move: Move) -> Move {
      // A clock that was set back delays no attempt.
      let retryAt = retryAt.flatMap {
        $0.seconds(since: now) <= CallElection.maxBackoff ? $0 : nil
      }
      let moment = max(moment, retryAt ?? moment)
      return moment > now ? .wait(until: moment) : move
    }
    guard let leases else {
      if tried >= own.count { return .over }
      let place = Int64(min(own[tried] - 1, CallElection.maxPlace))
      return wait(due.adding(seconds: place * CallElection.spacing), .call)
    }
    if leases.contains(where: { $0.outcome == .answered }) { return .over }
    let last = leases.max { $0.term < $1.term }
    if leases.count(where: { $0.outcome != .unplaced }) >= CallElection.maxAttempts {
      // An attempt in progress may turn out not to count.
      guard let last, last.outcome == nil else { return .over }
      return wait(last.seen.adding(seconds: CallElection.lease), .over)
    }
    let order = Int64(place(after: last)) * CallElection.stagger
    guard let last else { return wait(due.adding(seconds: order), .claim(term: 1)) }
    let pause = last.outcome == nil ? CallElection.lease : CallElection.pause
    return wait(last.seen.adding(seconds: pause + order), .claim(term: last.term + 1))
  }

  /// Returns the number of places by which this device waits for the others before it claims the next attempt.
  ///
  /// The first attempt belongs to the first caller, the second one to the second, and so on. The device that made the
  /// last attempt waits for all others.
  private func place(after last: Claim?) -> Int {
    guard let last, callers > 1 else { return min(rank, CallElection.maxPlace) }
    if last.isOwn { return min(callers, CallElection.maxPlace + 1) }
    let distance = (rank - last.term % callers + callers) % callers
    return min(distance, CallElection.maxPlace)
  }

  /// Returns the devices that may call, in order: the devices of the cascade, its primary device, then all others.
  ///
  /// - Parameter able: the devices that can call. All of them are in the result, as others may be offline.
  public static func callers(of plan: Cascade.Plan, able: Set<Identifier>) -> [Identifier] {
    var order: [Identifier] = []
    for id in plan.targets.compactMap(\.device) + [plan.primary].compactMap({ $0 }) + able.sorted()
    where able.contains(id) && !order.contains(id) {
      order.append(id)
    }
    return order
  }

  /// Returns the devices that may reach a target, in order. A phone number needs a device that can place calls.
  public static func callers(
    for target: CascadeTarget, of plan: Cascade.Plan, among devices: [Device]
  ) -> [Identifier] {
    callers(of: plan, able: Set(devices.filter { $0.calls || !target.isPhone }.map(\.id)))
  }
}
