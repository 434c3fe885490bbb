import Dispatch
import Glibc
import Synchronization

/// An open regular file, of which parts can be read.
///
/// All parts are of the same version of the file, even if another process replaces it meanwhile.
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

  /// Returns the bytes at an offset: `count` bytes, or fewer at the end of the file.
  public func bytes(at offset: Int, count: Int) throws(FileError) -> [UInt8] {
    var failure: Int32 = 0
    let bytes = [UInt8](unsafeUninitializedCapacity: count) { buffer, read in
      while read < count {
        let got = pread(
          descriptor.number, buffer.baseAddress! + read, count - read, off_t(offset + read))
        if got < 0, errno == EINTR { continue }
        if got < 0 { failure = errno }
        if got <= 0 { break }
        read += got
      }
    }
    guard failure == 0 else { throw FileError("read", path, number: failure) }
    return bytes
  }

  /// The size of the pieces of `bytes(count:_:)`, a multiple of eight. A piece fits into the cache of a core.
  public static let pieceSize = 256 << 10

  /// Returns the first bytes, read in pieces, several at a time if there are many.
  ///
  /// - Parameters:
  ///   - count: The number of bytes. At the end of the file there are fewer.
  ///   - body: Receives the offset and the bytes of each piece, in any order and on several threads. This is faster than
  ///     another pass over all bytes.
  public func bytes(
    count: Int, _ body: @Sendable (_ offset: Int, UnsafeRawBufferPointer) -> Void = { _, _ in }
  ) throws(FileError) -> [UInt8] {
    let size = ReadableFile.pieceSize
    let pieces = (count + size - 1) / size
    let number = descriptor.number
    let failure = Mutex<Int32>(0)
    let end = Mutex(count)
    let bytes = [UInt8](unsafeUninitializedCapacity: count) { buffer, initialized in
      // Sound: each piece writes to its own part of the buffer, which lives until all pieces are done.
      nonisolated(unsafe) let start = UnsafeMutableRawPointer(buffer.baseAddress)
      if count >= ReadableFile.largeSize, let start {
        // Otherwise the system clears and maps thousands of small pages. Without support nothing changes.
        let page = UInt(sysconf(Int32(_SC_PAGESIZE)))
        let first = (UInt(bitPattern: start) + page - 1) & ~(page - 1)
        let length = UInt(bitPattern: start) + UInt(count) - first
        _ = madvise(UnsafeMutableRawPointer(bitPattern: first), Int(length), MADV_HUGEPAGE)
      }
      @Sendable func read(_ piece: Int) {
        guard let start else { return }
        let offset = piece * size
        let wanted = min(size, count - offset)
        var done = 0
        while done < wanted {
          let got = pread(number, start + offset + done, wanted - done, off_t(offset + done))
          if got < 0, errno == EINTR { continue }
          if got < 0 {
            let reason = errno
            failure.withLock { $0 = reason }
          }
          if got <= 0 { break }
          done += got
        }
        if done < wanted { end.withLock { $0 = min($0, offset + done) } }
        body(offset, UnsafeRawBufferPointer(start: start + offset, count: done))
      }
      if pieces <= ReadableFile.maxPiecesAtOnce {
        for piece in 0..<pieces { read(piece) }
      } else {
        DispatchQueue.concurrentPerform(iterations: pieces) { read($0) }
      }
      initialized = end.withLock { $0 }
    }
    let reason = failure.withLock { $0 }
    guard reason == 0 else { throw FileError("read", path, number: reason) }
    return bytes
  }

  /// The number of bytes from which large pages of memory are worth a request.
  private static let largeSize = 8 << 20

  /// The number of pieces that one thread reads in less time than the start of another one takes.
  private static let maxPiecesAtOnce = 4
}
