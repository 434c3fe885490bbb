import BelfryCore
import Git

/// The resolution of two conflicting edits by a merge.
public struct MergeDecision: Hashable, Sendable {
  /// The part of the store that two devices edited.
  public enum Subject: Hashable, Comparable, Sendable {
    /// A field of an alarm.
    case field(Alarm.Field)
    /// A part of the cascade. Each part merges separately.
    case cascade(Cascade.Part)
    /// A tag. Each tag merges separately.
    case tag(AlarmTag)
    /// The deletion of an alarm.
    case deletion
    /// The outcome of an occurrence.
    case occurrence(CivilDateTime)
    /// The move of an occurrence.
    case move(CivilDateTime)
    /// The setting with the given key.
    case setting(String)

    /// The name in commits and documents: `title`, `cascade.every`, `tags.home`, `deleted`, `2026-11-23T09:00`,
    /// `moves.2026-11-23T09:00`, `snooze`.
    public var name: String {
      switch self {
      case .field(let field): field.rawValue
      case .cascade(let part): part.name
      case .tag(let tag): Subject.tagPrefix + tag.text
      case .deletion: "deleted"
      case .occurrence(let civil): civil.description
      case .move(let civil): Subject.movePrefix + civil.description
      case .setting(let key): key
      }
    }

    private static let tagPrefix = "tags."
    private static let movePrefix = "moves."

    /// The name for display: `title`, `cascade.device Watch`.
    public var fieldText: FieldText {
      if case .cascade(let part) = self { part.fieldText } else { FieldText(name) }
    }

    /// Parses a name. Returns nil if it is not valid.
    init?(name: String, ofAlarm: Bool) {
      if !ofAlarm {
        self = .setting(name)
      } else if name == "deleted" {
        self = .deletion
      } else if let field = Alarm.Field(rawValue: name) {
        self = .field(field)
      } else if let part = Cascade.Part(name: name) {
        self = .cascade(part)
      } else if name.hasPrefix(Subject.tagPrefix),
        let tag = try? AlarmTag(String(name.dropFirst(Subject.tagPrefix.count)))
      {
        self = .tag(tag)
      } else if let civil = CivilDateTime(name) {
        self = .occurrence(civil)
      } else if name.hasPrefix(Subject.movePrefix),
        let civil = CivilDateTime(String(name.dropFirst(Subject.movePrefix.count)))
      {
        self = .move(civil)
      } else {
        return nil
      }
    }

    /// Returns true if `a` sorts before `b` by name.
    public static func < (a: Subject, b: Subject) -> Bool { a.name < b.name }
  }

  /// The merge rule that resolved the conflict.
  public enum Rule: String, Hashable, Sendable {
    /// The later stamp wins.
    case laterEdit
    /// The stamps are equal or missing, and the greater text wins.
    case greaterText
    /// The occurrence's state of higher rank wins.
    case higherRank
    /// The occurrence's higher revision wins.
    case reopened
    /// The deletion had seen the edit, and wins.
    case deletion
    /// The deletion had not seen the edit, which wins.
    case unseenEdit
    /// The higher generation wins, after the correction of a clock.
    case correctedClock

    /// The reason as a clause after "because".
    public var text: String {
      switch self {
      case .laterEdit: "it was edited later"
      case .greaterText: "both edits have the same time or none, and its text sorts later"
      case .higherRank: "done overrides skipped, and skipped overrides pending"
      case .reopened: "it was reopened explicitly"
      case .deletion: "the deletion had seen the edit"
      case .unseenEdit: "the deletion had not seen the edit"
      case .correctedClock: "a device's wrong clock was corrected"
      }
    }
  }

  /// The alarm's id; nil for a setting.
  public let alarm: Identifier?
  /// The alarm's title, or `settings`.
  public let title: String
  /// The edited part.
  public let subject: Subject
  /// The value that the merge kept, for display.
  public let keptText: FieldText
  /// The value that the merge discarded, for display.
  public let discardedText: FieldText
  /// The value that the merge kept, with the devices' identifiers.
  public var kept: String { keptText.plain }
  /// The value that the merge discarded, with the devices' identifiers.
  public var discarded: String { discardedText.plain }
  /// The stamp of the kept edit; nil if it has none.
  public let keptStamp: Stamp?
  /// The stamp of the discarded edit; nil if it has none.
  public let discardedStamp: Stamp?
  /// True if the merge kept the value of its first side.
  public let isFirstKept: Bool
  /// The rule that decided.
  public let rule: Rule

  /// The path of the record within the store.
  var path: String { alarm.map(AlarmRecord.path) ?? SettingsFile.path }

  /// The decision as a line of a commit message: `title of Rent: kept "Pay rent" over "Miete"`.
  var line: String {
    "\(subject.name) of \(title): kept \"\(kept)\" over \"\(discarded)\"".replacing("\n", with: " ")
  }

