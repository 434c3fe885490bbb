/// The schedule by which one of several devices makes a call or sends a message for a cascade step.
///
/// Every device that can call is a caller, since any of them may be the only one online:
///
/// | the remote | the device |
/// |---|---|
/// | can be asked | claims an attempt by creating its reference; the next one follows a failure or an expired lease |
/// | cannot be asked | makes the attempts in `own`, each at its fixed time |
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
  /// The delay between a failed attempt and the next one, in seconds.
  public static let pause: Int64 = 15

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
      /// The call was answered or the message was delivered, or the attempt failed.
      case answered, failed
    }
    /// The number of the attempt, starting at 1.
    public let term: Int
    /// The time at which this device first saw the claim, by its own clock.
    public let seen: Instant
    /// The outcome; nil while the attempt is in progress or if the claiming device has crashed.
    public let outcome: Outcome?

    /// Creates a claim.
    public init(term: Int, seen: Instant, outcome: Outcome?) {
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
  ///   - tried: the number of attempts that this device has started, interrupted ones included.
  public func move(at now: Instant, leases: [Claim]?, tried: Int) -> Move {
    if tried >= CallElection.maxAttempts { return .over }
    func wait(_ moment: Instant, _ move: Move) -> Move {
      moment > now ? .wait(until: moment) : move
    }
    guard let leases else {
      if tried >= own.count { return .over }
      let place = Int64(min(own[tried] - 1, CallElection.maxPlace))
      return wait(due.adding(seconds: place * CallElection.spacing), .call)
    }
    if leases.contains(where: { $0.outcome == .answered }) { return .over }
    let order = Int64(min(rank, CallElection.maxPlace)) * CallElection.stagger
    guard let last = leases.max(by: { $0.term < $1.term }) else {
      return wait(due.adding(seconds: order), .claim(term: 1))
    }
    if last.term >= CallElection.maxAttempts, last.outcome != nil { return .over }
    let pause = last.outcome == nil ? CallElection.lease : CallElection.pause
    if last.term >= CallElection.maxAttempts {
      return wait(last.seen.adding(seconds: pause), .over)
    }
    return wait(last.seen.adding(seconds: pause + order), .claim(term: last.term + 1))
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
