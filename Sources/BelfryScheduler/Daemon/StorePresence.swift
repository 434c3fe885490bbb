import BelfryStore
import Glibc

/// A check that a store's folder is still in its place: while the daemon runs, a disk can be unmounted and a folder
/// moved.
struct StorePresence {
  /// A change of the folder's presence.
  enum Change {
    /// The folder has disappeared.
    case left
    /// The folder is in its place again.
    case returned
  }

  /// The time between two checks while the folder is missing, in seconds.
  static let interval: Int64 = 5

  /// True if the folder is missing.
  private(set) var isAway = false
  /// True if the folder has come back since the last `takeReturn()`.
  private var hasReturned = false

  /// Checks the folder. Returns the change since the last check, or nil if there is none.
  mutating func update(_ store: Store) -> Change? {
    let exists = access(store.localFolder, X_OK) == 0
    guard exists == isAway else { return nil }
    isAway = !exists
    if exists { hasReturned = true }
    return exists ? .returned : .left
  }

  /// Returns true once after the folder has come back.
  mutating func takeReturn() -> Bool {
    defer { hasReturned = false }
    return hasReturned
  }
}
