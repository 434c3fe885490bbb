/// The escalation of one occurrence: the time at which each step rings, from the due time until somebody responds.
///
/// ```
/// T            T + i        T + 2i       T + 3i
/// step 0 ───── step 1 ────── step 2 ───── exhausted      nobody responds
/// step 0 ───── step 1 ─✕                                 stopped: no further step rings
/// step 0 ───── step 1 ─s┄┄┄┄┄┄┄┄┄ step 1 ── step 2       snoozed: all steps pause, then the same step rings again,
///                                                       and the steps after it, even if they rang before
/// ```
///
/// A run is a pure function of the known facts. Each device computes it for itself; facts that arrive later change only
/// future steps.
public struct CascadeRun: Hashable, Sendable {
  /// A snooze, which pauses all steps.
  public struct Snooze: Hashable, Sendable {
    /// The time of the snooze.
    public let at: Instant
    /// The end of the snooze.
    public let until: Instant
    /// The device on which the snooze was requested; nil if it is unknown.
    public let by: Identifier?

    /// Creates a snooze.
    public init(at: Instant, until: Instant, by: Identifier? = nil) {
      self.at = at
      self.until = until
      self.by = by
    }
  }

  /// The time at which a step begins to ring.
  public struct Turn: Hashable, Sendable {
    /// The step: 0 for the devices that ring at the alarm's time, then the positions of the targets.
    public let step: Int
    /// The time at which the step begins to ring.
    public let at: Instant

    /// Creates a turn.
    public init(step: Int, at: Instant) {
      self.step = step
      self.at = at
    }
  }

  /// The due time of the occurrence.
  public let due: Instant
  /// The turns in order. Future turns assume that nobody responds.
  public let turns: [Turn]
  /// The time at which the last step has used its interval; nil if the run was ended before.
  public let exhausted: Instant?
  /// The time at which a response ended the run; nil if there was none.
  public let ended: Instant?
  /// The end of the latest snooze; nil if there was none.
  public let pausedUntil: Instant?
  /// The steps whose devices are known to be offline, so that the next step rings in their place.
  public let passedOver: Set<Int>

  /// Computes the run of an occurrence.
  ///
  /// - Parameters:
  ///   - due: the due time of the occurrence.
  ///   - plan: the plan that was in force at the due time.
  ///   - snoozes: the known snoozes, in any order.
  ///   - ended: the time of the response that ended the run; nil if none is known.
  ///   - unreachable: the steps whose devices are known to be offline. They do not delay the next step. Step 0 is never
  ///     one of them, because its device may wake at the due time.
  ///   - step: returns the step of a device: 0 for a device that rings at the alarm's time; nil if it has none.
  public init(
    due: Instant, plan: Cascade.Plan, snoozes: [Snooze] = [], ended: Instant? = nil,
    unreachable: Set<Int> = [], step: (Identifier) -> Int?
  ) {
    var turns: [Turn] = []
    let count = plan.isActive ? plan.targets.count + 1 : 1
    var (next, at) = (0, due)
    func advance(to limit: Instant?) {
      while next < count, limit.map({ at <= $0 }) ?? true {
        turns.append(Turn(step: next, at: at))
        if next == 0 || !unreachable.contains(next) { at = at.adding(seconds: plan.interval) }
        next += 1
      }
    }
    var paused: Instant?
    for snooze in snoozes.sorted(by: CascadeRun.precedes) {
      // The clock of the snoozing device may be behind.
      let moment = max(snooze.at, due)
      var latest: Int?
      if let end = paused, moment < end {
        // A second snooze in the same pause, possibly on a device that was offline: the later end wins.
        guard snooze.until > end else { continue }
        latest = turns.popLast()?.step
      } else {
        advance(to: moment)
        latest = turns.last?.step
      }
      // The step of the snoozing device rings again, or the latest step if that device has not rung.
      let own = snooze.by.flatMap(step).flatMap { own in
        turns.contains { $0.step == own } ? own : nil
      }
      let until = max(snooze.until, moment)
      let step = own ?? latest ?? 0
      turns.append(Turn(step: step, at: until))
      next = step + 1
      paused = until
      at = until.adding(seconds: plan.interval)
    }
    advance(to: nil)
    assert(zip(turns, turns.dropFirst()).allSatisfy { $0.at <= $1.at }, "turns are in order")
    assert(turns.allSatisfy { $0.at >= due }, "no step rings before the occurrence is due")
    self.due = due
    self.ended = ended
    pausedUntil = paused
    passedOver = unreachable
    if let ended {
      self.turns = turns.filter { $0.at < ended }
      exhausted = nil
    } else {
      self.turns = turns
      exhausted = max(at, (turns.last?.at ?? due).adding(seconds: plan.interval))
    }
  }

  /// Returns true if one snooze sorts before another. The order is total, so the order of arrival has no effect.
  static func precedes(_ a: Snooze, _ b: Snooze) -> Bool {
    (a.at, a.until, a.by?.text ?? "") < (b.at, b.until, b.by?.text ?? "")
  }

  // MARK: At a moment

  /// The state of a run at a moment.
  public enum State: Hashable, Sendable {
    /// The occurrence is not due yet.
    case ahead
    /// These steps ring, the latest one last.
    case ringing([Int])
    /// All steps are snoozed.
    case paused(until: Instant)
    /// A response ended the run.
    case resolved
    /// All steps have used their interval without a response.
    case exhausted
  }

  /// Returns the state at a moment.
  public func state(at now: Instant) -> State {
    if ended != nil { return .resolved }
    if now < due { return .ahead }
    if let pausedUntil, now < pausedUntil { return .paused(until: pausedUntil) }
    if let exhausted, now >= exhausted { return .exhausted }
    return .ringing(turns.filter { $0.at >= began(at: now) && $0.at <= now }.map(\.step))
  }

  /// Returns the time since which the current steps ring: the due time, or the end of the latest snooze.
  public func began(at now: Instant) -> Instant {
    pausedUntil.flatMap { $0 <= now ? $0 : nil } ?? due
  }

  /// Returns the current turn of a step; nil if the step does not ring now.
  public func turn(of step: Int, at now: Instant) -> Turn? {
    guard ended == nil, pausedUntil.map({ $0 <= now }) ?? true else { return nil }
    return turns.last { $0.step == step && $0.at <= now && $0.at >= began(at: now) }
  }

  /// Returns the next turn of a step; nil if there is none.
  public func next(of step: Int, after now: Instant) -> Turn? {
    turns.first { $0.step == step && $0.at > now }
  }
}
