import BelfryCore
import BelfryScheduler
import BelfryStore
import Foundation
import Git
import TestSupport

/// A fleet of devices over some weeks, determined by a seed: people act, clocks are wrong, networks and machines
/// fail. At the end all faults are repaired, and the invariants are checked.
///
/// The core, the stores on disk, the merges and the ticks are real. Time, the network and delivery are simulated.
final class Fleet {
  private let sandbox: Sandbox
  var random: SeededGenerator
  let network = Network()
  private(set) var devices: [SimulatedDevice] = []
  let hubs: [String]
  /// The true time.
  var time: Instant
  private let began: Instant
  /// The events, for the analysis of a failed seed.
  private(set) var story: [String] = []
  private var ledger = Ledger()
  /// The alarms that are never rescheduled, disabled or deleted. Each of their occurrences is accounted for.
  private(set) var steady: [Identifier] = []
  private var alarms: [Identifier] = []
  /// The device whose clock is years ahead for a while. Nil if there is none.
  let prophet: Int?
  private var crashed: Set<Int> = []
  /// True if a clock was ahead by more than the tolerance: responses at that time are not expected at the end.
  private(set) var wasAhead = false
  /// The true times of the edits of alarms, by their stamps.
  private var edits: [Stamp: Instant] = [:]

  private static let zones = [
    "UTC", "Europe/Berlin", "America/New_York", "Asia/Tokyo", "Pacific/Auckland", "Asia/Kolkata",
    "Australia/Lord_Howe", "Pacific/Kiritimati", "Pacific/Pago_Pago",
  ]

  init(seed: UInt64) async throws {
    sandbox = try Sandbox(in: "/dev/shm")
    random = SeededGenerator(seed: seed)
    // Around clock changes, in half of the seeds.
    began = Instant(rfc3339: random.pick(["2026-03-20T09:30:00Z", "2026-10-20T09:30:00Z"]))!
    time = began
    let count = random.pick([2, 2, 3, 3, 4, 5, 6, 8, 12])
    let isMesh = random.one(in: 4)
    prophet = random.one(in: 8) ? random.int(0...(count - 1)) : nil
    let root = sandbox.root
    hubs = isMesh ? [] : (0..<random.int(1...2)).map { "\(root)/hub\($0).git" }
    for hub in hubs {
      _ = try await sandbox.git("init", "-q", "--bare", "-b", "main", hub, in: root)
    }
    for index in 0..<count {
      let device = SimulatedDevice(
        index: index, path: "\(root)/device\(index)", zone: random.pick(Fleet.zones),
        skew: Int64(random.int(-60...60)), seed: seed)
      devices.append(device)
      _ = try device.store(at: time)
    }
    try shareObjects(of: hubs + devices.map { $0.path + "/.git" })
    for device in devices {
      let store = try device.store(at: time)
      if isMesh {
        // A ring topology with some additional connections.
        for other in devices where other.index != device.index {
          let isNext = (device.index + 1) % count == other.index
          guard isNext || random.one(in: 4) else { continue }
          try store.sync.addRemote(Remote(name: "device\(other.index)", url: other.path))
        }
      } else {
        for (number, hub) in hubs.enumerated() where number == 0 || random.one(in: 2) {
          try store.sync.addRemote(Remote(name: "hub\(number)", url: hub))
        }
      }
    }
    try begin()
  }

  /// Adds the alarms and settings of the first day.
  private func begin() throws {
    let first = devices[0]
    try first.store(at: time).set(.tier, to: .word("plus"))
    for _ in 0..<2 {
      steady.append(try add(on: first, title: "steady \(steady.count)", isSteady: true))
    }
  }

  func note(_ words: String) { story.append("\(time) \(words)") }

  // MARK: Time

  /// Runs a number of steps.
  func live(steps: Int) async throws {
    for step in 0..<steps {
      try advance()
      try disturb()
      for device in devices where device.asleepUntil <= time {
        if device.nextWake <= device.now(time) || random.one(in: 4) { try await tick(device) }
      }
      let device = random.pick(devices)
      if device.asleepUntil <= time {
        try act(on: device)
        if random.one(in: 12) { try handEdit(device) }
        try noteEdits(on: device)
      }
      for device in devices where device.asleepUntil <= time && random.one(in: 3) {
        try await sync(device)
      }
      if step % 10 == 9, random.one(in: 3) { try await plainPull() }
      if random.one(in: 20) { try await moveBranch() }
      if random.one(in: 40) { try rewind() }
      if random.one(in: 20) { try await dispute() }
    }
  }

