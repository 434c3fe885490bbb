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

  /// What rang and what was asked, with what each hook said when none of them worked.
  public var delivered: [(notice: Notice, outcome: DeliveryOutcome)] = []
  /// What people answered at once, through the delivery.
  public var answered: [(alarm: Alarm, event: Event)] = []
  public var missed: [Item] = []
  public var autoCompleted: [Item] = []
  /// When the next tick is due; nil when never.
  public var nextWake: Instant? { (wakes.values + [otherWake].compactMap { $0 }).min() }
  /// When each alarm that was looked at needs the next look, if it ever does.
  var wakes: [Identifier: Instant] = [:]
  /// When the first of the others does.
  var otherWake: Instant?
  public var problems: [RecordProblem] = []
  /// Why what happened could not be recorded, when it could not; everything was delivered all the same.
  public var failures: [any Error] = []
}

/// One evaluation of the store against the clock.
///
/// ```
/// evaluate every alarm that may have changed → commit what was missed or completed by itself
///   → run the hooks → note on this device that it rang → commit that it fired, and what was answered
/// ```
///
/// Ringing comes before noting: what a crash interrupts rings again.
public struct Tick: Sendable {
  private let store: Store
  private let delivery: any NoticeDelivery

  public init(_ store: Store, delivery: any NoticeDelivery) {
    self.store = store
    self.delivery = delivery
  }

  /// How many hooks run at once.
  private static let width = 8

  /// A notice that is to be delivered, and the moment that it is for.
  private struct Delivery: Sendable {
    let alarm: Alarm
    let due: Instant
    let notice: Notice
  }

  public func run() async throws -> TickReport {
    var (report, failure) = try await store.ticking {
      var report = TickReport()
      let settings = try store.settings()
      report.problems = [settings.problem].compactMap { $0 }
      // Nobody else writes these while we tick.
      var rung = store.firings()
      let deliveries = try evaluate(settings.settings, rung, &report)
      if deliveries.isEmpty { return report }
      let outcomes = await deliver(deliveries, settings.settings, rung)
      let delivered = zip(deliveries, outcomes).compactMap { delivery, outcome in
        outcome.map { (delivery: delivery, outcome: $0) }
      }
      report.delivered = delivered.map { ($0.delivery.notice, $0.outcome) }
      do {
        try record(delivered, &rung)
        try answer(delivered, settings.settings, rung, &report)
        try lookAhead(delivered, settings.settings, rung, &report)
      } catch {
        report.failures.append(error)
      }
      return report
    }
    if let failure { report.failures.insert(failure, at: 0) }
    return report
  }

  // MARK: Evaluating

  /// Finds what is to be delivered, and commits what the clock has settled.
  private func evaluate(
    _ settings: Settings, _ rung: Firings, _ report: inout TickReport
  ) throws -> [Delivery] {
    var deliveries: [Delivery] = []
    var wakes: [Identifier: Instant] = [:]
    var missed: [TickReport.Item] = []
    var completed: [TickReport.Item] = []
    let evaluated = try store.evaluate { alarms in
      (deliveries, wakes, missed, completed) = ([], [:], [], [])
      var transitions: [Transition] = []
      for alarm in alarms {
        let timeline = store.timeline(alarm)
        let evaluation = timeline.evaluate(
          at: store.context.now, settings: settings, firings: rung)
        wakes[alarm.id] = evaluation.nextWake
        deliveries += self.deliveries(evaluation, of: alarm)
        if evaluation.transition.events.isEmpty { continue }
        transitions.append(evaluation.transition)
        for event in evaluation.transition.events {
          guard let occurrence = event.occurrence else { continue }
          let item = TickReport.Item(
            alarm: alarm.id, title: alarm.title, occurrence: occurrence,
            due: timeline.zone.instant(of: occurrence))
          if event.action == .missed { missed.append(item) }
          if event.action == .done { completed.append(item) }
        }
      }
      return change(transitions)
    }
    report.missed = missed.sorted { $0.due < $1.due }
    report.autoCompleted = completed.sorted { $0.due < $1.due }
    report.wakes = wakes
    report.otherWake = evaluated.nextChange
    report.problems = evaluated.problems + report.problems
    if let failure = evaluated.failure { report.failures.append(failure) }
    return deliveries.sorted { ($0.due, $0.alarm.title) < ($1.due, $1.alarm.title) }
  }

  /// What an evaluation wants delivered.
  private func deliveries(_ evaluation: Evaluation, of alarm: Alarm) -> [Delivery] {
    func delivery(_ kind: Notice.Kind, _ civil: CivilDateTime, due: Instant) -> Delivery {
      Delivery(
        alarm: alarm, due: due,
        notice: Notice(
          kind, alarm: alarm.id, title: alarm.title, note: alarm.note, occurrence: civil,
          due: store.context.zones.text(due)))
    }
    return evaluation.firings.map { delivery(.firing(late: $0.late), $0.occurrence, due: $0.due) }
      + evaluation.followUps.map { delivery(.followUp($0), $0.occurrence, due: $0.due) }
  }

