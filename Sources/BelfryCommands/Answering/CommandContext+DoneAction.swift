import BelfryActions
import BelfryCore
import BelfryScheduler
import BelfryTerminal

extension CommandContext {
  private var doneAction: DoneAction {
    DoneAction(actions, zones: storeContext.zones, at: storeContext.now)
  }

  /// Runs the actions of the occurrences that an answer has marked as done, and waits for their ends. A failure is a
  /// warning.
  func runDoneActions(after changes: [AlarmChange]) {
    if changes.allSatisfy({ $0.alarm.delivery.runDone == nil }) { return }
    let action = doneAction
    for failure in Blocking.run({ await action.run(after: changes) }) { warn(about: failure) }
  }

  /// Runs the action of an occurrence that an event has marked as done.
  func runDoneAction(after event: Event, of alarm: Alarm) async {
    if let failure = await doneAction.run(after: event, of: alarm) { warn(about: failure) }
  }

  private func warn(about failure: DoneAction.Failure) {
    let (name, title) = (Printable.text(failure.name.text), Printable.text(failure.alarm.title))
    CommandDiagnostic.warn(
      "the action \(name) of \(title) failed: \(ActionText.text(failure.reason)).",
      hints: ["The occurrence is done."])
  }
}
