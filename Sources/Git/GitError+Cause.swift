import Glibc

extension GitError {
  /// The cause of an error, as far as it is known.
  public enum Cause: Equatable, Sendable {
    /// A system call failed with an error number, such as `ENOSPC`.
    case system(Int32)
    /// An object or a file of git is damaged.
    case damage
    /// The repository uses an extension of git, such as `objectformat`, that Belfry cannot handle.
    case unsupportedExtension(String)
    /// Any other cause.
    case unknown
  }

  /// The system errors that a user can resolve.
  private static let systemErrors = [ENOSPC, EDQUOT, EROFS, EACCES, EMFILE]

  /// The cause.
  ///
  /// libgit2 resets `errno`, and reports system errors and most damage only in the text of its messages.
  public var cause: Cause {
    let number = GitError.systemErrors.first { message.contains(String(cString: strerror($0))) }
    if let number { return .system(number) }
    if let range = message.firstRange(of: "unsupported extension name extensions.") {
      return .unsupportedExtension(String(message[range.upperBound...]))
    }
    return code == .damaged || message.contains("corrupted") ? .damage : .unknown
  }
}
