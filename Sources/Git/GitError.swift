import CLibgit2

/// A failed libgit2 call.
public struct GitError: Error, Equatable, Sendable {
  /// An error code of libgit2. Unknown codes keep their number.
  public struct Code: RawRepresentable, Hashable, Sendable {
    /// The number.
    public let rawValue: Int32

    /// Creates a code from its number.
    public init(rawValue: Int32) {
      self.rawValue = rawValue
    }

    /// The object, reference or path doesn't exist.
    public static let notFound = Code(rawValue: GIT_ENOTFOUND.rawValue)
    /// The object or reference exists already.
    public static let exists = Code(rawValue: GIT_EEXISTS.rawValue)
    /// A reference doesn't have the expected value.
    public static let modified = Code(rawValue: GIT_EMODIFIED.rawValue)
    /// A lock file exists.
    public static let locked = Code(rawValue: GIT_ELOCKED.rawValue)
    /// The repository belongs to another user.
    public static let owner = Code(rawValue: GIT_EOWNER.rawValue)
    /// The content of an object doesn't match its id.
    public static let damaged = Code(rawValue: GIT_EMISMATCH.rawValue)
    /// An object is larger than the limit of the read.
    public static let tooLarge = Code(rawValue: GIT_EBUFS.rawValue)
    /// An error without a more specific code.
    public static let generic = Code(rawValue: GIT_ERROR.rawValue)
    /// An intact object is of another kind than expected, or not in git's format. This code isn't one of libgit2's.
    public static let malformed = Code(rawValue: -10_001)
    /// libgit2 could not be loaded, mostly because it is not installed. This code isn't one of libgit2's.
    public static let libraryMissing = Code(rawValue: -10_002)
  }

  /// True if an object cannot be read here, because it is missing, damaged or on a failing disk.
  ///
  /// This says nothing about its content: another device may be able to read it.
  public var isUnreadable: Bool { code != .tooLarge && code != .malformed }

  /// The error code.
  public let code: Code
  /// The attempted operation, as a verb: `open the repository`.
  public let operation: String
  /// The reason, mostly libgit2's message.
  public let message: String

  /// Creates an error from its parts.
  public init(_ code: Code, _ operation: String, _ message: String) {
    self.code = code
    self.operation = operation
    self.message = message
  }

  /// Throws if a call's result is an error.
  ///
  /// Call it in the function that made the call: libgit2's message is thread-local, and the next call overwrites it.
  static func check(_ result: Int32, _ operation: String) throws(GitError) {
    if let error = last(result, operation) { throw error }
  }

  /// Returns the error of the last call, or nil if its result is no error.
  static func last(_ result: Int32, _ operation: String) -> GitError? {
    guard result < 0 else { return nil }
    let message = git_error_last().flatMap { $0.pointee.message.map { String(cString: $0) } }
    return GitError(Code(rawValue: result), operation, message ?? "libgit2 reported no reason")
  }
}

extension GitError: CustomStringConvertible {
  /// The message for the user.
  public var description: String { "could not \(operation): \(message)" }
}
