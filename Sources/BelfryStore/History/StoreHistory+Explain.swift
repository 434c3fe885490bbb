import BelfryCore
import Git

/// The history of an alarm's values: the commits that introduced them, and the merge rules that selected them.
public struct Explanation: Sendable {
  /// A value, and the commit that introduced it.
  public struct Part: Sendable {
    /// The field, such as `title` or `schedule`, or the civil time of an occurrence.
    public let name: String
    /// The value as text, with the devices' identifiers.
    public let value: String
    /// The value for display.
    public let text: FieldText
    /// The time and the device of the edit; nil if the value has no stamp.
    public let stamp: Stamp?
    /// The commit that introduced the value; nil if the available history doesn't contain it.
    public let origin: SetAside.Origin?
    /// The merge decision that selected the value; nil if there was none.
    public let decision: MergeDecision?
  }
  /// The alarm.
  public let alarm: Alarm
  /// The fields of the definition; empty if the explanation is limited to an occurrence.
  public var fields: [Part]
  /// The states of each occurrence, oldest first.
  public var occurrences: [(civil: CivilDateTime, parts: [Part])]
}

extension StoreHistory {
  /// The maximum number of versions of a record that are read.
  private static let maxVersions = 500

  /// A commit that changed a record, with the alarm in it and in its parents.
  private struct Version {
    let commit: Commit
    let alarm: Alarm
    let parents: [Alarm?]
    /// The commit's decisions, if it is a merge.
    let decisions: [MergeDecision]

    /// Returns the commit's decision about a subject, if it kept the given value.
    func decision(_ subject: MergeDecision.Subject, keeping value: String) -> MergeDecision? {
      decisions.first { $0.subject == subject && $0.kept == value }
    }

    /// Returns the commit's decision about a tag, if the kept value is still current.
    func tagDecision(keptIn alarm: Alarm) -> MergeDecision? {
      decisions.first {
        if case .tag(let tag) = $0.subject {
          MergeDecision.tagText(alarm.tags.contains(tag)) == $0.keptText
        } else {
          false
        }
      }
    }

    /// Returns the commit's decision about a part of the cascade, if the kept value is still current.
    func cascadeDecision(keptIn alarm: Alarm) -> MergeDecision? {
      decisions.first {
        if case .cascade(let part) = $0.subject {
          alarm.cascade?.value(of: part).text == $0.kept
        } else {
          false
        }
      }
    }
  }

  /// Returns the commits, devices and merge rules that led to an alarm's current values.
  ///
  /// - Parameters:
  ///   - id: The alarm.
  ///   - occurrence: The occurrence to explain; nil for the definition and all recorded occurrences.
  /// - Throws: `StoreError.noSuchAlarm`, `GitError`.
  public func explain(_ id: Identifier, occurrence: CivilDateTime?) async throws -> Explanation {
    guard let alarm = try store.alarm(id) else { throw StoreError.noSuchAlarm(id.text) }
    let versions = try await versions(of: id)
    var explanation = Explanation(alarm: alarm, fields: [], occurrences: [])
    if occurrence == nil {
      explanation.fields = Alarm.Field.allCases.map { part($0, of: alarm, versions) }
      if alarm.isDeleted {
        let origin = versions.last { version in
          version.alarm.isDeleted && !version.parents.contains { $0?.isDeleted == true }
        }
        explanation.fields.append(
          Explanation.Part(
            name: "deleted", value: "deleted", text: "deleted", stamp: nil,
            origin: origin.map { SetAside.Origin($0.commit) }, decision: nil))
      }
    }
    let known = Set(alarm.progress.occurrences.keys).union(alarm.progress.moves.keys)
    let civils = occurrence.map { [$0] } ?? known.sorted()
    explanation.occurrences = civils.map { ($0, parts($0, versions)) }
    return explanation
  }

