import BelfryCore
import BelfryScheduler
import BelfryStore
import Foundation
import Synchronization
import TestSupport

/// Foundation has a type of the same name.
typealias Notification = BelfryCore.Notification

/// Lets repositories share their objects. The simulated network transfers only the names of commits.
func shareObjects(of repositories: [String]) throws {
  let objects = repositories.map { $0 + "/objects" }
  for folder in objects {
    try objects.filter { $0 != folder }.joined(separator: "\n")
      .write(toFile: folder + "/info/alternates", atomically: true, encoding: .utf8)
  }
}

/// A user of a device, who records every delivery.
final class Person: NotificationDelivery {
  struct Heard: Hashable, Sendable {
    let device: Int
    let notification: Notification
  }
  private let state = Mutex<(heard: [Heard], moment: @Sendable () -> Void)>(([], {}))
  private let device: Int

  init(device: Int) {
    self.device = device
  }

  /// All deliveries, in order.
  var heard: [Heard] { state.withLock { $0.heard } }

  /// Sets a closure that is called at every delivery: a possible time of a crash.
  func onDelivery(_ moment: @escaping @Sendable () -> Void) {
    state.withLock { $0.moment = moment }
  }

  func deliver(_ group: DeliveryGroup, snooze: Int64) async -> DeliveryOutcome {
    let moment = state.withLock { state in
      state.heard += group.deliveries.map { Heard(device: device, notification: $0.notification) }
      return state.moment
    }
    moment()
    return .delivered(nil)
  }
}

/// One device of a fleet: a store, a clock that is slightly off, a zone and a user.
final class SimulatedDevice {
  let index: Int
  let path: String
  /// Changes when the device travels.
  var zone: String
  /// The device's clock at its last tick. Nil if the clock has changed since, or the machine has slept.
  var lastLook: Instant?
  let person: Person
  /// The offset of the clock, in seconds.
  var skew: Int64
  /// The true time until which the device is off or asleep.
  var asleepUntil = Instant(seconds: 0)
  /// The next wake-up, by the device's own clock.
  var nextWake = Instant(seconds: 0)
  /// The true time of the next tick by cron.
  var nextTick = Instant(seconds: 0)
  private let numbers = Counter()
  private let base: UInt64

  init(index: Int, path: String, zone: String, skew: Int64, seed: UInt64) {
    self.index = index
    self.path = path
    self.zone = zone
    self.skew = skew
    person = Person(device: index)
    base = seed << 8 | UInt64(index)
  }

  /// A separate process for each tick: the next process handles the leases of a dead one.
  var leaseOwner: LeaseOwner {
    let name = "process \(numbers.next())"
    return LeaseOwner(name: name) { $0 == name }
  }

  func now(_ time: Instant) -> Instant { time.adding(seconds: skew) }

  /// Returns the store as a command opens it at a time.
  func store(at time: Instant) throws -> Store {
    let (base, numbers) = (base, numbers)
    return try Store.open(
      path,
      context: StoreContext(
        now: now(time), zones: ZoneLibrary(variable: zone), deviceName: "device\(index)",
        user: geteuid(),
        makeIdentifier: { Identifier(high: base, low: numbers.next()) }, random: { $0.lowerBound })
    ).store
  }

  // MARK: Crashing

  /// Runs a closure during which the machine crashes: the state of its disk at one of the reported times is restored
  /// afterwards. Nothing is lost if no time is reported.
  func crashing(_ body: (_ moment: @escaping @Sendable () -> Void) async throws -> Void)
    async throws
  {
    let (path, copy) = (path, path + ".crash")
    let taken = Atomic(false)
    // Events after the crash are discarded, whether they succeeded or not.
    try? await body {
      guard taken.compareExchange(expected: false, desired: true, ordering: .relaxed).exchanged
      else { return }
      try? FileManager.default.copyItem(atPath: path, toPath: copy)
      // Unreferenced objects cause no failure, and other devices may have fetched them.
      try? FileManager.default.removeItem(atPath: copy + "/.git/objects")
    }
    guard taken.load(ordering: .relaxed) else { return }
    // In place: a folder with another inode would be another clone.
    let script =
      "find '\(path)' -type f -not -path '*/.git/objects/*' -delete && cp -a '\(copy)/.' '\(path)/' && rm -rf '\(copy)'"
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/bin/sh")
    process.arguments = ["-c", script]
    try process.run()
    process.waitUntilExit()
    precondition(process.terminationStatus == 0)
  }
}

private final class Counter: Sendable {
  private let value = Atomic<UInt64>(0)

  func next() -> UInt64 { value.add(1, ordering: .relaxed).newValue }
}
