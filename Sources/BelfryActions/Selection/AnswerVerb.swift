import BelfryCore

/// A verb by which a person answers an open, skipped or missed occurrence.
public enum AnswerVerb: String, CaseIterable, Sendable {
  case stop, done, snooze, skip, unskip, dismiss

  /// Returns true if an alarm is in a state to which the verb applies.
  public func applies(to status: AlarmStatus) -> Bool {
    switch self {
    case .stop, .snooze: isRinging(status)
    case .done, .skip: isRinging(status) || !status.pending.isEmpty || status.state == .missed
    case .unskip: !status.skipped.isEmpty
    case .dismiss: !status.missed.isEmpty
    }
  }

  /// Returns the position of an alarm among those that a name matches, the lowest first: ringing, pending, snoozed,
  /// missed; then those to which the verb does not apply, and the finished ones.
  func rank(_ status: AlarmStatus) -> Int {
    if status.isFinished { return 5 }
    guard applies(to: status) else { return 4 }
    let order: [AlarmStatus.State] = [.ringing, .pending, .snoozed, .missed]
    return self == .unskip || self == .dismiss ? 0 : order.firstIndex(of: status.state) ?? 4
  }

  private func isRinging(_ status: AlarmStatus) -> Bool {
    status.state == .ringing || status.state == .snoozed
  }
}
