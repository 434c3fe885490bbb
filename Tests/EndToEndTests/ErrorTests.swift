import TestSupport
import Testing

/// Exit codes and messages of failures. Unaffected parts continue to work.
@Suite struct ErrorTests {
  private func isTwoShortLines(_ text: String) -> Bool {
    let lines = text.split(separator: "\n")
    return lines.count == 2 && lines.allSatisfy { $0.count <= 160 }
      && lines[0].hasPrefix("error: ") && lines[1].hasPrefix("hint: ")
  }

  @Test(arguments: ["pok", "atend", "catalo", "merge-drive"])
  func hiddenCommandsAreNotSuggested(_ name: String) async throws {
    let output = try await Sandbox().belfry(name)
    #expect(output.status == 2)
    #expect(output.err.contains("'\(name)' is not a belfry command"))
    for hidden in ["poke", "attend", "catalog", "merge-driver"] {
      #expect(!output.err.contains("'\(hidden)'"), "\(output.err)")
    }
  }

  @Test(arguments: [
    (["frobnicate"], Int32(2), "'frobnicate' is not a belfry command"),
    (["lst"], 2, "Did you mean 'list'?"),
    (["doen", "rent"], 2, "Did you mean 'done'?"),
    (["--store", "done", "--no-pager", "doen", "rent"], 2, "Did you mean 'done'?"),
    (["add", "x", "--once", "2026-02-30T10:00"], 2, "2026-02-30T10:00"),
    (["add", "x", "--once", "2020-01-01T10:00"], 2, "no future occurrence"),
    (["add", "x", "--at", "25:00"], 2, "there is no time of day '25:00'"),
    (["add", "x", "--weekly", "moonday"], 2, "'moonday' is not a weekday"),
    (["add", "x", "--monthly", "sixth mon"], 2, "'sixth mon'"),
    (["add", "x", "--monthly", "32"], 2, "'32'"),
    (["add", "x", "--annual", "02-30"], 2, "'02-30'"),
    (["add", "x", "--zone", "Mars/Base"], 2, "no time zone 'Mars/Base'"),
    (["add", "x", "--zone", "../../../etc/passwd"], 2, "no time zone"),
    (["add", "x", "--every", "0", "--daily"], 2, "interval of 0"),
    (["add", "x", "--daily", "--weekly", "mon"], 2, "cannot be combined"),
    (["add", "   "], 2, "title has no visible characters"),
    (["add", "a\u{1B}b"], 2, "U+001B"),
    (["add"], 2, "the title and the schedule are missing"),
    (["add", "x", "--colour", "red"], 2, "'--colour' is not an option of 'belfry add'"),
    (["add", "x", "--time", "9am"], 2, "Did you mean '--at'?"),
    (["add", "x", "--sund", "bell"], 2, "Did you mean '--sound'?"),
    (["add", "x", "--title", "y"], 2, "'--title' is an option of 'belfry edit'."),
    (["delete", "-f", "x"], 2, "Did you mean '--finished'?"),
    (["conflicts", "--al"], 2, "Did you mean '--all'?"),
    (["list", "--zzzz"], 2, "See 'belfry help list'."),
    (["show", "nothing"], 3, "no alarm 'nothing'"),
    (["rename", "t", "x"], 3, "could be any of 2 alarms"),
    (["done", "Tea"], 4, "is not ringing"),
    (["snooze", "Tea", "soon"], 2, "'soon' is not a length of time"),
    (["edit", "Tea"], 2, "nothing to change"),
    (["sync"], 1, "no remote"),
    (["remote", "add", "origin", "ftp://host/x"], 2, "is not a valid remote"),
    (["remote", "add", "a/b", "/tmp"], 2, "cannot be a remote's name"),
    (["clone", "/nowhere.git"], 1, "something at"),
  ])
  func failureHasExitCodeAndTwoLines(_ arguments: [String], _ code: Int32, _ words: String)
    async throws
  {
    let sandbox = try Sandbox()
    _ = try await sandbox.belfry("add", "Tea", "--daily", "--at", "09:00")
    _ = try await sandbox.belfry("add", "Toast", "--daily", "--at", "09:30")
    let before = try await sandbox.git("rev-parse", "HEAD").out
    let output = try await sandbox.run(
      Sandbox.binary, arguments, environment: ["BELFRY_NOW": "2026-11-20T22:41:00Z", "TZ": "UTC"])
    #expect(output.status == code)
    #expect(output.out.isEmpty)
    #expect(isTwoShortLines(output.err), "\(output.err)")
    #expect(output.err.contains(words), "\(output.err)")
    #expect(try await sandbox.git("rev-parse", "HEAD").out == before)
  }

