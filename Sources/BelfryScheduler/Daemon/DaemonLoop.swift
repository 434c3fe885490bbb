import BelfryCore
import BelfryStore
import Git

/// The daemon's event loop. It handles one event after the other and never waits for git or for a hook.
///
/// ```
///  clock, files, pokes, signals ─▶ AlarmQueue.evaluate ─▶ DeliveryDriver (engine, channels, ledger)
///                                        │                      │ evaluate, commit, sync
///                                  CallCoordinator        SettlementSchedule, SyncPacer ─▶ ChildCommands
/// ```
struct DaemonLoop {
  /// The store. It changes when another one takes its place.
  private(set) var store: Store
  private let dependencies: Daemon.Dependencies
  private let tasks: BackgroundTasks
  private let commands: ChildCommands

  private var context: StoreContext
  private var alarms = AlarmQueue()
  private var changedFiles = ChangedAlarmFiles()
  private var deliveries: DeliveryDriver
  private var calls = CallCoordinator()
  private var battery: BatteryMonitor
  private var sound = SoundMonitor()
  private var syncs: SyncPacer
  private var watches: RemoteWatches
  private var calendars: CalendarFollowing
  private var settlement = SettlementSchedule()
  private var phone = PhoneSchedule()
  private var branch = BranchWatch()
  private var presence: StorePresence
  private var reopening: [DaemonLogEvent] = []
  private var rounds: RoundSchedule
  private var failures: FailureLog

  /// The delay between a change of a file and the command that imports it, in milliseconds. Editors write several times.
  private static let editDelay: Int64 = 500
  /// The time in seconds within which a package manager has replaced all files of the time zones.
  private static let installationTime: Int64 = 60

  /// Creates the event loop.
  ///
  /// - Parameters:
  ///   - willAccessLedger: is called before each access to the disk, by the thread that may block.
  ///   - send: receives the events for `handle`, on any thread.
  init(
    store: Store, dependencies: Daemon.Dependencies, activeDeliveries: ActiveDeliveries,
    willAccessLedger: @escaping @Sendable () -> Void = {},
    send: @escaping @Sendable (DaemonEvent) -> Void
  ) {
    self.store = store
    self.dependencies = dependencies
    tasks = BackgroundTasks(send: send)
    commands = ChildCommands(
      command: dependencies.command, store: store.path, variables: dependencies.variables)
    context = dependencies.context(false)
    let channels = dependencies.hooks(activeDeliveries)
    deliveries = DeliveryDriver(
      channels: channels,
      ledger: SharedLedger(owner: channels.leaseOwner, willAccess: willAccessLedger) {
        send(.diskRecovered)
      },
      recorder: AnswerRecorder(
        command: dependencies.command, store: store.path, variables: dependencies.variables,
        warn: { [log = dependencies.log] in log(.warned($0)) }),
      tasks: tasks, log: dependencies.log)
    battery = BatteryMonitor(dependencies.gauge, at: context.now)
    syncs = SyncPacer(isEnabled: dependencies.syncs)
    let watchedRemotes = LatestValueWriter(WatchedRemotesFile(store.with(context)).write)
    watches = RemoteWatches(
      connections: context.sshConnections, publish: watchedRemotes.submit
    ) { send(.remoteReported($0, $1)) }
    calendars = CalendarFollowing { send(.calendarChanged) }
    rounds = RoundSchedule(context)
    presence = StorePresence(store)
    failures = FailureLog(dependencies.log)
  }

  // MARK: State

  /// The store with the current time.
  private var present: Store { store.with(context) }

  private var environment: DeliveryDriver.Environment {
    DeliveryDriver.Environment(store: present, snooze: alarms.settings.snooze)
  }

  private var situation: SyncPacer.Situation {
    SyncPacer.Situation(
      store: store, alarms: alarms, remotes: watches.remotes.map(\.name),
      isAway: presence.isAway, now: context.now)
  }

  /// The number of background tasks whose results were not handled yet.
  var taskCount: Int { tasks.count }

  /// True if every change of the store's files causes an event. Otherwise the daemon wakes up for rounds.
  var seesAllChanges = false

  /// True if the replacement of the store's folder causes an event. Otherwise the daemon wakes up for checks.
  var seesReplacement = true

