import BelfryCore
import BelfryStore

/// An action whose change of the store says that it was not a person at Belfry who has acted.
public struct MarkedAction<Action: AlarmAction>: AlarmAction {
  /// The action.
  let action: Action
  /// Marks the change.
  let mark: (inout Store.Change) -> Void

  /// The alarms of the action.
  public var alarms: [Identifier] { action.alarms }
  /// True if the action leaves out missing alarms.
  public var isLenient: Bool { action.isLenient }

  /// Returns the plan of the action, with the mark.
  public func plan(_ alarms: [Alarm], in store: Store) throws -> ActionPlan<Action.Outcome> {
    let plan = try action.plan(alarms, in: store)
    guard var change = plan.change else { return plan }
    mark(&change)
    return ActionPlan(change, plan.outcome)
  }
}

extension AlarmAction {
  /// Returns the action as one that a person has taken outside Belfry, such as in the task app of a phone. Its log entries
  /// and its commit name the place.
  ///
  /// - Parameter place: The place, such as `phone`.
  public func taken(at place: String) -> MarkedAction<Self> {
    MarkedAction(action: self) { $0.setPlace(place) }
  }

  /// Performs the action, in one commit.
  ///
  /// - Parameter isAutomatic: True if no person takes it, such as a refresh of a calendar in the background. `belfry undo`
  ///   leaves it out, so that it undoes the person's own latest action.
  func perform(in store: Store, isAutomatic: Bool) throws -> Outcome {
    guard isAutomatic else { return try perform(in: store) }
    return try MarkedAction(action: self) { $0.message.isAutomatic = true }.perform(in: store)
  }
}

extension Store.Change {
  /// Names the place outside Belfry where the person acted.
  mutating func setPlace(_ place: String) {
    for index in entries.indices { entries[index].via = place }
    // No device of the store has snoozed: the steps of a cascade go on at the latest one, that of the phone.
    for entry in entries where entry.action == .snoozed {
      guard let civil = entry.occurrence,
        let index = alarms.firstIndex(where: { $0.id == entry.alarm })
      else { continue }
      alarms[index].progress.occurrences[civil]?.snooze.history.forgetLatestDevice()
    }
    message.setPlace(place)
  }
}

extension [CascadeRun.Snooze] {
  /// Removes the device from the latest snooze.
  fileprivate mutating func forgetLatestDevice() {
    guard let index = indices.max(by: { self[$0].at < self[$1].at }) else { return }
    self[index] = CascadeRun.Snooze(at: self[index].at, until: self[index].until)
  }
}
