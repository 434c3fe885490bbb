import BelfryCore
import Foundation
import Git
import TestSupport
import Testing

@testable import BelfryStore

/// The file of the alarm index: its format, and the effects of damage.
@Suite struct AlarmIndexFileTests {
  private static let fingerprint = "UTC 0 1 2 -"
  private let folder = FileSignature(size: 4096, modified: 11, changed: 12, inode: 13)

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
  ) -> (row: AlarmIndexFile.Row, summary: AlarmSummary) {
    let id = identifier(number)
    let start = CivilDateTime(minuteNumber: 29_600_000 + number)
    let at = Instant(seconds: 1_776_000_000 + Int64(number))
    var status = AlarmStatus(state: .active, validUntil: at.adding(seconds: 60))
    if number.isMultiple(of: 2) {
      status.next = Timeline.Occurrence(civil: start, at: at)
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
    return (
      AlarmIndexFile.Row(
        id: id,
        signature: FileSignature(
          size: Int64(number), modified: Int64(number) * 3, changed: Int64(number) * 5,
          inode: UInt64(number) * 7),
        blob: Repository.blobID(Array("\(number)".utf8)), validFrom: at,
        validUntil: status.validUntil),
      AlarmSummary(
        id: id, title: title ?? "Alarm \(number) ❤️",
        note: number.isMultiple(of: 3) ? "a note" : nil,
        tags: number.isMultiple(of: 4) ? Set(["home", "薬"].compactMap { try? AlarmTag($0) }) : [],
        badge: "daily", rule: rule(number),
        zone: "floating", isDeleted: number.isMultiple(of: 5),
        hasCascade: number.isMultiple(of: 7), partner: number.isMultiple(of: 3) ? "Alex" : nil,
        status: status)
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
    ]
    let times = (0..<(number % 3 + 1)).compactMap { CivilTime(hour: 8 * $0 + 1, minute: 59) }
    return AlarmSummary.Rule(rules[number % rules.count], times: times)
  }

  private func bytes(
    _ old: AlarmIndexFile? = nil, _ numbers: some Sequence<Int>, removed: [Int] = [],
    title: String? = nil, fingerprint: String = AlarmIndexFileTests.fingerprint
  ) -> [UInt8] {
    var changes: [Identifier: (row: AlarmIndexFile.Row, summary: AlarmSummary)?] = [:]
    for number in numbers {
      let entry = AlarmIndexFileTests.entry(number, title: title)
      changes[entry.row.id] = .some(entry)
    }
    for number in removed { changes[AlarmIndexFileTests.entry(number).row.id] = .some(nil) }
    return AlarmIndexFile.bytes(
      from: old, replacing: changes, folder: folder, fingerprint: fingerprint)
  }

  private func read(_ bytes: [UInt8]) -> AlarmIndexFile? {
    AlarmIndexFile(bytes, written: 1_000_000_000)
  }

  private func expect(
    _ file: AlarmIndexFile, has numbers: [Int], title: (Int) -> String? = { _ in nil }
  ) throws {
    #expect(file.count == numbers.count)
    for (index, number) in numbers.enumerated() {
      let expected = AlarmIndexFileTests.entry(number, title: title(number))
      let row = try #require(file.row(index))
      #expect(row.id == expected.row.id)
      #expect(file.identifier(index) == row.id)
      #expect(file.index(of: row.id) == index)
      #expect(row.signature == expected.row.signature)
      #expect(row.blob == expected.row.blob)
      #expect(row.validFrom == expected.row.validFrom)
      #expect(row.validUntil == expected.row.validUntil)
      #expect(file.summary(index) == expected.summary)
      let isDeleted = expected.summary.isDeleted
      #expect(file.next(index) == (isDeleted ? nil : expected.summary.status.next?.at))
      #expect(file.withName(index) { String(cString: $0) } == "\(row.id).json")
      #expect(file.isValid(index, at: row.validFrom))
      #expect(!file.isValid(index, at: Instant(milliseconds: row.validFrom.milliseconds - 1)))
      #expect(!file.isValid(index, at: row.validUntil))
    }
  }

  @Test func aWrittenIndexReadsBackTheSame() throws {
    let file = try #require(read(bytes(nil, 0..<20)))
    #expect(file.folder == folder)
    #expect(file.fingerprint == AlarmIndexFileTests.fingerprint)
    try expect(file, has: Array(0..<20))
    #expect(file.index(of: AlarmIndexFileTests.entry(20).row.id) == nil)
    let none = try #require(read(bytes(nil, [])))
    #expect(none.count == 0)
    #expect(none.index(of: AlarmIndexFileTests.entry(0).row.id) == nil)
  }

  @Test func rowsAreAddedReplacedAndRemoved() throws {
    let first = try #require(read(bytes(nil, stride(from: 0, to: 20, by: 2))))
    let second = try #require(
      read(bytes(first, [4, 5, 19, 21], removed: [0, 6, 7, 18], title: "New")))
    let numbers = [2, 4, 5, 8, 10, 12, 14, 16, 19, 21]
    try expect(second, has: numbers) { [4, 5, 19, 21].contains($0) ? "New" : nil }
    // Another fingerprint compacts the heap.
    let third = try #require(read(bytes(second, [], fingerprint: "Europe/Berlin")))
    #expect(third.fingerprint == "Europe/Berlin")
    try expect(third, has: numbers) { [4, 5, 19, 21].contains($0) ? "New" : nil }
    #expect(third.bytes.count < second.bytes.count)
  }

  @Test func theHeapStaysInBoundsAfterManyReplacements() throws {
    var file = try #require(read(bytes(nil, 0..<10)))
    let size = file.bytes.count
    for round in 0..<500 {
      file = try #require(read(bytes(file, [round % 10])))
      try #require(file.bytes.count < 3 * size + 16_384)
    }
    try expect(file, has: Array(0..<10))
  }

  @Test func rowsAreFoundByTitleAndId() throws {
    let file = try #require(read(bytes(nil, 0..<12)))
    #expect(file.rows(matching: Array("alarm 7".utf8)) == [7])
    #expect(file.rows(matching: Array("larm 1".utf8)) == [1, 10, 11])
    #expect(file.rows(matching: Array("nothing".utf8)) == [])
    let id = AlarmIndexFileTests.entry(3).row.id
    #expect(file.rows(matching: Array(id.text.utf8)) == [3])
    #expect(file.rows(titled: "Alarm 9 ❤️") == [9])
    #expect(file.rows(titled: "alarm 9 ❤️") == [])
  }

  @Test func anIndexThatIsTruncatedAnywhereIsIgnored() {
    let whole = bytes(nil, 0..<5)
    for length in 0..<whole.count {
      #expect(read(Array(whole[..<length])) == nil, "\(length) of \(whole.count) bytes")
    }
    #expect(read(whole + [0]) == nil)
  }

  @Test func anIndexWithAFlippedBitAnywhereIsIgnored() {
    let whole = bytes(nil, 0..<5)
    for offset in whole.indices {
      var damaged = whole
      damaged[offset] ^= 1 << UInt8(offset % 8)
      #expect(read(damaged) == nil, "at \(offset)")
      damaged[offset] = ~whole[offset]
      #expect(read(damaged) == nil, "at \(offset)")
    }
  }

  /// Damage that the checksum doesn't show, such as a mistake of another version of Belfry, must not end the process.
  @Test func wrongNumbersUnderAValidChecksumCauseNoCrash() {
    let whole = bytes(nil, 0..<2)
    for offset in whole.indices where !(56..<64).contains(offset) {
      for value in [0x7F, UInt8.max] where value != whole[offset] {
        var damaged = whole
        damaged[offset] = value
        CacheCoding.set(
          AlarmIndexLayout.checksum(damaged), at: AlarmIndexLayout.Header.checksum, in: &damaged)
        guard let file = read(damaged) else { continue }
        for index in 0..<file.count {
          _ = file.row(index)
          _ = file.summary(index)
        }
        _ = file.rows(matching: Array("alarm".utf8))
        _ = file.rows(titled: "Alarm 1")
        _ = bytes(file, [1], fingerprint: "other")
      }
    }
  }

  @Test func anIndexOfAnotherVersionIsIgnored() {
    let whole = bytes(nil, 0..<5)
    #expect(String(decoding: whole[..<8], as: UTF8.self) == "BlCard08")
    for version in ["05", "06", "07", "09", "99"] {
      var other = whole
      other.replaceSubrange(6..<8, with: version.utf8)
      CacheCoding.set(
        AlarmIndexLayout.checksum(other), at: AlarmIndexLayout.Header.checksum, in: &other)
      #expect(read(other) == nil)
    }
  }

  @Test(
    "A signature proves a file unchanged only if it is older than the index by more than a tick")
  func vouching() throws {
    let file = try #require(read(bytes(nil, [])))
    func vouches(changed: Int64, modified: Int64) -> Bool {
      file.vouches(for: FileSignature(size: 1, modified: modified, changed: changed, inode: 1))
    }
    #expect(vouches(changed: 949_999_999, modified: 949_999_999))
    #expect(!vouches(changed: 950_000_000, modified: 0))
    #expect(!vouches(changed: 0, modified: 950_000_000))
  }

  @Test func readersSeeCompleteIndexesWhileAnotherProcessReplacesThem() async throws {
    let sandbox = try Sandbox()
    let path = sandbox.root + "/alarm-index"
    let versions = [bytes(nil, 0..<3), bytes(nil, 0..<40)]
    try DurableFile.write(
      versions[0], to: path, temporary: path + ".new", syncing: false)
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask {
        for round in 0..<300 {
          try DurableFile.write(
            versions[round % 2], to: path, temporary: path + ".new", syncing: false)
        }
      }
      for _ in 0..<3 {
        group.addTask {
          for _ in 0..<300 {
            let content = try #require(try DurableFile.read(path))
            let file = try #require(AlarmIndexFile(content.bytes, written: 1))
            #expect([3, 40].contains(file.count))
          }
        }
      }
      try await group.waitForAll()
    }
  }
}
