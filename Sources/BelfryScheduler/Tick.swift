import BelfryCore
import BelfryStore

/// What one evaluation of the store against the clock did.
public struct TickReport: Sendable {
  /// An occurrence of an alarm that came into a state.
  public struct Item: Hashable, Sendable {
    public let alarm: Identifier
    public let title: String
    public let occurrence: CivilDateTime
    /// When it was due.
    public let due: Instant
    /// More, in words: that the cascade was unanswered either.
    public let detail: String?
  }

  /// What rang, what was asked and what was said ahead, with what each hook said when none of them worked.
  public var delivered: [(notification: Notification, outcome: DeliveryOutcome)] = []
  /// What people answered at once, through the delivery.
  public var answered: [(alarm: Alarm, event: Event)] = []
  public var missed: [Item] = []
  public var autoCompleted: [Item] = []
  /// What came of telling what was missed; nil when nothing was.
  public var summary: DeliveryOutcome?
  /// When the next tick is due; nil when never.
  public var nextWake: Instant? { (wakes.values + [otherWake].compactMap { $0 }).min() }
  /// When each alarm that was looked at needs the next look, if it ever does.
  var wakes: [Identifier: Instant] = [:]
  /// When the first of the others does.
  var otherWake: Instant?
  /// Who is to be called, or sent word, by a command of its own.
  public var callouts: [Callout] = []
  public var problems: [RecordProblem] = []
  /// Why what happened could not be recorded, when it could not; everything was delivered all the same.
  public var failures: [any Error] = []
}

extension TickReport {
  /// Takes over what a look at the alarms has found.
  fileprivate mutating func take(_ look: Tick.Look, _ problem: RecordProblem?, _ store: Store) {
    missed = look.missed.sorted { $0.due < $1.due }
    autoCompleted = look.completed.sorted { $0.due < $1.due }
    wakes = look.wakes
    callouts = look.callouts.filter { store.callNote($0.key).map { !$0.isOver } ?? true }
    otherWake = look.evaluated?.nextChange
    problems = (look.evaluated?.problems ?? []) + [problem].compactMap { $0 }
    if let failure = look.evaluated?.failure { failures.insert(failure, at: 0) }
  }
}

/// One evaluation of the store against the clock.
///
/// ```
/// evaluate every alarm that may have changed → commit what was missed or completed by itself
///   → claim what is to be told, durably → run the hooks → note what came of it
///   → commit that it fired, and what was answered
/// ```
///
/// What a crash interrupts between the claim and the note is told again.
///
/// Several may run at the same time, beside a daemon: the claims see to it that each delivery is made once, and the
/// store's lock that each fact is recorded once. No lock is held while anything is delivered, so that an evaluation
/// that hangs silences no other.
public struct Tick: Sendable {
  let store: Store
  let delivery: any NotificationDelivery
  private let leases: DeliveryLeases
  private let width: Int
  private let patience: Duration

  /// - Parameters:
  ///   - width: how many notices are delivered at once: so many that one which hangs holds up no other.
  ///   - patience: how long a store that cannot be written to is waited for before something is delivered.
  public init(
    _ store: Store, delivery: any NotificationDelivery, leaseOwner: LeaseOwner = .thisProcess,
    width: Int = 256,
    patience: Duration = .seconds(1)
  ) {
    self.init(
      store, delivery: delivery, leaseOwner: leaseOwner, width: width, patience: patience,
      ledgerWriter: LedgerWriter())
  }

  init(
    _ store: Store, delivery: any NotificationDelivery, leaseOwner: LeaseOwner = .thisProcess,
    width: Int = 256,
    patience: Duration = .seconds(1), ledgerWriter: LedgerWriter
  ) {
    self.width = width
    self.patience = patience
    self.store = store
    self.delivery = delivery
    leases = DeliveryLeases(store: store, leaseOwner: leaseOwner, ledgerWriter: ledgerWriter)
  }

  /// The most time for one evaluation.
  private static let limit = Duration.seconds(120)

