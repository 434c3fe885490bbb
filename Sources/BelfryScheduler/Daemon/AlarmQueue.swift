import BelfryCore
import BelfryStore
import Files

/// The daemon's copy of every alarm: its last valid record and the time of its next evaluation.
///
/// The copy is in memory, so that alarms ring even if the store's disk fails.
struct AlarmQueue {
  /// The urgency with which local changes are synced.
  enum SyncUrgency: Int, Comparable {
    /// No alarm needs the attention of other devices.
    case quiet
    /// An alarm has a cascade. Rehearsals and changes of the cascade are synced within minutes.
    case guarding
    /// An occurrence is pending.
    case waiting
    /// An alarm rings or is snoozed.
    case ringing
    /// A cascade step is due soon or rings. The other devices need answers immediately.
    case cascading

    static func < (a: SyncUrgency, b: SyncUrgency) -> Bool { a.rawValue < b.rawValue }
  }

  private struct Entry {
    /// The content of the record's file. The daemon decodes the whole record, as `tick` does, so that both evaluate the
    /// same alarm. Decoded alarms would take several times the memory.
    var bytes: [UInt8]
    /// The signature of the record's file; nil without a file.
    var signature: FileSignature?
    var urgency = SyncUrgency.quiet
    /// The state at the last evaluation; nil before the first one.
    var state: AlarmStatus.State?
    /// The state that `attention` counts; nil before the first evaluation of this record.
    var countedState: AlarmStatus.State?
    /// True if the alarm is neither deleted nor disabled.
    var isArmed = false
    /// True if the alarm is armed and has an active cascade.
    var hasCascade = false
    /// True if the alarm is armed and rings on selected devices only. The other devices then need their heartbeats.
    var namesDevices = false
    /// True if a partner has set the alarm. The partner gets receipts.
    var isFromPartner = false
    /// The next occurrence that rings on this device; nil without one.
    var next: Timeline.Occurrence?
  }

  /// The number of alarms with each property that concerns the whole store. They are counted as alarms change: a firing
  /// must not wait until thousands of entries are copied.
  private struct Totals {
    /// By the raw value of the urgency. Alarms without urgency are not counted.
    var urgencies = [Int](repeating: 0, count: SyncUrgency.cascading.rawValue + 1)
    var heartbeats = 0
    var partners = 0
    var attention = AttentionCounts()

    /// Counts an entry, or with -1, counts it no longer.
    mutating func add(_ entry: Entry?, _ count: Int = 1) {
      guard let entry else { return }
      if entry.urgency != .quiet { urgencies[entry.urgency.rawValue] += count }
      if entry.hasCascade || entry.namesDevices { heartbeats += count }
      if entry.isFromPartner { partners += count }
      if let state = entry.countedState { attention.add(state, count) }
    }

    var urgency: SyncUrgency {
      urgencies.lastIndex { $0 > 0 }.flatMap { SyncUrgency(rawValue: $0) } ?? .quiet
    }
  }

  private var entries: [Identifier: Entry] = [:]
  /// The time of the next evaluation of each alarm that has one. It is apart from the entries, so that a search copies
  /// nothing else.
  private var wakes: [Identifier: Instant] = [:]
  private var totals = Totals()
  /// The answers that the store does not have yet, in order.
  private var given: [Identifier: [GivenAnswer]] = [:]
  /// The alarms after these answers, with the records that they were given to.
  private var answered: [Identifier: (bytes: [UInt8], alarm: Alarm)] = [:]
  private(set) var settings = Settings()
  /// The working days and holidays at the last check.
  private var calendar = WorkCalendar.standard
  /// The state of the devices' records at the last check; nil before the first one.
  private var devices: FileSignature?

  /// The number of armed alarms.
  var count: Int { entries.values.count { $0.isArmed } }
  /// The identifiers of all known alarms.
  var identifiers: Set<Identifier> { Set(entries.keys) }

