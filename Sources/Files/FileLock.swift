import Glibc
import Synchronization

/// An exclusive lock on a file. The system releases it when the process ends for any reason.
///
/// The lock ends with the object. A process that inherits the descriptor holds the lock, too.
public final class FileLock: Sendable {
  /// The path of the lock file.
  public let path: String
  /// The descriptor of the lock file.
  public let descriptor: Int32
  /// True if the file contains the description of this process.
  private let isDescribed = Atomic(false)

  /// The maximum size of a holder's description, in bytes.
  private static let maxHolderSize = 200

  /// Opens a lock file, which is created if necessary, without locking it.
  public init(_ path: String, mode: mode_t = 0o644) throws(FileError) {
    self.path = path
    descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, mode)
    guard descriptor >= 0 else { throw FileError("open", path) }
  }

  /// Waits for the lock.
  ///
  /// - Parameter timeout: The timeout in milliseconds; nil to wait without a limit.
  /// - Returns: False if another process still holds the lock.
  public func lock(timeout: Int? = nil) throws(FileError) -> Bool {
    var waited = 0
    while flock(descriptor, timeout == nil ? LOCK_EX : LOCK_EX | LOCK_NB) != 0 {
      let number = errno
      if number == EINTR { continue }
      guard number == EWOULDBLOCK else { throw FileError(locking: path, number: number) }
      guard let timeout, waited < timeout else { return false }
      usleep(5_000)
      waited += 5
    }
    return true
  }

  /// Describes this process, which holds the lock, in the file. The description is removed with the lock.
  public func describe(_ holder: String) {
    let text = Array(holder.utf8.prefix(FileLock.maxHolderSize))
    _ = ftruncate(descriptor, 0)
    _ = pwrite(descriptor, text, text.count, 0)
    isDescribed.store(true, ordering: .relaxed)
  }

  /// The description of the process that holds the lock.
  public var holder: String { FileLock.holder(descriptor) }

  private static func holder(_ file: Int32) -> String {
    var buffer = [UInt8](repeating: 0, count: maxHolderSize)
    let count = pread(file, &buffer, buffer.count, 0)
    return count > 0 ? String(decoding: buffer.prefix(count), as: UTF8.self) : "another process"
  }

  /// Returns the description of the process that holds a lock; nil if no process holds it.
  public static func holder(of path: String) -> String? {
    // Only for reading: the end of a write would wake processes that watch the file.
    let file = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
    guard file >= 0 else { return nil }
    defer { close(file) }
    return flock(file, LOCK_SH | LOCK_NB) == 0 ? nil : holder(file)
  }

  /// Sets the modification time of the lock file. The call may block on a hanging disk.
  ///
  /// - Parameter milliseconds: The time in milliseconds since the epoch.
  public func setModificationTime(milliseconds: Int64) {
    var times = [timespec(), timespec()]
    // UTIME_OMIT keeps the access time.
    times[0].tv_nsec = (1 << 30) - 2
    times[1].tv_sec = Int(milliseconds / 1000)
    times[1].tv_nsec = Int(milliseconds % 1000) * 1_000_000
    _ = futimens(descriptor, times)
  }

  /// True if the locked file is still at the lock's path; false if another file has replaced it.
  public var isInPlace: Bool {
    var (own, other) = (stat(), stat())
    return fstat(descriptor, &own) == 0 && stat(path, &other) == 0 && own.st_dev == other.st_dev
      && own.st_ino == other.st_ino
  }

  /// Returns the reason that files in a folder cannot be locked, or nil if they can, or if the attempt isn't
  /// possible.
  ///
  /// - Parameter path: A file that no other process uses. It is created and removed.
  public static func failure(at path: String) -> FileError? {
    guard let lock = try? FileLock(path, mode: 0o600) else { return nil }
    defer { _ = unlink(path) }
    do throws(FileError) {
      _ = try lock.lock(timeout: 0)
      return nil
    } catch {
      return error
    }
  }

  deinit {
    if isDescribed.load(ordering: .relaxed) { _ = ftruncate(descriptor, 0) }
    if descriptor >= 0 { close(descriptor) }
  }
}
