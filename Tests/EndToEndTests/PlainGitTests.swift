import Foundation
import TestSupport
import Testing

/// Tests of plain git commands in a store: no acknowledged write is lost and no alarm stops ringing.
@Suite struct PlainGitTests {
  private func store() async throws -> Sandbox {
    let sandbox = try await Sandbox.withTea(committing: true)
    _ = try await sandbox.belfry(
      "add", "Rent", "--weekly", "mon", "--at", "10:00", now: "2026-11-20T22:42:00Z")
    return sandbox
  }

  private func titles(_ sandbox: Sandbox, now: String = "2026-11-20T22:50:00Z") async throws
    -> [String]
  {
    try await sandbox.belfry("list", "--json", now: now).array
      .compactMap { $0["title"] as? String }.sorted()
  }

  @Test func hardResetRevertsNothing() async throws {
    let sandbox = try await store()
    _ = try await sandbox.belfry("tick", now: "2026-11-21T09:00:00Z")
    _ = try await sandbox.belfry("done", "tea", now: "2026-11-21T09:01:00Z")
    _ = try await sandbox.git("reset", "-q", "--hard", "HEAD~3")
    #expect(try await titles(sandbox, now: "2026-11-21T09:02:00Z") == ["Rent", "Tea"])
    let tick = try await sandbox.belfry("tick", now: "2026-11-21T09:02:00Z")
    #expect(tick.err.contains(", which git had dropped from the branch."), "\(tick.err)")
    #expect(tick.err.contains("belfry delete"))
    // The response is restored, too, so nothing rings again.
    #expect(sandbox.rings.count == 1)
    #expect(try await sandbox.git("status", "--porcelain").out.isEmpty)
    #expect(try await sandbox.git("ls-files", "alarms").out.split(separator: "\n").count == 2)
    let log = try await sandbox.belfry("log", "--json", now: "2026-11-21T09:03:00Z")
    #expect(log.array.contains { $0["action"] as? String == "done" })
    #expect(try await sandbox.belfry("tick", now: "2026-11-21T09:03:00Z").err.isEmpty)
  }

  @Test func committedRemovalIsRestoredAndDeletionIsNot() async throws {
    let sandbox = try await store()
    _ = try await sandbox.belfry("delete", "--yes", "rent", "--yes", now: "2026-11-20T22:43:00Z")
    _ = try await sandbox.git("rm", "-q", "-r", "alarms", "log")
    _ = try await sandbox.git("commit", "-qm", "Clean up")
    let add = try await sandbox.belfry("add", "Milk", "--daily", now: "2026-11-20T22:44:00Z")
    #expect(add.status == 0)
    #expect(add.err.contains("restored"))
    #expect(try await titles(sandbox) == ["Milk", "Tea"])
    #expect(try await sandbox.git("status", "--porcelain").out.isEmpty)
  }

