import Foundation
import TestSupport
import Testing

/// Detection and repair of damage, without data loss.
@Suite struct DoctorTests {
  /// Returns an undamaged store with a remote and a change since the last sync.
  private func healthy() async throws -> Sandbox {
    let sandbox = try Sandbox()
    let remote = sandbox.root + "/remote.git"
    _ = try await sandbox.git("init", "-q", "--bare", "-b", "main", remote, in: sandbox.root)
    try await sandbox.plus()
    _ = try await sandbox.belfry("add", "Tea", "--daily", "--at", "09:00")
    _ = try await sandbox.belfry("add", "Rent", "--weekly", "mon", "--at", "10:00")
    _ = try await sandbox.belfry("remote", "add", "origin", remote)
    _ = try await sandbox.belfry("sync", now: "2026-11-20T22:42:00Z")
    _ = try await sandbox.belfry("edit", "Rent", "--note", "after", now: "2026-11-20T22:43:00Z")
    _ = try await sandbox.belfry("tick", now: "2026-11-20T22:44:00Z")
    return sandbox
  }

  private func doctor(_ sandbox: Sandbox, _ words: String...) async throws -> Sandbox.Output {
    try await sandbox.run(
      Sandbox.binary, ["doctor"] + words,
      environment: ["TZ": "UTC", "BELFRY_DEVICE": "laptop", "BELFRY_NOW": "2026-11-20T22:45:00Z"])
  }

  /// A shell function that prints the path of an object's file.
  private static let object =
    "f() { echo \".git/objects/$(echo $1 | cut -c1-2)/$(echo $1 | cut -c3-)\"; };"

  @Test func healthyStoreHasNoFindings() async throws {
    let sandbox = try await healthy()
    let doctor = try await doctor(sandbox)
    #expect(doctor.status == 0, "\(doctor.out)\(doctor.err)")
    for area in [
      "store", "records", "log", "clock", "time zones", "hooks", "notifications", "tick",
    ] {
      #expect(doctor.out.contains("\n\(area) ") || doctor.out.hasPrefix("\(area) "), "\(area)")
    }
    let json = try await self.doctor(sandbox, "--json").object
    #expect(json["ok"] as? Bool == true)
    // Doctor does not create a store.
    let none = try await sandbox.belfry("doctor", store: sandbox.root + "/nothing")
    #expect(none.status == 1)
    #expect(!FileManager.default.fileExists(atPath: sandbox.root + "/nothing"))
  }

