import BelfryCore
import BelfryPartners
import BelfryStore
import Subprocess
import SystemPackage

/// The daemon's mind: what it knows, and what it does about each event, one after the other.
struct DaemonLoop {
  private var store: Store
  private let dependencies: Daemon.Dependencies
  private let activeDeliveries: ActiveDeliveries
  private let delivery: HookDelivery
  private let recorder: AnswerRecorder
  private let tell: @Sendable (DaemonEvent) -> Void

  private var alarmQueue = AlarmQueue()
  private var sync = SyncSchedule()
  /// When the mailboxes of partners are looked into.
  private var mail = SyncSchedule()
  /// What was told, and is to be noted together.
  private var told: [(pendingDelivery: PendingDelivery, outcome: DeliveryOutcome?)] = []
  /// What was given up again before it was noted.
  private var givenUp: Set<Notification> = []
  /// What is noted as being attended, and what of that is over since.
  private var attended: Set<Notification> = []
  private var ended: [Notification] = []
  private let ledgerWriter: LedgerWriter
  /// Something was told that the disk has not taken yet.
  private var isUnrecorded = false
  /// The time of the next attempt to write it; nil while the disk hangs, as a later reply starts one.
  private var nextFlush: Instant?
  private var flushFailures: Int64 = 0
  private var presence = StorePresence()
  private var hasReturned = false
  private var memory = MemoryRelease()
  /// Whether they are about to be noted.
  private var isNoting = false
  private var settling = Settling()
  /// When the battery is to be looked at next; nil when that is on its way.
  private var nextSample: Instant?
  /// Whether somebody is just being told of it.
  private var isSendingBatteryWarning = false
  /// Writes what was said of it: a disk that hangs holds back no alarm.
  private let batteryWorker = BlockingWorker()
  /// When all files are to be looked at, as the system may have kept a change from us.
  private var nextRound: Instant
  private var context: StoreContext
  private var zones: String
  /// Where the branch stood after the last sync, and when partners were last told of it.
  private var syncedMark: String?
  private var mailedMark: String?
  /// The time at which a branch that another program has moved is taken in; nil when there is none.
  private var branchDue: Instant?
  /// The commit of the moved branch that was dealt with last.
  private var handledHead: String?
  private var failing: Set<String> = []
  /// What rings as a later cascade step once it has been asked what others have answered: since when it waits for that.
  private var held: [DeliveryLedger.Key: Instant] = [:]
  /// Since when others wait for an answer that was given here; nil once they could hear of it.
  private var hurriedSince: Instant?
  /// When the last sync began.
  private var syncBegan: Instant?
  /// The calls that are seen to.
  private var calling: Set<Callout> = []
  /// Those that could not be: when they are tried again.
  private var callRetries: [Callout: Instant] = [:]
  /// What was warned of last.
  private var warnings: [String] = []
  /// How much is under way that it will be told of.
  private(set) var underWay = 0

  /// When what happened is to be recorded by a command.
  private struct Settling {
    var isRunning = false
    /// Somebody wants it since; nil when nobody does.
    var due: Instant?
    var failures: Int64 = 0
  }

  /// Between two rounds, in seconds.
  private static let round: Int64 = 900
  /// After a look at the battery that taught nothing, in seconds.
  private static let early: Int64 = 60
  /// How long a command may take, in seconds.
  private static let patience = 300
  /// The same of one that calls.
  private static let callPatience = 1800
  /// Between two attempts of it, in seconds.
  private static let callPause: Int64 = 15
  /// How long a remote may say nothing while cascade steps wait for it, in seconds.
  private static let hurry = 10
  /// Between an edit and the command that takes it up, in milliseconds: an editor writes more than once.
  private static let editing: Int64 = 500
  /// Between a move of the branch and the command that brings the work tree in line with it, in milliseconds: Belfry's
  /// own writes do that themselves.
  private static let branchPause: Int64 = 300

