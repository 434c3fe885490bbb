/// ```
///        ours          theirs
///           \            /
///            join(a, b)        the same result in any order, in any grouping, and when repeated
/// ```
extension Alarm {
  /// Joins two versions of one alarm.
  ///
  /// The join needs no common ancestor. It is commutative, associative and idempotent.
  ///
  /// 1. **Definition fields**, one by one: the value with the later stamp wins. A value without a stamp is older than
  ///    any value with one. Between equal stamps, the greater text wins. For `cascade`, this applies to each part: see
  ///    `Cascade.join`.
  /// 2. **Progress**: see `Progress.join`.
  /// 3. **Disabling** wins over the other side's pending occurrences: `Timeline` ignores them while the alarm is
  ///    disabled, and afterwards those that are not later than `progress.cleared`.
  /// 4. **Deletion**: for each field, the later of the stamps that the two deletions had seen. The alarm is deleted as
  ///    long as no field has a later stamp (`isDeleted`): an edit that the deletion had not seen restores the alarm.
  /// 5. **Tags**, one by one: the later addition or removal wins. A tag without a stamp is older than any with one.
  ///    Between equal stamps, the addition wins.
  /// 6. **Unknown keys**: all are kept. Between two values, the greater text wins.
  public static func join(_ a: Alarm, _ b: Alarm) -> Alarm {
    let result = joined(a, b)
    assert(a.id == b.id, "two alarms do not join")
    assert(result.isEquivalent(to: joined(b, a)), "the join is commutative")
    assert(joined(result, a).isEquivalent(to: result), "the join is absorbing")
    return result
  }

  /// Returns true if each part of two versions has the same text or value, so that neither wins over the other. Debug
  /// builds check it.
  private func isEquivalent(to other: Alarm) -> Bool {
    Field.allCases.allSatisfy { hasSame($0, as: other) } && mergeState == other.mergeState
      && progress.normalized == other.progress.normalized
  }

  private static func joined(_ a: Alarm, _ b: Alarm) -> Alarm {
    var result = a
    result.mergeState = MergeState.joiningDeletionAndExtras(a.mergeState, b.mergeState)
    for field in Field.allCases
    where field != .cascade && field != .tags && wins(field, b, over: a) {
      result.take(field, from: b)
      result.mergeState.stamps[field] = b.mergeState.stamps[field]
    }
    result.cascade = [a.cascade, b.cascade].compactMap { $0 }.reduce(nil) { joined, cascade in
      joined.map { Cascade.join($0, cascade) } ?? cascade
    }
    (result.tags, result.mergeState.tagStamps) = joinedTags(a, b)
    for field in [Field.cascade, .tags] {
      result.mergeState.stamps[field] = [a, b].compactMap { $0.mergeState.stamps[field] }.max()
    }
    result.progress = Progress.join(a.progress, b.progress)
    return result
  }

  /// Returns true if `b`'s value of a field wins over `a`'s.
  private static func wins(_ field: Field, _ b: Alarm, over a: Alarm) -> Bool {
    switch (a.mergeState.stamps[field], b.mergeState.stamps[field]) {
    case (let ours?, let theirs?) where ours != theirs: theirs > ours
    case (nil, _?): true
    case (_?, nil): false
    default: TextOrder.isGreater(b.text(of: field), than: a.text(of: field))
    }
  }
}

extension Progress {
  /// Joins two versions of an alarm's progress.
  ///
  /// 1. The version with the higher `generation` was corrected after a wrong clock. Of the other one, only the answers
  ///    that people gave remain: neither its times, nor what its clock decided.
  /// 2. Between equal generations, `armed`, `cleared`, `floor`, `completed` and `rehearsal` are maxima.
  /// 3. Records of occurrences are joined one by one: see `OccurrenceRecord.join`. Those up to the floor no longer count,
  ///    and are dropped when a device next raises it.
  /// 4. Moves are joined one by one, whatever the generations: see `OccurrenceMove.join`.
  public static func join(_ a: Progress, _ b: Progress) -> Progress {
    if a.generation != b.generation {
      var (result, earlier) = a.generation > b.generation ? (a, b) : (b, a)
      earlier.occurrences = earlier.occurrences.mapValues(\.answersOnly).filter {
        !$0.value.isEmpty
      }
      result.occurrences.merge(earlier.occurrences, uniquingKeysWith: OccurrenceRecord.join)
      result.moves.merge(earlier.moves, uniquingKeysWith: OccurrenceMove.join)
      return result
    }
    return Progress(
      armed: max(a.armed, b.armed), cleared: [a.cleared, b.cleared].compactMap { $0 }.max(),
      floor: [a.floor, b.floor].compactMap { $0 }.max(),
      occurrences: a.occurrences.merging(b.occurrences, uniquingKeysWith: OccurrenceRecord.join),
      completed: [a.completed, b.completed].compactMap { $0 }.max(),
      generation: a.generation,
      rehearsal: [a.rehearsal, b.rehearsal].compactMap { $0 }.max(),
      moves: a.moves.merging(b.moves, uniquingKeysWith: OccurrenceMove.join))
  }
}

extension Progress {
  /// The progress in the form that a join gives its answers. A record that was edited by hand can have another one.
  fileprivate var normalized: Progress {
    var result = self
    for (civil, record) in occurrences {
      let answers = record.answers
      result.occurrences[civil]?.answers = answers
    }
    return result
  }
}

