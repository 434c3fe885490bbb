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