  /// - Parameter willAccessLedger: is called before each access to the disk, by the thread that may block.
  init(
    store: Store, dependencies: Daemon.Dependencies, activeDeliveries: ActiveDeliveries,
    willAccessLedger: @escaping @Sendable () -> Void = {},
    tell: @escaping @Sendable (DaemonEvent) -> Void
  ) {
    ledgerWriter = LedgerWriter(willAccess: willAccessLedger) { tell(.diskRecovered) }
    self.store = store
    self.dependencies = dependencies
    self.activeDeliveries = activeDeliveries
    self.tell = tell
    delivery = dependencies.hooks(activeDeliveries)
    recorder = AnswerRecorder(
      command: dependencies.command, store: store.path, variables: dependencies.variables)
    context = dependencies.context(false)
    zones = context.zones.fingerprint
    nextRound = context.now.adding(seconds: DaemonLoop.round)
    nextSample = dependencies.gauge == nil ? nil : context.now
  }

  // MARK: Time

  /// The store as it is now.
  private var present: Store { store.with(context) }

  /// The notes of who tells what, with what the disk did not take.
  private var leases: DeliveryLeases {
    DeliveryLeases(store: present, leaseOwner: delivery.leaseOwner, ledgerWriter: ledgerWriter)
  }

  private mutating func lookAtClock(rereadingZones: Bool = false) {
    context = dependencies.context(rereadingZones)
  }

  /// When the daemon is to be woken at the latest.
  var nextWake: Instant {
    var wakes = [nextRound, alarmQueue.nextWake, nextSample, branchDue, memory.due, nextFlush]
      .compactMap { $0 }
    if presence.isAway { wakes.append(context.now.adding(seconds: StorePresence.interval)) }
    if !settling.isRunning, !presence.isAway, let due = settling.due { wakes.append(due) }
    if isSyncing, let next = sync.next(pace, now: context.now) { wakes.append(next) }
    if isMailing, let next = mail.next(.waiting, now: context.now) { wakes.append(next) }
    if let retry = callRetries.filter({ !calling.contains($0.key) }).values.min() {
      wakes.append(retry)
    }
    if let first = held.values.min() {
      wakes.append(first.adding(seconds: DaemonLoop.newsPatience))
    }
    return wakes.min() ?? nextRound
  }

  /// When the next alarm needs a look.
  var nextRing: Instant? { alarmQueue.nextWake }

  // MARK: Events

  /// Reads the store, and rings for what came due while nobody looked.
  mutating func begin() {
    delivery.notes?.terminateOrphans()
    alarmQueue.readSettings(present)
    _ = alarmQueue.read(nil, present)
    look(at: alarmQueue.identifiers.sorted())
    wantSettling(after: 0)
    readHistory()
    dependencies.log(.started(alarms: alarmQueue.count, next: alarmQueue.nextWake))
  }

