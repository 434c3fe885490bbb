import BelfryCore
import Files
import Git
import Testing

@testable import BelfryStore

/// The coding of the alarm index's rows, and the effects of damage.
@Suite struct CachedAlarmTests {
  /// Returns the identifier of a number. Greater numbers have identifiers that sort later, unlike their base32 digits.
  static func identifier(_ number: Int) -> Identifier {
    let letters = (0..<6).reversed().map {
      "abcdefghijklmnop".utf8.map { $0 }[number >> (4 * $0) & 15]
    }
    return Identifier(Array(repeating: UInt8(ascii: "a"), count: 20)[...] + letters)!
  }

  /// An alarm of the index with a summary that uses every field.
  static func entry(
    _ number: Int, title: String? = nil
  ) -> AlarmIndexCache.Change {
    let id = identifier(number)
    let start = CivilDateTime(minuteNumber: 29_600_000 + number)
    let moved = CivilDateTime(minuteNumber: start.minuteNumber + 90)
    let at = Instant(seconds: 1_776_000_000 + Int64(number))
    var status = AlarmStatus(state: .active, validUntil: at.adding(seconds: 60))
    if number.isMultiple(of: 2) {
      status.next = Timeline.Occurrence(
        civil: start, movedTo: number.isMultiple(of: 4) ? moved : nil, at: at)
      status.moved = number.isMultiple(of: 4) ? [start: moved] : [:]
      status.current = start
      status.pending = [
        AlarmStatus.Pending(occurrence: start, since: at, followUpsSent: 2, nextFollowUp: at),
        AlarmStatus.Pending(occurrence: start, since: at, followUpsSent: 3, nextFollowUp: nil),
      ]
      status.missed = [start]
      status.skipped = [start, start]
      status.snooze = AlarmStatus.Snooze(occurrence: start, until: at, count: 4)
      status.pausedUntil = start
    }
    let summary = AlarmSummary(
      id: id, title: title ?? "Alarm \(number) ❤️",
      note: number.isMultiple(of: 3) ? "a note" : nil,
      tags: number.isMultiple(of: 4) ? Set(["home", "薬"].compactMap { try? AlarmTag($0) }) : [],
      badge: "daily", rule: rule(number),
      zone: "floating", isDeleted: number.isMultiple(of: 5),
      hasCascade: number.isMultiple(of: 7), partner: number.isMultiple(of: 3) ? "Alex" : nil,
      status: status)
    return (
      CachedAlarm(
        id: id,
        signature: FileSignature(
          size: Int64(number), modified: Int64(number) * 3, changed: Int64(number) * 5,
          inode: UInt64(number) * 7),
        readAt: 1_000_000_000, blob: Repository.blobID(Array("\(number)".utf8)), validFrom: at,
        validUntil: status.validUntil, summary: summary),
      summary
    )
  }

  /// A rule of each kind, with days of each kind.
  private static func rule(_ number: Int) -> AlarmSummary.Rule {
    let start = CivilDate(dayNumber: 20_000 + number)
    let cadence = Recurrence.Cadence(interval: 1 + number % 3, start: start)
    let days: [Recurrence.MonthDay] = [
      .day(15), .fromEnd(3), .weekday(1, .monday), .weekday(-2, .sunday), .workday(-3),
    ]
    let rules: [Recurrence] = [
      .once(start), .daily(cadence), .weekly([.monday, .sunday], cadence), .monthly(days, cadence),
      .annual(months: [2, 12], days, cadence), .days(9_999, cadence),
      .afterDone(Period(6, .month), Recurrence.Origin(start: start)),
      .cyclic(on: 21, off: 7, start: start), .dates([start, start.adding(days: 40)]),
      .elapsed(minutes: 420, start: start),
    ]
    let times = (0..<(number % 3 + 1)).compactMap { CivilTime(hour: 8 * $0 + 1, minute: 59) }
    return AlarmSummary.Rule(rules[number % rules.count], times: times)
  }

  @Test("A row reads back the same", arguments: 0..<40)
  func roundTrip(_ number: Int) throws {
    let (row, summary) = CachedAlarmTests.entry(number)
    let read = try #require(CachedAlarm(row.bytes))
    #expect(read.id == row.id && read.blob == row.blob)
    #expect(read.signature == row.signature && read.readAt == row.readAt)
    #expect(read.validFrom == row.validFrom && read.validUntil == row.validUntil)
    #expect(read.summary == summary)
    let (outline, whole) = (read.outline, summary.outline)
    #expect(outline.state == whole.state && outline.isDeleted == whole.isDeleted)
    #expect(outline.isFinished == whole.isFinished && outline.next == whole.next)
    #expect(outline.nextRinging == whole.nextRinging)
    #expect(read.bytes == row.bytes)
    #expect(read.isValid(at: row.validFrom))
    #expect(!read.isValid(at: Instant(milliseconds: row.validFrom.milliseconds - 1)))
    #expect(!read.isValid(at: row.validUntil))
  }

  @Test("A row that is truncated anywhere, or has a flipped bit anywhere, is damaged")
  func damage() {
    let bytes = Array(CachedAlarmTests.entry(12).row.bytes)
    for length in 0..<bytes.count { #expect(CachedAlarm(bytes[..<length]) == nil) }
    #expect(CachedAlarm((bytes + [0])[...]) == nil)
    for offset in bytes.indices {
      var flipped = bytes
      flipped[offset] ^= 1 << UInt8(offset % 8)
      #expect(CachedAlarm(flipped[...]) == nil, "at \(offset)")
      flipped[offset] = ~bytes[offset]
      #expect(CachedAlarm(flipped[...]) == nil, "at \(offset)")
    }
  }

  /// Damage that the checksum doesn't show, such as a mistake of another version of Belfry, must not end the process.
  @Test func wrongNumbersUnderAValidChecksumCauseNoCrash() {
    for number in [4, 12] {
      let bytes = CachedAlarmTests.entry(number).row.bytes.dropLast(8)
      for offset in bytes.indices {
        for value in [0x7F, UInt8.max] where value != bytes[offset] {
          var wrong = Array(bytes)
          wrong[offset] = value
          CacheCoding.appendChecksum(to: &wrong)
          _ = CachedAlarm(wrong[...])?.summary
        }
      }
    }
  }

  @Test("A signature proves a file unchanged only if the file was read more than a tick later")
  func vouching() {
    func isConclusive(changed: Int64, modified: Int64) -> Bool {
      FileSignature(size: 1, modified: modified, changed: changed, inode: 1)
        .isConclusive(at: 1_000_000_000)
    }
    #expect(isConclusive(changed: 949_999_999, modified: 949_999_999))
    #expect(!isConclusive(changed: 950_000_000, modified: 0))
    #expect(!isConclusive(changed: 0, modified: 950_000_000))
    let row = CachedAlarmTests.entry(1).row
    #expect(row.vouches(for: row.signature))
    var other = row.signature
    other.size += 1
    #expect(!row.vouches(for: other))
  }
}
