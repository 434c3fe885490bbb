import BelfryCore
import Glibc

/// The state of a store's daemon as another process sees it.
public enum DaemonState: Hashable, Sendable {
  /// No daemon runs.
  case absent
  /// A daemon runs and responds.
  case running(process: String)
  /// The process exists, but its event loop has missed its promised time, so nothing rings.
  case unresponsive(process: String)

  /// True if a daemon runs and responds.
  public var isRunning: Bool {
    if case .running = self { true } else { false }
  }
}

extension Store {
  /// The tolerated delay after the promised time on a busy machine, in seconds.
  private static let slack: Int64 = 30
  /// The time in which a daemon must react to a poke, in milliseconds.
  private static let reactionTime = 3_000

  /// Returns the state of this store's daemon.
  ///
  /// - Parameter probes: True to poke the daemon and wait up to three seconds for its reaction. Otherwise this
  ///   happens only after the promised time.
  public func daemonState(probes: Bool = false) -> DaemonState {
    guard let process = daemonProcess else { return .absent }
    guard let before = heartbeat else { return .running(process: process) }
    let clock = Instant(milliseconds: context.now.milliseconds + context.clockOffset)
    if !probes, clock.seconds(since: before.promise) <= Store.slack {
      return .running(process: process)
    }
    pokeDaemon()
    for _ in 0..<(Store.reactionTime / 20) {
      if heartbeat?.changed != before.changed { return .running(process: process) }
      usleep(20_000)
    }
    return .unresponsive(process: process)
  }

  /// The daemon's promised time and the time of its last heartbeat in nanoseconds; nil if the lock file cannot be
  /// read.
  private var heartbeat: (promise: Instant, changed: Int64)? {
    var status = stat()
    guard stat(local.daemonLock, &status) == 0 else { return nil }
    return (
      Instant(
        milliseconds: Int64(status.st_mtim.tv_sec) * 1000
          + Int64(status.st_mtim.tv_nsec) / 1_000_000),
      Int64(status.st_ctim.tv_sec) &* 1_000_000_000 &+ Int64(status.st_ctim.tv_nsec)
    )
  }
}

/// The lock that a store's daemon holds. The modification time of its file is the daemon's heartbeat.
public final class DaemonLock: Sendable {
  private let lock: StoreLock
  private let path: String

  init(_ lock: consuming StoreLock, path: String) {
    self.lock = lock
    self.path = path
  }

  /// Records a heartbeat of the event loop, and the system time of the next one. The call may block on a hanging
  /// disk.
  public func beat(until promise: Instant) { lock.setModificationTime(promise) }

  /// True if the locked file is still at the lock's path; false if another store has replaced it.
  public var isInPlace: Bool { lock.isFile(at: path) }
}