  @Test func invalidClockIsRefused() async throws {
    let sandbox = try Sandbox()
    let output = try await sandbox.belfry("list", now: "yesterday")
    #expect(output.status == 2)
    #expect(isTwoShortLines(output.err))
  }

  @Test func folderWithoutStoreIsRefused() async throws {
    let sandbox = try Sandbox()
    let folder = sandbox.root + "/documents"
    _ = try await sandbox.run("/bin/sh", ["-c", "mkdir '\(folder)'; touch '\(folder)/letter'"])
    let output = try await sandbox.belfry("list", store: folder)
    #expect(output.status == 1)
    #expect(output.err.contains("is not a Belfry store"))
    _ = try await sandbox.git("init", "-q", in: folder)
    #expect(try await sandbox.belfry("add", "x", "--daily", store: folder).status == 1)
    #expect(try await sandbox.run("/bin/ls", ["-A", folder]).out == ".git\nletter\n")
  }

  @Test func foreignOrUnreadableStoreIsRefused() async throws {
    let sandbox = try Sandbox()
    _ = try await sandbox.belfry("add", "Tea", "--daily")
    let isRoot = try await sandbox.run("/usr/bin/id", ["-u"]).out == "0\n"
    if isRoot {
      _ = try await sandbox.run("/bin/chown", ["65534", sandbox.store])
      let output = try await sandbox.belfry("list")
      #expect(output.status == 1)
      #expect(isTwoShortLines(output.err))
      #expect(output.err.contains("belongs to another user"))
      // The owner of the store runs the command without permission to read it.
      _ = try await sandbox.run(
        "/bin/sh",
        [
          "-c",
          "chmod 755 '\(sandbox.root)' '\(sandbox.home)' '\(sandbox.home)/.local' '\(sandbox.home)/.local/share'; chown -R 65534 '\(sandbox.store)'; chmod 000 '\(sandbox.store)'",
        ])
      let copy = sandbox.root + "/belfry"
      _ = try await sandbox.run("/bin/cp", [Sandbox.binary, copy])
      let locked = try await sandbox.run(
        "/usr/bin/setpriv", ["--reuid", "65534", "--clear-groups", copy, "list"])
      #expect(locked.status == 1)
      #expect(locked.err.contains("Permission denied"), "\(locked.err)")
      #expect(isTwoShortLines(locked.err))
    } else {
      _ = try await sandbox.run("/bin/chmod", ["000", sandbox.store])
      let output = try await sandbox.belfry("list")
      _ = try await sandbox.run("/bin/chmod", ["700", sandbox.store])
      #expect(output.status == 1)
      #expect(isTwoShortLines(output.err))
    }
  }