  /// The time of the next wake-up, at the latest; nil for never.
  var nextWake: Instant? {
    var wakes = [
      alarms.nextWake, changedFiles.nextWake, deliveries.nextWake, calls.nextWake,
      battery.nextWake, branch.nextWake, syncs.nextWake(situation),
      rounds.nextWake(seesAllChanges: seesAllChanges),
    ].compactMap { $0 }
    if let interval = presence.interval(isReported: seesReplacement) {
      wakes.append(context.now.adding(seconds: interval))
    }
    if !presence.isAway {
      wakes += [settlement.nextWake, phone.nextWake, calendars.nextWake].compactMap { $0 }
    }
    return wakes.min()
  }

  /// The files with the rules of the time zones in use.
  var zoneFiles: Set<String> { context.zones.files }

  /// The numbers of alarms that need an answer.
  var attention: AttentionCounts { alarms.attention }

  /// The time of the next evaluation of an alarm; nil if never.
  var nextRing: Instant? { alarms.nextWake }

  /// Returns events for the log once after the store was opened again, because its folder has come back or was replaced.
  /// The daemon then has to lock and to watch it.
  mutating func takeReopening() -> [DaemonLogEvent] {
    defer { reopening = [] }
    return reopening
  }

  // MARK: Events

  /// Reads the store, and delivers what came due before the start.
  mutating func begin() {
    deliveries.channels.registry?.terminateOrphansInBackground()
    reloadAlarms()
    readRemotesIfChanged()
    sound.check(dependencies, tasks)
    deliveries.releaseMemorySoon(at: context.now)
    dependencies.log(.started(alarms: alarms.count, next: alarms.nextWake))
  }

  /// Handles an event, and everything else that is due.
  mutating func handle(_ event: DaemonEvent) {
    updateContext()
    checkPresence()
    let wasCascading = alarms.urgency == .cascading
    switch event {
    case .wake(let wake): handle(wake)
    case .diskRecovered: deliveries.diskRecovered(at: context.now)
    case .deliveryChanged(let change): handle(change)
    case .historyRead(let records): handle(records)
    case .remotesRead(let remotes):
      // A remote that is new or corrected does not wait for the next interval.
      if watches.update(remotes, of: store) { syncs.reset() }
    case .remoteReported(let remote, let report): handle(report, of: remote)
    case .phoneFolderChanged: phone.requestForPhone(at: context.now)
    case .calendarChanged: calendars.recordChange(at: context.now)
    case .completed(let result):
      tasks.complete()
      handle(result)
    }
    perform(deliveries.flushIfDue(environment, &failures))
    battery.sampleIfDue(at: context.now, tasks)
    if branch.check(store, at: context.now) {
      readHistory()
      settlement.request(at: context.now)
    }
    evaluate(
      Set(alarms.due(at: context.now) + calls.overdueAlarms(at: context.now))
        .union(deliveries.engine.overdueAlarms(at: context.now))
        .union(changedFiles.take(at: context.now).map { alarms.read($0, present) } ?? []))
    // After the alarms that are due, which it must not delay.
    if rounds.due <= context.now { startRound() }
    readRemotesIfChanged()
    if wasCascading, alarms.urgency < .cascading, !alarms.hasUnrecordedAnswers {
      syncs.recordAnswer(at: context.now)
    }
    startCommands()
    deliveries.releaseMemoryIfDue(at: context.now)
  }

