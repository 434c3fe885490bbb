import Foundation
import TestSupport
import Testing

/// Tests of repositories and file systems that Belfry does not create: each works, or the error contains a hint,
/// and `doctor` reports the problem.
@Suite struct UnusualRepositoryTests {
  private func store() async throws -> Sandbox {
    let sandbox = try await Sandbox.withTea(committing: true)
    _ = try await sandbox.belfry("tick", now: "2026-11-20T22:42:00Z")
    return sandbox
  }

  /// Edits the note of the alarm Tea without waiting for a lock.
  private func editNote(
    _ note: String, in sandbox: Sandbox, _ variables: [String: String]
  ) async throws -> Sandbox.Output {
    try await sandbox.run(
      Sandbox.binary, ["edit", "tea", "--note", note],
      environment: variables.merging([
        "TZ": "UTC", "BELFRY_NOW": "2026-11-20T22:44:00Z", "BELFRY_LOCK_TIMEOUT": "0",
      ]) { $1 })
  }

  private func doctor(_ sandbox: Sandbox, _ words: String..., store: String? = nil) async throws
    -> Sandbox.Output
  {
    var variables = ["TZ": "UTC", "BELFRY_DEVICE": "laptop", "BELFRY_NOW": "2026-11-20T22:45:00Z"]
    variables["BELFRY_STORE"] = store
    return try await sandbox.run(Sandbox.binary, ["doctor"] + words, environment: variables)
  }

  private func titles(_ sandbox: Sandbox, store: String? = nil) async throws -> [String] {
    try await sandbox.belfry("list", "--json", now: "2026-11-20T22:50:00Z", store: store).array
      .compactMap { $0["title"] as? String }.sorted()
  }

  private func exists(_ path: String) -> Bool { FileManager.default.fileExists(atPath: path) }

  // MARK: Objects and references

  @Test func interactiveRebaseOfRootIsNotReportedAsDamage() async throws {
    let sandbox = try await store()
    let rebase = try await sandbox.run(
      "/usr/bin/git", ["-C", sandbox.store, "rebase", "-q", "-i", "--root"],
      environment: ["GIT_SEQUENCE_EDITOR": "true", "GIT_EDITOR": "true"])
    #expect(rebase.status == 0, "\(rebase.err)")
    // git reports the empty tree as missing, because a commit in the reflog refers to it.
    #expect(try await sandbox.git("fsck").out.contains("missing tree 4b825dc6"))
    let before = try await doctor(sandbox)
    #expect(before.out.contains("no damage"), "\(before.out)")
    #expect(before.status == 0, "\(before.out)")
    let repair = try await doctor(sandbox, "--repair", "--timeout", "30")
    #expect(repair.status == 0, "\(repair.out)")
    // Another missing object is still reported.
    _ = try await sandbox.run(
      "/bin/sh",
      [
        "-c",
        "cd '\(sandbox.store)'; o=$(git rev-parse HEAD~1^{tree}); rm .git/objects/$(echo $o | cut -c1-2)/$(echo $o | cut -c3-)",
      ])
    let damaged = try await doctor(sandbox)
    #expect(damaged.out.contains("of the history is missing"), "\(damaged.out)")
    #expect(!damaged.out.contains("4b825dc6"))
  }

