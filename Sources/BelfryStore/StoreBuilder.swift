import BelfryCore
import Git
import Glibc

/// A new store that is built in a temporary folder and then moved to its path.
///
/// Other processes therefore never see a partial store, and if two processes create one, a single complete one remains.
struct StoreBuilder {
  /// The new store, at its temporary path.
  let store: Store
  /// The repository of the new store.
  let repository: Repository
  private let path: String

  /// Creates an empty repository in a temporary folder next to `path`.
  ///
  /// - Throws: `FileError`, `GitError`.
  init(_ path: String, context: StoreContext) throws {
    self.path = path
    try DurableFile.makeFolder(DurableFile.parent(of: path), mode: 0o700)
    let id = context.makeIdentifier()
    let building = "\(path).new-\(id.short)"
    guard mkdir(building, 0o700) == 0 else { throw FileError("create the folder", building) }
    do {
      repository = try Repository.create(building)
      let local = LocalState(gitDirectory: repository.gitDirectory)
      try DurableFile.makeFolder(local.folder, mode: 0o700)
      store = Store(path: building, context: context, device: id, local: local)
    } catch {
      Store.removeFolder(building)
      throw error
    }
  }

  /// Commits this device's record, and moves the store to its path.
  func finish() throws {
    let isNew = try repository.commit(of: "HEAD") == nil
    try store.register(store.device, message: isNew ? "Create the store" : nil)
    try store.checkpoint.flush()
    guard rename(store.path, path) == 0 else {
      let number = errno
      // Another process was faster, and its store is equivalent.
      if number == ENOTEMPTY || number == EEXIST { return discard() }
      throw FileError("create the store", path, number: number)
    }
    try DurableFile.syncFolder(of: path)
  }

  /// Removes the temporary folder.
  func discard() { Store.removeFolder(store.path) }
}
