import Git
import Glibc

/// The store's lock: held while a process writes, gone with the process, whatever ends it.
struct StoreLock: ~Copyable {
  private let descriptor: Int32

  /// Waits for the lock; throws `StoreError.locked` when it is not free within `patience` milliseconds.
  ///
  /// - Parameter holder: what the file then says of us, for whoever waits.
  init(_ path: String, holder: String, patience: Int) throws {
    let file = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o644)
    guard file >= 0 else { throw FileError("open", path) }
    var waited = 0
    while flock(file, LOCK_EX | LOCK_NB) != 0 {
      let number = errno
      if number == EINTR { continue }
      guard number == EWOULDBLOCK, waited < patience else {
        var buffer = [UInt8](repeating: 0, count: 200)
        let count = pread(file, &buffer, buffer.count, 0)
        close(file)
        if number != EWOULDBLOCK { throw FileError("lock", path, number: number) }
        let text = String(decoding: buffer.prefix(max(0, count)), as: UTF8.self)
        throw StoreError.locked(by: text.isEmpty ? "another process" : text)
      }
      usleep(5_000)
      waited += 5
    }
    descriptor = file
    let text = Array(holder.utf8.prefix(200))
    _ = ftruncate(file, 0)
    _ = pwrite(file, text, text.count, 0)
  }

  deinit {
    _ = ftruncate(descriptor, 0)
    close(descriptor)
  }
}
