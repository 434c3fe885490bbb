import Glibc

/// A check that a store's folder is where it was opened: a disk can be unmounted, and a folder moved, under a daemon.
public struct StorePresence: Sendable {
  /// A change of where the folder is.
  public enum Change: Hashable, Sendable {
    case left, returned
  }

  /// Seconds between two checks while the store is away.
  public static let interval: Int64 = 5

  /// True while the folder is gone.
  public private(set) var isAway = false

  /// The presence of a folder that is there.
  public init() {}

  /// Checks the folder; returns what has changed since the last check, nil when nothing has.
  public mutating func update(_ store: Store) -> Change? {
    let isThere = access(store.localFolder, X_OK) == 0
    guard isThere == isAway else { return nil }
    isAway = !isThere
    return isThere ? .returned : .left
  }
}
