import Foundation
import TestSupport
import Testing

/// Tests of a device that gets a new identity after a restore from a backup or a new installation.
@Suite struct RestoredDeviceTests {
  private static let evening = "2026-11-22T20:00:00Z"
  private static let ring = "2026-11-23T09:00:00Z"

  /// Replaces a store with a copy of itself, like a restore from a backup.
  private func restore(_ sandbox: Sandbox, _ store: String) async throws {
    let copy = try await sandbox.run(
      "/bin/sh",
      [
        "-ec",
        "cp -a '\(store)' '\(store).bak'; rm -rf '\(store)'; cp -a '\(store).bak' '\(store)'",
      ])
    #expect(copy.status == 0, "\(copy.err)")
  }

  private func findings(_ sandbox: Sandbox, _ area: String, now: String) async throws -> [String] {
    let doctor = try await sandbox.belfry("doctor", "--json", now: now)
    let findings = doctor.object["findings"] as? [[String: Any]] ?? []
    return findings.filter { $0["area"] as? String == area }
      .map { "\($0["level"] ?? ""): \($0["message"] ?? "") \($0["remedy"] ?? "")" }
  }

  @Test(
    "After a restore, an alarm for this device rings with a warning until the old identity is adopted"
  )
  func restoredDeviceRingsUntilAdoption() async throws {
    let sandbox = try Sandbox()
    let now = RestoredDeviceTests.evening
    let add = try await sandbox.belfry(
      "add", "Pills", "--daily", "--at", "09:00", "--on", "laptop", now: now)
    #expect(add.status == 0, "\(add.err)")
    let before = try await sandbox.belfry("device", "--json", now: now).object["id"] as? String
    let old = try #require(before)
    try await restore(sandbox, sandbox.store)

    let first = try await sandbox.belfry("list", now: "2026-11-22T20:09:00Z")
    #expect(first.err.contains("has no device identity yet"), "\(first.err)")
    let evening = try await sandbox.belfry("tick", now: "2026-11-22T20:10:00Z")
    #expect(evening.err.contains("belfry device adopt \(old.prefix(8))"), "\(evening.err)")
    let list = try await sandbox.belfry("list", now: "2026-11-22T20:10:00Z")
    #expect(list.err.contains("so Pills rings here"), "\(list.err)")
    let doctor = try await findings(sandbox, "devices", now: "2026-11-22T20:10:00Z")
    #expect(doctor.first?.hasPrefix("problem: laptop (\(old.prefix(8)))") == true, "\(doctor)")
    let tick = try await sandbox.belfry("tick", now: RestoredDeviceTests.ring)
    #expect(sandbox.rings == ["Pills 2026-11-23T09:00"], "\(tick.out)\(tick.err)")
    #expect(tick.err.contains("so Pills rings here"), "\(tick.err)")

    // If two devices have the same name, `adopt` selects the offline one.
    let adopt = try await sandbox.belfry("device", "adopt", "laptop", now: "2026-11-23T09:01:00Z")
    #expect(adopt.status == 0, "\(adopt.err)")
    #expect(adopt.out.contains("1 alarm named it"), "\(adopt.out)")
    #expect(try await findings(sandbox, "devices", now: "2026-11-23T09:02:00Z").isEmpty)
    let after = try await sandbox.belfry("list", now: "2026-11-23T09:02:00Z")
    #expect(!after.err.contains("adopt"), "\(after.err)")
    // The name is unambiguous again.
    let tea = try await sandbox.belfry(
      "add", "Tea", "--daily", "--at", "09:05", "--on", "laptop", now: "2026-11-23T09:02:00Z")
    #expect(tea.status == 0, "\(tea.err)")
    _ = try await sandbox.belfry("tick", now: "2026-11-23T09:05:00Z")
    #expect(sandbox.rings.last == "Tea 2026-11-23T09:05")
  }

