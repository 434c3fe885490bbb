import CLinux
import Glibc

/// A failed system call on a file.
public struct FileError: Error, Equatable, Sendable {
  /// The attempted operation, as a verb: `open`.
  public let operation: String
  /// The path of the file.
  public let path: String
  /// The system's error number, such as `ENOSPC`.
  public let number: Int32
  /// True if the operation is to lock the file.
  public let isLock: Bool

  /// Creates an error of an operation on a path, by default with the current `errno`.
  public init(_ operation: String, _ path: String, number: Int32 = errno) {
    self.operation = operation
    self.path = path
    self.number = number
    isLock = false
  }

  /// Creates the error of a lock on a path, by default with the current `errno`.
  public init(locking path: String, number: Int32 = errno) {
    operation = "lock"
    self.path = path
    self.number = number
    isLock = true
  }
}

extension FileError: CustomStringConvertible {
  /// The message for the user.
  public var description: String {
    "could not \(operation) \(path): \(String(cString: strerror(number)))"
  }
}

/// An open file descriptor that is closed when it goes out of scope.
struct Descriptor: ~Copyable {
  let number: Int32

  init(taking number: Int32) {
    self.number = number
  }

  init(_ path: String, _ flags: Int32, mode: mode_t = 0o644) throws(FileError) {
    let opened = Descriptor.open(path, flags, mode: mode)
    guard opened >= 0 else { throw FileError("open", path) }
    self.init(taking: opened)
  }

  /// Opens a file and repeats the call if a signal interrupts it. Returns a negative number on failure, with `errno`.
  static func open(_ path: String, _ flags: Int32, mode: mode_t = 0o644) -> Int32 {
    var result: Int32
    repeat { result = Glibc.open(path, flags | O_CLOEXEC, mode) } while result < 0 && errno == EINTR
    return result
  }

  deinit { _ = Glibc.close(number) }
}

/// The process's limit of open file descriptors.
public enum Descriptors {
  /// Raises the number of files that this process may have open, as far as the system allows.
  ///
  /// A running hook needs three descriptors, so the usual limit of 1,024 is reached at about 300 alarms that ring
  /// together.
  public static func raiseLimit(to wanted: UInt = 65_536) {
    var limit = rlimit()
    let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
    guard getrlimit(resource, &limit) == 0, limit.rlim_cur < wanted else { return }
    limit.rlim_cur = min(wanted, limit.rlim_max)
    // If the system refuses, hooks that cannot be started are retried.
    _ = setrlimit(resource, &limit)
  }

  /// Checks that `count` more descriptors can be opened.
  ///
  /// Starting a process needs several at once, and Subprocess traps if one of them is missing.
  ///
  /// - Throws: `FileError` with `EMFILE`.
  public static func ensure(_ count: Int = 12) throws(FileError) {
    var opened: [Int32] = []
    defer { for number in opened { _ = close(number) } }
    for _ in 0..<count {
      let number =
        opened.first.map { fcntl($0, F_DUPFD_CLOEXEC, 0) }
        ?? Descriptor.open("/dev/null", O_RDONLY)
      guard number >= 0 else { throw FileError("open", "enough files to start a process") }
      opened.append(number)
    }
  }
}

/// The metadata of a file that change whenever its content does.
public struct FileSignature: Hashable, Sendable {
  /// The size in bytes.
  public var size: Int64
  /// The time of the last change of the content, in nanoseconds since the epoch.
  public var modified: Int64
  /// The time of the last change of the metadata, in nanoseconds since the epoch.
  public var changed: Int64
  /// The inode number.
  public var inode: UInt64

  /// Creates the signature of a file from its status.
  public init(_ status: stat) {
    size = Int64(status.st_size)
    modified = Int64(status.st_mtim.tv_sec) * 1_000_000_000 + Int64(status.st_mtim.tv_nsec)
    changed = Int64(status.st_ctim.tv_sec) * 1_000_000_000 + Int64(status.st_ctim.tv_nsec)
    inode = UInt64(status.st_ino)
  }

  /// Returns true if a file with this signature still has the content that it had with another one. A rename sets only
  /// the change time.
  public func hasContent(of other: FileSignature) -> Bool {
    size == other.size && modified == other.modified && inode == other.inode
  }

  /// Creates a signature that was recorded earlier.
  public init(size: Int64, modified: Int64, changed: Int64, inode: UInt64) {
    self.size = size
    self.modified = modified
    self.changed = changed
    self.inode = inode
  }
}