  mutating func handle(_ event: DaemonEvent) {
    lookAtClock()
    checkStore()
    let wasUrgent = alarmQueue.urgency == .cascading
    switch event {
    case .wake(let wake): handle(wake)
    case .diskRecovered: nextFlush = context.now
    case .news(let news): handle(news)
    case .delivered(let pendingDelivery, let outcome):
      underWay -= 1
      noteSoon()
      told.append((pendingDelivery, outcome))
      if let outcome { dependencies.log(.delivered(pendingDelivery.notification, outcome)) }
    case .recordOutcomes:
      underWay -= 1
      isNoting = false
      note()
    case .answerRecorded(let notification):
      underWay -= 1
      look(at: alarmQueue.read([notification.alarm], present))
    case .historyRead(let records):
      // A file that was written meanwhile is read by itself.
      let current = records.filter { record in
        record.signature.map { $0 == present.armedSignature(record.alarm.id) }
          ?? (present.armed(record.alarm.id) == nil)
      }
      look(at: current.filter { alarmQueue.update($0) }.map(\.alarm.id))
    case .warned(let lines):
      if lines != warnings, !lines.isEmpty { dependencies.log(.warned(lines)) }
      warnings = lines
    case .settled(let failure):
      underWay -= 1
      settling.isRunning = false
      report("belfry tick", failure)
      settling.failures = failure == nil ? 0 : settling.failures + 1
      if failure != nil { wantSettling(after: min(60_000, 2_000 << min(settling.failures, 5))) }
      noteBranch()
    case .synced(let failure):
      underWay -= 1
      report("belfry sync", failure)
      sync.end(at: context.now, succeeded: failure == nil)
      if failure == nil, let since = hurriedSince, syncBegan.map({ $0 >= since }) ?? false {
        hurriedSince = nil
      }
      syncedMark = store.branchMark
      look(at: Set(held.keys.map(\.alarm)).sorted())
    case .mailboxesSynced(let failure):
      underWay -= 1
      report("belfry partner sync", failure)
      mail.end(at: context.now, succeeded: failure == nil)
      noteBranch()
    case .callFinished(let callout, let failure):
      underWay -= 1
      calling.remove(callout)
      callRetries[callout] =
        failure == nil ? nil : context.now.adding(seconds: DaemonLoop.callPause)
      report("calling for \(callout.alarm.short)", failure)
      look(at: [callout.alarm])
    case .batterySampled(let result):
      underWay -= 1
      take(result)
    case .batteryWarningDelivered(let warning, let notification, let outcome):
      underWay -= 1
      isSendingBatteryWarning = false
      dependencies.log(.delivered(notification, outcome))
      if case .undelivered = outcome { break }
      var history = store.batteryWarningHistory
      warning.record(in: &history, at: context.now)
      keep(history)
    }
    flush()
    sampleBattery()
    checkBranch()
    look(at: alarmQueue.due(at: context.now) + overdue)
    if wasUrgent, alarmQueue.urgency < .cascading {
      // Somebody has answered: others are to hear of it before their turn.
      hurriedSince = context.now
      if !sync.isRunning { sync.requestNow() }
    }
    runCommands()
    memory.releaseIfDue(at: context.now)
  }

  // MARK: The store's folder

  /// Returns true once after the store's folder has come back.
  mutating func takeReturn() -> Bool {
    defer { hasReturned = false }
    return hasReturned
  }

  /// Notices that the store's folder has gone, or is back. Meanwhile alarms ring from memory, and no command is
  /// started.
  private mutating func checkStore() {
    switch presence.update(store) {
    case nil: break
    case .left:
      dependencies.log(.storeUnavailable(path: store.path))
      // What has rung is not to ring again because the ledger cannot be read.
      ledgerWriter.holdInMemory()
    case .returned:
      dependencies.log(.storeAvailable(path: store.path))
      hasReturned = true
      // A copy in its place has an identity of its own.
      if let opened = try? Store.open(store.path, context: context, creates: false).store {
        store = opened
      }
      alarmQueue.readSettings(present)
      _ = alarmQueue.read(nil, present)
      look(at: alarmQueue.identifiers.sorted())
      note()
      readHistory()
      sync.reset()
      mail.reset()
      wantSettling(after: 0)
    }
  }

  private mutating func handle(_ wake: WakeSource.Wake) {
    switch wake {
    case .time:
      if nextRound <= context.now { lookRound() }
    case .clockChanged:
      dependencies.log(.clockChanged)
      if settling.due != nil { settling.due = context.now }
      if nextSample != nil { nextSample = context.now }
      sync.reset()
      mail.reset()
      // What was reckoned by another clock counts no more.
      lookRound(atAll: true)
    case .alarms(let ids):
      flushSoon()
      look(at: alarmQueue.read(ids, present))
      wantSettling(after: DaemonLoop.editing)
    case .settings:
      flushSoon()
      if !presence.isAway { alarmQueue.readSettings(present) }
      look(at: alarmQueue.identifiers.sorted())
      wantSettling(after: DaemonLoop.editing)
    case .branch: break
    case .everything, .poke:
      flushSoon()
      look(at: alarmQueue.read(nil, present))
      noteBranch()
    case .zone:
      lookAtClock(rereadingZones: true)
      look(at: alarmQueue.identifiers.sorted())
      // The other devices learn the zone from this one's record.
      wantSettling(after: 0)
    case .reload:
      lookAtClock(rereadingZones: true)
      if !presence.isAway { alarmQueue.readSettings(present) }
      _ = alarmQueue.read(nil, present)
      look(at: alarmQueue.identifiers.sorted())
      readHistory()
      sync.reset()
      mail.reset()
      wantSettling(after: 0)
      dependencies.log(.reloaded(alarms: alarmQueue.count))
    case .stop: break
    }
  }

