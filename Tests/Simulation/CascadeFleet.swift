import BelfryCore
import BelfryScheduler
import BelfryStore
import Foundation
import Git
import TestSupport

/// Several devices during the hour in which an alarm with a cascade is due. Machines sleep and die, networks are cut and
/// lose responses, clocks are up to 60 seconds off or were weeks ahead earlier, the devices are in different time zones,
/// the first device may have traveled, and a user stops, snoozes or pauses the alarm, or does nothing.
///
/// The core, the stores on disk, the merges, the ticks and the call election are real. Time, the network, the people and
/// the telephones are simulated.
final class CascadeFleet {
  private let sandbox: Sandbox
  private var random: SeededGenerator
  private let network = Network()
  private let devices: [SimulatedDevice]
  private let hub: String
  private var time: Instant
  private let due: Instant
  private(set) var story: [String] = []
  private var alarm: Identifier!
  /// The actions of the people in this simulation.
  private let userAction: UserAction
  /// The true time at which each device's store first contained the stop.
  private var knows: [Int: Instant] = [:]
  /// The deliveries so far, by device.
  private var heard: [Int: Int] = [:]
  /// The devices on which the alarm for one device rang.
  private var namedRings: Set<Int> = []
  /// The turns that devices have begun.
  private var turns: [Turn] = []
  private struct Turn {
    let device: Int
    let step: Int
    let due: Instant
  }
  /// The true times at which each device began to ring.
  private var rings: [(device: Int, at: Instant)] = []
  /// The devices that were online all the time.
  private var live: Set<Int>
  private var snoozes = 0
  private var isStopped = false
  /// True if a network was cut, or a machine slept or died.
  private var wasDisturbed = false
  /// Devices without a daemon: cron runs a tick each minute and a sync at the given interval in seconds.
  private var cron: [Int: Int64] = [:]
  /// The true time of the next sync by cron, by device.
  private var nextCron: [Int: Instant] = [:]
  /// A device that is restored from a copy, with a new identity under its old name. Nil if there is none.
  private var restored: Int?
  /// The devices that could reach the remote all the time.
  private var connected: Set<Int>
  /// An alarm for one device only, which is the restored device if there is one.
  private var named: Identifier?

  private enum UserAction: CaseIterable {
    case silence, stop, snooze, snoozeThenStop, pause
  }

  private static let zones = [
    "UTC", "Pacific/Kiritimati", "Pacific/Pago_Pago", "America/Los_Angeles", "Asia/Kolkata",
  ]

  /// The remote's claims for calls, and the number of calls to each number.
  private var leases: [String: [Int: CallElection.Claim.Outcome?]] = [:]
  private var seen: [String: Instant] = [:]
  private var calls: [String: Int] = [:]
  /// A call in progress: its end and its outcome.
  private var talking: [String: (end: Instant, term: Int?, outcome: CallElection.Claim.Outcome)] =
    [:]

  private static let occurrence = CivilDateTime("2026-11-23T05:30")!
  private static let numbers = ["5551234567", "+442079460958"]

  init(seed: UInt64) async throws {
    sandbox = try Sandbox(in: "/dev/shm")
    random = SeededGenerator(seed: seed ^ 0xCA5C_ADE5)
    let home = random.pick(CascadeFleet.zones)
    due = ZoneLibrary(variable: home).local.instant(of: CascadeFleet.occurrence)
    time = due.adding(seconds: -7200)
    userAction = random.pick(UserAction.allCases)
    let root = sandbox.root
    hub = "\(root)/hub.git"
    _ = try await sandbox.git("init", "-q", "--bare", "-b", "main", hub, in: root)
    var devices: [SimulatedDevice] = []
    for index in 0..<random.int(2...5) {
      devices.append(
        SimulatedDevice(
          index: index, path: "\(root)/device\(index)",
          zone: index == 0 ? home : random.pick(CascadeFleet.zones),
          skew: Int64(random.int(-60...60)), seed: seed))
    }
    self.devices = devices
    live = Set(devices.indices)
    connected = live
    for device in devices { _ = try device.store(at: time) }
    try shareObjects(of: [hub] + devices.map { $0.path + "/.git" })
    for device in devices {
      try device.store(at: time).sync.addRemote(Remote(name: "origin", url: hub))
    }
    try await begin()
  }

