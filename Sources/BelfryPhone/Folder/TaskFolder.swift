import BelfryCore
import BelfryStore
import CLinux
import Files
import Glibc

/// The folder with the tasks: one `.ics` file for each, as a vdir (vdirsyncer, khal, todoman) and Radicale have it.
///
/// Files are written beside their place and renamed. Names that begin with a dot, and other names than `….ics`, are left
/// alone. Links, folders and other files that are no regular files are never opened.
struct TaskFolder: Sendable {
  /// The path.
  let path: String
  /// The server of the folder.
  let server: TaskServer

  /// The maximum size of a file that is read, in bytes.
  static let maxSize = 1 << 20
  /// The maximum number of files that Belfry looks at besides its own.
  static let maxForeignFiles = 20_000
  /// The file that marks the folder as the one that was set up.
  static let markName = ".belfry"
  /// The beginning of the names of temporary files.
  private static let temporaryPrefix = ".belfry-"
  /// The time to wait for the lock of the server, in milliseconds.
  private static let lockTimeout = 10_000

  init(_ path: String) {
    self.path = path
    server = TaskServer(of: path)
  }

  // MARK: The mark

  /// Throws if the folder is not the one that was set up: an empty one in its place is no deletion of all tasks.
  func check(collection: String) throws {
    var status = stat()
    guard stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFDIR else {
      throw PhoneError.folderMissing(path: path)
    }
    guard mark == collection else { throw PhoneError.folderReplaced(path: path) }
  }

  /// The name of the collection in the mark; nil without a mark.
  var mark: String? {
    DurableFile.firstLine(of: "\(path)/\(TaskFolder.markName)")
  }

  /// The device that has set the folder up; nil without a mark.
  var markedDevice: Identifier? {
    guard let file = (try? DurableFile.read("\(path)/\(TaskFolder.markName)", limit: 4096)) ?? nil
    else { return nil }
    let lines = file.bytes.split(separator: UInt8(ascii: "\n"))
    return lines.count > 1 ? Identifier(lines[1]) : nil
  }

  /// Marks the folder.
  func setMark(_ collection: String, by device: Identifier) throws {
    try DurableFile.write(
      Array("\(collection)\n\(device.text)\n".utf8), to: "\(path)/\(TaskFolder.markName)",
      temporary: temporary("mark"))
  }

  /// Removes the mark.
  func removeMark() { _ = unlink("\(path)/\(TaskFolder.markName)") }

  // MARK: Reading

  /// The files of the folder.
  struct Listing {
    /// The signatures of the files by name.
    var files: [String: FileSignature] = [:]
    /// The number of files that are left out: links, folders, and names that cannot be shown.
    var ignored = 0
    /// True if an ended process has left temporary files.
    var hasTemporaries = false
    /// True if there are more files than Belfry looks at.
    var isTooLarge = false
  }

  /// Lists the files.
  ///
  /// - Parameter known: Returns true for a file that is listed in any case.
  func list(known: (String) -> Bool) throws -> Listing {
    guard let stream = opendir(path) else { throw FileError("list", path) }
    defer { closedir(stream) }
    var listing = Listing()
    var foreign = 0
    while let entry = readdir(stream) {
      let bytes = FolderEntry.name(entry)
      if bytes.starts(with: TaskFolder.temporaryPrefix.utf8) { listing.hasTemporaries = true }
      if bytes.first == UInt8(ascii: ".") || !bytes.suffix(4).elementsEqual(".ics".utf8) {
        continue
      }
      guard let name = String(validating: bytes, as: UTF8.self),
        !name.unicodeScalars.contains(where: { $0.value < 0x20 || $0.value == 0x7F })
      else {
        listing.ignored += 1
        continue
      }
      if !known(name), TaskProperty.identity(fileName: name) == nil {
        foreign += 1
        if foreign > TaskFolder.maxForeignFiles {
          listing.isTooLarge = true
          continue
        }
      }
      var status = stat()
      guard fstatat(dirfd(stream), name, &status, AT_SYMLINK_NOFOLLOW) == 0 else { continue }
      guard status.st_mode & S_IFMT == S_IFREG else {
        listing.ignored += 1
        continue
      }
      listing.files[name] = FileSignature(status)
    }
    return listing
  }

