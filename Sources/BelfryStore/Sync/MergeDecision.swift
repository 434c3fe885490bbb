import BelfryCore
import Git

/// What a merge set aside of somebody's edit.
public struct MergeDecision: Hashable, Sendable {
  /// What two people wanted differently.
  public enum Subject: Hashable, Comparable, Sendable {
    case field(Alarm.Field)
    /// One part of the cascade, each of which joins on its own.
    case cascade(Cascade.Part)
    /// Whether the alarm is deleted at all.
    case deletion
    /// What became of an occurrence.
    case occurrence(CivilDateTime)
    /// A setting, by its key.
    case setting(String)

    /// As commits and documents name it: `title`, `cascade.every`, `deleted`, `2026-11-23T09:00`, `snooze`.
    public var name: String {
      switch self {
      case .field(let field): field.rawValue
      case .cascade(let part): part.name
      case .deletion: "deleted"
      case .occurrence(let civil): civil.description
      case .setting(let key): key
      }
    }

    /// Reads what `name` writes.
    init?(name: String, ofAlarm: Bool) {
      if !ofAlarm {
        self = .setting(name)
      } else if name == "deleted" {
        self = .deletion
      } else if let field = Alarm.Field(rawValue: name) {
        self = .field(field)
      } else if let part = Cascade.Part(name: name) {
        self = .cascade(part)
      } else if let civil = CivilDateTime(name) {
        self = .occurrence(civil)
      } else {
        return nil
      }
    }

    public static func < (a: Subject, b: Subject) -> Bool { a.name < b.name }
  }

  /// Why one of the two stands.
  public enum Rule: String, Hashable, Sendable {
    case laterEdit, greaterText, higherRank, reopened, deletion, unseenEdit, correctedClock

    /// In words that follow "because".
    public var words: String {
      switch self {
      case .laterEdit: "it was edited later"
      case .greaterText: "both edits have no time or the same, and its text sorts later"
      case .higherRank: "done stands over skipped, and skipped over pending"
      case .reopened: "it was reopened explicitly"
      case .deletion: "the deletion had seen the edit"
      case .unseenEdit: "the deletion had not seen the edit"
      case .correctedClock: "a device with a wrong clock was put right"
      }
    }
  }

  /// Nil for a setting.
  public let alarm: Identifier?
  /// The alarm's title; `settings` for a setting.
  public let title: String
  public let subject: Subject
  public let kept: String
  public let discarded: String
  /// When and where the two edits were made, where they are stamped.
  public let keptStamp: Stamp?
  public let discardedStamp: Stamp?
  /// Whether the first of the two sides that were joined stands.
  public let isFirstKept: Bool
  public let rule: Rule

  /// The path of the record.
  var path: String { alarm.map(AlarmRecord.path) ?? SettingsFile.path }

  /// `title of Rent: kept "Pay rent" over "Miete"`.
  var line: String {
    "\(subject.name) of \(title): kept \"\(kept)\" over \"\(discarded)\"".replacing("\n", with: " ")
  }
}

/// A record of a remote that was left out, and why.
public struct MergeRefusal: Hashable, Sendable {
  /// Where it is: a folder of the tree (empty for the top), and a name that may be none.
  let folder: String
  let name: String
  public var path: String { folder.isEmpty ? name : "\(folder)/\(name)" }
  public let reason: String
  /// The commit that brought it, and the device that made that, where they are known.
  public var commit: ObjectID?
  public var device: Identifier?
}

// MARK: Finding them

extension MergeDecision {
  /// The edits of an alarm of one side that the other side's edit of the same thing set aside.
  ///
  /// - Parameter base: the version that both came from; nil when there is none.
  static func all(_ a: Alarm, _ b: Alarm, joined: Alarm, base: Alarm?) -> [MergeDecision] {
    fields(a, b, joined: joined, base: base) + cascades(a, b, joined: joined, base: base)
      + occurrences(a, b, joined: joined, base: base)
      + [deletion(a, b, joined: joined, base: base)].compactMap { $0 }
  }

