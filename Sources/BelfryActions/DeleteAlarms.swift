import BelfryCore
import BelfryStore

/// The deletion of alarms on all devices.
public struct DeleteAlarms: AlarmAction {
  /// The alarms of the action.
  public let alarms: [Identifier]
  /// The reason, for the log and the commit; nil for a deletion by the user.
  private let reason: LogPayload.DeletionReason?
  /// True if `UndoLastAction` must not restore the alarms.
  private let isFinal: Bool
  private let condition: (Alarm, Store) throws -> Bool
  /// True for a deletion of alarms that may be gone already.
  public let isLenient: Bool

  /// Creates the deletion of alarms that a person has named.
  public init(_ alarms: [Identifier]) {
    self.init(alarms, reason: nil, isFinal: false, isLenient: false) { _, _ in true }
  }

  /// Creates the deletion of those alarms that are finished.
  public init(finishedOf alarms: [Identifier]) {
    self.init(alarms, reason: nil, isFinal: false, isLenient: true) { alarm, store in
      // An alarm may have been edited since.
      try store.status(alarm).isFinished
    }
  }

  /// Creates the deletion of alarms of a partner.
  ///
  /// - Parameter isFinal: True if an undo must not restore the alarms.
  public init(
    ofPartner alarms: [Identifier], reason: LogPayload.DeletionReason, isFinal: Bool = false
  ) {
    self.init(alarms, reason: reason, isFinal: isFinal, isLenient: true) { _, _ in true }
  }

  private init(
    _ alarms: [Identifier], reason: LogPayload.DeletionReason?, isFinal: Bool, isLenient: Bool,
    where condition: @escaping (Alarm, Store) throws -> Bool
  ) {
    self.alarms = alarms
    self.reason = reason
    self.isFinal = isFinal
    self.isLenient = isLenient
    self.condition = condition
  }

  /// Returns the deleted alarms.
  public func plan(_ alarms: [Alarm], in store: Store) throws -> ActionPlan<[AlarmChange]> {
    let facts = reason.map { LogPayload.deletion($0) }
    let event = Event(.deleted, payload: facts)
    let deleted = try alarms.filter { try condition($0, store) }.map { before in
      AlarmChange(
        before: before, alarm: before.deleted(), events: [event],
        status: AlarmStatus(state: .disabled))
    }
    var change = store.change(deleted, facts: facts)
    if isFinal { change?.message.isFinal = true }
    return ActionPlan(change, deleted)
  }
}
