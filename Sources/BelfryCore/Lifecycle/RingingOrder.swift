/// The occurrences of a timeline in the order of the times at which they ring.
///
/// ```
/// scheduled   Mon 9:00   Tue 9:00   Wed 9:00            Tue was moved to Thu 15:00
/// in order    Mon 9:00   Wed 9:00   Thu 9:00   Thu 15:00 (Tue)   Fri 9:00
/// ```
struct RingingOrder: Sendable {
  /// The place of an occurrence in the order: the time at which it rings, then its own time.
  struct Position: Hashable, Comparable {
    /// The civil time at which the occurrence rings.
    let time: CivilDateTime
    /// The identity of the occurrence.
    let civil: CivilDateTime

    static func < (a: Position, b: Position) -> Bool {
      (a.time, a.civil) < (b.time, b.civil)
    }
  }

  /// The occurrences of the schedule, moved or not.
  var scheduled: Occurrences
  /// The moved occurrences of the schedule, in ascending order.
  let moved: [Position]
  /// The civil time up to which the occurrences that were not moved are left out; nil for none.
  let floor: CivilDateTime?
  /// True if a moved occurrence stands for the following ones up to its new time: the schedule follows completions, and
  /// they are the same obligation.
  let isReplacing: Bool

  /// Returns the first occurrence after a position; nil if there is none.
  func next(after position: Position) -> Position? {
    var start = position.time
    if position.civil < position.time { start = start.previous }
    if let floor { start = max(start, floor) }
    if moved.isEmpty { return scheduled.next(after: start).map { Position(time: $0, civil: $0) } }
    var own = scheduled.next(after: start)
    while let civil = own, isLeftOut(civil) { own = scheduled.next(after: civil) }
    let other = moved.first { $0 > position }
    return [own.map { Position(time: $0, civil: $0) }, other].compactMap { $0 }.min()
  }

  /// Returns the last occurrence before a position; nil if there is none.
  func last(before position: Position) -> Position? {
    let end = position.civil > position.time ? position.time : position.time.previous
    var own = scheduled.last(onOrBefore: end)
    while let civil = own, isLeftOut(civil), floor.map({ civil > $0 }) ?? true {
      own = scheduled.last(onOrBefore: civil.previous)
    }
    if let civil = own, let floor, civil <= floor { own = nil }
    let place = own.map { Position(time: $0, civil: $0) }
    if moved.isEmpty { return place }
    return [place, moved.last { $0 < position }].compactMap { $0 }.max()
  }

  /// Returns true if an occurrence does not ring at its own time.
  private func isLeftOut(_ civil: CivilDateTime) -> Bool {
    moved.contains { move in
      move.civil == civil || isReplacing && move.civil < civil && civil <= move.time
    }
  }
}

extension CivilDateTime {
  /// The minute before.
  var previous: CivilDateTime { CivilDateTime(minuteNumber: minuteNumber - 1) }
}