  /// Lets some time pass, in half of the steps until a steady alarm is due.
  private func advance() throws {
    time = time.adding(seconds: Int64(random.pick([300, 1800, 3600, 7200, 20_000, 40_000])))
    guard random.one(in: 2), !steady.isEmpty else { return }
    let device = random.pick(devices)
    guard let alarm = try device.store(at: time).alarm(random.pick(steady)),
      let next = Timeline(
        alarm, zone: ZoneLibrary(variable: device.zone).zone(of: alarm)
      ).next(after: time)
    else { return }
    time = next.at.adding(seconds: Int64(random.pick([10, 300, 1200, 2400, 7200])))
    device.nextWake = min(device.nextWake, device.now(time))
  }

  /// Remembers the true time of every edit of a device.
  func noteEdits(on device: SimulatedDevice) throws {
    for alarm in try device.store(at: time).allAlarms().alarms {
      let stamps =
        Array(alarm.mergeState.stamps.values) + alarm.progress.moves.values.compactMap(\.stamp)
      for stamp in stamps where edits[stamp] == nil { edits[stamp] = time }
    }
  }

  /// Causes failures of networks, clocks and machines, and repairs them.
  private func disturb() throws {
    let device = random.pick(devices)
    switch random.int(0...15) {
    case 0:
      network.heal()
      note("the network is whole")
    case 1, 2:
      for remote in try device.store(at: time).sync.remotes() where random.one(in: 2) {
        network.cut(device.index, from: remote.url)
        note("device\(device.index) is cut off from \(remote.name)")
      }
    case 3:
      device.asleepUntil = time.adding(seconds: Int64(random.int(3600...200_000)))
      device.lastLook = nil
      note("device\(device.index) sleeps until \(device.asleepUntil)")
    case 4:
      // A clock change, by a day at most.
      device.skew = Int64(random.pick([random.int(-7200...7200), random.int(-86_400...86_400)]))
      device.lastLook = nil
      if device.skew > Instant.tolerance { wasAhead = true }
      note("the clock of device\(device.index) is \(device.skew) s off")
    case 5:
      setRight(device)
    case 6:
      guard let prophet else { break }
      devices[prophet].skew = random.one(in: 2) ? 40 * 366 * 86_400 : 0
      devices[prophet].lastLook = nil
      note("the clock of device\(prophet) is \(devices[prophet].skew) s off")
    case 7, 8: travel(device)
    case 9 where random.one(in: 6):
      device.skew = Int64(random.int(3...40)) * 86_400
      device.lastLook = nil
      wasAhead = true
      note("the clock of device\(device.index) is \(device.skew) s ahead")
    default: break
    }
    // Weeks ahead, for a while only.
    for device in devices where device.index != prophet && device.skew > 7200 && random.one(in: 3) {
      setRight(device)
    }
  }

  private func setRight(_ device: SimulatedDevice) {
    if abs(device.skew) > 60 { device.lastLook = nil }
    device.skew = Int64(random.int(-60...60))
  }

  private func travel(_ device: SimulatedDevice) {
    device.zone = random.pick(Fleet.zones)
    device.lastLook = nil
    device.nextWake = device.now(time)
    note("device\(device.index) travels to \(device.zone)")
  }

  func tick(_ device: SimulatedDevice) async throws {
    let store = try device.store(at: time)
    if random.one(in: 25) {
      note("device\(device.index) dies in a tick")
      crashed.insert(device.index)
      device.lastLook = nil
      try await device.crashing { moment in
        device.person.onDelivery(moment)
        _ = try await Tick(
          store, delivery: device.person, leaseOwner: device.leaseOwner, lockTimeout: .seconds(3600)
        ).run()
      }
      device.person.onDelivery {}
      device.nextWake = device.now(time)
      return
    }
    let expected = try expectedRings(on: device, store)
    let heard = device.person.heard.count
    let report = try await Tick(
      store, delivery: device.person, leaseOwner: device.leaseOwner, lockTimeout: .seconds(3600)
    ).run()
    for failure in report.failures { throw failure }
    for problem in report.problems { throw Violation("device\(device.index): \(problem)") }
    for (notification, _) in report.delivered {
      note(
        "device\(device.index) \(notification.key) \(notification.title)"
      )
    }
    for item in report.missed {
      note("device\(device.index) missed \(item.title) \(item.occurrence)")
    }
    try expectRang(expected, on: device, after: heard)
    try expectHeardToday(on: device)
    try expectNothingSettledAhead(on: device)
    device.lastLook = abs(device.skew) <= 60 ? store.context.now : nil
    device.nextWake = report.nextWake ?? .distantFuture
  }

