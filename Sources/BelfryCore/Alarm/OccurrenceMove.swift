/// The move of one occurrence to another time. The rest of the schedule stays.
///
/// ```
/// schedule     Mon 18:00 ── Mon 18:00 ─────────────────── Mon 18:00
/// rings        Mon 18:00 ───────────────── Tue 15:00 ──── Mon 18:00
///                           moved: keeps its identity, the civil time of Monday
/// ```
///
/// A move is a last-writer-wins register by occurrence. The occurrence keeps its identity, so that its outcome, its log
/// entries and the streak count for its own time.
public struct OccurrenceMove: Hashable, Sendable {
  /// The civil time at which the occurrence rings; nil if it was moved back to its own time.
  public var time: CivilDateTime?
  /// The stamp of the move; nil in a record that was written by hand.
  public var stamp: Stamp?
  /// True if an import made the move, so that a later version of its file changes it. A person's move is never imported.
  public var isImported: Bool

  /// Creates a move.
  public init(to time: CivilDateTime?, stamp: Stamp?, isImported: Bool = false) {
    self.time = time
    self.stamp = stamp
    self.isImported = isImported
  }

  /// Joins two moves of one occurrence: the later stamp wins, between equal stamps the later time, and between equal
  /// times a person's move.
  static func join(_ a: OccurrenceMove, _ b: OccurrenceMove) -> OccurrenceMove {
    switch (a.stamp, b.stamp) {
    case (let one?, let two?) where one != two: one > two ? a : b
    case (_?, nil): a
    case (nil, _?): b
    default: a.order > b.order || a.order == b.order && !a.isImported ? a : b
    }
  }

  /// The move as text: `moved to 2026-12-02T15:00` or `moved back`.
  public var text: String { time.map { "moved to \($0)" } ?? "moved back" }

  private var order: Int { time?.minuteNumber ?? .min }
}

extension Progress {
  /// Returns the civil time at which an occurrence rings: its own, or the one to which it was moved.
  func time(of civil: CivilDateTime) -> CivilDateTime { moves[civil]?.time ?? civil }

  /// The age in days at which a move can leave the record, with the settled occurrence. Until then, a device that was
  /// offline can join with it.
  private static let moveRetention = 35

  /// Removes the moves up to a floor whose occurrences have been settled for long, or were moved back. Above the floor, the
  /// records need their moves.
  ///
  /// - Parameters:
  ///   - today: the date by the alarm's wall clock.
  ///   - isSettled: returns true if an occurrence needs no answer.
  mutating func dropOldMoves(
    upTo floor: CivilDateTime, today: CivilDate, isSettled: (CivilDateTime) -> Bool
  ) {
    let oldest = today.adding(days: -Progress.moveRetention)
    moves = moves.filter { civil, move in
      civil > floor || max(civil.date, (move.time ?? civil).date) >= oldest
        || move.time != nil && !isSettled(civil)
    }
  }
}

extension Alarm {
  /// Returns the stamp of the latest edit that decides when an occurrence rings: of the schedule or of its move; nil if
  /// neither has one.
  func timingStamp(of civil: CivilDateTime) -> Stamp? {
    [mergeState.stamps[.schedule], progress.moves[civil]?.stamp].compactMap { $0 }.max()
  }

  /// Returns the stamps of the fields, as they count for one occurrence: a move counts as an edit of its schedule.
  public func stamps(for civil: CivilDateTime) -> [Field: Stamp] {
    if progress.moves[civil] == nil { return mergeState.stamps }
    var result = mergeState.stamps
    result[.schedule] = timingStamp(of: civil)
    return result
  }

  /// Returns the occurrences whose moves were edited by hand since an earlier version, with the time under the same
  /// stamp, or without a stamp.
  func movesEditedByHand(since earlier: Alarm?) -> [CivilDateTime] {
    progress.moves.filter { civil, move in
      let known = earlier?.progress.moves[civil]
      if known?.time == move.time, known?.stamp == move.stamp { return false }
      return move.stamp == nil || move.stamp == known?.stamp
    }.map(\.key).sorted()
  }
}
