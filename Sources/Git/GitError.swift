import CLibgit2

/// A failed libgit2 call: what it was for, libgit2's code and its words.
public struct GitError: Error, Equatable, Sendable {
  /// libgit2's error codes; any other number survives as it is.
  public struct Code: RawRepresentable, Hashable, Sendable {
    public let rawValue: Int32

    public init(rawValue: Int32) {
      self.rawValue = rawValue
    }

    public static let notFound = Code(rawValue: GIT_ENOTFOUND.rawValue)
    public static let exists = Code(rawValue: GIT_EEXISTS.rawValue)
    public static let modified = Code(rawValue: GIT_EMODIFIED.rawValue)
    public static let locked = Code(rawValue: GIT_ELOCKED.rawValue)
    public static let owner = Code(rawValue: GIT_EOWNER.rawValue)
    /// An object is not what its name promises.
    public static let damaged = Code(rawValue: GIT_EMISMATCH.rawValue)
    /// An object has more bytes than whoever reads it takes.
    public static let tooLarge = Code(rawValue: GIT_EBUFS.rawValue)
    public static let generic = Code(rawValue: GIT_ERROR.rawValue)
    /// An object is whole, and not what was asked for: of another kind, or not in git's form. Not one of libgit2's codes.
    public static let malformed = Code(rawValue: -10_001)
  }

  /// Returns true when an object could not be read here, because it is missing, damaged or on a disk that fails. Nothing
  /// follows from that for what it holds: others may be able to read it.
  public var isUnreadable: Bool { code != .tooLarge && code != .malformed }

  public let code: Code
  /// What was being done: `open the repository`.
  public let operation: String
  public let message: String

  public init(_ code: Code, _ operation: String, _ message: String) {
    self.code = code
    self.operation = operation
    self.message = message
  }

  /// Throws when a call's result is an error. Must run in the function that made the call: libgit2's
  /// message belongs to the thread, and is overwritten or cleared by the next call.
  static func check(_ result: Int32, _ operation: String) throws(GitError) {
    if let error = last(result, operation) { throw error }
  }

  /// The error of the last call; nil when its result is none.
  static func last(_ result: Int32, _ operation: String) -> GitError? {
    guard result < 0 else { return nil }
    let message = git_error_last().flatMap { $0.pointee.message.map { String(cString: $0) } }
    return GitError(Code(rawValue: result), operation, message ?? "libgit2 gave no reason")
  }
}

extension GitError: CustomStringConvertible {
  public var description: String { "could not \(operation): \(message)" }
}

/// libgit2 itself, begun once and never shut down: handles may outlive any scope that would.
enum LibGit2 {
  static let begun: Bool = {
    guard git_libgit2_init() > 0 else { return false }
    // Objects, reflogs and refs are on disk before a write counts as done.
    return belfry_git_enable_fsync(1) == 0
  }()
}
