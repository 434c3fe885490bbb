import BelfryCore
import Git
import TestSupport
import Testing

@testable import BelfryStore

/// The merge of two trees with many records.
@Suite struct TreeJoinTests {
  /// More than are merged at once.
  private static let count = 1_100

  private static func id(_ number: Int) -> Identifier {
    Identifier(high: 1, low: UInt64(number))
  }

  private static func alarm(_ number: Int, title: String? = nil) throws -> [UInt8] {
    let text = """
      {"format": 1, "id": "\(id(number))", "title": "Alarm \(number)", "schedule":
       {"kind": "daily", "start": "2026-11-20", "times": ["08:00"]}}
      """
    var alarm = try AlarmRecord.decode(Array(text.utf8), at: .alarm(id(number)))
    let device = Identifier(high: 2, low: 2)
    alarm = alarm.stamped(
      against: nil, at: Instant(rfc3339: "2026-11-20T08:00:00Z")!, device: device)
    if let title {
      let before = alarm
      alarm.title = title
      alarm = alarm.stamped(
        against: before, at: Instant(rfc3339: "2026-11-20T09:00:00Z")!, device: device)
    }
    return AlarmRecord.encode(alarm)
  }

  /// Writes a tree with a folder of alarms.
  private static func tree(
    _ repository: Repository, _ content: (Int) throws -> [UInt8], others: [String] = []
  ) throws -> ObjectID {
    func replaced(_ names: [(String, TreeData.Entry.Mode, ObjectID)]) throws -> ObjectID {
      try repository.writeTree(
        TreeData().replacing(
          Dictionary(
            uniqueKeysWithValues: names.map {
              ($0.0, .some(TreeData.Entry(name: $0.0, mode: $0.1, id: $0.2)))
            })))
    }
    var files = try (0..<count).map { number in
      ("\(id(number)).json", TreeData.Entry.Mode.file, try repository.writeBlob(content(number)))
    }
    files += try others.map { ($0, .file, try repository.writeBlob([])) }
    return try replaced([("alarms", .folder, try replaced(files))])
  }

  @Test("A record of a newer format stays byte for byte, in any order of the merges")
  func newerFormats() throws {
    let readable = try TreeJoinTests.alarm(1)
    let edited = try TreeJoinTests.alarm(1, title: "Edited")
    func newer(_ format: Int, _ more: String) -> [UInt8] {
      Array("{\"format\": \(format), \"more\": \"\(more)\"}".utf8)
    }
    let versions: [[UInt8]?] = [
      nil, [UInt8(ascii: "{")], readable, edited, newer(2, "a"), newer(2, "b"), newer(3, "a"),
    ]
    let kind = RecordPath.alarm(TreeJoinTests.id(1))
    func join(_ a: [UInt8]?, _ b: [UInt8]?) -> [UInt8]? {
      RecordJoin(kind, ours: a.map { .success($0) }, theirs: b.map { .success($0) }).bytes
    }
    for (index, a) in versions.enumerated() {
      for (other, b) in versions.enumerated() {
        let joined = join(a, b)
        #expect(joined == join(b, a))
        // The later of the list wins, from the readable versions on.
        if max(index, other) >= 4 { #expect(joined == versions[max(index, other)]) }
        for c in versions { #expect(join(joined, c) == join(a, join(b, c))) }
      }
    }
    #expect(join(readable, edited) == edited)
  }

  @Test func manyRecordsMergeAsEachOfThemAlone() async throws {
    let sandbox = try Sandbox()
    let repository = try Repository.create(sandbox.root + "/repository")
    let count = TreeJoinTests.count
    let base = try TreeJoinTests.tree(repository) { try TreeJoinTests.alarm($0) }
    // Every third alarm is changed here only, every third one there only, and one in four of the rest on both sides.
    func title(_ number: Int, _ side: String) -> String? {
      switch number % 3 {
      case 0: side == "here" ? "Here \(number)" : nil
      case 1: side == "there" ? "There \(number)" : nil
      default: number % 4 == 0 ? "\(side) \(number)" : nil
      }
    }
    let invalid: Set = [1, 500, count - 1]
    let ours = try TreeJoinTests.tree(repository) {
      try TreeJoinTests.alarm($0, title: title($0, "here"))
    }
    let theirs = try TreeJoinTests.tree(
      repository,
      {
        invalid.contains($0)
          ? [UInt8(ascii: "{")] : try TreeJoinTests.alarm($0, title: title($0, "there"))
      }, others: ["zzz.json", "another.txt"])
    // The merge reads loose and packed objects.
    for isPacked in [false, true] {
      if isPacked {
        for (name, tree) in [("base", base), ("ours", ours), ("theirs", theirs)] {
          let written = try await sandbox.git("tag", name, "\(tree)", in: repository.workTree)
          try #require(written.status == 0)
        }
        let packed = try await sandbox.git("repack", "-a", "-d", "-q", in: repository.workTree)
        try #require(packed.status == 0)
      }
      let join = try TreeJoin(repository, ours: ours, theirs: theirs, base: base)
      var changed = 0
      for number in 0..<count {
        let path = AlarmRecord.path(TreeJoinTests.id(number))
        let mine = try TreeJoinTests.alarm(number, title: title(number, "here"))
        let other = try TreeJoinTests.alarm(number, title: title(number, "there"))
        let alone = RecordJoin(
          .alarm(TreeJoinTests.id(number)), ours: .success(mine),
          theirs: .success(invalid.contains(number) ? [UInt8(ascii: "{")] : other),
          base: { try? TreeJoinTests.alarm(number) })
        let expected = try #require(alone.bytes)
        #expect(join.files[path].map { $0 ?? [] } ?? mine == expected, "\(number)")
        if expected == mine { continue }
        changed += 1
        #expect(join.taken[path] == (expected == other ? Repository.blobID(other) : nil))
        #expect(join.before[path] == Repository.blobID(mine))
      }
      #expect(changed > 300 && join.merged == changed)
      #expect(
        join.decisions.count == (0..<count).filter { $0 % 12 == 8 && !invalid.contains($0) }.count)
      // In the order of the tree.
      #expect(
        join.refusals.map(\.name)
          == (invalid.map { "\(TreeJoinTests.id($0)).json" } + ["zzz.json", "another.txt"]).sorted()
      )
    }
  }
}
