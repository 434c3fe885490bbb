import BelfryCore
import Git

/// Why an alarm is what it is: the commits that made it so.
public struct Explanation: Sendable {
  /// A value, and the commit that brought it.
  public struct Part: Sendable {
    /// `title`, `schedule` … or a state of an occurrence.
    public let name: String
    public let value: String
    /// When it was edited, by which device, where that is stamped.
    public let stamp: Stamp?
    /// Nil where the history that can be looked at does not tell.
    public let origin: SetAside.Origin?
    /// What a merge decided about it; the rule, and what it stands over.
    public let decision: MergeDecision?
  }
  public let alarm: Alarm
  /// The definition, field by field; empty when an occurrence was asked for.
  public var fields: [Part]
  /// The states that occurrences went through, oldest first, by occurrence.
  public var occurrences: [(civil: CivilDateTime, parts: [Part])]
}

extension Store {
  /// How many versions of a record are looked at.
  private static let versions = 500

  /// A commit that changed a record, with what it and its parents have.
  private struct Version {
    let commit: Commit
    let alarm: Alarm
    let parents: [Alarm?]
    /// What it decided, if it is a merge.
    let decisions: [MergeDecision]

    /// What it decided about a subject, if that is the value that stands.
    func decision(_ subject: MergeDecision.Subject, keeping value: String) -> MergeDecision? {
      decisions.first { $0.subject == subject && $0.kept == value }
    }

    /// Returns its decision about a part of the cascade, if that value still stands.
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

  /// Finds out which commits, devices and rules made an alarm what it is now.
  ///
  /// - Parameter occurrence: only that of one occurrence; nil for the definition and all that the record tells of.
  public func explain(_ id: Identifier, occurrence: CivilDateTime?) async throws -> Explanation {
    guard let alarm = try alarm(id) else { throw StoreError.noSuchAlarm(id.text) }
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
            name: "deleted", value: "deleted", stamp: nil,
            origin: origin.map { SetAside.Origin($0.commit) }, decision: nil))
      }
    }
    let civils = occurrence.map { [$0] } ?? alarm.progress.occurrences.keys.sorted()
    explanation.occurrences = civils.map { ($0, parts($0, versions)) }
    return explanation
  }

  /// The versions of an alarm's record in the branch's history, newest first.
  private func versions(of id: Identifier) async throws -> [Version] {
    let path = AlarmRecord.path(id)
    let outcome = try await GitCommand.run(
      [
        "log", "--full-history", "--topo-order", "--format=%H", "--max-count=\(Store.versions)",
        "HEAD", "--", path,
      ], in: self.path)
    guard outcome.status == 0 else {
      throw GitError(.generic, "look at the history", GitCommand.reason(outcome))
    }
    let repository = try repository()
    func version(_ commit: Commit) throws -> Alarm? {
      guard let blob = try repository.blob(at: path, in: commit.tree),
        // What is not valid made nothing what it is.
        let bytes = try? repository.blob(blob, limit: AlarmRecord.largest)
      else { return nil }
      return try? AlarmRecord.decode(bytes, id: id, now: RecordPath.start)
    }
    return try outcome.output.split(separator: "\n").compactMap { line -> Version? in
      guard let commit = try ObjectID(hexadecimal: line).map({ try repository.commit($0) }),
        let alarm = try version(commit)
      else { return nil }
      let parents = try commit.parents.map { try version(try repository.commit($0)) }
      var decisions: [MergeDecision] = []
      if parents.count == 2, let a = parents[0], let b = parents[1] {
        let base = try repository.mergeBase(commit.parents[0], commit.parents[1])
        decisions = MergeDecision.all(
          a, b, joined: alarm, base: try base.flatMap { try version(try repository.commit($0)) })
      }
      return Version(commit: commit, alarm: alarm, parents: parents, decisions: decisions)
    }
  }

  private func part(
    _ field: Alarm.Field, of alarm: Alarm, _ versions: [Version]
  ) -> Explanation.Part {
    func isCurrent(_ version: Alarm?) -> Bool {
      version?.stamps[field] == alarm.stamps[field]
        && version?.text(of: field) == alarm.text(of: field)
    }
    let origin = versions.last { version in
      isCurrent(version.alarm) && !version.parents.contains(where: isCurrent)
    }
    return Explanation.Part(
      name: field.rawValue, value: alarm.text(of: field), stamp: alarm.stamps[field],
      origin: origin.map { SetAside.Origin($0.commit) },
      decision: versions.lazy.compactMap { version in
        if field == .cascade { return version.cascadeDecision(keptIn: alarm) }
        return version.decision(.field(field), keeping: alarm.text(of: field))
      }.first)
  }

  private func parts(_ civil: CivilDateTime, _ versions: [Version]) -> [Explanation.Part] {
    func state(_ alarm: Alarm?) -> String? {
      alarm?.progress.occurrences[civil].map {
        $0.state.rawValue + ($0.auto ? " (by itself)" : "")
      }
    }
    return versions.reversed().compactMap { version in
      guard let value = state(version.alarm) else { return nil }
      let decision = version.decision(
        .occurrence(civil),
        keeping: version.alarm.progress.occurrences[civil]?.state.rawValue ?? "")
      // A merge that took one side's value made nothing new, unless it decided.
      if version.parents.contains(where: { state($0) == value }), decision == nil { return nil }
      return Explanation.Part(
        name: civil.description, value: value, stamp: nil,
        origin: SetAside.Origin(version.commit), decision: decision)
    }
  }
}
