import Foundation
import TestSupport
import Testing

/// The channels of a tick, which a helper process keeps trying and ends after an answer.
@Suite struct HelperChannelTests {
  /// A store with an alarm that is due at 09:00, and hooks that stay.
  private func sandbox(_ options: String...) async throws -> Sandbox {
    let sandbox = try Sandbox()
    try await sandbox.plus()
    for hook in ["notify", "ring"] {
      try write("echo delivered; exec sleep 300", to: hook, sandbox)
    }
    try await sandbox.belfry(
      ["add", "Tea"] + options, now: "2026-11-23T08:00:00Z"
    ).expectSuccess()
    return sandbox
  }

  private func write(_ script: String, to hook: String, _ sandbox: Sandbox) throws {
    try sandbox.write(
      "#!/bin/sh\ncat >/dev/null\necho \"\(hook) $$\" >> '\(sandbox.rang)'\n\(script)\n",
      to: "\(sandbox.hooks)/\(hook)", mode: 0o755)
  }

  private func starts(_ hook: String, _ sandbox: Sandbox) -> [pid_t] {
    sandbox.rings.filter { $0.hasPrefix(hook) }
      .compactMap { $0.split(separator: " ").last.flatMap { pid_t($0) } }
  }

  private func isRunning(_ hook: String, _ sandbox: Sandbox) -> Bool {
    starts(hook, sandbox).contains { kill($0, 0) == 0 }
  }

  private func wait(until condition: () -> Bool) async throws -> Bool {
    for _ in 0..<1_200 {
      if condition() { return true }
      try await Task.sleep(for: .milliseconds(100))
    }
    return false
  }

  private func expectSilence(_ sandbox: Sandbox) async throws {
    #expect(
      try await wait { !isRunning("notify", sandbox) && !isRunning("ring", sandbox) })
    #expect(
      try await ProcessTable.waitUntilNone(has: "HOME=\(sandbox.home)\0", in: .environment))
  }

  @Test(
    "A channel that comes up after the tick is tried again, and an answer ends both",
    arguments: ["ring", "notify"])
  func lateChannel(_ late: String) async throws {
    let sandbox = try await sandbox("--daily", "--at", "09:00")
    try write("exit 1", to: late, sandbox)
    try await sandbox.belfry("tick", now: "2026-11-23T09:00:00Z").expectSuccess()
    try write("echo delivered; exec sleep 300", to: late, sandbox)
    #expect(try await wait { isRunning("notify", sandbox) && isRunning("ring", sandbox) })
    // The next tick does not deliver it again.
    try await sandbox.belfry("tick", now: "2026-11-23T09:01:00Z").expectSuccess()
    let count = sandbox.rings.count
    try await sandbox.belfry("done", "tea", now: "2026-11-23T09:01:10Z").expectSuccess()
    try await expectSilence(sandbox)
    #expect(sandbox.rings.count == count)
  }

  @Test("A refused answer ends nothing, and the notification is shown again")
  func refused() async throws {
    let sandbox = try await sandbox("--once", "2026-11-23T09:00")
    let pressed = sandbox.root + "/pressed"
    try write(
      "echo delivered; [ -e '\(pressed)' ] && exec sleep 300; touch '\(pressed)'; sleep 1; echo skip",
      to: "notify", sandbox)
    try await sandbox.belfry("tick", now: "2026-11-23T09:00:00Z").expectSuccess()
    #expect(try await wait { starts("notify", sandbox).count == 2 })
    #expect(isRunning("ring", sandbox))
    #expect(starts("ring", sandbox).count == 1)
    try await sandbox.belfry("done", "tea", now: "2026-11-23T09:01:10Z").expectSuccess()
    try await expectSilence(sandbox)
  }

  @Test("An answer to a tick ends the hooks of a helper that was killed")
  func killedHelper() async throws {
    let sandbox = try await sandbox("--daily", "--at", "09:00")
    try await sandbox.belfry("tick", now: "2026-11-23T09:00:00Z").expectSuccess()
    #expect(try await wait { isRunning("notify", sandbox) && isRunning("ring", sandbox) })
    let registry = sandbox.store + "/.git/belfry/hooks"
    #expect(
      try await wait {
        (try? FileManager.default.contentsOfDirectory(atPath: registry))?.count == 2
      })
    _ = try await sandbox.run(
      "/bin/sh",
      [
        "-c",
        "for p in $(grep -lsz \"^HOME=$HOME$\" /proc/[0-9]*/environ); do p=${p#/proc/}; p=${p%/environ}; tr '\\0' ' ' < /proc/$p/cmdline | grep -q ' attend ' && kill -9 $p; done; true",
      ])
    try await sandbox.belfry("done", "tea", now: "2026-11-23T09:01:10Z").expectSuccess()
    try await expectSilence(sandbox)
  }
}
