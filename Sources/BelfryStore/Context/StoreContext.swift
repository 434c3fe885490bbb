import BelfryCore
import Git

/// The environment of a store. It is injected, so that the store has no hidden inputs.
public struct StoreContext: Sendable {
  /// The current time, constant during one command.
  public var now: Instant
  /// The milliseconds by which the system's clock is ahead of `now`. Nonzero only if a test sets the clock.
  public var clockOffset: Int64 = 0
  /// The time zones.
  public var zones: ZoneLibrary
  /// The name of a new device.
  public let deviceName: String
  /// The kind of a new device; nil if it cannot be determined.
  public let deviceKind: Device.Kind?
  /// The identifier of this machine (`/etc/machine-id`); empty if there is none.
  public let machine: String
  /// The user id of this process.
  public let user: UInt32
  /// Returns a new identifier for an alarm, a log entry or a device.
  public let makeIdentifier: @Sendable () -> Identifier
  /// Returns a random number from a range. It spreads the retries of devices that lost a race at the same time.
  public let random: @Sendable (ClosedRange<Int>) -> Int
  /// A folder in memory that is cleared at boot (`XDG_RUNTIME_DIR`), for data that a full disk cannot take; nil if
  /// there is none.
  public let runtimeFolder: String?
  /// The ssh connections that several transfers share; nil to connect for each transfer.
  public let sshConnections: SSHConnections?
  /// The description of this process in a lock file, such as `belfry add (process 4711)`.
  public let process: String
  /// The timeout for a lock, in milliseconds.
  public var lockTimeout: Int
  /// The time without a response after which a transfer from or to a remote is aborted, in seconds.
  public var networkTimeout: Int
  /// Receives a notice about each automatic repair.
  public var report: @Sendable (StoreNotice) -> Void
  /// Receives the progress of a transfer.
  public var progress: @Sendable (GitCommand.Progress) -> Void
  /// Receives the store after each write of records.
  public var didWrite: @Sendable (Store) -> Void = { _ in }

  /// Creates an environment.
  public init(
    now: Instant, zones: ZoneLibrary, deviceName: String, deviceKind: Device.Kind? = nil,
    machine: String = "", user: UInt32,
    makeIdentifier: @escaping @Sendable () -> Identifier,
    random: @escaping @Sendable (ClosedRange<Int>) -> Int, runtimeFolder: String? = nil,
    sshConnections: SSHConnections? = nil, process: String = "belfry",
    lockTimeout: Int = 10_000, networkTimeout: Int = 60,
    report: @escaping @Sendable (StoreNotice) -> Void = { _ in },
    progress: @escaping @Sendable (GitCommand.Progress) -> Void = { _ in }
  ) {
    self.deviceKind = deviceKind
    self.networkTimeout = networkTimeout
    self.progress = progress
    self.now = now
    self.zones = zones
    self.deviceName = deviceName
    self.machine = machine
    self.user = user
    self.makeIdentifier = makeIdentifier
    self.random = random
    self.runtimeFolder = runtimeFolder
    self.sshConnections = sshConnections
    self.process = process
    self.lockTimeout = lockTimeout
    self.report = report
  }
}

/// A notice about an automatic repair of a store.
public enum StoreNotice: Hashable, Sendable {
  /// Records that another program had removed from the branch, or reverted, were restored. The payload is their paths.
  case healed([String])
  /// Records that were missing from the work tree were restored. The payload is their paths.
  case restored([String])
  /// An invalid file of a record was moved to the quarantine, and replaced: a power failure had damaged it, or it had
  /// conflicts of git. The paths are those in
  /// the store and in the quarantine.
  case setAside(path: String, to: String)
  /// A stale lock of a git process that has ended was removed.
  case unlocked(path: String)
  /// Records that git could not merge were merged. The payload is their paths, and the remaining work.
  case joined([String], MergeConflictResolver.Rest)
}