  @Test func commitOfOutdatedIndexDropsNothing() async throws {
    let sandbox = try await store()
    // Simulates a git process that read its index before the last two writes.
    let tree = try await sandbox.git("rev-parse", "HEAD~1^{tree}").out.prefix(40)
    let commit = try await sandbox.git("commit-tree", String(tree), "-p", "HEAD", "-m", "mine").out
    _ = try await sandbox.git("update-ref", "refs/heads/main", String(commit.prefix(40)))
    #expect(try await titles(sandbox) == ["Rent", "Tea"])
    _ = try await sandbox.belfry("add", "Milk", "--daily", now: "2026-11-20T22:44:00Z")
    #expect(
      try await sandbox.git("ls-tree", "HEAD", "alarms/").out.split(separator: "\n").count == 3)
    #expect(try await sandbox.git("status", "--porcelain").out.isEmpty)
  }

  @Test func committedHandEditIsImported() async throws {
    let sandbox = try await store()
    let id = try await sandbox.belfry("show", "tea", "--json").object["id"] as? String
    let file = try sandbox.alarmFile(id)
    try sandbox.write(try sandbox.read(file).replacing("\"Tea\"", with: "\"Green tea\""), to: file)
    try sandbox.write(
      try sandbox.read(sandbox.store + "/settings.json").replacing("plus", with: "premium"),
      to: sandbox.store + "/settings.json")
    _ = try await sandbox.git("commit", "-qam", "By hand")
    let tick = try await sandbox.belfry("tick", now: "2026-11-20T22:44:00Z")
    #expect(tick.err.isEmpty, "\(tick.err)")
    #expect(try await titles(sandbox) == ["Green tea", "Rent"])
    #expect(try sandbox.read(file).contains("\"title\": \"2026-11-20T22:44:00"))
    #expect(try sandbox.read(sandbox.store + "/settings.json").contains("2026-11-20T22:44:00"))
    #expect(try await sandbox.belfry("tier").out.contains("premium"))
    #expect(try await sandbox.git("status", "--porcelain").out.isEmpty)
  }

  @Test func committedRecordWithoutStampsIsImported() async throws {
    let sandbox = try await store()
    let id = try await sandbox.belfry("show", "tea", "--json").object["id"] as? String
    let file = try sandbox.alarmFile(id)
    let text = try sandbox.read(file).replacing("\"Tea\"", with: "\"Green tea\"")
    let stamps = try #require(text.firstRange(of: /"stamps": \{[^}]*\},/))
    try sandbox.write(text.replacingCharacters(in: stamps, with: ""), to: file)
    _ = try await sandbox.git("commit", "-qam", "By hand")
    let tick = try await sandbox.belfry("tick", now: "2026-11-20T22:44:00Z")
    #expect(tick.err.isEmpty, "\(tick.err)")
    #expect(try await titles(sandbox) == ["Green tea", "Rent"])
    #expect(try await sandbox.git("status", "--porcelain").out.isEmpty)
  }

  @Test func saveOfOutdatedFileRevertsNothing() async throws {
    let sandbox = try await store()
    let id = try await sandbox.belfry("show", "tea", "--json").object["id"] as? String
    let file = try sandbox.alarmFile(id)
    let opened = try sandbox.read(file)
    _ = try await sandbox.belfry("tick", now: "2026-11-21T09:00:00Z")
    _ = try await sandbox.belfry("done", "tea", now: "2026-11-21T09:01:00Z")
    _ = try await sandbox.belfry("edit", "tea", "--note", "green", now: "2026-11-21T09:02:00Z")
    // The editor saves the outdated text with another title.
    try sandbox.write(opened.replacing("\"Tea\"", with: "\"Breakfast tea\""), to: file)
    let list = try await sandbox.belfry("tick", "--json", now: "2026-11-21T09:03:00Z")
    #expect(list.status == 0)
    let show = try await sandbox.belfry("show", "breakfast", "--json", now: "2026-11-21T09:04:00Z")
    #expect(show.object["note"] as? String == "green")
    #expect(show.object["state"] as? String == "active")
    #expect(sandbox.rings.count == 1)
  }

  @Test func checkoutOfEarlierCommitIsReadOnlyAndBranchRings() async throws {
    let sandbox = try await store()
    _ = try await sandbox.belfry("edit", "tea", "--at", "09:30", now: "2026-11-20T22:43:00Z")
    _ = try await sandbox.belfry(
      "add", "Milk", "--daily", "--at", "09:30", now: "2026-11-20T22:44:00Z")
    let head = try await sandbox.git("rev-parse", "HEAD").out
    _ = try await sandbox.git("checkout", "-q", "HEAD~3")
    let list = try await sandbox.belfry("list", "--json", now: "2026-11-20T22:50:00Z")
    #expect(list.array.compactMap { $0["title"] as? String } == ["Tea"])
    #expect(list.err.contains("an earlier commit is checked out"))
    #expect(list.err.contains("checkout main"))
    #expect(list.otherErrors.split(separator: "\n").count == 2)
    let add = try await sandbox.belfry("add", "Bread", "--daily")
    #expect(add.status == 1)
    #expect(add.err.contains("read-only"))
    // Nothing rings at the old time; both alarms ring once at the new time.
    _ = try await sandbox.belfry("tick", now: "2026-11-21T09:00:00Z")
    #expect(sandbox.rings.isEmpty)
    for minute in 30...33 {
      let tick = try await sandbox.belfry("tick", now: "2026-11-21T09:\(minute):00Z")
      #expect(tick.status == 1)
    }
    #expect(sandbox.rings.sorted() == ["Milk 2026-11-21T09:30", "Tea 2026-11-21T09:30"])
    #expect(try await sandbox.git("rev-parse", "main").out == head)
    #expect(try await sandbox.git("status", "--porcelain").out.isEmpty)
    _ = try await sandbox.git("checkout", "-q", "main")
    #expect(try await titles(sandbox) == ["Milk", "Rent", "Tea"])
    #expect(try await sandbox.belfry("done", "milk", now: "2026-11-21T09:35:00Z").status == 0)
  }

  @Test func detachedHeadHintNamesStoreBranch() async throws {
    let sandbox = try await store()
    _ = try await sandbox.git("branch", "-m", "main", "master")
    _ = try await sandbox.git("branch", "aside", "HEAD~1")
    _ = try await sandbox.belfry(
      "add", "Milk", "--daily", "--at", "09:30", now: "2026-11-20T22:44:00Z")
    _ = try await sandbox.git("checkout", "-q", "--detach", "HEAD~1")
    let list = try await sandbox.belfry("list", now: "2026-11-20T22:50:00Z")
    #expect(list.err.contains("on the branch master"), "\(list.err)")
    #expect(list.err.contains("belfry git -- checkout master"), "\(list.err)")
    let add = try await sandbox.belfry("add", "Bread", "--daily")
    #expect(add.status == 1)
    #expect(add.err.contains("not on its branch master"), "\(add.err)")
    #expect(add.err.contains("Return to it: belfry git -- checkout master"), "\(add.err)")
    let doctor = try await sandbox.belfry("doctor", now: "2026-11-20T22:51:00Z")
    #expect(doctor.out.contains("belfry git -- checkout master"), "\(doctor.out)")
    #expect(!doctor.out.contains("heads/main"), "\(doctor.out)")
    // A repair creates no branch.
    _ = try await sandbox.belfry("doctor", "--repair", now: "2026-11-20T22:52:00Z")
    let branches = try await sandbox.git("for-each-ref", "--format=%(refname:short)", "refs/heads")
    #expect(branches.out == "aside\nmaster\n")
    // Without the recorded branch, the hint is generic.
    try FileManager.default.removeItem(atPath: sandbox.store + "/.git/belfry/seen")
    let unknown = try await sandbox.belfry("add", "Bread", "--daily")
    #expect(unknown.err.contains("Return to it: belfry git -- checkout -"), "\(unknown.err)")
    _ = try await sandbox.git("checkout", "-q", "master")
    #expect(try await titles(sandbox) == ["Milk", "Rent", "Tea"])
  }

  @Test func stashRebaseAndGarbageCollectionKeepAlarms() async throws {
    let sandbox = try await store()
    let file = try sandbox.alarmFile()
    let before = try sandbox.read(file)
    try sandbox.write(before.replacing("09:00", with: "09:15"), to: file)
    _ = try await sandbox.git("stash", "-q")
    #expect(try await titles(sandbox) == ["Rent", "Tea"])
    _ = try await sandbox.git("stash", "pop", "-q")
    _ = try await sandbox.belfry("tick", now: "2026-11-20T22:44:00Z")
    _ = try await sandbox.git("gc", "-q", "--prune=now")
    let root = try await sandbox.git("rev-list", "--max-parents=0", "HEAD").out.prefix(40)
    #expect(try await sandbox.git("rebase", "-q", "--force-rebase", String(root)).status == 0)
    _ = try await sandbox.git("gc", "-q", "--prune=now")
    let add = try await sandbox.belfry("add", "Milk", "--daily", now: "2026-11-20T22:45:00Z")
    #expect(add.status == 0, "\(add.err)")
    #expect(try await titles(sandbox) == ["Milk", "Rent", "Tea"])
    #expect(try await sandbox.git("fsck").status == 0)
  }

  @Test func stoppedRebaseBlocksWrites() async throws {
    let sandbox = try await store()
    _ = try await sandbox.git("branch", "mine", "HEAD~1")
    _ = try await sandbox.git("checkout", "-q", "mine")
    _ = try await sandbox.git("rm", "-q", "settings.json")
    _ = try await sandbox.git("commit", "-qam", "x")
    _ = try await sandbox.git("checkout", "-q", "main")
    _ = try await sandbox.belfry("tier", "premium", now: "2026-11-20T22:44:00Z")
    let rebase = try await sandbox.git("rebase", "mine")
    #expect(rebase.status != 0)
    let head = try await sandbox.git("rev-parse", "HEAD").out
    let add = try await sandbox.belfry("add", "Milk", "--daily", now: "2026-11-20T22:45:00Z")
    #expect(add.status == 1)
    #expect(add.err.contains("rebase"), "\(add.err)")
    #expect(try await sandbox.git("rev-parse", "HEAD").out == head)
    _ = try await sandbox.belfry("tick", now: "2026-11-21T09:00:00Z")
    #expect(sandbox.rings.count == 1)
    _ = try await sandbox.git("rebase", "--abort")
    #expect(
      try await sandbox.belfry("add", "Milk", "--daily", now: "2026-11-21T09:45:00Z").status == 0)
  }

  @Test func lockOfDeadGitIsRemoved() async throws {
    let sandbox = try await store()
    for lock in ["index.lock", "refs/heads/main.lock"] {
      let path = sandbox.store + "/.git/" + lock
      try sandbox.write("", to: path)
      // The lock's age comes from the file system.
      _ = try await sandbox.run("/bin/touch", ["-d", "1 hour ago", path])
      let add = try await sandbox.belfry(
        "edit", "tea", "--note", lock, now: "2026-11-20T22:45:0\(lock.count % 10)Z",
        environment: ["BELFRY_LOCK_TIMEOUT": "1"])
      #expect(add.status == 0, "\(lock): \(add.err)")
      #expect(add.err.contains("removed a stale git lock"))
    }
    // A lock that a process holds is respected, and the error names the process.
    let lock = sandbox.store + "/.git/index.lock"
    async let holder = sandbox.run(
      "/bin/sh",
      [
        "-c",
        """
        \(sandbox.waitFor)
        exec 9> '\(lock)'
        touch -d '1 hour ago' '\(lock)'
        touch '\(sandbox.root)/held'
        wait_for [ -e '\(sandbox.root)/enough' ] 9>&-
        rm '\(lock)'
        """,
      ])
    #expect(try await sandbox.waitForFile(sandbox.root + "/held"))
    let edit = try await sandbox.belfry(
      "edit", "tea", "--note", "held", environment: ["BELFRY_LOCK_TIMEOUT": "0"])
    #expect(edit.status == 7)
    #expect(edit.err.contains("sh (process "), "\(edit.err)")
    try sandbox.write("", to: sandbox.root + "/enough")
    _ = try await holder
  }
}

