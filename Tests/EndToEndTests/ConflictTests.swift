import TestSupport
import Testing

/// The merge decisions that `belfry conflicts`, `explain`, `status` and `sync --dry-run` show.
@Suite struct ConflictTests {
  /// Returns two devices that share an alarm.
  private func twoDevices() async throws -> (Sandbox, String) {
    let sandbox = try Sandbox()
    try await sandbox.plus()
    _ = try await sandbox.belfry("add", "Rent", "--weekly", "mon", "--at", "09:00")
    return (sandbox, try await sandbox.secondDevice())
  }

  private func sync(_ sandbox: Sandbox, _ server: String, at now: String) async throws {
    for store in [sandbox.store, server, sandbox.store] {
      let sync = try await sandbox.belfry("sync", now: now, store: store)
      #expect(sync.status == 0, "\(sync.err)")
    }
  }

  @Test func mergeKeepsStepsOfBothDevices() async throws {
    let (sandbox, server) = try await twoDevices()
    try await sync(sandbox, server, at: "2026-11-20T22:50:00Z")
    let here = sandbox.store
    let added = [
      try await sandbox.belfry(
        "cascade", "add", "rent", "phone", "5551234567", now: "2026-11-20T23:00:00Z"),
      try await sandbox.belfry(
        "cascade", "on", "rent", "--every", "3m", now: "2026-11-20T23:00:10Z"),
      try await sandbox.belfry(
        "cascade", "add", "rent", "person", "Jen", "--address", "https://ntfy.sh/jen",
        now: "2026-11-20T23:01:00Z", store: server),
      try await sandbox.belfry(
        "cascade", "on", "rent", "--every", "5m", now: "2026-11-20T23:01:10Z", store: server),
    ]
    for edit in added { #expect(edit.status == 0, "\(edit.err)") }
    try await sync(sandbox, server, at: "2026-11-20T23:04:00Z")
    for store in [here, server] {
      let list = try await sandbox.belfry(
        "cascade", "list", "rent", now: "2026-11-20T23:05:00Z", store: store)
      #expect(list.out.contains("Jen") && list.out.contains("(555) 123-4567"), "\(list.out)")
      #expect(list.out.contains("5 min"), "\(list.out)")
    }
    // The discarded interval is listed. Restoring it keeps the steps of both devices.
    let conflicts = try await sandbox.belfry("conflicts", "--json", now: "2026-11-20T23:05:00Z")
    let every = try #require(
      conflicts.array.first { $0["field"] as? String == "cascade.every" }, "\(conflicts.out)")
    #expect(every["kept"] as? String == "5m" && every["discarded"] as? String == "3m")
    let number = try #require(every["number"] as? Int)
    let restore = try await sandbox.belfry(
      "conflicts", "restore", "\(number)", now: "2026-11-20T23:06:00Z")
    #expect(restore.status == 0 && restore.out.contains("3m"), "\(restore.out)\(restore.err)")
    let list = try await sandbox.belfry("cascade", "list", "rent", now: "2026-11-20T23:07:00Z")
    #expect(list.out.contains("Jen") && list.out.contains("3 min"), "\(list.out)")
    // The next undo reverts the restore, not the added steps.
    let undo = try await sandbox.belfry("undo", now: "2026-11-20T23:08:00Z")
    #expect(undo.status == 0, "\(undo.err)")
    let after = try await sandbox.belfry("cascade", "list", "rent", now: "2026-11-20T23:09:00Z")
    #expect(after.out.contains("Jen") && after.out.contains("5 min"), "\(after.out)")
  }

