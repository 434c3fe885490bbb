import BelfryCore
import Files

extension FileLock {
  /// Waits for the lock, and describes its holder in the file.
  ///
  /// - Parameters:
  ///   - path: The lock file, which is created if necessary.
  ///   - holder: The description of this process that other processes read from the file.
  ///   - timeout: The timeout in milliseconds.
  /// - Throws: `StoreError.locked` after the timeout, or `FileError`.
  public convenience init(_ path: String, holder: String, timeout: Int = 0) throws {
    try self.init(path)
    guard try lock(timeout: timeout) else { throw StoreError.locked(by: self.holder) }
    describe(holder)
  }

  /// Sets the modification time of the lock file. The call may block on a hanging disk.
  public func setModificationTime(_ time: Instant) {
    setModificationTime(milliseconds: time.milliseconds)
  }
}