  /// The time of the next evaluation of any alarm; nil for never.
  ///
  /// It is computed by `evaluate`, because the daemon reads it after every event.
  private(set) var nextWake: Instant?
  /// The highest urgency of any alarm.
  var urgency: SyncUrgency { totals.urgency }
  /// The numbers of alarms that need an answer.
  var attention: AttentionCounts { totals.attention }
  /// True if any alarm was set by a partner.
  var hasPartners: Bool { totals.partners > 0 }
  /// True if the store does not have an answer that was carried out in memory.
  var hasUnrecordedAnswers: Bool { !given.isEmpty }
  /// Returns true if one of some alarms has an active cascade.
  func hasCascade(_ ids: Set<Identifier>) -> Bool {
    ids.contains { entries[$0]?.hasCascade == true }
  }
  /// True if another device publishes tasks of the same collection for a phone. They elect one of them by heartbeats.
  private var sharesPhoneCollection = false
  /// True if this device has to send heartbeats.
  var needsHeartbeats: Bool { totals.heartbeats > 0 || sharesPhoneCollection }

  /// Returns the alarms that have to be evaluated at a moment.
  func due(at now: Instant) -> [Identifier] {
    guard let nextWake, nextWake <= now else { return [] }
    return wakes.filter { $0.value <= now }.keys.sorted()
  }

  /// Returns the last valid record of an alarm; nil if it is unknown.
  func alarm(_ id: Identifier, now: Instant) -> Alarm? {
    entries[id].flatMap { try? AlarmRecord.decode($0.bytes, id: id, now: now) }
  }

  /// Returns an alarm with the answers that the store does not have yet; nil if it is unknown.
  private func alarm(_ id: Identifier, in store: Store, ledger: DeliveryLedger) -> Alarm? {
    guard let recorded = alarm(id, now: store.context.now), let given = given[id] else {
      return alarm(id, now: store.context.now)
    }
    if let answered = answered[id], answered.bytes == entries[id]?.bytes { return answered.alarm }
    // The record has changed since, such as by an edit.
    return given.reduce(recorded) {
      $1.applied(to: $0, in: store, settings, ledger: ledger)
    }
  }

  // MARK: Reading the store

  /// Reads the settings. Invalid or unreadable settings are ignored.
  ///
  /// - Returns: The alarms to evaluate, because the settings have changed.
  mutating func readSettings(_ store: Store) -> Set<Identifier> {
    guard let (settings, problem) = try? store.settings(), problem == nil,
      settings != self.settings
    else { return [] }
    self.settings = settings
    return identifiers
  }

  /// Returns the alarms whose evaluation may differ because the record of a device has changed since the last check, such
  /// as its owner.
  mutating func readDevices(_ store: Store) -> Set<Identifier> {
    let signature = store.devices.signature
    if signature == devices { return [] }
    devices = signature
    sharesPhoneCollection = store.devices.sharesPhoneCollection
    return identifiers
  }

  /// Returns the alarms whose occurrences may differ because the working days or holidays have changed since the last
  /// check.
  mutating func readCalendars(_ store: Store) -> Set<Identifier> {
    let calendar = store.calendars.workCalendar
    if calendar == self.calendar { return [] }
    self.calendar = calendar
    return identifiers
  }

  /// Reads changed records. A missing or invalid record does not replace the known one: only a tombstone deletes an
  /// alarm.
  ///
  /// - Parameter ids: the alarms that may have changed; nil for those whose files have a new signature.
  /// - Returns: The alarms that have changed.
  mutating func read(_ ids: Set<Identifier>?, _ store: Store) -> [Identifier] {
    let ids =
      ids?.sorted()
      ?? store.armedAlarms.identifiers().filter { id in
        entries[id].map { $0.signature != store.armedAlarms.signature(of: id) } ?? true
      }
    return ids.filter { id in
      guard let record = store.armedAlarms.record(of: id) else { return false }
      return update(record)
    }
  }

