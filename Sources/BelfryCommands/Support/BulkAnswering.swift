import BelfryCore
import BelfryInput
import BelfryStore

/// One answer to several alarms, in one commit.
struct BulkAnswering {
  let store: Store
  let output: AlarmOutput
  let settings: Settings
  private let ids: [Identifier]
  /// The answered occurrences; nil for the current one of each alarm.
  private let occurrences: [Identifier: CivilDateTime]?
  private let action: DoneAction
  /// The time of the answer; nil for now.
  private let time: Instant?

  /// Creates the answering of the current occurrences of selected alarms. It fails as a whole if it is not possible for
  /// one of them.
  init(_ selection: AlarmSelection, in store: Store, _ context: CommandContext) throws {
    self.init(
      selection.summaries.map(\.id), nil, in: store, try context.settings(store), context)
  }

  /// Creates the answering of certain occurrences. Those for which it is not possible are left out.
  init(
    _ occurrences: [OccurrenceID], in store: Store, _ settings: Settings,
    _ context: CommandContext
  ) {
    let byAlarm = Dictionary(
      occurrences.map { ($0.alarm, $0.occurrence) }, uniquingKeysWith: { $1 })
    self.init(Array(byAlarm.keys), byAlarm, in: store, settings, context)
  }

  private init(
    _ ids: [Identifier], _ occurrences: [Identifier: CivilDateTime]?, in store: Store,
    _ settings: Settings, _ context: CommandContext
  ) {
    self.store = store
    self.ids = ids
    self.occurrences = occurrences
    self.settings = settings
    output = AlarmOutput(store: store, style: context.style)
    action = DoneAction(context)
    time = context.answerTime
  }

  /// Returns the results that an answer would have, without recording them.
  func preview(_ answer: Answer) throws -> [Transition] {
    let ledger = store.ledger.read()
    return try ids.compactMap { try store.alarm($0) }.compactMap {
      try transition(answer, $0, ledger)
    }
  }

  /// Records an answer to all alarms in one commit.
  func give(_ answer: Answer) throws -> [Transition] {
    let ledger = store.ledger.read()
    return try store.update(ids.sorted()) { alarms in
      let transitions = try alarms.compactMap { try transition(answer, $0, ledger) }
        .filter { !$0.events.isEmpty }
      guard let last = transitions.last?.events.last else { return (nil, []) }
      let events = transitions.flatMap { transition in
        transition.events.map { (event: $0, alarm: transition.alarm) }
      }
      let message =
        transitions.count == 1
        ? CommitMessage(last, of: transitions[0].alarm, device: store.device)
        : CommitMessage(
          "\(last.action.label): \(transitions.count) alarms",
          trailers: [("Action", last.action.rawValue)], device: store.device)
      return (
        Store.Change(
          alarms: transitions.map(\.alarm),
          entries: store.entries(
            events, at: time.map { Array(repeating: $0, count: events.count) }),
          message: message),
        transitions
      )
    }
  }

  /// Records an answer to all alarms, and prints the results.
  func giveAndShow(_ answer: Answer, json: Bool) throws {
    let transitions = try give(answer)
    defer { runActions(transitions) }
    if json {
      return try Console.write(
        transitions.compactMap { transition -> ActionDocument? in
          guard let event = transition.events.last else { return nil }
          return output.document(transition.alarm, try store.status(transition.alarm), event: event)
        })
    }
    for transition in transitions {
      let status = try store.status(transition.alarm)
      for line in AnswerText(output).messages(transition, status) {
        // The message about a skip does not name the alarm.
        let isSkip = transition.events.last?.action == .skipped
        Console.line(isSkip ? "\(Printable.text(transition.alarm.title)): \(line)" : line)
      }
    }
  }

  /// Runs the actions of the occurrences that an answer has marked as done.
  func runActions(_ transitions: [Transition]) {
    for transition in transitions { action.run(transition.alarm, transition.events) }
  }

  /// Returns the result of an answer; nil if the alarm is left out.
  private func transition(
    _ answer: Answer, _ alarm: Alarm, _ ledger: DeliveryLedger
  ) throws -> Transition? {
    do throws(LifecycleError) {
      return try store.timeline(alarm).answer(
        answer, to: occurrences?[alarm.id], at: time ?? store.context.now, settings: settings,
        ledger: ledger)
    } catch {
      if occurrences != nil { return nil }
      throw Refusal(answer, alarm, output).error(error)
    }
  }
}
