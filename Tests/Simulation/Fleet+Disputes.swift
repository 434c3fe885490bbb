import BelfryCore
import BelfryScheduler
import BelfryStore

/// Disagreements about an occurrence between a person at one device and the clock of another one.
extension Fleet {
  /// A change that a person makes shortly before the alarm is due, on a device that cannot reach the other one.
  private enum Statement: CaseIterable {
    /// Ends a pause, which the other device goes on applying.
    case resume
    /// Makes the alarm persistent.
    case makePersistent
    /// Lengthens the ring timeout.
    case lengthenTimeout
    /// Disables and enables the alarm, while the clock is hours ahead.
    case restartAhead
  }

  /// Changes a steady alarm on one device shortly before it is due, and lets another device run without that change until
  /// its clock has recorded an outcome. After both have synced, the person's change counts on both.
  func dispute() async throws {
    let able = devices.filter { $0.asleepUntil <= time && abs($0.skew) <= 60 }
    guard prophet == nil, !hubs.isEmpty, !wasAhead, able.count >= 2,
      let id = steady.randomElement(using: &random)
    else { return }
    let one = random.pick(able)
    let other = random.pick(able.filter { $0.index != one.index })
    if other.zone != one.zone {
      other.zone = one.zone
      other.lastLook = nil
    }
    network.heal()
    for device in [one, other] { try await tick(device) }
    try await exchange(one, other)
    let statement = random.pick(Statement.allCases)
    // One of them may never have synced.
    guard try one.store(at: time).alarm(id) != nil, let known = try other.store(at: time).alarm(id)
    else { return }
    let isPaused = known.pause != nil
    if isPaused != (statement == .resume) { try pause(id, one.store(at: time), one) }
    try noteEdits(on: one)
    try await exchange(one, other)
    guard let alarm = try other.store(at: time).alarm(id), alarm.enabled,
      let next = Timeline(alarm, zone: ZoneLibrary(variable: one.zone).zone(of: alarm))
        .next(after: time.adding(seconds: 1800)),
      next.at.seconds(since: time) < 90_000,
      alarm.pause?.covers(next.time) ?? false == (statement == .resume)
    else { return }
    note(
      "device\(one.index) and device\(other.index) disagree about \(alarm.title) of \(next.civil): \(statement)"
    )
    time = next.at.adding(seconds: -1200)
    for device in [one, other] {
      for remote in try device.store(at: time).sync.remotes() {
        network.cut(device.index, from: remote.url)
      }
    }
    try state(statement, id, other)
    try noteEdits(on: other)
    time = next.at.adding(seconds: 120)
    for device in [one, other] { try await tick(device) }
    let answer: Answer? = random.pick([nil, nil, .stop, .snooze(seconds: 10_000)])
    if let answer { try give(answer, id, other) }
    time = next.at.adding(seconds: random.pick([900, 2400, 7200]))
    for device in [one, other] { try await tick(device) }
    network.heal()
    try await exchange(one, other)
    for device in [one, other] {
      try await tick(device)
      try expect(answer, statement, OccurrenceID(alarm: id, occurrence: next.civil), on: device)
    }
  }

  private func exchange(_ one: SimulatedDevice, _ other: SimulatedDevice) async throws {
    for device in [one, other, one] {
      network.plan([])
      try await sync(device.store(at: time), device, {})
    }
  }

  private func state(_ statement: Statement, _ id: Identifier, _ device: SimulatedDevice) throws {
    switch statement {
    case .resume: try pause(id, device.store(at: time), device)
    case .makePersistent:
      try edit(id, device.store(at: time), device) { $0.delivery.persistent = true }
    case .lengthenTimeout:
      try device.store(at: time).set(.ringTimeout, to: .seconds(10_800))
    case .restartAhead:
      let skew = device.skew
      device.skew += 18_000
      for isEnabled in [false, true] {
        try edit(id, device.store(at: time), device) { $0.enabled = isEnabled }
      }
      device.skew = skew
    }
  }

  private func give(_ answer: Answer, _ id: Identifier, _ device: SimulatedDevice) throws {
    let store = try device.store(at: time)
    guard let alarm = try store.alarm(id), try store.status(alarm).state == .ringing else { return }
    try self.answer(answer, id, store, device)
  }

  /// Expects that an occurrence is still open on a device.
  private func expect(
    _ answer: Answer?, _ statement: Statement, _ key: OccurrenceID, on device: SimulatedDevice
  ) throws {
    let store = try device.store(at: time)
    guard let alarm = try store.alarm(key.alarm) else { return }
    let timeline = store.timeline(alarm)
    let (status, civil) = (try store.status(alarm), key.occurrence)
    let age = time.seconds(since: timeline.occurrence(civil).at)
    // The next occurrence ends this one.
    if let next = timeline.next(after: time.adding(seconds: -age + 1)), next.at <= time { return }
    let rings = [.ringing, .snoozed].contains(status.state) && status.current == civil
    let isOpen =
      switch answer {
      case .stop: rings || status.pending.contains { $0.occurrence == civil }
      case .snooze: rings
      default: rings || !(statement == .makePersistent || statement == .lengthenTimeout)
      }
    if !isOpen {
      throw Violation(
        "device\(device.index): after \(statement) and \(answer.map { "\($0)" } ?? "no answer"), \(alarm.title) of \(civil) is \(status.state), \(age) s after its time"
      )
    }
  }
}
