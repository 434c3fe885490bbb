import BelfryCore
import BelfryExchange
import BelfryStore

/// A move of an occurrence that a document contains.
public struct ImportedMove: Hashable, Sendable {
  /// The alarm.
  public let alarm: Identifier
  /// The title of the alarm.
  public let title: String
  /// The zone of the civil times.
  public let zone: Alarm.Zone
  /// The occurrence, by its own time.
  public let occurrence: CivilDateTime
  /// The time at which the occurrence rings; its own time if it is moved back.
  public let time: CivilDateTime

  init(
    alarm: Identifier, title: String, zone: Alarm.Zone, _ occurrence: CivilDateTime,
    to time: CivilDateTime
  ) {
    self.alarm = alarm
    self.title = title
    self.zone = zone
    self.occurrence = occurrence
    self.time = time
  }
}

/// The moves of occurrences of alarms that an earlier import brought.
///
/// | here | in the document | result |
/// |---|---|---|
/// | not moved, or by an import | a later time than now | moved |
/// | not moved, or by an import | a time that has passed | skipped if it would still ring, and nobody has unskipped it |
/// | moved by an import, still ahead | not moved | moved back; skipped if its own time has passed |
/// | moved by an import, still ahead | an alarm of its own | not moved; the alarm comes back if it was deleted |
/// | moved or moved back by a person | another time | stays, with a warning |
/// | answered or long past, or another occurrence rings at the new time | a later time than now | an alarm of its own |
struct ImportMoves: AlarmAction {
  private let documents: [Identifier: ForeignAlarm]
  /// The alarms that also get the definition of the document.
  private let defined: Set<Identifier>

  var alarms: [Identifier] { documents.keys.sorted() }

  /// Creates the moves of alarms that are in the store.
  ///
  /// - Parameter defined: The alarms that also get the definition of the document.
  init(_ imported: [ForeignAlarm], defining defined: Set<Identifier>) {
    documents = Dictionary(
      imported.map { ($0.id, $0) }, uniquingKeysWith: { first, _ in first })
    self.defined = defined
  }

  /// True: an alarm can be deleted meanwhile.
  var isLenient: Bool { true }

  /// Returns the moves of some of the alarms.
  func only(_ alarms: Set<Identifier>) -> ImportMoves {
    ImportMoves(documents.values.filter { alarms.contains($0.id) }, defining: defined)
  }

  /// The moves of one alarm.
  struct Moved {
    let id: Identifier
    /// The change, without events if no occurrence is moved.
    var change: AlarmChange
    var moves: [ImportedMove] = []
    /// The skipped occurrences, with the times of the past to which the document moves them.
    var skipped: [ImportedMove] = []
    /// The moves of the document that a person has changed here.
    var edited: [ImportedMove] = []
    /// The alarms for the occurrences that cannot be moved.
    var alone: [ForeignAlarm] = []
    /// The alarms whose place a moved occurrence takes.
    var replaced: [Identifier] = []
    /// The alarms that take the place of a moved occurrence.
    var returned: [Identifier] = []
  }

  func plan(_ alarms: [Alarm], in store: Store) throws -> ActionPlan<[Moved]> {
    let settings = try store.settings().settings
    let (status, ledger) = (try store.statusReader(settings), store.ledger.read())
    let outcomes = try alarms.compactMap { alarm -> Moved? in
      guard let document = documents[alarm.id] else { return nil }
      return try outcome(of: alarm, document, in: store, settings, ledger, status)
    }
    return ActionPlan(store.change(outcomes.map(\.change)), outcomes)
  }

  private func outcome(
    of before: Alarm, _ document: ForeignAlarm, in store: Store, _ settings: Settings,
    _ ledger: DeliveryLedger, _ status: (Alarm) -> AlarmStatus
  ) throws -> Moved {
    let definition = try self.definition(of: before, document, in: store)
    var moving = MovingImport(definition?.alarm ?? before, document, in: store, settings, ledger)
    moving.run()
    var outcome = Moved(
      id: before.id,
      change: AlarmChange(before: before, alarm: before, events: [], status: status(before)))
    (outcome.moves, outcome.skipped, outcome.edited) = (moving.moves, moving.skipped, moving.edited)
    (outcome.alone, outcome.replaced) = (moving.alone, moving.replaced)
    outcome.returned = moving.returned
    if !moving.events.isEmpty {
      outcome.change = AlarmChange(
        before: before, alarm: moving.alarm, events: (definition?.events ?? []) + moving.events,
        status: status(moving.alarm))
    }
    return outcome
  }

  /// Returns the alarm with the definition of the document; nil if it keeps its own.
  private func definition(
    of before: Alarm, _ document: ForeignAlarm, in store: Store
  ) throws -> AlarmChange? {
    guard defined.contains(before.id) else { return nil }
    // A series can ring only at the times to which occurrences are moved.
    let edit = EditAlarms.defining([before.id], [before.id: document]) { alarm in
      for (civil, time) in document.moved {
        alarm.progress.moves[civil] = OccurrenceMove(to: time, stamp: nil)
      }
    }
    guard let change = try edit.plan([before], in: store).outcome.first else { return nil }
    var alarm = change.alarm
    // The document's moves replace those that the edit of the schedule has kept.
    alarm.progress.moves = before.progress.moves
    let events = change.events.filter { $0.action != .moved }
    return AlarmChange(before: before, alarm: alarm, events: events, status: change.status)
  }
}