  private func note(_ words: String) { story.append("\(time) \(words)") }

  /// Creates the alarm, its list and the callers, and syncs all devices.
  private func begin() async throws {
    // The alarm was created in the first device's zone before the device traveled.
    let home = devices[0].zone
    if random.one(in: 2) { devices[0].zone = random.pick(CascadeFleet.zones) }
    for device in devices {
      let isCaller = random.one(in: 2)
      try device.store(at: time).devices.describe { $0.calls = isCaller }
    }
    for _ in 0..<2 { for device in devices { try await sync(device) } }
    let store = try devices[0].store(at: time)
    try store.set(.tier, to: .word("plus"))
    var targets: [CascadeTarget] = []
    for device in devices.dropFirst() where !random.one(in: 4) {
      targets.append(.device(try device.store(at: time).device))
    }
    for number in CascadeFleet.numbers where random.one(in: 2) {
      targets.append(.phone(try PhoneNumber(number), message: nil))
    }
    if random.one(in: 3) { targets.append(.phoneTasks) }
    targets.shuffle(using: &random)
    var alarm = Alarm.created(
      id: store.context.makeIdentifier(), title: "Cascade", note: nil,
      schedule: try Schedule(
        .daily(.init(start: CascadeFleet.occurrence.date)), times: [CascadeFleet.occurrence.time]),
      zone: .floating, delivery: .init(persistent: random.one(in: 2)), at: devices[0].now(time),
      device: store.device)
    alarm.cascade = Cascade(
      Cascade.Plan(isOn: true, primary: store.device, targets: targets))
    alarm.mergeState.stamps[.cascade] = alarm.mergeState.stamps[.title]
    if random.one(in: 2) {
      alarm.cascadeZone = store.devices.zoneName(of: store.device)
      alarm.mergeState.stamps[.cascadeZone] = alarm.mergeState.stamps[.title]
    }
    try store.add(
      Store.Change(
        alarms: [alarm], entries: store.entries([Event(.created)], of: alarm),
        message: CommitMessage(Event(.created), of: alarm, device: store.device)))
    self.alarm = alarm.id
    try beginNamed(on: store, home: home)
    for _ in 0..<2 { for device in devices { try await sync(device) } }
    try await travelHome(home)
    try setUpCron()
    try restoreOne()
    note(
      "\(userAction); zones: \(devices.map(\.zone)); targets: \(targets.map(\.key)); callers: \(store.devices.callers.count)"
    )
  }

  /// Moves the first device to its home zone, and sets a clock weeks ahead for one tick.
  private func travelHome(_ home: String) async throws {
    devices[0].zone = home
    if random.one(in: 3) {
      let device = random.pick(devices)
      let skew = device.skew
      device.skew += Int64(random.int(5...40)) * 86_400
      try await tick(device)
      note("the clock of device\(device.index) was \(device.skew / 86_400) days ahead")
      device.skew = skew
      // Records that it has pushed by then must not silence the other devices.
      if random.one(in: 2) { for other in devices { try await sync(other) } }
    }
    for device in devices { try await tick(device) }
    // Until every device has the zone, whichever responses are lost.
    for _ in 0..<8 {
      for device in devices { try await sync(device) }
      let known = try devices.map { try $0.store(at: time).alarm(alarm)?.cascadeZone }
      if known.allSatisfy({ $0 == home }) { break }
    }
    for device in devices { try await tick(device) }
    (rings, turns) = ([], [])
  }

  // MARK: Time

