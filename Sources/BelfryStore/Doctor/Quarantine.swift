import BelfryCore
import Files
import Glibc

/// The folder to which a repair moves files that it cannot use. A repair deletes nothing.
struct Quarantine {
  /// `.git/belfry/quarantine/<date>`, created with the first file.
  private let folder: String

  init(_ store: Store) {
    self.init(store.local, now: store.context.now)
  }

  init(_ local: LocalState, now: Instant) {
    let name = now.rfc3339Milliseconds.filter { $0 != ":" }
    folder = "\(local.folder)/quarantine/\(name)"
  }

  /// Moves a file or folder to the quarantine.
  ///
  /// - Parameters:
  ///   - path: The file or folder.
  ///   - name: The path within the quarantine. A number is appended if it exists.
  /// - Returns: The new path.
  func take(_ path: String, as name: String) throws -> String {
    var destination = "\(folder)/\(name)"
    try DurableFile.makeFolder(DurableFile.parent(of: destination), mode: 0o700)
    var number = 1
    while access(destination, F_OK) == 0 {
      number += 1
      destination = "\(folder)/\(name)-\(number)"
    }
    guard rename(path, destination) == 0 else { throw FileError("move", path) }
    try DurableFile.syncFolder(of: destination)
    try DurableFile.syncFolder(of: path)
    return destination
  }
}
