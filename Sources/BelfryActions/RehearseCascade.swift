import BelfryCore
import BelfryStore

/// The request to ring on every step of an alarm's cascade now, marked as a test.
public struct RehearseCascade: AlarmAction {
  /// The alarms of the action.
  public let alarms: [Identifier]

  /// Creates the request for an alarm.
  public init(of alarm: Identifier) { alarms = [alarm] }

  /// Returns the alarm with the request.
  public func plan(_ alarms: [Alarm], in store: Store) throws -> ActionPlan<AlarmChange?> {
    guard let before = alarms.first else { return ActionPlan(nil, nil) }
    let now = store.context.now
    let reader = try store.statusReader()
    let status = reader(before)
    let isNear =
      status.nextRinging.map { $0.at.seconds(since: now) < Timeline.rehearsalTimeout } ?? false
    if status.state == .ringing || isNear { throw ActionError.ringsSoon(before) }
    guard before.enabled else { throw ActionError.disabled(before) }
    guard before.cascade?.plan.isActive == true else { throw ActionError.noActiveCascade(before) }
    var after = before
    after.progress.rehearsal = max(now, before.progress.rehearsal ?? now)
    let change = AlarmChange(
      before: before, alarm: after, events: [Event(.rehearsed, payload: .rehearsalRequest)],
      status: reader(after))
    return ActionPlan(store.change([change]), change)
  }
}