  /// - Parameter telling: whether anybody is told. Otherwise what the clock has settled and what others have told is
  ///   recorded, and nothing else: for a daemon that tells by itself.
  public func run(pendingDelivery: Bool = true) async throws -> TickReport {
    var report = TickReport()
    HookRegistry(folder: store.hookNotes, leaseOwner: leases.leaseOwner).terminateOrphans()
    let (settings, problem) = try store.settings()
    let ledger = leases.ledger
    let evaluation = BlockingWorker().start { Result { try evaluate(settings, ledger) } }
    var delivered: [Delivered] = []
    // A store that is locked, or whose disk hangs, holds back no alarm. Why it cannot be read either, the evaluation says.
    let patience = leases.ledgerWriter.isStuck ? .zero : patience
    if pendingDelivery, await evaluation.value(within: patience) == nil,
      let look = try? look(at: store.alarmsToEvaluate(), settings, ledger)
    {
      delivered = await tell(look.pendingDeliveries, settings, &report)
    }
    guard let look = try await evaluation.value(within: Tick.limit)?.get() else {
      report.failures.append(DiskTimeout(limit: Tick.limit))
      return report
    }
    report.take(look, problem, store)
    if pendingDelivery { delivered += await tell(look.pendingDeliveries, settings, &report) }
    do {
      if leases.ledgerWriter.isStuck { throw DiskTimeout(limit: LedgerWriter.timeout) }
      try log(settings)
      try answer(delivered, settings, &report)
      try lookAhead(delivered, settings, &report)
    } catch {
      report.failures.append(error)
    }
    await summarize(&report)
    if !leases.ledgerWriter.isStuck { store.noteTick() }
    return report
  }

  // MARK: Evaluating

  /// The result of evaluating the alarms once.
  struct Look: Sendable {
    var pendingDeliveries: [PendingDelivery] = []
    var callouts: [Callout] = []
    var wakes: [Identifier: Instant] = [:]
    var missed: [TickReport.Item] = []
    var completed: [TickReport.Item] = []
    var transitions: [Transition] = []
    var upkeep: [Evaluation.Upkeep] = []
    /// The store's answer to the evaluation; nil when it was not asked.
    var evaluated: Store.Evaluated?
  }

  /// Finds what is to be told, and commits what the clock has settled.
  private func evaluate(_ settings: Settings, _ ledger: DeliveryLedger) throws -> Look {
    var look = Look()
    let evaluated = try store.evaluate { alarms in
      look = self.look(at: alarms, settings, ledger)
      return change(look.transitions, look.upkeep)
    }
    look.evaluated = evaluated
    return look
  }

  private func look(at alarms: [Alarm], _ settings: Settings, _ ledger: DeliveryLedger) -> Look {
    var look = Look()
    for alarm in alarms {
      let timeline = store.timeline(alarm)
      let evaluation = timeline.evaluate(
        at: store.context.now, settings: settings, ledger: ledger)
      look.wakes[alarm.id] = evaluation.nextWake
      look.pendingDeliveries += evaluation.pendingDeliveries(
        of: alarm, settings: settings, in: store)
      look.callouts += evaluation.callouts.map { Callout(alarm: alarm.id, $0) }
      if !evaluation.needsCommit { continue }
      look.transitions.append(evaluation.transition)
      look.upkeep += evaluation.upkeep
      for event in evaluation.transition.events {
        guard let occurrence = event.occurrence else { continue }
        let item = TickReport.Item(
          alarm: alarm.id, title: alarm.title, occurrence: occurrence,
          due: timeline.zone.instant(of: occurrence), detail: MissedText.words(event.payload))
        if event.action == .missed { look.missed.append(item) }
        if event.action == .done { look.completed.append(item) }
      }
    }
    look.pendingDeliveries.sort { ($0.due, $0.alarm.title) < ($1.due, $1.alarm.title) }
    return look
  }

  /// One commit for all that the clock has settled.
  private func change(
    _ transitions: [Transition], _ upkeep: [Evaluation.Upkeep]
  ) -> Store.Change? {
    guard let first = transitions.first else { return nil }
    if transitions.allSatisfy(\.events.isEmpty) {
      return Store.Change(
        alarms: transitions.map(\.alarm), entries: [],
        message: CommitMessage(subject(of: upkeep, transitions.map(\.alarm)), device: store.device))
    }
    if transitions.count == 1, first.events.count == 1 { return store.change(first) }
    let entries = store.entries(
      transitions.flatMap { transition in transition.events.map { ($0, transition.alarm) } })
    let parts = [
      (LogEntry.Action.missed, "missed"), (.done, "completed by themselves"),
      (.exhausted, "unanswered by the whole cascade"),
      (.skipped, "skipped in a pause"),
    ]
    .map { action, words in (entries.count { $0.action == action }, words) }
    .filter { $0.0 > 0 }.map { "\($0.0) \($0.1)" }
    return Store.Change(
      alarms: transitions.map(\.alarm), entries: entries,
      message: CommitMessage(
        "Settled: \(parts.isEmpty ? "follow-ups" : parts.joined(separator: ", "))",
        device: store.device))
  }