  @Test func discardedFieldIsListedAndRestored() async throws {
    let (sandbox, server) = try await twoDevices()
    _ = try await sandbox.belfry("edit", "rent", "--title", "Pay rent", now: "2026-11-20T23:00:00Z")
    _ = try await sandbox.belfry(
      "edit", "rent", "--title", "Miete", now: "2026-11-20T23:01:00Z", store: server)
    _ = try await sandbox.belfry(
      "settings", "set", "snooze", "5m", now: "2026-11-20T23:02:00Z")
    _ = try await sandbox.belfry(
      "settings", "set", "snooze", "7m", now: "2026-11-20T23:03:00Z", store: server)
    try await sync(sandbox, server, at: "2026-11-20T23:04:00Z")
    let list = try await sandbox.belfry("conflicts", "--json", now: "2026-11-20T23:05:00Z")
    #expect(list.array.count == 2)
    let title = try #require(list.array.first { $0["field"] as? String == "title" })
    #expect(title["kept"] as? String == "Miete")
    #expect(title["discarded"] as? String == "Pay rent")
    #expect(title["rule"] as? String == "laterEdit")
    #expect((title["discardedAt"] as? String)?.hasPrefix("2026-11-20T23:00:00") == true)
    let commit = try #require(title["discardedCommit"] as? String)
    let subject = try await sandbox.git("show", "-s", "--format=%s", commit).out
    #expect(subject == "Edited: Pay rent\n")
    for store in [sandbox.store, server] {
      let text = try await sandbox.belfry("conflicts", now: "2026-11-20T23:05:00Z", store: store)
        .out
      #expect(text.contains("by server") && text.contains("by laptop"))
    }
    let number = try #require(title["number"] as? Int)
    let restore = try await sandbox.belfry(
      "conflicts", "restore", "\(number)", now: "2026-11-20T23:06:00Z")
    #expect(restore.status == 0, "\(restore.err)")
    let setting = number == 1 ? "2" : "1"
    #expect(
      try await sandbox.belfry("conflicts", "restore", setting, now: "2026-11-20T23:06:30Z").status
        == 0)
    try await sync(sandbox, server, at: "2026-11-20T23:07:00Z")
    #expect(
      try await sandbox.belfry("list", now: "2026-11-20T23:08:00Z", store: server).out
        .contains("Pay rent"))
    #expect(
      try await sandbox.belfry("settings", now: "2026-11-20T23:08:00Z", store: server).out
        .contains("5m"))
    let again = try await sandbox.belfry(
      "conflicts", "restore", "\(number)", now: "2026-11-20T23:09:00Z")
    #expect(again.status == 4)
    #expect(try await sandbox.belfry("conflicts", "restore", "9").status == 4)
    #expect(try await sandbox.belfry("conflicts", "restore", "-1").status != 0)
  }

  @Test func conflictingResponseIsListedAndRestored() async throws {
    let (sandbox, server) = try await twoDevices()
    for (store, verb, now) in [
      (sandbox.store, "skip", "2026-11-23T09:01:00Z"), (server, "done", "2026-11-23T09:02:00Z"),
    ] {
      _ = try await sandbox.belfry("tick", now: "2026-11-23T09:00:00Z", store: store)
      let yes = verb == "skip" ? ["--yes"] : []
      #expect(
        try await sandbox.belfry([verb, "rent"] + yes, now: now, store: store).status == 0)
    }
    try await sync(sandbox, server, at: "2026-11-23T09:03:00Z")
    let item = try #require(
      try await sandbox.belfry("conflicts", "--json", now: "2026-11-23T09:04:00Z").array.first)
    #expect(item["field"] as? String == "2026-11-23T09:00")
    #expect(item["kept"] as? String == "done" && item["discarded"] as? String == "skipped")
    let explain = try await sandbox.belfry(
      "explain", "rent", "2026-11-23T09:00", "--json", now: "2026-11-23T09:04:00Z")
    let steps = try #require(
      (explain.object["occurrences"] as? [[String: Any]])?.first?["steps"] as? [[String: Any]])
    #expect(Set(steps.compactMap { $0["value"] as? String }) == ["skipped", "done"])
    #expect(steps.contains { $0["rule"] as? String == "higherRank" })
    #expect(
      try await sandbox.belfry("conflicts", "restore", "1", now: "2026-11-23T09:05:00Z").status == 0
    )
    try await sync(sandbox, server, at: "2026-11-23T09:06:00Z")
    let log = try await sandbox.belfry("log", "rent", now: "2026-11-23T09:07:00Z", store: server)
    #expect(log.out.split(separator: "\n").dropFirst().first?.contains("Skipped") == true)
  }

  @Test func undoneSkipLeavesTheSnoozeOfAnotherDevice() async throws {
    let (sandbox, server) = try await twoDevices()
    for store in [sandbox.store, server] {
      _ = try await sandbox.belfry("tick", now: "2026-11-23T09:00:10Z", store: store)
    }
    _ = try await sandbox.belfry("skip", "--yes", "rent", now: "2026-11-23T09:01:00Z")
    _ = try await sandbox.belfry("snooze", "rent", "1h", now: "2026-11-23T09:02:00Z", store: server)
    try await sync(sandbox, server, at: "2026-11-23T09:03:00Z")
    let undo = try await sandbox.belfry("undo", now: "2026-11-23T09:04:00Z")
    #expect(undo.status == 0, "\(undo.err)")
    let list = try await sandbox.belfry("list", now: "2026-11-23T09:05:00Z")
    #expect(list.out.contains("snoozed  Rent"), "\(list.out)")
  }

  @Test func discardedDeletionIsRestored() async throws {
    let (sandbox, server) = try await twoDevices()
    _ = try await sandbox.belfry("delete", "--yes", "rent", "--yes", now: "2026-11-20T23:00:00Z")
    _ = try await sandbox.belfry(
      "edit", "rent", "--note", "needed", now: "2026-11-20T23:01:00Z", store: server)
    try await sync(sandbox, server, at: "2026-11-20T23:02:00Z")
    #expect(try await sandbox.belfry("list", now: "2026-11-20T23:03:00Z").out.contains("Rent"))
    let item = try #require(
      try await sandbox.belfry("conflicts", "--json", now: "2026-11-20T23:03:00Z").array.first)
    #expect(item["rule"] as? String == "unseenEdit")
    #expect(
      try await sandbox.belfry("conflicts", "restore", "1", now: "2026-11-20T23:04:00Z").status == 0
    )
    try await sync(sandbox, server, at: "2026-11-20T23:05:00Z")
    let list = try await sandbox.belfry(
      "list", "--json", now: "2026-11-20T23:06:00Z", store: server)
    #expect(list.array.isEmpty)
  }

  @Test func explainNamesCommitAndDeviceOfEachField() async throws {
    let (sandbox, server) = try await twoDevices()
    _ = try await sandbox.belfry(
      "edit", "rent", "--note", "IBAN", now: "2026-11-20T23:01:00Z", store: server)
    try await sync(sandbox, server, at: "2026-11-20T23:02:00Z")
    let explain = try await sandbox.belfry("explain", "rent", now: "2026-11-20T23:03:00Z")
    let lines = explain.out.split(separator: "\n")
    let note = try #require(lines.first { $0.contains("note") })
    #expect(note.contains("IBAN") && note.contains("server") && note.contains("Edited: Rent"))
    let title = try #require(lines.first { $0.contains("title") })
    #expect(title.contains("laptop") && title.contains("Created: Rent"))
    #expect(!explain.out.contains("*"), "\(explain.out)")
    #expect(try await sandbox.belfry("explain", "rent", "someday").status == 2)
    #expect(try await sandbox.belfry("explain", "nothing").status == 3)
  }

  @Test func explainMarksTheKeptValueAndTheReason() async throws {
    let (sandbox, server) = try await twoDevices()
    _ = try await sandbox.belfry("edit", "rent", "--title", "Flat", now: "2026-11-20T23:00:00Z")
    _ = try await sandbox.belfry(
      "edit", "rent", "--title", "Miete", now: "2026-11-20T23:01:00Z", store: server)
    try await sync(sandbox, server, at: "2026-11-20T23:02:00Z")
    let now = "2026-11-20T23:03:00Z"
    let lines = try await sandbox.belfry("explain", "miete", now: now).out
      .split(separator: "\n").map { $0.split(separator: " ", omittingEmptySubsequences: true) }
    let kept = try #require(lines.firstIndex { $0.first == "title" })
    #expect(lines[kept].prefix(4) == ["title", "*", "Miete", "server"])
    #expect(lines[kept + 1].prefix(3) == ["-", "Flat", "laptop"])
    #expect(lines[kept + 2].joined(separator: " ") == "* kept because it was edited later")
    // Two answers of one occurrence.
    for (store, verb, now) in [
      (sandbox.store, "skip", "2026-11-23T09:01:00Z"), (server, "done", "2026-11-23T09:02:00Z"),
    ] {
      _ = try await sandbox.belfry("tick", now: "2026-11-23T09:00:00Z", store: store)
      let yes = verb == "skip" ? ["--yes"] : []
      _ = try await sandbox.belfry([verb, "miete"] + yes, now: now, store: store)
    }
    try await sync(sandbox, server, at: "2026-11-23T09:03:00Z")
    let states = try await sandbox.belfry(
      "explain", "miete", "2026-11-23", now: "2026-11-23T09:04:00Z"
    ).out
    #expect(states.contains("*  done") && states.contains("-  skipped"), "\(states)")
    #expect(states.contains("* kept because done overrides skipped"), "\(states)")
  }

  @Test func dryRunChangesNothing() async throws {
    let (sandbox, server) = try await twoDevices()
    _ = try await sandbox.belfry("add", "Milk", "--daily", now: "2026-11-20T23:00:00Z")
    _ = try await sandbox.belfry("sync", now: "2026-11-20T23:00:30Z")
    _ = try await sandbox.belfry(
      "edit", "rent", "--note", "x", now: "2026-11-20T23:01:00Z", store: server)
    let before = try await sandbox.git("rev-parse", "HEAD", in: server).out
    let plan = try await sandbox.belfry(
      "sync", "--dry-run", "--json", now: "2026-11-20T23:02:00Z", store: server)
    #expect(plan.status == 0, "\(plan.err)")
    #expect(plan.array[0]["incoming"] as? Int == 1)
    #expect((plan.array[0]["outgoing"] as? Int ?? 0) > 0)
    let changes = try #require(plan.array[0]["changes"] as? [[String: Any]])
    #expect(changes.contains { $0["title"] as? String == "Milk" && $0["new"] as? Bool == true })
    #expect(try await sandbox.git("rev-parse", "HEAD", in: server).out == before)
    #expect(
      try await !sandbox.belfry("list", now: "2026-11-20T23:02:00Z", store: server).out
        .contains("Milk"))
    let status = try await sandbox.belfry(
      "status", "--json", now: "2026-11-20T23:03:00Z", store: server)
    let remote = try #require((status.object["remotes"] as? [[String: Any]])?.first)
    #expect(remote["behind"] as? Int == 1)
    #expect((remote["ahead"] as? Int ?? 0) > 0)
    let devices = try #require(status.object["devices"] as? [[String: Any]])
    #expect(devices.first?["name"] as? String == "server")
    #expect(devices.first?["here"] as? Bool == true)
  }
}