  /// Runs from five minutes before the due time until the end of the run.
  func live() async throws {
    try await liveBefore()
    let end = due.adding(seconds: 3600)
    while time < end {
      time = time.adding(seconds: Int64(random.int(5...25)))
      disturb()
      for device in devices where device.asleepUntil <= time {
        if cron[device.index] != nil {
          try await liveByCron(device)
          continue
        }
        let isDue = device.nextWake <= device.now(time)
        // As the daemon does: often while a cascade step may have to ring, and before it does.
        if isDue || random.one(in: 2) { try await sync(device) }
        if isDue || random.one(in: 6) { try await tick(device) }
        try call(from: device)
      }
      try await answer()
    }
    // Devices that were asleep at the end sync and tick.
    network.heal()
    for device in devices { device.asleepUntil = time }
    for _ in 0..<2 { for device in devices { try await sync(device) } }
  }

  private func disturb() {
    let device = random.pick(devices)
    if device.asleepUntil == .distantFuture { return }
    switch random.int(0...79) {
    case 0, 5:
      network.heal()
      note("the network is whole")
    case 1, 2, 6:
      wasDisturbed = true
      network.cut(device.index, from: hub)
      connected.remove(device.index)
      note("device\(device.index) is cut off")
    case 3:
      wasDisturbed = true
      device.asleepUntil = time.adding(seconds: Int64(random.int(60...2400)))
      live.remove(device.index)
      note("device\(device.index) sleeps until \(device.asleepUntil)")
    case 4:
      wasDisturbed = true
      device.asleepUntil = .distantFuture
      live.remove(device.index)
      note("device\(device.index) dies")
    default: break
    }
  }

  private func sync(_ device: SimulatedDevice) async throws {
    network.plan(
      (0..<4).map { _ in random.one(in: 12) ? random.pick([.lost, .unanswered]) : .none })
    let (network, index) = (network, device.index)
    do {
      let store = try device.store(at: time)
      let isCron = cron[index] != nil
      _ = try await store.sync.run(
        sign: isCron ? store.sync.heartbeatSpacing : DeviceHeartbeats.spacingInWindow,
        promise: isCron ? nil : DeviceHeartbeats.spacingInWindow
      ) {
        SimulatedTransport(
          network: network, device: index, repository: $0, remote: $1, moment: {})
      }
    } catch {
      try Fleet.expectOffline(error)
    }
    try look(device)
  }

  private func tick(_ device: SimulatedDevice) async throws {
    let store = try device.store(at: time)
    let report = try await Tick(
      store, delivery: device.person, leaseOwner: device.leaseOwner, lockTimeout: .seconds(3600)
    ).run()
    for failure in report.failures { throw failure }
    device.nextWake = report.nextWake ?? .distantFuture
    let all = device.person.heard
    for item in all.dropFirst(heard[device.index] ?? 0) {
      if item.notification.key.alarm == named { namedRings.insert(device.index) }
      guard item.notification.key.alarm == alarm else { continue }
      guard case .firing(let content, let firing) = item.notification,
        content.id.occurrence == CascadeFleet.occurrence
      else { continue }
      rings.append((device.index, time))
      let step = firing.step?.number ?? 0
      turns.append(
        Turn(
          device: device.index, step: step, due: content.at))
      note("device\(device.index) rings, step \(step)")
      // In the owner's zone, at the due time there. One healthy device after the other.
      let turn = wasDisturbed ? due : due.adding(seconds: Int64(step) * Cascade.interval)
      if device.now(time) < turn {
        throw Violation("device\(device.index), step \(step), rings at \(time), before its turn")
      }
      if let known = knows[device.index] {
        throw Violation(
          "device\(device.index) rings at \(time) and knows of the stop since \(known)")
      }
    }
    heard[device.index] = all.count
    try look(device)
  }

  /// Records the time at which a device has the stop.
  private func look(_ device: SimulatedDevice) throws {
    guard alarm != nil, knows[device.index] == nil,
      let alarm = try device.store(at: time).alarm(alarm),
      let record = alarm.progress.occurrences[CascadeFleet.occurrence],
      [.pending, .done, .skipped].contains(record.state)
    else { return }
    knows[device.index] = time
    note("device\(device.index) knows of the stop")
  }

  // MARK: People

