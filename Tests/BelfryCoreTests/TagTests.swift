import TestSupport
import Testing

@testable import BelfryCore

/// The text of tags, edits of tags, and their stamps.
@Suite struct TagTests {
  private let origin = instant("2026-11-20T22:41:00Z")
  private let (home, pills, work): (AlarmTag, AlarmTag, AlarmTag)

  init() throws {
    (home, pills, work) = (try AlarmTag("home"), try AlarmTag("pills"), try AlarmTag("work"))
  }

  @Test(arguments: [
    ("home", "home"), ("HOME", "home"), ("a-b_c.d", "a-b_c.d"), ("2026", "2026"), ("_x", "_x"),
    ("Cafe\u{301}", "caf\u{e9}"), ("ÄPFEL", "äpfel"), ("Здоровье", "здоровье"), ("薬", "薬"),
    ("हिन्दी", "हिन्दी"), (String(repeating: "x", count: 32), String(repeating: "x", count: 32)),
  ])
  func aTagIsNormalized(_ text: String, _ expected: String) throws {
    let tag = try AlarmTag(text)
    #expect(Array(tag.text.unicodeScalars) == Array(expected.unicodeScalars))
    #expect(try AlarmTag(tag.text) == tag)
  }

  @Test(arguments: [
    ("", TagError.empty), ("-home", .invalidStart("-")), (".x", .invalidStart(".")),
    ("\u{301}a", .invalidStart("\u{301}")), ("a b", .invalidCharacter(" ")),
    ("a/b", .invalidCharacter("/")), ("a\u{202e}b", .invalidCharacter("\u{202e}")),
    ("a\u{fe0f}", .invalidCharacter("\u{fe0f}")), ("a\n", .invalidCharacter("\n")),
    ("❤️", .invalidStart("❤")), (String(repeating: "x", count: 33), .tooLong(33)),
  ])
  func anotherTextIsRefused(_ text: String, _ error: TagError) {
    #expect(throws: error) { try AlarmTag(text) }
  }