  /// Returns the occurrences that have become due on a device since its last tick and are neither answered nor skipped,
  /// according to its store: the latest occurrence of each steady alarm.
  private func expectedRings(
    on device: SimulatedDevice, _ store: Store
  ) throws -> [(key: OccurrenceID, due: Instant)] {
    guard let lastLook = device.lastLook else { return [] }
    let now = store.context.now
    var result: [(key: OccurrenceID, due: Instant)] = []
    for id in steady {
      guard let alarm = try store.alarm(id), alarm.enabled, !alarm.isDeleted else { continue }
      let view = store.timeline(alarm)
      let limit = CivilDateTime(minuteNumber: view.zone.civil(at: now).minuteNumber)
      guard let civil = view.latest(onOrBefore: limit),
        alarm.pause?.covers(view.occurrence(civil).time) != true
      else { continue }
      let due = view.occurrence(civil).at
      guard due > lastLook, due <= now, due > alarm.progress.armed, now.seconds(since: due) < 40_000
      else { continue }
      if view.record(of: civil) == nil {
        result.append((OccurrenceID(alarm: id, occurrence: civil), due))
      }
    }
    return result
  }

  /// Expects a ring where and when an occurrence was due.
  private func expectRang(
    _ expected: [(key: OccurrenceID, due: Instant)], on device: SimulatedDevice, after count: Int
  ) throws {
    let heard = device.person.heard.dropFirst(count).compactMap { $0.notification.content?.id }
    let store = try device.store(at: time)
    for (key, due) in expected where !heard.contains(key) {
      guard let alarm = try store.alarm(key.alarm) else { continue }
      // The tick received a change of another device: a response, a move or a pause.
      let timeline = store.timeline(alarm)
      let occurrence = timeline.occurrence(key.occurrence)
      if alarm.pause?.covers(occurrence.time) == true || occurrence.at != due { continue }
      let record = timeline.record(of: key.occurrence)
      if let record, record.state != .missed || record.since != store.context.now { continue }
      // The tick received the move of an earlier occurrence to a later time, which rings instead.
      let isReplaced = heard.contains {
        $0.alarm == key.alarm && timeline.occurrence($0.occurrence).at > due
      }
      if try isReplaced && store.status(alarm).missed.contains(key.occurrence) { continue }
      throw Violation(
        "device\(device.index) did not ring for \(key.alarm.short) of \(key.occurrence)")
    }
  }

  /// The time in seconds for which every alarm rings, whatever the ring timeout is set to.
  private static let shortestTimeout: Int64 = 1500
  /// The time in seconds for which a persistent alarm rings at least: the grace period.
  private static let persistentTime: Int64 = 39_600

  /// Expects that the latest due occurrence of each steady alarm has been heard on a device, and rings if the alarm is
  /// persistent, unless a person had said something else.
  ///
  /// It follows from the definition and from the responses that the device knows, never from what a clock has recorded.
  private func expectHeardToday(on device: SimulatedDevice) throws {
    guard abs(device.skew) <= 60 else { return }
    let store = try device.store(at: time)
    let now = store.context.now
    for id in steady {
      guard let alarm = try store.alarm(id), alarm.enabled, !alarm.isDeleted else { continue }
      let view = store.timeline(alarm)
      guard let civil = view.latest(onOrBefore: view.zone.civil(at: now)) else { continue }
      let occurrence = view.occurrence(civil)
      let due = occurrence.at
      let age = now.seconds(since: due)
      guard age > 0, due > began.adding(seconds: 7200),
        alarm.pause?.covers(occurrence.time) != true,
        isEarlierEdit(.pause, of: alarm, than: due), isEarlierEdit(.enabled, of: alarm, than: due),
        isEarlier(alarm.progress.moves[civil]?.stamp, than: due)
      else { continue }
      let log = store.history.log(of: id).filter {
        $0.occurrence.map { $0 == civil || view.occurrence($0).at > due } ?? false
      }
      let isAnswered = log.contains { entry in
        let isByClock = entry.auto || [.missed, .fired, .reminded].contains(entry.action)
        // A move is no response: the occurrence rings at its new time.
        return entry.occurrence != civil || !isByClock && entry.action != .moved
      }
      let heard = device.person.heard.compactMap { $0.notification.content?.id }
        .filter { $0.alarm == id }.map(\.occurrence)
      if isAnswered || heard.contains(where: { view.occurrence($0).at > due }) { continue }
      let isPersistent =
        alarm.delivery.persistent && isEarlierEdit(.delivery, of: alarm, than: due)
      guard age < (isPersistent ? Fleet.persistentTime : Fleet.shortestTimeout) else { continue }
      let status = try store.status(alarm)
      if !heard.contains(civil) {
        throw Violation(
          "device\(device.index) has not heard \(alarm.title) of \(civil), \(age) s after its time: \(status.state)"
        )
      }
      if isPersistent, status.state != .ringing || status.current != civil {
        throw Violation(
          "device\(device.index): the persistent \(alarm.title) of \(civil) is \(status.state), and nobody has responded"
        )
      }
    }
  }