  @Test func corruptRecordStaysArmedAndOthersWork() async throws {
    let sandbox = try Sandbox()
    try await sandbox.plus()
    let id =
      try await sandbox.belfry("add", "Pills", "--daily", "--at", "09:00", "--json").object["id"]
      as? String
    _ = try await sandbox.belfry("add", "Tea", "--daily", "--at", "09:00")
    let file = try sandbox.alarmFile(id)
    try sandbox.write("{ broken\n", to: file)

    let list = try await sandbox.belfry("list", "--json")
    #expect(list.status == 0)
    #expect(list.array.count == 2)
    #expect(list.otherErrors.hasPrefix("warning: alarms/\(id ?? "").json is not valid: line 1"))
    #expect(list.err.contains("\nhint: Its last valid version stays armed"))
    #expect(list.otherErrors.split(separator: "\n").count == 2)

    let tick = try await sandbox.belfry("tick", "--json", now: "2026-11-21T09:00:00Z")
    #expect(tick.status == 0)
    #expect((tick.object["fired"] as? [[String: Any]])?.count == 2)
    #expect(try sandbox.read(file) == "{ broken\n")
    // Commands on other alarms still succeed.
    #expect(try await sandbox.belfry("done", "tea", now: "2026-11-21T09:01:00Z").status == 0)
    #expect(try await sandbox.belfry("add", "Milk", "--daily").status == 0)
    #expect(try sandbox.read(file) == "{ broken\n")
    // The hint recommends this command.
    _ = try await sandbox.git("checkout", "--", ".")
    #expect(try await sandbox.belfry("list").otherErrors.isEmpty)
  }

  @Test func responseKeepsCorruptRecord() async throws {
    let sandbox = try Sandbox()
    _ = try await sandbox.belfry("add", "Pills", "--daily", "--at", "09:00")
    _ = try await sandbox.belfry("tick", now: "2026-11-21T09:00:00Z")
    let file = try sandbox.alarmFile()
    try sandbox.write("{ broken\n", to: file)
    let done = try await sandbox.belfry("done", "pills", now: "2026-11-21T09:01:00Z")
    #expect(done.status == 1)
    #expect(done.err.contains("is not valid"))
    #expect(try sandbox.read(file) == "{ broken\n")
  }

  @Test func unfinishedMergeRefusesWrites() async throws {
    let sandbox = try Sandbox()
    _ = try await sandbox.belfry("add", "Tea", "--daily", "--at", "09:00")
    let head = try await sandbox.git("rev-parse", "HEAD").out
    try sandbox.write(head, to: sandbox.store + "/.git/MERGE_HEAD")
    let add = try await sandbox.belfry("add", "Milk", "--daily")
    #expect(add.status == 1)
    #expect(isTwoShortLines(add.err))
    // A due alarm still rings.
    let tick = try await sandbox.belfry("tick", now: "2026-11-21T09:00:00Z")
    #expect(tick.status == 1)
    #expect(sandbox.rings.count == 1)
    #expect(tick.out.contains("Fired: Tea"))
    #expect(try await sandbox.git("rev-parse", "HEAD").out == head)
    _ = try await sandbox.belfry("tick", now: "2026-11-21T09:00:30Z")
    #expect(sandbox.rings.count == 1)
  }

  @Test func heldLockRefusesWrites() async throws {
    let sandbox = try Sandbox()
    _ = try await sandbox.belfry("add", "Tea", "--daily")
    async let holder = sandbox.run(
      "/usr/bin/flock",
      [
        sandbox.store + "/.git/belfry/lock", "sh", "-c",
        "\(sandbox.waitFor)touch \(sandbox.root)/held; wait_for [ -e \(sandbox.root)/enough ]",
      ])
    #expect(try await sandbox.waitForFile(sandbox.root + "/held"))
    // Reads do not wait for the lock.
    #expect(try await sandbox.belfry("list").status == 0)
    let add = try await sandbox.belfry(
      "add", "Milk", "--daily", "--at", "10:00", environment: ["BELFRY_LOCK_TIMEOUT": "0"])
    #expect(add.status == 7)
    #expect(isTwoShortLines(add.err))
    try sandbox.write("", to: sandbox.root + "/enough")
    _ = try await holder
  }

