import BelfryCore
import BelfryStore
import Git

/// An input of the daemon's event loop.
enum DaemonEvent: Sendable {
  /// A timer, file watch, poke or signal has woken the daemon.
  case wake(WakeSource.Wake)
  /// A delivery was answered, failed or ended.
  case deliveryChanged(ActiveDeliveries.Change)
  /// The disk responds again after a timeout.
  case diskRecovered
  /// The alarms without a valid file were read from the history.
  case historyRead([ArmedRecord])
  /// The remotes were read from git's configuration.
  case remotesRead([Remote])
  /// The watch of a remote reports a change.
  case remoteReported(Remote, RemoteWatch.Report)
  /// A file in the folder of the phone's tasks has changed.
  case phoneFolderChanged
  /// A file or folder of a calendar that is followed has changed.
  case calendarChanged
  /// A background task has ended.
  case completed(TaskResult)

  /// The result of a background task.
  enum TaskResult: Sendable {
    /// The deliveries of a group have an outcome.
    case delivered(DeliveryGroup, DeliveryOutcome)
    /// The collected outcomes have to be recorded.
    case recordingDue
    /// An answer was recorded or refused, or recording was given up.
    case answerRecorded(GivenAnswer, AnswerRecorder.Result)
    /// `belfry tick --settle` has ended.
    case settled(ChildCommands.Result)
    /// `belfry sync` has ended.
    case synced(ChildCommands.Result)
    /// `belfry partner sync` has ended.
    case mailboxesSynced(ChildCommands.Result)
    /// `belfry phone sync` has ended.
    case phoneSynced(ChildCommands.Result)
    /// `belfry calendar refresh` has ended.
    case calendarsRefreshed(ChildCommands.Result)
    /// The command of a callout has ended.
    case callFinished(Callout, ChildCommands.Result)
    /// The sound output was checked.
    case soundChecked(SoundOutput.State)
    /// The battery was read.
    case batterySampled(BatteryGauge.SampleResult)
  }
}

/// A recurring task of the daemon whose failures are logged once.
public enum DaemonTask: Hashable, Sendable {
  /// Commit outcomes: `belfry tick --settle`.
  case settlement
  /// Sync with the remotes: `belfry sync`.
  case sync
  /// Sync with the mailboxes: `belfry partner sync`.
  case partnerSync
  /// Sync with the phone's tasks: `belfry phone sync`.
  case phoneSync
  /// Refresh the calendars that are followed: `belfry calendar refresh`.
  case calendars
  /// Make a call for an alarm.
  case call(Identifier)
  /// Write the delivery ledger.
  case ledger
  /// Record a sample of the battery.
  case batterySample
  /// Record the battery warnings that were delivered.
  case batteryHistory
  /// Wake the machine from sleep.
  case wakeTimer
}
