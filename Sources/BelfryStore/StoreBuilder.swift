import BelfryCore
import Files
import Git
import Glibc

/// A new store that is built in a temporary folder and then moved to its path.
///
/// Other processes therefore never see a partial store, and if two processes create one, a single complete one remains.
///
/// An existing empty folder stays, because it can be a mounted volume, or in a folder that this user cannot write to. The
/// store is then built inside it, and its parts are moved up, `.git` first. From that moment it is a store: writers wait
/// for its lock until the last part is there, and after a crash the missing files are restored like removed ones.
struct StoreBuilder {
  /// The new store, at its temporary path.
  let store: Store
  /// The repository of the new store.
  let repository: Repository
  /// The path of the finished store, without links.
  private let path: String
  /// True if there is a folder at the path already.
  private let fillsFolder: Bool

  /// The beginning of the name of a temporary folder in the folder of the store.
  private static let temporaryName = ".belfry-new-"

  /// Returns true for a file or folder that an empty folder for a store can have: the temporary folder of another
  /// process, or the folder that every new ext4 file system has.
  static func isIgnored(_ name: String) -> Bool {
    name == "lost+found" || name.hasPrefix(temporaryName)
  }

  /// Creates an empty repository in a temporary folder.
  ///
  /// - Throws: `FileError`, `GitError`.
  init(_ path: String, context: StoreContext) throws {
    var status = stat()
    fillsFolder = stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
    if fillsFolder {
      guard let resolved = realpath(path, nil) else { throw FileError("resolve the link", path) }
      defer { free(resolved) }
      self.path = String(cString: resolved)
    } else {
      // The target of the link can be on a disk that is not mounted.
      if lstat(path, &status) == 0 { throw FileError("resolve the link", path, number: ENOENT) }
      self.path = path
      try DurableFile.makeFolder(DurableFile.parent(of: path), mode: 0o700)
    }
    let id = context.makeIdentifier()
    let building =
      fillsFolder
      ? "\(self.path)/\(StoreBuilder.temporaryName)\(id.short)" : "\(path).new-\(id.short)"
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
    if fillsFolder {
      try store.locked { try moveParts() }
      try DurableFile.syncFolder(path)
    } else {
      // Another process was faster, and its store is equivalent.
      guard try move(store.path, to: path) else { return discard() }
      try DurableFile.syncFolder(of: path)
    }
  }

  /// Moves the parts of the store from its temporary folder to the folder around it.
  private func moveParts() throws {
    guard try move(store.path + "/.git", to: path + "/.git") else { return discard() }
    for name in DurableFile.names(in: store.path) {
      _ = try move("\(store.path)/\(name)", to: "\(path)/\(name)")
    }
    discard()
  }

  /// Moves a file or folder. Returns false if there is one at the new path.
  private func move(_ part: String, to place: String) throws -> Bool {
    if rename(part, place) == 0 { return true }
    let number = errno
    if number == ENOTEMPTY || number == EEXIST { return false }
    throw FileError("create the store", place, number: number)
  }

  /// Removes the temporary folder.
  func discard() { Store.removeFolder(store.path) }
}
