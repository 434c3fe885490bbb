import BelfryCore
import BelfryStore
import Foundation
import Synchronization
import TestSupport
import Testing

@testable import BelfryCommands
@testable import BelfryScheduler
@testable import BelfryTerminal

/// One evaluation of a store, with a delivery that records its notifications.
@Suite struct TickTests {
  /// Returns a ledger with a timeout that is long enough for the disk of a busy machine.
  private func unhurried(_ owner: LeaseOwner = .thisProcess) -> SharedLedger {
    SharedLedger(owner: owner, timeout: .seconds(120))
  }

  @Test("The log has the firing of an occurrence before its response, however fast the hook is")
  func firedBeforeDone() async throws {
    let sandbox = try Sandbox()
    try await sandbox.plus()
    try sandbox.write("#!/bin/sh\necho done\n", to: sandbox.hooks + "/notify", mode: 0o755)
    for index in 1...4 {
      _ = try await sandbox.belfry(
        "add", "Tea \(index)", "--daily", "--at", "09:00", now: "2026-11-23T08:00:00Z")
    }
    _ = try await sandbox.belfry("tick", now: "2026-11-23T09:00:00Z")
    for index in 1...4 {
      let log = try await sandbox.belfry(
        "log", "Tea \(index)", "--json", now: "2026-11-23T09:01:00Z")
      let actions = log.array.compactMap { $0["action"] as? String }
      #expect(actions == ["done", "fired", "created"], "\(log.out)")
    }
  }

  /// Records headlines, and runs a closure at each.
  private final class Person: NotificationDelivery {
    private let told = Mutex<[String]>([])
    private let react: @Sendable (Notification) async throws -> Void

    init(_ react: @escaping @Sendable (Notification) async throws -> Void) {
      self.react = react
    }

    var headlines: [String] { told.withLock { $0 } }

    func deliver(_ group: DeliveryGroup, snooze: Int64) async -> DeliveryOutcome {
      for notification in group.deliveries.map(\.notification) {
        told.withLock {
          $0.append(NotificationText(.utc).headline(notification))
        }
        try? await react(notification)
      }
      return .delivered(nil)
    }
  }

  private func store(_ sandbox: Sandbox, at now: String) throws -> Store {
    try Store.open(
      sandbox.store,
      context: StoreContext(
        now: Instant(rfc3339: now)!, zones: ZoneLibrary(variable: "UTC"), deviceName: "laptop",
        user: geteuid(),
        makeIdentifier: TestIdentifier.make, random: { $0.lowerBound })
    ).store
  }

  @Test("The state is read again right before a follow-up is sent")
  func readAgainBeforeSending() async throws {
    let sandbox = try Sandbox()
    try await sandbox.plus()
    for number in 10..<20 {
      _ = try await sandbox.belfry("add", "Alarm \(number)", "--daily", "--at", "09:00")
    }
    _ = try await sandbox.belfry("tick", now: "2026-11-23T09:00:00Z")
    for number in 10..<20 {
      _ = try await sandbox.belfry("stop", "Alarm \(number)", now: "2026-11-23T09:00:10Z")
    }
    // More alarms than concurrent deliveries: the first delivery answers the last alarm.
    let person = Person { notification in
      guard notification.title == "Alarm 10" else { return }
      _ = try await sandbox.belfry("done", "Alarm 19", now: "2026-11-23T09:30:10Z")
    }
    _ = try await Tick(
      store(sandbox, at: "2026-11-23T09:30:10Z"), delivery: person, width: 1
    ).run()
    #expect(person.headlines.count == 9)
    #expect(!person.headlines.contains("Did you Alarm 19?"))
  }

