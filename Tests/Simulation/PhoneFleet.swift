import BelfryActions
import BelfryCore
import BelfryInput
import BelfryScheduler
import BelfryStore
import Foundation
import Git
import TestSupport

@testable import BelfryPhone

/// Some days of one or more devices and a phone that rings by the tasks in its own copy of a folder.
///
/// Devices sleep and are cut off, a publisher dies in its run or loses its state, the phone is offline for days, loses its
/// data, is emptied by its person or is restored from a backup, and its person completes, snoozes, ends and deletes some of
/// what rings.
///
/// The core, the stores, the merges, the ticks, the projection and its reconciliation are real. Time, the network, the
/// people and the phone are simulated.
final class PhoneFleet {
  private let sandbox: Sandbox
  private var random: SeededGenerator
  private let network = Network()
  private let devices: [SimulatedDevice]
  private let publishers: [SimulatedDevice]
  private let hub: String
  private let folder: String
  private let phone: SimulatedPhone
  private var time: Instant
  private let began: Instant
  private(set) var story: [String] = []
  private var steady: [Identifier] = []
  /// The answers that people have given.
  private var acts = PhoneActs()

  private struct Crash: Error {}

  init(seed: UInt64) async throws {
    sandbox = try Sandbox(in: "/dev/shm")
    random = SeededGenerator(seed: seed ^ 0x00F0_17E5)
    began = Instant(rfc3339: random.pick(["2026-03-25T09:30:00Z", "2026-10-21T09:30:00Z"]))!
    time = began
    let root = sandbox.root
    (hub, folder) = ("\(root)/hub.git", "\(root)/tasks")
    _ = try await sandbox.git("init", "-q", "--bare", "-b", "main", hub, in: root)
    let zone = random.pick(["UTC", "Europe/Berlin", "America/New_York"])
    devices = (0..<random.int(1...3)).map { index in
      SimulatedDevice(index: index, path: "\(root)/device\(index)", zone: zone, skew: 0, seed: seed)
    }
    publishers = Array(devices.prefix(random.int(1...2)))
    phone = SimulatedPhone(random.pick(SimulatedPhone.App.allCases), folder: folder, at: time)
    for device in devices { _ = try device.store(at: time) }
    try shareObjects(of: [hub] + devices.map { $0.path + "/.git" })
    for device in devices {
      try device.store(at: time).sync.addRemote(Remote(name: "origin", url: hub))
    }
    try await begin()
  }

  private func note(_ words: String) { story.append("\(time) \(words)") }

  /// Adds the alarms, and sets up the folder.
  private func begin() async throws {
    let store = try devices[0].store(at: time)
    try store.set(.tier, to: .word("plus"))
    for number in 0..<2 { steady.append(try add("steady \(number)", store)) }
    for _ in 0..<2 { for device in devices { try await sync(device) } }
    for device in publishers { try device.store(at: time).devices.publish(to: "Phone") }
    for _ in 0..<2 { for device in devices { try await sync(device) } }
    for device in publishers {
      let store = try device.store(at: time)
      _ = try await PhoneSetup(store, folder: folder)
        .perform(collection: "Phone", options: PhoneOptions())
    }
    for _ in 0..<2 { for device in devices { try await sync(device) } }
    try await publish(publishers[0])
    try syncPhone()
  }

