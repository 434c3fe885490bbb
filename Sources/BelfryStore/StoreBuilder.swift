import BelfryCore
import Git
import Glibc

/// A store that is being made beside its place and moved there whole, so that nobody ever sees half of one, and of
/// two that are made at once one stands.
struct StoreBuilder {
  let store: Store
  let repository: Repository
  private let path: String

  /// Begins a store for `path`.
  init(_ path: String, context: StoreContext) throws {
    self.path = path
    try DurableFile.makeFolder(DurableFile.parent(of: path), mode: 0o700)
    let id = context.makeIdentifier()
    let building = "\(path).new-\(id.short)"
    guard mkdir(building, 0o700) == 0 else { throw FileError("make the folder", building) }
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

  /// Gives the store its device and moves it to its place.
  func finish() throws {
    let isNew = try repository.commit(of: "HEAD") == nil
    try store.introduce(store.device, message: isNew ? "Create the store" : nil)
    guard rename(store.path, path) == 0 else {
      let number = errno
      // Somebody else's was there first, and is as good.
      if number == ENOTEMPTY || number == EEXIST { return discard() }
      throw FileError("make the store", path, number: number)
    }
    try DurableFile.syncFolder(of: path)
  }

  /// Removes what was begun.
  func discard() { Store.removeFolder(store.path) }
}