  /// Compares everything with what is remembered: what inotify does not tell, on some file systems, is found by it.
  ///
  /// - Parameter atAll: whether each alarm is looked at, not only those that have changed.
  private mutating func lookRound(atAll: Bool = false) {
    nextRound = context.now.adding(seconds: DaemonLoop.round)
    lookAtClock(rereadingZones: true)
    // What a command could not bring in line is tried again.
    handledHead = nil
    let changed = alarmQueue.read(nil, present)
    let isSame = zones == context.zones.fingerprint && !atAll
    look(at: isSame ? changed : alarmQueue.identifiers.sorted())
    if !isSame { wantSettling(after: 0) }
    zones = context.zones.fingerprint
  }

  /// Looks whether something other than Belfry has moved the branch: then its alarms are read from there, and a
  /// command brings the work tree in line.
  private mutating func checkBranch() {
    guard let head = store.movedHead, head != handledHead else {
      branchDue = nil
      return
    }
    guard let due = branchDue else {
      branchDue = Instant(milliseconds: context.now.milliseconds + DaemonLoop.branchPause)
      return
    }
    guard due <= context.now else { return }
    branchDue = nil
    handledHead = head
    readHistory()
    wantSettling(after: 0)
  }

  // MARK: PendingDelivery

  /// Looks at alarms, tells what is to be told, and withdraws what is not any more.
  private mutating func look(at ids: [Identifier]) {
    if ids.isEmpty { return }
    let leases = leases
    let look = alarmQueue.evaluate(ids, in: present, ledger: leases.ledger)
    if look.needsCommit { wantSettling(after: 0) }
    // What was waited for may not be wanted any more.
    let wanted = Set(look.pendingDeliveries.map(\.key))
    held = held.filter { !ids.contains($0.key.alarm) || wanted.contains($0.key) }
    callRetries = callRetries.filter {
      !ids.contains($0.key.alarm) || look.callouts.contains($0.key)
    }
    for callout in look.callouts { callOut(callout) }
    var pendingDeliveries: [PendingDelivery] = []
    for pendingDelivery in look.pendingDeliveries where isTold(pendingDelivery) {
      pendingDeliveries.append(pendingDelivery)
    }
    if !pendingDeliveries.isEmpty {
      let claimed = leases.claim(pendingDeliveries)
      reportLedger(claimed.failure)
      for pendingDelivery in claimed.result { start(pendingDelivery) }
    }
    withdraw(ids)
  }

  /// How long a later step waits for news of the others before it rings without, in seconds.
  private static let newsPatience: Int64 = 8

  /// The alarms that have waited for news, or for another attempt to call, long enough.
  private var overdue: [Identifier] {
    let limit = context.now.adding(seconds: -DaemonLoop.newsPatience)
    return held.filter { $0.value <= limit }.map(\.key.alarm)
      + callRetries.filter { $0.value <= context.now && !calling.contains($0.key) }.map(\.key.alarm)
  }

  /// Returns true when a notification has to be delivered now. A later step, and a device that stands in for others, first
  /// syncs to learn of an answer, if it has not just done so; without an answer it rings.
  private mutating func isTold(_ pendingDelivery: PendingDelivery) -> Bool {
    let isInsteadOfOthers = pendingDelivery.notification.cascade != nil || pendingDelivery.isStandIn
    guard isInsteadOfOthers, isSyncing, !sync.isFresh(at: context.now) else {
      held[pendingDelivery.key] = nil
      return true
    }
    guard let since = held[pendingDelivery.key] else {
      held[pendingDelivery.key] = context.now
      if !sync.isRunning { sync.requestNow() }
      return false
    }
    if context.now.seconds(since: since) < DaemonLoop.newsPatience { return false }
    held[pendingDelivery.key] = nil
    return true
  }

