import Foundation
import TestSupport
import Testing

/// Tests of objects that are missing or damaged on this device: a sync never removes an unreadable record.
@Suite struct UnreadableObjectTests {
  /// Creates a laptop with the alarm Tea, and a remote to which a server pushed the alarm Milk.
  private func devices() async throws -> (Sandbox, server: String, remote: String) {
    let sandbox = try await Sandbox.withTea()
    let server = try await sandbox.secondDevice()
    _ = try await sandbox.belfry(
      "add", "Milk", "--daily", now: "2026-11-20T22:43:00Z", store: server, device: "server")
    let sync = try await sandbox.belfry(
      "sync", now: "2026-11-20T22:44:00Z", store: server, device: "server")
    #expect(sync.status == 0, "\(sync.err)")
    // The edit causes a merge instead of a fast-forward.
    _ = try await sandbox.belfry("edit", "tea", "--note", "green", now: "2026-11-20T22:45:00Z")
    return (sandbox, server, sandbox.root + "/remote.git")
  }

  private func alarms(_ repository: String, _ sandbox: Sandbox) async throws -> [String] {
    try await sandbox.git("ls-tree", "--name-only", "main:alarms", in: repository).out
      .split(separator: "\n").map(String.init)
  }

  /// Returns the loose object file of the fetched alarm that the laptop's work tree lacks.
  private func newRecord(_ sandbox: Sandbox) async throws -> String {
    _ = try await sandbox.git("fetch", "-q")
    let known = Set(
      try FileManager.default.contentsOfDirectory(atPath: sandbox.store + "/alarms"))
    let lines = try await sandbox.git("ls-tree", "origin/main:alarms").out.split(separator: "\n")
    let line = try #require(lines.first { !known.contains(String($0.split(separator: "\t")[1])) })
    let id = line.split(separator: " ")[2].prefix(40)
    return "\(sandbox.store)/.git/objects/\(id.prefix(2))/\(id.dropFirst(2))"
  }

  @Test("Status and doctor end at a truncated commit", arguments: ["status", "doctor"])
  func truncatedCommit(_ command: String) async throws {
    let (sandbox, _, _) = try await devices()
    let id = try await sandbox.git("rev-parse", "HEAD").out.prefix(40)
    let file = "\(sandbox.store)/.git/objects/\(id.prefix(2))/\(id.dropFirst(2))"
    let cut = try await sandbox.run(
      "/bin/sh", ["-c", "head -c 20 '\(file)' > '\(file).cut' && mv -f '\(file).cut' '\(file)'"])
    #expect(cut.status == 0, "\(cut.err)")
    // A busy machine needs seconds; a walk by libgit2 alone would need forever.
    let output = try await sandbox.run(
      "/usr/bin/timeout", ["90", Sandbox.binary, command],
      environment: ["TZ": "UTC", "BELFRY_DEVICE": "laptop", "BELFRY_NOW": "2026-11-20T22:46:00Z"])
    #expect(output.status != 124 && output.status != 0, "\(output.out)\(output.err)")
    #expect(!output.out.contains("timed out"), "\(output.out)")
    #expect((output.out + output.err).contains("belfry doctor --repair"), "\(output.err)")
  }

  @Test(
    "A damaged object fails the sync and removes nothing from the remote",
    arguments: ["record", "tree", "devices"])
  func damagedObject(object: String) async throws {
    let (sandbox, server, remote) = try await devices()
    var file = try await newRecord(sandbox)
    if object != "record" {
      let path = object == "tree" ? "origin/main:alarms" : "origin/main^{tree}"
      let id = try await sandbox.git("rev-parse", path).out.prefix(40)
      file = "\(sandbox.store)/.git/objects/\(id.prefix(2))/\(id.dropFirst(2))"
    }
    let cut = try await sandbox.run(
      "/bin/sh", ["-c", "head -c 12 '\(file)' > '\(file).cut' && mv -f '\(file).cut' '\(file)'"])
    #expect(cut.status == 0, "\(cut.err)")
    let sync = try await sandbox.belfry("sync", now: "2026-11-20T22:46:00Z")
    #expect(sync.status == 1, "\(sync.out)")
    #expect(sync.err.contains("nothing was merged"), "\(sync.err)")
    #expect(sync.err.contains("belfry doctor --repair"), "\(sync.err)")
    #expect(try await alarms(remote, sandbox).count == 2)

    _ = try await sandbox.belfry("doctor", "--repair", now: "2026-11-20T22:47:00Z")
    let again = try await sandbox.belfry("sync", now: "2026-11-20T22:48:00Z")
    #expect(again.status == 0, "\(again.err)")
    #expect(try await sandbox.belfry("list", "--json").array.count == 2)
    #expect(try await alarms(remote, sandbox).count == 2)
    _ = server
  }

