/// Who rings when, from the time that an occurrence is due until somebody stops it.
///
/// ```
/// T            T + i        T + 2i       T + 3i
/// the first ── step 1 ─── step 2 ─── exhausted        nobody answers
/// the first ── step 1 ─✕                                stopped: nobody rings any more
/// the first ── step 1 ─s┄┄┄┄┄┄┄┄ step 1 ── step 2   snoozed: all are silent, then the same one rings again
/// ```
///
/// A pure function of what is known: every device reckons it for itself, and what it learns later changes what is
/// still to come.
public struct CascadeRun: Hashable, Sendable {
  /// Somebody's word that all are to be silent for a while.
  public struct Snooze: Hashable, Sendable {
    public let at: Instant
    public let until: Instant
    /// The device that it was given on; nil where that is not known.
    public let by: Identifier?

    public init(at: Instant, until: Instant, by: Identifier? = nil) {
      self.at = at
      self.until = until
      self.by = by
    }
  }

  /// A device's, or a person's, time to ring.
  public struct Turn: Hashable, Sendable {
    /// 0 for those who ring at the alarm's own time, else the place in the list.
    public let step: Int
    public let at: Instant

    public init(step: Int, at: Instant) {
      self.step = step
      self.at = at
    }
  }

  public let due: Instant
  /// When each rings, in order, those to come included as if nobody answered.
  public let turns: [Turn]
  /// When the last has had its time; nil when somebody ended it before.
  public let exhausted: Instant?
  /// When somebody stopped it; nil while nobody has.
  public let ended: Instant?
  /// The end of the latest snooze; nil where there was none.
  public let pausedUntil: Instant?

  /// - Parameters:
  ///   - due: when the first is to ring.
  ///   - plan: the list as it stood then.
  ///   - snoozes: what is known of them, in any order.
  ///   - ended: when somebody stopped it, or answered otherwise, as far as that is known.
  ///   - unreachable: the steps that are known not to be there: they do not delay the next. The first is never one of
  ///     them, as it may wake at the very moment.
  ///   - step: the place of a device: 0 when it rings first; nil when it has none.
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
      // By a clock that is behind it may have been before its time.
      let moment = max(snooze.at, due)
      var latest: Int?
      if let end = paused, moment < end {
        // Once more in the same pause, or on two sides of a partition: the later end counts.
        guard snooze.until > end else { continue }
        latest = turns.popLast()?.step
      } else {
        advance(to: moment)
        latest = turns.last?.step
      }
      // The same one rings again; what is in no list, or has not rung, speaks for the latest that has.
      let own = snooze.by.flatMap(step).flatMap { own in
        turns.contains { $0.step == own } ? own : nil
      }
      let until = max(snooze.until, moment)
      turns.append(Turn(step: own ?? latest ?? 0, at: until))
      paused = until
      at = until.adding(seconds: plan.interval)
    }
    advance(to: nil)
    self.due = due
    self.ended = ended
    pausedUntil = paused
    if let ended {
      self.turns = turns.filter { $0.at < ended }
      exhausted = nil
    } else {
      self.turns = turns
      exhausted = max(at, (turns.last?.at ?? due).adding(seconds: plan.interval))
    }
  }

  /// A total order, so that it does not matter how they come.
  static func precedes(_ a: Snooze, _ b: Snooze) -> Bool {
    (a.at, a.until, a.by?.text ?? "") < (b.at, b.until, b.by?.text ?? "")
  }

  // MARK: At a moment

  /// Where it stands.
  public enum DeliveryState: Hashable, Sendable {
    /// Not due yet.
    case ahead
    /// These steps ring, the latest last.
    case ringing([Int])
    case paused(until: Instant)
    case resolved
    /// All have had their time, and nobody has answered.
    case exhausted
  }

  public func standing(at now: Instant) -> DeliveryState {
    if ended != nil { return .resolved }
    if now < due { return .ahead }
    if let pausedUntil, now < pausedUntil { return .paused(until: pausedUntil) }
    if let exhausted, now >= exhausted { return .exhausted }
    return .ringing(turns.filter { $0.at >= began(at: now) && $0.at <= now }.map(\.step))
  }

  /// Since when those who ring now ring: what rang before a snooze has had its turn.
  public func began(at now: Instant) -> Instant {
    pausedUntil.flatMap { $0 <= now ? $0 : nil } ?? due
  }

  /// The turn that a step has now; nil when it has none.
  public func turn(of step: Int, at now: Instant) -> Turn? {
    guard ended == nil, pausedUntil.map({ $0 <= now }) ?? true else { return nil }
    return turns.last { $0.step == step && $0.at <= now && $0.at >= began(at: now) }
  }

  /// The next turn of a step; nil when none comes.
  public func next(of step: Int, after now: Instant) -> Turn? {
    turns.first { $0.step == step && $0.at > now }
  }
}
