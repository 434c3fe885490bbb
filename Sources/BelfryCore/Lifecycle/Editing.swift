/// Edits of the definition and their effect on the progress.
extension Alarm: Stamped {
  /// Returns a new, enabled alarm that is armed from `now`: nothing fires retroactively.
  public static func created(
    id: Identifier, title: String, note: String?, tags: Set<AlarmTag> = [], schedule: Schedule,
    zone: Zone, delivery: Delivery, at now: Instant, device: Identifier
  ) -> Alarm {
    let stamp = Stamp(time: now, device: device)
    let fields = Field.allCases.filter { !$0.isOptional } + (tags.isEmpty ? [] : [.tags])
    return Alarm(
      id: id, title: title, note: note, tags: tags, schedule: schedule, zone: zone,
      delivery: delivery, progress: Progress(armed: now),
      mergeState: MergeState(
        stamps: Dictionary(uniqueKeysWithValues: fields.map { ($0, stamp) }),
        tagStamps: Dictionary(uniqueKeysWithValues: tags.map { ($0, stamp) })))
  }

  /// Returns the fields with different values, in ascending order.
  public func changedFields(from other: Alarm) -> [Field] {
    Field.allCases.filter { !hasSame($0, as: other) }.sorted()
  }

  /// Returns the fields that were edited by hand since an earlier version.
  ///
  /// A field was edited by hand if its value differs under the same stamp, or if it has no stamp. A field with a
  /// different stamp was edited and stamped elsewhere.
  ///
  /// - Parameter earlier: the earlier version; nil if there is none.
  public func fieldsEditedByHand(since earlier: Alarm?) -> [Field] {
    Field.allCases.filter { field in
      if field == .cascade, let cascade {
        return !cascade.partsEdited(since: earlier?.cascade).isEmpty
      }
      if field == .tags { return !tagsEditedByHand(since: earlier).isEmpty }
      guard let stamp = mergeState.stamps[field] else {
        return !field.isOptional || text(of: field) != earlier?.text(of: field) ?? ""
      }
      guard let earlier, earlier.mergeState.stamps[field] == stamp else { return false }
      return !hasSame(field, as: earlier)
    }
  }

  /// Returns true if a part was edited by hand since an earlier version. See `Stamped`.
  public func isEditedByHand(since earlier: Alarm?) -> Bool {
    !fieldsEditedByHand(since: earlier).isEmpty || !movesEditedByHand(since: earlier).isEmpty
  }

  /// Returns true if another version has all stamps of this one. See `Stamped`.
  public func hasStamps(of other: Alarm) -> Bool {
    let (mine, theirs) = (mergeState, other.mergeState)
    return mine.stamps.allSatisfy { theirs.stamps[$0] == $1 }
      && mine.tagStamps.allSatisfy { theirs.tagStamps[$0] == $1 }
      && (cascade?.registers ?? [:]).allSatisfy { part, register in
        register.stamp == nil || other.cascade?.registers[part]?.stamp == register.stamp
      }
      && progress.moves.allSatisfy { other.progress.moves[$0]?.stamp == $1.stamp }
  }