  /// Returns the versions of an alarm's record in the branch's history, newest first.
  private func versions(of id: Identifier) async throws -> [Version] {
    let path = AlarmRecord.path(id)
    let outcome = try await GitCommand.run(
      [
        "log", "--full-history", "--topo-order", "--format=%H",
        "--max-count=\(StoreHistory.maxVersions)",
        "HEAD", "--", path,
      ], in: self.path)
    guard outcome.status == 0 else {
      throw GitError(.generic, "read the history", GitCommand.reason(outcome))
    }
    let repository = try repository()
    func version(_ commit: Commit) throws -> Alarm? {
      guard let blob = try repository.blob(at: path, in: commit.tree),
        // An invalid version introduced no value.
        let bytes = try? repository.blob(blob, limit: AlarmRecord.largest)
      else { return nil }
      return try? AlarmRecord.decode(bytes, at: .alarm(id))
    }
    return try outcome.output.split(separator: "\n").compactMap { line -> Version? in
      guard let commit = try ObjectID(hexadecimal: line).map({ try repository.commit($0) }),
        let alarm = try version(commit)
      else { return nil }
      let parents = try commit.parents.map { try version(try repository.commit($0)) }
      var decisions: [MergeDecision] = []
      if parents.count == 2, let a = parents[0], let b = parents[1] {
        let base = try repository.mergeBase(commit.parents[0], commit.parents[1])
        decisions = AlarmRecord.decisions(
          a, b, joined: alarm, base: try base.flatMap { try version(try repository.commit($0)) })
      }
      return Version(commit: commit, alarm: alarm, parents: parents, decisions: decisions)
    }
  }

  private func part(
    _ field: Alarm.Field, of alarm: Alarm, _ versions: [Version]
  ) -> Explanation.Part {
    func isCurrent(_ version: Alarm?) -> Bool {
      version?.mergeState.stamps[field] == alarm.mergeState.stamps[field]
        && version?.text(of: field) == alarm.text(of: field)
    }
    let origin = versions.last { version in
      isCurrent(version.alarm) && !version.parents.contains(where: isCurrent)
    }
    return Explanation.Part(
      name: field.rawValue, value: alarm.text(of: field), text: alarm.fieldText(of: field),
      stamp: alarm.mergeState.stamps[field],
      origin: origin.map { SetAside.Origin($0.commit) },
      decision: versions.lazy.compactMap { version in
        if field == .cascade { return version.cascadeDecision(keptIn: alarm) }
        if field == .tags { return version.tagDecision(keptIn: alarm) }
        return version.decision(.field(field), keeping: alarm.text(of: field))
      }.first)
  }

  private func parts(_ civil: CivilDateTime, _ versions: [Version]) -> [Explanation.Part] {
    func state(_ alarm: Alarm?) -> String? {
      guard let alarm else { return nil }
      let record = alarm.progress.occurrences[civil].map {
        StoreHistory.text(of: $0, civil, in: store.timeline(alarm))
      }
      let move = alarm.progress.moves[civil]?.text
      return record == nil && move == nil
        ? nil : [record, move].compactMap { $0 }.joined(separator: ", ")
    }
    return versions.reversed().compactMap { version in
      guard let value = state(version.alarm) else { return nil }
      let decision =
        version.decision(
          .occurrence(civil),
          keeping: version.alarm.progress.occurrences[civil]?.answer.rawValue ?? "")
        ?? version.decision(
          .move(civil), keeping: version.alarm.progress.moves[civil]?.text ?? "")
      // A merge that keeps the state of one side introduces nothing, except by a decision.
      if version.parents.contains(where: { state($0) == value }), decision == nil { return nil }
      return Explanation.Part(
        name: civil.description, value: value, text: FieldText(value), stamp: nil,
        origin: SetAside.Origin(version.commit), decision: decision)
    }
  }

  /// Returns the recorded state of an occurrence as text, such as `pending`, `skipped (automatically)` or `open; skipped
  /// (automatically) does not count, because another device had edited pause`.
  private static func text(
    of record: OccurrenceRecord, _ civil: CivilDateTime, in timeline: Timeline
  ) -> String {
    let fields = timeline.alarm.stamps(for: civil)
    guard let (state, outcome) = record.outcome(under: fields) else {
      return record.answer.rawValue
    }
    let text = state.rawValue + (record.auto ? " (automatically)" : "")
    let edits = timeline.unseenEdits(state, outcome, of: civil)
    if edits.isEmpty { return text }
    return "\(record.answer.rawValue); \(text) does not count, because another device had edited "
      + edits.joined(separator: " and ")
  }
}