  private mutating func handle(_ wake: WakeSource.Wake) {
    if wake.canChangeTasks { phone.request(at: context.now) }
    switch wake {
    case .clockChanged:
      dependencies.log(.clockChanged)
      settlement.reset(to: context.now)
      phone.reset(to: context.now)
      battery.reset(to: context.now)
      calendars.reset(to: context.now)
      syncs.reset()
      // The connections may be dead without a sign of it.
      watches.restart(of: store)
      // Times that another clock has determined are no longer valid.
      startRound(evaluatesAll: true)
    case .alarms(let ids):
      deliveries.flushSoon(at: context.now)
      changedFiles.insert(ids, at: context.now)
      settle(after: DaemonLoop.editDelay)
    case .settings:
      deliveries.flushSoon(at: context.now)
      if !presence.isAway { evaluate(alarms.readSettings(present)) }
      settle(after: DaemonLoop.editDelay)
    case .devices:
      if !presence.isAway { evaluate(alarms.readDevices(present)) }
      settle(after: DaemonLoop.editDelay)
    case .calendars:
      evaluate(alarms.readCalendars(present))
      settle(after: DaemonLoop.editDelay)
    case .everything, .poke:
      deliveries.flushSoon(at: context.now)
      evaluate(readChanges())
      syncs.recordBranch(situation)
    case .zoneData: rounds.request(at: context.now.adding(seconds: DaemonLoop.installationTime))
    case .zone:
      updateContext(rereadingZones: true)
      evaluate(alarms.identifiers)
      // The other devices learn the zone from this device's record.
      settlement.request(at: context.now)
    case .reload:
      updateContext(rereadingZones: true)
      reloadAlarms()
      syncs.reset()
      dependencies.log(.reloaded(alarms: alarms.count))
    // After every event, the loop checks what is due and whether the branch has moved. The daemon handles the stop.
    case .time, .branch, .stop: break
    }
  }

  private mutating func handle(_ change: ActiveDeliveries.Change) {
    switch change {
    case .answerGiven(let group, let answer, let decision): decide(decision, answer, group)
    case .answered(let group, let answer): process(.answered(group.deliveries, answer))
    case .channelFailed(let group, let reasons):
      dependencies.log(.channelFailed(group, reasons))
    case .ended(let group):
      for id in group.ids { process(.ended(id)) }
    case .actionEnded(let pending, let action, let failure):
      dependencies.log(.actionEnded(pending.notification, action, failure))
    }
  }

  /// Takes alarms that were read from the history. A file that was written meanwhile is read by itself.
  private mutating func handle(_ records: [ArmedRecord]) {
    let current = records.filter { record in
      record.signature.map { $0 == present.armedAlarms.signature(of: record.alarm.id) }
        ?? (present.armedAlarms.record(of: record.alarm.id) == nil)
    }
    evaluate(Set(current.filter { alarms.update($0) }.map(\.alarm.id)))
  }

  private mutating func handle(_ result: DaemonEvent.TaskResult) {
    switch result {
    case .delivered(let group, let outcome):
      if outcome != .withdrawn {
        dependencies.log(.delivered(group, outcome))
        if group.first.notification.rings { sound.check(dependencies, tasks) }
      }
      if case .battery = group.first.key { battery.finish(outcome, store, &failures) }
      for id in group.ids { process(.finished(id, outcome)) }
    case .recordingDue: process(.recordingDue)
    case .answerRecorded(let answer, let result):
      let ids = Set(answer.deliveries.compactMap(\.key.alarm))
      alarms.answerRecorded(answer)
      _ = alarms.read(ids, present)
      process(
        .answerRecorded(Set(answer.deliveries.map(\.id)), isAccepted: !result.isRefused))
      evaluate(ids)
      // The other devices ring until they have the answer, which was not committed before.
      if case .recorded = result {
        syncs.recordResponse(at: context.now)
        if alarms.hasCascade(ids) { syncs.recordAnswer(at: context.now) }
      }
    case .settled(let result):
      failures.report(.settlement, result)
      settlement.finish(failed: result.failure != nil, at: context.now)
      syncs.recordBranch(situation)
    case .synced(let result):
      failures.report(.sync, result.failure)
      syncs.finishRemotes(succeeded: result.failure == nil, situation)
      evaluate(deliveries.engine.heldAlarms)
    case .mailboxesSynced(let result):
      failures.report(.partnerSync, result)
      syncs.finishMailboxes(succeeded: result.failure == nil, at: context.now)
      syncs.recordBranch(situation)
    case .phoneSynced(let result):
      failures.report(.phoneSync, result)
      phone.finish(failed: result.failure != nil, at: context.now)
    case .calendarsRefreshed(let result):
      failures.report(.calendars, result)
      calendars.finish(store, at: context.now)
      syncs.recordBranch(situation)
    case .callFinished(let callout, let result):
      failures.report(.call(callout.alarm), result.failure)
      calls.finish(callout, failed: result.failure != nil, at: context.now)
      evaluate([callout.alarm])
    case .soundChecked(let state): sound.take(state, presence.isAway ? nil : store, dependencies)
    case .batterySampled(let sample):
      if let warning = battery.take(sample, present, alarms, &failures) {
        deliveries.deliver(handed: DeliveryGroup(warning), environment)
      }
    }
  }

