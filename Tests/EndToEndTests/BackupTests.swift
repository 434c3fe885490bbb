import Foundation
import TestSupport
import Testing

/// `belfry backup`: the copies of a store, what they lack, and what a lost disk would cost.
@Suite struct BackupTests {
  private func now(_ time: String) -> String { "2026-11-23T\(time)Z" }

  @Test("Without a copy, everything would be lost")
  func none() async throws {
    let sandbox = try await Sandbox.withTea()
    let backup = try await sandbox.belfry("backup", now: now("10:00:00"))
    #expect(backup.status == 0, "\(backup.err)")
    #expect(backup.out.contains("none: no remote and no export"))
    #expect(backup.out.contains("everything would be lost: 1 alarm with their history"))
    #expect(backup.out.contains("belfry remote add origin URL"))
    let document = try await sandbox.belfry("backup", "--json", now: now("10:00:00")).object
    #expect(document["isSafe"] as? Bool == false && document["alarms"] as? Int == 1)
    #expect((document["copies"] as? [Any])?.isEmpty == true)
  }

  @Test("A copy on the same disk is no backup, and the copies name what they lack")
  func copies() async throws {
    let sandbox = try await Sandbox.withTea()
    let bare = sandbox.root + "/bare.git"
    _ = try await sandbox.git("init", "-q", "--bare", "-b", "main", bare, in: sandbox.root)
    _ = try await sandbox.belfry("remote", "add", "origin", bare, now: now("10:00:00"))
    var backup = try await sandbox.belfry("backup", now: now("10:01:00"))
    #expect(backup.out.contains("never synced"), "\(backup.out)")
    _ = try await sandbox.belfry("sync", now: now("10:02:00"))
    _ = try await sandbox.belfry(
      "export", "-o", sandbox.root + "/all.json", now: now("10:03:00"))
    _ = try await sandbox.belfry("add", "Rent", "--monthly", "1", now: now("10:04:00"))
    backup = try await sandbox.belfry("backup", now: now("12:02:00"))
    #expect(
      backup.out.contains("synced 2 h ago, lacks 1 commit, on the disk of the store"),
      "\(backup.out)")
    #expect(backup.out.contains("made 1 h 59 min ago, lacks 1 commit"), "\(backup.out)")
    #expect(backup.out.contains("everything would be lost: 2 alarms"))
    #expect(backup.out.contains("add a remote on another machine"))
    try FileManager.default.removeItem(atPath: sandbox.root + "/all.json")
    backup = try await sandbox.belfry("backup", now: now("12:02:00"))
    #expect(backup.out.contains("not there now"), "\(backup.out)")
  }

  @Test("A remote on another disk is safe, and the changes that it lacks are named")
  func safe() async throws {
    let sandbox = try await Sandbox.withTea()
    // The tests run on /dev/shm, and /tmp is on another file system, or the other way round.
    let folder = sandbox.root.hasPrefix("/dev/shm") ? "/tmp" : "/dev/shm"
    let other = "\(folder)/belfry-backup-\(UUID().uuidString)"
    defer { try? FileManager.default.removeItem(atPath: other) }
    _ = try await sandbox.git("init", "-q", "--bare", "-b", "main", other, in: sandbox.root)
    _ = try await sandbox.belfry("remote", "add", "usb", other, now: now("10:00:00"))
    _ = try await sandbox.belfry("sync", now: now("10:02:00"))
    let complete = try await sandbox.belfry("backup", now: now("10:03:00"))
    #expect(complete.out.contains("nothing would be lost"), "\(complete.out)")
    #expect(complete.out.contains("belfry clone \(other)"))
    _ = try await sandbox.belfry("tick", now: now("09:00:00"))
    _ = try await sandbox.belfry("add", "Rent", "--monthly", "1", now: now("10:04:00"))
    let lacking = try await sandbox.belfry("backup", now: now("12:00:00"))
    #expect(lacking.out.contains("would be lost:\n"), "\(lacking.out)")
    #expect(lacking.out.contains("today 10:04  Created: Rent"), "\(lacking.out)")
    #expect(lacking.out.contains("bring the remotes up to date: belfry sync"))
    let document = try await sandbox.belfry("backup", "--json", now: now("12:00:00")).object
    #expect(document["isSafe"] as? Bool == true)
    #expect((document["unsaved"] as? Int ?? 0) > 0)
  }
}
