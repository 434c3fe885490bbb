import BelfryActions
import BelfryCore
import BelfryScheduler
import BelfryStore
import BelfryTerminal

/// The action that an alarm runs on the device that marks an occurrence as done.
struct DoneAction {
  private let actions: ActionFolder?
  private let zones: ZoneLibrary
  private let now: Instant

  init(_ context: CommandContext) {
    actions = context.actions
    zones = context.storeContext.zones
    now = context.storeContext.now
  }

  /// Runs the action if a user has marked an occurrence as done, and waits for its end. A failure is a warning.
  private func run(_ alarm: Alarm, _ events: [Event]) {
    guard let event = DoneAction.completion(events), alarm.delivery.runDone != nil else { return }
    let action = self
    Blocking.run { await action.run(alarm, event) }
  }

  /// Runs the actions of the occurrences that an answer has marked as done.
  func run(_ changes: [AlarmChange]) {
    for change in changes { run(change.alarm, change.events) }
  }

  /// Runs the action of one event, if it is one that a user has marked as done.
  func run(_ alarm: Alarm, _ event: Event) async {
    guard DoneAction.completion([event]) != nil, let name = alarm.delivery.runDone, let actions
    else { return }
    let time = zones.text(event.effective ?? now)
    let failure = await actions.run(
      name, input: ActionText.document(alarm, event.occurrence, at: time).document,
      variables: ActionText.variables(alarm, event.occurrence, at: time))
    guard let failure else { return }
    CommandDiagnostic.warn(
      "the action \(Printable.text(name.text)) of \(Printable.text(alarm.title)) failed: \(ActionText.text(failure)).",
      hints: ["The occurrence is done."])
  }

  /// Returns the latest event in which a user marks an occurrence as done; nil if there is none.
  private static func completion(_ events: [Event]) -> Event? {
    events.last { $0.action == .done && !$0.auto }
  }
}
