import Glibc

/// An open regular file, whose status and content are of the same version, even if another process replaces it meanwhile.
public struct ReadableFile: ~Copyable {
  private let descriptor: Descriptor
  private let path: String
  /// The status of the file when it was opened.
  public let status: stat

  /// Opens a file. Returns nil if there is none.
  ///
  /// - Throws: `FileError`: `EISDIR` for a folder, `ELOOP` for a symbolic link, `EINVAL` for another kind of file.
  public static func open(_ path: String) throws(FileError) -> ReadableFile? {
    // A named pipe in a record's place must not block a reader.
    let opened = Descriptor.open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK)
    if opened < 0, errno == ENOENT { return nil }
    guard opened >= 0 else { throw FileError("open", path) }
    let descriptor = Descriptor(taking: opened)
    var status = stat()
    guard fstat(descriptor.number, &status) == 0 else { throw FileError("stat", path) }
    switch status.st_mode & S_IFMT {
    case S_IFREG: break
    case S_IFDIR: throw FileError("read", path, number: EISDIR)
    default: throw FileError("read", path, number: EINVAL)
    }
    return ReadableFile(descriptor: descriptor, path: path, status: status)
  }

  private init(descriptor: consuming Descriptor, path: String, status: stat) {
    self.descriptor = descriptor
    self.path = path
    self.status = status
  }

  /// Returns the first bytes: `count` bytes, or fewer at the end of the file.
  public func bytes(count: Int) throws(FileError) -> [UInt8] {
    var failure: Int32 = 0
    let bytes = [UInt8](unsafeUninitializedCapacity: count) { buffer, read in
      while read < count {
        let got = pread(descriptor.number, buffer.baseAddress! + read, count - read, off_t(read))
        if got < 0, errno == EINTR { continue }
        if got < 0 { failure = errno }
        if got <= 0 { break }
        read += got
      }
    }
    guard failure == 0 else { throw FileError("read", path, number: failure) }
    return bytes
  }
}
