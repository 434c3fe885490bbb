import BelfryCore
import Glibc

/// The state of a store's daemon, as another process sees it.
public enum DaemonState: Hashable, Sendable {
  case absent
  case running(process: String)
  /// The process exists, but its event loop has not turned for longer than it promised: nothing rings.
  case unresponsive(process: String)

  /// True if a daemon runs and responds.
  public var isRunning: Bool {
    if case .running = self { true } else { false }
  }
}

extension Store {
  /// Seconds that a daemon may be late for the moment that it promised, on a busy machine.
  private static let slack: Int64 = 30
  /// Milliseconds that a daemon has to react to a poke.
  private static let reactionTime = 3_000

  /// The state of this store's daemon.
  ///
  /// - Parameter probes: poke the daemon and wait up to three seconds for its reaction. Otherwise that is done only when
  ///   the daemon's promise has expired.
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

  /// The last sign of the daemon's event loop; nil when the lock's file cannot be read.
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

/// Held by the one daemon of a store; its modification time is the daemon's heartbeat.
public final class DaemonLock: Sendable {
  private let lock: StoreLock
  private let path: String

  init(_ lock: consuming StoreLock, path: String) {
    self.lock = lock
    self.path = path
  }

  /// Records that the event loop has turned, and by when it turns again, by the system's clock. It may block on a disk
  /// that hangs.
  public func beat(until promise: Instant) { lock.setModificationTime(promise) }

  /// True while the file at the lock's path is the one that is locked; false after another store took its place.
  public var isInPlace: Bool { lock.isFile(at: path) }
}
