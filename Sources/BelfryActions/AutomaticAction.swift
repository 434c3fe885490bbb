import BelfryCore
import BelfryStore

/// An action that Belfry takes without a person, such as a refresh of a calendar in the background. `belfry undo` leaves
/// it out, so that it undoes the person's own latest action.
struct AutomaticAction<Action: AlarmAction>: AlarmAction {
  private let action: Action

  init(_ action: Action) { self.action = action }

  var alarms: [Identifier] { action.alarms }
  var isLenient: Bool { action.isLenient }

  func plan(_ alarms: [Alarm], in store: Store) throws -> ActionPlan<Action.Outcome> {
    let plan = try action.plan(alarms, in: store)
    var change = plan.change
    change?.message.isAutomatic = true
    return ActionPlan(change, plan.outcome)
  }
}

extension AlarmAction {
  /// Performs the action, in one commit.
  ///
  /// - Parameter isAutomatic: True if no person takes it.
  func perform(in store: Store, isAutomatic: Bool) throws -> Outcome {
    isAutomatic ? try AutomaticAction(self).perform(in: store) : try perform(in: store)
  }
}