  /// Replaces a record. A changed record has to be evaluated next.
  ///
  /// - Returns: True if the record has changed.
  @discardableResult mutating func update(_ record: ArmedRecord) -> Bool {
    let id = record.alarm.id
    guard entries[id]?.bytes != record.bytes else {
      entries[id]?.signature = record.signature
      return false
    }
    totals.add(entries[id], -1)
    wakes[id] = nil
    entries[id] = Entry(
      bytes: record.bytes, signature: record.signature, state: entries[id]?.state)
    return true
  }

  // MARK: Evaluating

  /// The result of evaluating alarms.
  struct EvaluationResult {
    /// The deliveries that are due, in order.
    var pendingDeliveries: [PendingDelivery] = []
    /// The calls and messages that are due and that this device may make.
    var callouts: [Callout] = []
    /// True if there are outcomes to commit, such as a missed occurrence.
    var needsCommit = false
    /// True if an occurrence was answered, here or on another device.
    var hasResponse = false
  }

  /// Evaluates alarms at the store's current time, and schedules the next evaluation of each.
  mutating func evaluate(
    _ ids: [Identifier], in store: Store, ledger: DeliveryLedger
  ) -> EvaluationResult {
    let now = store.context.now
    let planner = DeliveryPlanner(store: store, settings: settings)
    var result = EvaluationResult()
    for id in ids {
      guard let alarm = alarm(id, in: store, ledger: ledger) else { continue }
      totals.add(entries[id], -1)
      defer { totals.add(entries[id]) }
      entries[id]?.isArmed = alarm.enabled && !alarm.isDeleted
      let timeline = store.timeline(alarm)
      let evaluation = timeline.evaluate(at: now, settings: settings, ledger: ledger)
      result.pendingDeliveries += planner.pendingDeliveries(
        evaluation, of: alarm, ledger: ledger)
      if evaluation.needsCommit { result.needsCommit = true }
      result.callouts += store.ownCallouts(evaluation.callouts, of: alarm)
      // A time that has passed would wake the daemon in a busy loop.
      wakes[id] = evaluation.nextWake.map { $0 > now ? $0 : now.adding(seconds: 1) }
      let status = timeline.status(at: now, settings: settings, ledger: ledger)
      if let before = entries[id]?.state, AlarmQueue.isResponse(before, status.state) {
        result.hasResponse = true
      }
      entries[id]?.state = status.state
      entries[id]?.countedState = status.state
      entries[id]?.next = timeline.ringsHere ? status.nextRinging : nil
      entries[id]?.urgency =
        switch status.state {
        // In quiet hours, other devices do not wait for an answer.
        case .snoozed where status.snooze?.count == 0: .quiet
        case .ringing, .snoozed: .ringing
        case .pending: .waiting
        case .active, .missed, .paused, .disabled, .finished: .quiet
        }
      entries[id]?.hasCascade =
        alarm.cascade?.plan.isActive == true && alarm.enabled && !alarm.isDeleted
      entries[id]?.namesDevices =
        !alarm.delivery.devices.isEmpty && alarm.enabled && !alarm.isDeleted
      entries[id]?.isFromPartner = alarm.partner != nil
      if entries[id]?.hasCascade == true {
        updateCascadeUrgency(id, timeline, status, at: now, ledger)
      }
    }
    nextWake = wakes.values.min()
    result.pendingDeliveries.sort {
      ($0.due, $0.notification.title) < ($1.due, $1.notification.title)
    }
    return result
  }

  /// Returns true if a change of an alarm's state shows that somebody has answered an occurrence.
  private static func isResponse(_ before: AlarmStatus.State, _ after: AlarmStatus.State) -> Bool {
    switch before {
    case .ringing: after != .ringing && after != .missed
    case .snoozed: after != .snoozed && after != .ringing
    case .pending: after != .pending && after != .ringing
    case .active, .missed, .paused, .disabled, .finished: false
    }
  }

