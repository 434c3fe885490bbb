import BelfryCore
import BelfryStore

/// A change that a person makes to alarms of a store.
///
/// An action is a value with parsed input. Every front end performs the same actions and shows their results. A plan is
/// made from the alarms as they are: under the store's lock by `perform(in:)`, and without it by `preview(in:)`.
public protocol AlarmAction {
  /// The result, such as one change for each alarm.
  associatedtype Outcome

  /// The alarms that the action is about.
  var alarms: [Identifier] { get }

  /// True to leave out the only alarm if it is missing, deleted or not valid. Otherwise that is an error. Of several
  /// alarms, such ones are always left out.
  var isLenient: Bool { get }

  /// Returns the result, and the change of the store that leads to it.
  ///
  /// - Parameters:
  ///   - alarms: The alarms as they are now.
  ///   - store: The store.
  /// - Throws: `ActionError` if the action is not possible.
  func plan(_ alarms: [Alarm], in store: Store) throws -> ActionPlan<Outcome>
}

/// The result of an action, and the change of the store that leads to it.
public struct ActionPlan<Outcome> {
  /// The change; nil if nothing changes.
  public let change: Store.Change?
  /// The result.
  public let outcome: Outcome

  /// Creates a plan from its parts.
  public init(_ change: Store.Change?, _ outcome: Outcome) {
    self.change = change
    self.outcome = outcome
  }
}

extension AlarmAction {
  /// False: the only alarm must exist.
  public var isLenient: Bool { false }

  /// Returns the result that the action would have now. Nothing is recorded.
  ///
  /// - Throws: The same errors as `perform(in:)`, except those of writing.
  public func preview(in store: Store) throws -> Outcome {
    let reader = store.alarmReader()
    let found = try alarms.sorted().compactMap { try reader.alarm($0) }.filter { !$0.isDeleted }
    if let only = alarms.first, alarms.count == 1, found.isEmpty, !isLenient {
      throw StoreError.noSuchAlarm(only.text)
    }
    let plan = try plan(found, in: store)
    if let change = plan.change { try store.requireRoom(for: change.alarms) }
    return plan.outcome
  }

  /// Performs the action, in one commit.
  ///
  /// - Throws: `ActionError` if the action is not possible; `StoreError`, such as `.noSuchAlarm` or `.alarmLimit`.
  public func perform(in store: Store) throws -> Outcome {
    if alarms.isEmpty { return try plan([], in: store).outcome }
    if let only = alarms.first, alarms.count == 1, !isLenient {
      return try store.update(only) { alarm in
        let plan = try plan([alarm], in: store)
        return (plan.change, plan.outcome)
      }
    }
    return try store.update(alarms.sorted()) { alarms in
      let plan = try plan(alarms, in: store)
      return (plan.change, plan.outcome)
    }
  }
}

/// An alarm before and after an action.
public struct AlarmChange: Sendable {
  /// The alarm before the action; nil if the action has created it.
  public let before: Alarm?
  /// The alarm after the action.
  public let alarm: Alarm
  /// The events of the action, in chronological order; empty if it changes nothing.
  public let events: [Event]
  /// The status after the action, with the next occurrence.
  public let status: AlarmStatus

  /// Creates a change from its parts.
  public init(before: Alarm?, alarm: Alarm, events: [Event], status: AlarmStatus) {
    self.before = before
    self.alarm = alarm
    self.events = events
    self.status = status
  }

  /// The fields of the definition with another value than before, in ascending order.
  public var fields: [Alarm.Field] { before.map(alarm.changedFields) ?? [] }

  /// Returns the occurrences of the events with an action, in their order.
  public func occurrences(_ action: LogEntry.Action) -> [CivilDateTime] {
    events.filter { $0.action == action }.compactMap(\.occurrence)
  }
}

extension Store {
  /// Returns one change of the store for the changes of several alarms; nil if none has an event.
  ///
  /// The message of the commit describes the last event of a single alarm, or the number of alarms.
  ///
  /// - Parameters:
  ///   - moment: The time of the log entries; nil for the current time.
  ///   - facts: The facts of all events, which the message for several alarms names; nil for none.
  func change(
    _ changes: [AlarmChange], at moment: Instant? = nil, facts: LogPayload? = nil
  ) -> Change? {
    let changes = changes.filter { !$0.events.isEmpty }
    guard let first = changes.first, let last = changes.last?.events.last else { return nil }
    if changes.count == 1 {
      return change(Transition(alarm: first.alarm, events: first.events), at: moment)
    }
    let events = changes.flatMap { change in change.events.map { ($0, change.alarm) } }
    return Change(
      alarms: changes.map(\.alarm),
      entries: entries(events, at: moment.map { Array(repeating: $0, count: events.count) }),
      message: CommitMessage(
        last.action, alarms: changes.count, payload: facts, device: device))
  }
}
