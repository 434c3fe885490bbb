import BelfryCore
import BelfryStore
import Git

/// What a daemon knows of every alarm: its record as it was last good, and when it needs a look. It outlives the
/// store: what was to ring rings, whatever becomes of the disk.
struct AlarmQueue {
  /// How soon others are to hear of what happens here.
  enum SyncUrgency: Int, Comparable {
    case quiet
    /// Alarms have cascade steps: a rehearsal, or another list, is not to wait for long.
    case guarding
    case waiting, ringing
    /// Cascades are about to ring, or do: they are to know at once.
    case cascading

    static func < (a: SyncUrgency, b: SyncUrgency) -> Bool { a.rawValue < b.rawValue }
  }

  private struct Entry {
    /// The record as it was read: decoded, ten thousand of them would take several times the memory.
    var bytes: [UInt8]
    var signature: FileSignature?
    /// When it needs a look; nil when never.
    var wake: Instant?
    var urgency = SyncUrgency.quiet
    /// Neither deleted nor switched off.
    var isArmed = false
    /// Others ring for it when the first device stays silent.
    var hasCascade = false
    /// Only some devices ring for it, so that the others are to know whether these are alive.
    var namesDevices = false
    /// A partner has set it, and is to hear what becomes of it.
    var isFromPartner = false
    /// When it rings here next; nil when it does not.
    var comes: Timeline.Occurrence?
  }

  private var entries: [Identifier: Entry] = [:]
  private(set) var settings = Settings()

  /// The alarms that may ring.
  var count: Int { entries.values.count { $0.isArmed } }
  var identifiers: Set<Identifier> { Set(entries.keys) }

  /// When the first of all needs a look; nil when none does. As of the last look, like `urgency`: it is asked after
  /// every event, of which two hundred alarms that ring together make a thousand.
  private(set) var nextWake: Instant?
  private(set) var urgency = SyncUrgency.quiet
  /// Whether any alarm has a cascade, and whether any is a partner's.
  private(set) var hasCascade = false
  private(set) var hasPartners = false
  /// True if this device has to send heartbeats.
  private(set) var needsHeartbeats = false

  /// The alarms that need a look at a moment.
  func due(at now: Instant) -> [Identifier] {
    guard let nextWake, nextWake <= now else { return [] }
    return entries.compactMap { id, entry in
      entry.wake.map { $0 <= now } == true ? id : nil
    }.sorted()
  }

  func alarm(_ id: Identifier, now: Instant) -> Alarm? {
    entries[id].flatMap { try? AlarmRecord.decode($0.bytes, id: id, now: now) }
  }

  // MARK: Reading the store

  /// Takes the settings over, if they can be read.
  mutating func readSettings(_ store: Store) {
    if let (settings, problem) = try? store.settings(), problem == nil { self.settings = settings }
  }

  /// Reads records anew. One that is gone or not valid stays as it was: only a deletion deletes.
  ///
  /// - Parameter ids: those that may have changed; nil for those whose files have.
  /// - Returns: the alarms that are other than they were.
  mutating func read(_ ids: Set<Identifier>?, _ store: Store) -> [Identifier] {
    let ids =
      ids?.sorted()
      ?? store.armedIdentifiers().filter { id in
        entries[id].map { $0.signature != store.armedSignature(id) } ?? true
      }
    return ids.filter { id in
      guard let record = store.armed(id) else { return false }
      return take(record)
    }
  }

  /// Takes a record over, to be looked at next; returns whether it is another than before.
  @discardableResult mutating func take(_ record: ArmedRecord) -> Bool {
    let id = record.alarm.id
    guard entries[id]?.bytes != record.bytes else {
      entries[id]?.signature = record.signature
      return false
    }
    entries[id] = Entry(bytes: record.bytes, signature: record.signature)
    return true
  }

  // MARK: Looking at the clock

  /// What came of looking at alarms.
  struct Look {
    var pendingDeliveries: [PendingDelivery] = []
    /// Who is to be called, or sent word.
    var callouts: [Callout] = []
    /// The clock has settled something that is to be recorded.
    var isSettling = false
  }