  /// The time before an occurrence or the end of a snooze from which a cascade is urgent, in seconds.
  static let cascadeLead: Int64 = 60
  /// The time after the last cascade step during which a cascade is urgent, in seconds.
  private static let cascadeTail: Int64 = 300

  /// Sets the urgency of an alarm with a cascade, and schedules the next change of it.
  private mutating func updateCascadeUrgency(
    _ id: Identifier, _ timeline: Timeline, _ status: AlarmStatus, at now: Instant,
    _ ledger: DeliveryLedger
  ) {
    if entries[id]?.urgency == .quiet { entries[id]?.urgency = .guarding }
    var moments = [status.next?.at, status.snooze?.until].compactMap { $0 }
    if status.state == .ringing, let current = status.current {
      let end = timeline.cascadeRun(of: current, ledger: ledger)?.exhausted?
        .adding(seconds: AlarmQueue.cascadeTail)
      if let end, now < end {
        entries[id]?.urgency = .cascading
        scheduleWake(id, at: end)
      }
    }
    moments = moments.map { $0.adding(seconds: -AlarmQueue.cascadeLead) }
    if moments.contains(where: { $0 <= now }) { entries[id]?.urgency = .cascading }
    if let start = moments.filter({ $0 > now }).min() { scheduleWake(id, at: start) }
  }

  private mutating func scheduleWake(_ id: Identifier, at moment: Instant) {
    wakes[id] = min(wakes[id] ?? moment, moment)
  }

  /// Returns the occurrences that ring on this device between two moments.
  func upcoming(
    after now: Instant, until moment: Instant
  ) -> [BatteryAlerting.UpcomingOccurrence] {
    entries.compactMap { id, entry in
      guard let next = entry.next, next.at > now, next.at <= moment else { return nil }
      return BatteryAlerting.UpcomingOccurrence(
        id: OccurrenceID(alarm: id, occurrence: next.civil), at: next.at)
    }
  }

  /// Returns true while a delivered notification still reflects the alarm's state.
  func wants(_ id: DeliveryID, in store: Store, ledger: DeliveryLedger) -> Bool {
    DeliveryPlanner(store: store, settings: settings).wants(
      id, of: id.key.alarm.flatMap { alarm($0, in: store, ledger: ledger) }, ledger: ledger)
  }

  // MARK: Answers

  /// Returns the reason why an answer to deliveries is refused; nil if it is possible for one of them.
  func refusal(
    of answer: DeliveredAnswer, to deliveries: [PendingDelivery], in store: Store,
    ledger: DeliveryLedger
  ) -> AnswerRefusal? {
    DeliveryPlanner(store: store, settings: settings).refusal(
      of: answer, to: deliveries, ledger: ledger
    ) { alarm($0, in: store, ledger: ledger) }
  }

  /// Carries out an answer in memory, until `answerRecorded` says that the store has it. So a snoozed alarm rings again
  /// even if the store cannot be written.
  ///
  /// - Returns: The alarms that have changed.
  mutating func carryOut(
    _ answer: GivenAnswer, in store: Store, ledger: DeliveryLedger
  ) -> Set<Identifier> {
    let ids = Set(answer.occurrences.map(\.alarm))
    for id in ids {
      guard let bytes = entries[id]?.bytes, let before = alarm(id, in: store, ledger: ledger)
      else { continue }
      given[id, default: []].append(answer)
      answered[id] = (
        bytes, answer.applied(to: before, in: store, settings, ledger: ledger)
      )
    }
    return ids
  }

  /// Drops an answer that the store has, or whose recording was given up.
  mutating func answerRecorded(_ answer: GivenAnswer) {
    for id in Set(answer.occurrences.map(\.alarm)) {
      given[id]?.removeAll { $0.number == answer.number }
      if given[id]?.isEmpty == true { given[id] = nil }
      answered[id] = nil
    }
  }
}