/// Tests of index formats that git's configuration selects.
@Suite struct IndexFormTests {
  @Test(
    "Commands work with each index format of git",
    arguments: [
      ["core.splitIndex=true"], ["core.splitIndex=true", "index.version=4"],
      ["index.version=4", "core.untrackedCache=true"], ["feature.manyFiles=true"],
      ["core.fsmonitor=HOOK", "core.splitIndex=true"],
    ])
  func indexFormats(settings: [String]) async throws {
    let sandbox = try Sandbox()
    try await sandbox.plus()
    let hook = sandbox.root + "/monitor"
    try sandbox.write("#!/bin/sh\nprintf 'token\\0/\\0'\n", to: hook, mode: 0o755)
    for setting in settings {
      let parts = setting.replacing("HOOK", with: hook).split(separator: "=").map(String.init)
      _ = try await sandbox.git("config", parts[0], parts[1])
    }
    if settings.contains("index.version=4") {
      _ = try await sandbox.git("update-index", "--index-version", "4")
    }
    for (number, command) in [
      ["add", "Tea", "--daily", "--at", "09:00"], ["add", "Milk", "--daily"],
      ["edit", "tea", "--note", "green"], ["delete", "milk", "--yes"], ["undo"],
    ].enumerated() {
      // `git status` refreshes the caches in the index and splits it again.
      let file = sandbox.store + "/notes-\(number)"
      try sandbox.write("mine", to: file)
      #expect(try await sandbox.git("add", file).status == 0)
      #expect(try await sandbox.git("status").status == 0)
      let output = try await sandbox.run(
        Sandbox.binary, command,
        environment: [
          "TZ": "UTC", "BELFRY_DEVICE": "laptop", "BELFRY_NOW": "2026-11-20T22:4\(number):00Z",
        ])
      #expect(output.status == 0, "\(command): \(output.err)")
    }
    let status = try await sandbox.git("status", "--porcelain")
    #expect(status.out.split(separator: "\n").allSatisfy { $0.contains("notes-") }, "\(status.out)")
    #expect(try await sandbox.git("ls-files", "alarms").out.split(separator: "\n").count == 2)
    #expect(try await sandbox.git("fsck").status == 0)
  }
}