  /// Returns true if the last edit of a field was made well before an occurrence was due, or if there was none.
  private func isEarlierEdit(_ field: Alarm.Field, of alarm: Alarm, than due: Instant) -> Bool {
    isEarlier(alarm.mergeState.stamps[field], than: due)
  }

  private func isEarlier(_ stamp: Stamp?, than due: Instant) -> Bool {
    guard let stamp else { return true }
    return edits[stamp].map { $0 < due.adding(seconds: -300) } ?? false
  }

  /// Expects that no occurrence is settled on a device by the clock before it is due there.
  private func expectNothingSettledAhead(on device: SimulatedDevice) throws {
    guard abs(device.skew) <= 60 else { return }
    let store = try device.store(at: time)
    for id in steady {
      guard let alarm = try store.alarm(id) else { continue }
      let view = store.timeline(alarm)
      for civil in view.occurrences(in: .missed)
      where view.occurrence(civil).at > store.context.now {
        throw Violation(
          "device\(device.index): \(alarm.title) of \(civil) is missed before it comes")
      }
    }
  }

  private func sync(_ device: SimulatedDevice) async throws {
    network.plan(
      (0..<4).map { _ in random.one(in: 12) ? random.pick([.lost, .unanswered]) : .none })
    let store = try device.store(at: time)
    if random.one(in: 25) {
      note("device\(device.index) dies in a sync")
      return try await device.crashing { moment in
        try await self.sync(store, device, moment)
      }
    }
    for _ in 0..<(random.one(in: 10) ? 2 : 1) { try await sync(store, device, {}) }
  }

  func sync(
    _ store: Store, _ device: SimulatedDevice, _ moment: @escaping @Sendable () -> Void
  ) async throws {
    let (network, index) = (network, device.index)
    do {
      let result = try await store.sync.run {
        SimulatedTransport(
          network: network, device: index, repository: $0, remote: $1, moment: moment)
      }
      if !result.refusals.isEmpty { throw Violation("refused: \(result.refusals)") }
      note(
        "device\(index) synced: \(result.fetched) in, \(result.pushed) out, \(result.decisions.map(\.subject.name))"
      )
      for exchange in result.exchanges {
        if let failure = exchange.failure { try Fleet.expectOffline(failure) }
      }
    } catch {
      try Fleet.expectOffline(error)
      note("device\(index) could not sync")
    }
  }

  /// Rethrows every error except an unreachable network or too many lost races.
  static func expectOffline(_ error: any Error) throws {
    switch error as? StoreError {
    case .remoteFailed, .pushRaceLost: break
    default: throw error
    }
  }

  /// Runs a plain `git pull` with Belfry's merge driver.
  private func plainPull() async throws {
    guard let hub = hubs.first else { return }
    let device = random.pick(devices)
    let driver = "'\(Sandbox.binary)' merge-driver %O %A %B %P"
    let now = device.now(time).description
    let pull = try await sandbox.run(
      "/usr/bin/git",
      [
        "-C", device.path, "-c", "user.name=Ada", "-c", "user.email=ada@example.org", "-c",
        "merge.belfry.driver=\(driver)", "pull", "-q", "--no-rebase", "--no-edit",
        "--allow-unrelated-histories", hub, "main",
      ],
      environment: [
        "BELFRY_NOW": now, "GIT_COMMITTER_DATE": now, "GIT_AUTHOR_DATE": now,
      ])
    note("device\(device.index) pulled plainly: \(pull.status) \(pull.err)")
    if pull.status != 0 {
      let status = try await sandbox.git("status", "--porcelain", in: device.path)
      note(status.out)
    }
  }

