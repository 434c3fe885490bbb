import Foundation
import TestSupport
import Testing

/// A clock that was ahead and is corrected, run with the binary.
@Suite struct ClockTests {
  private func ring(_ sandbox: Sandbox, at now: String) async throws -> [String] {
    let before = sandbox.rings
    let tick = try await sandbox.belfry("tick", now: now)
    #expect(tick.status == 0, "\(tick.err)")
    return Array(sandbox.rings.dropFirst(before.count))
  }

  private func sandbox() async throws -> Sandbox {
    let sandbox = try Sandbox()
    try await sandbox.plus()
    _ = try await sandbox.belfry("add", "Pills", "--daily", "--at", "09:00")
    _ = try await sandbox.belfry("add", "Rent", "--monthly", "25", "--at", "07:00")
    // A tick with a clock that is a month ahead.
    _ = try await ring(sandbox, at: "2026-12-20T22:41:00Z")
    return sandbox
  }

  @Test(
    "Every alarm rings after a clock was a month ahead, and the list shows no future occurrence as missed"
  )
  func rings() async throws {
    let sandbox = try await sandbox()
    let list = try await sandbox.belfry("list", "--json", now: "2026-11-20T22:42:00Z")
    for alarm in list.array {
      #expect(alarm["state"] as? String == "active", "\(alarm)")
      #expect((alarm["missed"] as? [Any])?.isEmpty ?? true, "\(alarm)")
    }
    for day in 21...24 {
      #expect(
        try await ring(sandbox, at: "2026-11-\(day)T09:00:00Z")
          == ["Pills 2026-11-\(day)T09:00"], "day \(day)")
    }
    #expect(try await ring(sandbox, at: "2026-11-25T07:00:00Z") == ["Rent 2026-11-25T07:00"])
    // The occurrence that the wrong clock already settled.
    #expect(
      try await ring(sandbox, at: "2026-12-20T09:00:00Z").contains("Pills 2026-12-20T09:00"))
  }

  @Test("An alarm that rang too early rings again at its time, even if the next tick is late")
  func earlyRing() async throws {
    let sandbox = try await Sandbox.withTea()
    _ = try await sandbox.belfry("tick", now: "2026-11-21T09:20:00Z")
    #expect(sandbox.rings.count == 1)
    // The clock is corrected, and the machine sleeps past the alarm's time.
    _ = try await sandbox.belfry("tick", now: "2026-11-21T08:00:00Z")
    #expect(sandbox.rings.count == 1)
    _ = try await sandbox.belfry("tick", now: "2026-11-21T09:40:00Z")
    #expect(sandbox.rings.count == 2, "\(sandbox.rings)")
  }

  @Test("Doctor names alarms that a wrong clock settled, and --repair arms them again")
  func repair() async throws {
    let sandbox = try await sandbox()
    func clock(_ arguments: String...) async throws -> [String] {
      let doctor = try await sandbox.run(
        Sandbox.binary, ["doctor"] + arguments,
        environment: ["TZ": "UTC", "BELFRY_DEVICE": "laptop", "BELFRY_NOW": "2026-11-20T22:43:00Z"])
      return doctor.out.split(separator: "\n").map(String.init).filter {
        $0.hasPrefix("clock") || $0.hasPrefix("repair")
      }
    }
    let before = try await clock()
    #expect(
      before.contains { $0.contains("PROBLEM  Pills: ") && $0.contains("--repair") }, "\(before)")
    let repaired = try await clock("--repair")
    #expect(repaired.contains { $0.contains("Re-armed Pills") }, "\(repaired)")
    let after = try await clock()
    #expect(!after.contains { $0.contains("PROBLEM") }, "\(after)")
    #expect(after.contains { $0.contains("by a clock that was ahead") }, "\(after)")
    #expect(
      try await ring(sandbox, at: "2026-11-21T09:00:00Z") == ["Pills 2026-11-21T09:00"])
  }
}