  /// The subject of a commit in which nothing happened to an occurrence.
  private func subject(of upkeep: [Evaluation.Upkeep], _ alarms: [Alarm]) -> String {
    guard alarms.count == 1, let alarm = alarms.first else {
      return "Update: \(alarms.count) alarms"
    }
    let zone = upkeep.lazy.compactMap { item -> String? in
      if case .cascadeZone(let name) = item { name } else { nil }
    }.first
    if upkeep.contains(.rearmed) { return "Re-armed: \(alarm.title) (a clock was ahead)" }
    return "Time zone: \(alarm.title) (\(zone ?? alarm.zone.text))"
  }

  // MARK: Delivering

  private typealias Delivered = (pendingDelivery: PendingDelivery, outcome: DeliveryOutcome)

  /// DeliveryLeases, delivers, and notes what came of it; returns what was delivered or tried.
  private func tell(
    _ pendingDeliveries: [PendingDelivery], _ settings: Settings, _ report: inout TickReport
  ) async -> [Delivered] {
    let claimed = leases.claim(pendingDeliveries)
    let outcomes = await deliver(claimed.result, settings)
    let all = zip(claimed.result, outcomes).map { (pendingDelivery: $0, outcome: $1) }
    let noted = leases.settle(all)
    report.failures += [claimed.failure, noted.failure].compactMap { $0 }.prefix(1)
    let delivered = all.compactMap { item in
      item.outcome.map { (pendingDelivery: item.pendingDelivery, outcome: $0) }
    }
    report.delivered += delivered.map { ($0.pendingDelivery.notification, $0.outcome) }
    return delivered
  }

  /// Delivers side by side, and returns what came of each in order; nil for what nobody had to be told any more.
  private func deliver(_ pendingDeliveries: [PendingDelivery], _ settings: Settings) async
    -> [DeliveryOutcome?]
  {
    await withTaskGroup(of: (Int, DeliveryOutcome?).self) { group in
      var outcomes = [DeliveryOutcome?](repeating: nil, count: pendingDeliveries.count)
      for (index, item) in pendingDeliveries.enumerated() {
        if index >= width, let (done, outcome) = await group.next() {
          outcomes[done] = outcome
        }
        group.addTask {
          guard isWanted(item, settings) else { return (index, nil) }
          let outcome = await delivery.deliver(item.notification, snooze: settings.snooze)
          return (index, outcome == .withdrawn ? nil : outcome)
        }
      }
      for await (index, outcome) in group { outcomes[index] = outcome }
      return outcomes
    }
  }

  /// Whether somebody is still to be told: they may have answered since the evaluation.
  private func isWanted(_ pendingDelivery: PendingDelivery, _ settings: Settings) -> Bool {
    store.isWanted(pendingDelivery.notification, settings, leases.ledger)
  }

  /// Tells what was missed, in one summary; what nobody sees is in the list.
  private func summarize(_ report: inout TickReport) async {
    guard let first = report.missed.first else { return }
    let notification = Notification(
      .missed(
        report.missed.map {
          Notification.Missed(
            alarm: $0.alarm, title: $0.title, occurrence: $0.occurrence, detail: $0.detail)
        }), alarm: first.alarm, title: first.title, note: nil, occurrence: first.occurrence,
      due: store.context.zones.text(first.due))
    report.summary = await delivery.deliver(notification, snooze: 0)
  }

  // MARK: Recording