  /// Returns the content and the signature of a file; nil if there is none.
  func read(_ name: String) throws(FileError) -> (bytes: [UInt8], signature: FileSignature)? {
    try DurableFile.read("\(path)/\(name)", limit: TaskFolder.maxSize).map {
      ($0.bytes, FileSignature($0.status))
    }
  }

  // MARK: Writing

  /// Waits for the lock of the server, if it has one.
  func lock() throws -> FileLock? {
    guard case .radicale(let path) = server else { return nil }
    // A server of another user must be able to take it, too.
    let lock = try FileLock(path, mode: mode)
    guard try lock.lock(timeout: TaskFolder.lockTimeout) else {
      throw PhoneError.serverLocked(path: self.path)
    }
    return lock
  }

  /// Writes the new version of a file beside it.
  func prepare(_ name: String, _ bytes: [UInt8]) throws(FileError) {
    let temporary = temporary(name)
    _ = unlink(temporary)
    let file = try Descriptor(temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, mode: mode)
    try DurableFile.fill(file.number, bytes, temporary)
  }

  /// Returns true if the new version of a file is still beside it.
  func isPrepared(_ name: String) -> Bool { access(temporary(name), F_OK) == 0 }

  /// The result of placing a file.
  enum Placement: Hashable {
    /// The file is in its place.
    case placed(FileSignature)
    /// Another program has written the file meanwhile. Its version stays.
    case changed
  }

  /// Puts the new version of a file into its place, unless another program has written the file since it was read.
  ///
  /// - Parameter expected: The signature of the file that is replaced; nil if there must be none.
  func place(_ name: String, expecting expected: FileSignature?) throws(FileError) -> Placement {
    let (temporary, path) = (temporary(name), "\(path)/\(name)")
    // Before the file has its name: afterwards the phone could have changed it already.
    guard let new = signature(temporary) else { throw FileError("stat", temporary) }
    guard let hadFile = try FileExchange.place(temporary, at: path) else {
      // The file system cannot exchange files: a change of the last moment would be lost.
      guard hasContent(signature(path), of: expected) else {
        _ = unlink(temporary)
        return .changed
      }
      guard rename(temporary, path) == 0 else { throw FileError("write", path) }
      return .placed(new)
    }
    if hadFile, !hasContent(signature(temporary), of: expected) {
      // The other version goes back.
      _ = FileExchange.exchange(temporary, path)
      _ = unlink(temporary)
      return .changed
    }
    if !hadFile, expected != nil {
      // The phone has deleted it meanwhile, which the next run sees.
      _ = unlink(path)
      return .changed
    }
    if hadFile { _ = unlink(temporary) }
    return .placed(new)
  }

  private func hasContent(_ signature: FileSignature?, of expected: FileSignature?) -> Bool {
    guard let signature, let expected else { return signature == nil && expected == nil }
    return signature.hasContent(of: expected)
  }

  /// Removes a file, unless another program has written it since it was read.
  func remove(_ name: String, expecting expected: FileSignature) throws(FileError) -> Bool {
    let path = "\(path)/\(name)"
    guard let current = signature(path) else { return true }
    guard current.hasContent(of: expected) else { return false }
    guard unlink(path) == 0 || errno == ENOENT else { throw FileError("remove", path) }
    return true
  }

  /// Removes temporary files that an ended process has left.
  func removeTemporaries() {
    for name in DurableFile.names(in: path) where name.hasPrefix(TaskFolder.temporaryPrefix) {
      _ = unlink("\(path)/\(name)")
    }
  }

  private func temporary(_ name: String) -> String {
    // Radicale skips names that begin with a dot, and vdirsyncer those that end with `.tmp`.
    "\(path)/\(TaskFolder.temporaryPrefix)\(name).tmp"
  }

  /// The permissions of files: those of the folder, so that a server of another user can write them.
  private var mode: mode_t {
    var status = stat()
    guard stat(path, &status) == 0 else { return 0o600 }
    return status.st_mode & 0o666
  }

  private func signature(_ path: String) -> FileSignature? {
    var status = stat()
    return lstat(path, &status) == 0 ? FileSignature(status) : nil
  }
}