  private static func fields(
    _ a: Alarm, _ b: Alarm, joined: Alarm, base: Alarm?
  ) -> [MergeDecision] {
    // Nobody edits the zone of a cascade: its first device records it. Cascades: see below.
    Alarm.Field.allCases.filter { $0 != .cascadeZone && $0 != .cascade }.compactMap { field in
      let (one, two, before) = (a.text(of: field), b.text(of: field), base?.text(of: field))
      guard one != two, before != one, before != two else { return nil }
      let isFirstKept = joined.text(of: field) == one
      let (winner, loser) = isFirstKept ? (a, b) : (b, a)
      return MergeDecision(
        alarm: a.id, title: joined.title, subject: .field(field), kept: winner.text(of: field),
        discarded: loser.text(of: field), keptStamp: winner.stamps[field],
        discardedStamp: loser.stamps[field], isFirstKept: isFirstKept,
        rule: winner.stamps[field] == loser.stamps[field] ? .greaterText : .laterEdit)
    }
  }

  /// The position of a target is no difference.
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
        alarm: a.id, title: joined.title, subject: .cascade(part), kept: winner.value.text,
        discarded: loser.value.text, keptStamp: winner.stamp, discardedStamp: loser.stamp,
        isFirstKept: isFirstKept, rule: one.stamp == two.stamp ? .greaterText : .laterEdit)
    }.sorted { $0.subject < $1.subject }
  }

  /// A stop or a snooze that an answer follows elsewhere is no conflict; two different answers are.
  private static func occurrences(
    _ a: Alarm, _ b: Alarm, joined: Alarm, base: Alarm?
  ) -> [MergeDecision] {
    func isAnswer(_ record: OccurrenceRecord) -> Bool {
      record.state == .skipped || (record.state == .done && !record.auto)
    }
    return a.progress.occurrences.keys.sorted().compactMap { civil -> MergeDecision? in
      guard let one = a.progress.occurrences[civil], let two = b.progress.occurrences[civil],
        let result = joined.progress.occurrences[civil], one.state != two.state
      else { return nil }
      let before = base?.progress.occurrences[civil]
      let isFirstKept = result.state == one.state && result.revision == one.revision
      let (winner, loser) = isFirstKept ? (one, two) : (two, one)
      guard isAnswer(loser), before != one, before != two else { return nil }
      let rule: Rule =
        a.progress.generation != b.progress.generation
        ? .correctedClock : one.revision == two.revision ? .higherRank : .reopened
      return MergeDecision(
        alarm: a.id, title: joined.title, subject: .occurrence(civil), kept: winner.state.rawValue,
        discarded: loser.state.rawValue, keptStamp: nil, discardedStamp: nil,
        isFirstKept: isFirstKept, rule: rule)
    }
  }

  private static func deletion(
    _ a: Alarm, _ b: Alarm, joined: Alarm, base: Alarm?
  ) -> MergeDecision? {
    // One that only followed the other set nothing aside.
    guard a.isDeleted != b.isDeleted, let base, base != a, base != b else { return nil }
    let alive = a.isDeleted ? b : a
    let edits = alive.changedFields(from: base).map(\.rawValue).joined(separator: ", ")
    if edits.isEmpty { return nil }
    let editor = alive.latestStamp
    return joined.isDeleted
      ? MergeDecision(
        alarm: a.id, title: joined.title, subject: .deletion, kept: "deleted", discarded: edits,
        keptStamp: nil, discardedStamp: editor, isFirstKept: a.isDeleted, rule: .deletion)
      : MergeDecision(
        alarm: a.id, title: joined.title, subject: .deletion, kept: edits, discarded: "deleted",
        keptStamp: editor, discardedStamp: nil, isFirstKept: !a.isDeleted, rule: .unseenEdit)
  }

  /// The same for the settings.
  static func all(
    _ a: SettingsRecord, _ b: SettingsRecord, joined: SettingsRecord, base: SettingsRecord?
  ) -> [MergeDecision] {
    a.values.sorted { $0.key < $1.key }.compactMap { key, one -> MergeDecision? in
      guard let two = b.values[key], one != two else { return nil }
      let before = base?.values[key]
      guard before != one, before != two else { return nil }
      let isFirstKept = joined.values[key] == one
      let stamps = isFirstKept ? (a.stamps[key], b.stamps[key]) : (b.stamps[key], a.stamps[key])
      return MergeDecision(
        alarm: nil, title: "settings", subject: .setting(key), kept: isFirstKept ? one : two,
        discarded: isFirstKept ? two : one, keptStamp: stamps.0, discardedStamp: stamps.1,
        isFirstKept: isFirstKept, rule: stamps.0 == stamps.1 ? .greaterText : .laterEdit)
    }
  }
}
