import Foundation
import TestSupport
import Testing

/// Tests of commands that follow a write whose process was killed.
@Suite struct InterruptedWriteTests {
  /// The last step that the killed process completed.
  enum Point: CaseIterable, Sendable {
    /// The process wrote the journal.
    case journal
    /// The process also wrote the records' files to the work tree.
    case files
  }

  /// Leaves the store in the state of a process that is killed while it runs a command.
  ///
  /// Runs the command to create its objects, then resets the branch and the files.
  private func interrupt(
    _ sandbox: Sandbox, at point: Point, now: String, _ arguments: String...
  ) async throws {
    let local = sandbox.store + "/.git/belfry"
    func head() async throws -> String {
      String(try await sandbox.git("rev-parse", "HEAD").out.prefix(40))
    }
    let before = try await head()
    let journal = try sandbox.journal()
    let (cache, earlierCache) = ("\(local)/cache.db", "\(sandbox.root)/cache.db")
    _ = try await sandbox.run("/bin/cp", [cache, earlierCache])
    let output = try await sandbox.run(
      Sandbox.binary, arguments,
      environment: ["TZ": "UTC", "BELFRY_DEVICE": "laptop", "BELFRY_NOW": now])
    #expect(output.status == 0, "\(output.err)")
    #expect(try await head() != before)
    _ = try await sandbox.git("reset", "-q", point == .files ? "--mixed" : "--hard", before)
    _ = try await sandbox.run("/bin/cp", [earlierCache, cache])
    try sandbox.write(before, to: "\(local)/seen")
    try await sandbox.interruptWrites(since: journal)
  }

  private func titles(_ sandbox: Sandbox, now: String = "2026-11-20T23:30:00Z") async throws
    -> [String]
  {
    try await sandbox.belfry("list", "--json", now: now).array
      .compactMap { $0["title"] as? String }.sorted()
  }

  private func store() async throws -> Sandbox { try await Sandbox.withTea() }

  @Test(
    "Undo reverts the interrupted command, not the acknowledged command before it",
    arguments: Point.allCases)
  func undoRevertsInterruptedAdd(point: Point) async throws {
    let sandbox = try await store()
    _ = try await sandbox.belfry("add", "Milk", "--daily", now: "2026-11-20T22:42:00Z")
    _ = try await sandbox.belfry("delete", "--yes", "milk", "--yes", now: "2026-11-20T22:43:00Z")
    try await interrupt(
      sandbox, at: point, now: "2026-11-20T22:44:00Z", "add", "Bread", "--daily")
    // A read shows the state that the next write completes.
    #expect(try await titles(sandbox) == ["Bread", "Tea"])
    let undo = try await sandbox.belfry("undo", now: "2026-11-20T22:45:00Z")
    #expect(undo.out.contains("Undid: Created: Bread"), "\(undo.out)\(undo.err)")
    #expect(try await titles(sandbox) == ["Tea"])
    #expect(try await sandbox.git("status", "--porcelain").out.isEmpty)
  }

  @Test("Undo after an interrupted undo reverts the preceding action", arguments: Point.allCases)
  func undoAfterInterruptedUndo(point: Point) async throws {
    let sandbox = try await store()
    _ = try await sandbox.belfry("edit", "tea", "--note", "green", now: "2026-11-20T22:42:00Z")
    _ = try await sandbox.belfry("edit", "tea", "--at", "08:00", now: "2026-11-20T22:43:00Z")
    try await interrupt(sandbox, at: point, now: "2026-11-20T22:44:00Z", "undo")
    let show = try await sandbox.belfry("show", "tea", "--json", now: "2026-11-20T22:45:00Z")
    #expect(show.object["nextOccurrence"] as? String == "2026-11-21T09:00")
    let undo = try await sandbox.belfry("undo", now: "2026-11-20T22:46:00Z")
    #expect(undo.status == 0, "\(undo.err)")
    let after = try await sandbox.belfry("show", "tea", "--json", now: "2026-11-20T22:47:00Z")
    #expect(after.object["note"] == nil, "\(after.out)")
    #expect(after.object["nextOccurrence"] as? String == "2026-11-21T09:00")
  }

  @Test(
    "An alarm whose deletion was interrupted is deleted for every command",
    arguments: Point.allCases)
  func interruptedDeletion(point: Point) async throws {
    for command in [
      ["skip", "tea", "--yes"], ["edit", "tea", "--note", "green"], ["delete", "tea", "--yes"],
      ["disable", "tea"], ["pause", "tea", "--until", "2026-12-01"],
    ] {
      let sandbox = try await store()
      try await interrupt(
        sandbox, at: point, now: "2026-11-20T22:42:00Z", "delete", "tea", "--yes")
      #expect(try await titles(sandbox) == [])
      let output = try await sandbox.run(
        Sandbox.binary, command,
        environment: [
          "TZ": "UTC", "BELFRY_DEVICE": "laptop", "BELFRY_NOW": "2026-11-20T22:43:00Z",
        ])
      #expect(output.status == 3, "\(command): \(output.out)\(output.err)")
      _ = try await sandbox.belfry("add", "Milk", "--daily", now: "2026-11-20T22:44:00Z")
      #expect(try await titles(sandbox) == ["Milk"])
      let undo = try await sandbox.belfry("undo", "--skip", "1", now: "2026-11-20T22:45:00Z")
      #expect(undo.out.contains("Undid: Deleted: Tea"), "\(undo.out)\(undo.err)")
    }
  }

