import TestSupport
import Testing

/// Tests of sync between two devices through a bare repository.
@Suite struct SyncTests {
  /// Creates two devices and a bare repository as their remote.
  private func pair() async throws -> (Sandbox, one: String, two: String, remote: String) {
    let sandbox = try Sandbox()
    let (one, two, remote) = (
      sandbox.root + "/one", sandbox.root + "/two", sandbox.root + "/remote.git"
    )
    _ = try await sandbox.git("init", "-q", "--bare", remote, in: sandbox.root)
    _ = try await sandbox.belfry("add", "Rent", "--weekly", "mon", "--at", "09:00", store: one)
    _ = try await sandbox.belfry("remote", "add", "origin", remote, store: one)
    #expect(try await sandbox.belfry("sync", store: one).status == 0)
    let clone = try await sandbox.belfry("clone", "file://" + remote, store: two, device: "server")
    #expect(clone.status == 0, "\(clone.err)")
    return (sandbox, one, two, remote)
  }

  private func settle(_ sandbox: Sandbox, _ stores: String...) async throws {
    for _ in 0..<2 {
      for store in stores {
        let sync = try await sandbox.belfry("sync", store: store)
        #expect(sync.status == 0, "\(sync.err)")
      }
    }
  }

  private func expectClean(_ sandbox: Sandbox, _ stores: String...) async throws {
    var trees: Set<String> = []
    var heads: Set<String> = []
    for store in stores {
      trees.insert(try await sandbox.git("rev-parse", "HEAD^{tree}", in: store).out)
      heads.insert(try await sandbox.git("rev-parse", "HEAD", in: store).out)
      #expect(try await sandbox.git("status", "--porcelain", in: store).out.isEmpty)
      let fsck = try await sandbox.git("fsck", "--strict", in: store)
      #expect(fsck.status == 0, "\(fsck.err)")
      #expect(try await sandbox.git("grep", "-l", "<<<<<<<", in: store).out.isEmpty)
    }
    #expect(trees.count == 1)
    #expect(heads.count == 1)
  }

