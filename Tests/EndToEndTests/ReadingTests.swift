import Foundation
import TestSupport
import Testing

/// Commands that only read change no record, and create no store.
@Suite struct ReadingTests {
  /// The commands that read, with arguments that fit a store with the alarm Tea.
  private static let commands = [
    ["list"], ["list", "--cards"], ["list", "--json"], ["list", "--finished"],
    ["list", "--clashes"],
    ["next"], ["month"], ["week"], ["year"], ["show", "tea"], ["pending"],
    ["when", "every friday 9am"], ["why", "tea"],
    ["why", "tea", "2026-11-20"], ["log"], ["log", "tea", "--json"], ["stats"], ["stats", "tea"],
    ["status"], ["backup"], ["explain", "tea"], ["export"], ["export", "--format", "ical"],
    ["doctor"],
    ["calendar", "list"], ["calendar", "show", "de-BE"], ["settings"],
    ["settings", "get", "grace"],
    ["tier"], ["sounds"], ["device"], ["remote", "list"], ["conflicts", "list"],
    ["hooks", "status"],
    ["cascade", "list", "tea"], ["cascade", "preview", "tea"], ["cascade", "status"],
    ["partner", "list"], ["partner", "log"], ["calls", "show"], ["battery", "status"],
    ["battery", "predict", "--level", "80", "--drain", "3", "--hours", "8"], ["service", "status"],
    ["ring"], ["sync", "--dry-run"], ["import", "-", "--dry-run"],
    ["service", "install", "--dry-run"],
    ["catalog"],
  ]

  /// Returns the content and modification time of every file outside Belfry's local state, with the branches.
  private func snapshot(_ sandbox: Sandbox, _ store: String) async throws -> String {
    let files = try await sandbox.run(
      "/bin/sh",
      [
        "-c",
        "cd '\(store)' && find . -path ./.git -prune -o -type f -printf '%p %T@ %m\\n' -exec sha256sum {} \\; | sort && git for-each-ref && cat .git/HEAD .git/config && git rev-parse -q --verify MERGE_HEAD; ls .git/refs/heads .git/objects/pack",
      ])
    return files.out
  }

  @Test(
    "No reading command changes a record, its modification time, or a branch", arguments: commands)
  func nothingChanges(_ command: [String]) async throws {
    let sandbox = try await Sandbox.withTea()
    let before = try await snapshot(sandbox, sandbox.store)
    #expect(before.contains("alarms/"))
    let output = try await sandbox.belfry(command, now: "2026-11-27T09:00:30Z")
    #expect(output.status != 2 || command[0] == "explain", "\(output.err)")
    #expect(try await snapshot(sandbox, sandbox.store) == before)
  }

  @Test(
    "A reading command leaves a clone of plain git as it is",
    arguments: [
      ["list"], ["next"], ["status"], ["show", "tea"], ["log"], ["doctor"], ["why", "tea"],
    ])
  func cloneStays(_ command: [String]) async throws {
    let sandbox = try await Sandbox.withTea()
    let clone = sandbox.root + "/clone"
    _ = try await sandbox.git("clone", "-q", sandbox.store, clone, in: sandbox.root)
    let before = try await snapshot(sandbox, clone)
    let output = try await sandbox.belfry(command, store: clone, device: "desktop")
    if command != ["doctor"] { #expect(output.status == 0, "\(output.err)") }
    #expect(try await snapshot(sandbox, clone) == before)
  }

  @Test(
    "On a missing store, a reading command says so, creates nothing, and tells how to create one",
    arguments: [
      ["list"], ["next"], ["status"], ["show", "tea"], ["log"], ["doctor"], ["why", "tea"],
      ["pending"], ["stats"], ["month"], ["export"], ["remote", "list"], ["conflicts", "list"],
      ["calendar", "list"], ["partner", "list"], ["hooks", "status"],
    ])
  func missingStore(_ command: [String]) async throws {
    let sandbox = try Sandbox()
    let output = try await sandbox.belfry(command)
    #expect(
      (output.out + output.err).contains("store at \(sandbox.store)"), "\(output.out)\(output.err)")
    #expect((output.out + output.err).contains("belfry add"), "\(output.out)\(output.err)")
    // A new user sees empty listings.
    let isListing = ["list", "next", "log", "pending", "stats", "month"]
      .contains(command[0])
    #expect(output.status == (isListing ? 0 : 1), "\(output.err)")
    #expect(!FileManager.default.fileExists(atPath: sandbox.store))
  }

  @Test("Settings, the tier and sounds are shown without a store, and create none")
  func defaults() async throws {
    let sandbox = try Sandbox()
    for command in [["settings"], ["settings", "get", "grace"], ["tier"], ["sounds"]] {
      let output = try await sandbox.belfry(command)
      #expect(output.status == 0 && !output.out.isEmpty, "\(command): \(output.err)")
    }
    #expect(!FileManager.default.fileExists(atPath: sandbox.store))
  }
}
