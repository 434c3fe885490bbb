import BelfryCore
import Git
import Glibc

/// Where a repair puts what it cannot use: nothing is ever deleted.
struct Quarantine {
  /// `.git/belfry/quarantine/<date>`, made when the first file comes.
  private let folder: String

  init(_ store: Store) {
    self.init(store.local, now: store.context.now)
  }

  init(_ local: LocalState, now: Instant) {
    let name = now.rfc3339Milliseconds.filter { $0 != ":" }
    folder = "\(local.folder)/quarantine/\(name)"
  }

  /// Moves a file or folder there.
  ///
  /// - Parameter name: its path below the quarantine.
  /// - Returns: where it is now.
  func take(_ path: String, as name: String) throws -> String {
    var place = "\(folder)/\(name)"
    try DurableFile.makeFolder(DurableFile.parent(of: place), mode: 0o700)
    var number = 1
    while access(place, F_OK) == 0 {
      number += 1
      place = "\(folder)/\(name)-\(number)"
    }
    guard rename(path, place) == 0 else { throw FileError("move", path) }
    try DurableFile.syncFolder(of: place)
    try DurableFile.syncFolder(of: path)
    return place
  }
}
