import BelfryCore
import BelfryStore

/// The result of evaluating several alarms against the clock.
struct StoreEvaluation: Sendable {
  /// The deliveries that are due, in order.
  var pendingDeliveries: [PendingDelivery] = []
  /// The calls and messages that are due and that this device may make.
  var callouts: [Callout] = []
  /// The time of the next evaluation of each alarm that needs one.
  var wakes: [Identifier: Instant] = [:]
  /// The occurrences that were missed.
  var missed: [TickReport.Item] = []
  /// The pending occurrences that were completed.
  var completed: [TickReport.Item] = []
  /// The result of the store's transaction; nil without one.
  var stored: Store.Evaluated?

  private var transitions: [Transition] = []
  private var corrections: [Evaluation.Correction] = []

  /// Evaluates alarms.
  init(_ alarms: [Alarm], in store: Store, settings: Settings, ledger: DeliveryLedger) {
    let planner = DeliveryPlanner(store: store, settings: settings)
    for alarm in alarms {
      let timeline = store.timeline(alarm)
      let evaluation = timeline.evaluate(at: store.context.now, settings: settings, ledger: ledger)
      wakes[alarm.id] = evaluation.nextWake
      pendingDeliveries += planner.pendingDeliveries(evaluation, of: alarm, ledger: ledger)
      callouts += store.ownCallouts(evaluation.callouts, of: alarm)
      if evaluation.needsCommit { add(evaluation, timeline) }
    }
    pendingDeliveries.sort { ($0.due, $0.notification.title) < ($1.due, $1.notification.title) }
    missed.sort { $0.due < $1.due }
    completed.sort { $0.due < $1.due }
  }

  private mutating func add(_ evaluation: Evaluation, _ timeline: Timeline) {
    let transition = evaluation.transition
    transitions.append(transition)
    corrections += evaluation.corrections
    for event in transition.events {
      guard let occurrence = event.occurrence else { continue }
      let item = TickReport.Item(
        id: OccurrenceID(alarm: transition.alarm.id, occurrence: occurrence),
        title: transition.alarm.title, due: timeline.occurrence(occurrence).at,
        payload: event.payload, movedTo: timeline.occurrence(occurrence).movedTo)
      if event.action == .missed { missed.append(item) }
      if event.action == .done { completed.append(item) }
    }
  }

  /// Evaluates the alarms of a store that are due, and commits the outcomes that follow from the clock.
  static func commit(
    in store: Store, settings: Settings, ledger: DeliveryLedger
  ) throws -> StoreEvaluation {
    var result = StoreEvaluation([], in: store, settings: settings, ledger: ledger)
    let stored = try store.evaluate { alarms in
      result = StoreEvaluation(alarms, in: store, settings: settings, ledger: ledger)
      return result.change(in: store)
    }
    result.stored = stored
    return result
  }

  /// Returns one commit for all outcomes that follow from the clock; nil if there are none.
  private func change(in store: Store) -> Store.Change? {
    guard let first = transitions.first else { return nil }
    let alarms = transitions.map(\.alarm)
    if transitions.allSatisfy(\.events.isEmpty) {
      return Store.Change(
        alarms: alarms, entries: [],
        message: CommitMessage(upkeepSubject(alarms), device: store.device))
    }
    if transitions.count == 1, first.events.count == 1 { return store.change(first) }
    let entries = store.entries(
      transitions.flatMap { transition in transition.events.map { ($0, transition.alarm) } })
    let parts = [
      (LogEntry.Action.missed, "missed"), (.done, "completed by themselves"),
      (.exhausted, "unanswered by the whole cascade"),
      (.skipped, "skipped in a pause"),
    ]
    .map { action, name in (entries.count { $0.action == action }, name) }
    .filter { $0.0 > 0 }.map { "\($0.0) \($0.1)" }
    return Store.Change(
      alarms: alarms, entries: entries,
      message: CommitMessage(
        "Settled: \(parts.isEmpty ? "follow-ups" : parts.joined(separator: ", "))",
        device: store.device))
  }

  /// Returns the subject of a commit that changes no occurrence.
  private func upkeepSubject(_ alarms: [Alarm]) -> String {
    guard alarms.count == 1, let alarm = alarms.first else {
      return "Update: \(alarms.count) alarms"
    }
    let zone = corrections.lazy.compactMap { item -> String? in
      if case .cascadeZone(let name) = item { name } else { nil }
    }.first
    if corrections.contains(.answerAccepted) { return "Accepted the answer: \(alarm.title)" }
    if corrections.contains(.rearmed) { return "Re-armed: \(alarm.title) (a clock was ahead)" }
    return "Time zone: \(alarm.title) (\(zone ?? alarm.zone.text))"
  }
}