  @Test(
    "A commit made after an interrupted write survives, even if the first completion attempt fails")
  func completionAtSecondAttempt() async throws {
    let sandbox = try await Sandbox.withTea(committing: true)
    try await interrupt(
      sandbox, at: .journal, now: "2026-11-20T22:42:00Z", "edit", "tea", "--note", "green")
    let file = try sandbox.alarmFile()
    try sandbox.write(try sandbox.read(file).replacing("\"Tea\"", with: "\"Coffee\""), to: file)
    _ = try await sandbox.git("commit", "-qam", "By hand")
    // Another git process holds the branch's lock, so the first attempt fails.
    let lock = sandbox.store + "/.git/refs/heads/main.lock"
    let busy = try await sandbox.run(
      "/bin/sh",
      [
        "-c",
        """
        mkfifo '\(sandbox.root)/input'; cd '\(sandbox.store)'
        git hash-object --stdin <'\(sandbox.root)/input' >/dev/null & exec 3>'\(sandbox.root)/input'
        touch -d '+1 hour' '\(lock)'
        '\(Sandbox.binary)' add Milk --daily; status=$?
        rm -f '\(lock)'; exec 3>&-; wait; exit $status
        """,
      ],
      environment: [
        "TZ": "UTC", "BELFRY_DEVICE": "laptop", "BELFRY_NOW": "2026-11-20T22:43:00Z",
        "BELFRY_LOCK_TIMEOUT": "0",
      ])
    #expect(busy.status == 7, "\(busy.out)\(busy.err)")
    let add = try await sandbox.belfry("add", "Milk", "--daily", now: "2026-11-20T22:44:00Z")
    #expect(add.status == 0, "\(add.err)")
    #expect(try await titles(sandbox) == ["Coffee", "Milk"])
    let show = try await sandbox.belfry("show", "coffee", "--json", now: "2026-11-20T22:45:00Z")
    #expect(show.object["note"] as? String == "green", "\(show.out)")
  }

  @Test("A command finds an alarm by the title that an interrupted edit set")
  func titleOfInterruptedEdit() async throws {
    let sandbox = try await store()
    _ = try await sandbox.belfry("add", "Milk", "--daily", now: "2026-11-20T22:42:00Z")
    try await interrupt(
      sandbox, at: .journal, now: "2026-11-20T22:43:00Z", "edit", "tea", "--title", "Coffee")
    #expect(try await titles(sandbox) == ["Coffee", "Milk"])
    let delete = try await sandbox.belfry(
      "delete", "--yes", "coffee", "--yes", now: "2026-11-20T22:44:00Z")
    #expect(delete.status == 0, "\(delete.err)")
    #expect(try await titles(sandbox) == ["Milk"])
  }

  @Test("A tick completes an interrupted write and rings its alarm")
  func tickCompletesInterruptedWrite() async throws {
    let sandbox = try await store()
    try await interrupt(
      sandbox, at: .journal, now: "2026-11-20T22:42:00Z", "add", "Milk", "--daily", "--at", "09:00")
    _ = try await sandbox.belfry("tick", now: "2026-11-21T09:00:00Z")
    #expect(sandbox.rings.sorted() == ["Milk 2026-11-21T09:00", "Tea 2026-11-21T09:00"])
    let commits = try await sandbox.git("rev-list", "--count", "HEAD").out
    _ = try await sandbox.belfry("tick", now: "2026-11-21T09:00:00Z")
    #expect(try await sandbox.git("rev-list", "--count", "HEAD").out == commits)
    #expect(try await sandbox.git("status", "--porcelain").out.isEmpty)
  }

  @Test("Completing an interrupted settings change keeps later changes")
  func interruptedSettingsChange() async throws {
    let sandbox = try await store()
    try await interrupt(
      sandbox, at: .journal, now: "2026-11-20T22:42:00Z", "settings", "set", "snooze", "5m")
    // Plain git brings another device's change to the branch before a command completes the write.
    let other = sandbox.root + "/other"
    _ = try await sandbox.git("clone", "-q", sandbox.store, other, in: sandbox.root)
    for (key, value) in [("snooze", "7m"), ("grace", "1h")] {
      let set = try await sandbox.belfry(
        "settings", "set", key, value, now: "2026-11-20T22:43:00Z", store: other, device: "server")
      #expect(set.status == 0, "\(set.err)")
    }
    _ = try await sandbox.git("pull", "-q", "--ff-only", other, "main")
    _ = try await sandbox.belfry("edit", "tea", "--note", "x", now: "2026-11-20T22:44:00Z")
    let record = try sandbox.read(sandbox.store + "/settings.json")
    #expect(record.contains("\"snooze\": 420"), "\(record)")
    #expect(record.contains("\"grace\": 3600"), "\(record)")
  }
}