  /// Moves a device's branch with plain git, without its work tree: a `git reset` to a hub's commit, or a push by another
  /// device into the branch that is checked out.
  private func moveBranch() async throws {
    let device = random.pick(devices)
    if let hub = hubs.first, random.one(in: 2) {
      _ = try await sandbox.git("fetch", "-q", hub, "main", in: device.path)
      let isForward = try await sandbox.git(
        "merge-base", "--is-ancestor", "HEAD", "FETCH_HEAD", in: device.path)
      guard isForward.status == 0 else { return }
      let reset = try await sandbox.git("reset", "-q", "FETCH_HEAD", in: device.path)
      note("device\(device.index) was reset to the hub's branch: \(reset.status) \(reset.err)")
    } else {
      let other = random.pick(devices)
      if other.index == device.index { return }
      let push = try await sandbox.git(
        "push", "-q", "--receive-pack", "git -c receive.denyCurrentBranch=ignore receive-pack",
        device.path, "main", in: other.path)
      note("device\(other.index) pushed into device\(device.index): \(push.status)")
    }
    device.nextWake = device.now(time)
  }

  /// Moves a hub's branch back.
  private func rewind() throws {
    guard let hub = hubs.first else { return }
    let repository = try Repository.open(hub)
    guard let head = try repository.commit(of: "refs/heads/main") else { return }
    var older: [ObjectID] = []
    try repository.visitHistory(from: head) { commit in
      older.append(commit.id)
      return older.count < 12
    }
    let target = random.pick(older)
    _ = try repository.moveReference(
      "refs/heads/main", from: head, to: target,
      signature: Repository.Signature(name: "x", email: "x", time: 0), message: "rewind")
    note("the hub was rewound")
  }

  // MARK: People

  /// Adds an alarm.
  ///
  /// - Parameter isSteady: true for an alarm whose occurrences follow from its rule alone.
  private func add(
    on device: SimulatedDevice, title: String, isSteady: Bool = false
  ) throws -> Identifier {
    let store = try device.store(at: time)
    let schedule = try schedule(isSteady: isSteady)
    let alarm = Alarm.created(
      id: store.context.makeIdentifier(), title: title, note: nil,
      schedule: schedule,
      zone: random.pick([.floating, .named("Europe/Berlin"), .named("America/New_York")]),
      delivery: .init(persistent: random.one(in: 3), strict: random.one(in: 4)),
      at: device.now(time), device: store.device)
    let change = Store.Change(
      alarms: [alarm], entries: store.entries([Event(.created)], of: alarm),
      message: CommitMessage(Event(.created), of: alarm, device: store.device))
    try store.add(change)
    ledger.acknowledge(change)
    alarms.append(alarm.id)
    note("device\(device.index) added \(title) \(alarm.schedule.summary) \(alarm.zone.text)")
    return alarm.id
  }

  private func schedule(isSteady: Bool) throws -> Schedule {
    let start = TimeZoneRules.utc.civil(at: time).date
    let cadence = Recurrence.Cadence(start: start)
    let times = random.pick([["02:30"], ["09:00"], ["07:15", "21:45"], ["23:59"]])
      .compactMap { CivilTime($0) }
    if isSteady || random.one(in: 2) {
      let recurrence: Recurrence = random.pick([
        .daily(cadence), .daily(.init(interval: 2, start: start)),
        .weekly([.monday, .thursday, .saturday], cadence),
      ])
      return try Schedule(recurrence, times: times)
    }
    if random.one(in: 2) {
      return try Schedule(
        .afterDone(Period(random.int(1...9), .day), .init(start: start.adding(days: 1))),
        times: [times[0]])
    }
    let limits = Schedule.Limits(
      until: random.one(in: 3)
        ? Schedule.Limits.end(of: start.adding(days: random.int(5...30))) : nil,
      exceptions: (0..<random.int(0...3)).map { _ in start.adding(days: random.int(1...20)) },
      onHoliday: random.pick([nil, .skip, .before, .after]))
    return try Schedule(
      random.pick([.daily(cadence), .monthly([.workday(1), .workday(-2), .day(15)], cadence)]),
      times: times, limits: limits)
  }

  /// Imports or removes holidays.
  private func changeHolidays(on device: SimulatedDevice, _ store: Store) throws {
    let name = random.pick(["de-BE", "school"])
    if random.one(in: 5) {
      _ = try store.calendars.removing(name)
      note("device\(device.index) removed the holidays \(name)")
      return
    }
    let first = TimeZoneRules.utc.civil(at: time).date
    let days = (0...random.int(0...4)).map { _ in first.adding(days: random.int(0...25)) }
    _ = try store.calendars.importing(
      Dictionary(days.map { ($0, "Holiday") }, uniquingKeysWith: { $1 }), into: name)
    note("device\(device.index) imported the holidays \(name) \(days.sorted())")
  }

