import BelfryCore
import Foundation
import Git
import Synchronization
import TestSupport
import Testing

@testable import BelfryStore

/// A push that loses a race against other devices is retried until a deadline, however many devices there are.
@Suite struct PushRetryTests {
  @Test func waitsIncreaseAreRandomAndEndAtTheDeadline() {
    var retry = PushRetry()
    var bounds: [Int] = []
    for elapsed in stride(from: 0, to: PushRetry.timeout, by: 2_000) {
      let wait = retry.next(elapsed: elapsed) { range in
        bounds.append(range.upperBound)
        return range.lowerBound
      }
      #expect(wait == 5)
    }
    #expect(bounds == bounds.sorted())
    #expect(bounds.first == 20)
    #expect(bounds.last == 1_000)
    #expect(retry.next(elapsed: PushRetry.timeout) { $0.lowerBound } == nil)
    #expect(retry.attempts == 31)
  }

  /// A remote at which other devices push first a number of times.
  private struct BusyRemote: RemoteTransport {
    let losses: Losses

    func fetch(_ branch: String) async throws -> ObjectID? { nil }
    func refetch(_ branch: String) async throws {}
    func fetchHeartbeats(of devices: Set<Identifier>) async throws {}
    func push(_ commit: ObjectID, to branch: String) async throws -> PushOutcome {
      losses.take() ? .elsewhere : .moved
    }
    func leave(_ commit: ObjectID, as reference: String) async throws {}
  }

  private func store(_ sandbox: Sandbox) throws -> Store {
    let generator = Mutex(SeededGenerator(seed: 1))
    let context = StoreContext(
      now: try #require(Instant(rfc3339: "2026-11-20T22:41:00Z")),
      zones: ZoneLibrary(variable: "UTC"), deviceName: "laptop", user: geteuid(),
      makeIdentifier: { generator.withLock { Identifier.random(using: &$0) } },
      random: { $0.lowerBound })
    let store = try Store.open(sandbox.store, context: context).store
    try store.sync.addRemote(Remote(name: "origin", url: sandbox.root + "/remote.git"))
    return store
  }

  @Test func aSyncSucceedsAfterTwentyLostRaces() async throws {
    let sandbox = try Sandbox()
    let store = try store(sandbox)
    let losses = Losses(20)
    let result = try await store.sync.run(pushTimeout: .max) { _, _ in BusyRemote(losses: losses) }
    #expect(result.pushed > 0)
    #expect(losses.left == 0)
  }

  /// A remote that refuses pushes as if another device was moving its branch.
  private struct RefusingRemote: RemoteTransport {
    let refusals: Losses
    /// The commit of the branch after the first fetch; nil if the branch stays as it is.
    let later: ObjectID?
    let fetches = Losses(1)
    static let failure = StoreError.remoteFailed(
      url: "/remote.git", RemoteFailure(.rejected, "failed to update ref"))

    func fetch(_ branch: String) async throws -> ObjectID? { fetches.take() ? nil : later }
    func refetch(_ branch: String) async throws {}
    func fetchHeartbeats(of devices: Set<Identifier>) async throws {}
    func push(_ commit: ObjectID, to branch: String) async throws -> PushOutcome {
      refusals.take() ? .refused(RefusingRemote.failure) : .moved
    }
    func leave(_ commit: ObjectID, as reference: String) async throws {}
  }

  @Test(
    "A refused push is not repeated while the branch stays as it is, and the remote's words are the error"
  )
  func refusedForGood() async throws {
    let sandbox = try Sandbox()
    let store = try store(sandbox)
    let refusals = Losses(10)
    let error = try await #require(throws: StoreError.self) {
      _ = try await store.sync.run { _, _ in RefusingRemote(refusals: refusals, later: nil) }
    }
    guard case .remoteFailed(_, let failure) = error else {
      Issue.record("\(error)")
      return
    }
    #expect(failure.reason == "failed to update ref")
    #expect(refusals.left == 9)
  }

  @Test("A refused push is repeated after the branch has moved")
  func refusedInARace() async throws {
    let sandbox = try Sandbox()
    let store = try store(sandbox)
    let first = try #require(try store.repository().commit(of: "refs/heads/main"))
    try store.write(reconciling: .branch) { writer in
      try writer.commit([:], message: CommitMessage("Later", device: store.device))
    }
    let refusals = Losses(1)
    let remote = RefusingRemote(refusals: refusals, later: first)
    let result = try await store.sync.run { _, _ in remote }
    #expect(result.pushed > 0)
    #expect(refusals.left == 0)
  }
}

/// The number of pushes that still have to lose.
private final class Losses: Sendable {
  private let count: Mutex<Int>

  init(_ count: Int) { self.count = Mutex(count) }

  /// Decrements the number. Returns false if it is zero.
  func take() -> Bool {
    count.withLock { count in
      if count == 0 { return false }
      count -= 1
      return true
    }
  }

  var left: Int { count.withLock { $0 } }
}
