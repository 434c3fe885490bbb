import Foundation
import TestSupport
import Testing

/// The number of flushes, which is what a user waits for on a slow disk.
@Suite struct FlushTests {
  /// Runs a command, and returns the number of its system calls that wait for the disk.
  private func flushes(_ sandbox: Sandbox, now: String, _ arguments: String...) async throws -> Int
  {
    let trace = sandbox.root + "/trace"
    let output = try await sandbox.run(
      "/usr/bin/strace",
      ["-f", "-qq", "-o", trace, "-e", "trace=fsync,fdatasync,syncfs,sync", Sandbox.binary]
        + arguments,
      environment: ["TZ": "UTC", "BELFRY_DEVICE": "laptop", "BELFRY_NOW": now])
    #expect(output.status == 0, "\(output.err)")
    return try sandbox.read(trace).split(separator: "\n").count {
      $0.contains("sync(") || $0.contains("syncfs(")
    }
  }

  @Test("An acknowledged write is flushed once")
  func writes() async throws {
    let sandbox = try await Sandbox.withTea()
    let now = "2026-11-20T23:00:00Z"
    let events = (0..<20).map { number in
      "BEGIN:VEVENT\r\nUID:\(number)\r\nSUMMARY:Event \(number)\r\nDTSTART:20261201T090000\r\n"
        + "RRULE:FREQ=WEEKLY\r\nEND:VEVENT\r\n"
    }.joined()
    try sandbox.write(
      "BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:test\r\n\(events)END:VCALENDAR\r\n",
      to: sandbox.root + "/events.ics")
    _ = try await sandbox.belfry("tier", "plus", now: now)
    #expect(try await flushes(sandbox, now: now, "add", "Milk", "daily", "9am") == 1)
    #expect(try await flushes(sandbox, now: now, "edit", "Milk", "--title", "Cream") == 1)
    #expect(try await flushes(sandbox, now: now, "skip", "Tea", "--yes") == 1)
    #expect(try await flushes(sandbox, now: now, "delete", "Cream", "--yes") == 1)
    #expect(try await flushes(sandbox, now: now, "undo") == 1)
    #expect(try await flushes(sandbox, now: now, "settings", "set", "snooze", "7m") == 1)
    #expect(try await flushes(sandbox, now: now, "import", sandbox.root + "/events.ics") == 1)
    #expect(try await flushes(sandbox, now: now, "list") == 0)
  }

  @Test("A tick that delivers alarms is flushed once, and the next one empties the journal")
  func deliveries() async throws {
    let sandbox = try Sandbox()
    try await sandbox.plus()
    for title in ["Tea", "Milk", "Rent"] {
      _ = try await sandbox.belfry(
        "add", title, "daily", "9am", now: "2026-11-20T08:00:00Z")
    }
    for name in ["notify", "ring"] {
      try sandbox.write("#!/bin/sh\n", to: sandbox.hooks + "/" + name, mode: 0o755)
    }
    #expect(try await flushes(sandbox, now: "2026-11-20T09:00:00Z", "tick") == 1)
    // While something rings, no tick is idle.
    _ = try await sandbox.belfry("done", "--all", now: "2026-11-20T09:00:20Z")
    // That of the file system, and that of the emptied journal.
    #expect(try await flushes(sandbox, now: "2026-11-20T09:00:30Z", "tick") == 2)
    #expect(try await flushes(sandbox, now: "2026-11-20T09:00:40Z", "tick") == 0)
  }
}
