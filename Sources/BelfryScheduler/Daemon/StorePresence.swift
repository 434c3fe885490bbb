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

  /// Checks the folder. Returns the change since the last check, or nil if there is none.
  mutating func update(_ store: Store) -> Change? {
    let exists = access(store.localFolder, X_OK) == 0
    guard exists == isAway else { return nil }
    isAway = !exists
    return exists ? .returned : .left
  }
}
