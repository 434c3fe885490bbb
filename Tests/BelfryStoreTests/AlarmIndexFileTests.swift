import BelfryCore
import Foundation
import Git
import TestSupport
import Testing

@testable import BelfryStore

/// The files of the alarm index in memory.
struct AlarmIndexBytes {
  var main: [UInt8]
  var changes: [UInt8]

  /// Returns the files after an output.
  func replaced(by output: AlarmIndexFile.Output) -> AlarmIndexBytes {
    AlarmIndexBytes(main: output.main ?? main, changes: output.changes)
  }

  /// Returns the index, or nil if a file is damaged or the files don't belong together.
  func read(written: Int64 = 1_000_000_000) -> AlarmIndexFile? {
    guard let main = AlarmIndexTable(main, .main, written: written),
      let changes = AlarmIndexTable(changes, .changes, written: written),
      case let fingerprint = main.header.fingerprint, fingerprint.upperBound <= self.main.count,
      let head = AlarmIndexHead(
        main.header, fingerprint: String(decoding: self.main[fingerprint], as: UTF8.self), changes)
    else { return nil }
    return AlarmIndexFile(main, head)
  }
}

/// The files of the alarm index: their format, and the effects of damage.
@Suite struct AlarmIndexFileTests {
  private static let fingerprint = "UTC 0 1 2 -"
  private let folder = AlarmFolderState(
    signature: FileSignature(size: 4096, modified: 11, changed: 12, inode: 13),
    token: FolderChangeToken(epoch: 14, number: 15))

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
  ) -> AlarmIndexFile.Change {
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

  /// Returns the output of an index with some rows replaced, added or removed.
  private func output(
    _ old: AlarmIndexBytes?, _ numbers: some Sequence<Int>, removed: [Int] = [],
    title: String? = nil, fingerprint: String = AlarmIndexFileTests.fingerprint
  ) -> AlarmIndexFile.Output {
    var changes: [Identifier: AlarmIndexFile.Change?] = [:]
    for number in numbers {
      let entry = AlarmIndexFileTests.entry(number, title: title)
      changes[entry.row.id] = .some(entry)
    }
    for number in removed { changes[AlarmIndexFileTests.entry(number).row.id] = .some(nil) }
    return AlarmIndexFile.output(
      from: old?.read(), replacing: changes, folder: folder, fingerprint: fingerprint)
  }

  /// Returns the files of an index with some rows replaced, added or removed.
  private func files(
    _ old: AlarmIndexBytes? = nil, _ numbers: some Sequence<Int>, removed: [Int] = [],
    title: String? = nil, fingerprint: String = AlarmIndexFileTests.fingerprint
  ) -> AlarmIndexBytes {
    (old ?? AlarmIndexBytes(main: [], changes: [])).replaced(
      by: output(old, numbers, removed: removed, title: title, fingerprint: fingerprint))
  }

  /// Index files with five alarms, of which the changes have two: a new one, and a new version of another one.
  private var small: AlarmIndexBytes { files(files(nil, 0..<4), [2, 4]) }

  private func expect(
    _ file: AlarmIndexFile, has numbers: [Int], title: (Int) -> String? = { _ in nil }
  ) throws {
    let rows = (0..<file.count).filter(file.isUsed).sorted { file.order($0) < file.order($1) }
    try #require(rows.count == numbers.count)
    #expect(Set(rows.map(file.order)).count == rows.count)
    #expect(file.identifiers.sorted() == numbers.map(AlarmIndexFileTests.identifier))
    for (index, number) in zip(rows, numbers) {
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
      #expect(file.rows(titled: expected.summary.title).contains(index))
    }
  }

  @Test func aWrittenIndexReadsBackTheSame() throws {
    let file = try #require(files(nil, 0..<20).read())
    #expect(file.folder == folder)
    #expect(file.fingerprint == AlarmIndexFileTests.fingerprint)
    try expect(file, has: Array(0..<20))
    #expect(file.index(of: AlarmIndexFileTests.entry(20).row.id) == nil)
    let none = try #require(files(nil, []).read())
    #expect(none.count == 0)
    #expect(none.index(of: AlarmIndexFileTests.entry(0).row.id) == nil)
  }

  @Test func rowsAreAddedReplacedAndRemoved() throws {
    let first = files(nil, stride(from: 0, to: 20, by: 2))
    let second = files(first, [4, 5, 19, 21], removed: [0, 6, 7, 18], title: "New")
    let numbers = [2, 4, 5, 8, 10, 12, 14, 16, 19, 21]
    try expect(try #require(second.read()), has: numbers) {
      [4, 5, 19, 21].contains($0) ? "New" : nil
    }
    // Another fingerprint compacts the heap.
    let third = files(second, [], fingerprint: "Europe/Berlin")
    let file = try #require(third.read())
    #expect(file.fingerprint == "Europe/Berlin")
    try expect(file, has: numbers) { [4, 5, 19, 21].contains($0) ? "New" : nil }
    #expect(third.main.count < second.main.count)
  }

  @Test("A change of a few rows writes only the changes")
  func aFewChanges() throws {
    let first = files(nil, stride(from: 0, to: 400, by: 2))
    let changed = output(first, [4, 5, 401], title: "New")
    #expect(changed.main == nil)
    #expect(changed.changes.count < first.main.count / 20)
    // The second change keeps the rows of the first one.
    let again = output(first.replaced(by: changed), [5, 7])
    #expect(again.main == nil)
    let numbers = (Array(stride(from: 0, to: 400, by: 2)) + [5, 7, 401]).sorted()
    try expect(try #require(first.replaced(by: again).read()), has: numbers) {
      [4, 401].contains($0) ? "New" : nil
    }
  }

  @Test("Many changes are moved to the main file")
  func manyChanges() throws {
    let first = files(nil, stride(from: 0, to: 200, by: 2))
    let changed = first.replaced(by: output(first, stride(from: 1, to: 121, by: 2)))
    #expect(changed.main == first.main)
    let moved = output(changed, stride(from: 121, to: 161, by: 2))
    #expect(moved.main != nil)
    #expect(moved.changes.count == AlarmIndexLayout.Header.size)
    let numbers = (0..<200).filter { $0.isMultiple(of: 2) || $0 < 161 }
    try expect(try #require(changed.replaced(by: moved).read()), has: numbers)
  }

  @Test("Random changes, in any number and order, lead to the same rows", arguments: UInt64(1)...20)
  func randomChanges(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    var bytes: AlarmIndexBytes?
    var expected: [Int: String] = [:]
    for round in 0..<12 {
      let title = "Round \(round)"
      let numbers = (0..<Int.random(in: 0...40, using: &random))
        .map { _ in Int.random(in: 0..<150, using: &random) }
      let removed =
        round.isMultiple(of: 5)
        ? expected.keys.sorted().filter { _ in Int.random(in: 0..<4, using: &random) == 0 } : []
      let fingerprint = round < 8 ? "one" : "two"
      let changed = Set(numbers).subtracting(removed)
      bytes = files(
        bytes, changed.sorted(), removed: removed, title: title, fingerprint: fingerprint)
      for number in changed { expected[number] = title }
      for number in removed { expected[number] = nil }
      let file = try #require(bytes?.read(), "seed \(seed), round \(round)")
      try expect(file, has: expected.keys.sorted()) { expected[$0] }
    }
  }

  @Test func theHeapStaysInBoundsAfterManyReplacements() throws {
    var bytes = files(nil, 0..<10)
    let size = bytes.main.count
    for round in 0..<500 {
      // The removal of a row that doesn't exist writes the main file.
      bytes = files(bytes, [round % 10], removed: [99])
      try #require(bytes.main.count < 3 * size + 16_384)
    }
    try expect(try #require(bytes.read()), has: Array(0..<10))
  }

  @Test func rowsAreFoundByTitleAndId() throws {
    for bytes in [files(nil, 0..<12), files(files(nil, 0..<10), [3, 10, 11])] {
      let file = try #require(bytes.read())
      func numbers(_ rows: [Int]) -> [Identifier] { rows.compactMap(file.identifier).sorted() }
      func ids(_ numbers: Int...) -> [Identifier] { numbers.map(AlarmIndexFileTests.identifier) }
      #expect(numbers(file.rows(matching: Array("alarm 7".utf8))) == ids(7))
      #expect(numbers(file.rows(matching: Array("larm 1".utf8))) == ids(1, 10, 11))
      #expect(file.rows(matching: Array("nothing".utf8)) == [])
      let id = AlarmIndexFileTests.entry(3).row.id
      #expect(numbers(file.rows(matching: Array(id.text.utf8))) == ids(3))
      #expect(numbers(file.rows(titled: "Alarm 9 ❤️")) == ids(9))
      #expect(file.rows(titled: "alarm 9 ❤️") == [])
    }
  }

  @Test("An alarm with a new title is not found by the old one")
  func replacedTitle() throws {
    let file = try #require(files(files(nil, 0..<5), [3], title: "New").read())
    #expect(file.rows(titled: "Alarm 3 ❤️") == [])
    #expect(file.rows(matching: Array("alarm 3".utf8)) == [])
    #expect(
      file.rows(titled: "New").compactMap(file.identifier) == [AlarmIndexFileTests.identifier(3)])
  }

  /// Returns the files with one of them replaced.
  private func damaged(
    _ bytes: AlarmIndexBytes, _ file: WritableKeyPath<AlarmIndexBytes, [UInt8]>,
    _ content: [UInt8]
  ) -> AlarmIndexBytes {
    var damaged = bytes
    damaged[keyPath: file] = content
    return damaged
  }

  @Test func anIndexThatIsTruncatedAnywhereIsIgnored() {
    let whole = small
    for file in [\AlarmIndexBytes.main, \.changes] {
      let content = whole[keyPath: file]
      for length in 0..<content.count {
        #expect(
          damaged(whole, file, Array(content[..<length])).read() == nil,
          "\(length) of \(content.count) bytes")
      }
      #expect(damaged(whole, file, content + [0]).read() == nil)
    }
  }

  @Test func anIndexWithAFlippedBitAnywhereIsIgnored() {
    let whole = small
    for file in [\AlarmIndexBytes.main, \.changes] {
      let content = whole[keyPath: file]
      for offset in content.indices {
        var flipped = content
        flipped[offset] ^= 1 << UInt8(offset % 8)
        #expect(damaged(whole, file, flipped).read() == nil, "at \(offset)")
        flipped[offset] = ~content[offset]
        #expect(damaged(whole, file, flipped).read() == nil, "at \(offset)")
      }
    }
  }

  @Test("Files of different indexes, or of different times, are ignored")
  func foreignFiles() {
    let first = files(nil, 0..<4)
    let changed = files(first, [2, 4])
    let rewritten = files(changed, [], removed: [1])
    let other = files(nil, 10..<14)
    #expect(changed.read() != nil && rewritten.read() != nil && other.read() != nil)
    for (main, changes) in [
      (rewritten.main, changed.changes), (changed.main, rewritten.changes),
      (other.main, changed.changes), (changed.main, other.changes),
      (changed.changes, changed.changes), (changed.main, changed.main), ([], []),
    ] {
      #expect(AlarmIndexBytes(main: main, changes: changes).read() == nil)
    }
  }

  @Test(
    "The checksum of a file that is read in pieces is that of its bytes",
    arguments: [88, 95, 262_144, 262_145, 1_500_003])
  func checksumInPieces(size: Int) throws {
    let sandbox = try Sandbox()
    let bytes = (0..<size).map { UInt8(truncatingIfNeeded: $0 &* 31 ^ $0 >> 7) }
    let path = sandbox.root + "/file"
    try Data(bytes).write(to: URL(fileURLWithPath: path))
    guard let file = try ReadableFile.open(path) else {
      Issue.record("no file")
      return
    }
    let read = try AlarmIndexLayout.read(file)
    #expect(read.bytes == bytes)
    #expect(read.checksum == AlarmIndexLayout.checksum(bytes))
  }

  /// Damage that the checksum doesn't show, such as a mistake of another version of Belfry, must not end the process.
  @Test func wrongNumbersUnderAValidChecksumCauseNoCrash() {
    typealias Header = AlarmIndexLayout.Header
    let whole = files(files(nil, 0..<2), [1, 2])
    for file in [\AlarmIndexBytes.main, \.changes] {
      let content = whole[keyPath: file]
      for offset in content.indices where !(Header.checksum..<Header.titles).contains(offset) {
        for value in [0x7F, UInt8.max] where value != content[offset] {
          var wrong = whole
          wrong[keyPath: file][offset] = value
          seal(&wrong.main)
          if file == \.main {
            CacheCoding.set(
              CacheCoding.number(wrong.main, at: Header.checksum), at: Header.link,
              in: &wrong.changes)
          }
          seal(&wrong.changes)
          guard let index = wrong.read() else { continue }
          for row in 0..<index.count {
            _ = index.row(row)
            _ = index.summary(row)
          }
          _ = index.rows(matching: Array("alarm".utf8))
          _ = index.rows(titled: "Alarm 1")
          _ = files(wrong, [1])
          _ = files(wrong, [1], fingerprint: "other")
        }
      }
    }
  }

  /// Sets the checksum of a file.
  private func seal(_ bytes: inout [UInt8]) {
    CacheCoding.set(
      AlarmIndexLayout.checksum(bytes), at: AlarmIndexLayout.Header.checksum, in: &bytes)
  }

  @Test func anIndexOfAnotherVersionIsIgnored() {
    let whole = files(nil, 0..<5)
    #expect(String(decoding: whole.main[..<8], as: UTF8.self) == "BlCard10")
    #expect(String(decoding: whole.changes[..<8], as: UTF8.self) == "BlDiff10")
    for file in [\AlarmIndexBytes.main, \.changes] {
      for version in ["06", "07", "08", "09", "11", "99"] {
        var other = whole[keyPath: file]
        other.replaceSubrange(6..<8, with: version.utf8)
        seal(&other)
        #expect(damaged(whole, file, other).read() == nil)
      }
    }
  }

  @Test(
    "A signature proves a file unchanged only if it is older than the index by more than a tick")
  func vouching() throws {
    func vouches(changed: Int64, modified: Int64) throws -> Bool {
      let signature = FileSignature(size: 1, modified: modified, changed: changed, inode: 1)
      let output = AlarmIndexFile.output(
        from: nil, replacing: [:], folder: AlarmFolderState(signature: signature), fingerprint: "")
      let file = AlarmIndexBytes(main: output.main ?? [], changes: output.changes).read()
      return try #require(file).vouches(forFolder: signature)
    }
    #expect(try vouches(changed: 949_999_999, modified: 949_999_999))
    #expect(try !vouches(changed: 950_000_000, modified: 0))
    #expect(try !vouches(changed: 0, modified: 950_000_000))
    let file = try #require(small.read())
    #expect(!file.vouches(forFolder: AlarmIndexFileTests.entry(1).row.signature))
    for index in 0..<file.count {
      let signature = file.signature(index)
      #expect(file.vouches(index, for: signature))
      #expect(
        small.read(written: signature.changed).map { $0.vouches(index, for: signature) } == false)
      var other = signature
      other.size += 1
      #expect(!file.vouches(index, for: other))
    }
  }
}
