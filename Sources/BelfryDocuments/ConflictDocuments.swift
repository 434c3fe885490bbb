import BelfryCore
import BelfryStore

/// An edit that a merge set aside: an element of `conflicts`.
package struct ConflictDocument: JSONDocument {
  /// The number for `conflicts restore`; the latest is 1.
  let number: Int
  /// The decision, whose keys are those of the document.
  let decision: MergeDecisionDocument
  /// The merge commit; absent for a decision of a rebase.
  let merge: String?
  /// The time of the decision.
  let decidedAt: String
  /// True if the discarded value has been restored.
  let restored: Bool
  /// The commit that set the kept value.
  let keptCommit: String?
  /// The commit that set the discarded value.
  let discardedCommit: String?

  private enum CodingKeys: String, CodingKey {
    case number, merge, decidedAt, restored, keptCommit, discardedCommit
  }

  /// - Parameter number: the position in the list, starting at 1.
  package init(_ item: SetAside, number: Int, zones: ZoneLibrary) {
    self.number = number
    var decision = MergeDecisionDocument(item.decision, zones)
    decision.keptBy = decision.keptBy ?? item.kept?.device?.text
    decision.keptAt = decision.keptAt ?? item.kept.map { zones.text($0.time) }
    decision.discardedBy = decision.discardedBy ?? item.discarded?.device?.text
    decision.discardedAt = decision.discardedAt ?? item.discarded.map { zones.text($0.time) }
    self.decision = decision
    merge = item.merge?.commit.description
    decidedAt = zones.text(item.decided)
    restored = item.isRestored
    keptCommit = item.kept?.commit.description
    discardedCommit = item.discarded?.commit.description
  }

  package func encode(to encoder: any Encoder) throws {
    try decision.encode(to: encoder)
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(number, forKey: .number)
    try container.encodeIfPresent(merge, forKey: .merge)
    try container.encode(decidedAt, forKey: .decidedAt)
    try container.encode(restored, forKey: .restored)
    try container.encodeIfPresent(keptCommit, forKey: .keptCommit)
    try container.encodeIfPresent(discardedCommit, forKey: .discardedCommit)
  }
}

/// A restored value: the document of `conflicts restore`.
package struct RestoredConflictDocument: JSONDocument {
  /// The id of the alarm; absent for a setting.
  let alarm: String?
  /// The field, the occurrence or the name of the setting.
  let field: String
  /// The restored value, as text.
  let value: String

  package init(alarm: String?, field: String, value: String) {
    self.alarm = alarm
    self.field = field
    self.value = value
  }
}

/// The origin of an alarm's values: the document of `explain`.
package struct ExplanationDocument: JSONDocument {
  /// The id of the alarm.
  let alarm: String
  /// The title of the alarm.
  let title: String
  /// The fields of the definition.
  let fields: [Part]
  /// The occurrences, oldest first.
  let occurrences: [Occurrence]

  /// A value and its origin.
  package struct Part: Encodable {
    /// The field, or the occurrence.
    let name: String
    /// The value, as text.
    let value: String
    /// The id of the device that set the value.
    let device: String?
    /// The time at which the value was set.
    let at: String?
    /// The commit that set the value.
    let commit: String?
    /// The subject of that commit.
    let subject: String?
    /// The name of the merge rule that kept the value; absent without a conflict.
    let rule: String?
    /// The value that the merge discarded, as text.
    let over: String?
  }

  /// The states of an occurrence.
  package struct Occurrence: Encodable {
    /// The occurrence.
    let occurrence: String
    /// The states, oldest first.
    let steps: [Part]
  }

  package init(_ explanation: Explanation, zones: ZoneLibrary) {
    alarm = explanation.alarm.id.text
    title = explanation.alarm.title
    fields = explanation.fields.map { Part($0, zones) }
    occurrences = explanation.occurrences.map { civil, parts in
      Occurrence(occurrence: civil.description, steps: parts.map { Part($0, zones) })
    }
  }
}

extension ExplanationDocument.Part {
  fileprivate init(_ part: Explanation.Part, _ zones: ZoneLibrary) {
    name = part.name
    value = part.value
    device = (part.stamp?.device ?? part.origin?.device)?.text
    at = (part.stamp?.time ?? part.origin?.time).map { zones.text($0) }
    commit = part.origin?.commit.description
    subject = part.origin?.subject
    rule = part.decision?.rule.rawValue
    over = part.decision?.discarded
  }
}
