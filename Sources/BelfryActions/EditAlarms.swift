import BelfryCore
import BelfryStore

/// An edit of the definitions of alarms: of single fields, of the enabled state, of the cascade.
public struct EditAlarms: AlarmAction {
  /// The alarms of the action.
  public let alarms: [Identifier]
  private let action: LogEntry.Action
  /// The facts for the log entry; nil for the changed fields.
  private let payload: LogPayload?
  private let stated: (Alarm) -> StatedParts
  private let edit: (inout Alarm) throws -> Void

  /// Creates an edit.
  ///
  /// - Parameters:
  ///   - stated: Returns the parts of an alarm that the person has set. Those that do not change are stamped, too: an
  ///     earlier edit of another device, which is not known here yet, must not win.
  ///   - edit: Changes the definition of an alarm. Its errors end the action.
  public init(
    _ alarms: [Identifier], stating stated: @escaping (Alarm) -> StatedParts,
    edit: @escaping (inout Alarm) throws -> Void
  ) {
    self.init(alarms, .edited, nil, stated, edit)
  }

  private init(
    _ alarms: [Identifier], _ action: LogEntry.Action, _ payload: LogPayload?,
    _ stated: @escaping (Alarm) -> StatedParts, _ edit: @escaping (inout Alarm) throws -> Void
  ) {
    self.alarms = alarms
    self.action = action
    self.payload = payload
    self.stated = stated
    self.edit = edit
  }

  /// Returns the action that enables alarms. They ring from now on.
  public static func enabling(_ alarms: [Identifier]) -> EditAlarms {
    switching(alarms, .enabled, to: true)
  }

  /// Returns the action that disables alarms. It clears their open occurrences.
  public static func disabling(_ alarms: [Identifier]) -> EditAlarms {
    switching(alarms, .disabled, to: false)
  }

  private static func switching(
    _ alarms: [Identifier], _ action: LogEntry.Action, to isEnabled: Bool
  ) -> EditAlarms {
    EditAlarms(
      alarms, action, nil, { _ in StatedParts(fields: [.enabled]) }, { $0.enabled = isEnabled })
  }

  /// Returns the action that gives alarms a title; see `AlarmText.title(_:)`.
  public static func renaming(_ alarms: [Identifier], to title: String) -> EditAlarms {
    EditAlarms(alarms, stating: { _ in StatedParts(fields: [.title]) }, edit: { $0.title = title })
  }

  /// Returns the action that gives alarms a note, or removes it; see `AlarmText.note(_:)`.
  public static func noting(_ alarms: [Identifier], _ note: String?) -> EditAlarms {
    EditAlarms(alarms, stating: { _ in StatedParts(fields: [.note]) }, edit: { $0.note = note })
  }

  /// Returns the action that changes the tags of alarms. It throws `TagEditError` for an alarm with too many.
  public static func tagging(_ alarms: [Identifier], _ edit: TagEdit) -> EditAlarms {
    EditAlarms(
      alarms,
      stating: { alarm in
        StatedParts(tags: edit.stated(alarm.tags.union(alarm.mergeState.tagStamps.keys)))
      }, edit: { $0.tags = try edit.applied(to: $0.tags) })
  }

  /// Returns the action that makes alarms of a former partner a person's own.
  public static func keeping(_ alarms: [Identifier]) -> EditAlarms {
    EditAlarms(alarms, .edited, nil, { _ in StatedParts() }, { $0.partner = nil })
  }

  /// Returns the edit of an alarm's cascade.
  ///
  /// - Parameters:
  ///   - edit: The facts for the log entry.
  ///   - parts: The parts that the person has set, also to the values that they have already.
  ///   - body: Changes the plan of the cascade. Without a first device, this device is the first one if the alarm rings
  ///     here.
  public static func cascade(
    of alarm: Identifier, _ edit: LogPayload.CascadeEdit, stating parts: Set<Cascade.Part>,
    in store: Store, _ body: @escaping (inout Cascade.Plan) throws -> Void
  ) -> EditAlarms {
    func change(_ alarm: inout Alarm) throws {
      let earlier = alarm.cascade?.plan
      var plan = alarm.cascadePlan(on: store.device)
      try body(&plan)
      if earlier != plan {
        var cascade = alarm.cascade ?? Cascade()
        cascade.plan = plan
        alarm.cascade = cascade
      }
      if alarm.zone == .floating, earlier?.primary != plan.primary || alarm.cascadeZone == nil {
        alarm.cascadeZone = plan.primary.flatMap { store.devices.zoneName(of: $0) }
      }
    }
    return EditAlarms(
      [alarm], .edited, .cascade(edit), { _ in StatedParts(cascade: parts) }, change)
  }

