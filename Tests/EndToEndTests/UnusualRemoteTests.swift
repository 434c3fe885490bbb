import Foundation
import TestSupport
import Testing

/// Tests of branches and remotes with a configuration that Belfry does not create.
@Suite struct UnusualRemoteTests {
  private func store(_ branch: String = "main") async throws -> (Sandbox, remote: String) {
    let sandbox = try Sandbox()
    try await sandbox.plus()
    _ = try await sandbox.git("config", "--global", "user.name", "Ada")
    _ = try await sandbox.git("config", "--global", "user.email", "ada@example.org")
    _ = try await sandbox.belfry("add", "Tea", "--daily", "--at", "09:00")
    let remote = sandbox.root + "/remote.git"
    _ = try await sandbox.git("init", "-q", "--bare", "-b", branch, remote, in: sandbox.root)
    return (sandbox, remote)
  }

  private func titles(_ sandbox: Sandbox, _ store: String? = nil) async throws -> [String] {
    try await sandbox.belfry("list", "--json", now: "2026-11-20T22:50:00Z", store: store).array
      .compactMap { $0["title"] as? String }.sorted()
  }

  @Test func remoteWithOnlyMasterIsClonedAndSynced() async throws {
    let (sandbox, remote) = try await store("master")
    _ = try await sandbox.git("push", "-q", remote, "main:master", "main:aside")
    let two = sandbox.root + "/two"
    let clone = try await sandbox.belfry("clone", remote, store: two, device: "server")
    #expect(clone.status == 0, "\(clone.err)")
    #expect(clone.out.contains("Cloned 1 alarm"), "\(clone.out)")
    #expect(clone.err.contains("its branch master was merged"), "\(clone.err)")
    // An unrelated store, and a clone by plain git.
    let (three, four) = (sandbox.root + "/three", sandbox.root + "/four")
    _ = try await sandbox.belfry("add", "Milk", "--daily", "--at", "07:00", store: three)
    _ = try await sandbox.belfry("remote", "add", "origin", remote, store: three)
    let plan = try await sandbox.belfry("sync", "--dry-run", "--json", store: three)
    #expect(plan.array.first?["incoming"] as? Int ?? 0 > 0, "\(plan.out)\(plan.err)")
    let sync = try await sandbox.belfry("sync", "--json", store: three)
    let exchange = (sync.object["remotes"] as? [[String: Any]])?.first
    #expect(exchange?["branch"] as? String == "master", "\(sync.out)\(sync.err)")
    _ = try await sandbox.git("clone", "-q", remote, four, in: sandbox.root)
    _ = try await sandbox.belfry("add", "Bread", "--daily", "--at", "08:00", store: four)
    for store in [two, four, three, two] {
      let sync = try await sandbox.belfry("sync", store: store)
      #expect(sync.status == 0, "\(sync.err)")
      #expect(!sync.err.contains("master"), "\(sync.err)")
    }
    for store in [two, three, four] {
      #expect(try await titles(sandbox, store) == ["Bread", "Milk", "Tea"])
      #expect(try await sandbox.git("status", "--porcelain", in: store).out.isEmpty)
    }
    let doctor = try await sandbox.belfry("doctor", store: four)
    #expect(doctor.out.contains("branch -m main"), "\(doctor.out)")
  }

  @Test func remoteWithoutStoreBranchIsUnchanged() async throws {
    let (sandbox, remote) = try await store("master")
    _ = try await sandbox.run(
      "/bin/sh",
      [
        "-c",
        "git init -q -b master '\(sandbox.root)/work' && cd '\(sandbox.root)/work' && echo x > f && git add f && git commit -qm f && git push -q '\(remote)' master",
      ])
    _ = try await sandbox.belfry("remote", "add", "origin", remote)
    for words in [
      ["sync"], ["sync", "--dry-run"], ["clone", remote, "--store", sandbox.root + "/two"],
    ] {
      let output = try await sandbox.run(
        Sandbox.binary, words, environment: ["TZ": "UTC", "BELFRY_NOW": "2026-11-20T22:43:00Z"])
      #expect(output.status == 1, "\(words)")
      #expect(output.err.contains("is not a Belfry store"), "\(words): \(output.err)")
    }
    #expect(try await sandbox.git("branch", in: remote).out == "* master\n")
  }

