import BelfryCore
import BelfryStore

/// Whether a daemon, a timer or cron evaluates the store on this device. Without one, no alarm rings here.
public enum SchedulerState: Hashable, Sendable {
  /// The daemon runs.
  case daemon
  /// A timer or cron runs `belfry tick`; the last run was within the last 15 minutes.
  case ticks
  /// The daemon's process exists, but does not respond.
  case unresponsive(process: String)
  /// Nothing evaluates the store.
  ///
  /// - last: the time of the last tick; nil if there was none.
  case absent(last: Instant?)

  /// Determines the state from the daemon's lock and the time of the last tick. Starts no process, and waits only for a
  /// daemon that has missed its heartbeat.
  public init(_ store: Store) {
    switch DaemonHandle(store).state() {
    case .running: self = .daemon
    case .unresponsive(let process): self = .unresponsive(process: process)
    case .absent: self = store.hasTickedLately ? .ticks : .absent(last: store.lastTick)
    }
  }

  /// True if alarms ring on this device.
  public var isRunning: Bool {
    switch self {
    case .daemon, .ticks: true
    case .unresponsive, .absent: false
    }
  }
}