  @Test("Sync fetches a missing object again")
  func missingObject() async throws {
    let (sandbox, _, remote) = try await devices()
    try FileManager.default.removeItem(atPath: try await newRecord(sandbox))
    let sync = try await sandbox.belfry("sync", now: "2026-11-20T22:46:00Z")
    #expect(sync.status == 0, "\(sync.err)")
    #expect(try await sandbox.belfry("list", "--json").array.count == 2)
    #expect(try await alarms(remote, sandbox).count == 2)
    #expect(try await sandbox.git("fsck").status == 0)
  }

  @Test("A partial clone merges records whose blobs are not fetched", arguments: [false, true])
  func partialClone(isFetched: Bool) async throws {
    let (sandbox, server, remote) = try await devices()
    _ = try await sandbox.belfry("sync", now: "2026-11-20T22:46:00Z")
    _ = try await sandbox.git("config", "uploadpack.allowFilter", "true", in: remote)
    let partial = sandbox.root + "/partial"
    let clone = try await sandbox.git(
      "clone", "-q", "--filter=blob:none", "file://\(remote)", partial, in: sandbox.root)
    #expect(clone.status == 0, "\(clone.err)")
    _ = try await sandbox.belfry(
      "add", "Bread", "--daily", now: "2026-11-20T22:47:00Z", store: partial, device: "tablet")
    _ = try await sandbox.belfry(
      "add", "Eggs", "--daily", now: "2026-11-20T22:47:00Z", store: server, device: "server")
    _ = try await sandbox.belfry(
      "sync", now: "2026-11-20T22:48:00Z", store: server, device: "server")
    if isFetched { _ = try await sandbox.git("fetch", "-q", in: partial) }
    let sync = try await sandbox.belfry(
      "sync", now: "2026-11-20T22:49:00Z", store: partial, device: "tablet")
    #expect(sync.status == 0, "\(sync.err)")
    #expect(try await alarms(remote, sandbox).count == 4)
    let list = try await sandbox.belfry(
      "list", "--json", now: "2026-11-20T22:50:00Z", store: partial, device: "tablet")
    #expect(list.array.count == 4, "\(list.out)")
  }

  @Test("An incoming commit of another device stays until its objects are readable")
  func unreadableIncomingCommit() async throws {
    let (sandbox, server, _) = try await devices()
    let push = try await sandbox.git(
      "push", "-q", sandbox.store, "main:refs/belfry/incoming/serveraaaaaaaaaaaaaaaaaaaa",
      in: server)
    #expect(push.status == 0, "\(push.err)")
    let file = try await newRecord(sandbox)
    let aside = sandbox.root + "/aside"
    try FileManager.default.moveItem(atPath: file, toPath: aside)
    let tick = try await sandbox.belfry("tick", now: "2026-11-20T22:46:00Z")
    #expect(tick.status == 0, "\(tick.err)")
    #expect(try await sandbox.git("for-each-ref", "refs/belfry/incoming").out.contains("server"))
    try FileManager.default.moveItem(atPath: aside, toPath: file)
    _ = try await sandbox.belfry("tick", now: "2026-11-20T22:47:00Z")
    #expect(try await sandbox.git("for-each-ref", "refs/belfry/incoming").out.isEmpty)
    #expect(try await sandbox.belfry("list", "--json").array.count == 2)
  }
}