  /// Returns the alarm with stamps on its hand-edited fields and with adjusted progress.
  ///
  /// After an edit of the schedule, of the zone or of the enabled state, only occurrences after `now` fire.
  ///
  /// - Parameters:
  ///   - earlier: the earlier version; nil if there is none, as for a record that was written by hand.
  ///   - latest: a stamp that the new ones must exceed.
  public func stamped(
    against earlier: Alarm?, at now: Instant, device: Identifier, after latest: Stamp? = nil
  ) -> Alarm {
    var alarm = self
    let edited = fieldsEditedByHand(since: earlier)
    let moved = movesEditedByHand(since: earlier)
    guard !edited.isEmpty || !moved.isEmpty else { return alarm }
    let stamp = Stamp.next(
      after: [latestStamp, earlier?.latestStamp, latest].compactMap { $0 }.max(), now: now,
      device: device)
    alarm.adopt(stamp, for: edited, earlier: earlier?.mergeState.stamps ?? mergeState.stamps)
    for tag in tagsEditedByHand(since: earlier) { alarm.mergeState.tagStamps[tag] = stamp }
    for civil in moved {
      alarm.progress.moves[civil]?.stamp = stamp
      alarm.progress.moves[civil]?.isImported = false
    }
    if edited.contains(.cascade) {
      // A due occurrence follows the cascade as it was before the edit.
      alarm.cascade = (alarm.cascade ?? Cascade()).stamped(
        against: earlier?.cascade, at: now, by: { _ in stamp })
    }
    guard let earlier else { return alarm }
    let changed = Set(edited).intersection(changedFields(from: earlier))
    if !changed.isDisjoint(with: [.schedule, .zone, .enabled]) {
      if let corrected = alarm.progress.corrected(at: now, on: device) {
        alarm.progress = corrected
      }
      alarm.progress.armed = max(now, alarm.progress.armed)
    }
    if changed.contains(.enabled) { alarm.progress.cleared = now }
    return alarm
  }

  /// Returns the version with reproducible stamps on what was edited by hand since an ancestor. See `Joinable`.
  public func stamped(asDescendantOf base: Alarm) -> Alarm {
    var result = self
    for field in Field.allCases where !hasSame(field, as: base) {
      let (stamp, earlier) = (mergeState.stamps[field], base.mergeState.stamps[field])
      guard stamp == nil || stamp == earlier else { continue }
      result.adopt(
        Stamp.first(after: earlier, of: id), for: [field], earlier: result.mergeState.stamps)
    }
    for tag in tagsEditedByHand(since: base) {
      result.mergeState.tagStamps[tag] = Stamp.first(after: base.mergeState.tagStamps[tag], of: id)
    }
    for civil in movesEditedByHand(since: base) {
      result.progress.moves[civil]?.stamp = Stamp.first(
        after: base.progress.moves[civil]?.stamp, of: id)
      result.progress.moves[civil]?.isImported = false
    }
    if cascade != nil || base.cascade != nil {
      result.cascade = (cascade ?? Cascade()).stamped(
        against: base.cascade, at: nil, by: { Stamp.first(after: $0, of: id) })
    }
    return result
  }

  /// Returns the alarm with some fields of another version, as an edit at `now`.
  ///
  /// Each of the fields gets a new stamp, even if its value is the same, so that a deletion that had seen it is
  /// overridden.
  public func taking(
    _ fields: [Field], from other: Alarm, at now: Instant, device: Identifier
  ) -> Alarm {
    var edited = self
    for field in fields { edited.take(field, from: other) }
    var result = edited.stamped(against: self, at: now, device: device)
    let stamp = Stamp.next(after: latestStamp, now: now, device: device)
    result.adopt(stamp, for: fields, earlier: result.mergeState.stamps)
    return result
  }

  /// Returns the alarm with some parts of another version's cascade, as an edit at `now`.
  public func taking(
    _ parts: [Cascade.Part], from other: Alarm, at now: Instant, device: Identifier
  ) -> Alarm {
    var edited = self
    edited.cascade = (cascade ?? Cascade()).taking(parts, from: other.cascade)
    return edited.stamped(against: self, at: now, device: device)
  }

  /// Returns the alarm, deleted. The deletion overrides every edit that is known here.
  public func deleted() -> Alarm {
    var alarm = self
    alarm.mergeState.delete()
    return alarm
  }