  @Test func cloneHasAllAlarmsAndItsOwnIdentity() async throws {
    let (sandbox, one, two, _) = try await pair()
    #expect(
      try await sandbox.belfry("list", store: two).out == sandbox.belfry("list", store: one).out)
    try await settle(sandbox, two, one)
    let devices = try await sandbox.run("/bin/sh", ["-c", "cat '\(one)'/devices/*.json"]).out
    #expect(devices.contains("\"laptop\"") && devices.contains("\"server\""))
    try await expectClean(sandbox, one, two)
  }

  @Test func editsOfDifferentFieldsBothSurvive() async throws {
    let (sandbox, one, two, _) = try await pair()
    _ = try await sandbox.belfry(
      "edit", "rent", "--title", "Pay the rent", now: "2026-11-21T10:00:00Z", store: one)
    _ = try await sandbox.belfry(
      "edit", "rent", "--note", "To the landlord", now: "2026-11-21T10:00:01Z", store: two,
      device: "server")
    try await settle(sandbox, one, two)
    for store in [one, two] {
      let alarm = try await sandbox.belfry("list", "--json", store: store).array[0]
      #expect(alarm["title"] as? String == "Pay the rent")
      #expect(alarm["note"] as? String == "To the landlord")
    }
    try await expectClean(sandbox, one, two)
  }

  @Test func editsOfOneFieldAreDecidedAndReported() async throws {
    let (sandbox, one, two, _) = try await pair()
    _ = try await sandbox.belfry(
      "edit", "rent", "--title", "First", now: "2026-11-21T10:00:00Z", store: one)
    _ = try await sandbox.belfry(
      "edit", "rent", "--title", "Second", now: "2026-11-21T10:00:01Z", store: two, device: "server"
    )
    _ = try await sandbox.belfry("sync", store: one)
    let sync = try await sandbox.belfry("sync", "--json", store: two)
    let decision = try #require((sync.object["decisions"] as? [[String: Any]])?.first)
    #expect(decision["field"] as? String == "title")
    #expect(decision["kept"] as? String == "Second")
    #expect(decision["discarded"] as? String == "First")
    #expect(
      try await sandbox.git("log", "--merges", "--format=%b", in: two).out.contains(
        "kept \"Second\" over \"First\""))
    try await settle(sandbox, one, two)
    try await expectClean(sandbox, one, two)
  }

  @Test func doneOnOneSideAndSnoozedOnTheOtherIsDone() async throws {
    let (sandbox, one, two, _) = try await pair()
    let monday = "2026-11-23T09:00:30Z"
    _ = try await sandbox.belfry("done", "rent", now: monday, store: one)
    _ = try await sandbox.belfry("snooze", "rent", now: monday, store: two, device: "server")
    try await settle(sandbox, two, one)
    let list = try await sandbox.belfry("list", "--json", now: "2026-11-23T10:00:00Z", store: two)
    #expect(list.array[0]["state"] as? String == "active")
    try await expectClean(sandbox, one, two)
  }

  @Test func deletionAgainstEditKeepsAlarm() async throws {
    let (sandbox, one, two, _) = try await pair()
    _ = try await sandbox.belfry("delete", "--yes", "rent", now: "2026-11-21T10:00:00Z", store: one)
    _ = try await sandbox.belfry(
      "edit", "rent", "--at", "10:00", now: "2026-11-21T09:00:00Z", store: two, device: "server")
    _ = try await sandbox.belfry("sync", store: one)
    let sync = try await sandbox.belfry("sync", "--json", store: two)
    let decision = try #require((sync.object["decisions"] as? [[String: Any]])?.first)
    #expect(decision["kept"] as? String == "schedule")
    #expect(decision["discarded"] as? String == "deleted")
    try await settle(sandbox, one, two)
    #expect(try await sandbox.belfry("list", "--json", store: one).array.count == 1)
    try await expectClean(sandbox, one, two)
  }

  @Test func bothDevicesMergeToTheSameCommit() async throws {
    let (sandbox, one, two, remote) = try await pair()
    try await settle(sandbox, two, one)
    let bare = sandbox.root + "/other.git"
    _ = try await sandbox.git("clone", "-q", "--bare", remote, bare, in: sandbox.root)
    // Each device edits, and fetches the other's edit through a repository that the other doesn't use.
    _ = try await sandbox.belfry(
      "edit", "rent", "--title", "A", now: "2026-11-21T10:00:00Z", store: one)
    _ = try await sandbox.belfry(
      "edit", "rent", "--note", "B", now: "2026-11-21T10:00:01Z", store: two, device: "server")
    _ = try await sandbox.git("push", "-q", remote, "main", in: one)
    _ = try await sandbox.git("push", "-q", bare, "main", in: two)
    _ = try await sandbox.belfry("remote", "add", "other", bare, store: one)
    _ = try await sandbox.belfry("sync", "other", now: "2026-11-22T10:00:00Z", store: one)
    _ = try await sandbox.belfry("sync", now: "2026-11-23T10:00:00Z", store: two, device: "server")
    try await expectClean(sandbox, one, two)
  }

  @Test func threeConcurrentWritersAndSyncLoseNothing() async throws {
    let (sandbox, one, two, _) = try await pair()
    for store in [one, two] { try await sandbox.plus(store: store) }
    func write(_ writer: Int, _ store: String) async throws -> [String] {
      var acknowledged: [String] = []
      for number in 0..<12 {
        let title = "Alarm \(writer)-\(number)"
        if try await sandbox.belfry("add", title, "--daily", now: nil, store: store).status == 0 {
          acknowledged.append(title)
        }
      }
      return acknowledged
    }
    async let a = write(1, one)
    async let b = write(2, one)
    async let c = write(3, two)
    async let loop: Void = {
      for _ in 0..<8 {
        _ = try await sandbox.belfry("sync", now: nil, store: one)
        _ = try await sandbox.belfry("sync", now: nil, store: two)
      }
    }()
    let titles = try await a + b + c
    try await loop
    #expect(titles.count == 36)
    try await settle(sandbox, one, two)
    try await expectClean(sandbox, one, two)
    // The alarms must be in HEAD, not only in the work tree.
    let committed = try await sandbox.git(
      "grep", "-h", "\"title\": \"Alarm", "HEAD", "--", "alarms", in: two
    ).out
    for title in titles { #expect(committed.contains("\"\(title)\""), "\(title) is lost") }
  }

  @Test func concurrentSyncsOfTwoDevicesLoseNothing() async throws {
    let (sandbox, one, two, remote) = try await pair()
    for store in [one, two] { try await sandbox.plus(store: store) }
    for round in 0..<4 {
      _ = try await sandbox.belfry("add", "One \(round)", "--daily", now: nil, store: one)
      _ = try await sandbox.belfry("add", "Two \(round)", "--daily", now: nil, store: two)
      async let x = sandbox.belfry("sync", now: nil, store: one)
      async let y = sandbox.belfry("sync", now: nil, store: two)
      let (first, second) = try await (x, y)
      #expect(first.status == 0, "\(first.err)")
      #expect(second.status == 0, "\(second.err)")
    }
    let names = try await sandbox.git("grep", "-h", "\"title\"", "main", "--", "alarms", in: remote)
      .out
    for round in 0..<4 { #expect(names.contains("One \(round)") && names.contains("Two \(round)")) }
  }

  @Test func unreachableRemoteIsReportedAndLosesNothing() async throws {
    let (sandbox, one, _, remote) = try await pair()
    _ = try await sandbox.run("/bin/mv", [remote, remote + ".gone"])
    _ = try await sandbox.belfry("add", "Milk", "--daily", store: one)
    let sync = try await sandbox.belfry("sync", store: one)
    #expect(sync.status == 6)
    #expect(sync.err.split(separator: "\n").count == 2)
    _ = try await sandbox.run("/bin/mv", [remote + ".gone", remote])
    #expect(try await sandbox.belfry("sync", "--json", store: one).object["pushed"] as? Int == 1)
  }

  @Test func invalidFilesStayOutOfWorkTree() async throws {
    let (sandbox, one, two, remote) = try await pair()
    let id = try sandbox.alarmFile(store: one).split(separator: "/").last!
    // The remote has manual changes: an invalid record, a script, a symbolic link and a nested file.
    let work = sandbox.root + "/work"
    _ = try await sandbox.git("clone", "-q", "-b", "main", remote, work, in: sandbox.root)
    _ = try await sandbox.run(
      "/bin/sh",
      [
        "-c",
        "cd '\(work)' && echo broken > alarms/\(id) && echo evil > evil.sh && ln -s /etc/passwd alarms/aaaaaaaaaaaaaaaaaaaaaaaaaa.json && mkdir -p log/x && echo y > log/x/y && git add -A && git -c user.name=t -c user.email=t commit -qm bad && git push -q",
      ])
    let sync = try await sandbox.belfry("sync", store: two, device: "server")
    #expect(sync.status == 0, "\(sync.err)")
    for path in ["alarms/\(id)", "evil.sh", "alarms/aaaaaaaaaaaaaaaaaaaaaaaaaa.json"] {
      #expect(sync.err.contains("left out of the sync: \(path)"), "\(path)")
    }
    #expect(
      try await sandbox.belfry("list", "--json", store: two).array.first?["title"] as? String
        == "Rent")
    let files = try await sandbox.run(
      "/usr/bin/find", [two, "-name", "evil*", "-o", "-type", "l", "-o", "-name", "y"]
    ).out
    #expect(files.isEmpty)
    try await settle(sandbox, one, two)
    try await expectClean(sandbox, one, two)
    // The remote is clean: a further sync creates no merge.
    #expect(try await sandbox.belfry("sync", "--json", store: one).object["pushed"] as? Int == 0)
  }

  @Test func unrelatedStoresMerge() async throws {
    let (sandbox, one, two, remote) = try await pair()
    let three = sandbox.root + "/three"
    _ = try await sandbox.belfry("add", "Milk", "--daily", "--at", "07:00", store: three)
    _ = try await sandbox.belfry("remote", "add", "origin", remote, store: three)
    try await settle(sandbox, three, one, two)
    for store in [one, two, three] {
      let titles = try await sandbox.belfry("list", "--json", store: store).array
        .compactMap { $0["title"] as? String }.sorted()
      #expect(titles == ["Milk", "Rent"])
    }
    try await expectClean(sandbox, one, two, three)
  }

  @Test func escapedFileURLIsAccepted() async throws {
    let (sandbox, _, _, remote) = try await pair()
    _ = try await sandbox.run("/bin/mv", [remote, sandbox.root + "/my remote.git"])
    let clone = try await sandbox.belfry(
      "clone", "file://\(sandbox.root)/my%20remote.git", "--json", store: sandbox.root + "/four")
    #expect(clone.object["alarms"] as? Int == 1, "\(clone.err)")
  }

  @Test func repositoryThatIsNotAStoreIsUnchanged() async throws {
    let (sandbox, one, _, _) = try await pair()
    let (work, bare) = (sandbox.root + "/project", sandbox.root + "/project.git")
    _ = try await sandbox.run(
      "/bin/sh",
      [
        "-c",
        "git init -q -b main '\(work)' && cd '\(work)' && echo x > f && git add f && git -c user.name=t -c user.email=t commit -qm f && git clone -q --bare . '\(bare)'",
      ])
    let head = try await sandbox.git("rev-parse", "main", in: bare).out
    _ = try await sandbox.belfry("remote", "add", "project", bare, store: one)
    let sync = try await sandbox.belfry("sync", "project", store: one)
    #expect(sync.status == 1)
    #expect(sync.err.contains("is not a Belfry store"))
    #expect(try await sandbox.git("rev-parse", "main", in: bare).out == head)
  }

  @Test func cloneOfEmptyRemoteIsAStore() async throws {
    let sandbox = try Sandbox()
    let (remote, store) = (sandbox.root + "/empty.git", sandbox.root + "/store")
    _ = try await sandbox.git("init", "-q", "--bare", remote, in: sandbox.root)
    #expect(try await sandbox.belfry("clone", remote, store: store).status == 0)
    _ = try await sandbox.belfry("add", "Tea", "--daily", store: store)
    #expect(try await sandbox.belfry("sync", "--json", store: store).object["pushed"] as? Int == 2)
  }

  @Test func cloneByPlainGitGetsIdentity() async throws {
    let (sandbox, one, _, remote) = try await pair()
    let three = sandbox.root + "/three"
    _ = try await sandbox.git("clone", "-q", "-b", "main", remote, three, in: sandbox.root)
    let list = try await sandbox.belfry("list", store: three, device: "desktop")
    #expect(list.err.contains("has no device identity yet"), "\(list.err)")
    let tick = try await sandbox.belfry("tick", store: three, device: "desktop")
    #expect(tick.err.contains("a new device identity: desktop"), "\(tick.err)")
    try await settle(sandbox, three, one)
    try await expectClean(sandbox, one, three)
  }

  @Test func copyOfStoreIsAnotherDevice() async throws {
    let sandbox = try Sandbox()
    _ = try await sandbox.belfry("add", "Tea", "--daily")
    let copy = sandbox.root + "/copy"
    _ = try await sandbox.run("/bin/cp", ["-a", sandbox.store, copy])
    let tick = try await sandbox.belfry("tick", store: copy, device: "desktop")
    #expect(tick.err.contains("a new device identity: desktop"))
    #expect(
      try await sandbox.run("/bin/sh", ["-c", "ls '\(copy)/devices' | wc -l"]).out.contains("2"))
  }
}
