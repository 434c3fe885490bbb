import Glibc

/// An open file descriptor that is closed when it goes out of scope.
public struct Descriptor: ~Copyable {
  /// The system's number of the descriptor.
  public let number: Int32

  /// Takes over an open descriptor.
  public init(taking number: Int32) {
    self.number = number
  }

  /// Opens a file, with the permissions `mode` if the flags create it.
  public init(_ path: String, _ flags: Int32, mode: mode_t = 0o644) throws(FileError) {
    let opened = Descriptor.open(path, flags, mode: mode)
    guard opened >= 0 else { throw FileError("open", path) }
    self.init(taking: opened)
  }

  /// Opens a file and repeats the call if a signal interrupts it. Returns a negative number on failure, with `errno`.
  public static func open(_ path: String, _ flags: Int32, mode: mode_t = 0o644) -> Int32 {
    var result: Int32
    repeat { result = Glibc.open(path, flags | O_CLOEXEC, mode) } while result < 0 && errno == EINTR
    return result
  }

  /// Returns the status of the open file.
  ///
  /// - Parameter path: The path for the error.
  public func status(_ path: String) throws(FileError) -> stat {
    var status = stat()
    guard fstat(number, &status) == 0 else { throw FileError("stat", path) }
    return status
  }

  deinit { _ = Glibc.close(number) }
}