  private func act(on device: SimulatedDevice) throws {
    let store = try device.store(at: time)
    let known = try store.allAlarms().alarms.filter { !$0.isDeleted }.map(\.id).sorted()
    guard !known.isEmpty else { return }
    let id = random.pick(known)
    let title = "title \(random.int(0...99))"
    switch random.int(0...27) {
    case 26, 27: try move(id, store, device)
    case 0 where alarms.count < 6: _ = try add(on: device, title: title)
    case 1, 2: try edit(id, store, device) { $0.title = title }
    case 3: try edit(id, store, device) { $0.note = title }
    case 22, 23: try edit(id, store, device) { $0.delivery.persistent.toggle() }
    case 24: try pause(id, store, device)
    case 25 where random.one(in: 2):
      try store.set(.ringTimeout, to: .seconds(random.pick([1800, 3600, 10_800])))
      note("device\(device.index) set the ring timeout")
    case 20, 21:
      let tag = try AlarmTag(random.pick(["home", "pills", "work"]))
      try edit(id, store, device) { $0.tags.formSymmetricDifference([tag]) }
    case 4 where !steady.contains(id):
      let time = CivilTime(hour: random.int(0...23), minute: random.int(0...59))!
      try edit(id, store, device) { alarm in
        alarm.schedule =
          (try? Schedule(
            alarm.schedule.recurrence, times: [time], limits: alarm.schedule.limits))
          ?? alarm.schedule
      }
    case 5 where !steady.contains(id):
      try edit(id, store, device) { $0.enabled.toggle() }
    case 6 where !steady.contains(id):
      try store.update(id) { before in
        let change = Store.Change(
          alarms: [before.deleted()], entries: store.entries([Event(.deleted)], of: before),
          message: CommitMessage(Event(.deleted), of: before, device: store.device))
        self.ledger.acknowledge(change)
        return (change, ())
      }
      note("device\(device.index) deleted \(id.short)")
    case 7: try undo(store, device)
    case 9 where random.one(in: 2): try changeHolidays(on: device, store)
    case 8: try pause(id, store, device)
    default: try answer(id, store, device)
    }
  }

  func edit(
    _ id: Identifier, _ store: Store, _ device: SimulatedDevice, _ body: (inout Alarm) -> Void
  ) throws {
    try store.update(id) { before in
      var after = before
      body(&after)
      let fields = after.changedFields(from: before)
      if fields.isEmpty { return (nil, ()) }
      after = after.stamped(against: before, at: store.context.now, device: store.device)
      let change = Store.Change(
        alarms: [after], entries: store.entries([Event(.edited)], of: after),
        message: CommitMessage(Event(.edited), of: after, device: store.device))
      self.ledger.acknowledge(change)
      for field in fields { self.ledger.edited(after, field) }
      self.note(
        "device\(device.index) edited \(fields) of \(id.short): \(after.text(of: fields[0]))")
      return (change, ())
    }
  }

  /// Begins a pause, or ends the current one.
  func pause(_ id: Identifier, _ store: Store, _ device: SimulatedDevice) throws {
    let days = random.int(1...3)
    // Some pauses are planned, up to two days ahead.
    let delay = random.one(in: 3) ? random.int(1...2880) : 0
    let settings = try store.settings().settings
    try store.update(id) { before in
      let (timeline, now) = (store.timeline(before), store.context.now)
      let here = timeline.zone.civil(at: now)
      let start = CivilDateTime(minuteNumber: here.minuteNumber + delay)
      let end = CivilDateTime(minuteNumber: start.minuteNumber + days * 1440)
      let transition = timeline.paused(
        before.pause == nil ? Pause(from: start, until: end) : nil, at: now,
        settings: settings, ledger: store.ledger.read())
      let after = transition.alarm.stamped(against: before, at: now, device: store.device)
      let change = Store.Change(
        alarms: [after], entries: store.entries(transition.events, of: after),
        message: CommitMessage(transition.events[0], of: after, device: store.device))
      self.ledger.acknowledge(change)
      self.ledger.edited(after, .pause)
      self.ledger.paused(after)
      self.note("device\(device.index) paused \(after.text(of: .pause)) of \(id.short)")
      return (change, ())
    }
  }