/// The moves of one alarm, applied one after the other.
private struct MovingImport {
  private(set) var alarm: Alarm
  private let document: ForeignAlarm
  private let store: Store
  private let settings: Settings
  private let ledger: DeliveryLedger
  private(set) var events: [Event] = []
  private(set) var moves: [ImportedMove] = []
  private(set) var skipped: [ImportedMove] = []
  private(set) var edited: [ImportedMove] = []
  private(set) var alone: [ForeignAlarm] = []
  private(set) var replaced: [Identifier] = []
  private(set) var returned: [Identifier] = []

  init(
    _ alarm: Alarm, _ document: ForeignAlarm, in store: Store, _ settings: Settings,
    _ ledger: DeliveryLedger
  ) {
    self.alarm = alarm
    self.document = document
    self.store = store
    self.settings = settings
    self.ledger = ledger
  }

  private var now: Instant { store.context.now }
  private var timeline: Timeline { store.timeline(alarm) }

  mutating func run() {
    let imported = alarm.progress.moves.filter { $0.value.isImported && $0.value.time != nil }
    var waiting = Set(document.moved.keys).union(document.substitutes.keys).union(imported.keys)
      .sorted()
    // An occurrence can take the time from which another one is moved.
    var count = Int.max
    while waiting.count < count {
      count = waiting.count
      var taken: [CivilDateTime] = []
      for civil in waiting where !move(civil) { taken.append(civil) }
      waiting = taken
    }
    for civil in waiting { standAlone(civil) }
    let alone = Set(self.alone.map(\.id))
    replaced.removeAll { alone.contains($0) }
  }

  /// Moves an occurrence as the document says. Returns false if another one rings at the new time.
  private mutating func move(_ civil: CivilDateTime) -> Bool {
    let (known, wanted) = (alarm.progress.moves[civil], document.moved[civil])
    let move = self.move(of: civil, to: wanted ?? civil)
    let isAhead = timeline.zone.instant(of: move.time) > now
    if wanted == known?.time {
      if phase(of: civil) == .upcoming { replace(civil) }
      return true
    }
    if let known, !known.isImported {
      if isAhead, wanted != nil { edited.append(move) }
      return true
    }
    if let time = known?.time, timeline.zone.instant(of: time) > now,
      let single = document.separated[civil]
    {
      returned.append(single)
      moveSilently(move)
      return true
    }
    if !isAhead || wanted == nil, phase(of: civil) != .upcoming { return true }
    guard isAhead else {
      // An occurrence that a person has unskipped is not skipped again.
      if alarm.progress.occurrences[civil]?.isReopened != true { skip(move) }
      return true
    }
    do throws(MoveError) {
      let moved = try timeline.moving(
        civil, to: move.time, at: now, device: store.device, settings: settings, ledger: ledger)
      alarm = moved.alarm
      alarm.progress.moves[civil]?.isImported = true
      events += moved.events
    } catch {
      switch error {
      case .taken: return false
      case .notPossible, .paused:
        guard timeline.scheduled.contains(civil) else { return true }
        moveSilently(move)
      case .wrongPhase, .past, .unchanged:
        standAlone(civil)
        return true
      }
    }
    moves.append(move)
    replace(civil)
    return true
  }

  /// Moves an occurrence that does not ring now: of an alarm that is disabled or paused, or that leaves it out.
  private mutating func moveSilently(_ move: ImportedMove) {
    let civil = move.occurrence
    let earlier = alarm.progress.moves[civil]?.time ?? civil
    alarm.progress.moves[civil] = OccurrenceMove(
      to: move.time == civil ? nil : move.time,
      stamp: Stamp.next(after: alarm.latestStamp, now: now, device: store.device), isImported: true)
    let revision = alarm.progress.occurrences[civil]?.revision ?? 0
    events.append(
      Event(.moved, civil, payload: .move(from: earlier, to: move.time), revision: revision))
  }

  /// Skips an occurrence that the document moves to a time that has passed.
  private mutating func skip(_ move: ImportedMove) {
    do throws(LifecycleError) {
      let transition = try timeline.answer(
        .skip(), to: move.occurrence, at: now, settings: settings, ledger: ledger)
      alarm = transition.alarm
      events += transition.events
      skipped.append(move)
    } catch {
      // A disabled alarm does not ring.
    }
  }

  private mutating func standAlone(_ civil: CivilDateTime) {
    guard let single = document.substitutes[civil], !alone.contains(where: { $0.id == single.id })
    else { return }
    alone.append(single)
  }

  private mutating func replace(_ civil: CivilDateTime) {
    if let single = document.substitutes[civil] { replaced.append(single.id) }
  }

  private func move(of civil: CivilDateTime, to time: CivilDateTime) -> ImportedMove {
    ImportedMove(alarm: alarm.id, title: alarm.title, zone: alarm.zone, civil, to: time)
  }

  private func phase(of civil: CivilDateTime) -> Phase {
    let timeline = self.timeline
    let status = timeline.status(at: now, settings: settings, ledger: ledger)
    return timeline.phase(of: civil, at: now, status: status)
  }
}