  @Test(arguments: [
    (": > .git/refs/heads/main", "is empty"),
    ("echo 1234567890123456789012345678901234567890 > .git/refs/heads/main", "is incomplete"),
    ("rm .git/refs/heads/main", "doesn't exist"),
    (": > .git/HEAD", ".git/HEAD names no branch"),
    ("touch .git/index.lock .git/refs/heads/main.lock .git/config.lock", "has left a lock"),
    ("rm .git/index", "index is missing"),
    ("truncate -s 100 .git/index", "index is damaged"),
    ("truncate -s 20 $(f $(git rev-parse HEAD))", "truncated"),
    (": > $(f $(git rev-parse HEAD:alarms))", "is empty"),
    ("truncate -s 20 $(f $(git rev-parse HEAD:log))", "truncated"),
    ("truncate -s 20 $(f $(git ls-tree -r HEAD alarms | head -1 | cut -c13-52))", "truncated"),
    ("rm $(f $(git rev-parse HEAD~3))", "of the history is missing"),
    ("rm -rf .git/objects/??", "is incomplete"),
    ("echo '{' > $(ls alarms/*.json | head -1)", "is not valid: line 2"),
    ("n=$(ls alarms/*.json | head -1); rm $n; mkdir $n", "it is a folder"),
    ("n=$(ls alarms/*.json | head -1); rm $n; ln -s /etc/passwd $n", "it is a symbolic link"),
    ("rm alarms/*.json", "is missing; the alarm stays"),
    ("rm -r log settings.json devices", "gone from the work tree"),
    ("rm -r log; echo hi > log", "gone from the work tree"),
    ("rm -r alarms; echo hi > alarms", "is not valid: it cannot be read: Not a directory"),
    ("j=.git/belfry/journal; mv $j $j.away; ln -s journal.away $j", "it is a link"),
    ("j=.git/belfry/journal; rm $j; mkdir $j", "it is a folder"),
    ("mv .git/objects /tmp/$$; mv .git/refs /tmp/$$/r", "cannot be used"),
    (
      "git gc -q; chmod u+w .git/objects/pack/*; truncate -s 200 .git/objects/pack/*.pack", "broken"
    ),
    (
      "echo '{' > $(ls alarms/*.json | head -1); git -c user.name=a -c user.email=b commit -qam bad; rm .git/belfry/seen .git/belfry/cache.db",
      "is not valid"
    ),
    ("echo x > settings.json; git -c user.name=a -c user.email=b commit -qam bad", "is not valid"),
    (
      "git rm -qr log; git -c user.name=a -c user.email=b commit -qm x; rm .git/belfry/seen",
      "dropped"
    ),
    ("git reset -q --hard HEAD~3; rm .git/belfry/seen .git/belfry/cache.db", "dropped"),
    ("echo '{}' > log/2026/11/20/224100000-aaaaaaaaaaaaaaaaaaaaaaaaaa.json", "is not valid"),
  ])
  func doctorRepairsDamage(_ damage: String, _ words: String) async throws {
    let sandbox = try await healthy()
    let alarms = try await sandbox.belfry("list", "--json", now: "2026-11-20T22:45:00Z").out
    let log = try await sandbox.belfry("log", "--json", now: "2026-11-20T22:45:00Z").out
    let done = try await sandbox.run(
      "/bin/sh", ["-c", "cd '\(sandbox.store)'; \(DoctorTests.object) \(damage)"])
    #expect(done.status == 0, "\(done.err)")
    let before = try await doctor(sandbox)
    #expect(before.status == 1)
    #expect(before.out.contains(words), "\(before.out)")
    let repair = try await doctor(sandbox, "--repair")
    #expect(repair.out.contains("repaired"), "\(repair.out)")
    let after = try await doctor(sandbox)
    #expect(after.status == 0, "\(repair.out)\(after.out)")
    #expect(try await sandbox.belfry("list", "--json", now: "2026-11-20T22:45:00Z").out == alarms)
    #expect(try await sandbox.belfry("log", "--json", now: "2026-11-20T22:45:00Z").out == log)
    #expect(try await sandbox.git("status", "--porcelain").out.isEmpty)
    let check = try await sandbox.git("fsck", "--full")
    #expect(check.status == 0)
    #expect(!check.err.contains("error"), "\(check.err)")
    // The store still accepts writes and syncs.
    #expect(
      try await sandbox.belfry("add", "Milk", "--daily", now: "2026-11-20T22:46:00Z").status == 0)
    #expect(try await sandbox.belfry("sync", now: "2026-11-20T22:47:00Z").status == 0)
  }

  @Test func doctorReplacesInvalidGitConfiguration() async throws {
    let sandbox = try await healthy()
    try sandbox.write("[core", to: sandbox.store + "/.git/config")
    #expect(try await doctor(sandbox).status == 1)
    _ = try await doctor(sandbox, "--repair")
    let after = try await doctor(sandbox)
    #expect(after.status == 0, "\(after.out)")
    // The configuration that named the remote is in the quarantine.
    #expect(after.out.contains("the alarms are only on this machine"))
  }

  @Test func damagedRestoredCopyRings() async throws {
    for damage in [
      "truncate -s 50 .git/index", ": > .git/refs/heads/main", "rm -rf .git/objects/??",
      "echo '[core' > .git/config", "echo foo > .git/HEAD",
    ] {
      let sandbox = try await healthy()
      let copy = sandbox.root + "/copy"
      _ = try await sandbox.run(
        "/bin/sh", ["-c", "cp -a '\(sandbox.store)' '\(copy)'; cd '\(copy)'; \(damage)"])
      let tick = try await sandbox.belfry("tick", now: "2026-11-21T09:00:00Z", store: copy)
      #expect(sandbox.rings == ["Tea 2026-11-21T09:00"], "\(damage): \(tick.err)")
    }
  }

  @Test func unusableFilesAreQuarantined() async throws {
    let sandbox = try await healthy()
    let file = try sandbox.alarmFile()
    try sandbox.write("{ my only words", to: file)
    let repair = try await doctor(sandbox, "--repair", "--json")
    let message = (repair.object["findings"] as? [[String: Any]] ?? [])
      .compactMap { $0["message"] as? String }.first { $0.contains("quarantine") }
    let place = try #require(message?.split(separator: " to ").last?.dropLast())
    #expect(try sandbox.read(String(place)) == "{ my only words")
  }

  @Test func missingHistoryIsReportedAndRecordsStayComplete() async throws {
    let sandbox = try await healthy()
    _ = try await sandbox.belfry("remote", "remove", "origin")
    _ = try await sandbox.run(
      "/bin/sh",
      [
        "-c",
        "rm -rf '\(sandbox.root)/remote.git'; cd '\(sandbox.store)'; \(DoctorTests.object) rm $(f $(git rev-parse HEAD~3)); rm -r .git/logs/refs/remotes .git/refs/remotes",
      ])
    let repair = try await doctor(sandbox, "--repair")
    #expect(repair.status == 1)
    #expect(repair.out.contains("is missing"))
    #expect(try await sandbox.belfry("list", "--json").array.count == 2)
    #expect(
      try await sandbox.belfry("add", "Milk", "--daily", now: "2026-11-20T22:46:00Z").status == 0)
  }

  @Test func doctorRestoresResponseFromLog() async throws {
    let sandbox = try await healthy()
    _ = try await sandbox.belfry("tick", now: "2026-11-21T09:00:00Z")
    _ = try await sandbox.belfry("done", "tea", now: "2026-11-21T09:01:00Z")
    let file = try sandbox.alarmFile(
      try await sandbox.belfry("show", "tea", "--json").object["id"] as? String)
    // Commits an older version of the record, as from a backup, and removes the local state that knows the newer one.
    let old = try await sandbox.git("show", "HEAD~2:alarms/\((file as NSString).lastPathComponent)")
    try sandbox.write(old.out, to: file)
    _ = try await sandbox.git("-c", "user.name=a", "-c", "user.email=b", "commit", "-qam", "x")
    _ = try await sandbox.run(
      "/bin/sh",
      ["-c", "cd '\(sandbox.store)/.git' && rm -r belfry/seen belfry/cache.db logs"])
    let now = "2026-11-21T09:02:00Z"
    let ringing = try await sandbox.belfry("list", "--json", now: now)
    #expect(ringing.array.contains { $0["state"] as? String == "ringing" })
    let repair = try await sandbox.belfry("doctor", "--repair", now: now)
    #expect(repair.out.contains("done, as recorded in the log"), "\(repair.out)")
    let list = try await sandbox.belfry("list", "--json", now: now)
    #expect(!list.array.contains { $0["state"] as? String == "ringing" })
  }

  @Test func slowCheckTimesOut() async throws {
    let sandbox = try await healthy()
    // The hook that checks the channels does not end.
    let prefix = sandbox.root + "/prefix"
    _ = try await sandbox.run(
      "/bin/sh",
      [
        "-c",
        "mkdir -p \(prefix)/bin \(prefix)/libexec/belfry/hooks/deliver; cp \(Sandbox.binary) \(prefix)/bin/belfry; rm -r '\(sandbox.hooks)'",
      ])
    try sandbox.write(
      "#!/bin/sh\nsleep 60\n", to: prefix + "/libexec/belfry/hooks/deliver/notify", mode: 0o755)
    let doctor = try await sandbox.run(
      prefix + "/bin/belfry", ["doctor", "--timeout", "2"],
      environment: ["TZ": "UTC", "BELFRY_NOW": "2026-11-20T22:45:00Z"])
    #expect(doctor.status == 1)
    #expect(doctor.out.contains("timed out after 2 seconds"), "\(doctor.out)")
  }

  @Test("A check that hangs ends by itself, even if nobody waits for it")
  func checkOfKilledDoctorEnds() async throws {
    let sandbox = try await healthy()
    _ = try await sandbox.git("config", "remote.origin.url", "ssh://localhost/alarms.git")
    let check = try await sandbox.run(
      Sandbox.binary,
      ["doctor", "--check", "remotes", "--timeout", "1", "--store", sandbox.store],
      environment: ["GIT_SSH_COMMAND": "sleep 15;:", "BELFRY_DEVICE": "laptop", "TZ": "UTC"])
    #expect(check.status == 128 + SIGALRM, "\(check.out)\(check.err)")
  }

  @Test func doctorChecksHooksRemotesClockAndScheduler() async throws {
    let sandbox = try await healthy()
    try sandbox.write("echo", to: sandbox.hooks + "/notify", mode: 0o644)
    try sandbox.write("#!/nowhere/sh\n", to: sandbox.hooks + "/follow-up", mode: 0o755)
    _ = try await sandbox.run(
      "/bin/sh", ["-c", "mv '\(sandbox.root)/remote.git' '\(sandbox.root)/gone'"])
    let doctor = try await sandbox.belfry("doctor", now: "2026-11-18T22:45:00Z")
    #expect(doctor.status == 1)
    for words in [
      "notify is not executable", "/nowhere/sh, which is not installed", "origin is not reachable",
      "was written on Fri 20 Nov 2026", "Tea was edited on Fri 20 Nov 2026",
    ] {
      #expect(doctor.out.contains(words), "\(words): \(doctor.out)")
    }
    let late = try await sandbox.belfry("doctor", now: "2026-11-21T22:45:00Z")
    #expect(late.out.contains("The scheduler has not run since Fri 20 Nov 2026"))
  }
}
