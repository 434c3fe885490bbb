import BelfryStore
import Files
import Glibc

/// The file `sound-inaudible` in the store's local state, which exists while the daemon has found that a sound cannot be
/// heard. Commands ask the sound server again only if it exists.
public struct InaudibleSoundFile: Sendable {
  private let path: String

  /// Creates the file of a store. It does not access the file.
  public init(_ store: Store) { path = store.localFolder + "/sound-inaudible" }

  /// True if a sound could not be heard at the last check.
  public var exists: Bool { access(path, F_OK) == 0 }

  /// Records the result of a check. An error is ignored: the daemon has logged the result.
  func write(_ isInaudible: Bool) {
    if isInaudible {
      _ = try? DurableFile.write([], to: path, temporary: path + ".new", syncing: false)
    } else {
      _ = unlink(path)
    }
  }
}
