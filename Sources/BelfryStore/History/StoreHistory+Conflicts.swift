import BelfryCore
import Git

/// A merge decision with the commits that made its two values.
public struct SetAside: Sendable {
  /// A commit that introduced a value.
  public struct Origin: Sendable {
    /// The commit.
    public let commit: ObjectID
    /// The first line of its message.
    public let subject: String
    /// Its time.
    public let time: Instant
    /// The device that made it; nil if another git did.
    public let device: Identifier?

    init(_ commit: Commit) {
      self.commit = commit.id
      subject = commit.message.split(separator: "\n").first.map(String.init) ?? ""
      time = Instant(seconds: commit.time)
      device = CommitMessage.device(of: commit.message)
    }
  }
  /// The decision.
  public let decision: MergeDecision
  /// The merge commit; nil for a decision without one, as in a rebase.
  public let merge: Origin?
  /// The time of the decision.
  public let decided: Instant
  /// The origin of the kept value; nil if it is unknown.
  public let kept: Origin?
  /// The origin of the discarded value; nil if it is unknown.
  public let discarded: Origin?
  /// True if the discarded value has been restored.
  public let isRestored: Bool
  /// The record with the discarded value; nil if it cannot be read anymore.
  let record: (any Joinable)?
  /// The record before both edits; nil if it cannot be read anymore.
  let base: (any Joinable)?
}

extension SetAside {
  /// Returns true if a note is about the same decision.
  fileprivate func matches(_ note: DecisionNotes.Note) -> Bool {
    decision.alarm == note.decision.alarm && decision.subject == note.decision.subject
      && decision.kept == note.decision.kept && decision.discarded == note.decision.discarded
      && decision.keptStamp == note.decision.keptStamp
  }
}

extension StoreHistory {
  /// Returns the conflicting edits that merges in the branch's history resolved, latest first.
  ///
  /// They are found by merging the parents of each merge commit again: of Belfry's merges those whose message lists
  /// decisions, and all of git's. Decisions of a rebase, a cherry-pick or a stash come from this device's notes.
  ///
  /// - Parameter limit: The maximum number of results.
  public func conflicts(limit: Int) async throws -> [SetAside] {
    let outcome = try await GitCommand.run(
      ["rev-list", "--merges", "--max-parents=2", "HEAD"], in: path)
    guard outcome.status == 0 else {
      throw GitError(.generic, "list the merges", GitCommand.reason(outcome))
    }
    let repository = try repository()
    var result: [SetAside] = []
    for line in outcome.output.split(separator: "\n") {
      guard result.count < limit, let id = ObjectID(hexadecimal: line) else { break }
      let merge = try repository.commit(id)
      if CommitMessage.trailers(of: merge.message)[CommitMessage.decisions] == "0" { continue }
      // An unreadable merge is skipped.
      result += ((try? decisions(of: merge, repository)) ?? []).prefix(limit - result.count)
    }
    for note in DecisionNotes(local).all() where !result.contains(where: { $0.matches(note) }) {
      let path = note.decision.path
      result.append(
        SetAside(
          decision: note.decision, merge: nil, decided: note.at, kept: nil, discarded: nil,
          isRestored: try isRestored(note.decision), record: value(note.discarded, path),
          base: note.base.flatMap { value($0, path) }))
    }
    return Array(result.sorted { $0.decided > $1.decided }.prefix(limit))
  }

  private func decisions(of merge: Commit, _ repository: Repository) throws -> [SetAside] {
    guard merge.parents.count == 2 else { return [] }
    let sides = merge.parents
    let join = try TreeJoin(repository, commit: sides[0], with: sides[1])
    func record(_ path: String, in commit: ObjectID) throws -> (any Joinable)? {
      try repository.blob(at: path, in: repository.commit(commit).tree)
        .flatMap { content($0, path, repository) }
    }
    return try join.decisions.map { decision in
      let (winner, loser) =
        decision.isFirstKept ? (sides[0], sides[1]) : (sides[1], sides[0])
      return SetAside(
        decision: decision, merge: SetAside.Origin(merge), decided: Instant(seconds: merge.time),
        kept: try origin(of: decision, in: winner, repository),
        discarded: try origin(of: decision, in: loser, repository),
        isRestored: try isRestored(decision), record: try record(decision.path, in: loser),
        base: try join.ancestor.flatMap { try record(decision.path, in: $0) })
    }
  }

  /// The maximum number of commits in which the origin of a value is searched.
  private static let maxOriginDepth = 500

  private func origin(
    of decision: MergeDecision, in commit: ObjectID, _ repository: Repository
  ) throws -> SetAside.Origin? {
    var known: [ObjectID: String] = [:]
    func value(_ entry: TreeData.Entry?) -> String? {
      guard let entry else { return nil }
      if let value = known[entry.id] { return value }
      let value =
        StoreHistory.value(of: decision, in: content(entry.id, decision.path, repository)) ?? ""
      known[entry.id] = value
      return value
    }
    return try repository.origin(
      of: decision.path, in: commit, limit: StoreHistory.maxOriginDepth, comparing: value
    ).map { SetAside.Origin($0) }
  }

  private func content(
    _ blob: ObjectID, _ path: String, _ repository: Repository
  ) -> (any Joinable)? {
    // An unreadable record has no value.
    guard let kind = RecordPath(path) else { return nil }
    return (try? repository.blob(blob, limit: kind.largest)).flatMap { value($0, path) }
  }

  private func value(_ bytes: [UInt8], _ path: String) -> (any Joinable)? {
    RecordPath(path).flatMap { try? $0.value(in: bytes) }
  }