  /// Commits what this device has told, as far as the log does not have it yet: firings together, follow-ups one by
  /// one.
  private func log(_ settings: Settings) throws {
    func unlogged(_ ledger: DeliveryLedger) -> [(
      key: DeliveryLedger.Key, value: DeliveryLedger.Firing
    )] {
      ledger.ledger.filter { !$0.value.isLogged && $0.value.state != .claimed }
        .sorted { ($0.value.due, $0.key) < ($1.value.due, $1.key) }
    }
    let known = unlogged(store.ledger())
    if known.isEmpty { return }
    // An alarm counts its own follow-ups: the same one is remembered once.
    for (key, firing) in known {
      if case (.followUp(let number), .delivered) = (firing.kind, firing.state) {
        try remember(number, of: key, settings)
      }
    }
    try store.logDeliveries { ledger in
      var fired: [(Event, Alarm)] = []
      var moments: [Instant] = []
      var changes: [Store.Change] = []
      var logged: [DeliveryLedger.Key] = []
      for (key, firing) in unlogged(ledger) {
        switch (firing.kind, firing.state) {
        case (.ringing, _):
          if let alarm = try store.alarm(key.alarm) {
            fired.append((Event(.fired, key.occurrence), alarm))
            moments.append(moment(of: firing))
          }
        case (.followUp, .delivered):
          // One that was delivered since is for the next time.
          if !known.contains(where: { $0.key == key && $0.value == firing }) { continue }
        // Nobody saw it here; another device may reach them yet.
        case (.followUp, _): continue
        case (.warning, _): break
        case (.rehearsal, let standing):
          if let alarm = try store.alarm(key.alarm) {
            changes.append(rehearsed(alarm, isDelivered: standing == .delivered))
          }
        }
        logged.append(key)
      }
      if let first = fired.first {
        let message =
          fired.count == 1
          ? CommitMessage(first.0, of: first.1, device: store.device)
          : CommitMessage("Fired: \(fired.count) alarms", device: store.device)
        changes.append(
          Store.Change(
            alarms: [], entries: store.entries(fired, at: moments), message: message))
      }
      return (changes, logged)
    }
  }

  private func rehearsed(_ alarm: Alarm, isDelivered: Bool) -> Store.Change {
    let event = Event(.rehearsed, payload: .rehearsal(isDelivered: isDelivered))
    return Store.Change(
      alarms: [], entries: store.entries([event], of: alarm),
      message: CommitMessage(event, of: alarm, device: store.device))
  }

  /// The time of a delivery, for the log. The ledger is written shortly after the delivery, and an answer can come
  /// before that: in the log the firing comes first.
  private func moment(of firing: DeliveryLedger.Firing) -> Instant {
    min(store.context.now, max(firing.due, firing.at.adding(seconds: -1)))
  }

  private func remember(_ number: Int, of key: DeliveryLedger.Key, _ settings: Settings) throws {
    try store.update(key.alarm, includingDeleted: true) { alarm in
      let timeline = store.timeline(alarm)
      let followUp = timeline.followUp(number, of: key.occurrence, settings: settings)
      return (followUp.flatMap { timeline.reminded($0) }.flatMap(store.change), ())
    }
  }

  /// Looks again when the alarms that were told of need the next look: an answer has changed that.
  private func lookAhead(
    _ delivered: [Delivered], _ settings: Settings, _ report: inout TickReport
  ) throws {
    let ledger = leases.ledger
    for id in Set(delivered.map(\.pendingDelivery.alarm.id)) {
      guard let alarm = try store.alarm(id) else { continue }
      report.wakes[id] =
        store.timeline(alarm).evaluate(
          at: store.context.now, settings: settings, ledger: ledger
        ).nextWake
    }
  }

  /// Carries out what people answered through the hooks.
  private func answer(
    _ delivered: [Delivered], _ settings: Settings, _ report: inout TickReport
  ) throws {
    // In the log an answer comes after the firing, also when both are of one moment.
    let moment = Instant(milliseconds: store.context.now.milliseconds + 1)
    for (item, outcome) in delivered {
      guard case .delivered(.answer(let answer)?) = outcome else { continue }
      guard
        let (alarm, event) = try store.give(
          answer, to: item.notification, settings, loggedAt: moment)
      else { continue }
      report.answered.append((alarm, event))
    }
  }
}

extension Store {
  /// Carries out what a person has answered to a notice; nil when somebody else's answer was faster.
  ///
  /// - Parameter moment: the time of the log entry; nil for now.
  public func give(
    _ answer: Answer, to notification: Notification, _ settings: Settings,
    loggedAt moment: Instant? = nil
  ) throws -> (alarm: Alarm, event: Event)? {
    let ledger = ledger()
    let transition = try update(notification.alarm, includingDeleted: true) { alarm in
      let transition = try? timeline(alarm).answer(
        answer, to: notification.occurrence, at: context.now, settings: settings, ledger: ledger)
      return (transition.flatMap { change($0, at: moment) }, transition)
    }
    guard let transition, let event = transition.events.last else { return nil }
    return (transition.alarm, event)
  }
}