  private func answer(_ id: Identifier, _ store: Store, _ device: SimulatedDevice) throws {
    let answer = random.pick([
      Answer.stop, .stop, .done(), .done(), .snooze(seconds: 600), .skip(), .skip(.count(2)),
      .unskip(), .dismiss, .done(early: true),
    ])
    try self.answer(answer, id, store, device)
  }

  func answer(
    _ answer: Answer, _ id: Identifier, _ store: Store, _ device: SimulatedDevice
  ) throws {
    let settings = try store.settings().settings
    try store.update(id) { before in
      guard
        let transition = try? store.timeline(before).answer(
          answer, at: store.context.now, settings: settings, ledger: store.ledger.read()),
        let change = store.change(transition)
      else { return (nil, ()) }
      try self.ledger.answered(answer, before: before, transition)
      self.ledger.acknowledge(change)
      self.note(
        "device\(device.index) \(answer) \(transition.alarm.title): \(transition.events.map { "\($0.action) \($0.occurrence.map { "\($0)" } ?? "")" })"
      )
      return (change, ())
    }
  }

  /// Moves the occurrence that a person means, or a later one, by some days at most.
  private func move(_ id: Identifier, _ store: Store, _ device: SimulatedDevice) throws {
    let settings = try store.settings().settings
    let isLater = random.one(in: 2)
    let seconds = Int64(random.pick([random.int(600...7200), random.int(7200...500_000)]))
    try store.update(id) { before in
      let (timeline, now) = (store.timeline(before), store.context.now)
      let ledger = store.ledger.read()
      let time = timeline.zone.civil(at: now.adding(seconds: seconds))
      guard
        let civil = isLater
          ? timeline.upcoming(after: now).prefix(2).map({ $0.civil }).last
          : try? timeline.occurrenceToMove(at: now, settings: settings, ledger: ledger),
        let transition = try? timeline.moving(
          civil, to: time, at: now, device: store.device, settings: settings, ledger: ledger),
        let change = store.change(transition)
      else { return (nil, ()) }
      self.ledger.acknowledge(change)
      self.note("device\(device.index) moved \(before.title) of \(civil) to \(time)")
      return (change, ())
    }
  }

  private func undo(_ store: Store, _ device: SimulatedDevice) throws {
    do {
      let undone = try store.history.undo()
      for alarm in undone.alarms {
        ledger.undone(alarm)
        // An alarm is not steady if its addition is undone, or the end of a restart.
        if alarm.isDeleted || !alarm.enabled { steady.removeAll { $0 == alarm.id } }
      }
      note("device\(device.index) undid \(undone.subject)")
    } catch let error as StoreError {
      switch error {
      case .nothingToUndo, .notUndone, .settingChangedSince, .calendarChangedSince: break
      default: throw error
      }
    }
  }

  /// Changes a title with an editor.
  private func handEdit(_ device: SimulatedDevice) throws {
    let folder = device.path + "/alarms"
    guard let name = try? FileManager.default.contentsOfDirectory(atPath: folder).sorted().first
    else { return }
    let text = try String(contentsOfFile: "\(folder)/\(name)", encoding: .utf8)
    guard let line = text.split(separator: "\n").first(where: { $0.hasPrefix("  \"title\"") })
    else {
      return
    }
    let title = "  \"title\": \"by hand \(random.int(0...99))\","
    try text.replacing(line, with: line.hasSuffix(",") ? title : String(title.dropLast()))
      .write(toFile: "\(folder)/\(name)", atomically: true, encoding: .utf8)
    note("device\(device.index) edited \(name.prefix(8)) by hand")
  }

  // MARK: The end

  /// Repairs all faults, syncs all devices, and checks the invariants.
  func check() async throws {
    network.heal()
    for device in devices {
      device.skew = 0
      device.asleepUntil = time
    }
    note("all is mended")
    try await converge()
    // Every open occurrence ends.
    for _ in 0..<3 {
      time = time.adding(seconds: 86_400)
      for device in devices { try await tickToItsEnd(device) }
      try await converge()
    }
    let heads = try devices.map { try Examination($0, at: time) }
    for one in heads { try one.expectWhole() }
    for other in heads.dropFirst() where other.tree != heads[0].tree {
      throw Violation("device0 and another have different trees")
    }
    try ledger.check(against: heads[0])
    let heard = devices.flatMap(\.person.heard)
    try ledger.check(followUps: heard, crashed: crashed)
    if prophet == nil {
      if !wasAhead { try ledger.checkAnswers(against: heads[0]) }
      for id in steady { try expectAccounted(id, heard, heads[0]) }
    } else {
      try expectNotSilenced(heads[0])
    }
  }