  /// Returns a record's value of a decision's subject, as text that is equal if and only if the values are.
  private static func value(of decision: MergeDecision, in record: (any Joinable)?) -> String? {
    switch (record, decision.subject) {
    case (let alarm as Alarm, .field(let field)):
      "\(alarm.text(of: field)) \(alarm.mergeState.stamps[field]?.description ?? "")"
    case (let alarm as Alarm, .cascade(let part)):
      alarm.cascade?.registers[part].map { "\($0.value.text) \($0.stamp?.description ?? "")" }
    case (let alarm as Alarm, .tag(let tag)):
      "\(alarm.tags.contains(tag)) \(alarm.mergeState.tagStamps[tag]?.description ?? "")"
    case (let alarm as Alarm, .deletion):
      "\(alarm.isDeleted) \(alarm.latestStamp?.description ?? "")"
    case (let alarm as Alarm, .occurrence(let civil)):
      alarm.progress.occurrences[civil].map { "\($0.answer) \($0.revision)" }
    case (let alarm as Alarm, .move(let civil)):
      alarm.progress.moves[civil].map { "\($0.text) \($0.stamp?.description ?? "")" }
    case (let record as SettingsRecord, .setting(let key)):
      record.values[key].map { "\($0) \(record.stamps[key]?.description ?? "")" }
    default: nil
    }
  }

  private func isRestored(_ decision: MergeDecision) throws -> Bool {
    guard let id = decision.alarm else {
      guard case .setting(let key) = decision.subject else { return false }
      // Unreadable settings are reported elsewhere.
      return (try? store.settingsRecord())?.values[key] == decision.discarded
    }
    guard let alarm = try store.alarm(id) else { return false }
    return switch decision.subject {
    case .field(let field): alarm.text(of: field) == decision.discarded
    case .cascade(let part): alarm.cascade?.value(of: part).text == decision.discarded
    case .tag(let tag):
      MergeDecision.tagText(alarm.tags.contains(tag)).plain == decision.discarded
    case .deletion: alarm.isDeleted == (decision.rule == .unseenEdit)
    case .occurrence(let civil):
      alarm.progress.occurrences[civil]?.answer.rawValue == decision.discarded
    case .move(let civil): alarm.progress.moves[civil]?.text == decision.discarded
    case .setting: false
    }
  }

  // MARK: Restoring the discarded value

  /// Restores the value that a merge discarded, as a new edit.
  ///
  /// - Throws: `StoreError.notRestorable` if the discarded version cannot be read anymore.
  public func restore(_ item: SetAside) throws {
    switch item.record {
    case let settings as SettingsRecord: try restore(settings, item.decision)
    case let other as Alarm:
      try store.update(other.id, includingDeleted: true) { alarm in
        (store.change(restored(other, in: alarm, item)), ())
      }
    default: throw StoreError.notRestorable(subject: item.decision.line)
    }
  }

  private func restored(
    _ other: Alarm, in alarm: Alarm, _ item: SetAside
  ) -> Transition {
    switch item.decision.subject {
    case .field(let field):
      return Transition(
        alarm: alarm.taking([field], from: other, at: context.now, device: device),
        events: [Event(.edited, payload: .fields([field]))])
    case .cascade(let part):
      return Transition(
        alarm: alarm.taking([part], from: other, at: context.now, device: device),
        events: [Event(.edited, payload: .restoredPart(part))])
    case .tag(let tag):
      return Transition(
        alarm: alarm.taking([tag], from: other, at: context.now, device: device),
        events: [Event(.edited, payload: .fields([.tags]))])
    case .deletion where other.isDeleted:
      return Transition(alarm: alarm.deleted(), events: [Event(.deleted)])
    case .deletion:
      var fields = Alarm.Field.allCases
      if let base = item.base as? Alarm { fields = other.changedFields(from: base) }
      return Transition(
        alarm: alarm.taking(fields, from: other, at: context.now, device: device),
        events: [Event(.edited, payload: .fields(fields))])
    case .occurrence(let civil):
      var restored = alarm
      var given = other.progress.occurrences[civil]?.given ?? .init(.open)
      given.since = context.now
      var record = alarm.progress.occurrences[civil] ?? OccurrenceRecord(.open)
      record.replace(by: given, at: context.now, on: device)
      record.revision += 1
      record.automatic = [:]
      restored.progress.occurrences[civil] = record
      let action: LogEntry.Action = record.answer == .skipped ? .skipped : .done
      return Transition(
        alarm: restored, events: [Event(action, civil, revision: record.revision)])
    case .move(let civil):
      var restored = alarm
      let time = other.progress.moves[civil]?.time
      let stamp = Stamp.next(after: alarm.latestStamp, now: context.now, device: device)
      restored.progress.moves[civil] = OccurrenceMove(to: time, stamp: stamp)
      let payload = LogPayload.move(
        from: alarm.progress.moves[civil]?.time ?? civil, to: time ?? civil)
      let revision = alarm.progress.occurrences[civil]?.revision ?? 0
      return Transition(
        alarm: restored, events: [Event(.moved, civil, payload: payload, revision: revision)])
    case .setting: return Transition(alarm: alarm, events: [])
    }
  }

  private func restore(_ other: SettingsRecord, _ decision: MergeDecision) throws {
    guard case .setting(let key) = decision.subject, let setting = Setting(rawValue: key),
      let value = try SettingsFile.value(of: setting, in: other)
    else { throw StoreError.notRestorable(subject: decision.line) }
    try store.set(setting, to: value)
  }
}