  /// Returns the value of a tag: `present` or `removed`.
  static func tagText(_ isPresent: Bool) -> FieldText { isPresent ? "present" : "removed" }
}

/// A file of a remote that a merge left out, or kept without reading it.
public struct MergeRefusal: Hashable, Sendable {
  /// The folder of the file within the tree; empty for the root.
  let folder: String
  /// The name of the file's entry in the tree, which may not be a valid name.
  let name: String
  /// The path within the tree.
  public var path: String { folder.isEmpty ? name : "\(folder)/\(name)" }
  /// The reason as a clause about the file: `it is not a folder`.
  public let reason: String
  /// True if the file has a newer format, and the merge kept it byte for byte.
  public var isKept = false
  /// The commit that introduced the file; nil if it is unknown.
  public var commit: ObjectID?
  /// The device that made the commit; nil if it is unknown.
  public var device: Identifier?
}

// MARK: Detection

extension AlarmRecord {
  static func decisions(
    _ a: Alarm, _ b: Alarm, joined: Alarm, base: Alarm?
  ) -> [MergeDecision] {
    fields(a, b, joined: joined, base: base) + tags(a, b, joined: joined, base: base)
      + cascades(a, b, joined: joined, base: base)
      + occurrences(a, b, joined: joined, base: base) + moves(a, b, joined: joined, base: base)
      + [deletion(a, b, joined: joined, base: base)].compactMap { $0 }
  }

  private static func fields(
    _ a: Alarm, _ b: Alarm, joined: Alarm, base: Alarm?
  ) -> [MergeDecision] {
    // The first device of a cascade records `cascadeZone`, so nobody edits it. `cascades` compares cascades, and `tags`
    // compares tags.
    let fields = Alarm.Field.allCases.filter { ![.cascadeZone, .cascade, .tags].contains($0) }
    return fields.compactMap { field in
      guard !a.hasSame(field, as: b), base?.hasSame(field, as: a) != true,
        base?.hasSame(field, as: b) != true
      else { return nil }
      let isFirstKept = joined.hasSame(field, as: a)
      let (winner, loser) = isFirstKept ? (a, b) : (b, a)
      return MergeDecision(
        alarm: a.id, title: joined.title, subject: .field(field),
        keptText: winner.fieldText(of: field), discardedText: loser.fieldText(of: field),
        keptStamp: winner.mergeState.stamps[field],
        discardedStamp: loser.mergeState.stamps[field], isFirstKept: isFirstKept,
        rule: winner.mergeState.stamps[field] == loser.mergeState.stamps[field]
          ? .greaterText : .laterEdit)
    }
  }

  /// Returns the conflicting edits of tags: both sides have edited a tag, and only one of them has it.
  private static func tags(
    _ a: Alarm, _ b: Alarm, joined: Alarm, base: Alarm?
  ) -> [MergeDecision] {
    a.changedTags(from: b).compactMap { tag in
      let stamps = (a.mergeState.tagStamps[tag], b.mergeState.tagStamps[tag])
      let before = base?.mergeState.tagStamps[tag]
      guard let one = stamps.0, let two = stamps.1, one != before, two != before else { return nil }
      let isKept = joined.tags.contains(tag)
      let isFirstKept = isKept == a.tags.contains(tag)
      return MergeDecision(
        alarm: a.id, title: joined.title, subject: .tag(tag),
        keptText: MergeDecision.tagText(isKept),
        discardedText: MergeDecision.tagText(!isKept), keptStamp: isFirstKept ? one : two,
        discardedStamp: isFirstKept ? two : one, isFirstKept: isFirstKept,
        rule: one == two ? .greaterText : .laterEdit)
    }
  }

  /// Returns the conflicting edits of the cascade. A different position of a target is no conflict.
  private static func cascades(
    _ a: Alarm, _ b: Alarm, joined: Alarm, base: Alarm?
  ) -> [MergeDecision] {
    guard let ours = a.cascade, let theirs = b.cascade else { return [] }
    return Set(ours.registers.keys).intersection(theirs.registers.keys).compactMap { part in
      let (one, two) = (ours.registers[part], theirs.registers[part])
      let before = base?.cascade?.registers[part]
      guard let one, let two, one.value.text != two.value.text, before?.value != one.value,
        before?.value != two.value
      else { return nil }
      let isFirstKept = joined.cascade?.value(of: part).text == one.value.text
      let (winner, loser) = isFirstKept ? (one, two) : (two, one)
      return MergeDecision(
        alarm: a.id, title: joined.title, subject: .cascade(part),
        keptText: winner.value.fieldText, discardedText: loser.value.fieldText,
        keptStamp: winner.stamp, discardedStamp: loser.stamp,
        isFirstKept: isFirstKept, rule: one.stamp == two.stamp ? .greaterText : .laterEdit)
    }.sorted { $0.subject < $1.subject }
  }

