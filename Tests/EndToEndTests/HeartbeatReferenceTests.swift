import Foundation
import TestSupport
import Testing

/// Unexpected references among the devices' heartbeats at a remote.
@Suite struct HeartbeatReferenceTests {
  private func syncedDevices() async throws -> (Sandbox, server: String, remote: String) {
    let sandbox = try await Sandbox.withTea()
    let server = try await sandbox.secondDevice()
    // Both devices have the record of the other.
    _ = try await sandbox.belfry(
      "sync", now: "2026-11-20T22:42:30Z", store: server, device: "server")
    _ = try await sandbox.belfry("sync", now: "2026-11-20T22:42:40Z")
    return (sandbox, server, sandbox.root + "/remote.git")
  }

  private func seenReferences(_ sandbox: Sandbox) async throws -> [String] {
    try await sandbox.git("for-each-ref", "--format=%(refname)", "refs/belfry/seen").out
      .split(separator: "\n").map(String.init)
  }

  /// Creates references at the remote that point to the commit of its branch.
  private func createReferences(_ names: [String], _ remote: String, _ sandbox: Sandbox)
    async throws
  {
    let commit = try await sandbox.git("rev-parse", "main", in: remote).out.prefix(40)
    let list = sandbox.root + "/references"
    try sandbox.write(names.map { "create \($0) \(commit)\n" }.joined(), to: list)
    let made = try await sandbox.run(
      "/bin/sh", ["-c", "git -C '\(remote)' update-ref --stdin < '\(list)'"])
    #expect(made.status == 0, "\(made.err)")
  }

  @Test("A reference that becomes a folder does not prevent a sync", arguments: [true, false])
  func referenceBecomesFolder(isDevice: Bool) async throws {
    let (sandbox, server, remote) = try await syncedDevices()
    var name = "foo"
    if isDevice {
      let device = try await sandbox.belfry(
        "device", "--json", now: "2026-11-20T22:43:00Z", store: server, device: "server")
      name = try #require(device.object["id"] as? String)
    }
    try await createReferences(["refs/belfry/alive/\(name)"], remote, sandbox)
    let first = try await sandbox.belfry("sync", now: "2026-11-20T22:44:00Z")
    #expect(first.status == 0, "\(first.err)")
    #expect(try await seenReferences(sandbox).count == (isDevice ? 1 : 0))
    _ = try await sandbox.git("update-ref", "-d", "refs/belfry/alive/\(name)", in: remote)
    try await createReferences(["refs/belfry/alive/\(name)/bar"], remote, sandbox)
    _ = try await sandbox.belfry(
      "add", "Milk", "--daily", now: "2026-11-20T22:45:00Z", store: server, device: "server")
    _ = try await sandbox.belfry(
      "sync", now: "2026-11-20T22:46:00Z", store: server, device: "server")
    let sync = try await sandbox.belfry("sync", now: "2026-11-20T22:47:00Z")
    #expect(sync.status == 0, "\(sync.err)")
    #expect(try await sandbox.belfry("list", "--json").array.count == 2)
    #expect(try await seenReferences(sandbox).isEmpty)
  }

  @Test("A sync fetches only the references of the store's devices")
  func manyReferences() async throws {
    let (sandbox, server, remote) = try await syncedDevices()
    let device = try await sandbox.belfry(
      "device", "--json", now: "2026-11-20T22:43:00Z", store: server, device: "server")
    let id = try #require(device.object["id"] as? String)
    let names = (0..<3000).map { "refs/belfry/alive/stranger\($0)" }
    try await createReferences(
      names + ["refs/belfry/alive/\(id)", "refs/belfry/alive/\(id)x"], remote, sandbox)
    // The sync removes references that an earlier version fetched.
    _ = try await sandbox.git(
      "fetch", "-q", "origin", "+refs/belfry/alive/stranger1*:refs/belfry/seen/origin/stranger1*",
      "+refs/belfry/alive/stranger2:refs/belfry/seen/gone/stranger2")
    #expect(try await seenReferences(sandbox).count > 1000)
    let sync = try await sandbox.belfry("sync", now: "2026-11-20T22:44:00Z")
    #expect(sync.status == 0, "\(sync.err)")
    #expect(try await seenReferences(sandbox) == ["refs/belfry/seen/origin/\(id)"])
  }
}