/// Several remotes, devices without a central remote, and rewound remotes.
@Suite struct TopologyTests {
  private func trees(_ sandbox: Sandbox, _ stores: [String]) async throws -> Set<String> {
    var trees: Set<String> = []
    for store in stores {
      trees.insert(try await sandbox.git("rev-parse", "HEAD^{tree}", in: store).out)
      #expect(try await sandbox.git("status", "--porcelain", in: store).out.isEmpty)
    }
    return trees
  }

  @Test func devicesConvergeWithoutCentralRemote() async throws {
    let sandbox = try Sandbox()
    try await sandbox.plus()
    _ = try await sandbox.belfry("add", "Rent", "--daily")
    let stores = [sandbox.store, sandbox.root + "/two", sandbox.root + "/three"]
    for (index, store) in stores.enumerated().dropFirst() {
      let clone = try await sandbox.belfry(
        "clone", stores[0], now: "2026-11-20T22:42:00Z", store: store, device: "device\(index)")
      #expect(clone.status == 0, "\(clone.err)")
    }
    // The remotes form a ring: each store has one other store as its remote.
    _ = try await sandbox.belfry("remote", "add", "third", stores[2])
    for (index, store) in stores.enumerated() {
      _ = try await sandbox.belfry(
        "add", "From \(index)", "--daily", now: "2026-11-20T22:5\(index):00Z", store: store)
    }
    for round in 0..<3 {
      for (index, store) in stores.enumerated() {
        let sync = try await sandbox.belfry(
          "sync", now: "2026-11-20T23:\(10 + round)\(":0\(index)")Z", store: store)
        #expect(sync.status == 0, "\(sync.err)")
      }
    }
    #expect(try await trees(sandbox, stores).count == 1)
    for store in stores {
      let list = try await sandbox.belfry("list", now: "2026-11-20T23:20:00Z", store: store)
      for index in 0..<3 { #expect(list.out.contains("From \(index)"), "\(list.out)") }
    }
  }

  @Test func nextTickMergesPushedChanges() async throws {
    let sandbox = try Sandbox()
    try await sandbox.plus()
    _ = try await sandbox.belfry("add", "Rent", "--daily")
    let two = sandbox.root + "/two"
    _ = try await sandbox.belfry(
      "clone", sandbox.store, now: "2026-11-20T22:42:00Z", store: two, device: "server")
    _ = try await sandbox.belfry("add", "Milk", "--daily", now: "2026-11-20T22:43:00Z", store: two)
    let sync = try await sandbox.belfry("sync", now: "2026-11-20T22:44:00Z", store: two)
    #expect(sync.status == 0, "\(sync.err)")
    #expect(sync.out.contains("merges the pushed changes"))
    #expect(
      try await sandbox.belfry("status", now: "2026-11-20T22:45:00Z").out.contains(
        "pushed changes here"))
    _ = try await sandbox.belfry("tick", now: "2026-11-20T22:45:00Z")
    #expect(try await sandbox.belfry("list", now: "2026-11-20T22:45:00Z").out.contains("Milk"))
    #expect(try await trees(sandbox, [sandbox.store, two]).count == 1)
    #expect(try await sandbox.git("for-each-ref", "refs/belfry").out.isEmpty)
  }