  @Test("A delivery claimed by a process that died is delivered again, as another attempt")
  func claimOfTheDead() async throws {
    let sandbox = try Sandbox()
    _ = try await sandbox.belfry("add", "Rent", "--daily", "--at", "09:00")
    let store = try store(sandbox, at: "2026-11-23T09:00:05Z")
    let summary = try #require(try store.overview().summaries.first)
    let due = Instant(rfc3339: "2026-11-23T09:00:00Z")!
    let key = DeliveryKey.occurrence(
      OccurrenceID(alarm: summary.id, occurrence: CivilDateTime("2026-11-23T09:00")!), .firing)
    _ = store.ledger.update {
      $0[key] = DeliveryLedger.Entry(due: due, at: due, state: .claimed, owner: "somebody")
    }
    let person = Person { _ in }
    // The lease is valid as long as the process lives.
    let alive = LeaseOwner(name: "me") { _ in true }
    #expect(
      try await Tick(store, delivery: person, ledger: unhurried(alive)).run()
        .delivered
        .isEmpty)
    let dead = LeaseOwner(name: "me") { $0 == "me" }
    #expect(
      try await Tick(store, delivery: person, ledger: unhurried(dead)).run()
        .delivered.count
        == 1)
    #expect(store.ledger.read()[key]?.attempts == 2)
    #expect(store.ledger.read()[key]?.state == .delivered)
    #expect(
      try await Tick(store, delivery: person, ledger: unhurried(dead)).run()
        .delivered
        .isEmpty)
    #expect(person.headlines.filter { $0 == "Rent" }.count == 1)
  }

  @Test("The claim is on disk before the delivery starts")
  func claimedBeforeTold() async throws {
    let sandbox = try Sandbox()
    _ = try await sandbox.belfry("add", "Rent", "--daily", "--at", "09:00")
    let store = try store(sandbox, at: "2026-11-23T09:00:05Z")
    let seen = Mutex<DeliveryState?>(nil)
    let person = Person { notification in
      guard case .firing(_, let firing) = notification, !firing.isLate else { return }
      seen.withLock { $0 = store.ledger.read()[notification.key]?.state }
    }
    _ = try await Tick(store, delivery: person, ledger: unhurried()).run()
    #expect(seen.withLock { $0 } == .claimed)
  }

  @Test("A claim of a process that hangs expires, and the next tick delivers")
  func expiredClaim() async throws {
    let sandbox = try Sandbox()
    _ = try await sandbox.belfry("add", "Rent", "--daily", "--at", "09:00")
    let claimed = Instant(rfc3339: "2026-11-23T09:00:05Z")!
    let before = try store(sandbox, at: "2026-11-23T09:05:05Z")
    let summary = try #require(try before.overview().summaries.first)
    let key = DeliveryKey.occurrence(
      OccurrenceID(alarm: summary.id, occurrence: CivilDateTime("2026-11-23T09:00")!), .firing)
    _ = before.ledger.update {
      $0[key] = DeliveryLedger.Entry(
        due: Instant(rfc3339: "2026-11-23T09:00:00Z")!, at: claimed, state: .claimed,
        owner: "somebody")
    }
    let person = Person { _ in }
    let alive = LeaseOwner(name: "me") { _ in true }
    #expect(
      try await Tick(before, delivery: person, ledger: unhurried(alive)).run()
        .delivered
        .isEmpty)
    let after = try store(sandbox, at: "2026-11-23T09:05:07Z")
    #expect(
      try await Tick(after, delivery: person, ledger: unhurried(alive)).run()
        .delivered
        .count == 1)
    #expect(after.ledger.read()[key]?.owner == nil)
  }

  @Test("A tick that hangs in a delivery blocks no other tick")
  func hangingTick() async throws {
    let sandbox = try Sandbox()
    _ = try await sandbox.belfry("add", "Rent", "--daily", "--at", "09:00")
    _ = try await sandbox.belfry("add", "Tea", "--daily", "--at", "09:01")
    let (release, releases) = AsyncStream.makeStream(of: Void.self)
    let (reached, reaches) = AsyncStream.makeStream(of: Void.self)
    let hanging = Person { _ in
      reaches.yield()
      for await _ in release {}
    }
    let first = try store(sandbox, at: "2026-11-23T09:00:05Z")
    async let report = Tick(first, delivery: hanging, ledger: unhurried()).run()
    for await _ in reached { break }
    let person = Person { _ in }
    _ = try await Tick(
      store(sandbox, at: "2026-11-23T09:01:05Z"), delivery: person, ledger: unhurried()
    ).run()
    #expect(person.headlines == ["Tea"])
    releases.finish()
    #expect(try await report.delivered.count == 1)
    // Each fact is in the log once, whichever tick recorded it.
    let log = try await sandbox.belfry("log", "--json", now: "2026-11-23T09:02:00Z").array
    #expect(log.filter { $0["action"] as? String == "fired" }.count == 2)
  }

  @Test("A disk that hangs delays no delivery")
  func hangingDisk() async throws {
    let sandbox = try Sandbox()
    _ = try await sandbox.belfry("add", "Rent", "--daily", "--at", "09:00")
    let disk = Gate()
    disk.close()
    let (told, tells) = AsyncStream.makeStream(of: Void.self)
    let person = Person { _ in tells.finish() }
    let ledger = SharedLedger(owner: .thisProcess, timeout: .milliseconds(50)) { disk.pass() }
    let tick = Tick(
      try store(sandbox, at: "2026-11-23T09:00:05Z"), delivery: person, ledger: ledger)
    // Without a timeout for the claim, the delivery would never start.
    let report = try await tick.run()
    for await _ in told {}
    #expect(person.headlines.first == "Rent" && !person.headlines.dropFirst().contains("Rent"))
    #expect(report.failures.first is DiskTimeout)
    disk.open()
    // The delivery is not known to have happened: two deliveries are better than none.
    let again = Tick(
      try store(sandbox, at: "2026-11-23T09:00:35Z"), delivery: person, ledger: unhurried())
    #expect(try await again.run().failures.isEmpty)
  }

  @Test("A store that another process has locked delays no delivery")
  func lockedStore() async throws {
    let sandbox = try Sandbox()
    _ = try await sandbox.belfry("add", "Rent", "--daily", "--at", "09:00")
    var context = try store(sandbox, at: "2026-11-23T09:00:05Z").context
    context.lockTimeout = 20_000
    let lock = open(sandbox.store + "/.git/belfry/lock", O_RDWR | O_CREAT | O_CLOEXEC, 0o644)
    #expect(flock(lock, LOCK_EX) == 0)
    let person = Person { _ in
      // Only the process that delivered releases the lease.
      flock(lock, LOCK_UN)
    }
    let tick = Tick(
      try Store.open(sandbox.store, context: context).store, delivery: person,
      ledger: unhurried(), lockTimeout: .milliseconds(50))
    let report = try await tick.run()
    close(lock)
    #expect(person.headlines.first == "Rent" && !person.headlines.dropFirst().contains("Rent"))
    #expect(report.failures.isEmpty, "\(report.failures)")
    #expect(report.delivered.count == 1)
    let log = try await sandbox.belfry("log", "--json", now: "2026-11-23T09:02:00Z").array
    #expect(log.filter { $0["action"] as? String == "fired" }.count == 1)
  }
}
