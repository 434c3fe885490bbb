import CLibgit2

/// The libgit2 library, which is loaded and initialized once, when a process first opens a repository.
///
/// It is never shut down, because handles can outlive any scope.
public enum LibGit2 {
  /// The Debian package that contains the library: `libgit2-1.5`.
  public static let package = "libgit2-\(LIBGIT2_SOVERSION)"

  /// The reason that the library cannot be used; nil if it is ready.
  private static let failure: GitError? = {
    if let reason = belfry_libgit2_load() {
      return GitError(.libraryMissing, "load libgit2", String(cString: reason))
    }
    // Whatever must be durable is synced by its writer, or is in a write-ahead log.
    guard git_libgit2_init() > 0, belfry_git_enable_fsync(0) == 0,
      belfry_git_accept_extensions() == 0
    else {
      return GitError(.generic, "initialize libgit2", "git_libgit2_init failed")
    }
    return nil
  }()

  /// Loads and initializes the library ahead of its first use, which waits for it. A failure is reported at that use.
  public static func preload() { _ = failure }

  /// Loads and initializes the library, unless an earlier call did.
  ///
  /// Call it before any other function of libgit2, because these functions have no address until then.
  ///
  /// - Throws: `GitError` at every call if the first one failed.
  static func start() throws(GitError) {
    if let failure { throw failure }
  }
}