  @Test func normalizationIsStable() {
    var random = SeededGenerator(seed: 7)
    for _ in 0..<20_000 {
      let scalars = (0..<random.int(1...4)).compactMap { _ in
        Unicode.Scalar(UInt32(random.int(0...0x2FFFF)))
      }
      let text = String(String.UnicodeScalarView(scalars))
      guard let tag = try? AlarmTag(text) else { continue }
      #expect(
        (try? AlarmTag(tag.text))?.text.utf8.elementsEqual(tag.text.utf8) == true, "\(scalars)")
    }
  }

  @Test func editsAreParsed() throws {
    #expect(try TagEdit("home, Pills") == .replace([home, pills]))
    #expect(try TagEdit("none") == .replace([]))
    #expect(try TagEdit("+home,-pills") == .change(adding: [home], removing: [pills]))
    #expect(try TagEdit("-home") == .change(adding: [], removing: [home]))
    #expect(throws: TagEditError.mixed) { try TagEdit("home,+pills") }
    #expect(throws: TagEditError.contradiction(home)) { try TagEdit("+home,-home") }
    #expect(throws: TagEditError.invalid("", .empty)) { try TagEdit("home,") }
    #expect(throws: TagEditError.invalid("a/b", .invalidCharacter("/"))) { try TagEdit("+a/b") }
    #expect(try TagEdit("+home,-pills").applied(to: [pills, work]) == [home, work])
    #expect(try TagEdit("home").applied(to: [pills, work]) == [home])
  }

  @Test func theNumberOfTagsIsLimited() throws {
    let many = try (0..<AlarmTag.maxCount).map { try AlarmTag("t\($0)") }
    #expect(throws: TagEditError.tooMany(33)) {
      try TagEdit.change(adding: [home], removing: []).applied(to: Set(many))
    }
    // After a merge, an alarm can have more. Removing one is then possible.
    let edit = TagEdit.change(adding: [], removing: [many[0]])
    #expect(try edit.applied(to: Set(many + [home, work])).count == 33)
  }

  // MARK: Stamps

  private func edited(
    _ alarm: Alarm, after seconds: Int64, by device: Identifier, _ tags: Set<AlarmTag>
  ) -> Alarm {
    var result = alarm
    result.tags = tags
    return result.stamped(against: alarm, at: origin.adding(seconds: seconds), device: device)
  }

  @Test func aNewAlarmHasAStampForEachTag() throws {
    let alarm = Alarm.created(
      id: try rent().id, title: "Rent", note: nil, tags: [home], schedule: try rent().schedule,
      zone: .floating, delivery: .init(), at: origin, device: laptop)
    let stamp = Stamp(time: origin, device: laptop)
    #expect(alarm.mergeState.tagStamps == [home: stamp] && alarm.mergeState.stamps[.tags] == stamp)
    #expect(try rent().mergeState.stamps[.tags] == nil)
  }

  @Test func concurrentEditsOfDifferentTagsAreKept() throws {
    let base = edited(try rent(), after: 0, by: laptop, [home])
    let ours = edited(base, after: 60, by: laptop, [home, pills])
    let theirs = edited(base, after: 90, by: server, [work])
    let joined = Alarm.join(ours, theirs)
    #expect(joined.tags == [pills, work])
    // The later edit of one tag wins, in both directions.
    let again = edited(joined, after: 120, by: server, [pills, work, home])
    #expect(Alarm.join(again, ours).tags == [home, pills, work])
    #expect(Alarm.join(again, edited(again, after: 180, by: laptop, [])).tags.isEmpty)
  }

  @Test func aTagWithoutAStampIsOlder() throws {
    var plain = try rent()
    plain.tags = [home]
    let removed = edited(plain, after: 60, by: server, [])
    #expect(Alarm.join(plain, removed).tags.isEmpty)
    #expect(Alarm.join(plain, try rent()).tags == [home])
  }

  @Test func aTagEditRestoresADeletedAlarm() throws {
    let base = try rent()
    let tagged = edited(base, after: 60, by: server, [home])
    #expect(!Alarm.join(base.deleted(), tagged).isDeleted)
    #expect(Alarm.join(tagged.deleted(), tagged).isDeleted)
  }

  @Test func aHandEditOfOneTagKeepsTheStampsOfOthers() throws {
    let base = edited(try rent(), after: 0, by: laptop, [home, pills])
    let after = edited(base, after: 60, by: server, [home, work])
    let first = try #require(base.mergeState.tagStamps[home])
    let second = Stamp(time: origin.adding(seconds: 60), device: server)
    #expect(after.mergeState.tagStamps == [home: first, pills: second, work: second])
    #expect(after.fieldsEditedByHand(since: base).isEmpty)
    // A plain edit without a stamp, as of another git.
    var plain = base
    plain.tags = [pills]
    let stamped = plain.stamped(asDescendantOf: base)
    #expect(Alarm.join(stamped, base).tags == [pills])
    #expect(stamped == plain.stamped(asDescendantOf: base))
  }

  @Test func undoKeepsLaterEditsOfOtherTags() throws {
    let base = edited(try rent(), after: 0, by: laptop, [home])
    let after = edited(base, after: 60, by: laptop, [pills])
    let later = edited(after, after: 90, by: server, [pills, work])
    let now = origin.adding(seconds: 120)
    let undone = try timeline(later).undoing(
      after, before: base, acted: origin.adding(seconds: 60), at: now, device: laptop)
    #expect(undone.tags == [home, work])
    #expect(Alarm.join(undone, later) == undone)
    // A later edit of the same tag cannot be undone over.
    let removed = edited(after, after: 90, by: server, [])
    #expect(throws: UndoError.changedSince(.field(.tags))) {
      try timeline(removed).undoing(
        after, before: base, acted: origin.adding(seconds: 60), at: now, device: laptop)
    }
  }
}