  /// One commit for all that the clock has settled.
  private func change(_ transitions: [Transition]) -> Store.Change? {
    guard let first = transitions.first else { return nil }
    if transitions.count == 1, first.events.count == 1 { return store.change(first) }
    let entries = store.entries(
      transitions.flatMap { transition in transition.events.map { ($0, transition.alarm) } })
    let parts = [(LogEntry.Action.missed, "missed"), (.done, "completed by themselves")]
      .map { action, words in (entries.count { $0.action == action }, words) }
      .filter { $0.0 > 0 }.map { "\($0.0) \($0.1)" }
    return Store.Change(
      alarms: transitions.map(\.alarm), entries: entries,
      message: CommitMessage(
        "Settled: \(parts.isEmpty ? "follow-ups" : parts.joined(separator: ", "))",
        device: store.device))
  }

  // MARK: Delivering

  /// Runs the hooks side by side, and returns what came of each in order; nil for what nobody had to be
  /// told any more.
  private func deliver(
    _ deliveries: [Delivery], _ settings: Settings, _ rung: Firings
  ) async -> [DeliveryOutcome?] {
    await withTaskGroup(of: (Int, DeliveryOutcome?).self) { group in
      var outcomes = [DeliveryOutcome?](repeating: nil, count: deliveries.count)
      for (index, item) in deliveries.enumerated() {
        if index >= Tick.width, let (done, outcome) = await group.next() {
          outcomes[done] = outcome
        }
        group.addTask {
          guard isWanted(item, settings, rung) else { return (index, nil) }
          return (index, await delivery.deliver(item.notice, snooze: settings.snooze))
        }
      }
      for await (index, outcome) in group { outcomes[index] = outcome }
      return outcomes
    }
  }

  /// Whether a notice is still to be delivered: somebody may have answered since the evaluation.
  private func isWanted(_ delivery: Delivery, _ settings: Settings, _ rung: Firings) -> Bool {
    // What cannot be read now is delivered: rather a false alarm than a missed one. A work tree of the
    // past says nothing.
    guard store.past == nil, let alarm = try? store.alarm(delivery.alarm.id) else { return true }
    let evaluation = store.timeline(alarm).evaluate(
      at: store.context.now, settings: settings, firings: rung)
    return deliveries(evaluation, of: alarm).contains {
      $0.notice.occurrence == delivery.notice.occurrence && $0.due == delivery.due
    }
  }

  // MARK: Recording

  private typealias Delivered = (delivery: Delivery, outcome: DeliveryOutcome)

  /// Notes that this device rang or asked, for itself first: a store that cannot be written to must not
  /// ring again at every tick.
  private func record(_ delivered: [Delivered], _ rung: inout Firings) throws {
    for (item, _) in delivered {
      rung.record(item.alarm.id, item.notice.occurrence, due: item.due, at: store.context.now)
    }
    try store.record(rung)
    var firings: [(Event, Alarm)] = []
    for (item, outcome) in delivered {
      switch (item.notice.kind, outcome) {
      case (.firing, _): firings.append((Event(.fired, item.notice.occurrence), item.alarm))
      case (.followUp(let followUp), .delivered): try remember(followUp, of: item.alarm)
      // Nobody saw it here; another device may reach them yet.
      case (.followUp, .undelivered): break
      }
    }
    guard let first = firings.first else { return }
    let message =
      firings.count == 1
      ? CommitMessage(first.0, of: first.1, device: store.device)
      : CommitMessage("Fired: \(firings.count) alarms", device: store.device)
    try store.commit(
      Store.Change(alarms: [], entries: store.entries(firings), message: message))
  }

  private func remember(_ followUp: FollowUp, of alarm: Alarm) throws {
    try store.update(alarm.id) { alarm in
      (store.timeline(alarm).reminded(followUp).flatMap(store.change), ())
    }
  }

  /// Looks again when the alarms that were delivered need the next look: an answer has changed that.
  private func lookAhead(
    _ delivered: [Delivered], _ settings: Settings, _ rung: Firings, _ report: inout TickReport
  ) throws {
    for id in Set(delivered.map(\.delivery.alarm.id)) {
      guard let alarm = try store.alarm(id) else { continue }
      report.wakes[id] =
        store.timeline(alarm).evaluate(
          at: store.context.now, settings: settings, firings: rung
        ).nextWake
    }
  }

  /// Carries out what people answered through the hooks.
  private func answer(
    _ delivered: [Delivered], _ settings: Settings, _ rung: Firings, _ report: inout TickReport
  ) throws {
    for (item, outcome) in delivered {
      guard case .delivered(.answer(let answer)?) = outcome else { continue }
      let occurrence = item.notice.occurrence
      let transition = try store.update(item.alarm.id) { alarm in
        // Somebody else's answer was faster.
        let transition = try? store.timeline(alarm).answer(
          answer, to: occurrence, at: store.context.now, settings: settings, firings: rung)
        return (transition.flatMap(store.change), transition)
      }
      guard let transition, let event = transition.events.last else { continue }
      report.answered.append((transition.alarm, event))
    }
  }
}