  @Test func unreachableRemoteDelaysNoOther() async throws {
    let sandbox = try Sandbox()
    try await sandbox.plus()
    _ = try await sandbox.belfry("add", "Rent", "--daily")
    let server = try await sandbox.secondDevice()
    _ = try await sandbox.belfry("remote", "add", "gone", sandbox.root + "/gone.git")
    let cascade = sandbox.root + "/backup.git"
    _ = try await sandbox.git("init", "-q", "--bare", cascade, in: sandbox.root)
    _ = try await sandbox.belfry("remote", "add", "backup", cascade)
    _ = try await sandbox.belfry("add", "Milk", "--daily", now: "2026-11-20T22:50:00Z")
    let sync = try await sandbox.belfry("sync", "--json", now: "2026-11-20T22:51:00Z")
    #expect(sync.status == 6)
    #expect(sync.err.contains("gone.git"))
    let remotes = try #require(sync.object["remotes"] as? [[String: Any]])
    #expect(remotes.filter { $0["error"] != nil }.compactMap { $0["name"] as? String } == ["gone"])
    _ = try await sandbox.belfry("sync", now: "2026-11-20T22:52:00Z", store: server)
    #expect(
      try await sandbox.belfry("list", now: "2026-11-20T22:53:00Z", store: server).out.contains(
        "Milk"))
    let main = try await sandbox.git("rev-parse", "main", in: cascade).out
    #expect(try await sandbox.git("rev-parse", "HEAD").out == main)
    #expect(try await sandbox.belfry("sync", "nowhere").status == 2)
  }

  @Test func syncRestoresRewoundRemote() async throws {
    let sandbox = try Sandbox()
    try await sandbox.plus()
    _ = try await sandbox.belfry("add", "Rent", "--daily")
    let server = try await sandbox.secondDevice()
    let remote = sandbox.root + "/remote.git"
    let old = try await sandbox.git("rev-parse", "main~1", in: remote).out.prefix(40)
    _ = try await sandbox.belfry(
      "add", "Milk", "--daily", now: "2026-11-20T22:50:00Z", store: server)
    _ = try await sandbox.belfry("sync", now: "2026-11-20T22:51:00Z", store: server)
    _ = try await sandbox.belfry("sync", now: "2026-11-20T22:52:00Z")
    _ = try await sandbox.git("update-ref", "refs/heads/main", String(old), in: remote)
    let sync = try await sandbox.belfry("sync", now: "2026-11-20T22:53:00Z")
    #expect(sync.status == 0, "\(sync.err)")
    #expect(sync.err.contains("was rewound"))
    _ = try await sandbox.belfry("sync", now: "2026-11-20T22:54:00Z", store: server)
    #expect(try await trees(sandbox, [sandbox.store, server]).count == 1)
    for store in [sandbox.store, server] {
      let list = try await sandbox.belfry("list", now: "2026-11-20T22:55:00Z", store: store).out
      #expect(list.contains("Milk") && list.contains("Rent"))
    }
  }

  @Test func clockYearsAheadSilencesNoAlarm() async throws {
    let sandbox = try Sandbox()
    try await sandbox.plus()
    _ = try await sandbox.belfry("add", "Pills", "--daily", "--at", "09:00")
    let server = try await sandbox.secondDevice()
    // The clock of the server says 2099.
    _ = try await sandbox.belfry("tick", now: "2099-05-01T10:00:00Z", store: server)
    _ = try await sandbox.belfry(
      "edit", "pills", "--at", "08:00", "--title", "From the future", now: "2099-05-01T10:01:00Z",
      store: server)
    _ = try await sandbox.belfry("sync", now: "2099-05-01T10:02:00Z", store: server)
    let sync = try await sandbox.belfry("sync", now: "2026-11-20T22:50:00Z")
    #expect(sync.status == 0)
    #expect(sync.err.contains("clock"), "\(sync.err)")
    // The alarm rings on this device the next morning.
    _ = try await sandbox.belfry("tick", now: "2026-11-21T08:00:00Z")
    #expect(sandbox.rings.contains("From the future 2026-11-21T08:00"), "\(sandbox.rings)")
    // The response and the edit of this device win, even after another merge with the server.
    let done = try await sandbox.belfry("done", "future", now: "2026-11-21T08:01:00Z")
    #expect(done.status == 0, "\(done.err)")
    _ = try await sandbox.belfry("edit", "future", "--title", "Pills", now: "2026-11-21T08:02:00Z")
    _ = try await sandbox.belfry("sync", now: "2026-11-21T08:03:00Z")
    _ = try await sandbox.belfry("sync", now: "2026-11-21T08:04:00Z", store: server)
    _ = try await sandbox.belfry("sync", now: "2026-11-21T08:05:00Z")
    for store in [sandbox.store, server] {
      let list = try await sandbox.belfry("list", now: "2026-11-21T08:06:00Z", store: store)
      #expect(list.out.contains("Pills") && !list.out.contains("future"), "\(list.out)")
      #expect(list.out.contains("tomorrow 08:00"), "\(list.out)")
    }
    // The alarm rings again the morning after.
    _ = try await sandbox.belfry("tick", now: "2026-11-22T08:00:00Z")
    #expect(sandbox.rings.contains("Pills 2026-11-22T08:00"), "\(sandbox.rings)")
  }
}
