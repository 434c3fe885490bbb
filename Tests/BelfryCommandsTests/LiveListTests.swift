import BelfryActions
import BelfryCore
import BelfryInput
import BelfryScheduler
import BelfryStore
import Foundation
import Synchronization
import TestSupport
import Testing

/// A second front end on the actions and the subscription to changes.
@Suite(.timeLimit(.minutes(1))) struct LiveListTests {
  /// A store at a time that a test moves.
  private final class Clock: Sendable {
    let sandbox: Sandbox
    private let now = Mutex(Instant(rfc3339: "2026-11-23T08:00:00Z")!)

    init() throws { sandbox = try Sandbox() }

    func move(to time: String) { now.withLock { $0 = Instant(rfc3339: time)! } }

    /// Opens the store as another process does.
    func open() throws -> Store {
      try Store.open(
        sandbox.store,
        context: StoreContext(
          now: now.withLock { $0 }, zones: ZoneLibrary(variable: "UTC"), deviceName: "laptop",
          user: geteuid(),
          makeIdentifier: {
            var generator = SystemRandomNumberGenerator()
            return .random(using: &generator)
          },
          random: { $0.lowerBound }, lockTimeout: 3_000)
      ).store
    }

    func add(_ title: String) throws {
      let store = try open()
      _ = try CreateAlarm(title: title) { zone, calendar in
        let context = InputContext(
          instant: store.context.now, zone: zone, calendar: calendar)
        return try Input.schedule("daily at 9:00", in: context).schedule(in: context)
      }.perform(in: store, settings: store.settings().settings)
    }
  }

  @Test("A list shows the changes of other processes, and its keys answer")
  func list() async throws {
    let clock = try Clock()
    _ = try ChangeSetting(.tier, to: .word("plus")).perform(in: clock.open())
    try clock.add("Tea")
    let (keys, keyboard) = AsyncStream.makeStream(of: Character.self)
    var frames = try LiveList.frames(keys) { try clock.open() }.makeAsyncIterator()
    func wait(for lines: [String]) async {
      while let frame = await frames.next() {
        if frame == lines { return }
      }
      Issue.record("No frame has these lines: \(lines)")
    }
    await wait(for: ["> active Tea 2026-11-23T09:00", ""])
    try clock.add("Pills")
    await wait(for: ["  active Pills 2026-11-23T09:00", "> active Tea 2026-11-23T09:00", ""])
    clock.move(to: "2026-11-23T09:01:00Z")
    keyboard.yield("d")
    let done = "Done: Tea, next 2026-11-24T09:00"
    await wait(for: ["  ringing Pills 2026-11-24T09:00", "> active Tea 2026-11-24T09:00", done])
    keyboard.yield("k")
    keyboard.yield("s")
    await wait(for: [
      "> pending Pills 2026-11-24T09:00", "  active Tea 2026-11-24T09:00",
      "Stopped: Pills, next 2026-11-24T09:00",
    ])
    keyboard.yield("s")
    await wait(for: [
      "> pending Pills 2026-11-24T09:00", "  active Tea 2026-11-24T09:00",
      "Pills: notPossible(BelfryCore.AlarmStatus.State.pending, next: Optional(2026-11-24T09:00))",
    ])
    keyboard.finish()
    #expect(try clock.open().history.log().contains { $0.action == .done })
  }

  @Test("Changes of alarms, the log, the settings and deliveries are told apart")
  func kinds() async throws {
    let clock = try Clock()
    try clock.add("Tea")
    let store = try clock.open()
    let changes = try StoreChanges(of: store)
    var sets = changes.sets.makeAsyncIterator()
    func wait(for kinds: Set<StoreChanges.Kind>) async {
      var missing = kinds
      while !missing.isEmpty, let set = await sets.next() { missing.subtract(set) }
      #expect(missing.isEmpty)
    }
    try clock.add("Pills")
    await wait(for: [.alarms, .log])
    _ = try ChangeSetting(.tier, to: .word("plus")).perform(in: store)
    await wait(for: [.settings, .log])
    clock.move(to: "2026-11-23T09:01:00Z")
    _ = try await Tick(clock.open(), delivery: NoDelivery()).run()
    await wait(for: [.deliveries])
  }
}

/// Channels that deliver nothing.
private struct NoDelivery: NotificationDelivery {
  func deliver(_ group: DeliveryGroup, snooze: Int64) async -> DeliveryOutcome {
    .ongoing(owner: "")
  }
}
