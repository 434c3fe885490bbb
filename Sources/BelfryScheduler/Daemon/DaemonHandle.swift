import BelfryCore
import BelfryStore
import Files
import Glibc

/// A store's daemon, as other processes see it.
///
/// The daemon holds the lock `daemon.lock` in the store's local state. The modification time of that file is the time by
/// which the daemon has promised its next heartbeat.
public struct DaemonHandle: Sendable {
  /// The state of a daemon.
  public enum State: Hashable, Sendable {
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

  private let store: Store
  private let path: String

  /// The tolerated delay after the promised time on a busy machine, in seconds.
  private static let slack: Int64 = 30
  /// The age of a heartbeat in seconds from which the daemon has to prove that it responds.
  private static let trustedAge: Int64 = 900
  /// The time in which a daemon must react to a poke, in milliseconds.
  private static let reactionTime = 3_000

  /// Creates a handle. It does not access the store.
  public init(_ store: Store) {
    self.store = store
    path = store.localFolder + "/daemon.lock"
  }

  /// The description of the daemon's process; nil if no daemon runs.
  public var process: String? { FileLock.holder(of: path) }

  /// The time on the system's clock at which the daemon counts as unresponsive without another heartbeat; nil if there is no
  /// heartbeat.
  public var deadline: Instant? {
    heartbeat?.promise.adding(seconds: DaemonHandle.slack + 1)
  }

  /// Returns the state of the daemon.
  ///
  /// - Parameter probes: True to poke the daemon and wait up to three seconds for its reaction. Otherwise this
  ///   happens only after the promised time, or if the last heartbeat was long ago.
  public func state(probes: Bool = false) -> State {
    guard let process else { return .absent }
    guard let before = heartbeat else { return .running(process: process) }
    let clock = Instant(milliseconds: store.context.now.milliseconds + store.context.clockOffset)
    let last = Instant(milliseconds: before.changed / 1_000_000)
    if !probes, clock.seconds(since: before.promise) <= DaemonHandle.slack,
      clock.seconds(since: last) <= DaemonHandle.trustedAge
    {
      return .running(process: process)
    }
    store.pokeDaemon()
    // In short steps, because a daemon that responds does so within milliseconds.
    for _ in 0..<(DaemonHandle.reactionTime / 2) {
      if heartbeat?.changed != before.changed { return .running(process: process) }
      usleep(2_000)
    }
    return .unresponsive(process: process)
  }

  /// Makes this process the store's daemon for as long as it holds the lock.
  ///
  /// - Parameter timeout: the time to wait for the end of another daemon, in milliseconds.
  /// - Returns: The lock, or the reason that there is none, for example on a file system without locks. In that case a
  ///   second daemon is not noticed, which is better than no daemon.
  /// - Throws: `StoreError.daemonRuns` if the store already has a daemon.
  func lock(timeout: Int = 0) throws -> Result<FileLock, FileError> {
    do {
      return .success(try FileLock(path, holder: store.context.process, timeout: timeout))
    } catch StoreError.locked(let process) {
      throw StoreError.daemonRuns(process: process)
    } catch let failure as FileError {
      return .failure(failure)
    }
  }

  /// The daemon's promised time and the time of its last heartbeat in nanoseconds; nil if the lock file cannot be
  /// read.
  private var heartbeat: (promise: Instant, changed: Int64)? {
    var status = stat()
    guard stat(path, &status) == 0 else { return nil }
    return (
      Instant(
        milliseconds: Int64(status.st_mtim.tv_sec) * 1000
          + Int64(status.st_mtim.tv_nsec) / 1_000_000),
      Int64(status.st_ctim.tv_sec) &* 1_000_000_000 &+ Int64(status.st_ctim.tv_nsec)
    )
  }
}
