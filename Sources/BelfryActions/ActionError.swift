import BelfryCore

/// The reason why an action is not possible.
public enum ActionError: Error {
  /// The state of an alarm does not permit the answer.
  case refused(Answer, Alarm, LifecycleError)
  /// An occurrence of an alarm cannot be moved.
  case notMovable(Alarm, MoveError)
  /// The schedule has no occurrence after now.
  case noFutureOccurrence(Schedule)
  /// The end of a pause has passed in the alarm's zone.
  case pauseHasPassed(CivilDateTime)
  /// A pause would end before it begins, or at that time.
  case pauseEndsFirst(from: CivilDateTime, until: CivilDateTime)
  /// The alarm has another pause, and an alarm has one at a time.
  case otherPause(Alarm, Pause)
  /// The only occurrence of the alarm is during the pause, so that the alarm would never ring.
  case pauseCoversOnlyOccurrence(Alarm)
  /// The alarm is disabled.
  case disabled(Alarm)
  /// The alarm has no cascade that is on.
  case noActiveCascade(Alarm)
  /// The alarm rings now or soon, so that a test of its cascade would be taken for the occurrence.
  case ringsSoon(Alarm)
  /// An action on several alarms is not possible for this one, so that none was changed.
  case failed(Alarm, any Error)
}