  /// Sees to it that somebody is called, or sent word, by a command that agrees with the other devices on who does.
  private mutating func callOut(_ callout: Callout) {
    guard !calling.contains(callout), callRetries[callout].map({ $0 <= context.now }) ?? true,
      store.callNote(callout.key).map({ !$0.isOver }) ?? true
    else { return }
    calling.insert(callout)
    callRetries[callout] = nil
    run(
      callout.arguments, variables: callout.variables, seconds: DaemonLoop.callPatience
    ) { .callFinished(callout, failure: $0) }
  }

  private mutating func start(_ pendingDelivery: PendingDelivery) {
    underWay += 1
    let (delivery, snooze, tell) = (delivery, alarmQueue.settings.snooze, tell)
    Task.detached {
      let outcome = await delivery.deliver(pendingDelivery.notification, snooze: snooze)
      tell(.delivered(pendingDelivery, outcome == .withdrawn ? nil : outcome))
    }
  }

  /// Ends the notifications of some alarms that are out of date.
  private mutating func withdraw(_ ids: [Identifier]) {
    let ids = Set(ids)
    let notifications = activeDeliveries.notifications.filter { ids.contains($0.alarm) }
    if notifications.isEmpty { return }
    let ledger = leases.ledger
    let unwanted = notifications.filter { !alarmQueue.isWanted($0, present, ledger: ledger) }
    if !unwanted.isEmpty { activeDeliveries.withdraw { unwanted.contains($0) } }
  }

  // MARK: The ledger

  /// Between two attempts to write what the disk did not take, in seconds at most.
  private static let mostFlushPause: Int64 = 30

  /// Says once that the disk does not take the ledger, and sees to it that it is written later.
  private mutating func reportLedger(_ failure: (any Error)?) {
    report("noting what has rung", failure.map { "\($0)" })
    guard ledgerWriter.hasUnwritten else {
      // What was told meanwhile is to be recorded.
      if isUnrecorded { wantSettling(after: 0) }
      (isUnrecorded, nextFlush, flushFailures) = (false, nil, 0)
      return
    }
    let pause = min(DaemonLoop.mostFlushPause, 1 << min(flushFailures, 5))
    nextFlush = ledgerWriter.isStuck ? nil : context.now.adding(seconds: pause)
    flushFailures += 1
    isUnrecorded = true
  }

  /// Somebody has written to the store: its disk takes something again.
  private mutating func flushSoon() {
    if isUnrecorded, !ledgerWriter.isStuck { nextFlush = context.now }
  }

  /// Writes what the disk did not take, when it is time to try again.
  private mutating func flush() {
    guard let due = nextFlush, due <= context.now else { return }
    reportLedger(leases.flush())
  }

  // MARK: Noting

  /// Between what was told and the note of it, in milliseconds, so that two hundred go together.
  private static let gathering = 30
  private static let gatheringMany = 200

  private mutating func noteSoon() {
    if isNoting { return }
    isNoting = true
    underWay += 1
    let tell = tell
    let pause = underWay > 8 ? DaemonLoop.gatheringMany : DaemonLoop.gathering
    Task.detached {
      do { try await Task.sleep(for: .milliseconds(pause)) } catch { return }
      tell(.recordOutcomes)
    }
  }

  private mutating func note() {
    let goingOn = activeDeliveries.notifications
    var told: [(pendingDelivery: PendingDelivery, outcome: DeliveryOutcome?)] = []
    for var item in self.told {
      if givenUp.remove(item.pendingDelivery.notification) != nil {
        item.outcome = .undelivered(["it was given up again"])
      } else if goingOn.contains(item.pendingDelivery.notification) {
        // One way may be over while another goes on.
        if item.outcome == .delivered(nil) {
          item.outcome = .attended(leaseOwner: delivery.leaseOwner.name)
        }
        attended.insert(item.pendingDelivery.notification)
      } else if case .attended? = item.outcome {
        item.outcome = .delivered(nil)
      }
      told.append(item)
    }
    self.told = []
    let noted = leases.settle(told, ended: ended)
    ended = []
    reportLedger(noted.failure)
    if told.isEmpty { return }
    for (pendingDelivery, outcome) in told {
      if case .delivered(let answer?)? = outcome {
        record(answer, to: pendingDelivery.notification)
      }
    }
    look(at: Set(told.map(\.pendingDelivery.alarm.id)).sorted())
    wantSettling(after: 0)
    memory.recordDeliveries(told.count, at: context.now)
  }

