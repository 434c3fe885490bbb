/// Which device calls a number, or sends word to a person, so that it happens at least once and at most three times.
///
/// ```
/// the remote can be asked     whoever makes the reference `1` first calls; when it has failed, or said nothing for three
///                             minutes, whoever makes `2`; then `3`
/// it cannot                   each of the callers in its own time, with the tries that are its own
/// ```
///
/// Of three tries each belongs to one caller from the start, so that there are never more than three of them, however
/// the devices are cut off from each other.
public struct CallElection: Hashable, Sendable {
  /// The place of this device among the callers: the first is 0.
  public let rank: Int
  /// How many callers there are.
  public let callers: Int
  /// When the turn came.
  public let due: Instant

  public init(rank: Int, callers: Int, due: Instant) {
    self.rank = rank
    self.callers = callers
    self.due = due
  }

  /// The tries of one number for one occurrence.
  public static let most = 3
  /// Between the first tries of two callers that can ask the remote, in seconds.
  public static let stagger: Int64 = 10
  /// Between two tries of callers that cannot, in seconds.
  public static let spacing: Int64 = 90
  /// How long one that has claimed a try may say nothing before others take over, in seconds.
  public static let lease: Int64 = 180
  /// Between a try that failed and the next, in seconds.
  public static let pause: Int64 = 15

  /// The tries of this device, by their numbers.
  public var own: [Int] {
    guard callers > 0, rank >= 0, rank < min(callers, CallElection.most) else { return [] }
    let count = min(callers, CallElection.most)
    return (1...CallElection.most).filter { ($0 - 1) % count == rank }
  }

  /// What the remote has of one try.
  public struct Claim: Hashable, Sendable {
    public enum Outcome: String, CaseIterable, Sendable {
      case answered, failed
    }
    /// The first is 1.
    public let term: Int
    /// When this device first saw it, by its own clock.
    public let seen: Instant
    /// Nil while it goes on, or whoever claimed it has died.
    public let outcome: Outcome?

    public init(term: Int, seen: Instant, outcome: Outcome?) {
      self.term = term
      self.seen = seen
      self.outcome = outcome
    }
  }

  /// What this device is to do.
  public enum Move: Hashable, Sendable {
    case wait(until: Instant)
    /// To make the reference of a try; who made it calls.
    case claim(term: Int)
    /// To call without asking, as nobody can be asked.
    case call
    case over
  }

  /// - Parameters:
  ///   - claims: what the remote has; nil when it cannot be asked.
  ///   - tried: how often this device has called, or was about to when it died.
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
    if last.term >= CallElection.most, last.outcome != nil { return .over }
    let pause = last.outcome == nil ? CallElection.lease : CallElection.pause
    if last.term >= CallElection.most {
      return wait(last.seen.adding(seconds: pause), .over)
    }
    return wait(last.seen.adding(seconds: pause + order), .claim(term: last.term + 1))
  }

  /// The devices that may call, the first first: those of the list in its order, the one that it is at home on, then the
  /// others; at most three.
  ///
  /// - Parameter able: those that can.
  public static func callers(of plan: Cascade.Plan, able: Set<Identifier>) -> [Identifier] {
    var order: [Identifier] = []
    for id in plan.targets.compactMap(\.device) + [plan.primary].compactMap({ $0 }) + able.sorted()
    where able.contains(id) && !order.contains(id) {
      order.append(id)
    }
    return Array(order.prefix(most))
  }

  /// The same for one target: a number is called by those that can place calls, word is sent by any.
  public static func callers(
    for target: CascadeTarget, of plan: Cascade.Plan, among devices: [Device]
  ) -> [Identifier] {
    callers(of: plan, able: Set(devices.filter { $0.calls || !target.isPhone }.map(\.id)))
  }
}