  /// Responds on a device that has rung, if the simulation includes a response.
  private func answer() async throws {
    let wants: Answer?
    switch userAction {
    case .silence: wants = nil
    case .stop: wants = isStopped ? nil : .stop
    case .snooze: wants = snoozes < 3 ? .snooze(seconds: 540) : nil
    // If no one has stopped it, a user pauses the alarm.
    case .pause: wants = isStopped ? nil : .stop
    case .snoozeThenStop:
      wants = isStopped ? nil : snoozes < 2 ? .snooze(seconds: 540) : .stop
    }
    guard let wants, random.one(in: 8) else { return }
    let ringing = try devices.filter { device in
      guard device.asleepUntil <= time, rings.contains(where: { $0.device == device.index }) else {
        return false
      }
      let store = try device.store(at: time)
      guard let alarm = try store.alarm(alarm) else { return false }
      let status = try store.status(alarm)
      return status.state == .ringing && status.current == CascadeFleet.occurrence
        && store.timeline(alarm).hasTurn(
          at: CascadeFleet.occurrence, store.context.now, store.ledger.read())
    }
    guard let device = ringing.isEmpty ? nil : random.pick(ringing) else { return }
    let store = try device.store(at: time)
    let settings = try store.settings().settings
    if userAction == .pause {
      try pause(store, settings)
    } else {
      try store.update(alarm) { before in
        let transition = try store.timeline(before).answer(
          wants, to: CascadeFleet.occurrence, at: store.context.now, settings: settings,
          ledger: store.ledger.read())
        return (store.change(transition), ())
      }
    }
    if wants == .stop { isStopped = true } else { snoozes += 1 }
    note("somebody answers on device\(device.index): \(wants)")
    try look(device)
  }

  /// Begins a pause of a week, as `belfry pause` does.
  private func pause(_ store: Store, _ settings: Settings) throws {
    try store.update(alarm) { before in
      let (view, now) = (store.timeline(before), store.context.now)
      let here = view.zone.civil(at: now)
      let transition = view.paused(
        Pause(from: here, until: CivilDateTime(minuteNumber: here.minuteNumber + 7 * 1440)),
        at: now, settings: settings, ledger: store.ledger.read())
      let after = transition.alarm.stamped(against: before, at: now, device: store.device)
      return (store.change(Transition(alarm: after, events: transition.events)), ())
    }
  }

  // MARK: Telephones

  /// Performs one step of each call of a device, as its scheduler does.
  private func call(from device: SimulatedDevice) throws {
    let store = try device.store(at: time)
    guard let alarm = try store.alarm(alarm),
      let plan = alarm.cascadePlan(at: due)
    else { return }
    let evaluation = store.timeline(alarm).evaluate(
      at: store.context.now, settings: try store.settings().settings, ledger: store.ledger.read())
    let subject = Callout.Subject.occurrence(
      OccurrenceID(alarm: alarm.id, occurrence: CascadeFleet.occurrence))
    for callout in evaluation.callouts where callout.id.subject == subject {
      let callers = CallElection.callers(
        for: callout.target, of: plan, among: store.devices.all().devices)
      guard let rank = callers.firstIndex(of: store.device) else { continue }
      let file = CallProgressFile(store)
      var progress = file[callout.id] ?? CallProgress(at: time)
      let own = "\(device.index) \(callout.target.key)"
      if let talk = talking[own] {
        guard talk.end <= time else { continue }
        talking[own] = nil
        if let term = talk.term, reaches(device) {
          leases[callout.target.key, default: [:]][term] = .some(talk.outcome)
        }
        if talk.outcome == .answered { progress.isOver = true }
        try file.save(progress, of: callout.id)
      }
      if progress.isOver { continue }
      let election = CallElection(rank: rank, callers: callers.count, due: callout.due)
      let now = store.context.now
      switch election.move(
        at: now, leases: read(callout.target, device, now), tried: progress.attempts)
      {
      case .wait: break
      case .over:
        progress.isOver = true
        try file.save(progress, of: callout.id)
      case .claim(let term):
        guard leases[callout.target.key]?[term] == nil, reaches(device) else { break }
        leases[callout.target.key, default: [:]][term] = .some(nil)
        // The response may be lost: then no device has the claim.
        if random.one(in: 8) { break }
        try place(callout, term, &progress, own, file, device)
      case .call: try place(callout, nil, &progress, own, file, device)
      }
    }
  }