  private func tickToItsEnd(_ device: SimulatedDevice) async throws {
    let report = try await Tick(
      device.store(at: time), delivery: device.person, leaseOwner: device.leaseOwner,
      lockTimeout: .seconds(3600)
    ).run()
    for failure in report.failures { throw failure }
  }

  /// Syncs all devices in turn until none has new commits.
  private func converge() async throws {
    // Around a ring, every commit makes at most two rounds.
    for _ in 0..<(2 * devices.count + 4) {
      for device in devices {
        network.plan([])
        let store = try device.store(at: time)
        try await sync(store, device, {})
        if hubs.isEmpty { try await tickToItsEnd(device) }
      }
      let heads = try devices.map { try Examination.head($0) }
      if Set(heads).count == 1 { break }
    }
  }

  /// Expects that every occurrence of a steady alarm rang, was answered, or is recorded as missed.
  private func expectAccounted(
    _ id: Identifier, _ heard: [Person.Heard], _ end: Examination
  ) throws {
    guard let alarm = end.alarms[id] else { throw Violation("a steady alarm is gone") }
    let known = Set(
      heard.filter { $0.notification.key.alarm == id }.compactMap(
        \.notification.content?.id.occurrence)
        + end.log.filter { $0.alarm == id && [.missed, .done, .skipped].contains($0.action) }
        .compactMap(\.occurrence))
    // At the edges of the period, the result depends on the zone.
    let from = TimeZoneRules.utc.civil(at: began.adding(seconds: 86_400))
    let to = TimeZoneRules.utc.civil(at: time.adding(seconds: -3 * 86_400))
    var civil = from
    let scheduled = Occurrences(alarm.schedule, in: .standard)
    while let next = scheduled.next(after: civil), next < to {
      civil = next
      if let moved = alarm.progress.moves[civil]?.time, moved >= to { continue }
      if !known.contains(civil) {
        throw Violation("\(alarm.title) of \(civil) was neither heard, nor answered, nor missed")
      }
      for device in devices { try expectSettled(civil, of: alarm, on: device) }
    }
  }

  /// Expects that every due occurrence is in exactly one final state.
  private func expectSettled(
    _ civil: CivilDateTime, of alarm: Alarm, on device: SimulatedDevice
  ) throws {
    if let floor = alarm.progress.floor, civil <= floor { return }
    let store = try device.store(at: time)
    let phase = store.timeline(alarm).phase(
      of: civil, at: store.context.now, status: try store.status(alarm))
    switch phase {
    case .ringing, .snoozed, .pending, .missed, .skipped, .done, .autoCompleted: break
    // A restart clears what was open before it. The true time counts, because the clock may have been ahead.
    case .unknown
    where !isEarlierEdit(.enabled, of: alarm, than: store.timeline(alarm).occurrence(civil).at):
      break
    case .upcoming, .skippedAhead, .unknown:
      let record = alarm.progress.occurrences[civil].map { "\($0)" } ?? "open"
      throw Violation(
        "\(alarm.title) of \(civil) is \(phase) on device\(device.index): \(record)")
    }
  }

  /// Expects that every enabled alarm rings within its next days after a device's clock was years ahead.
  private func expectNotSilenced(_ end: Examination) throws {
    let zones = ZoneLibrary(variable: "UTC")
    for alarm in end.alarms.values.sorted(by: { $0.id < $1.id })
    where alarm.enabled && !alarm.isDeleted {
      let timeline = Timeline(alarm, zone: zones.zone(of: alarm), at: time)
      // Its schedule may have ended, or have weeks between its occurrences.
      var following = timeline.first(after: timeline.zone.civil(at: time))
      while let civil = following, let record = timeline.record(of: civil),
        record.answer == .skipped
      {
        following = timeline.first(after: timeline.occurrence(civil).time)
      }
      // A person can have skipped all that are left.
      guard let scheduled = following else { continue }
      let next = timeline.next(after: time)
      // Few of them were skipped ahead by a user.
      let limit = timeline.occurrence(scheduled).at.adding(seconds: 21 * 86_400)
      guard let next, next.at < limit else {
        throw Violation("\(alarm.title) is silent until \(next.map { "\($0.civil)" } ?? "ever")")
      }
    }
  }
}

/// A violated invariant.
struct Violation: Error, CustomStringConvertible {
  let description: String

  init(_ description: String) {
    self.description = description
  }
}
