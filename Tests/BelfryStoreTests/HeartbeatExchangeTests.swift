import BelfryCore
import Files
import Foundation
import Git
import TestSupport
import Testing

@testable import BelfryStore

/// Two processes of one device that exchange heartbeats at the same time.
@Suite struct HeartbeatExchangeTests {
  /// A remote that runs a closure while heartbeats are fetched.
  private struct SlowRemote: RemoteTransport {
    let meanwhile: @Sendable () async throws -> Void

    func fetch(_ branch: String) async throws -> ObjectID? { nil }
    func refetch(_ branch: String) async throws {}
    func fetchHeartbeats(of devices: Set<Identifier>) async throws { try await meanwhile() }
    func push(_ commit: ObjectID, to branch: String) async throws -> PushOutcome { .moved }
    func leave(_ commit: ObjectID, as reference: String) async throws {}
  }

  private func open(_ path: String) throws -> Store {
    try Store.open(
      path,
      context: StoreContext(
        now: try #require(Instant(rfc3339: "2026-11-20T22:41:00Z")),
        zones: ZoneLibrary(variable: "UTC"), deviceName: "laptop", user: geteuid(),
        makeIdentifier: TestIdentifier.make, random: { $0.lowerBound })
    ).store
  }

  @Test("an exchange keeps the heartbeat that another process sent meanwhile")
  func overlap() async throws {
    let sandbox = try Sandbox()
    let store = try open(sandbox.store)
    // Heartbeats are fetched only for other devices.
    let other = Device(
      id: TestIdentifier.make(), name: "server", created: store.context.now,
      stamp: Stamp(time: store.context.now, device: TestIdentifier.make()),
      kind: store.context.deviceKind, zone: "UTC")
    try DurableFile.write(
      DeviceRecord.encode(other), to: "\(sandbox.store)/\(DeviceRecord.path(other.id))",
      temporary: sandbox.root + "/new")
    let repository = try store.repository()
    let slow = SlowRemote {
      await store.sync.exchangeHeartbeats(
        try store.repository(), [SlowRemote {}], spacing: 0)
    }
    await store.sync.exchangeHeartbeats(repository, [slow], spacing: nil)
    #expect(store.deviceHeartbeats.sent == store.context.now)
    #expect(store.deviceHeartbeats.sentHead == store.branch.head)
    #expect(store.deviceHeartbeats.fetched == store.context.now)
    #expect(store.deviceHeartbeats.exchanges == [store.context.now])
  }
}
