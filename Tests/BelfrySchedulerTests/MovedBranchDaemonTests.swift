import Foundation
import TestSupport
import Testing

@testable import BelfryScheduler

/// A daemon and a plain git that moves the branch without the work tree.
@Suite struct MovedBranchDaemonTests {
  /// Returns a daemon whose branch was moved to a commit with an alarm that the work tree lacks.
  private func bench() async throws -> DaemonBench {
    let bench = try await DaemonBench(at: "2026-11-20T08:00:00Z")
    try await bench.belfry("add", "Tea", "--daily", "--at", "09:00")
    let sandbox = bench.sandbox
    let other = sandbox.root + "/other"
    _ = try await sandbox.git("clone", "-q", sandbox.store, other, in: sandbox.root)
    for arguments in [
      ["add", "Milk", "--daily", "--at", "09:30"], ["edit", "tea", "--at", "09:15"],
    ] {
      _ = try await sandbox.run(
        Sandbox.binary, arguments,
        environment: [
          "TZ": "UTC", "BELFRY_DEVICE": "server", "BELFRY_STORE": other,
          "BELFRY_NOW": "2026-11-20T08:00:10Z",
        ])
    }
    _ = try await sandbox.git("fetch", "-q", other, "main")
    return bench
  }

  private let expected = [
    "firing Tea 2026-11-20T09:15 false", "firing Milk 2026-11-20T09:30 false",
  ]

  @Test("The daemon rings for the alarms of a branch that was moved")
  func ringing() async throws {
    let bench = try await bench()
    try await bench.start()
    _ = try await bench.sandbox.git("reset", "-q", "FETCH_HEAD")
    try await bench.handle(.branch)
    try await bench.wait(until: "2026-11-20T09:40:00Z")
    #expect(bench.rings == expected)
    #expect(try await bench.sandbox.git("status", "--porcelain").out.isEmpty)
  }

  @Test("The daemon notices a moved branch in its periodic check")
  func round() async throws {
    let bench = try await bench()
    try await bench.start()
    _ = try await bench.sandbox.git("reset", "-q", "FETCH_HEAD")
    try await bench.wait(until: "2026-11-20T09:40:00Z")
    #expect(bench.rings == expected)
  }

  @Test("Alarms of a moved branch ring even while the store cannot be written")
  func lockedStore() async throws {
    let bench = try await bench()
    try await bench.start()
    _ = try await bench.sandbox.git("reset", "-q", "FETCH_HEAD")
    // Every command that would update the work tree fails.
    let lock = bench.sandbox.store + "/.git/belfry/lock"
    try FileManager.default.removeItem(atPath: lock)
    try FileManager.default.createDirectory(atPath: lock, withIntermediateDirectories: false)
    try await bench.handle(.branch)
    try await bench.wait(until: "2026-11-20T09:40:00Z")
    #expect(bench.rings == expected)
    #expect(try await bench.sandbox.git("status", "--porcelain").out.contains(" D alarms/"))
  }
}