  /// Returns the version with the edits that the user made in a conflicted file. See `Joinable`.
  public func takingEdits(
    from file: Alarm, since sides: [Alarm], at now: Instant, device: Identifier
  ) -> Alarm {
    // The value is compared with the side that has the same stamp.
    let fields = Field.allCases.filter { field in
      if field == .cascade || field == .tags { return false }
      return !sides.contains {
        $0.mergeState.stamps[field] == file.mergeState.stamps[field]
          && $0.text(of: field) == file.text(of: field)
      }
    }
    let parts = Set((sides + [file]).flatMap { $0.cascade.map { Array($0.registers.keys) } ?? [] })
      .filter { part in
        let found = file.cascade?.registers[part]
        return !sides.map { $0.cascade?.registers[part] }.contains {
          (found == nil || $0?.stamp == found?.stamp) && $0?.value == found?.value
        }
      }
    let tags = (sides + [file]).reduce(into: Set<AlarmTag>()) { tags, version in
      tags.formUnion(version.tags)
      tags.formUnion(version.mergeState.tagStamps.keys)
    }.filter { tag in
      let stamp = file.mergeState.tagStamps[tag]
      return !sides.contains {
        (stamp == nil || $0.mergeState.tagStamps[tag] == stamp)
          && $0.tags.contains(tag) == file.tags.contains(tag)
      }
    }
    var result = self
    if !fields.isEmpty { result = result.taking(fields, from: file, at: now, device: device) }
    if !parts.isEmpty { result = result.taking(Array(parts), from: file, at: now, device: device) }
    if !tags.isEmpty { result = result.taking(tags.sorted(), from: file, at: now, device: device) }
    return result
  }
}

extension SettingsRecord: Stamped {
  /// The author of edits by hand without a stamp. All devices must use the same.
  private static let unknownAuthor = Identifier(high: 0, low: 0)

  /// Returns the version with reproducible stamps on what was edited by hand since an ancestor. See `Joinable`.
  public func stamped(asDescendantOf base: SettingsRecord) -> SettingsRecord {
    var result = self
    for (key, value) in values where value != base.values[key] {
      guard stamps[key] == nil || stamps[key] == base.stamps[key] else { continue }
      result.stamps[key] = Stamp.first(after: base.stamps[key], of: SettingsRecord.unknownAuthor)
    }
    return result
  }

  /// The latest stamp; nil if there is none.
  public var latestStamp: Stamp? { stamps.values.max() }

  /// Returns the keys that were edited by hand since an earlier version, by the same rule as an alarm's fields.
  private func keysEditedByHand(since earlier: SettingsRecord?) -> [String] {
    values.filter { key, value in
      guard let stamp = stamps[key] else { return true }
      return stamp == earlier?.stamps[key] && value != earlier?.values[key]
    }.map(\.key)
  }

  /// Returns true if a part was edited by hand since an earlier version. See `Stamped`.
  public func isEditedByHand(since earlier: SettingsRecord?) -> Bool {
    !keysEditedByHand(since: earlier).isEmpty
  }

  /// Returns true if another version has all stamps of this one. See `Stamped`.
  public func hasStamps(of other: SettingsRecord) -> Bool {
    stamps.allSatisfy { other.stamps[$0] == $1 }
  }

  /// Returns the value with stamps on the parts that were edited by hand since an earlier version. See `Stamped`.
  public func stamped(
    against earlier: SettingsRecord?, at now: Instant, device: Identifier, after latest: Stamp?
  ) -> SettingsRecord {
    var result = self
    let stamp = Stamp.next(
      after: [latestStamp, earlier?.latestStamp, latest].compactMap { $0 }.max(), now: now,
      device: device)
    for key in keysEditedByHand(since: earlier) { result.stamps[key] = stamp }
    return result
  }

  /// Returns the version with the edits that the user made in a conflicted file. See `Joinable`.
  public func takingEdits(
    from file: SettingsRecord, since sides: [SettingsRecord], at now: Instant, device: Identifier
  ) -> SettingsRecord {
    var result = self
    for (key, text) in file.values {
      // The value is compared with the side that has the same stamp.
      let isKnown = sides.contains {
        $0.stamps[key] == file.stamps[key] && $0.values[key] == text
      }
      if isKnown { continue }
      result.values[key] = text
      result.stamps[key] = .next(after: result.latestStamp, now: now, device: device)
    }
    return result
  }
}