/// Tests of the daily audit of records other than alarms.
@Suite struct DailyAuditTests {
  @Test func removedLogIsRestoredAndHandEditIsCommitted() async throws {
    let sandbox = try Sandbox()
    _ = try await sandbox.belfry("add", "Tea", "--daily", "--at", "09:00")
    _ = try await sandbox.belfry("tick", now: "2026-11-20T22:42:00Z")
    let log = try await sandbox.belfry("log", "--json").out
    let head = try await sandbox.git("rev-parse", "HEAD").out
    _ = try await sandbox.run("/bin/sh", ["-c", "rm -r '\(sandbox.store)/log'"])
    // The audit does not run at every tick.
    #expect(try await sandbox.belfry("tick", now: "2026-11-20T22:43:00Z").err.isEmpty)
    #expect(try await sandbox.belfry("log", "--json").array.isEmpty)
    let tick = try await sandbox.belfry("tick", now: "2026-11-21T22:43:00Z")
    #expect(tick.err.contains(", which another program had removed."), "\(tick.err)")
    #expect(try await sandbox.belfry("log", "--json").out.contains(log.dropFirst(2).dropLast(3)))
    #expect(
      try await sandbox.git("merge-base", "--is-ancestor", head.replacing("\n", with: ""), "HEAD")
        .status == 0)
    // A hand edit of this device's name.
    let file = try await sandbox.run("/bin/sh", ["-c", "ls '\(sandbox.store)'/devices/*"]).out
      .replacing("\n", with: "")
    try sandbox.write(try sandbox.read(file).replacing("laptop", with: "desk"), to: file)
    #expect(try await sandbox.belfry("tick", now: "2026-11-23T22:43:00Z").err.isEmpty)
    #expect(try await sandbox.git("status", "--porcelain").out.isEmpty)
    #expect(try await sandbox.belfry("device").out.contains("desk"))
  }
}