  private func add(_ title: String, _ store: Store) throws -> Identifier {
    let start = TimeZoneRules.utc.civil(at: time).date
    let cadence = Recurrence.Cadence(start: start)
    let recurrence: Recurrence = random.pick([
      .daily(cadence), .daily(.init(interval: 2, start: start)),
      .weekly([.monday, .thursday, .saturday], cadence),
    ])
    let schedule = try Schedule(
      recurrence,
      times: random.pick([["02:30"], ["09:00"], ["07:15", "21:45"]]).compactMap { CivilTime($0) })
    var alarm = Alarm.created(
      id: store.context.makeIdentifier(), title: title, note: random.pick([nil, "a note"]),
      schedule: schedule, zone: random.pick([.floating, .named("Europe/Berlin")]),
      delivery: .init(
        persistent: random.one(in: 3), strict: random.one(in: 4),
        warnings: random.pick([nil, WarningPlan("1d,1h")])),
      at: time, device: store.device)
    if random.one(in: 3) {
      alarm.cascade = Cascade(
        Cascade.Plan(isOn: true, primary: store.device, targets: [.phoneTasks]))
      alarm.mergeState.stamps[.cascade] = alarm.mergeState.stamps[.title]
    }
    try store.add(
      Store.Change(
        alarms: [alarm], entries: store.entries([Event(.created)], of: alarm),
        message: CommitMessage(Event(.created), of: alarm, device: store.device)))
    note("added \(title) \(alarm.schedule.summary) \(alarm.zone.text)")
    return alarm.id
  }

  // MARK: Time

  func live(steps: Int) async throws {
    for _ in 0..<steps {
      let from = time
      try advance()
      try livePhone(from: from)
      disturb()
      for device in devices where device.asleepUntil <= time {
        if device.nextWake <= time || random.one(in: 4) { try await tick(device) }
      }
      let device = random.pick(devices)
      if device.asleepUntil <= time { try act(on: device) }
      for device in devices where device.asleepUntil <= time && random.one(in: 2) {
        try await sync(device)
      }
      for device in publishers where device.asleepUntil <= time && !random.one(in: 4) {
        try await publish(device)
      }
    }
  }

  /// Lets some time pass, in half of the steps until an alarm is due.
  private func advance() throws {
    time = time.adding(seconds: Int64(random.pick([600, 1800, 3600, 7200, 20_000, 40_000])))
    guard random.one(in: 2) else { return }
    let store = try random.pick(devices).store(at: time)
    guard let alarm = try store.alarm(random.pick(steady)),
      let next = store.timeline(alarm).next(after: time)
    else { return }
    time = next.at.adding(seconds: Int64(random.pick([10, 300, 1200, 2400, 7200])))
  }

  /// Lets the phone ring and sync, and its person answer, until the present time.
  private func livePhone(from: Instant) throws {
    let end = time
    defer { time = end }
    var moment = from
    while moment < end {
      let ring = phone.rings(after: moment, until: end).first
      let next = min(ring?.at ?? end, max(phone.nextSync, moment.adding(seconds: 1)), end)
      moment = next
      time = next
      if let ring, ring.at == next, phone.sounds(ring) {
        phone.hear(ring)
        note("the phone rings for \(ring.id.alarm.short) \(ring.id.occurrence)")
        time = min(next.adding(seconds: Int64(random.int(5...600))), end)
        try answer(ring.id)
      }
      if phone.nextSync <= next {
        phone.nextSync = next.adding(seconds: Int64(random.int(900...14_400)))
        try syncPhone()
      }
    }
  }

  /// Answers a task on the phone, or not. The app uploads the answer soon.
  private func answer(_ id: OccurrenceID) throws {
    // Without Belfry's properties, nobody knows which of two devices has written a file.
    let loses = random.one(in: 2) && publishers.count == 1
    func change(_ act: PhoneActs.Act, _ body: (inout PhoneTaskText) -> Void) {
      if phone.change(id, losesProperties: loses, body) {
        acts.phone[id, default: [:]][act, default: 0] += 1
        note("on the phone: \(act) \(id.alarm.short) \(id.occurrence)")
      }
    }
    let (now, until) = (time, time.adding(seconds: Int64(random.pick([600, 3600, 80_000]))))
    switch random.int(0...11) {
    case 0...3: change(.done) { $0.complete(at: now) }
    case 4, 5:
      change(.snoozed) { task in
        if phone.app == .jtx {
          task.postpone(until: until, at: now)
        } else {
          task.snooze(until: until, at: now)
        }
      }
    case 6 where phone.app != .tasksOrg: change(.stopped) { $0.acknowledge(at: now) }
    case 7: change(.skipped) { $0.cancel(at: now) }
    case 8:
      phone.delete(id)
      acts.phone[id, default: [:]][.skipped, default: 0] += 1
      note("on the phone: deleted \(id.alarm.short) \(id.occurrence)")
    default: return
    }
    if random.one(in: 2) { try syncPhone() }
  }

