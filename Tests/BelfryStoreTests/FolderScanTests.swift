import BelfryCore
import Files
import Foundation
import TestSupport
import Testing

@testable import BelfryStore

/// The comparison of the folder of records with the index.
@Suite struct FolderScanTests {
  /// A folder of records, and the index of its state.
  private final class Records {
    let sandbox: Sandbox
    let path: String
    private(set) var rows: [CachedAlarm] = []

    init(_ numbers: some Sequence<Int>) throws {
      sandbox = try Sandbox()
      path = sandbox.root + "/alarms"
      try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
      for number in numbers { try write(number) }
      try makeIndex()
    }

    func id(_ number: Int) -> Identifier { CachedAlarmTests.identifier(number) }
    func file(_ number: Int) -> String { "\(path)/\(id(number)).json" }
    func write(_ number: Int, _ text: String = "{}\n") throws {
      try sandbox.write(text, to: file(number))
    }

    /// Makes the rows of the present files.
    ///
    /// - Parameter age: The time between the last change of a file and the read, in nanoseconds.
    func makeIndex(age: Int64 = 1_000_000_000) throws {
      rows = []
      for name in DurableFile.names(in: path).sorted() {
        let id = try #require(Identifier(name.dropLast(5)))
        let signature = try signature("\(path)/\(name)")
        let (row, summary) = CachedAlarmTests.entry(1)
        rows.append(
          CachedAlarm(
            id: id, signature: signature, readAt: signature.changed + age, blob: row.blob,
            validFrom: row.validFrom, validUntil: row.validUntil, summary: summary))
      }
    }

    private func signature(_ path: String) throws -> FileSignature {
      var status = stat()
      try #require(lstat(path, &status) == 0)
      return FileSignature(status)
    }

    func scan() throws -> FolderScan { try #require(try FolderScan.scan(path, rows: rows)) }

    /// Returns for each row in the order of the ids whether its file is unchanged.
    func unchanged(_ scan: FolderScan) -> [Bool] { rows.indices.map(scan.unchanged.contains) }
  }

  @Test func anUnchangedFolderHasNoDifferences() throws {
    let records = try Records(0..<5)
    let scan = try records.scan()
    #expect(records.unchanged(scan) == [true, true, true, true, true])
    #expect(scan.changed.isEmpty && scan.removed.isEmpty && scan.strays.isEmpty)
  }

  @Test func everyRecordIsNewWithoutAnIndex() throws {
    let records = try Records(0..<3)
    let scan = try #require(try FolderScan.scan(records.path, rows: []))
    #expect(scan.removed.isEmpty)
    #expect(scan.changed.sorted() == (0..<3).map(records.id))
  }

  @Test func aMissingFolderHasNoDifferences() throws {
    let records = try Records(0..<3)
    try FileManager.default.removeItem(atPath: records.path)
    #expect(try FolderScan.scan(records.path, rows: records.rows) == nil)
    try records.sandbox.write("a file", to: records.path)
    #expect(throws: FileError("open", records.path, number: ENOTDIR)) {
      try FolderScan.scan(records.path, rows: records.rows)
    }
  }

  @Test func addedRecordsAreFound() throws {
    let records = try Records(0..<3)
    try records.write(7)
    let scan = try records.scan()
    #expect(records.unchanged(scan) == [true, true, true])
    #expect(scan.changed == [records.id(7)])
    #expect(scan.removed.isEmpty)
  }

  @Test func changedRecordsAreFound() throws {
    let records = try Records(0..<3)
    try records.write(1, "{\"title\": \"longer\"}\n")
    let scan = try records.scan()
    #expect(records.unchanged(scan) == [true, false, true])
    #expect(scan.changed == [records.id(1)])
    #expect(scan.removed.isEmpty)
  }

  @Test func removedRecordsAreFound() throws {
    let records = try Records(0..<3)
    try FileManager.default.removeItem(atPath: records.file(1))
    let scan = try records.scan()
    #expect(records.unchanged(scan) == [true, false, true])
    #expect(scan.removed == [records.id(1)])
    #expect(scan.changed.isEmpty)
  }

  @Test("A folder that several cores compare has all of its differences")
  func largeFolder() throws {
    let records = try Records(0..<2500)
    try FileManager.default.removeItem(atPath: records.file(7))
    try records.write(2400, "{\"title\": \"longer\"}\n")
    for number in [3000, 3001] { try records.write(number) }
    try records.sandbox.write("", to: records.path + "/notes.json")
    let scan = try records.scan()
    #expect(scan.unchanged.count == 2498 && scan.unchanged == scan.unchanged.sorted())
    #expect(scan.removed == [records.id(7)])
    #expect(scan.changed.sorted() == [2400, 3000, 3001].map(records.id))
    #expect(scan.strays == ["notes.json"])
  }

