import BelfryCore
import Git

/// What a store needs to know of the world: handed in, never looked up.
public struct StoreContext: Sendable {
  /// The clock, as one command sees it.
  public var now: Instant
  /// Milliseconds by which the system's clock is ahead of `now`; other than 0 only for a clock that was set for a test.
  public var clockOffset: Int64 = 0
  public var zones: ZoneLibrary
  /// What a new device is called.
  public var deviceName: String
  /// What a new device is, where that can be told.
  public var deviceKind: Device.Kind?
  /// Tells machines apart (`/etc/machine-id`); empty where there is none.
  public var machine: String
  /// The user on whose behalf we run.
  public var user: UInt32
  /// Makes the identifiers of alarms, log entries and devices.
  public var makeIdentifier: @Sendable () -> Identifier
  /// A number of a range, at random: so that devices that lost a race together do not come back together.
  public var random: @Sendable (ClosedRange<Int>) -> Int
  /// A folder in memory, gone at the next start of the machine, for what a full disk does not take; nil
  /// where there is none.
  public var runtimeFolder: String?
  /// What the lock's file says of us: `belfry add (process 4711)`.
  public var process: String
  /// How long to wait for a lock, in milliseconds.
  public var patience: Int
  /// How long a remote may say nothing, in seconds.
  public var networkPatience: Int
  /// Told of what was mended on the way.
  public var report: @Sendable (StoreNotice) -> Void
  /// Told how far a transfer has come.
  public var progress: @Sendable (GitCommand.Progress) -> Void

  public init(
    now: Instant, zones: ZoneLibrary, deviceName: String, deviceKind: Device.Kind? = nil,
    machine: String = "", user: UInt32,
    makeIdentifier: @escaping @Sendable () -> Identifier,
    random: @escaping @Sendable (ClosedRange<Int>) -> Int, runtimeFolder: String? = nil,
    process: String = "belfry",
    patience: Int = 10_000, networkPatience: Int = 60,
    report: @escaping @Sendable (StoreNotice) -> Void = { _ in },
    progress: @escaping @Sendable (GitCommand.Progress) -> Void = { _ in }
  ) {
    self.deviceKind = deviceKind
    self.networkPatience = networkPatience
    self.progress = progress
    self.now = now
    self.zones = zones
    self.deviceName = deviceName
    self.machine = machine
    self.user = user
    self.makeIdentifier = makeIdentifier
    self.random = random
    self.runtimeFolder = runtimeFolder
    self.process = process
    self.patience = patience
    self.report = report
  }
}

/// What a store has mended by itself, and a person should know.
public enum StoreNotice: Hashable, Sendable {
  /// Records that another git had dropped from the branch, or taken back, were put back: their paths.
  case healed([String])
  /// Records that were gone from the work tree are back: their paths.
  case restored([String])
  /// A lock was taken away that a git left which died.
  case unlocked(path: String)
  /// Records that a merge of git's could not settle were joined: their paths, and what is left to do.
  case joined([String], MergeConflictResolver.Rest)
}