  @Test(arguments: ["printf 'garbage\\n' >>", "head -c 300 /dev/urandom >", "printf '#garbage' >"])
  func damagedPackedReferencesAreRepaired(_ damage: String) async throws {
    let sandbox = try await store()
    _ = try await sandbox.git("pack-refs", "--all")
    let head = try await sandbox.git("rev-parse", "HEAD").out
    _ = try await sandbox.run(
      "/bin/sh", ["-c", "\(damage) '\(sandbox.store)/.git/packed-refs'"])
    let add = try await sandbox.belfry("add", "Milk", "--daily", now: "2026-11-20T22:44:00Z")
    #expect(add.status == 1)
    #expect(add.err.contains("belfry doctor"), "\(add.err)")
    _ = try await sandbox.belfry("tick", now: "2026-11-21T09:00:00Z")
    #expect(sandbox.rings == ["Tea 2026-11-21T09:00"])
    let before = try await doctor(sandbox)
    #expect(before.out.contains("packed-refs is damaged"), "\(before.out)")
    let repair = try await doctor(sandbox, "--repair")
    #expect(repair.out.contains("quarantine"), "\(repair.out)")
    #expect(
      try await sandbox.git("merge-base", "--is-ancestor", String(head.prefix(40)), "HEAD").status
        == 0)
    let after = try await sandbox.belfry("add", "Milk", "--daily", now: "2026-11-20T22:46:00Z")
    #expect(after.status == 0, "\(after.err)")
    #expect(try await titles(sandbox) == ["Milk", "Tea"])
    #expect(try await sandbox.git("fsck").status == 0)
  }

  @Test(
    "A partial clone with sparse-checkout, which switches on extensions of git, can be written and synced"
  )
  func extensions() async throws {
    let sandbox = try await store()
    let (remote, clone) = (sandbox.root + "/remote.git", sandbox.root + "/clone")
    _ = try await sandbox.git("init", "-q", "--bare", "-b", "main", remote, in: sandbox.root)
    _ = try await sandbox.git("config", "uploadpack.allowFilter", "true", in: remote)
    _ = try await sandbox.belfry("remote", "add", "origin", remote)
    _ = try await sandbox.belfry("edit", "tea", "--note", "one", now: "2026-11-20T22:43:00Z")
    _ = try await sandbox.belfry("sync", now: "2026-11-20T22:43:00Z")
    let make = try await sandbox.run(
      "/bin/sh",
      [
        "-c",
        """
        git clone -q --filter=blob:none 'file://\(remote)' '\(clone)' && cd '\(clone)' &&
        git config extensions.partialClone origin && git config extensions.preciousObjects false
        """,
      ])
    #expect(make.status == 0, "\(make.err)")
    func belfry(_ words: String..., minute: Int) async throws -> Sandbox.Output {
      try await sandbox.belfry(
        words, now: "2026-11-20T22:\(minute):00Z", store: clone, device: "server")
    }
    let first = try await belfry("add", "Milk", "--daily", "--at", "10:00", minute: 44)
    #expect(first.status == 0, "\(first.err)")
    let sparse = try await sandbox.git("sparse-checkout", "set", "alarms", in: clone)
    #expect(sparse.status == 0, "\(sparse.err)")
    #expect(try sandbox.read(clone + "/.git/config").contains("worktreeConfig"))
    let second = try await belfry("edit", "tea", "--note", "two", minute: 45)
    #expect(second.status == 0, "\(second.err)")
    // The other device has an edit of the same alarm, for which the merge needs old versions.
    _ = try await sandbox.belfry("edit", "tea", "--at", "09:30", now: "2026-11-20T22:46:00Z")
    _ = try await sandbox.belfry("sync", now: "2026-11-20T22:46:00Z")
    let sync = try await belfry("sync", minute: 47)
    #expect(sync.status == 0, "\(sync.err)")
    #expect(try await titles(sandbox, store: clone) == ["Milk", "Tea"])
    let doctor = try await doctor(sandbox, store: clone)
    #expect(doctor.out.contains("no damage"), "\(doctor.out)")
  }

  @Test(
    "An extension of git that Belfry cannot handle is named, with the way out",
    arguments: [("foo", "config --unset extensions.foo"), ("objectFormat", "belfry export")])
  func unknownExtension(_ name: String, _ hint: String) async throws {
    let sandbox = try await store()
    for (key, value) in [("core.repositoryFormatVersion", "1"), ("extensions.\(name)", "sha256")] {
      _ = try await sandbox.git("config", key, value)
    }
    let add = try await sandbox.belfry("add", "Milk", "--daily", now: "2026-11-20T22:44:00Z")
    #expect(add.status == 1)
    #expect(add.err.contains(hint), "\(add.err)")
    let doctor = try await doctor(sandbox)
    #expect(doctor.out.contains(hint), "\(doctor.out)")
    #expect(try await titles(sandbox) == ["Tea"])
  }

  // MARK: Folders and links

  @Test(arguments: Set([TestMachine.otherFileSystem, nil]))
  func linkedGitFolderWorks(_ elsewhere: String?) async throws {
    let sandbox = try await store()
    let place = "\(elsewhere ?? sandbox.root)/belfry-test-git-\(UUID().uuidString)"
    _ = try await sandbox.run(
      "/bin/sh",
      ["-c", "mv '\(sandbox.store)/.git' '\(place)' && ln -s '\(place)' '\(sandbox.store)/.git'"])
    defer { try? FileManager.default.removeItem(atPath: place) }
    #expect(try await titles(sandbox) == ["Tea"])
    let add = try await sandbox.belfry("add", "Milk", "--daily", now: "2026-11-20T22:43:00Z")
    #expect(add.status == 0, "\(add.err)")
    let edit = try await sandbox.belfry(
      "edit", "tea", "--note", "green", now: "2026-11-20T22:44:00Z")
    #expect(edit.status == 0, "\(edit.err)")
    let doctor = try await doctor(sandbox)
    #expect(doctor.status == 0, "\(doctor.out)")
    let server = try await sandbox.secondDevice()
    #expect(try await titles(sandbox, store: server) == ["Milk", "Tea"])
    #expect(try await sandbox.git("status", "--porcelain").out.isEmpty)
    _ = try await sandbox.belfry("tick", now: "2026-11-21T09:00:00Z")
    #expect(sandbox.rings == ["Tea 2026-11-21T09:00"])
  }

  @Test func brokenLinkIsNoStore() async throws {
    let sandbox = try await store()
    _ = try await sandbox.run(
      "/bin/sh", ["-c", "cd '\(sandbox.store)'; mv .git ../git; ln -s /nowhere .git"])
    let list = try await sandbox.belfry("list")
    #expect(list.status == 1)
    #expect(list.err.contains("could not resolve the link"), "\(list.err)")
    #expect(!exists("/nowhere"))
  }

  @Test func fileInPlaceOfLocalFolderDoesNotStopRinging() async throws {
    let sandbox = try await store()
    _ = try await sandbox.belfry(
      "add", "Here", "--daily", "--at", "09:00", "--on", "laptop", now: "2026-11-20T22:43:00Z")
    _ = try await sandbox.run(
      "/bin/sh", ["-c", "cd '\(sandbox.store)/.git'; rm -r belfry; echo mine > belfry"])
    #expect(try await titles(sandbox) == ["Here", "Tea"])
    for minute in 0...1 {
      let tick = try await sandbox.belfry(
        "tick", now: "2026-11-21T09:0\(minute):00Z",
        environment: ["XDG_RUNTIME_DIR": sandbox.root])
      #expect(tick.status == 1)
      #expect(tick.err.contains("doctor --repair"), "\(tick.err)")
    }
    #expect(sandbox.rings.sorted() == ["Here 2026-11-21T09:00", "Tea 2026-11-21T09:00"])
    let add = try await sandbox.belfry("add", "Milk", "--daily", now: "2026-11-20T22:44:00Z")
    #expect(add.status == 1)
    #expect(add.err.contains(".git/belfry is not a folder"), "\(add.err)")
    #expect(add.err.contains("doctor --repair"))
    let before = try await doctor(sandbox)
    #expect(before.out.contains(".git/belfry is not a folder"), "\(before.out)")
    let repair = try await doctor(sandbox, "--repair")
    #expect(repair.out.contains("quarantine"), "\(repair.out)")
    let quarantine = sandbox.store + "/.git/belfry/quarantine"
    let kept = try await sandbox.run("/usr/bin/find", [quarantine, "-name", "belfry"]).out
    #expect(try sandbox.read(String(kept.dropLast())) == "mine\n")
    let after = try await sandbox.belfry("add", "Milk", "--daily", now: "2026-11-20T22:46:00Z")
    #expect(after.status == 0, "\(after.err)")
    #expect(try await titles(sandbox) == ["Here", "Milk", "Tea"])
  }

  /// Dates a lock an hour ahead, so that it does not become stale while the machine is busy.
  private func keepFresh(_ lock: String, in sandbox: Sandbox) async throws {
    _ = try await sandbox.run("/usr/bin/touch", ["-d", "+1 hour", lock])
  }

  // MARK: File systems

  @Test(.enabled(if: FaultLibrary.isAvailable), arguments: ["EPERM", "ENOTSUP"])
  func fileSystemWithoutLinksIsWritable(_ error: String) async throws {
    let sandbox = try await store()
    let variables = try FaultLibrary.refusing("link", error, below: sandbox.store, in: sandbox)
    for (number, words) in [
      ["add", "Milk", "--daily", "--at", "10:00"], ["edit", "tea", "--note", "green"],
      ["delete", "milk", "--yes"], ["undo"],
    ].enumerated() {
      let output = try await sandbox.run(
        Sandbox.binary, words,
        environment: variables.merging([
          "TZ": "UTC", "BELFRY_DEVICE": "laptop", "BELFRY_NOW": "2026-11-20T22:43:0\(number)Z",
        ]) { $1 })
      #expect(output.status == 0, "\(words): \(output.err)")
    }
    #expect(try await titles(sandbox) == ["Milk", "Tea"])
    #expect(try await sandbox.git("status", "--porcelain").out.isEmpty)
    #expect(try await sandbox.git("fsck", "--strict").status == 0)
    // No temporary copies remain.
    let names = try FileManager.default.contentsOfDirectory(
      atPath: sandbox.store + "/.git/belfry")
    #expect(!names.contains { $0.hasPrefix("new-") || $0.hasPrefix("old-") }, "\(names)")
    // The lock of a running git process is respected.
    let index = sandbox.store + "/.git/index.lock"
    try sandbox.write("", to: index)
    try await keepFresh(index, in: sandbox)
    let busy = try await editNote("black", in: sandbox, variables)
    #expect(busy.status == 7, "\(busy.err)")
    #expect(exists(sandbox.store + "/.git/index.lock"))
  }

  @Test(.enabled(if: FaultLibrary.isAvailable))
  func failedWriteWithoutLinksRestoresOldFiles() async throws {
    let sandbox = try await store()
    let file = try sandbox.alarmFile()
    let before = try sandbox.read(file)
    // Another git process holds the branch's lock, so the write fails after it wrote the files and the index.
    let lock = sandbox.store + "/.git/refs/heads/main.lock"
    try sandbox.write("", to: lock)
    try await keepFresh(lock, in: sandbox)
    let variables = try FaultLibrary.refusing("link", "EPERM", below: sandbox.store, in: sandbox)
    let edit = try await editNote("green", in: sandbox, variables)
    #expect(edit.status == 7, "\(edit.err)")
    _ = try await sandbox.run("/bin/rm", [lock])
    #expect(try sandbox.read(file) == before)
    #expect(try await sandbox.git("status", "--porcelain").out.isEmpty)
  }

  @Test(.enabled(if: FaultLibrary.isAvailable))
  func fileSystemWithoutLocksRingsAndReportsHint() async throws {
    let sandbox = try await store()
    let variables = try FaultLibrary.refusing("flock", "ENOLCK", below: sandbox.store, in: sandbox)
    func belfry(_ words: String..., now: String) async throws -> Sandbox.Output {
      try await sandbox.run(
        Sandbox.binary, words,
        environment: variables.merging([
          "TZ": "UTC", "BELFRY_DEVICE": "laptop", "BELFRY_NOW": now,
        ]) { $1 })
    }
    let add = try await belfry("add", "Milk", "--daily", now: "2026-11-20T22:43:00Z")
    #expect(add.status == 1)
    #expect(add.err.contains("No locks available") && add.err.contains("--store"), "\(add.err)")
    for minute in 0...1 {
      let tick = try await belfry("tick", now: "2026-11-21T09:0\(minute):00Z")
      #expect(tick.status == 1)
      #expect(tick.err.contains("No locks available"), "\(tick.err)")
    }
    #expect(sandbox.rings == ["Tea 2026-11-21T09:00"])
    let doctor = try await belfry("doctor", now: "2026-11-21T09:02:00Z")
    #expect(doctor.out.contains("cannot be locked: No locks available"), "\(doctor.out)")
  }
}
