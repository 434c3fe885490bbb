import BelfryCore
import Git
import Glibc

/// A lock on a file of the local state that this process holds for as long as the object exists.
public final class LocalLock: Sendable {
  private let lock: StoreLock
  private let path: String

  /// Takes the lock.
  ///
  /// - Parameters:
  ///   - path: The lock file, which is created if necessary.
  ///   - holder: The description of this process that other processes read from the file.
  ///   - timeout: The timeout in milliseconds.
  /// - Throws: `StoreError.locked` if another process holds it, or `FileError`.
  public init(_ path: String, holder: String, timeout: Int = 0) throws {
    lock = try StoreLock(path, holder: holder, timeout: timeout)
    self.path = path
  }

  /// Sets the modification time of the lock file. The call may block on a hanging disk.
  public func setModificationTime(_ time: Instant) { lock.setModificationTime(time) }

  /// True if the locked file is still at the lock's path; false if another store has replaced it.
  public var isInPlace: Bool { lock.isFile(at: path) }

  /// Returns the description of the process that holds a lock; nil if no process holds it.
  public static func holder(of path: String) -> String? {
    let file = Glibc.open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW)
    guard file >= 0 else { return nil }
    defer { close(file) }
    return flock(file, LOCK_SH | LOCK_NB) == 0 ? nil : StoreLock.holder(file)
  }
}
