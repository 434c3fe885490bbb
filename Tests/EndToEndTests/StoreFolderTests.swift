import Foundation
import TestSupport
import Testing

/// Stores in folders that exist already: mounted volumes, links, and folders of ext4 file systems.
@Suite struct StoreFolderTests {
  private func titles(_ sandbox: Sandbox) async throws -> [String] {
    try await sandbox.belfry("list", "--json").array.compactMap { $0["title"] as? String }
  }

  /// Checks that a store is complete, and accepts another write.
  private func expectStore(_ sandbox: Sandbox, _ titles: [String]) async throws {
    #expect(try await self.titles(sandbox) == titles)
    let edit = try await sandbox.belfry(
      "edit", titles[0], "--note", "green", now: "2026-11-20T22:43:00Z")
    #expect(edit.status == 0 && !edit.err.contains("restored"), "\(edit.err)")
    #expect(try await sandbox.git("status", "--porcelain").out.isEmpty)
    #expect(try await sandbox.git("fsck", "--strict").status == 0)
    let left = try FileManager.default.contentsOfDirectory(atPath: sandbox.store)
      .filter { $0.hasPrefix(".belfry") }
    #expect(left == [])
  }

  @Test(
    "A store can be made and cloned into an empty mounted volume",
    .enabled(if: TestMachine.mounts), arguments: [false, true])
  func volume(_ isClone: Bool) async throws {
    let sandbox = try await Sandbox.withTea()
    let remote = sandbox.root + "/remote.git"
    _ = try await sandbox.git("clone", "-q", "--bare", sandbox.store, remote, in: sandbox.root)
    try FileManager.default.removeItem(atPath: sandbox.store)
    let words = isClone ? "clone '\(remote)'" : "add Tea --daily --at 09:00"
    // The mount ends with its namespace, so the volume is copied out of it.
    let script = """
      mkdir -p '\(sandbox.store)' '\(sandbox.root)/copy'
      mount -t tmpfs tmpfs '\(sandbox.store)' && mkdir '\(sandbox.store)/lost+found' &&
      '\(Sandbox.binary)' \(words) && '\(Sandbox.binary)' list --json > '\(sandbox.root)/list' &&
      git -C '\(sandbox.store)' status --porcelain > '\(sandbox.root)/status' &&
      git -C '\(sandbox.store)' fsck --strict && ls -A '\(sandbox.store)' > '\(sandbox.root)/names'
      """
    let run = try await sandbox.run(
      "/usr/bin/unshare", ["--mount", "/bin/sh", "-c", script],
      environment: ["TZ": "UTC", "BELFRY_NOW": "2026-11-20T22:42:00Z", "BELFRY_DEVICE": "server"])
    #expect(run.status == 0, "\(run.err)")
    #expect(try sandbox.read(sandbox.root + "/list").contains("\"Tea\""))
    #expect(try sandbox.read(sandbox.root + "/status") == "")
    let names = try sandbox.read(sandbox.root + "/names").split(separator: "\n")
    #expect(names.contains(".git") && !names.contains { $0.hasPrefix(".belfry") })
  }

  @Test("A store can be made in a linked empty folder, and next to lost+found")
  func link() async throws {
    let sandbox = try Sandbox()
    let (folder, parent) = (
      sandbox.root + "/disk/alarms", (sandbox.store as NSString).deletingLastPathComponent
    )
    for path in [folder + "/lost+found", parent] {
      try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    }
    try FileManager.default.createSymbolicLink(
      atPath: sandbox.store, withDestinationPath: folder)
    let add = try await sandbox.belfry("add", "Tea", "--daily", "--at", "09:00")
    #expect(add.status == 0, "\(add.err)")
    #expect(FileManager.default.fileExists(atPath: folder + "/.git/belfry/device.json"))
    try await expectStore(sandbox, ["Tea"])
  }

  @Test("A link to a missing folder, whose disk may not be mounted, is an error")
  func danglingLink() async throws {
    let sandbox = try Sandbox()
    let parent = (sandbox.store as NSString).deletingLastPathComponent
    try FileManager.default.createDirectory(atPath: parent, withIntermediateDirectories: true)
    try FileManager.default.createSymbolicLink(
      atPath: sandbox.store, withDestinationPath: sandbox.root + "/away/alarms")
    let add = try await sandbox.belfry("add", "Tea", "--daily", "--at", "09:00")
    #expect(add.status == 1)
    #expect(add.err.contains("could not resolve the link"), "\(add.err)")
    #expect(!FileManager.default.fileExists(atPath: sandbox.root + "/away"))
  }

  @Test("Of several commands that fill one empty folder at the same time, one makes the store")
  func race() async throws {
    let sandbox = try Sandbox()
    try FileManager.default.createDirectory(
      atPath: sandbox.store, withIntermediateDirectories: true)
    let adds = try await withThrowingTaskGroup(of: Sandbox.Output.self) { group in
      for number in 0..<4 {
        group.addTask {
          try await sandbox.belfry(
            "at", "2026-12-01 09:0\(number)", "Once \(number)",
            environment: ["BELFRY_LOCK_TIMEOUT": "60000"])
        }
      }
      return try await group.reduce(into: []) { $0.append($1) }
    }
    // The free tier permits two alarms.
    for add in adds { #expect([0, 5].contains(add.status), "\(add.err)") }
    #expect(try await titles(sandbox).count == 2)
    #expect(try await sandbox.git("status", "--porcelain").out.isEmpty)
    #expect(try await sandbox.git("fsck", "--strict").status == 0)
  }
}