  private func place(
    _ callout: Callout, _ term: Int?, _ progress: inout CallProgress, _ own: String,
    _ file: CallProgressFile, _ device: SimulatedDevice
  ) throws {
    if let known = knows[device.index] {
      throw Violation("device\(device.index) calls at \(time) and knows of the stop since \(known)")
    }
    progress.attempts += 1
    try file.save(progress, of: callout.id)
    let target = callout.target
    calls[target.key, default: 0] += 1
    let outcome: CallElection.Claim.Outcome = random.one(in: 2) ? .answered : .failed
    talking[own] = (time.adding(seconds: Int64(random.int(10...60))), term, outcome)
    self.note("device\(device.index) calls \(target.key), term \(term ?? 0): \(outcome)")
  }

  private func reaches(_ device: SimulatedDevice) -> Bool {
    (try? network.probe(device.index, hub)) != nil
  }

  /// Returns the call claims that a device can read.
  private func read(
    _ target: CascadeTarget, _ device: SimulatedDevice, _ now: Instant
  ) -> [CallElection.Claim]? {
    guard reaches(device) else { return nil }
    return (leases[target.key] ?? [:]).map { term, outcome in
      let name = "\(device.index) \(target.key) \(term) \(outcome.map(\.rawValue) ?? "")"
      seen[name] = seen[name] ?? now
      return CallElection.Claim(
        term: term, seen: seen[name] ?? now, outcome: outcome)
    }
  }

  // MARK: Invariants

  func check() throws {
    let store = try devices[0].store(at: time)
    // Without a target in the list there is no cascade, and its zone has no effect.
    if let alarm = try store.alarm(self.alarm), alarm.cascade?.plan.isActive == true,
      let zone = alarm.cascadeZone, zone != devices[0].zone
    {
      throw Violation(
        "the cascade is in the zone \(zone), and its first device in \(devices[0].zone)")
    }
    guard let alarm = try store.alarm(alarm), let plan = alarm.cascadePlan(at: due) else {
      if try devices[0].store(at: time).alarm(self.alarm)?.cascade?.plan.targets.isEmpty == true {
        return
      }
      throw Violation("the alarm has lost its cascade")
    }
    // Each device that cannot reach the remote makes its own attempts, at least one.
    let maxCalls = CallElection.maxAttempts + max(CallElection.maxAttempts, devices.count)
    for (number, count) in calls where count > maxCalls {
      throw Violation("\(number) was called \(count) times")
    }
    try checkNamed()
    let rung = Set(rings.map(\.device))
    // Without a stop or a snooze, every device has had its turn.
    guard !isStopped, snoozes == 0 else { return }
    try checkOneAfterTheOther(plan.interval)
    let identifiers = try devices.map { try $0.store(at: time).device }
    for device in devices where live.contains(device.index) && !rung.contains(device.index) {
      throw Violation("device\(device.index) was there, and never tried")
    }
    let callers = CallElection.callers(of: plan, able: store.devices.callers)
    let isCallable = callers.contains { caller in
      identifiers.firstIndex(of: caller).map { live.contains($0) } ?? false
    }
    for target in plan.targets where target.isRemote && isCallable {
      guard calls[target.key, default: 0] >= 1 else {
        throw Violation("\(target.key) was never called, though a device could")
      }
    }
    if !live.isEmpty {
      let isRecorded = alarm.progress.occurrences[CascadeFleet.occurrence]?.exhausted == true
      guard isRecorded else { throw Violation("it is not recorded that all have had their turn") }
    }
  }
}

// MARK: Devices without a daemon

extension CascadeFleet {
  /// Replaces the daemon of some devices by cron, and lets them sync for a while before the alarm is due.
  private func setUpCron() throws {
    for device in devices where random.one(in: 3) {
      let interval = random.pick([60, 300, 600, 1800] as [Int64])
      cron[device.index] = interval
      nextCron[device.index] = time.adding(seconds: Int64(random.int(0...Int(interval))))
      note("device\(device.index) has no daemon, and syncs every \(interval) s")
    }
  }