  private func syncPhone() throws {
    if phone.offlineUntil > time { return }
    let limit = random.one(in: 10) ? random.int(0...3) : nil
    let removals = phone.removals
    let isWhole = try phone.sync(limit: limit) { item in
      guard let id = item.task.id, !item.isDeleted, !item.task.isOpen else { return }
      if acts.phone[id]?[.done] != nil { acts.uploaded.insert(id) }
    }
    note(
      "the phone synced\(isWhole ? "" : ", and lost the connection"); it has \(phone.items.count) tasks, and deleted \(phone.removals - removals)"
    )
  }

  /// Causes failures of devices, networks and the phone.
  private func disturb() {
    let device = random.pick(devices)
    switch random.int(0...19) {
    case 0, 1:
      network.heal()
      note("the network is whole")
    case 2:
      network.cut(device.index, from: hub)
      note("device\(device.index) is cut off")
    case 3:
      device.asleepUntil = time.adding(seconds: Int64(random.int(3600...200_000)))
      note("device\(device.index) sleeps until \(device.asleepUntil)")
    case 4:
      phone.offlineUntil = time.adding(seconds: Int64(random.int(20_000...300_000)))
      note("the phone is offline until \(phone.offlineUntil)")
    case 5:
      phone.makeBackup()
      note("the phone makes a backup")
    case 6:
      phone.restore()
      note("the phone is restored")
    case 7:
      phone.reset()
      note("the phone loses its tasks")
    case 8 where random.one(in: 2):
      acts.wipes += 1
      acts.wiped.formUnion(phone.open)
      note("the phone's list is emptied: \(phone.deleteAll()) tasks")
    case 9:
      guard let device = publishers.randomElement(using: &random),
        let store = try? device.store(at: time)
      else { return }
      try? FileManager.default.removeItem(atPath: PhoneState.file(of: store).path)
      note("device\(device.index) loses its knowledge of the folder")
    case 10, 11:
      // A task that does not ring.
      if let id = phone.open.randomElement(using: &random) { try? answer(id) }
    default: break
    }
  }

  // MARK: Devices

  private func tick(_ device: SimulatedDevice) async throws {
    let report = try await Tick(
      device.store(at: time), delivery: device.person, leaseOwner: device.leaseOwner,
      lockTimeout: .seconds(3600)
    ).run()
    for failure in report.failures { throw failure }
    for item in report.missed {
      note("device\(device.index) missed \(item.title) \(item.occurrence)")
    }
    device.nextWake = report.nextWake ?? .distantFuture
  }

  private func sync(_ device: SimulatedDevice) async throws {
    network.plan([])
    let (network, index) = (network, device.index)
    let store = try device.store(at: time)
    do {
      let result = try await store.sync.run(sign: DeviceHeartbeats.spacing) {
        SimulatedTransport(
          network: network, device: index, repository: $0, remote: $1, moment: {})
      }
      if !result.refusals.isEmpty { throw Violation("refused: \(result.refusals)") }
      note("device\(index) synced: \(result.fetched) in, \(result.pushed) out")
    } catch {
      try Fleet.expectOffline(error)
      note("device\(index) could not sync")
    }
  }

  private func phoneSync(_ store: Store) throws -> PhoneSync? {
    if PhoneConfiguration.read(of: store) == nil { return nil }
    return PhoneSync(
      store, settings: try store.settings().settings,
      input: InputContext(instant: store.context.now, zone: store.context.zones.local))
  }