  // MARK: Remotes

  /// Reads the remotes in the background if git's configuration has changed.
  private mutating func readRemotesIfChanged() {
    guard dependencies.syncs, !presence.isAway, watches.checkConfiguration(of: store) else {
      return
    }
    let (store, tasks) = (store, tasks)
    BackgroundThread.start {
      if let remotes = try? store.sync.remotes() { tasks.report(.remotesRead(remotes)) }
    }
  }

  private mutating func handle(_ report: RemoteWatch.Report, of remote: Remote) {
    switch watches.record(report, of: remote) {
    case .started:
      dependencies.log(.remoteWatched(name: remote.name))
      syncs.recordConnection()
    case .ended: dependencies.log(.remoteWatchLost(name: remote.name))
    case nil: break
    }
    if case .head(let commit) = report {
      syncs.recordNews(commit, of: remote.name, in: store)
    }
  }

  /// Ends the watches of the remotes and of the calendars that are followed.
  mutating func stopWatching() {
    watches.stop()
    calendars.stop()
  }

  // MARK: The store

  private mutating func updateContext(rereadingZones: Bool = false) {
    context = dependencies.context(rereadingZones)
  }

  /// Reads every record that has changed. Returns the alarms to evaluate.
  private mutating func readChanges() -> Set<Identifier> {
    changedFiles.removeAll()
    var changed = alarms.readCalendars(present)
    if !presence.isAway {
      changed.formUnion(alarms.readSettings(present))
      changed.formUnion(alarms.readDevices(present))
    }
    return changed.union(alarms.read(nil, present))
  }

  /// Reads the settings and all alarms, and evaluates them.
  private mutating func reloadAlarms() {
    _ = readChanges()
    evaluate(alarms.identifiers)
    settlement.request(at: context.now)
    readHistory()
  }

  /// Detects that the store's folder is missing, back or replaced. While it is missing, alarms ring from memory, and no
  /// command starts.
  private mutating func checkPresence() {
    switch presence.update(store) {
    case nil: break
    case .left:
      dependencies.log(.storeUnavailable(path: store.path))
      deliveries.ledger.holdInMemory()
    case .arrived:
      // A reason to refuse it, such as another owner, counts as a missing store. A store always has a commit.
      guard let opened = try? Store.open(store.path, context: context, creates: false).store,
        opened.branch.head != nil
      else {
        if !presence.isAway {
          dependencies.log(.storeUnavailable(path: store.path))
          deliveries.ledger.holdInMemory()
        }
        return presence.recordFailure()
      }
      let wasAway = presence.isAway
      presence.recordOpening(of: opened)
      // Another clone or a copy has an identity of its own.
      let isOther = opened.device != store.device
      store = opened
      if isOther { forgetStore() }
      reloadAlarms()
      if isOther { withdrawUnknown() }
      process(.recordingDue)
      syncs.reset()
      reopening = wasAway || !isOther ? [.storeAvailable(path: store.path)] : []
      if isOther { reopening.append(.storeReplaced(path: store.path, alarms: alarms.count)) }
    }
  }

  /// Forgets everything about the store that was in the place of this one.
  private mutating func forgetStore() {
    deliveries.ledger.forget()
    (alarms, branch) = (AlarmQueue(), BranchWatch())
    phone.forget()
  }

  /// Ends the deliveries of alarms that this store does not have: no answer to them can be recorded.
  private mutating func withdrawUnknown() {
    let unknown = deliveries.channels.activeDeliveries.identities.filter { id in
      id.key.alarm.map { !alarms.identifiers.contains($0) } ?? false
    }
    deliveries.withdraw(Set(unknown))
  }

  /// Compares all files with the known alarms, and reads the time zones again.
  ///
  /// - Parameter evaluatesAll: true to evaluate all alarms, not only changed ones.
  private mutating func startRound(evaluatesAll: Bool = false) {
    updateContext(rereadingZones: true)
    sound.check(dependencies, tasks)
    branch.retry()
    let changed = readChanges()
    let hasNewZones = rounds.start(context)
    guard hasNewZones || evaluatesAll else { return evaluate(changed) }
    evaluate(alarms.identifiers)
    settlement.request(at: context.now)
  }

