import Foundation
import TestSupport
import Testing

/// What a remote has in the place of the devices' heartbeats.
@Suite struct HeartbeatReferenceTests {
  private func devices() async throws -> (Sandbox, server: String, remote: String) {
    let sandbox = try await Sandbox.withTea()
    let server = try await sandbox.secondDevice()
    // The devices know each other.
    _ = try await sandbox.belfry(
      "sync", now: "2026-11-20T22:42:30Z", store: server, device: "server")
    _ = try await sandbox.belfry("sync", now: "2026-11-20T22:42:40Z")
    return (sandbox, server, sandbox.root + "/remote.git")
  }

  private func seen(_ sandbox: Sandbox) async throws -> [String] {
    try await sandbox.git("for-each-ref", "--format=%(refname)", "refs/belfry/seen").out
      .split(separator: "\n").map(String.init)
  }

  /// Makes references at the remote that name its branch's commit.
  private func make(_ names: [String], _ remote: String, _ sandbox: Sandbox) async throws {
    let commit = try await sandbox.git("rev-parse", "main", in: remote).out.prefix(40)
    let list = sandbox.root + "/references"
    try sandbox.write(names.map { "create \($0) \(commit)\n" }.joined(), to: list)
    let made = try await sandbox.run(
      "/bin/sh", ["-c", "git -C '\(remote)' update-ref --stdin < '\(list)'"])
    #expect(made.status == 0, "\(made.err)")
  }

  @Test("a reference that becomes a folder keeps nobody from syncing", arguments: [true, false])
  func referenceBecomesFolder(isDevice: Bool) async throws {
    let (sandbox, server, remote) = try await devices()
    var name = "foo"
    if isDevice {
      let device = try await sandbox.belfry(
        "device", "--json", now: "2026-11-20T22:43:00Z", store: server, device: "server")
      name = try #require(device.object["id"] as? String)
    }
    try await make(["refs/belfry/alive/\(name)"], remote, sandbox)
    let first = try await sandbox.belfry("sync", now: "2026-11-20T22:44:00Z")
    #expect(first.status == 0, "\(first.err)")
    #expect(try await seen(sandbox).count == (isDevice ? 1 : 0))
    _ = try await sandbox.git("update-ref", "-d", "refs/belfry/alive/\(name)", in: remote)
    try await make(["refs/belfry/alive/\(name)/bar"], remote, sandbox)
    _ = try await sandbox.belfry(
      "add", "Milk", "--daily", now: "2026-11-20T22:45:00Z", store: server, device: "server")
    _ = try await sandbox.belfry(
      "sync", now: "2026-11-20T22:46:00Z", store: server, device: "server")
    let sync = try await sandbox.belfry("sync", now: "2026-11-20T22:47:00Z")
    #expect(sync.status == 0, "\(sync.err)")
    #expect(try await sandbox.belfry("list", "--json").array.count == 2)
    #expect(try await seen(sandbox).isEmpty)
  }

  @Test("of many references at a remote only those of this store's devices are fetched")
  func manyReferences() async throws {
    let (sandbox, server, remote) = try await devices()
    let device = try await sandbox.belfry(
      "device", "--json", now: "2026-11-20T22:43:00Z", store: server, device: "server")
    let id = try #require(device.object["id"] as? String)
    let names = (0..<3000).map { "refs/belfry/alive/stranger\($0)" }
    try await make(
      names + ["refs/belfry/alive/\(id)", "refs/belfry/alive/\(id)x"], remote, sandbox)
    // What an earlier version has fetched is removed.
    _ = try await sandbox.git(
      "fetch", "-q", "origin", "+refs/belfry/alive/stranger1*:refs/belfry/seen/origin/stranger1*",
      "+refs/belfry/alive/stranger2:refs/belfry/seen/gone/stranger2")
    #expect(try await seen(sandbox).count > 1000)
    let sync = try await sandbox.belfry("sync", now: "2026-11-20T22:44:00Z")
    #expect(sync.status == 0, "\(sync.err)")
    #expect(try await seen(sandbox) == ["refs/belfry/seen/origin/\(id)"])
  }
}