  /// Runs the publisher of a device if it is elected.
  private func publish(_ device: SimulatedDevice) async throws {
    let store = try device.store(at: time)
    guard try store.devices.phonePublisher?.isOwn == true, var run = try phoneSync(store) else {
      note("device\(device.index) leaves the folder to another device")
      return
    }
    if random.one(in: 10) {
      let step = random.pick(PhoneSync.Step.allCases)
      run.didReach = { if $0 == step { throw Crash() } }
      do {
        _ = try await run.run()
      } catch is Crash {
        note("device\(device.index) dies in its run, after \(step)")
        return
      }
      return
    }
    let report = try await run.run()
    note(
      "device\(device.index) published \(report.tasks) tasks: \(report.written) written, \(report.removed) removed, \(report.held.count) held, \(report.recorded.map { "\($0.action) \($0.title) \($0.occurrence.map { "\($0)" } ?? "")" })"
    )
    // A newer file of another device stays for a while, although this one may know something else.
    if publishers.count == 1 { try expectPublished(device, report) }
  }

  // MARK: People at the devices

  private func act(on device: SimulatedDevice) throws {
    let store = try device.store(at: time)
    let settings = try store.settings().settings
    let id = random.pick(steady)
    let changes: [AlarmChange]
    do {
      switch random.int(0...19) {
      case 0...7:
        let answer = random.pick([
          Answer.stop, .stop, .done(), .done(), .snooze(seconds: 600), .skip(), .dismiss,
          .done(early: true),
        ])
        changes = try AnswerAlarms(answer, to: [id], settings: settings).perform(in: store)
      case 8:
        changes = try EditAlarms.renaming([id], to: "title \(random.int(0...9))").perform(in: store)
      case 9:
        changes = try EditAlarms.noting([id], "note \(random.int(0...9))").perform(in: store)
      case 10, 11:
        changes = try MoveOccurrences(
          [id], to: .shift(Int64(random.int(10...3000) * 60)), settings: settings
        ).perform(in: store)
      case 12:
        let zone = store.context.zones.local
        changes = try PauseAlarms.pausing(
          [id], until: zone.civil(at: time.adding(seconds: Int64(random.int(1...3) * 86_400))),
          isNamed: true, keepingLonger: false, settings: settings
        ).perform(in: store).changes
        acts.paused.insert(id)
      case 13:
        changes = try PauseAlarms.resuming(
          [id], isNamed: true, onlyPaused: true, settings: settings
        ).perform(in: store).changes
      default: return
      }
    } catch is ActionError {
      return
    }
    for event in changes.flatMap(\.events) {
      note(
        "device\(device.index): \(event.action) \(id.short) \(event.occurrence.map { "\($0)" } ?? "")"
      )
      if let civil = event.occurrence {
        acts.devices.insert(OccurrenceID(alarm: id, occurrence: civil))
      }
    }
  }

  // MARK: Invariants

  /// Expects that the folder has each open occurrence of the store with its reminder, after a run of its publisher.
  private func expectPublished(_ device: SimulatedDevice, _ report: PhoneReport) throws {
    let store = try device.store(at: time)
    let settings = try store.settings().settings
    for id in steady {
      guard let alarm = try store.alarm(id), alarm.enabled, !alarm.isDeleted else { continue }
      let timeline = store.timeline(alarm)
      let status = timeline.status(at: time, settings: settings, ledger: store.ledger.read())
      let end = time.adding(seconds: 29 * 86_400)
      let open = status.state == .ringing || status.state == .snoozed ? [status.current] : []
      let ahead = timeline.upcoming(after: time).prefix(100).prefix { $0.at < end }.map(\.civil)
      for civil in open.compactMap({ $0 }) + status.pending.map(\.occurrence) + status.missed
        + ahead
      {
        let key = OccurrenceID(alarm: id, occurrence: civil)
        if report.held.contains(key) { continue }
        let name = "\(id)-\("\(civil)".filter { $0 != "-" && $0 != ":" }).ics"
        guard let text = try? String(contentsOfFile: "\(folder)/\(name)", encoding: .utf8) else {
          throw Violation("device\(device.index): \(alarm.title) of \(civil) has no task")
        }
        let task = PhoneTaskText(text)
        guard task.isOpen else {
          throw Violation("device\(device.index): the task of \(alarm.title), \(civil), is closed")
        }
        guard let alert = timeline.phoneAlert(of: civil, at: time, settings: settings) else {
          continue
        }
        guard task.triggers.contains(alert) else {
          throw Violation(
            "device\(device.index): the task of \(alarm.title), \(civil), does not sound at \(alert), but at \(task.triggers)"
          )
        }
      }
    }
  }