  /// Searches the history for alarms whose files are invalid or missing, in a thread of its own.
  private func readHistory() {
    let (store, known, tasks) = (present, alarms.identifiers, tasks)
    BackgroundThread.start {
      let ahead = store.armedAlarms.pendingRecords()
      let records =
        ahead + store.armedAlarms.lastValidRecords(besides: known.union(ahead.map(\.alarm.id)))
      if !records.isEmpty { tasks.report(.historyRead(records)) }
    }
  }

  // MARK: Alarms

  /// Evaluates alarms, and delivers, withdraws and calls as they need.
  private mutating func evaluate(_ ids: Set<Identifier>) {
    if ids.isEmpty { return }
    let ledger = deliveries.ledger.read(present)
    let result = alarms.evaluate(ids.sorted(), in: present, ledger: ledger)
    if result.needsCommit { settlement.request(at: context.now) }
    if result.hasResponse { syncs.recordResponse(at: context.now) }
    for callout in calls.update(result.callouts, of: ids, in: present) { start(callout) }
    let running = deliveries.running(of: ids)
    let unwanted = running.filter { !alarms.wants($0, in: present, ledger: ledger) }
    perform(
      deliveries.deliver(
        result.pendingDeliveries, of: ids, answerFreshness: syncs.answerFreshness(situation),
        environment, &failures))
    deliveries.withdraw(Set(unwanted))
  }

  private mutating func process(_ event: DeliveryEngine.Event) {
    perform(deliveries.handle(event, environment, &failures))
  }

  private mutating func perform(_ work: DeliveryDriver.Work) {
    if work.needsSync { syncs.requestNow() }
    if work.needsCommit { settlement.request(at: context.now) }
    for (deliveries, answer) in work.answers { respond(to: deliveries, answer) }
    evaluate(work.alarms)
  }

  /// Decides about an answer, with the alarms in memory.
  private func decide(
    _ decision: AnswerDecision, _ answer: DeliveredAnswer, _ group: DeliveryGroup
  ) {
    let refusal = alarms.refusal(
      of: answer, to: group.deliveries, in: present, ledger: deliveries.ledger.read(present))
    if let refusal {
      let notifications = group.deliveries.map(\.notification)
      dependencies.log(.answerRefused(notifications, answer, refusal))
    }
    decision.decide(isAccepted: refusal == nil)
  }

  /// Carries out an answer in memory, and records it.
  private mutating func respond(to pending: [PendingDelivery], _ answer: DeliveredAnswer) {
    // Records have whole seconds. In memory, a snooze has to end at the same time.
    let now = Instant(seconds: context.now.seconds)
    let given = deliveries.record(answer, to: pending, at: now)
    evaluate(alarms.carryOut(given, in: present, ledger: deliveries.ledger.read(present)))
  }

  // MARK: Commands

  private mutating func settle(after milliseconds: Int64) {
    settlement.request(at: Instant(milliseconds: context.now.milliseconds + milliseconds))
  }

  private mutating func startCommands() {
    let commands = commands
    if !presence.isAway, settlement.start(at: context.now) {
      tasks.start { .settled(await commands.run(.settle)) }
    }
    if !presence.isAway {
      let tasks = tasks
      phone.update(store, at: context.now) { tasks.report(.phoneFolderChanged) }
      if phone.start(at: context.now) {
        tasks.start { .phoneSynced(await commands.run(.syncPhone)) }
      }
    }
    if !presence.isAway, calendars.start(store, at: context.now) {
      tasks.start { .calendarsRefreshed(await commands.run(.refreshCalendars)) }
    }
    let runs = syncs.start(situation)
    if let run = runs.remotes { tasks.start { .synced(await commands.run(run)) } }
    if let run = runs.mailboxes { tasks.start { .mailboxesSynced(await commands.run(run)) } }
  }

  private func start(_ callout: Callout) {
    let commands = commands
    tasks.start {
      let result = await commands.run(.contact(callout), timeout: CallCoordinator.timeout)
      return .callFinished(callout, result)
    }
  }
}
