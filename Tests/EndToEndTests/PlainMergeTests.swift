import Foundation
import TestSupport
import Testing

/// Tests of merges by plain git, with and without Belfry's merge driver.
@Suite struct PlainMergeTests {
  private struct Pair {
    let sandbox: Sandbox
    let one: String
    let two: String

    /// Creates two devices that edit the title of one alarm; the second also edits its note.
    init(hooks: Bool) async throws {
      sandbox = try Sandbox()
      one = sandbox.store
      try await sandbox.plus()
      for (key, value) in [("user.name", "Ada"), ("user.email", "ada@example.org")] {
        _ = try await sandbox.git("config", "--global", key, value, in: sandbox.root)
      }
      _ = try await sandbox.belfry("add", "Rent", "--weekly", "mon", "--at", "09:00")
      two = try await sandbox.secondDevice()
      if hooks {
        for store in [one, two] {
          let install = try await sandbox.belfry("hooks", "install", store: store)
          #expect(install.status == 0, "\(install.err)")
        }
      }
      _ = try await sandbox.belfry(
        "edit", "rent", "--title", "Pay rent", now: "2026-11-20T23:00:00Z")
      _ = try await sandbox.belfry("sync", now: "2026-11-20T23:00:30Z")
      _ = try await sandbox.belfry(
        "edit", "rent", "--title", "Miete", "--note", "IBAN", now: "2026-11-20T23:01:00Z",
        store: two, device: "server")
    }

    func git(_ line: String) async throws -> Sandbox.Output {
      // Also for the ticks of git's hooks: at the real time, they could settle an occurrence.
      try await sandbox.run(
        "/bin/sh", ["-c", "cd '\(two)' && git \(line)"],
        environment: [
          "TZ": "UTC", "BELFRY_DEVICE": "server", "BELFRY_NOW": "2026-11-20T23:04:00Z",
        ])
    }

    func belfry(_ arguments: [String]) async throws -> Sandbox.Output {
      try await sandbox.run(
        Sandbox.binary, arguments,
        environment: [
          "TZ": "UTC", "BELFRY_DEVICE": "server", "BELFRY_STORE": two,
          "BELFRY_NOW": "2026-11-20T23:05:00Z",
        ])
    }

    /// Expects that both devices have the merged alarm and equal trees.
    func expectMerged() async throws {
      for store in [two, one, two] {
        let sync = try await sandbox.belfry("sync", now: "2026-11-20T23:06:00Z", store: store)
        #expect(sync.status == 0, "\(sync.err)")
      }
      var trees: Set<String> = []
      for store in [one, two] {
        let list = try await sandbox.belfry(
          "list", "--json", now: "2026-11-20T23:07:00Z", store: store)
        #expect(list.array.compactMap { $0["title"] as? String } == ["Miete"])
        #expect(list.array.compactMap { $0["note"] as? String } == ["IBAN"])
        #expect(try await sandbox.git("status", "--porcelain", in: store).out.isEmpty)
        #expect(try await sandbox.git("grep", "-l", "<<<<<<<", in: store).out.isEmpty)
        trees.insert(try await sandbox.git("rev-parse", "HEAD^{tree}", in: store).out)
      }
      #expect(trees.count == 1)
    }
  }

  @Test(arguments: [
    "pull -q --no-rebase --no-edit", "pull -q --rebase", "fetch -q && git cherry-pick origin/main",
    "fetch -q && git merge -q --no-edit origin/main",
    // Hooks are off, because the tick that they start would restore the reset commit.
    "reset -q --soft HEAD~1 && git stash -q && git -c core.hooksPath=/dev/null pull -q --rebase "
      + "&& git stash pop -q",
  ])
  func gitWithDriverMergesLikeSync(command: String) async throws {
    let pair = try await Pair(hooks: true)
    let git = try await pair.git(command)
    #expect(git.status == 0, "\(git.err)")
    #expect(try await pair.git("ls-files -u").out.isEmpty)
    try await pair.expectMerged()
    let conflicts = try await pair.belfry(["conflicts", "--json"])
    let fields = conflicts.array.map {
      "\($0["field"] ?? "") \($0["kept"] ?? "") \($0["discarded"] ?? "")"
    }
    #expect(fields == ["title Miete Pay rent"], "\(conflicts.err)")
  }