  /// Repairs all faults, brings everything together, and checks the invariants.
  func check() async throws {
    network.heal()
    phone.offlineUntil = time
    for device in devices { device.asleepUntil = time }
    note("all is mended")
    // Held deletions end after an hour.
    for (number, pause) in ([0, 7200, 60] as [Int64]).enumerated() {
      time = time.adding(seconds: pause)
      try await converge(isLast: number == 2)
    }
    let ends = try devices.map { try Examination($0, at: time) }
    for end in ends where end.tree != ends[0].tree {
      throw Violation("two devices have different trees")
    }
    try acts.check(against: ends[0], publishers: publishers.count)
    for id in steady { try expectAccounted(id, ends[0]) }
    try await expectSettledFolder()
  }

  private func converge(isLast: Bool) async throws {
    for _ in 0..<4 {
      for device in devices { try await sync(device) }
      for device in devices { try await tick(device) }
      for device in devices { try await sync(device) }
      for device in publishers {
        let store = try device.store(at: time)
        guard try store.devices.phonePublisher?.isOwn == true, let run = try phoneSync(store) else {
          continue
        }
        let report = try await run.run()
        note("device\(device.index) recorded \(report.recorded.map(\.action))")
        if isLast || publishers.count == 1 { try expectPublished(device, report) }
      }
      try phone.sync { _ in }
    }
    for _ in 0..<2 { for device in devices { try await sync(device) } }
  }

  /// Expects that the phone has the files of the folder, that another run changes nothing, and that a device without
  /// knowledge of the folder would write the same files.
  private func expectSettledFolder() async throws {
    let files = try listing()
    let copy = phone.items.mapValues { $0.task.text }
    for (name, text) in files where copy[name] != PhoneTaskText(text).text {
      throw Violation("the phone has another version of \(name)")
    }
    if copy.count != files.count { throw Violation("the phone has other tasks than the folder") }
    for device in publishers {
      for forgets in [false, true] {
        let store = try device.store(at: time)
        if forgets { try FileManager.default.removeItem(atPath: PhoneState.file(of: store).path) }
        guard let run = try phoneSync(store) else { continue }
        let report = try await run.run()
        // Without its knowledge, a device may find an answer a second time.
        let unfounded = report.recorded.filter { recorded in
          recorded.occurrence.map {
            acts.phone[OccurrenceID(alarm: recorded.alarm, occurrence: $0)] == nil
          } ?? true
        }
        if !unfounded.isEmpty {
          throw Violation("device\(device.index) recorded \(unfounded) without an answer")
        }
        let now = try listing()
        // A closed task may follow a change of its alarm late.
        for (name, text) in files where now[name] != text && PhoneTaskText(text).isOpen {
          throw Violation(
            "device\(device.index)\(forgets ? ", without knowledge," : "") changed \(name): \(PhoneTaskText(text).difference(to: now[name] ?? ""))"
          )
        }
        if let added = now.keys.first(where: { files[$0] == nil }) {
          throw Violation("device\(device.index) added \(added)")
        }
      }
    }
  }

  private func listing() throws -> [String: String] {
    var files: [String: String] = [:]
    for name in try FileManager.default.contentsOfDirectory(atPath: folder)
    where name.hasSuffix(".ics") && !name.hasPrefix(".") {
      files[name] = try String(contentsOfFile: "\(folder)/\(name)", encoding: .utf8)
    }
    return files
  }

