import BelfryCore
import Glibc

/// This device's notes of merge decisions without a merge commit: those of a rebase, a cherry-pick or a stash.
///
/// The file has one note per line, with both versions of the record.
struct DecisionNotes {
  /// A decision, with the discarded version of the record and the version before both edits.
  struct Note {
    let decision: MergeDecision
    let at: Instant
    let discarded: [UInt8]
    let base: [UInt8]?
  }

  private let file: LocalFile<[UInt8]>

  init(_ local: LocalState) {
    file = local.decisionNotes
  }

  /// The file size in bytes above which old notes are dropped.
  private static let maxSize = 4 << 20
  /// The file size in bytes above which the file counts as damaged.
  static let maxReadSize = maxSize * 2
  /// The number of notes that are kept then.
  private static let kept = 500

  /// Appends notes. A write error is ignored, because it must not fail the merge.
  func add(_ notes: [Note]) {
    guard !notes.isEmpty else { return }
    let lines = notes.map { json($0).line + "\n" }.joined()
    try? file.update(holder: "git's merge driver") { content in
      if content.count > DecisionNotes.maxSize {
        content =
          Array(
            content.split(separator: UInt8(ascii: "\n")).suffix(DecisionNotes.kept)
              .joined(separator: [UInt8(ascii: "\n")])) + [UInt8(ascii: "\n")]
      }
      content += Array(lines.utf8)
    }
  }

  /// Returns all notes, latest first. Invalid lines are skipped.
  func all() -> [Note] {
    file.read().split(separator: UInt8(ascii: "\n")).reversed().compactMap { line in
      (try? JSON(parsing: Array(line))).flatMap(note)
    }
  }

  private func json(_ note: Note) -> JSON {
    func text(_ bytes: [UInt8]) -> JSON { .string(String(decoding: bytes, as: UTF8.self)) }
    let decision = note.decision
    return .object(omittingNil: [
      "alarm": decision.alarm.map { JSON($0) }, "title": .string(decision.title),
      "subject": .string(decision.subject.name), "kept": json(decision.keptText),
      "discarded": json(decision.discardedText), "keptStamp": decision.keptStamp.map { JSON($0) },
      "discardedStamp": decision.discardedStamp.map { JSON($0) },
      "rule": .string(decision.rule.rawValue), "isFirstKept": .bool(decision.isFirstKept),
      "at": JSON(note.at), "record": text(note.discarded), "base": note.base.map(text),
    ])
  }

  /// Returns a list of texts and of devices, as `{device}`.
  private func json(_ text: FieldText) -> JSON {
    .array(
      text.parts.map { part in
        switch part {
        case .text(let text): .string(text)
        case .device(let id): .object(["device": JSON(id)])
        }
      })
  }

  private func fieldText(_ json: JSON) -> FieldText? {
    guard let list = json.array else { return nil }
    let parts = list.compactMap { item -> FieldText.Part? in
      item.string.map { .text($0) } ?? item["device"]?.identifier.map { .device($0) }
    }
    return parts.count == list.count ? FieldText(parts) : nil
  }

  private func note(_ json: JSON) -> Note? {
    let alarm = json["alarm"]?.identifier
    guard let title = json["title"]?.string, let name = json["subject"]?.string,
      let kept = json["kept"].flatMap(fieldText),
      let discarded = json["discarded"].flatMap(fieldText),
      let rule = json["rule"]?.string.flatMap({ MergeDecision.Rule(rawValue: $0) }),
      let isFirstKept = json["isFirstKept"]?.bool, let at = json["at"]?.instant,
      let record = json["record"]?.string,
      let subject = MergeDecision.Subject(name: name, ofAlarm: alarm != nil)
    else { return nil }
    return Note(
      decision: MergeDecision(
        alarm: alarm, title: title, subject: subject, keptText: kept, discardedText: discarded,
        keptStamp: json["keptStamp"]?.stamp, discardedStamp: json["discardedStamp"]?.stamp,
        isFirstKept: isFirstKept, rule: rule),
      at: at, discarded: Array(record.utf8), base: json["base"]?.string.map { Array($0.utf8) })
  }
}

extension DecisionNotes.Note {
  /// Returns the notes about the merge of one record.
  static func all(
    _ decisions: [MergeDecision], ours: [UInt8], theirs: [UInt8], base: [UInt8]?, at now: Instant
  ) -> [DecisionNotes.Note] {
    decisions.map {
      DecisionNotes.Note(
        decision: $0, at: now, discarded: $0.isFirstKept ? theirs : ours, base: base)
    }
  }
}