  /// Looks at alarms, finds what is to be told, and reckons when each needs the next look.
  mutating func look(at ids: [Identifier], _ store: Store, ledger: DeliveryLedger) -> Look {
    let now = store.context.now
    var look = Look()
    for id in ids {
      guard let alarm = alarm(id, now: now) else { continue }
      entries[id]?.isArmed = alarm.enabled && !alarm.isDeleted
      let timeline = store.timeline(alarm)
      let evaluation = timeline.evaluate(at: now, settings: settings, ledger: ledger)
      look.pendingDeliveries += evaluation.pendingDeliveries(
        of: alarm, settings: settings, in: store)
      if evaluation.needsCommit { look.isSettling = true }
      // What is due now has been looked at.
      look.callouts += evaluation.callouts.map { Callout(alarm: id, $0) }
      entries[id]?.wake = evaluation.nextWake.map { $0 > now ? $0 : now.adding(seconds: 1) }
      let status = timeline.status(at: now, settings: settings, ledger: ledger)
      entries[id]?.comes = timeline.ringsHere ? status.comes : nil
      entries[id]?.urgency =
        switch status.state {
        // In quiet hours nobody waits for news.
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
      if entries[id]?.hasCascade == true { watchCascade(id, timeline, status, at: now) }
    }
    sum()
    look.pendingDeliveries.sort { ($0.due, $0.alarm.title) < ($1.due, $1.alarm.title) }
    return look
  }

  /// From this long before a later step may ring everybody is asked every few seconds, in seconds.
  static let window: Int64 = 60
  /// For so long after the last step has had its time, too.
  private static let aftermath: Int64 = 300

  /// Finds whether an alarm with a cascade is in the time in which news must come fast, or when that begins.
  private mutating func watchCascade(
    _ id: Identifier, _ timeline: Timeline, _ status: AlarmStatus, at now: Instant
  ) {
    if entries[id]?.urgency == .quiet { entries[id]?.urgency = .guarding }
    var moments = [status.next?.at, status.snooze?.until].compactMap { $0 }
    if status.state == .ringing, let current = status.current {
      let end = timeline.cascadeRun(of: current)?.exhausted?.adding(seconds: AlarmQueue.aftermath)
      if let end, now < end {
        entries[id]?.urgency = .cascading
        wake(id, at: end)
      }
    }
    moments = moments.map { $0.adding(seconds: -AlarmQueue.window) }
    if moments.contains(where: { $0 <= now }) { entries[id]?.urgency = .cascading }
    if let opening = moments.filter({ $0 > now }).min() { wake(id, at: opening) }
  }

  private mutating func wake(_ id: Identifier, at moment: Instant) {
    let known = entries[id]?.wake ?? moment
    entries[id]?.wake = min(known, moment)
  }

  private mutating func sum() {
    nextWake = nil
    urgency = .quiet
    hasCascade = false
    hasPartners = false
    needsHeartbeats = false
    for entry in entries.values {
      if let wake = entry.wake { nextWake = nextWake.map { min($0, wake) } ?? wake }
      urgency = max(urgency, entry.urgency)
      if entry.hasCascade { hasCascade = true }
      if entry.hasCascade || entry.namesDevices { needsHeartbeats = true }
      if entry.isFromPartner { hasPartners = true }
    }
  }

  /// What rings here between two moments.
  func near(after now: Instant, until moment: Instant) -> [BatteryAlerting.Near] {
    entries.compactMap { id, entry in
      guard let comes = entry.comes, comes.at > now, comes.at <= moment else { return nil }
      return BatteryAlerting.Near(alarm: id, occurrence: comes.civil, at: comes.at)
    }
  }

  /// Whether a notice that was delivered still says how things stand.
  func isWanted(_ notification: Notification, _ store: Store, ledger: DeliveryLedger) -> Bool {
    guard let alarm = alarm(notification.alarm, now: store.context.now) else { return true }
    return store.timeline(alarm).wants(
      notification, at: store.context.now, settings: settings, ledger: ledger)
  }
}
