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

  @Test func aSyncSucceedsAfterTwentyLostRaces() async throws {
    let sandbox = try Sandbox()
    let generator = Mutex(SeededGenerator(seed: 1))
    let context = StoreContext(
      now: try #require(Instant(rfc3339: "2026-11-20T22:41:00Z")),
      zones: ZoneLibrary(variable: "UTC"), deviceName: "laptop", user: geteuid(),
      makeIdentifier: { generator.withLock { Identifier.random(using: &$0) } },
      random: { $0.lowerBound })
    let store = try Store.open(sandbox.store, context: context).store
    try store.sync.addRemote(Remote(name: "origin", url: sandbox.root + "/remote.git"))
    let losses = Losses(20)
    let result = try await store.sync.run(pushTimeout: .max) { _, _ in BusyRemote(losses: losses) }
    #expect(result.pushed > 0)
    #expect(losses.left == 0)
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