  @Test(arguments: [
    "pull -q --no-rebase --no-edit", "fetch -q && git cherry-pick origin/main",
    "reset -q --soft HEAD~1 && git stash -q && git pull -q --rebase && git stash pop -q",
  ])
  func nextCommandMergesBothSidesWithoutDriver(command: String) async throws {
    let pair = try await Pair(hooks: false)
    #expect(try await pair.git(command).status != 0)
    #expect(try await !pair.git("ls-files -u").out.isEmpty)
    // A reading command only reports the merge.
    let before = try await pair.belfry(["list"])
    #expect(before.err.contains("git has not finished a merge"), "\(before.err)")
    #expect(!before.err.contains("is not valid"), "\(before.err)")
    #expect(before.out.contains("Miete") || before.out.contains("Pay rent"), "\(before.out)")
    #expect(try await !pair.git("ls-files -u").out.isEmpty)
    let tick = try await pair.belfry(["tick"])
    #expect(tick.err.contains("Belfry merged both sides"), "\(tick.err)")
    let list = try await pair.belfry(["list", "--cards"])
    #expect(list.out.contains("Miete") && list.out.contains("IBAN"))
    #expect(try await pair.git("ls-files -u").out.isEmpty)
    #expect(try await pair.git("status").out.contains("cherry-picking") == false)
    #expect(try await pair.belfry(["list"]).otherErrors.isEmpty)
    try await pair.expectMerged()
  }

  @Test func rebaseWithoutDriverStagesMergedRecords() async throws {
    let pair = try await Pair(hooks: false)
    #expect(try await pair.git("pull -q --rebase").status != 0)
    let tick = try await pair.belfry(["tick"])
    #expect(tick.err.contains("rebase --continue"), "\(tick.err)")
    let go = try await pair.git("-c core.editor=true rebase --continue")
    #expect(go.status == 0, "\(go.err)")
    try await pair.expectMerged()
  }

  @Test func removalAgainstEditKeepsRecord() async throws {
    let pair = try await Pair(hooks: false)
    _ = try await pair.git("rm -q alarms/*.json && git commit -qm removed")
    #expect(try await pair.git("pull -q --no-rebase --no-edit").status != 0)
    let tick = try await pair.belfry(["tick"])
    #expect(tick.err.contains("merged both sides"), "\(tick.err)")
    try await pair.expectMerged()
  }

  @Test func correctionByHandIsKept() async throws {
    let pair = try await Pair(hooks: false)
    #expect(try await pair.git("pull -q --no-rebase --no-edit").status != 0)
    let file = try pair.sandbox.alarmFile(store: pair.two)
    let name = (file as NSString).lastPathComponent
    let theirs = try await pair.git("show origin/main:alarms/\(name)")
    try pair.sandbox.write(theirs.out.replacing("Pay rent", with: "By hand"), to: file)
    let tick = try await pair.belfry(["tick"])
    #expect(tick.err.contains("merged both sides"), "\(tick.err)")
    let list = try await pair.belfry(["list", "--cards"])
    #expect(list.out.contains("By hand") && list.out.contains("IBAN"), "\(list.out)")
    #expect(try await pair.git("status --porcelain").out.isEmpty)
    #expect(try await pair.belfry(["list"]).otherErrors.isEmpty)
  }