  @Test("Undo reverts an adoption")
  func undoRevertsAdoption() async throws {
    let sandbox = try Sandbox()
    let now = RestoredDeviceTests.evening
    _ = try await sandbox.belfry(
      "add", "Pills", "--daily", "--at", "09:00", "--on", "laptop", now: now)
    let old = try #require(
      try await sandbox.belfry("device", "--json", now: now).object["id"] as? String)
    try await restore(sandbox, sandbox.store)
    let adopt = try await sandbox.belfry(
      "device", "adopt", String(old.prefix(8)), "--json", now: "2026-11-22T20:10:00Z")
    #expect(adopt.object["replaces"] as? String == old, "\(adopt.err)")
    #expect(try !sandbox.read(sandbox.alarmFile()).contains("\"\(old)\""))
    let undo = try await sandbox.belfry("undo", "--json", now: "2026-11-22T20:11:00Z")
    #expect(undo.object["devices"] as? [String] == [old], "\(undo.out)\(undo.err)")
    #expect(try sandbox.read(sandbox.alarmFile()).contains("\"\(old)\""))
    let list = try await sandbox.belfry("list", now: "2026-11-22T20:12:00Z")
    #expect(list.err.contains("belfry device adopt"), "\(list.err)")
    let status = try await sandbox.belfry("status", "--json", now: "2026-11-22T20:12:00Z")
    let devices = status.object["devices"] as? [[String: Any]] ?? []
    #expect(
      devices.contains { $0["id"] as? String == old && $0["standIn"] != nil }, "\(status.out)")
  }

  @Test(
    "A reinstalled device succeeds its old identity on every device, and sync transfers the adoption"
  )
  func reinstalledDeviceIsSuccessor() async throws {
    let sandbox = try Sandbox()
    let now = RestoredDeviceTests.evening
    _ = try await sandbox.belfry("tier", "plus", now: now)
    _ = try await sandbox.belfry("tick", now: now)
    _ = try await sandbox.belfry(
      "add", "Pills", "--daily", "--at", "09:00", "--on", "laptop", now: now)
    let server = try await sandbox.secondDevice(now: now)
    _ = try await sandbox.belfry("tick", now: now, store: server, device: "server")
    _ = try await sandbox.belfry("sync", now: now, store: server, device: "server")
    // The laptop's disk is lost; its store is cloned again.
    let laptop = sandbox.root + "/laptop"
    let clone = try await sandbox.belfry(
      "clone", sandbox.root + "/remote.git", now: "2026-11-22T21:00:00Z", store: laptop)
    #expect(clone.status == 0, "\(clone.err)")
    _ = try await sandbox.belfry("tick", now: "2026-11-23T08:58:00Z", store: laptop)
    _ = try await sandbox.belfry("sync", now: "2026-11-23T08:58:00Z", store: laptop)
    _ = try await sandbox.belfry(
      "sync", now: "2026-11-23T08:59:00Z", store: server, device: "server")
    let elsewhere = try await sandbox.belfry(
      "tick", now: RestoredDeviceTests.ring, store: server, device: "server")
    #expect(elsewhere.out.contains("Nothing is due"), "\(elsewhere.out)")
    _ = try await sandbox.belfry("tick", now: RestoredDeviceTests.ring, store: laptop)
    #expect(sandbox.rings == ["Pills 2026-11-23T09:00"])
    let adopt = try await sandbox.belfry(
      "device", "adopt", "laptop", now: "2026-11-23T09:01:00Z", store: laptop)
    #expect(adopt.status == 0, "\(adopt.err)")
    for (store, name) in [(laptop, "laptop"), (server, "server")] {
      _ = try await sandbox.belfry("sync", now: "2026-11-23T09:02:00Z", store: store, device: name)
    }
    // The server shows the alarm as the new device's.
    let show = try await sandbox.belfry(
      "show", "pills", now: "2026-11-23T09:03:00Z", store: server, device: "server")
    #expect(show.out.contains("rings on    laptop"), "\(show.out)")
    let status = try await sandbox.belfry(
      "status", now: "2026-11-23T09:03:00Z", store: server, device: "server")
    #expect(status.out.contains("replaced by"), "\(status.out)")
  }

  @Test(
    "An online device keeps its alarms, and doctor reports a device that returns after its adoption"
  )
  func oldDeviceIsOnline() async throws {
    let sandbox = try Sandbox()
    let now = RestoredDeviceTests.evening
    _ = try await sandbox.belfry("tier", "plus", now: now)
    _ = try await sandbox.belfry(
      "add", "Pills", "--daily", "--at", "09:00", "--on", "laptop", now: now)
    let twin = try await sandbox.secondDevice(now: now)
    _ = try await sandbox.belfry("device", "--name", "laptop", now: now, store: twin)
    // The first laptop stays online: it ticks and syncs.
    _ = try await sandbox.belfry("tick", now: "2026-11-23T08:58:00Z")
    _ = try await sandbox.belfry("sync", now: "2026-11-23T08:58:00Z")
    _ = try await sandbox.belfry("sync", now: "2026-11-23T08:59:00Z", store: twin)
    let tick = try await sandbox.belfry("tick", now: RestoredDeviceTests.ring, store: twin)
    #expect(tick.out.contains("Nothing is due"), "\(tick.out)")
    let refused = try await sandbox.belfry(
      "device", "adopt", "laptop", now: "2026-11-23T09:01:00Z", store: twin)
    #expect(refused.status == 4, "\(refused.out)\(refused.err)")
    #expect(refused.err.contains("--force"))
    // After a forced adoption the old device returns, and doctor reports that both ring.
    let forced = try await sandbox.belfry(
      "device", "adopt", "laptop", "--force", now: "2026-11-23T09:02:00Z", store: twin)
    #expect(forced.status == 0, "\(forced.err)")
    _ = try await sandbox.belfry("tick", now: "2026-11-23T10:00:00Z")
    _ = try await sandbox.belfry("sync", now: "2026-11-23T10:00:00Z")
    _ = try await sandbox.belfry("sync", now: "2026-11-23T10:01:00Z", store: twin)
    let doctor = try await sandbox.belfry("doctor", now: "2026-11-23T10:02:00Z", store: twin)
    #expect(doctor.out.contains("has been online since"), "\(doctor.out)")
  }

  @Test("An alarm of several devices rings on the online device, not on the restored one")
  func alarmOfSeveralDevices() async throws {
    let sandbox = try Sandbox()
    let now = RestoredDeviceTests.evening
    _ = try await sandbox.belfry("tier", "plus", now: now)
    let server = try await sandbox.secondDevice(now: now)
    _ = try await sandbox.belfry("sync", now: now, store: server, device: "server")
    _ = try await sandbox.belfry("sync", now: now)
    _ = try await sandbox.belfry(
      "add", "Pills", "--daily", "--at", "09:00", "--on", "laptop,server", now: now)
    _ = try await sandbox.belfry("sync", now: now)
    _ = try await sandbox.belfry(
      "tick", now: "2026-11-23T08:58:00Z", store: server, device: "server")
    _ = try await sandbox.belfry(
      "sync", now: "2026-11-23T08:58:00Z", store: server, device: "server")
    try await restore(sandbox, sandbox.store)
    _ = try await sandbox.belfry("sync", now: "2026-11-23T08:59:00Z")
    _ = try await sandbox.belfry("tick", now: RestoredDeviceTests.ring)
    #expect(sandbox.rings.isEmpty)
    // The server goes offline, too, so the alarm rings here, late.
    _ = try await sandbox.belfry("tick", now: "2026-11-23T10:20:00Z")
    #expect(sandbox.rings == ["Pills 2026-11-23T09:00"])
  }

  @Test("A restored device rings at the cascade step of its old identity and is found by its name")
  func cascadeStepOfRestoredDevice() async throws {
    let sandbox = try Sandbox()
    let now = RestoredDeviceTests.evening
    _ = try await sandbox.belfry("tier", "plus", now: now)
    _ = try await sandbox.belfry("add", "Standup", "--daily", "--at", "05:00", now: now)
    let remote = sandbox.root + "/remote.git"
    _ = try await sandbox.git("init", "-q", "--bare", "-b", "main", remote, in: sandbox.root)
    _ = try await sandbox.belfry("remote", "add", "origin", remote, now: now)
    _ = try await sandbox.belfry("sync", now: now)
    let watch = sandbox.root + "/Watch"
    _ = try await sandbox.belfry("clone", remote, now: now, store: watch, device: "Watch")
    for (store, name) in [(watch, "Watch"), (sandbox.store, "laptop")] {
      _ = try await sandbox.belfry("sync", now: now, store: store, device: name)
    }
    let add = try await sandbox.belfry("cascade", "add", "Standup", "device", "Watch", now: now)
    #expect(add.status == 0, "\(add.err)")
    _ = try await sandbox.belfry("sync", now: now)
    _ = try await sandbox.belfry("sync", now: now, store: watch, device: "Watch")
    try await restore(sandbox, watch)
    let early = try await sandbox.belfry(
      "tick", now: "2026-11-23T05:01:00Z", store: watch, device: "Watch")
    #expect(sandbox.rings.isEmpty, "\(early.out)")
    _ = try await sandbox.belfry(
      "tick", now: "2026-11-23T05:02:00Z", store: watch, device: "Watch")
    #expect(sandbox.rings == ["Standup 2026-11-23T05:00"])
    _ = try await sandbox.belfry(
      "sync", now: "2026-11-23T05:03:00Z", store: watch, device: "Watch")
    _ = try await sandbox.belfry("sync", now: "2026-11-23T05:03:00Z")
    // The name selects the online device, which is already a target.
    let again = try await sandbox.belfry(
      "cascade", "add", "Standup", "device", "Watch", now: "2026-11-23T05:04:00Z")
    #expect(again.status == 2 && again.err.contains("belfry device adopt"), "\(again.err)")
    let adopt = try await sandbox.belfry(
      "device", "adopt", "Watch", now: "2026-11-23T05:05:00Z", store: watch, device: "Watch")
    #expect(adopt.status == 0, "\(adopt.err)")
    let list = try await sandbox.belfry(
      "cascade", "list", "Standup", "--json", now: "2026-11-23T05:06:00Z", store: watch,
      device: "Watch")
    #expect((list.object["targets"] as? [Any])?.count == 1, "\(list.out)")
  }
}
