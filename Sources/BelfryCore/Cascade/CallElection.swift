/// The schedule by which one of several devices makes a call or sends a message for a cascade step.
///
/// The delivery is attempted at least once and at most `maxAttempts` times:
///
/// | the remote | the device |
/// |---|---|
/// | can be asked | claims an attempt by creating its reference; the next one follows a failure or an expired lease |
/// | cannot be asked | makes the attempts in `own`, each at its fixed time |
///
/// Each attempt belongs to one caller from the start. The devices therefore never make more than `maxAttempts` attempts
/// together, even if they cannot reach each other.
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

  /// The maximum number of attempts for one target and occurrence.
  public static let maxAttempts = 3
  /// The delay between the first attempts of two callers that can ask the remote, in seconds.
  public static let stagger: Int64 = 10
  /// The delay between two attempts of callers that cannot ask the remote, in seconds.
  public static let spacing: Int64 = 90
  /// The time after which other callers take over from a claim without an outcome, in seconds.
  public static let lease: Int64 = 180
  /// The delay between a failed attempt and the next one, in seconds.
  public static let pause: Int64 = 15

  /// The numbers of the attempts that belong to this device, starting at 1.
  public var own: [Int] {
    guard callers > 0, rank >= 0, rank < min(callers, CallElection.maxAttempts) else { return [] }
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
    if tried >= own.count { return .over }
    func wait(_ moment: Instant, _ move: Move) -> Move {
      moment > now ? .wait(until: moment) : move
    }
    guard let leases else {
      return wait(due.adding(seconds: Int64(own[tried] - 1) * CallElection.spacing), .call)
    }
    if leases.contains(where: { $0.outcome == .answered }) { return .over }
    let order = Int64(rank) * CallElection.stagger
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
  /// - Parameter able: the devices that can call.
  /// - Returns: At most `maxAttempts` devices.
  public static func callers(of plan: Cascade.Plan, able: Set<Identifier>) -> [Identifier] {
    var order: [Identifier] = []
    for id in plan.targets.compactMap(\.device) + [plan.primary].compactMap({ $0 }) + able.sorted()
    where able.contains(id) && !order.contains(id) {
      order.append(id)
    }
    return Array(order.prefix(maxAttempts))
  }

  /// Returns the devices that may reach a target, in order. A phone number needs a device that can place calls.
  public static func callers(
    for target: CascadeTarget, of plan: Cascade.Plan, among devices: [Device]
  ) -> [Identifier] {
    callers(of: plan, able: Set(devices.filter { $0.calls || !target.isPhone }.map(\.id)))
  }
}
