import Files
import Glibc

/// A file of this device's local state with a typed value, which is replaced as a whole.
///
/// A reader sees the value before or after a change, never a part of it, and needs no lock. Changes that depend on the
/// present value use `update`, so that two processes lose none.
package struct LocalFile<Value: Sendable>: Sendable {
  /// The coding of a file's value.
  package struct Format: Sendable {
    /// The value of a file that is missing, unreadable or damaged.
    package let empty: Value
    /// The size in bytes above which a file counts as damaged.
    package let maxSize: Int
    /// Returns the value of a file's content, or nil if the content is damaged.
    package let decode: @Sendable ([UInt8]) -> Value?
    /// Returns the content for a value.
    package let encode: @Sendable (Value) -> [UInt8]

    /// Creates a coding.
    package init(
      empty: Value, maxSize: Int, decode: @escaping @Sendable ([UInt8]) -> Value?,
      encode: @escaping @Sendable (Value) -> [UInt8]
    ) {
      self.empty = empty
      self.maxSize = maxSize
      self.decode = decode
      self.encode = encode
    }
  }

  /// The rule that keeps the writers of a file apart.
  package enum Exclusion: Sendable {
    /// Only the holder of the store's lock writes the file.
    case storeLock
    /// Each writer takes the lock file at this path.
    ///
    /// - required: True if a value must not be written without the lock. Otherwise a lost update is better than none,
    ///   as on a file system without locks.
    case lock(String, required: Bool)
    /// Every value replaces the previous one, whoever wrote it.
    case none
  }

  /// The timeout for a file's lock in milliseconds. Other processes hold it only during a change.
  package static var lockTimeout: Int { 2_000 }

  /// The path of the file.
  package let path: String
  /// The coding of the value.
  package let format: Format
  /// The rule for writers.
  package let exclusion: Exclusion
  /// True if a change is durable when the call returns. Otherwise a power failure can undo it.
  package let isDurable: Bool
  /// Returns true if two values are equal.
  ///
  /// A constraint of the type to equatable values would make each process search all protocol conformances of the
  /// binary, once for each type of value.
  private let areEqual: @Sendable (Value, Value) -> Bool

  /// Creates the description of a file. It does not access the file.
  package init(path: String, format: Format, exclusion: Exclusion, isDurable: Bool)
  where Value: Equatable {
    self.path = path
    self.format = format
    self.exclusion = exclusion
    self.isDurable = isDurable
    areEqual = { $0 == $1 }
  }

  /// Returns the value. A file that is missing, unreadable or damaged has the format's empty value.
  package func read() -> Value { intact() ?? format.empty }

  /// Returns the value, or nil if the file is missing, unreadable or damaged.
  func intact() -> Value? {
    ((try? DurableFile.read(path, limit: format.maxSize)) ?? nil).flatMap {
      format.decode($0.bytes)
    }
  }

  /// Reads the value, changes it and replaces the file, all under the file's lock. An unchanged value isn't written.
  ///
  /// - Parameters:
  ///   - holder: The description of this process for others that wait for the lock.
  ///   - timeout: The timeout for the lock in milliseconds.
  ///   - body: Changes the value. It must not change the same file.
  /// - Returns: The result of `body`.
  /// - Throws: `StoreError.locked` or `FileError` if the lock is required and cannot be had; `FileError` if the file
  ///   cannot be replaced; the errors of `body`.
  @discardableResult
  package func update<Result>(
    holder: String, timeout: Int = LocalFile.lockTimeout, _ body: (inout Value) throws -> Result
  ) throws -> Result {
    try locked(holder: holder, timeout: timeout) { failure in
      if let failure, case .lock(_, required: true) = exclusion { throw failure }
      let before = read()
      var value = before
      let result = try body(&value)
      if !areEqual(value, before) { try write(value, isLocked: failure == nil) }
      return result
    }
  }

  /// Replaces the file, under its lock if there is one.
  ///
  /// - Throws: The same errors as `update`.
  package func replace(with value: Value, holder: String = "", timeout: Int = LocalFile.lockTimeout)
    throws
  {
    try locked(holder: holder, timeout: timeout) { failure in
      if let failure, case .lock(_, required: true) = exclusion { throw failure }
      try write(value, isLocked: failure == nil)
    }
  }

  /// Calls a closure under the file's lock, or with the reason that the lock cannot be had.
  package func locked<Result>(
    holder: String, timeout: Int = LocalFile.lockTimeout, _ body: ((any Error)?) throws -> Result
  ) rethrows -> Result {
    guard case .lock(let path, _) = exclusion else { return try body(nil) }
    var lock: FileLock?
    var failure: (any Error)?
    do {
      lock = try FileLock(path, holder: holder, timeout: timeout)
    } catch let reason {
      failure = reason
    }
    defer { withExtendedLifetime(lock) {} }
    return try body(failure)
  }

  /// Replaces the file atomically, for a caller that keeps other writers away.
  ///
  /// - Parameter isLocked: False if the lock could not be had, so that another process can write at the same time.
  func write(_ value: Value, isLocked: Bool) throws(FileError) {
    // A holder of the lock overwrites the temporary file of a process that died.
    let isAlone = if case .none = exclusion { false } else { isLocked }
    try DurableFile.write(
      format.encode(value), to: path,
      temporary: isAlone ? "\(path).new" : "\(path).new-\(getpid())", syncing: isDurable)
  }
}
