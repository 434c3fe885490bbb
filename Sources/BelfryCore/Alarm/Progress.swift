/// The state of an alarm's occurrences: the settled ones and the open ones.
public struct Progress: Hashable, Sendable {
  /// The time after which occurrences fire.
  ///
  /// Creating the alarm, enabling it and editing its schedule set it to the present time, so that nothing fires
  /// retroactively.
  public var armed: Instant
  /// The time at which the alarm was last enabled or disabled; nil if it never was.
  ///
  /// Occurrences that were pending or snoozed at or before this time no longer count.
  public var cleared: Instant?
  /// The civil time up to and including which all occurrences are settled and have no records, except for moved ones; nil
  /// if there is none.
  public var floor: CivilDateTime?
  /// The records of the occurrences above the floor. An occurrence without a record is open.
  public var occurrences: [CivilDateTime: OccurrenceRecord]
  /// The moves of single occurrences, by the occurrences' own times.
  public var moves: [CivilDateTime: OccurrenceMove]
  /// The latest date of completion in the dropped records of a schedule that follows completions; nil if there is none.
  public var completed: CivilDate?
  /// The number of corrections after a wrong clock. In a join, the progress with the higher generation wins as a whole.
  public var generation: Int
  /// The time at which a rehearsal of the cascade was last requested; nil if there was none.
  public var rehearsal: Instant?

  /// Creates progress from the parts of its record.
  public init(
    armed: Instant, cleared: Instant? = nil, floor: CivilDateTime? = nil,
    occurrences: [CivilDateTime: OccurrenceRecord] = [:], completed: CivilDate? = nil,
    generation: Int = 0, rehearsal: Instant? = nil, moves: [CivilDateTime: OccurrenceMove] = [:]
  ) {
    self.moves = moves
    self.completed = completed
    self.rehearsal = rehearsal
    self.generation = generation
    self.armed = armed
    self.cleared = cleared
    self.floor = floor
    self.occurrences = occurrences
  }
}

extension Progress {
  /// Returns the progress without the effects of a wrong clock; nil if all recorded times are plausible.
  ///
  /// A clock that is ahead settles all occurrences up to its own time. Without a correction, the alarm would be silent on
  /// every device until then. A recorded time is implausible if it is more than `Instant.tolerance` ahead of `now`. After
  /// the correction, no future occurrence counts as settled; at most, occurrences of the last day ring once more.
  ///
  /// 1. An implausible `armed` becomes one day ago. An implausible `cleared` or `rehearsal` is removed. The floor
  ///    becomes at most one day ago.
  /// 2. An automatic outcome with an implausible time is removed.
  /// 3. A date of completion is at most the present date, or that of the skipped occurrence.
  /// 4. An answer with an implausible time to an occurrence that lies in the future is doubted by this device: if that
  ///    clock was ahead, the occurrence has to ring here. It stays for the others, because a person gave it, and this
  ///    device's clock can be the wrong one. An answer without a stamp is removed. A skip ahead of time, and any answer to
  ///    another occurrence, count. A stop gets `now` as its time.
  ///
  /// Cases 1 to 3 raise the generation, so that the correction wins every join with the original.
  ///
  /// - Parameters:
  ///   - now: the present time.
  ///   - zone: the zone of the alarm's civil times. If it is nil, only an occurrence that lies in the future in every
  ///     zone counts as a future one.
  ///   - device: this device; nil if it is unknown.
  public func corrected(
    at now: Instant, in zone: TimeZoneRules? = nil, on device: Identifier?
  ) -> Progress? {
    // Civil times differ from UTC by up to 14 hours.
    func civil(_ days: Int64) -> CivilDateTime {
      TimeZoneRules.utc.civil(at: now.adding(seconds: days * Instant.day))
    }
    let limit = zone.map { $0.civil(at: now) } ?? civil(2)
    var result = self
    if armed.isImplausible(at: now) { result.armed = now.adding(seconds: -Instant.day) }
    if cleared?.isImplausible(at: now) == true { result.cleared = nil }
    if rehearsal?.isImplausible(at: now) == true { result.rehearsal = nil }
    if let completed, completed > limit.date.adding(days: 1) { result.completed = limit.date }
    for (occurrence, record) in occurrences {
      result.occurrences[occurrence] = record.corrected(
        at: now, time(of: occurrence), limit: limit)
    }
    // The same clock may have raised the floor over occurrences that are due here but not yet elsewhere.
    if let floor, floor >= limit || result != self { result.floor = min(floor, civil(-1)) }
    if result != self { result.generation += 1 }
    assert(
      ![result.armed, result.cleared, result.rehearsal].contains {
        $0?.isImplausible(at: now) == true
      }, "no time that was corrected is implausible")
    // Case 4 needs no generation: a join takes the earlier time, and all doubts.
    for (occurrence, record) in result.occurrences {
      result.occurrences[occurrence] = record.doubtingAnswers(
        at: now, isAhead: time(of: occurrence) > limit, on: device)
    }
    return result == self ? nil : result
  }
}

extension OccurrenceRecord {
  /// Returns the record without the decisions of a clock that was ahead; nil if nothing is left.
  ///
  /// - Parameter occurrence: the time at which the occurrence rings.
  fileprivate func corrected(
    at now: Instant, _ occurrence: CivilDateTime, limit: CivilDateTime
  ) -> OccurrenceRecord? {
    var result = self
    result.automatic = automatic.filter { $0.value.since?.isImplausible(at: now) != true }
    // A date of completion postpones the next occurrence.
    let latest = max(limit.date, occurrence.date)
    func isAhead(_ date: CivilDate?) -> Bool { date.map { $0 > latest.adding(days: 1) } ?? false }
    if isAhead(answerCompleted) { result.answerCompleted = latest }
    for (kind, outcome) in result.automatic where isAhead(outcome.completed) {
      result.automatic[kind]?.completed = latest
    }
    // An exhausted cascade implies that the occurrence was due. If it lies in the future, the clock was wrong.
    if occurrence > limit, answer == .open { result.exhausted = false }
    return result == self ? self : result.isEmpty ? nil : result
  }

  /// Returns the record with doubts about the answers that a person gave too early by this device's clock; nil if nothing
  /// is left.
  ///
  /// - Parameter isAhead: true if the occurrence lies in the future.
  fileprivate func doubtingAnswers(
    at now: Instant, isAhead: Bool, on device: Identifier?
  ) -> OccurrenceRecord? {
    guard answers.values.contains(where: { $0.since?.isImplausible(at: now) == true }) else {
      return self
    }
    var result = self
    for (stamp, given) in answers where given.since?.isImplausible(at: now) == true {
      var corrected: Answered? = given
      if isAhead, given.state != .open, given.schedule == nil {
        if stamp == nil { corrected = nil }
        if let device { corrected?.doubts.insert(device) }
      }
      if given.state == .pending {
        corrected?.since = now
        if given.revived != nil { corrected?.revived = now }
      }
      result.answers[stamp] = corrected
    }
    return result.isEmpty ? nil : result
  }
}