  @Test("A renamed record counts as one removed and one added record")
  func renamed() throws {
    let records = try Records(0..<3)
    try FileManager.default.moveItem(atPath: records.file(1), toPath: records.file(8))
    let scan = try records.scan()
    #expect(scan.removed == [records.id(1)])
    #expect(scan.changed == [records.id(8)])
    // Two records that swap names have each other's content.
    let pair = try Records(0..<2)
    try FileManager.default.moveItem(atPath: pair.file(0), toPath: pair.file(9))
    try FileManager.default.moveItem(atPath: pair.file(1), toPath: pair.file(0))
    try FileManager.default.moveItem(atPath: pair.file(9), toPath: pair.file(1))
    #expect(try pair.scan().changed.sorted() == [pair.id(0), pair.id(1)])
  }

  @Test("A record of the same size and modification time is found by its other metadata")
  func sameSizeAndTime() throws {
    let records = try Records(0..<2)
    var status = stat()
    try #require(stat(records.file(0), &status) == 0)
    let times = [status.st_atim, status.st_mtim]
    // Rewritten in place, then replaced by another file.
    try records.write(0, "[]\n")
    try #require(utimensat(AT_FDCWD, records.file(0), times, 0) == 0)
    try #require(stat(records.file(0), &status) == 0)
    #expect(status.st_size == 3 && status.st_mtim.tv_nsec == times[1].tv_nsec)
    #expect(try records.scan().changed == [records.id(0)])
    try records.makeIndex()
    try records.sandbox.write("12\n", to: records.path + "/.new")
    try #require(utimensat(AT_FDCWD, records.path + "/.new", times, 0) == 0)
    try #require(rename(records.path + "/.new", records.file(0)) == 0)
    #expect(try records.scan().changed == [records.id(0)])
  }

  @Test("A record that changed in the tick in which it was read counts as changed")
  func sameTick() throws {
    let records = try Records(0..<2)
    try records.makeIndex(age: 10_000_000)
    let scan = try records.scan()
    #expect(records.unchanged(scan) == [false, false])
    #expect(scan.changed.sorted() == [records.id(0), records.id(1)])
  }

  @Test func aFolderInPlaceOfARecordCountsAsChanged() throws {
    let records = try Records(0..<2)
    try FileManager.default.removeItem(atPath: records.file(0))
    try FileManager.default.createDirectory(
      atPath: records.file(0), withIntermediateDirectories: false)
    let scan = try records.scan()
    #expect(records.unchanged(scan) == [false, true])
    #expect(scan.changed == [records.id(0)])
    #expect(scan.removed.isEmpty)
  }

  @Test func aLinkInPlaceOfARecordCountsAsChanged() throws {
    let records = try Records(0..<2)
    try FileManager.default.moveItem(
      atPath: records.file(0), toPath: records.sandbox.root + "/elsewhere")
    try FileManager.default.createSymbolicLink(
      atPath: records.file(0), withDestinationPath: records.sandbox.root + "/elsewhere")
    #expect(try records.scan().changed == [records.id(0)])
  }

  @Test func anUnreadableRecordCountsAsChanged() throws {
    let records = try Records(0..<2)
    try #require(chmod(records.file(0), 0) == 0)
    let scan = try records.scan()
    #expect(records.unchanged(scan) == [false, true])
    #expect(scan.changed == [records.id(0)])
    #expect(scan.removed.isEmpty)
  }

  @Test func otherNamesAreStrayOrIgnored() throws {
    let records = try Records(0..<2)
    for name in ["note.json", "README", ".hidden.json", "\(records.id(5)).JSON", "x.json~"] {
      try records.sandbox.write("", to: "\(records.path)/\(name)")
    }
    let scan = try records.scan()
    #expect(scan.strays == ["note.json"])
    #expect(records.unchanged(scan) == [true, true])
    #expect(scan.changed.isEmpty && scan.removed.isEmpty)
  }

  @Test("Many records are compared with the same result")
  func manyRecords() throws {
    let records = try Records(0..<1_200)
    try records.write(3, "changed")
    try FileManager.default.removeItem(atPath: records.file(777))
    try records.write(5_000)
    let scan = try records.scan()
    #expect(records.unchanged(scan).count { $0 } == 1_198)
    #expect(scan.changed.sorted() == [records.id(3), records.id(5_000)])
    #expect(scan.removed == [records.id(777)])
  }
}
