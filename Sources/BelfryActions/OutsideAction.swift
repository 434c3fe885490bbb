import BelfryCore
import BelfryStore

/// An action that a person has taken outside Belfry, such as in the task app of a phone.
///
/// Its log entries and its commit name the place.
public struct OutsideAction<Action: AlarmAction>: AlarmAction {
  /// The action.
  public let action: Action
  /// The place, such as `phone`.
  public let place: String

  /// Creates an action that was taken at a place.
  public init(_ action: Action, at place: String) {
    self.action = action
    self.place = place
  }

  /// The alarms of the action.
  public var alarms: [Identifier] { action.alarms }
  /// True if the action leaves out missing alarms.
  public var isLenient: Bool { action.isLenient }

  /// Returns the plan of the action, with the place.
  public func plan(_ alarms: [Alarm], in store: Store) throws -> ActionPlan<Action.Outcome> {
    let plan = try action.plan(alarms, in: store)
    return ActionPlan(plan.change?.at(place), plan.outcome)
  }
}

extension Store.Change {
  /// Returns the change with the place outside Belfry where the person acted.
  func at(_ place: String) -> Store.Change {
    var change = self
    for index in change.entries.indices { change.entries[index].via = place }
    // No device of the store has snoozed: the steps of a cascade go on at the latest one, that of the phone.
    for entry in entries where entry.action == .snoozed {
      guard let civil = entry.occurrence,
        let index = change.alarms.firstIndex(where: { $0.id == entry.alarm })
      else { continue }
      change.alarms[index].progress.occurrences[civil]?.snooze.history.forgetLatestDevice()
    }
    change.message.setPlace(place)
    return change
  }
}

extension [CascadeRun.Snooze] {
  /// Removes the device from the latest snooze.
  fileprivate mutating func forgetLatestDevice() {
    guard let index = indices.max(by: { self[$0].at < self[$1].at }) else { return }
    self[index] = CascadeRun.Snooze(at: self[index].at, until: self[index].until)
  }
}