  @Test func workOnAnotherBranchIsSynced() async throws {
    let (sandbox, remote) = try await store()
    _ = try await sandbox.belfry("remote", "add", "origin", remote)
    _ = try await sandbox.belfry("sync")
    let two = sandbox.root + "/two"
    _ = try await sandbox.belfry("clone", remote, store: two, device: "server")
    _ = try await sandbox.git("checkout", "-q", "-b", "trial")
    _ = try await sandbox.belfry(
      "add", "Bread", "--daily", "--at", "09:30", now: "2026-11-20T22:43:00Z")
    _ = try await sandbox.belfry(
      "add", "Milk", "--daily", "--at", "10:00", now: "2026-11-20T22:43:00Z", store: two,
      device: "server")
    for store in [two, nil, two] {
      let sync = try await sandbox.belfry("sync", now: "2026-11-20T22:44:00Z", store: store)
      #expect(sync.status == 0, "\(sync.err)")
      #expect(sync.err.isEmpty, "\(sync.err)")
    }
    #expect(try await titles(sandbox) == ["Bread", "Milk", "Tea"])
    #expect(try await titles(sandbox, two) == ["Bread", "Milk", "Tea"])
    #expect(
      try await sandbox.git("for-each-ref", "--format=%(refname)", "refs/heads", in: remote).out
        == "refs/heads/main\n")
    let doctor = try await sandbox.belfry("doctor", now: "2026-11-20T22:45:00Z")
    #expect(doctor.out.contains("The branch trial is checked out"), "\(doctor.out)")
    #expect(doctor.out.contains("checkout main"))
    // While an earlier commit is checked out, the alarms of the most recently written branch ring.
    _ = try await sandbox.git("checkout", "-q", "--detach", "main~1")
    _ = try await sandbox.belfry("tick", now: "2026-11-21T09:30:00Z")
    #expect(sandbox.rings.contains("Bread 2026-11-21T09:30"))
    // Nothing is lost after a checkout of the store's branch.
    _ = try await sandbox.git("checkout", "-q", "main")
    _ = try await sandbox.belfry("sync", now: "2026-11-21T09:31:00Z")
    #expect(try await titles(sandbox) == ["Bread", "Milk", "Tea"])
    #expect(try await sandbox.git("status", "--porcelain").out.isEmpty)
  }

  @Test func mirrorAndPushOptionsDoNotChangePush() async throws {
    let (sandbox, remote) = try await store()
    _ = try await sandbox.belfry("remote", "add", "origin", remote)
    _ = try await sandbox.belfry("sync")
    _ = try await sandbox.git("branch", "kept", "main", in: remote)
    _ = try await sandbox.git("branch", "mine", "main")
    _ = try await sandbox.git("config", "remote.origin.mirror", "true")
    _ = try await sandbox.git("config", "--global", "push.pushOption", "ci.skip")
    _ = try await sandbox.git("config", "--global", "push.followTags", "true")
    _ = try await sandbox.belfry("add", "Milk", "--daily", now: "2026-11-20T22:43:00Z")
    let sync = try await sandbox.belfry("sync", now: "2026-11-20T22:44:00Z")
    #expect(sync.status == 0, "\(sync.err)")
    let branches = try await sandbox.git(
      "for-each-ref", "--format=%(refname)", "refs/heads", "refs/remotes", "refs/tags", in: remote)
    #expect(branches.out == "refs/heads/kept\nrefs/heads/main\n")
    let two = sandbox.root + "/two"
    _ = try await sandbox.belfry("clone", remote, store: two)
    #expect(try await titles(sandbox, two) == ["Milk", "Tea"])
  }
}