  /// The edit is committed and pushed by plain git before Belfry stamps it.
  @Test(arguments: [
    ("\"title\": \"Pills\"", "\"title\": \"AAA\""), ("\"09:00\"", "\"07:30\""),
    ("\"enabled\": true", "\"enabled\": false"),
  ])
  func unstampedEditIsKept(before: String, after: String) async throws {
    let sandbox = try Sandbox()
    try await sandbox.plus()
    for (key, value) in [("user.name", "Ada"), ("user.email", "ada@example.org")] {
      _ = try await sandbox.git("config", "--global", key, value, in: sandbox.root)
    }
    _ = try await sandbox.belfry("add", "Pills", "--daily", "--at", "09:00")
    let two = try await sandbox.secondDevice()
    _ = try await sandbox.belfry("sync", now: "2026-11-20T22:43:00Z", store: two)
    _ = try await sandbox.git("pull", "-q")
    let file = try sandbox.alarmFile()
    try sandbox.write(try sandbox.read(file).replacing(before, with: after), to: file)
    _ = try await sandbox.git("commit", "-qam", "by hand")
    #expect(try await sandbox.git("push", "-q").status == 0)
    let sync = try await sandbox.belfry("sync", now: "2026-11-20T22:44:00Z", store: two)
    #expect(sync.status == 0, "\(sync.err)")
    #expect(try sandbox.read(try sandbox.alarmFile(store: two)).contains(after))
    _ = try await sandbox.git("pull", "-q")
    _ = try await sandbox.belfry("tick", now: "2026-11-20T22:45:00Z")
    #expect(try sandbox.read(file).contains(after))
    #expect(try await sandbox.git("status", "--porcelain").out.isEmpty)
  }

  @Test func driverRejectsInvalidFiles() async throws {
    let sandbox = try Sandbox()
    for name in ["o", "a", "b"] { try sandbox.write("{}", to: "\(sandbox.root)/\(name)") }
    let (o, a, b) = (sandbox.root + "/o", sandbox.root + "/a", sandbox.root + "/b")
    #expect(try await sandbox.belfry("merge-driver", o, a, b, "README.md").status == 2)
    // If both versions are invalid, ours is kept.
    let id = "rentaaaaaaaaaaaaaaaaaaaaaa"
    try sandbox.write("broken", to: a)
    let output = try await sandbox.belfry("merge-driver", o, a, b, "alarms/\(id).json")
    #expect(output.status == 0)
    #expect(output.err.contains("is not valid"))
    #expect(try sandbox.read(a) == "broken")
    #expect(try await sandbox.belfry("merge-driver", o, a, sandbox.root + "/none", "x").status == 1)
  }
}

/// Tests of `belfry hooks` and the git hooks that it installs.
@Suite struct GitHookTests {
  private func store() async throws -> (Sandbox, hooks: String) {
    let sandbox = try Sandbox()
    for (key, value) in [("user.name", "Ada"), ("user.email", "ada@example.org")] {
      _ = try await sandbox.git("config", "--global", key, value, in: sandbox.root)
    }
    _ = try await sandbox.belfry("add", "Tea", "--daily", "--at", "09:00")
    return (sandbox, sandbox.store + "/.git/hooks")
  }

  @Test func hooksChainAndUninstallKeepsUserHooks() async throws {
    let (sandbox, hooks) = try await store()
    try FileManager.default.createDirectory(atPath: hooks, withIntermediateDirectories: true)
    let mark = sandbox.root + "/mark"
    try sandbox.write("#!/bin/sh\necho mine >>'\(mark)'\n", to: hooks + "/post-commit", mode: 0o755)
    let before = try sandbox.read(sandbox.store + "/.git/config")
    for _ in 0..<2 {
      let install = try await sandbox.belfry("hooks", "install", "--json")
      #expect(install.status == 0, "\(install.err)")
      #expect(install.array.count == 6)
    }
    let status = try await sandbox.belfry("hooks", "status")
    #expect(status.out.contains("post-commit: installed, runs after your own hook"))
    #expect(status.out.contains("merge driver: installed"))
    _ = try await sandbox.git("commit", "-q", "--allow-empty", "-m", "x")
    #expect(try sandbox.read(mark) == "mine\n")
    // A hook that the user changed is kept.
    let changed = try sandbox.read(hooks + "/post-merge") + "\n# mine\n"
    try sandbox.write(changed, to: hooks + "/post-merge", mode: 0o755)
    let uninstall = try await sandbox.belfry("hooks", "uninstall")
    #expect(uninstall.out.contains("post-merge: kept: it was edited"))
    #expect(try sandbox.read(hooks + "/post-merge") == changed)
    #expect(try sandbox.read(hooks + "/post-commit").contains("echo mine"))
    #expect(!FileManager.default.fileExists(atPath: hooks + "/pre-commit"))
    let after = try sandbox.read(sandbox.store + "/.git/config")
    #expect(!after.contains("driver"))
    #expect(after.contains("bare = false") && before.contains("bare = false"))
  }