extension OccurrenceRecord {
  /// Joins two records of one occurrence.
  ///
  /// 1. **Answers**: each answer that one record has stays, unless the other has seen and so replaced it. Of those, the
  ///    one of the highest rank counts: `open < missed < snoozed < pending < skipped < done`. See `joinedAnswers`.
  /// 2. **Automatic outcomes** stay if they followed the answer that counts, and no higher revision has reopened the
  ///    occurrence: see `AutomaticOutcome.join`. They have no rank among answers, so that they never override one that
  ///    they did not know of.
  /// 3. The higher revision, with its counts and `exhausted`. Between equal revisions, the highest counts, and exhausted
  ///    over not exhausted.
  public static func join(_ a: OccurrenceRecord, _ b: OccurrenceRecord) -> OccurrenceRecord {
    var result = a.revision >= b.revision ? a : b
    if a.revision == b.revision {
      result.snooze.count = max(a.snooze.count, b.snooze.count)
      result.followUps = max(a.followUps, b.followUps)
      result.exhausted = a.exhausted || b.exhausted
    }
    result.answers = joinedAnswers(a, b)
    result.seen = a.seen.merging(b.seen, uniquingKeysWith: max)
    result.automatic = [a, b].reduce(into: [:]) { outcomes, record in
      guard record.revision == result.revision, record.answer == result.answer else { return }
      outcomes.merge(record.automatic, uniquingKeysWith: AutomaticOutcome.join)
    }
    return result
  }
}

extension SettingsRecord {
  /// Joins two versions of the settings, key by key.
  ///
  /// 1. The value with the later stamp wins.
  /// 2. A value without a stamp is older than any value with one.
  /// 3. Between equal stamps, and between two values without one, the greater text wins.
  public static func join(_ a: SettingsRecord, _ b: SettingsRecord) -> SettingsRecord {
    let result = joined(a, b)
    assert(joined(result, a) == result, "the join is absorbing")
    return result
  }

  private static func joined(_ a: SettingsRecord, _ b: SettingsRecord) -> SettingsRecord {
    var result = a
    for (key, value) in b.values {
      let wins =
        switch (a.stamps[key], b.stamps[key]) {
        case (let ours?, let theirs?) where ours != theirs: theirs > ours
        case (nil, _?): true
        case (_?, nil): false
        default: a.values[key].map { TextOrder.isGreater(value, than: $0) } ?? true
        }
      if wins {
        result.values[key] = value
        result.stamps[key] = b.stamps[key]
      }
    }
    return result
  }
}

extension Device: Joinable {
  /// Joins two versions of a device's record, which only that device writes.
  ///
  /// 1. A version with a stamp of the device itself wins over one without: another author wrote that one.
  /// 2. Between two stamps of the device itself, the later one wins.
  /// 3. Otherwise the greater text wins.
  public static func join(_ a: Device, _ b: Device) -> Device {
    let result = joined(a, b)
    assert(result.text == joined(b, a).text, "the join is commutative")
    assert(result.text == joined(result, a).text, "the join is absorbing")
    return result
  }

  private static func joined(_ a: Device, _ b: Device) -> Device {
    func own(_ device: Device) -> Stamp? {
      device.stamp.flatMap { $0.device == device.id ? $0 : nil }
    }
    switch (own(a), own(b)) {
    case (let one?, let two?) where one != two: return one > two ? a : b
    case (_?, nil): return a
    case (nil, _?): return b
    default: return TextOrder.isGreater(b.text, than: a.text) ? b : a
    }
  }

  /// The tiebreaker between two versions of a record.
  private var text: [String] {
    // Earlier versions have the collection as an unknown key.
    let unknown = phone.map { extras.merging(["phone": "\"\($0)\""]) { $1 } } ?? extras
    return [
      name, created.rfc3339Milliseconds, stamp?.description ?? "", kind?.rawValue ?? "",
      owner ?? "", "\(calls)", zone ?? "", copyOf?.text ?? "",
    ]
      + replaced.sorted { $0.key < $1.key }.flatMap { [$0.key.text, $0.value.rfc3339Milliseconds] }
      + unknown.sorted { $0.key < $1.key }.flatMap { [$0.key, $0.value] }
  }
}

extension LogEntry: Joinable {
  /// Joins two versions of a log entry. The log is a union of immutable entries. If someone rewrote an entry
  /// nevertheless, the greater text wins.
  public static func join(_ a: LogEntry, _ b: LogEntry) -> LogEntry {
    let result = TextOrder.isGreater(b.text, than: a.text) ? b : a
    assert(!TextOrder.isGreater(a.text, than: result.text), "the greater text wins over ours")
    assert(!TextOrder.isGreater(b.text, than: result.text), "the greater text wins over theirs")
    return result
  }

  private var text: [String] {
    let parts: [String?] = [
      id.text, alarm.text, title, occurrence?.description, action.rawValue, at.rfc3339Milliseconds,
      device.text, "\(auto)", payload?.canonicalText, effective?.rfc3339Milliseconds, undoes?.text,
      padded(revision, 9), state?.rawValue, via,
    ]
    return parts.map { $0 ?? "" }
      + extras.sorted { $0.key < $1.key }.flatMap { [$0.key, $0.value] }
  }
}