/// File operations that leave a file complete or absent after a crash.
public enum DurableFile {
  /// Returns the content and status of a regular file, or nil if there is none.
  ///
  /// - Throws: `FileError`: `EISDIR` for a folder, `ELOOP` for a symbolic link, `EINVAL` for another kind of file,
  ///   `EFBIG` for a file larger than `limit` bytes.
  public static func read(
    _ path: String, limit: Int = .max
  ) throws(FileError) -> (bytes: [UInt8], status: stat)? {
    guard let file = try ReadableFile.open(path) else { return nil }
    guard Int(file.status.st_size) <= limit else { throw FileError("read", path, number: EFBIG) }
    return (try file.bytes(count: Int(file.status.st_size)), file.status)
  }

  /// Returns the first line of a small file, without its newline, or nil if the file doesn't exist or cannot be read.
  public static func firstLine(of path: String) -> String? {
    guard let file = (try? read(path, limit: 4096)) ?? nil else { return nil }
    return String(decoding: file.bytes.prefix { $0 != UInt8(ascii: "\n") }, as: UTF8.self)
  }

  /// Returns at most 64 KiB of a kernel file (`/proc`), which doesn't report its size.
  public static func readStream(_ path: String) throws(FileError) -> [UInt8] {
    let file = try Descriptor(path, O_RDONLY | O_NONBLOCK)
    var bytes: [UInt8] = []
    var part = [UInt8](repeating: 0, count: 4096)
    while bytes.count < 64 << 10 {
      let count = Glibc.read(file.number, &part, part.count)
      guard count >= 0 else { throw FileError("read", path) }
      if count == 0 { break }
      bytes += part[..<count]
    }
    return bytes
  }

  /// Replaces a file atomically: writes a temporary file, syncs it, renames it and syncs the folder.
  ///
  /// - Parameters:
  ///   - path: The file.
  ///   - temporary: The temporary file, which is overwritten. If it is on another file system, as when `.git` is on
  ///     another disk, `fallback` is used instead.
  ///   - fallback: The temporary file on the file system of `path`; nil for one with its own name next to `path`.
  ///   - mode: The permissions of the new file.
  ///   - syncing: False if the content need not be durable when the call returns.
  ///   - makingFolder: True to create the file's folder if it is missing.
  /// - Returns: The new file's status.
  @discardableResult
  public static func write(
    _ bytes: [UInt8], to path: String, temporary: String, fallback: String? = nil,
    mode: mode_t = 0o644, syncing: Bool = true, makingFolder: Bool = false
  ) throws(FileError) -> stat {
    _ = unlink(temporary)
    let file = try Descriptor(temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, mode: mode)
    var status = stat()
    do throws(FileError) {
      try fill(file.number, bytes, temporary)
      if syncing, fsync(file.number) != 0 { throw FileError("sync", temporary) }
      do throws(FileError) {
        try move(temporary, to: path, makingFolder: makingFolder)
      } catch  where error.number == EXDEV && temporary != fallback {
        // The folder exists by now, as the system reports a missing one first.
        _ = unlink(temporary)
        let other = fallback ?? neighbor(of: path)
        return try write(
          bytes, to: path, temporary: other, fallback: other, mode: mode, syncing: syncing,
          makingFolder: makingFolder)
      }
      // After the rename, which changes the change time.
      guard fstat(file.number, &status) == 0 else { throw FileError("stat", path) }
    } catch {
      _ = unlink(temporary)
      throw error
    }
    if syncing {
      try syncFolder(of: path)
      // The folder may be new.
      if makingFolder { try syncFolder(of: parent(of: path)) }
    }
    return status
  }

  /// Renames a file, and creates the folder of its new name if it is missing and `makingFolder` is true.
  private static func move(
    _ temporary: String, to path: String, makingFolder: Bool
  ) throws(FileError) {
    if rename(temporary, path) == 0 { return }
    guard makingFolder, errno == ENOENT else { throw FileError("write", path) }
    let folder = parent(of: path)
    guard mkdir(folder, 0o755) == 0 || errno == EEXIST else {
      throw FileError("create the folder", folder)
    }
    guard rename(temporary, path) == 0 else { throw FileError("write", path) }
  }

  /// Returns the path of a temporary file in the folder of a file, which no other writer uses.
  private static func neighbor(of path: String) -> String {
    "\(parent(of: path))/.new-\(path.split(separator: "/").last ?? "")-\(uniqueSuffix)"
  }

  /// A text for the name of a temporary file that several processes may write at the same time.
  ///
  /// A process number would not do: processes in different containers can have the same one.
  static var uniqueSuffix: String { String(UInt64.random(in: 0 ... .max), radix: 36) }

