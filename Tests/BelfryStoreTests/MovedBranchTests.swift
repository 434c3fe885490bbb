import BelfryCore
import Foundation
import Glibc
import TestSupport
import Testing

@testable import BelfryStore

/// Another process moves the branch while Belfry writes.
@Suite struct BranchRaceTests {
  private func open(_ path: String) throws -> Store {
    try Store.open(
      path,
      context: StoreContext(
        now: Instant(rfc3339: "2026-11-20T22:41:00Z")!, zones: ZoneLibrary(variable: "UTC"),
        deviceName: "laptop", user: geteuid(),
        makeIdentifier: TestIdentifier.make, random: { $0.lowerBound }, lockTimeout: 20_000)
    ).store
  }

  private func change(_ title: String, _ store: Store) throws -> Store.Change {
    let id = store.context.makeIdentifier()
    let text = """
      {"format": 1, "id": "\(id)", "title": "\(title)", "schedule":
       {"kind": "daily", "start": "2026-11-20", "times": ["08:00"]}}
      """
    let alarm = try AlarmRecord.decode(Array(text.utf8), id: id, now: store.context.now)
    return Store.Change(
      alarms: [alarm.stamped(against: nil, at: store.context.now, device: store.device)],
      entries: [], message: CommitMessage("Add \(title)", device: store.device))
  }

  @Test("A commit that was pushed during a write is in the work tree after the next write")
  func pushDuringWrite() async throws {
    let sandbox = try Sandbox()
    let store = try open(sandbox.store)
    let other = sandbox.root + "/other"
    _ = try await sandbox.git("clone", "-q", sandbox.store, other, in: sandbox.root)
    let second = try open(other)
    try second.commit(try change("Milk", second))
    _ = try await sandbox.git("config", "receive.denyCurrentBranch", "ignore")

    let writer = try store.reconciledWriter(.branch)
    // The writer has read the branch, and has not moved it yet.
    let push = try await sandbox.git("push", "-q", sandbox.store, "main:main", in: other)
    #expect(push.status == 0, "\(push.err)")
    try writer.commit(try change("Tea", store))
    withExtendedLifetime(writer) {}
    func titles() throws -> [String] { try store.overview().summaries.map(\.title).sorted() }
    #expect(try titles() == ["Milk", "Tea"])
    let reader = store.alarmReader()
    let read = try store.overview().summaries.compactMap { try reader.alarm($0.id)?.title }
    #expect(read.sorted() == ["Milk", "Tea"])
    #expect(try store.armedAlarms.identifiers().count == 1)
    try store.commit(try change("Bread", store))
    #expect(try titles() == ["Bread", "Milk", "Tea"])
    #expect(try store.armedAlarms.identifiers().count == 3)
    #expect(store.branch.movedHead == nil)
    #expect(try await sandbox.git("status", "--porcelain").out.isEmpty)
  }

  @Test(
    "The commit of a branch is found in its file, in packed references, and in a linked work tree"
  )
  func references() async throws {
    let sandbox = try Sandbox()
    let store = try open(sandbox.store)
    let head = try #require(try store.repository().commit(of: "HEAD"))
    #expect(store.local.readHead() == head)
    _ = try await sandbox.git("branch", "main-before", "main")
    _ = try await sandbox.git("pack-refs", "--all", "--prune")
    #expect(!FileManager.default.fileExists(atPath: sandbox.store + "/.git/refs/heads/main"))
    #expect(store.local.readHead() == head)
    #expect(store.branch.head == head.description)
    let other = sandbox.root + "/other"
    _ = try await sandbox.git("worktree", "add", "-q", other, "main-before")
    let linked = try open(other)
    #expect(linked.local.readHead() == (try linked.repository().commit(of: "HEAD")))
    #expect(linked.branch.movedHead == nil)
    _ = try await sandbox.git("checkout", "-q", "--detach")
    #expect(store.local.readHead() == nil)
  }
}
