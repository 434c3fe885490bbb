import BelfryCore
import Git
import Glibc

/// An exclusive lock on a file. The system releases it when the process ends for any reason.
struct StoreLock: ~Copyable {
  /// The descriptor of the locked file. A process that inherits it holds the lock, too.
  let descriptor: Int32

  /// The maximum size of a holder's description, in bytes.
  private static let maxHolderSize = 200

  /// Waits for the lock.
  ///
  /// - Parameters:
  ///   - path: The lock file, which is created if necessary.
  ///   - holder: The description of this process that other processes read from the file.
  ///   - timeout: The timeout in milliseconds.
  /// - Throws: `StoreError.locked` after the timeout, or `FileError`.
  init(_ path: String, holder: String, timeout: Int) throws {
    let file = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o644)
    guard file >= 0 else { throw FileError("open", path) }
    var waited = 0
    while flock(file, LOCK_EX | LOCK_NB) != 0 {
      let number = errno
      if number == EINTR { continue }
      guard number == EWOULDBLOCK, waited < timeout else {
        let other = StoreLock.holder(file)
        close(file)
        if number != EWOULDBLOCK { throw FileError(locking: path, number: number) }
        throw StoreError.locked(by: other)
      }
      usleep(5_000)
      waited += 5
    }
    descriptor = file
    let text = Array(holder.utf8.prefix(StoreLock.maxHolderSize))
    _ = ftruncate(file, 0)
    _ = pwrite(file, text, text.count, 0)
  }

  /// Returns the description of the process that holds the lock on an open lock file.
  static func holder(_ file: Int32) -> String {
    var buffer = [UInt8](repeating: 0, count: maxHolderSize)
    let count = pread(file, &buffer, buffer.count, 0)
    return count > 0 ? String(decoding: buffer.prefix(count), as: UTF8.self) : "another process"
  }

  /// Sets the modification time of the lock's file.
  func setModificationTime(_ moment: Instant) {
    var times = [timespec(), timespec()]
    // UTIME_OMIT keeps the access time.
    times[0].tv_nsec = (1 << 30) - 2
    times[1].tv_sec = Int(moment.milliseconds / 1000)
    times[1].tv_nsec = Int(moment.milliseconds % 1000) * 1_000_000
    _ = futimens(descriptor, times)
  }

  /// Returns true if the locked file is at `path`.
  func isFile(at path: String) -> Bool {
    var (own, other) = (stat(), stat())
    return fstat(descriptor, &own) == 0 && stat(path, &other) == 0 && own.st_dev == other.st_dev
      && own.st_ino == other.st_ino
  }

  /// Returns the reason that files in a folder cannot be locked, or nil if they can, or if the attempt isn't
  /// possible.
  ///
  /// - Parameter path: A file that no other process uses. It is created and removed.
  static func failure(at path: String) -> FileError? {
    let file = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
    guard file >= 0 else { return nil }
    defer {
      close(file)
      _ = unlink(path)
    }
    if flock(file, LOCK_EX | LOCK_NB) == 0 || errno == EWOULDBLOCK { return nil }
    return FileError(locking: path)
  }

  deinit {
    _ = ftruncate(descriptor, 0)
    close(descriptor)
  }
}
