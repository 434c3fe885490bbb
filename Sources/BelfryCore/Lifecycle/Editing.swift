/// The edits of a definition, each with what it does to the progress.
extension Alarm {
  /// A new alarm, enabled, armed from now: nothing that was due before fires.
  public static func created(
    id: Identifier, title: String, note: String?, schedule: Schedule, zone: Zone,
    delivery: Delivery, at now: Instant, device: Identifier
  ) -> Alarm {
    let stamp = Stamp(time: now, device: device)
    return Alarm(
      id: id, title: title, note: note, schedule: schedule, zone: zone, delivery: delivery,
      progress: Progress(armed: now),
      stamps: Dictionary(
        uniqueKeysWithValues: Field.allCases.filter { !$0.isOptional }.map { ($0, stamp) }))
  }

  /// The fields whose values differ.
  public func changedFields(from other: Alarm) -> [Field] {
    Field.allCases.filter { text(of: $0) != other.text(of: $0) }.sorted()
  }

  /// The fields that somebody has edited by hand since an earlier version: the value differs under the same
  /// stamp, or has no stamp at all. One with another stamp was edited, and stamped, elsewhere.
  ///
  /// - Parameter earlier: nil when there is none.
  public func fieldsEditedByHand(since earlier: Alarm?) -> [Field] {
    Field.allCases.filter { field in
      if field == .cascade, let cascade {
        return !cascade.partsEdited(since: earlier?.cascade).isEmpty
      }
      guard let stamp = stamps[field] else {
        return !field.isOptional || text(of: field) != earlier?.text(of: field) ?? ""
      }
      guard let earlier, earlier.stamps[field] == stamp else { return false }
      return text(of: field) != earlier.text(of: field)
    }
  }

  /// Stamps what was edited by hand since an earlier version and lets the progress follow: an edit of the
  /// schedule or the zone, enabling and disabling start at now.
  ///
  /// - Parameter earlier: nil when there is none, as for a record written by hand.
  public func stamped(against earlier: Alarm?, at now: Instant, device: Identifier) -> Alarm {
    var alarm = self
    let edited = fieldsEditedByHand(since: earlier)
    guard !edited.isEmpty else { return alarm }
    let stamp = Stamp.next(
      after: [latestStamp, earlier?.latestStamp].compactMap { $0 }.max(), now: now, device: device)
    for field in edited { alarm.stamps[field] = stamp }
    if edited.contains(.cascade) {
      // What is due already goes by the list as it stood.
      alarm.cascade = (alarm.cascade ?? Cascade()).stamped(
        against: earlier?.cascade, at: now, by: { _ in stamp })
    }
    guard let earlier else { return alarm }
    let changed = Set(edited).intersection(changedFields(from: earlier))
    if !changed.isDisjoint(with: [.schedule, .zone, .enabled]) {
      if let corrected = alarm.progress.corrected(at: now) { alarm.progress = corrected }
      alarm.progress.armed = max(now, alarm.progress.armed)
    }
    if changed.contains(.enabled) { alarm.progress.cleared = now }
    return alarm
  }

  /// The alarm with a stamp on what was edited by hand since a version that it descends from: the first after that
  /// of before. Every device gives the same, so that an edit which nobody has stamped stands over what it changed,
  /// and gives way to every later one.
  public func stamped(asDescendantOf base: Alarm) -> Alarm {
    var result = self
    for field in Field.allCases where text(of: field) != base.text(of: field) {
      guard stamps[field] == nil || stamps[field] == base.stamps[field] else { continue }
      result.stamps[field] = Stamp.first(after: base.stamps[field], of: id)
    }
    if cascade != nil || base.cascade != nil {
      result.cascade = (cascade ?? Cascade()).stamped(
        against: base.cascade, at: nil, by: { Stamp.first(after: $0, of: id) })
    }
    return result
  }

  /// The alarm with some fields as another version has them, as an edit of now: also where the values are the
  /// same, so that a deletion that had seen them is overruled.
  public func taking(
    _ fields: [Field], from other: Alarm, at now: Instant, device: Identifier
  ) -> Alarm {
    var edited = self
    for field in fields { edited.take(field, from: other) }
    var result = edited.stamped(against: self, at: now, device: device)
    let stamp = Stamp.next(after: latestStamp, now: now, device: device)
    for field in fields { result.stamps[field] = stamp }
    return result
  }

  /// The alarm with some parts of its cascade as another version has them, as an edit of now.
  public func taking(
    _ parts: [Cascade.Part], from other: Alarm, at now: Instant, device: Identifier
  ) -> Alarm {
    var edited = self
    edited.cascade = (cascade ?? Cascade()).taking(parts, from: other.cascade)
    return edited.stamped(against: self, at: now, device: device)
  }

  /// The alarm with its deletion: every edit known here is overruled by it.
  public func deleted() -> Alarm {
    var alarm = self
    alarm.deletion = stamps.merging(deletion ?? [:], uniquingKeysWith: max)
    return alarm
  }
}

extension SettingsRecord {
  /// The same for the settings' keys.
  ///
  /// - Parameter owner: stands for whoever edited what had no stamp before.
  public func stamped(asDescendantOf base: SettingsRecord, owner: Identifier) -> SettingsRecord {
    var result = self
    for (key, value) in values where value != base.values[key] {
      guard stamps[key] == nil || stamps[key] == base.stamps[key] else { continue }
      result.stamps[key] = Stamp.first(after: base.stamps[key], of: owner)
    }
    return result
  }

  /// The keys that somebody has edited by hand since an earlier version, by the same rule as an alarm's
  /// fields.
  public func keysEditedByHand(since earlier: SettingsRecord) -> [String] {
    values.filter { key, value in
      guard let stamp = stamps[key] else { return true }
      return stamp == earlier.stamps[key] && value != earlier.values[key]
    }.map(\.key)
  }
}