  @Test(
    "The next install completes an interrupted installation, and uninstall removes it"
  )
  func interruptedInstallation() async throws {
    let (sandbox, hooks) = try await store()
    let config = sandbox.store + "/.git/config"
    try sandbox.write("#!/bin/sh\nexit 0\n", to: hooks + "/post-merge", mode: 0o755)
    _ = try await sandbox.belfry("hooks", "install")
    let whole = (try sandbox.read(config), try files(hooks))
    // The files exist, but git's configuration doesn't contain their identifiers yet.
    for name in ["pre-commit", "post-merge"] {
      _ = try await sandbox.git("config", "--unset", "belfry.hook-\(name)")
    }
    let install = try await sandbox.belfry("hooks", "install")
    #expect(install.out.contains("pre-commit: installed\n"), "\(install.out)")
    #expect(try files(hooks) == whole.1)
    #expect(
      Set(try sandbox.read(config).split(separator: "\n")) == Set(whole.0.split(separator: "\n")))
    // The user's hook was moved aside, and Belfry's hook is not written yet.
    try FileManager.default.removeItem(atPath: hooks + "/post-merge")
    _ = try await sandbox.git("config", "--unset", "belfry.hook-pre-commit")
    _ = try await sandbox.belfry("hooks", "uninstall")
    #expect(try files(hooks) == ["post-merge"])
    #expect(try sandbox.read(hooks + "/post-merge") == "#!/bin/sh\nexit 0\n")
    #expect(!(try sandbox.read(config)).contains("hook-"))
  }

  private func files(_ folder: String) throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: folder).filter { !$0.hasSuffix(".sample") }
      .sorted()
  }

  @Test func commitOfInvalidRecordIsRefused() async throws {
    let (sandbox, hooks) = try await store()
    _ = try await sandbox.belfry("hooks", "install")
    // The tick that this hook starts would import the valid edit before git commits it.
    try FileManager.default.removeItem(atPath: hooks + "/post-commit")
    let file = try sandbox.alarmFile()
    let good = try sandbox.read(file)
    try sandbox.write(good.replacing("\"title\": \"Tea\"", with: "\"title\": 7"), to: file)
    let commit = try await sandbox.git("commit", "-qam", "bad")
    #expect(commit.status != 0)
    #expect(commit.err.contains("alarms/") && commit.err.contains("line"), "\(commit.err)")
    #expect(try await sandbox.git("commit", "-q", "--no-verify", "-am", "all the same").status == 0)
    try sandbox.write(good.replacing("\"Tea\"", with: "\"Green tea\""), to: file)
    #expect(try await sandbox.git("commit", "-qam", "good").status == 0)
  }

  @Test func pulledAlarmRingsWithoutCommand() async throws {
    let (sandbox, _) = try await store()
    let server = try await sandbox.secondDevice()
    _ = try await sandbox.belfry("hooks", "install", store: server)
    _ = try await sandbox.belfry(
      "add", "Milk", "--once", "2026-11-20T23:30", now: "2026-11-20T23:00:00Z")
    _ = try await sandbox.belfry("sync", now: "2026-11-20T23:00:00Z")
    let pull = try await sandbox.run(
      "/usr/bin/git", ["-C", server, "pull", "-q", "--no-rebase", "--no-edit"],
      environment: ["BELFRY_NOW": "2026-11-20T23:31:00Z", "TZ": "UTC"])
    #expect(pull.status == 0, "\(pull.err)")
    for _ in 0..<200 where sandbox.rings.isEmpty { try await Task.sleep(for: .milliseconds(50)) }
    #expect(sandbox.rings == ["Milk 2026-11-20T23:30"])
  }

  @Test func sharedHooksAreNotChanged() async throws {
    let (sandbox, _) = try await store()
    _ = try await sandbox.git("config", "--global", "core.hooksPath", sandbox.root + "/shared")
    let install = try await sandbox.belfry("hooks", "install")
    #expect(install.status == 4)
    #expect(install.err.contains("other repositories share"))
    #expect(!FileManager.default.fileExists(atPath: sandbox.root + "/shared"))
  }
}
