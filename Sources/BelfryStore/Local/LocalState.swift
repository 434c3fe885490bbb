import BelfryCore
import Files
import Glibc

/// The local state of this clone on this machine, in `.git/belfry`: never committed, never synced.
struct LocalState: Sendable {
  /// The folder `.git/belfry`.
  let folder: String
  /// The `.git` folder, without a trailing slash.
  let gitDirectory: String

  init(gitDirectory: String) {
    self.gitDirectory = gitDirectory.hasSuffix("/") ? String(gitDirectory.dropLast()) : gitDirectory
    folder = self.gitDirectory + "/belfry"
  }

  /// True if something other than a folder is in its place.
  var isReplaced: Bool {
    var status = stat()
    guard lstat(folder, &status) == 0 else { return false }
    return stat(folder, &status) != 0 || status.st_mode & S_IFMT != S_IFDIR
  }

  /// The folder of the objects. A linked work tree shares it with its main repository.
  var objects: String { commonDirectory + "/objects" }

  /// Returns the commit that is checked out instead of a branch, or nil if a branch is checked out.
  ///
  /// A commit is checked out during a rebase, or while the user inspects an earlier commit.
  func readDetachedHead() -> String? {
    guard let head = DurableFile.firstLine(of: gitDirectory + "/HEAD") else { return nil }
    return head.hasPrefix("ref: ") ? nil : head
  }

  /// The lock for writes to the store.
  var lock: String { folder + "/lock" }
  /// The lock for writes to the delivery ledger.
  var ledgerLock: String { folder + "/ledger.lock" }
  /// The named pipe that wakes the daemon when something is written to it.
  var poke: String { folder + "/poke" }
  /// The lock for packing objects.
  var packLock: String { folder + "/pack.lock" }
  /// The database of the caches, see `StoreCache`. SQLite keeps its write-ahead log and its shared memory beside it.
  var cache: String { folder + "/cache.db" }
  /// The journal of the writes since the last checkpoint.
  var journal: String { folder + "/journal" }
  /// The identity of this clone. Without it, the clone becomes another device at the next command.
  private var device: String { folder + "/device.json" }

  /// Returns the path of a temporary file that is renamed into the store, for a holder of a lock. A file that a dead
  /// process left is overwritten.
  func temporary(_ purpose: String) -> String { "\(folder)/new-\(purpose)" }

  // MARK: Identity

  /// Returns the device of this clone, or nil for a clone that isn't on the machine and in the folder that it was
  /// made in.
  ///
  /// A copy of the folder is another clone. Two clones with one identity could not distinguish their edits.
  func identity(machine: String) throws -> Identifier? {
    let file: (bytes: [UInt8], status: stat)?
    do {
      file = try DurableFile.read(device, limit: 4096)
    } catch  where [EISDIR, ENOTDIR, ELOOP, EINVAL, EFBIG].contains(error.number) {
      // Anything but a regular file contains no identity.
      return nil
    }
    guard let file else { return nil }
    guard let json = try? JSON(parsing: file.bytes), let id = json["id"]?.identifier,
      json["machine"]?.string == machine, json["folder"]?.integer == folderNumber
    else { return nil }
    return id
  }

  /// The device of this folder before it was copied or moved to another machine; nil for a new clone.
  var formerIdentity: Identifier? {
    ((try? DurableFile.read(device, limit: 4096)) ?? nil).flatMap { try? JSON(parsing: $0.bytes) }
      .flatMap { $0["id"]?.identifier }
  }

  /// Saves the identity of this clone, durably.
  func setIdentity(_ id: Identifier, machine: String) throws {
    let json = JSON.object(omittingNil: [
      "id": JSON(id), "machine": .string(machine), "folder": folderNumber.map { .integer($0) },
    ])
    try DurableFile.write(json.document, to: device, temporary: temporary("device"))
  }

  /// True if this folder is a copy that has no identity yet.
  var isCopied: Bool {
    guard let file = (try? DurableFile.read(device, limit: 4096)) ?? nil,
      let folder = (try? JSON(parsing: file.bytes))?["folder"]?.integer
    else { return false }
    return folder != folderNumber
  }

  /// The folder's inode. A copied folder gets another inode, a moved one keeps it.
  private var folderNumber: Int64? {
    var status = stat()
    return stat(folder, &status) == 0 ? Int64(bitPattern: UInt64(status.st_ino)) : nil
  }
}