  /// Runs cron on a device: a tick each minute, a sync at its interval.
  private func liveByCron(_ device: SimulatedDevice) async throws {
    if let due = nextCron[device.index], due <= time, let interval = cron[device.index] {
      nextCron[device.index] = max(due, time.adding(seconds: -interval)).adding(seconds: interval)
      try await sync(device)
    }
    if device.nextTick <= time {
      device.nextTick = time.adding(seconds: 60)
      try await tick(device)
    }
    try call(from: device)
  }

  /// Runs cron for two hours before the alarm, as far as it affects heartbeats.
  func liveBefore() async throws {
    let end = due.adding(seconds: -300)
    while !cron.isEmpty, time < end {
      time = time.adding(seconds: 60)
      for (index, interval) in cron.sorted(by: { $0.key < $1.key }) {
        let isEarly = time < due.adding(seconds: -1200)
        guard nextCron[index].map({ $0 <= time }) == true, interval > 60 || !isEarly else {
          continue
        }
        devices[index].nextTick = time
        try await tick(devices[index])
        try await liveByCron(devices[index])
      }
    }
    time = end
    // A daemon has synced in the meantime, too.
    for device in devices where cron[device.index] == nil { try await sync(device) }
  }

  /// Expects that devices that were online and connected all the time do not begin to ring together: each has the
  /// others' heartbeats, and waits for its own turn.
  private func checkOneAfterTheOther(_ interval: Int64) throws {
    let healthy = turns.filter { live.contains($0.device) && connected.contains($0.device) }
      .filter { $0.step > 0 }
    for (index, one) in healthy.enumerated() {
      for other in healthy[(index + 1)...]
      where other.step != one.step && abs(other.due.seconds(since: one.due)) < interval {
        throw Violation(
          "device\(one.device) and device\(other.device) have their turns together: \(one.due), \(other.due)"
        )
      }
    }
  }
}

// MARK: Restored devices

extension CascadeFleet {
  /// Adds an alarm a minute before the other one, for one device only.
  private func beginNamed(on store: Store, home: String) throws {
    guard random.one(in: 2) else { return }
    let device = random.pick(devices)
    restored = device.index
    let civil = CivilDateTime(minuteNumber: CascadeFleet.occurrence.minuteNumber - 1)
    let alarm = Alarm.created(
      id: store.context.makeIdentifier(), title: "Named", note: nil,
      schedule: try Schedule(.daily(.init(start: civil.date)), times: [civil.time]),
      zone: .named(home),
      delivery: .init(persistent: true, devices: [try device.store(at: time).device]),
      at: devices[0].now(time), device: store.device)
    try store.add(
      Store.Change(
        alarms: [alarm], entries: store.entries([Event(.created)], of: alarm),
        message: CommitMessage(Event(.created), of: alarm, device: store.device)))
    named = alarm.id
  }

  /// Restores a device from a copy: it has a new identity and its old name.
  private func restoreOne() throws {
    guard let restored else { return }
    let device = devices[restored]
    time = time.adding(seconds: 60)
    let old = try device.store(at: time).device
    let folder = device.path + "/.git/belfry"
    try FileManager.default.moveItem(atPath: folder, toPath: folder + ".old")
    try FileManager.default.copyItem(atPath: folder + ".old", toPath: folder)
    try FileManager.default.removeItem(atPath: folder + ".old")
    let new = try device.store(at: time).device
    guard new != old else { throw Violation("a copy has the identity of what it was copied from") }
    note("device\(restored) comes back as \(new.short) instead of \(old.short)")
  }

  /// Expects that an alarm for a restored device rings on it.
  private func checkNamed() throws {
    guard named != nil, let restored, live.contains(restored) else { return }
    if !namedRings.contains(restored) {
      throw Violation("the alarm for device\(restored) did not ring on it after it was restored")
    }
  }
}