  @Test func unwritableDiskDoesNotSilenceAlarm() async throws {
    let sandbox = try Sandbox()
    _ = try await sandbox.belfry("add", "Tea", "--daily", "--at", "09:00")
    _ = try await sandbox.belfry("list")
    // Folders in place of the files that a tick writes simulate a disk that refuses writes.
    _ = try await sandbox.run(
      "/bin/sh",
      [
        "-c",
        "cd '\(sandbox.store)/.git/belfry' && rm -f lock tick.lock && mkdir lock tick.lock ledger.json",
      ])
    let tick = try await sandbox.belfry("tick", now: "2026-11-21T09:00:00Z")
    #expect(tick.status == 1)
    #expect(tick.out.contains("Fired: Tea"))
    #expect(tick.err.contains("could not be recorded"))
    #expect(sandbox.rings.count == 1)
    // With a writable runtime folder, the alarm does not ring again at every tick.
    let environment = ["XDG_RUNTIME_DIR": sandbox.root]
    for second in 10...12 {
      _ = try await sandbox.belfry(
        "tick", now: "2026-11-21T09:00:\(second)Z", environment: environment)
    }
    #expect(sandbox.rings.count == 2)
  }

  @Test(arguments: [
    "mkdir settings.json", "ln -s /nowhere settings.json", "printf '{' > settings.json",
    "printf '\\0' > .git/belfry/cache.db", "printf '\\0' > .git/belfry/cache.db-journal",
    "printf x > .git/belfry/cache.db-wal",
    "rm .git/belfry/cache.db; mkdir .git/belfry/cache.db",
    "rm .git/belfry/cache.db; : > .git/refs/heads/main",
    "rm .git/belfry/cache.db; rm -r .git/objects/??", "rm .git/belfry/seen; : > .git/HEAD",
    "printf x > .git/belfry/ledger.json", "printf x > .git/belfry/journal",
    "printf x > .git/belfry/seen", "mkdir .git/belfry/last-tick .git/belfry/settings",
    "printf '[core' > .git/config", "touch .git/index.lock .git/gc.pid.lock", "rm -r log devices",
  ])
  func otherDamageDoesNotSilenceAlarm(_ damage: String) async throws {
    let sandbox = try Sandbox()
    _ = try await sandbox.belfry("add", "Tea", "--daily", "--at", "09:00")
    let done = try await sandbox.run("/bin/sh", ["-c", "cd '\(sandbox.store)'; \(damage)"])
    #expect(done.status == 0)
    let tick = try await sandbox.belfry(
      "tick", now: "2026-11-21T09:00:00Z", environment: ["BELFRY_LOCK_TIMEOUT": "1"])
    #expect(sandbox.rings == ["Tea 2026-11-21T09:00"], "\(tick.err)")
    let list = try await sandbox.belfry("list", "--json", now: "2026-11-21T09:00:01Z")
    #expect(list.array.count == 1, "\(list.err)")
  }

  @Test(.enabled(if: TestMachine.mounts, "file systems cannot be mounted here"))
  func fullDiskChangesNothing() async throws {
    let sandbox = try Sandbox()
    let disk = sandbox.root + "/disk"
    let mount = try await sandbox.run(
      "/bin/sh", ["-c", "mkdir '\(disk)' && mount -t tmpfs -o size=1m tmpfs '\(disk)'"])
    try mount.expectSuccess()
    let store = disk + "/store"
    try await sandbox.plus(store: store)
    let note = String(repeating: "x", count: 1900)
    var added = 0
    var failed: Sandbox.Output?
    for number in 0..<100 where failed == nil {
      let output = try await sandbox.belfry(
        "add", "Alarm \(number)", "--daily", "--at", "0\(number % 10):1\(number / 10 % 6)",
        "--note", note,
        store: store)
      if output.status == 0 { added += 1 } else { failed = output }
    }
    #expect(failed?.status == 1)
    #expect(failed?.err.contains("The disk is full") == true, "\(failed?.err ?? "")")
    #expect(try await sandbox.belfry("list", "--json", store: store).array.count == added)
    #expect(try await sandbox.git("status", "--porcelain", in: store).out.isEmpty)
    #expect(try await sandbox.git("fsck", in: store).status == 0)
    _ = try await sandbox.run("/bin/umount", [disk])
  }
}
