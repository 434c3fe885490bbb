import BelfryStore
import Files
import Glibc

/// A check that a store's folder is still in its place: while the daemon runs, a disk can be unmounted, another one mounted
/// over it, a folder moved, and a link switched.
struct StorePresence {
  /// A change of the folder.
  enum Change {
    /// The folder has disappeared.
    case left
    /// A folder is in its place again, or another one than before. The store has to be opened.
    case arrived
  }

  /// The time between two checks while the folder is missing, in seconds.
  private static let awayInterval: Int64 = 5
  /// The time between two checks if the system may not report that the folder was replaced, in seconds.
  private static let replacementInterval: Int64 = 60

  /// True if the folder is missing.
  private(set) var isAway = false
  /// The identities of the folders of the open store.
  private var folders: [FileIdentity?]

  /// Creates a check of an open store.
  init(_ store: Store) { folders = StorePresence.folders(of: store) }

  /// Returns the time until the next check, in seconds; nil if the daemon need not wake up for it.
  ///
  /// - Parameter isReported: true if the replacement of the folder is reported.
  func interval(isReported: Bool) -> Int64? {
    if isAway { return StorePresence.awayInterval }
    return isReported ? nil : StorePresence.replacementInterval
  }

  /// Checks the folder. Returns the change since the last check, or nil if there is none.
  mutating func update(_ store: Store) -> Change? {
    guard access(store.localFolder, X_OK) == 0 else {
      defer { isAway = true }
      return isAway ? nil : .left
    }
    return isAway || folders != StorePresence.folders(of: store) ? .arrived : nil
  }

  /// Records that the store in the place was opened.
  mutating func recordOpening(of store: Store) {
    (isAway, folders) = (false, StorePresence.folders(of: store))
  }

  /// Records that there is no usable store in the place.
  mutating func recordFailure() { isAway = true }

  private static func folders(of store: Store) -> [FileIdentity?] {
    [store.path, store.localFolder].map { FileIdentity($0) }
  }
}
