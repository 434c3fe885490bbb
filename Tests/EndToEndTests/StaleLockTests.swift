import Foundation
import TestSupport
import Testing

/// Locks that a process left behind when it died: no write waits for them.
@Suite struct StaleLockTests {
  private func store() async throws -> Sandbox {
    let sandbox = try Sandbox()
    try await sandbox.plus()
    _ = try await sandbox.belfry("add", "Tea", "--daily", "--at", "09:00")
    return sandbox
  }

  private func add(_ sandbox: Sandbox) async throws -> Sandbox.Output {
    try await sandbox.belfry(
      "add", "Milk", "--daily", "--at", "10:00", environment: ["BELFRY_LOCK_TIMEOUT": "0"])
  }

  @Test func aProcessNamedGiteaProtectsNoStaleLock() async throws {
    let sandbox = try await store()
    let program = sandbox.root + "/gitea"
    _ = try await sandbox.run("/bin/cp", ["/bin/sh", program])
    async let server = sandbox.run(
      "/bin/sh",
      [
        "-c",
        "cd '\(sandbox.store)' && exec '\(program)' -c 'touch ../running; while [ ! -e ../enough ]; do sleep 0.02; done'",
      ])
    let folder = (sandbox.store as NSString).deletingLastPathComponent
    while !FileManager.default.fileExists(atPath: folder + "/running") {
      try await Task.sleep(for: .milliseconds(10))
    }
    let lock = sandbox.store + "/.git/index.lock"
    try sandbox.write("", to: lock)
    _ = try await sandbox.run("/usr/bin/touch", ["-d", "1 hour ago", lock])
    let add = try await add(sandbox)
    #expect(add.status == 0, "\(add.err)")
    try sandbox.write("", to: folder + "/enough")
    _ = try await server
  }
}