  /// Returns the conflicting outcomes. An outcome that follows a stop or a snooze on the other side is no conflict.
  private static func occurrences(
    _ a: Alarm, _ b: Alarm, joined: Alarm, base: Alarm?
  ) -> [MergeDecision] {
    func isAnswer(_ record: OccurrenceRecord) -> Bool {
      record.answer == .skipped || record.answer == .done
    }
    return a.progress.occurrences.keys.sorted().compactMap { civil -> MergeDecision? in
      guard let one = a.progress.occurrences[civil], let two = b.progress.occurrences[civil],
        let result = joined.progress.occurrences[civil], one.answer != two.answer
      else { return nil }
      let before = base?.progress.occurrences[civil]
      let isFirstKept = result.answer == one.answer
      let (winner, loser) = isFirstKept ? (one, two) : (two, one)
      guard isAnswer(loser), before != one, before != two else { return nil }
      let rule: MergeDecision.Rule =
        a.progress.generation != b.progress.generation
        ? .correctedClock : one.revision == two.revision ? .higherRank : .reopened
      return MergeDecision(
        alarm: a.id, title: joined.title, subject: .occurrence(civil),
        keptText: FieldText(winner.answer.rawValue),
        discardedText: FieldText(loser.answer.rawValue), keptStamp: nil, discardedStamp: nil,
        isFirstKept: isFirstKept, rule: rule)
    }
  }

  /// Returns the occurrences that both sides moved, to different times.
  private static func moves(
    _ a: Alarm, _ b: Alarm, joined: Alarm, base: Alarm?
  ) -> [MergeDecision] {
    a.progress.moves.keys.sorted().compactMap { civil in
      let before = base?.progress.moves[civil]
      guard let one = a.progress.moves[civil], let two = b.progress.moves[civil],
        one.time != two.time, one != before, two != before
      else { return nil }
      let isFirstKept = joined.progress.moves[civil]?.time == one.time
      let (winner, loser) = isFirstKept ? (one, two) : (two, one)
      return MergeDecision(
        alarm: a.id, title: joined.title, subject: .move(civil), keptText: FieldText(winner.text),
        discardedText: FieldText(loser.text), keptStamp: winner.stamp, discardedStamp: loser.stamp,
        isFirstKept: isFirstKept, rule: one.stamp == two.stamp ? .greaterText : .laterEdit)
    }
  }

  private static func deletion(
    _ a: Alarm, _ b: Alarm, joined: Alarm, base: Alarm?
  ) -> MergeDecision? {
    // A version that equals the base discarded no edit.
    guard a.isDeleted != b.isDeleted, let base, base != a, base != b else { return nil }
    let alive = a.isDeleted ? b : a
    let edits = alive.changedFields(from: base).map(\.rawValue).joined(separator: ", ")
    if edits.isEmpty { return nil }
    let editor = alive.latestStamp
    return joined.isDeleted
      ? MergeDecision(
        alarm: a.id, title: joined.title, subject: .deletion, keptText: "deleted",
        discardedText: FieldText(edits), keptStamp: nil, discardedStamp: editor,
        isFirstKept: a.isDeleted, rule: .deletion)
      : MergeDecision(
        alarm: a.id, title: joined.title, subject: .deletion, keptText: FieldText(edits),
        discardedText: "deleted", keptStamp: editor, discardedStamp: nil, isFirstKept: !a.isDeleted,
        rule: .unseenEdit)
  }
}

extension SettingsFile {
  static func decisions(
    _ a: SettingsRecord, _ b: SettingsRecord, joined: SettingsRecord, base: SettingsRecord?
  ) -> [MergeDecision] {
    a.values.sorted { $0.key < $1.key }.compactMap { key, one -> MergeDecision? in
      // A sealed value means nothing to the user.
      guard let two = b.values[key], one != two, !key.hasPrefix(sealedPrefix) else {
        return nil
      }
      let before = base?.values[key]
      guard before != one, before != two else { return nil }
      let isFirstKept = joined.values[key] == one
      let stamps = isFirstKept ? (a.stamps[key], b.stamps[key]) : (b.stamps[key], a.stamps[key])
      return MergeDecision(
        alarm: nil, title: "settings", subject: .setting(key),
        keptText: FieldText(isFirstKept ? one : two),
        discardedText: FieldText(isFirstKept ? two : one), keptStamp: stamps.0,
        discardedStamp: stamps.1,
        isFirstKept: isFirstKept, rule: stamps.0 == stamps.1 ? .greaterText : .laterEdit)
    }
  }
}
