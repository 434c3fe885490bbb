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
  }

  /// What rang, with what each hook said when none of them worked.
  public var fired: [(notice: FiringNotice, outcome: HookDelivery.Outcome)] = []
  public var missed: [Item] = []
  public var autoCompleted: [Item] = []
  /// When the next tick is due; nil when never.
  public var nextWake: Instant?
  public var problems: [RecordProblem] = []
  /// Why what happened could not be recorded, when it could not; everything fired all the same.
  public var failures: [any Error] = []
}

/// One evaluation of the store against the clock.
///
/// ```
/// evaluate every alarm that may have changed → commit what was missed or completed by itself
///   → run the hooks → note on this device that it rang → commit that it fired
/// ```
///
/// Ringing comes before noting: what a crash interrupts rings again.
public struct Tick: Sendable {
  private let store: Store
  private let delivery: HookDelivery

  public init(_ store: Store, delivery: HookDelivery) {
    self.store = store
    self.delivery = delivery
  }

  /// How many hooks run at once.
  private static let width = 8

  private struct Firing: Sendable {
    let alarm: Alarm
    let firing: Evaluation.Firing
    let notice: FiringNotice
  }

  public func run() async throws -> TickReport {
    var (report, failure) = try await store.ticking {
      var report = TickReport()
      let firings = try evaluate(&report)
      if firings.isEmpty { return report }
      let outcomes = await deliver(firings)
      report.fired = zip(firings, outcomes).map { ($0.notice, $1) }
      do {
        try record(firings)
      } catch {
        report.failures.append(error)
      }
      return report
    }
    if let failure { report.failures.insert(failure, at: 0) }
    return report
  }

  /// Finds what is to ring, and commits what the clock has settled.
  private func evaluate(_ report: inout TickReport) throws -> [Firing] {
    let now = store.context.now
    let settings = try store.settings()
    let rung = store.firings()
    var firings: [Firing] = []
    var wakes: [Instant] = []
    var missed: [TickReport.Item] = []
    var completed: [TickReport.Item] = []
    let evaluated = try store.evaluate { alarms in
      (firings, wakes, missed, completed) = ([], [], [], [])
      var transitions: [Transition] = []
      for alarm in alarms {
        let timeline = store.timeline(alarm)
        let evaluation = timeline.evaluate(at: now, settings: settings.settings, firings: rung)
        if let wake = evaluation.nextWake { wakes.append(wake) }
        if let firing = evaluation.firing {
          firings.append(Firing(alarm: alarm, firing: firing, notice: notice(alarm, firing)))
        }
        if evaluation.transition.events.isEmpty { continue }
        transitions.append(evaluation.transition)
        for event in evaluation.transition.events {
          guard let occurrence = event.occurrence else { continue }
          let item = TickReport.Item(
            alarm: alarm.id, title: alarm.title, occurrence: occurrence,
            due: timeline.zone.instant(of: occurrence))
          if event.action == .missed { missed.append(item) } else { completed.append(item) }
        }
      }
      return change(transitions)
    }
    firings.sort { ($0.firing.due, $0.alarm.title) < ($1.firing.due, $1.alarm.title) }
    report.missed = missed.sorted { $0.due < $1.due }
    report.autoCompleted = completed.sorted { $0.due < $1.due }
    report.nextWake = (wakes + [evaluated.nextChange].compactMap { $0 }).min()
    report.problems = evaluated.problems + [settings.problem].compactMap { $0 }
    if let failure = evaluated.failure { report.failures.append(failure) }
    return firings
  }

  private func notice(_ alarm: Alarm, _ firing: Evaluation.Firing) -> FiringNotice {
    FiringNotice(
      alarm: alarm.id, title: alarm.title, note: alarm.note, occurrence: firing.occurrence,
      due: store.context.zones.text(firing.due), late: firing.late)
  }

  /// One commit for all that the clock has settled.
  private func change(_ transitions: [Transition]) -> Store.Change? {
    guard let first = transitions.first else { return nil }
    if transitions.count == 1, first.events.count == 1 { return store.change(first) }
    let entries = store.entries(
      transitions.flatMap { transition in transition.events.map { ($0, transition.alarm) } })
    let missed = entries.count { $0.action == .missed }
    let parts = [(missed, "missed"), (entries.count - missed, "completed by themselves")]
      .filter { $0.0 > 0 }.map { "\($0.0) \($0.1)" }
    return Store.Change(
      alarms: transitions.map(\.alarm), entries: entries,
      message: CommitMessage("Settled: \(parts.joined(separator: ", "))", device: store.device))
  }

  /// Runs the hooks side by side, and returns what came of each in order.
  private func deliver(_ firings: [Firing]) async -> [HookDelivery.Outcome] {
    await withTaskGroup(of: (Int, HookDelivery.Outcome).self) { group in
      var outcomes = [HookDelivery.Outcome](repeating: .undelivered([]), count: firings.count)
      for (index, firing) in firings.enumerated() {
        if index >= Tick.width, let (done, outcome) = await group.next() {
          outcomes[done] = outcome
        }
        group.addTask { (index, await delivery.notify(firing.notice)) }
      }
      for await (index, outcome) in group { outcomes[index] = outcome }
      return outcomes
    }
  }

  /// Notes that this device rang, for itself first: a store that cannot be written to must not ring again
  /// at every tick.
  private func record(_ firings: [Firing]) throws {
    var rung = store.firings()
    for firing in firings {
      rung.record(
        firing.alarm.id, firing.firing.occurrence, due: firing.firing.due, at: store.context.now)
    }
    try store.record(rung)
    let entries = store.entries(
      firings.map { (Event(.fired, $0.firing.occurrence), $0.alarm) })
    let message =
      firings.count == 1
      ? CommitMessage(
        Event(.fired, firings[0].firing.occurrence), of: firings[0].alarm, device: store.device)
      : CommitMessage("Fired: \(firings.count) alarms", device: store.device)
    try store.commit(Store.Change(alarms: [], entries: entries, message: message))
  }
}
