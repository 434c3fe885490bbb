import CLinux
import Glibc

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
    assert(temporary != path, "the file stays until its new version is complete")
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
  public static var uniqueSuffix: String { String(UInt64.random(in: 0 ... .max), radix: 36) }

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
  public static func linksAreRefused(_ number: Int32) -> Bool {
    [EPERM, EACCES, EMLINK, ENOSYS, ENOTSUP, EXDEV].contains(number)
  }

  /// Writes all bytes to a descriptor.
  ///
  /// - Parameter path: The file's path, for errors.
  public static func fill(
    _ descriptor: Int32, _ bytes: [UInt8], _ path: String
  ) throws(FileError) {
    let number = bytes.withUnsafeBytes { fill(descriptor, $0) }
    guard number == 0 else { throw FileError("write", path, number: number) }
  }

  /// Writes all bytes to a descriptor. Returns the system's error number, or 0.
  public static func fill(_ descriptor: Int32, _ bytes: UnsafeRawBufferPointer) -> Int32 {
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
  public static func sync(_ path: String) throws(FileError) {
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
  public static func names(in folder: String) -> [String] { (try? list(folder)) ?? [] }

  /// Returns the names in a folder, in no particular order.
  ///
  /// - Throws: `FileError` if it cannot be read.
  public static func list(_ folder: String) throws(FileError) -> [String] {
    guard let stream = opendir(folder) else { throw FileError("read", folder) }
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