  /// Expects that every occurrence of an alarm rang on a device or on the phone, was answered, or is recorded as missed.
  private func expectAccounted(_ id: Identifier, _ end: Examination) throws {
    guard let alarm = end.alarms[id] else { throw Violation("an alarm is gone") }
    let known = Set(
      devices.flatMap(\.person.heard).filter { $0.notification.key.alarm == id }
        .compactMap(\.notification.content?.id.occurrence)
        + phone.heard.filter { $0.id.alarm == id }.map(\.id.occurrence)
        + end.log.filter { $0.alarm == id && [.missed, .done, .skipped].contains($0.action) }
        .compactMap(\.occurrence))
    let from = TimeZoneRules.utc.civil(at: began.adding(seconds: 86_400))
    let to = TimeZoneRules.utc.civil(at: time.adding(seconds: -86_400))
    var civil = from
    let scheduled = Occurrences(alarm.schedule, in: .standard)
    while let next = scheduled.next(after: civil), next < to {
      civil = next
      if let moved = alarm.progress.moves[civil]?.time, moved >= to { continue }
      let isPaused = acts.paused.contains(id)
      if !known.contains(civil), !isPaused {
        throw Violation("\(alarm.title) of \(civil) was neither heard, nor answered, nor missed")
      }
    }
  }
}

/// The answers of the people in a simulation with a phone.
struct PhoneActs {
  enum Act: Hashable { case done, snoozed, stopped, skipped }

  /// The number of answers of each kind that the person gave on the phone.
  var phone: [OccurrenceID: [Act: Int]] = [:]
  /// The occurrences whose completion the server has accepted.
  var uploaded: Set<OccurrenceID> = []
  /// The occurrences that people at the devices have answered, moved or paused.
  var devices: Set<OccurrenceID> = []
  /// The alarms that were paused.
  var paused: Set<Identifier> = []
  /// The occurrences whose tasks the phone has deleted all at once, and the number of such times.
  var wiped: Set<OccurrenceID> = []
  var wipes = 0

  /// The number of tasks that one wipe may skip, each time that the phone's connection was lost.
  private static let maxSkips = 3

  /// Expects that nothing is answered that nobody has answered, and that what the server has accepted is answered.
  ///
  /// - Parameter publishers: the number of devices that publish into the folder.
  func check(against end: Examination, publishers: Int) throws {
    var counts: [OccurrenceID: [Act: Int]] = [:]
    var wipeSkips = 0
    for entry in end.log where !entry.auto {
      guard let civil = entry.occurrence else { continue }
      let id = OccurrenceID(alarm: entry.alarm, occurrence: civil)
      let act: Act
      switch entry.action {
      case .done: act = .done
      case .stopped: act = .stopped
      case .snoozed: act = .snoozed
      case .skipped: act = .skipped
      default: continue
      }
      guard entry.via != nil else {
        if !devices.contains(id) { throw Violation("\(act) \(civil), and nobody did it") }
        continue
      }
      counts[id, default: [:]][act, default: 0] += 1
      // Each device that publishes may record an answer before it knows of the other's record.
      let allowed = (phone[id]?[act] ?? 0) * publishers
      if counts[id]?[act] ?? 0 <= allowed { continue }
      guard act == .skipped, wiped.contains(id) else {
        throw Violation(
          "the phone's person has \(phone[id]?[act] ?? 0) times \(act) \(id.alarm.short) of \(civil), and the log has more"
        )
      }
      wipeSkips += 1
    }
    if wipeSkips > wipes * 2 * PhoneActs.maxSkips {
      throw Violation("\(wipeSkips) occurrences were skipped by a wiped phone")
    }
    for id in uploaded {
      guard let alarm = end.alarms[id.alarm],
        alarm.progress.floor.map({ id.occurrence > $0 }) ?? true
      else { continue }
      let record = alarm.progress.occurrences[id.occurrence]
      guard let record, record.state == .done || record.state == .skipped else {
        throw Violation(
          "\(alarm.title) of \(id.occurrence) was completed on the phone, and is \(record.map { "\($0)" } ?? "open")"
        )
      }
    }
  }
}