/// Tests of repository maintenance: ticks and syncs pack loose objects.
@Suite struct MaintenanceTests {
  private func loose(_ sandbox: Sandbox) async throws -> Int {
    let words = try await sandbox.git("count-objects").out.split(separator: " ")
    return Int(words[0]) ?? 0
  }

  /// Writes loose objects that no commit contains, and returns the id of the last one.
  private func write(_ count: Int, _ sandbox: Sandbox) async throws -> String {
    let made = try await sandbox.run(
      "/bin/sh",
      [
        "-c",
        "mkdir '\(sandbox.root)/many'; cd '\(sandbox.root)/many'; seq \(count) | split -l 1 -a 4 -d; ls | sed 's|^|\(sandbox.root)/many/|' | git -C '\(sandbox.store)' hash-object -w --stdin-paths | tail -1",
      ])
    return String(made.out.prefix { $0 != "\n" })
  }

  @Test func tickPacksLooseObjectsWithoutLoss() async throws {
    let sandbox = try Sandbox()
    _ = try await sandbox.belfry("add", "Tea", "--daily", "--at", "09:00")
    _ = try await sandbox.belfry("tick", now: "2026-11-20T22:42:00Z")
    #expect(try await loose(sandbox) > 5)
    // Unreachable objects must survive, because a concurrent write may be about to reference them.
    let last = try await write(4000, sandbox)
    #expect(try await loose(sandbox) > 4000)
    let tick = try await sandbox.belfry("tick", now: "2026-11-20T22:43:00Z")
    #expect(tick.status == 0)
    #expect(tick.err.isEmpty, "\(tick.err)")
    #expect(try await loose(sandbox) < 100)
    #expect(try await sandbox.git("cat-file", "-e", last).status == 0)
    #expect(try await sandbox.git("fsck", "--full").status == 0)
    #expect(
      try await sandbox.belfry("add", "Milk", "--daily", now: "2026-11-20T22:44:00Z").status == 0)
    #expect(try await sandbox.git("status", "--porcelain").out.isEmpty)
  }

  @Test("After a sync, git packs loose objects in the background")
  func syncStartsPacking() async throws {
    let sandbox = try Sandbox()
    _ = try await sandbox.belfry("add", "Tea", "--daily", "--at", "09:00")
    _ = try await sandbox.git(
      "init", "-q", "--bare", "\(sandbox.root)/remote.git", in: sandbox.root)
    _ = try await sandbox.belfry("remote", "add", "origin", "\(sandbox.root)/remote.git")
    let last = try await write(9000, sandbox)
    let sync = try await sandbox.belfry("sync")
    #expect(sync.status == 0 && sync.err.isEmpty, "\(sync)")
    for _ in 0..<600 {
      if try await loose(sandbox) < 100 { break }
      try await Task.sleep(for: .milliseconds(100))
    }
    #expect(try await loose(sandbox) < 100)
    #expect(try await sandbox.git("cat-file", "-e", last).status == 0)
    #expect(try await sandbox.git("fsck", "--full").status == 0)
    #expect(try await sandbox.belfry("list").out.contains("Tea"))
  }
}
