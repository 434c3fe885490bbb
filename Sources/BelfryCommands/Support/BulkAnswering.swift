import BelfryCore
import BelfryInput
import BelfryStore

/// One answer to several alarms, in one commit.
struct BulkAnswering {
  let store: Store
  let output: AlarmOutput
  let summaries: [AlarmSummary]
  let settings: Settings
  private let action: DoneAction

  init(_ selection: AlarmSelection, in store: Store, _ context: CommandContext) throws {
    self.store = store
    summaries = selection.summaries
    settings = try context.settings(store)
    output = AlarmOutput(store: store, style: context.style)
    action = DoneAction(context)
  }

  /// Returns the results that an answer would have, without recording them.
  func preview(_ answer: Answer) throws -> [Transition] {
    let ledger = store.ledger.read()
    return try summaries.compactMap { try store.alarm($0.id) }.map {
      try transition(answer, $0, ledger)
    }
  }

  /// Records an answer to all alarms, or to none if it is not possible for one of them.
  func give(_ answer: Answer) throws -> [Transition] {
    let ledger = store.ledger.read()
    return try store.update(summaries.map(\.id).sorted()) { alarms in
      let transitions = try alarms.map { try transition(answer, $0, ledger) }
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
          alarms: transitions.map(\.alarm), entries: store.entries(events), message: message),
        transitions
      )
    }
  }

  /// Records an answer to all alarms, and prints the results.
  func giveAndShow(_ answer: Answer, json: Bool) throws {
    let transitions = try give(answer)
    defer { for transition in transitions { action.run(transition.alarm, transition.events) } }
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

  private func transition(
    _ answer: Answer, _ alarm: Alarm, _ ledger: DeliveryLedger
  ) throws -> Transition {
    do throws(LifecycleError) {
      return try store.timeline(alarm).answer(
        answer, to: nil, at: store.context.now, settings: settings, ledger: ledger)
    } catch {
      throw Refusal(answer, alarm, output).error(error)
    }
  }
}
