/// ```
///        ours          theirs
///           \            /
///            join(a, b)        the same whichever way, in whatever order, however often
/// ```
extension Alarm {
  /// Joins two versions of one alarm. Needs no common ancestor; commutative, associative, idempotent.
  ///
  /// 1. **Definition fields**, one by one: the later stamp's value stands. Without a stamp a value is
  ///    older than any with one; between equal stamps the greater text stands. Of `cascade` that goes for each
  ///    part: see `Cascade.join`.
  /// 2. **Progress**: see `Progress.join`.
  /// 3. **Disabled** stands over the other side's pending: `Timeline` counts none while an alarm is
  ///    disabled, and none older than `progress.cleared` afterwards.
  /// 4. **Deletion**: the later of the stamps that either had seen. The alarm is deleted as long as
  ///    no field is stamped later (`isDeleted`): an edit that the deletion had not seen brings it back.
  /// 5. **Unknown keys**: all are kept; between two values the greater text stands.
  public static func join(_ a: Alarm, _ b: Alarm) -> Alarm {
    var result = a
    for field in Field.allCases where field != .cascade && wins(field, b, over: a) {
      result.take(field, from: b)
      result.stamps[field] = b.stamps[field]
    }
    result.cascade = [a.cascade, b.cascade].compactMap { $0 }.reduce(nil) { joined, cascade in
      joined.map { Cascade.join($0, cascade) } ?? cascade
    }
    result.stamps[.cascade] = [a.stamps[.cascade], b.stamps[.cascade]].compactMap { $0 }.max()
    result.progress = Progress.join(a.progress, b.progress)
    if let deletion = b.deletion {
      result.deletion = (a.deletion ?? [:]).merging(deletion, uniquingKeysWith: max)
    }
    result.extras = a.extras.merging(b.extras, uniquingKeysWith: max)
    return result
  }

  /// Whether `b`'s value of a field stands over `a`'s.
  private static func wins(_ field: Field, _ b: Alarm, over a: Alarm) -> Bool {
    switch (a.stamps[field], b.stamps[field]) {
    case (let ours?, let theirs?) where ours != theirs: theirs > ours
    case (nil, _?): true
    case (_?, nil): false
    default: b.text(of: field) > a.text(of: field)
    }
  }
}

extension Progress {
  /// Joins two accounts of how far an alarm has come.
  ///
  /// 1. The higher `generation` stands whole: it was put right after a device with a wrong clock.
  /// 2. `armed`, `cleared`, `floor` and `rehearsal` are maxima.
  /// 3. Occurrences above the floor join one by one: see `OccurrenceRecord.join`. Those at or below it
  ///    are settled and dropped.
  public static func join(_ a: Progress, _ b: Progress) -> Progress {
    if a.generation != b.generation { return a.generation > b.generation ? a : b }
    let floor = [a.floor, b.floor].compactMap { $0 }.max()
    return Progress(
      armed: max(a.armed, b.armed), cleared: [a.cleared, b.cleared].compactMap { $0 }.max(),
      floor: floor,
      occurrences: a.occurrences.merging(b.occurrences, uniquingKeysWith: OccurrenceRecord.join)
        .filter { civil, _ in floor.map { civil > $0 } ?? true },
      generation: a.generation,
      rehearsal: [a.rehearsal, b.rehearsal].compactMap { $0 }.max())
  }
}

extension OccurrenceRecord {
  /// Joins what two devices know of one occurrence.
  ///
  /// 1. The higher `revision` stands whole.
  /// 2. Then the higher rank: `open < missed < snoozed < pending < skipped < done`.
  /// 3. In one rank: the earliest `since` and whose it is, the latest `until` and `revived`, the later schedule of a
  ///    skip, every nap, somebody's word over `auto`, and dismissed over not.
  /// 4. In one revision: the highest counts, and exhausted over not, whatever the rank.
  public static func join(_ a: OccurrenceRecord, _ b: OccurrenceRecord) -> OccurrenceRecord {
    if a.revision != b.revision { return a.revision > b.revision ? a : b }
    var result = a.state >= b.state ? a : b
    if a.state == b.state {
      result.since = [a.since, b.since].compactMap { $0 }.min()
      result.by = [a, b].filter { $0.since == result.since }.compactMap(\.by).min()
      result.naps = Array(Set(a.naps + b.naps)).sorted(by: CascadeRun.precedes)
      result.until = [a.until, b.until].compactMap { $0 }.max()
      result.schedule = [a.schedule, b.schedule].compactMap { $0 }.max()
      result.auto = a.auto && b.auto
      result.dismissed = a.dismissed || b.dismissed
      result.revived = [a.revived, b.revived].compactMap { $0 }.max()
    }
    result.snoozes = max(a.snoozes, b.snoozes)
    result.followUps = max(a.followUps, b.followUps)
    result.exhausted = a.exhausted || b.exhausted
    return result
  }
}

extension SettingsRecord {
  /// Joins two versions of the settings, key by key.
  ///
  /// 1. The later stamp's value stands.
  /// 2. A value without a stamp is older than any with one.
  /// 3. Between equal stamps, and between two without, the greater text stands.
  public static func join(_ a: SettingsRecord, _ b: SettingsRecord) -> SettingsRecord {
    var result = a
    for (key, value) in b.values {
      let wins =
        switch (a.stamps[key], b.stamps[key]) {
        case (let ours?, let theirs?) where ours != theirs: theirs > ours
        case (nil, _?): true
        case (_?, nil): false
        default: a.values[key].map { value > $0 } ?? true
        }
      if wins {
        result.values[key] = value
        result.stamps[key] = b.stamps[key]
      }
    }
    return result
  }
}

extension Device {
  /// Joins two versions of a device's record, which that device alone writes.
  ///
  /// 1. What the device itself has stamped stands over what it has not: somebody else wrote that.
  /// 2. Of its own the later stands.
  /// 3. Else the greater text.
  public static func join(_ a: Device, _ b: Device) -> Device {
    func own(_ device: Device) -> Stamp? {
      device.stamp.flatMap { $0.device == device.id ? $0 : nil }
    }
    switch (own(a), own(b)) {
    case (let one?, let two?) where one != two: return one > two ? a : b
    case (_?, nil): return a
    case (nil, _?): return b
    default: return a.text.lexicographicallyPrecedes(b.text) ? b : a
    }
  }

  /// What two versions are compared by where nothing else tells.
  private var text: [String] {
    [
      name, created.rfc3339Milliseconds, stamp?.description ?? "", kind?.rawValue ?? "",
      owner ?? "", "\(calls)", zone ?? "", copyOf?.text ?? "",
    ]
      + replaced.sorted { $0.key < $1.key }.flatMap { [$0.key.text, $0.value.rfc3339Milliseconds] }
      + extras.sorted { $0.key < $1.key }.flatMap { [$0.key, $0.value] }
  }
}

extension LogEntry {
  /// Joins two versions of an entry. The log is a union, and nobody rewrites an entry: where somebody has all
  /// the same, the greater text stands.
  public static func join(_ a: LogEntry, _ b: LogEntry) -> LogEntry {
    a.text.lexicographicallyPrecedes(b.text) ? b : a
  }

  private var text: [String] {
    let parts: [String?] = [
      id.text, alarm.text, title, occurrence?.description, action.rawValue, at.rfc3339Milliseconds,
      device.text, "\(auto)", detail, effective?.rfc3339Milliseconds, undoes?.text,
      padded(revision, 9), state?.rawValue,
    ]
    return parts.map { $0 ?? "" }
      + extras.sorted { $0.key < $1.key }.flatMap { [$0.key, $0.value] }
  }
}