  /// Returns the change of each alarm; without events if it stays the same, and no part was stated.
  ///
  /// - Throws: `ActionError`, and the errors of the edit. Of several alarms, `ActionError.failed` with the first one.
  public func plan(_ alarms: [Alarm], in store: Store) throws -> ActionPlan<[AlarmChange]> {
    let settings = try store.settings().settings
    let (status, confirms) = (try store.statusReader(settings), settings.tier.confirmsCompletion)
    let changes = try alarms.map { alarm in
      do {
        return try edited(alarm, in: store, status, confirms: confirms)
      } catch  where alarms.count > 1 {
        throw ActionError.failed(alarm, error)
      }
    }
    return ActionPlan(store.change(changes, facts: EditAlarms.commonFacts(of: changes)), changes)
  }

  /// Returns the facts of the edits if they are the same for all alarms.
  private static func commonFacts(of changes: [AlarmChange]) -> LogPayload? {
    let facts = changes.filter { !$0.events.isEmpty }.map { $0.events.last?.payload }
    guard let first = facts.first, facts.allSatisfy({ $0 == first }) else { return nil }
    return first
  }

  /// Returns the change of one alarm; without events if it stays the same and no part was stated.
  ///
  /// - Parameter confirms: True if the tier has a pending state.
  private func edited(
    _ before: Alarm, in store: Store, _ status: (Alarm) -> AlarmStatus, confirms: Bool
  ) throws -> AlarmChange {
    var wanted = before
    try edit(&wanted)
    let (fields, stated) = (wanted.changedFields(from: before), stated(before))
    if fields.isEmpty, stated.isEmpty {
      return AlarmChange(before: before, alarm: before, events: [], status: status(before))
    }
    let (now, device) = (store.context.now, store.device)
    var alarm = wanted.stamped(against: before, at: now, device: device)
      .restating(stated, since: before, at: now, device: device)
    var kept: [Event] = []
    if !Set(fields).isDisjoint(with: [.schedule, .zone]) {
      let timeline = store.timeline(alarm)
      if timeline.next(after: now) == nil { throw ActionError.noFutureOccurrence(alarm.schedule) }
      let transition = timeline.rescheduled(
        from: store.timeline(before), status(before), at: now, confirms: confirms)
      (alarm, kept) = (transition.alarm, transition.events)
    }
    let facts =
      action == .edited ? LogPayload.fields(fields.isEmpty ? stated.allFields : fields) : nil
    let events =
      sideEffects(of: fields, from: before, to: alarm, in: store, status) + kept
      + [Event(action, payload: payload ?? facts)]
    return AlarmChange(before: before, alarm: alarm, events: events, status: status(alarm))
  }

  /// Returns the events of the occurrences that the edit clears: the open ones of an alarm that is disabled, and the
  /// skipped ones that a new schedule lacks.
  private func sideEffects(
    of fields: [Alarm.Field], from before: Alarm, to after: Alarm, in store: Store,
    _ status: (Alarm) -> AlarmStatus
  ) -> [Event] {
    if action == .disabled {
      let status = status(before)
      let current = [.ringing, .snoozed].contains(status.state) ? status.current : nil
      return Set(status.pending.map(\.occurrence) + [current].compactMap { $0 }).sorted()
        .map { Event(.cleared, $0) }
    }
    guard fields.contains(.schedule) else { return [] }
    let timeline = store.timeline(after)
    return store.timeline(before).occurrences(in: .skipped)
      .filter { timeline.record(of: $0) == nil }
      .map { civil in
        let revision = after.progress.occurrences[civil]?.revision ?? 0
        return Event(.unskipped, civil, revision: revision + 1)
      }
  }
}

extension Alarm {
  /// Returns the plan of the alarm's cascade. Without a first device, a device becomes the first if the alarm rings on it.
  public func cascadePlan(on device: Identifier) -> Cascade.Plan {
    var plan = cascade?.plan ?? Cascade.Plan()
    if plan.primary == nil {
      let wanted = delivery.devices
      plan.primary = wanted.isEmpty || wanted.contains(device) ? device : wanted.sorted().first
    }
    return plan
  }
}
