import BelfryCore
import BelfryScheduler
import BelfryStore
import Foundation
import Git
import Synchronization
import TestSupport

/// Foundation has a type of the same name.
typealias Notification = BelfryCore.Notification

/// A person's eyes and ears: takes note of everything that reaches them.
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

  /// Everything that reached them, in order.
  var heard: [Heard] { state.withLock { $0.heard } }

  /// Is told at every delivery: a moment to crash at.
  func onDelivery(_ moment: @escaping @Sendable () -> Void) {
    state.withLock { $0.moment = moment }
  }

  func deliver(_ delivery: PendingDelivery, snooze: Int64) async -> DeliveryOutcome {
    let moment = state.withLock { state in
      state.heard.append(Heard(device: device, notification: delivery.notification))
      return state.moment
    }
    moment()
    return .delivered(nil)
  }
}

/// One device of a fleet: a store of its own, a clock that is not quite right, a zone, and a person beside it.
final class SimulatedDevice {
  let index: Int
  let path: String
  /// Changes when the device travels.
  var zone: String
  /// When its clock was last looked at, by that clock; nil where it has changed since, or the machine has slept.
  var lastLook: Instant?
  let person: Person
  /// How far its clock is off, in seconds.
  var skew: Int64
  /// Until when it is off or asleep, in true time.
  var asleepUntil = Instant(seconds: 0)
  /// When it wants to look at the clock next, by its own clock.
  var nextWake = Instant(seconds: 0)
  /// When cron ticks next, in true time.
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

  /// A process of its own for each tick: what one leaves that dies is the next one's.
  var leaseOwner: LeaseOwner {
    let name = "process \(numbers.next())"
    return LeaseOwner(name: name) { $0 == name }
  }

  func now(_ time: Instant) -> Instant { time.adding(seconds: skew) }

  /// The store as a command opens it at a moment.
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

  /// Runs something that the machine dies in: at one of the moments that it tells of everything on its disk is
  /// kept, and is all that is left afterwards. Nothing is lost if no moment comes.
  func crashing(_ body: (_ moment: @escaping @Sendable () -> Void) async throws -> Void)
    async throws
  {
    let (path, copy) = (path, path + ".crash")
    let taken = Atomic(false)
    // What happens after the crash never happened, whether it succeeded or not.
    try? await body {
      guard taken.compareExchange(expected: false, desired: true, ordering: .relaxed).exchanged
      else { return }
      try? FileManager.default.copyItem(atPath: path, toPath: copy)
      // Objects that nothing names do no harm, and others may have taken them.
      try? FileManager.default.removeItem(atPath: copy + "/.git/objects")
    }
    guard taken.load(ordering: .relaxed) else { return }
    // In place: a folder of another inode would be another clone.
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