  private mutating func handle(_ news: ActiveDeliveries.News) {
    switch news {
    case .answered(let notification, let answer): record(answer, to: notification)
    case .failed(let notification):
      let noted = leases.fail(notification)
      reportLedger(noted.failure)
      if !noted.result { givenUp.insert(notification) }
      look(at: [notification.alarm])
    case .wayFailed(let notification, let reasons):
      dependencies.log(.channelFailed(notification, reasons))
    case .ended(let notification):
      memory.recordDeliveries(1, at: context.now)
      guard attended.remove(notification) != nil else { return }
      ended.append(notification)
      noteSoon()
    }
  }

  private mutating func record(_ answer: DeliveredAnswer, to notification: Notification) {
    underWay += 1
    let (recorder, log, tell) = (recorder, dependencies.log, tell)
    Task.detached {
      let failure = await recorder.record(answer, to: notification)
      log(.answered(notification, answer, failure: failure))
      tell(.answerRecorded(notification))
    }
  }

  // MARK: The battery

  private mutating func sampleBattery() {
    guard let gauge = dependencies.gauge, let due = nextSample, due <= context.now else { return }
    nextSample = nil
    underWay += 1
    let (now, tell) = (context.now, tell)
    Task.detached { tell(.batterySampled(await gauge.sample(at: now))) }
  }

  private mutating func take(_ result: BatteryGauge.SampleResult) {
    report("keeping a sample of the battery", result.failure.map { "\($0)" })
    guard let finding = result.finding else {
      nextSample = context.now.adding(seconds: DaemonLoop.early)
      return
    }
    guard let standing = finding.standing else {
      // One may be put in.
      nextSample = context.now.adding(seconds: DaemonLoop.round)
      return
    }
    // Who pulls the plug is to hear of it before they have gone.
    nextSample = context.now.adding(
      seconds: standing.reading.isCharging ? DaemonLoop.early : BatteryGauge.spacing)
    if isSendingBatteryWarning { return }
    let horizon = context.now.adding(seconds: BatteryAlerting.horizon)
    let upcoming =
      standing.reading.isCharging ? [] : alarmQueue.upcoming(after: context.now, until: horizon)
    let before = store.batteryWarningHistory
    var history = before
    let warning = BatteryAlerting.pendingWarning(
      standing, upcoming: upcoming, at: context.now, history: &history)
    if history != before { keep(history) }
    guard let warning,
      let alarm = alarmQueue.alarm(warning.first.alarm, now: context.now),
      let item = upcoming.first(where: { $0.alarm == warning.first.alarm })
    else { return }
    isSendingBatteryWarning = true
    underWay += 1
    let notification = BatteryAlerting.notification(
      warning, alarm, at: item.at, context.zones)
    let (delivery, tell) = (delivery, tell)
    Task.detached {
      tell(
        .batteryWarningDelivered(
          warning, notification, await delivery.deliver(notification, snooze: 0)))
    }
  }

  private mutating func keep(_ notes: BatteryWarningHistory) {
    let store = store
    let job = batteryWorker.start { () -> String? in
      do {
        try store.keep(notes)
        return nil
      } catch {
        return "\(error)"
      }
    }
    let limit = Duration.seconds(1)
    report(
      "noting what was said of the battery",
      job.wait(within: limit) ?? "\(DiskTimeout(limit: limit))")
  }

  // MARK: Commands

  /// For so long an answer is in a hurry, in seconds: then whoever has not heard of it has rung.
  private static let mostHurry: Int64 = 1800

