import TestSupport
import Testing

/// Alarms without a further occurrence that need no answer.
@Suite struct FinishedAlarmTests {
  private static let now = "2026-11-23T10:00:00Z"

  /// Returns a sandbox with finished alarms, and others that are not finished.
  private func sandbox() async throws -> Sandbox {
    let sandbox = try Sandbox()
    try await sandbox.plus()
    for (title, options) in [
      ("Done", ["--once", "2026-11-23T09:00"]), ("Dismissed", ["--once", "2026-11-23T09:00"]),
      ("Missed", ["--once", "2026-11-23T09:00"]), ("Pending", ["--once", "2026-11-23T09:00"]),
      ("Skipped", ["--daily", "--at", "09:00", "--start", "2026-11-24", "--ends", "2026-11-24"]),
      ("Ahead", ["--once", "2026-11-24T09:00"]),
      ("Ended", ["--daily", "--at", "09:00", "--ends", "2026-11-23"]),
      ("Daily", ["--daily", "--at", "09:00"]),
    ] {
      let add = try await sandbox.belfry(["add", title] + options, now: "2026-11-23T08:00:00Z")
      #expect(add.status == 0, "\(add.err)")
    }
    _ = try await sandbox.belfry("tick", now: "2026-11-23T09:00:00Z")
    for arguments in [
      ["done", "Done"], ["stop", "Pending"], ["done", "Ended"], ["done", "Daily"],
      ["skip", "Skipped", "--yes"],
    ] {
      let answer = try await sandbox.belfry(arguments, now: "2026-11-23T09:01:00Z")
      #expect(answer.status == 0, "\(answer.err)")
    }
    _ = try await sandbox.belfry("tick", now: "2026-11-23T09:40:00Z")
    _ = try await sandbox.belfry("dismiss", "Dismissed", now: "2026-11-23T09:41:00Z")
    return sandbox
  }

  private func titles(
    _ sandbox: Sandbox, _ options: String..., now: String = FinishedAlarmTests.now
  ) async throws -> Set<String> {
    let list = try await sandbox.belfry(["list", "--json"] + options, now: now)
    return Set(list.array.compactMap { $0["title"] as? String })
  }

  @Test func finishedAlarmsAreListedApart() async throws {
    let sandbox = try await sandbox()
    #expect(
      try await titles(sandbox) == ["Missed", "Pending", "Skipped", "Ahead", "Daily"])
    #expect(try await titles(sandbox, "--finished") == ["Done", "Dismissed", "Ended"])
    // A skip can be undone until its time.
    #expect(
      try await titles(sandbox, "--finished", now: "2026-11-24T09:00:00Z")
        == ["Done", "Dismissed", "Ended", "Skipped"])
    // An edit gives an alarm further occurrences.
    _ = try await sandbox.belfry("edit", "Ended", "--ends", "none", now: Self.now)
    #expect(try await titles(sandbox).contains("Ended"))
  }

  @Test func finishedAlarmsAreDeletedInOneCommit() async throws {
    let sandbox = try await sandbox()
    let refused = try await sandbox.belfry("delete", "--finished", now: Self.now)
    #expect(refused.status == 2 && refused.err.contains("would delete 3 finished alarms"))
    let declined = try await sandbox.onTerminal(
      "delete", "--finished", input: "n\n", now: Self.now)
    #expect(declined.status == 1 && declined.out.contains("  Dismissed"), "\(declined.out)")
    #expect(try await titles(sandbox, "--finished").count == 3)
    let deleted = try await sandbox.belfry("delete", "--finished", "--yes", now: Self.now)
    #expect(deleted.out == "Deleted 3 finished alarms. To restore: belfry undo\n", "\(deleted.err)")
    #expect(try await titles(sandbox, "--finished").isEmpty)
    #expect(try await titles(sandbox).count == 5)
    let subject = try await sandbox.git("log", "-1", "--format=%s", in: sandbox.store)
    #expect(subject.out == "Deleted: 3 alarms\n")
    _ = try await sandbox.belfry("undo", now: Self.now)
    #expect(try await titles(sandbox, "--finished").count == 3)
    let empty = try await sandbox.belfry("delete", "--finished", "rent", now: Self.now)
    #expect(empty.status == 2)
  }

  @Test func finishedAlarmsDoNotCountForTheLimit() async throws {
    let sandbox = try Sandbox()
    for title in ["One", "Two"] {
      _ = try await sandbox.belfry(
        "add", title, "--once", "2026-11-23T09:00", now: "2026-11-23T08:00:00Z")
    }
    let more = ["add", "Three", "--daily", "--at", "12:00"]
    #expect(try await sandbox.belfry(more, now: "2026-11-23T08:30:00Z").status == 5)
    _ = try await sandbox.belfry("tick", now: "2026-11-23T09:00:00Z")
    #expect(try await sandbox.belfry(more, now: "2026-11-23T09:00:30Z").status == 5)
    _ = try await sandbox.belfry("done", "One", now: "2026-11-23T09:01:00Z")
    #expect(try await sandbox.belfry(more, now: "2026-11-23T09:02:00Z").status == 0)
    _ = try await sandbox.belfry("done", "Two", now: "2026-11-23T09:03:00Z")
    _ = try await sandbox.belfry("delete", "--yes", "Three", "--yes", now: "2026-11-23T09:04:00Z")
    let list = try await sandbox.belfry("list", now: "2026-11-23T09:05:00Z")
    #expect(list.out == "All alarms are finished. To list them: belfry list --finished\n")
  }
}
