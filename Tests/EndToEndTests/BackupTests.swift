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

  @Test(
    "A copy is made in a new folder, an empty one, or in one with other files, and brought up to date"
  )
  func copy() async throws {
    let sandbox = try await Sandbox.withTea()
    let new = sandbox.root + "/usb/copy"
    let missing = try await sandbox.belfry("backup", new, now: now("10:00:00"))
    #expect(missing.status != 0 && missing.err.contains("there is no folder"), "\(missing.err)")
    try FileManager.default.createDirectory(
      atPath: sandbox.root + "/usb", withIntermediateDirectories: true)
    let first = try await sandbox.belfry("backup", new, now: now("10:00:00"))
    #expect(first.status == 0, "\(first.err)")
    #expect(first.out.hasPrefix("Copied the store to \(new), as the new remote copy."))
    #expect(first.out.contains("synced"), "\(first.out)")
    _ = try await sandbox.belfry("add", "Rent", "--monthly", "1", now: now("10:04:00"))
    let second = try await sandbox.belfry("backup", new, now: now("10:05:00"))
    #expect(second.out.hasPrefix("Copied the store to \(new), the remote copy."), "\(second.err)")
    let head = try await sandbox.git("rev-parse", "main", in: sandbox.store).out
    #expect(try await sandbox.git("rev-parse", "main", in: new).out == head)
    // A disk with other files gets a folder, also at the second time.
    let disk = sandbox.root + "/usb"
    for isNew in [true, false] {
      let inner = try await sandbox.belfry("backup", disk, now: now("10:06:00"))
      #expect(
        inner.out.hasPrefix(
          "Copied the store to \(disk)/belfry.git, \(isNew ? "as the new" : "the") remote usb."),
        "\(inner.out)\(inner.err)")
    }
    let document = try await sandbox.belfry("backup", disk, "--json", now: now("10:07:00")).object
    #expect((document["copies"] as? [Any])?.count == 2)
  }

  @Test("A copy needs a folder of its own")
  func refusedCopies() async throws {
    let sandbox = try await Sandbox.withTea()
    let other = sandbox.root + "/other.git"
    _ = try await sandbox.git("init", "-q", "--bare", "-b", "main", other, in: sandbox.root)
    let repository = try await sandbox.belfry("backup", other, now: now("10:00:00"))
    #expect(repository.status == 2, "\(repository.err)")
    #expect(repository.err.contains("belfry remote add other"), "\(repository.err)")
    let file = sandbox.root + "/file"
    try Data().write(to: URL(fileURLWithPath: file))
    let onFile = try await sandbox.belfry("backup", file, now: now("10:00:00"))
    #expect(onFile.status == 2 && onFile.err.contains("is a file"), "\(onFile.err)")
    let host = try await sandbox.belfry("backup", "me@server:belfry.git", now: now("10:00:00"))
    #expect(host.status == 2 && host.err.contains("belfry remote add origin"), "\(host.err)")
    #expect(try await sandbox.belfry("remote", "--json", now: now("10:00:00")).array.isEmpty)
  }
}