  /// How soon others are to hear of what happens here.
  private var pace: AlarmQueue.SyncUrgency {
    let isHurried =
      hurriedSince.map { context.now.seconds(since: $0) < DaemonLoop.mostHurry } ?? false
    return isHurried ? .cascading : alarmQueue.urgency
  }

  private var isSyncing: Bool { dependencies.syncs && !presence.isAway && store.hasRemote }
  private var isMailing: Bool {
    dependencies.syncs && !presence.isAway && !PartnerStore(store).isEmpty
  }

  private mutating func wantSettling(after milliseconds: Int64) {
    let due = Instant(milliseconds: context.now.milliseconds + milliseconds)
    settling.due = settling.due.map { min($0, due) } ?? due
  }

  /// Others are to hear of a branch that has moved.
  private mutating func noteBranch() {
    if isSyncing, store.branchMark != syncedMark { sync.noteChange(at: context.now) }
    if alarmQueue.hasPartners, isMailing, store.branchMark != mailedMark {
      mail.noteChange(at: context.now)
    }
  }

  private mutating func runCommands() {
    if !settling.isRunning, !presence.isAway, let due = settling.due, due <= context.now {
      settling.due = nil
      settling.isRunning = true
      run(["tick", "--settle"], isWarning: true) { .settled(failure: $0) }
    }
    if isSyncing, let next = sync.next(pace, now: context.now), next <= context.now {
      sync.begin(at: context.now)
      syncBegan = context.now
      let isUrgent = pace == .cascading
      let spacing = isUrgent ? DeviceHeartbeats.spacingInWindow : DeviceHeartbeats.spacing
      run(
        ["sync", "--no-mail"]
          + (alarmQueue.needsHeartbeats ? ["--heartbeat-interval", "\(spacing)"] : []),
        variables: isUrgent ? ["BELFRY_NETWORK_TIMEOUT": "\(DaemonLoop.hurry)"] : [:]
      ) { .synced(failure: $0) }
    }
    if isMailing, let next = mail.next(.waiting, now: context.now), next <= context.now {
      mail.begin(at: context.now)
      mailedMark = store.branchMark
      run(["partner", "sync", "--notify"], isWarning: true) { .mailboxesSynced(failure: $0) }
    }
  }

  /// Runs a command of Belfry's, and tells why it failed, or that it did not.
  private mutating func run(
    _ arguments: [String], isWarning: Bool = false, variables more: [String: String] = [:],
    seconds: Int = DaemonLoop.patience,
    _ event: @escaping @Sendable (String?) -> DaemonEvent
  ) {
    underWay += 1
    let (command, path, tell) = (dependencies.command, store.path, tell)
    let variables = more.merging(dependencies.variables()) { $1 }
    Task.detached {
      let outcome = await TimedProcess.run(
        .path(FilePath(command)), arguments + ["--store", path], variables: variables,
        seconds: seconds)
      switch outcome {
      case .ended(0, _, let error):
        if isWarning { tell(.warned(error.split(separator: "\n").map(String.init))) }
        tell(event(nil))
      case .ended(let status, _, let error):
        tell(
          event(error.split(separator: "\n").first.map(String.init) ?? "it ended with \(status)"))
      case .timedOut: tell(event("it came to no end"))
      case .failed(let reason): tell(event(reason))
      }
    }
  }

  /// Looks in the history for alarms whose files are not valid or gone, in a thread of its own.
  private func readHistory() {
    let (store, known, tell) = (present, alarmQueue.identifiers, tell)
    BackgroundThread.start {
      let ahead = store.armedByBranch()
      let records =
        ahead + store.armedByHistory(besides: known.union(ahead.map(\.alarm.id)))
      if !records.isEmpty { tell(.historyRead(records)) }
    }
  }

  /// Says once that something fails, and once that it does no more.
  private mutating func report(_ what: String, _ failure: String?) {
    if let failure {
      if failing.insert(what).inserted { dependencies.log(.failed(what, reason: failure)) }
    } else if failing.remove(what) != nil {
      dependencies.log(.recovered(what))
    }
  }
}