  /// Links a file to a second name, so that it can be restored after a replacement. Copies it if the file system
  /// doesn't support links.
  ///
  /// - Parameter aside: The second name, which is overwritten.
  /// - Returns: False if there is no such file.
  public static func keep(_ path: String, as aside: String) throws(FileError) -> Bool {
    if link(path, aside) == 0 { return true }
    if errno == EEXIST {
      _ = unlink(aside)
      if link(path, aside) == 0 { return true }
    }
    let number = errno
    if number == ENOENT { return false }
    guard linksAreRefused(number) else { throw FileError("back up", path, number: number) }
    guard let content = try read(path) else { return false }
    try write(
      content.bytes, to: aside, temporary: aside + "~", mode: content.status.st_mode & 0o777,
      syncing: false)
    return true
  }

  /// Returns true if an error of `link` means that the file system doesn't support links there.
  static func linksAreRefused(_ number: Int32) -> Bool {
    [EPERM, EACCES, EMLINK, ENOSYS, ENOTSUP, EXDEV].contains(number)
  }

  /// Writes all bytes to a descriptor.
  ///
  /// - Parameter path: The file's path, for errors.
  static func fill(
    _ descriptor: Int32, _ bytes: [UInt8], _ path: String
  ) throws(FileError) {
    let number = bytes.withUnsafeBytes { fill(descriptor, $0) }
    guard number == 0 else { throw FileError("write", path, number: number) }
  }

  /// Writes all bytes to a descriptor. Returns the system's error number, or 0.
  static func fill(_ descriptor: Int32, _ bytes: UnsafeRawBufferPointer) -> Int32 {
    var written = 0
    while written < bytes.count {
      let count = Glibc.write(descriptor, bytes.baseAddress! + written, bytes.count - written)
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { return count < 0 ? errno : EIO }
      written += count
    }
    return 0
  }

  /// Makes a file's content or a folder's entries durable.
  static func sync(_ path: String) throws(FileError) {
    let file = try Descriptor(path, O_RDONLY | O_NOFOLLOW)
    guard fsync(file.number) == 0 else { throw FileError("sync", path) }
  }

  /// Makes all writes to the file system of a folder durable. For many files this is faster than syncing each of
  /// them.
  public static func syncFileSystem(of path: String) throws(FileError) {
    let folder = try Descriptor(path, O_RDONLY | O_DIRECTORY)
    guard syncfs(folder.number) == 0 else { throw FileError("sync", path) }
  }

  /// Makes the entries of a file's folder durable.
  public static func syncFolder(of path: String) throws(FileError) {
    try syncFolder(parent(of: path))
  }

  /// Makes a folder's entries durable.
  public static func syncFolder(_ path: String) throws(FileError) {
    let folder = try Descriptor(path, O_RDONLY | O_DIRECTORY)
    guard fsync(folder.number) == 0 else { throw FileError("sync", path) }
  }

  /// Creates a folder and its missing parents. An existing folder is no error.
  ///
  /// - Parameter syncing: False if the folders need not be durable when the call returns.
  public static func makeFolder(
    _ path: String, mode: mode_t = 0o755, syncing: Bool = true
  ) throws(FileError) {
    if mkdir(path, mode) == 0 {
      if syncing { try syncFolder(of: path) }
      return
    }
    switch errno {
    case EEXIST:
      var status = stat()
      guard stat(path, &status) == 0 else { throw FileError("stat", path) }
      guard status.st_mode & S_IFMT == S_IFDIR else {
        throw FileError("create the folder", path, number: ENOTDIR)
      }
    case ENOENT where path.contains("/"):
      try makeFolder(parent(of: path), mode: mode, syncing: syncing)
      guard mkdir(path, mode) == 0 || errno == EEXIST else {
        throw FileError("create the folder", path)
      }
      if syncing { try syncFolder(of: path) }
    default: throw FileError("create the folder", path)
    }
  }

  /// Returns the names in a folder, in no particular order. The result is empty if the folder cannot be listed.
  public static func names(in folder: String) -> [String] {
    guard let stream = opendir(folder) else { return [] }
    defer { closedir(stream) }
    var names: [String] = []
    while let entry = readdir(stream) {
      let name = String(decoding: FolderEntry.name(entry), as: UTF8.self)
      if name != ".", name != ".." { names.append(name) }
    }
    return names
  }

  /// Returns the path of the folder that holds a file; `.` for a plain name.
  public static func parent(of path: String) -> String {
    guard let slash = path.lastIndex(of: "/") else { return "." }
    return slash == path.startIndex ? "/" : String(path[..<slash])
  }
}
