import CLibgit2
import Glibc
import Synchronization

/// An open git repository: objects, refs and commits.
///
/// The handle is used under a lock and never leaves; what comes out are values.
public final class Repository: Sendable {
  private struct Handle: ~Copyable {
    let pointer: OpaquePointer
    deinit { git_repository_free(pointer) }
  }
  private let handle: Mutex<Handle>
  /// The `.git` folder, with a slash at the end.
  public let gitDirectory: String
  /// The same, but for a linked work tree that of the repository that it belongs to.
  public let commonDirectory: String
  /// Where files are written before they are renamed or linked into place; no slash at the end.
  let scratch: String
  /// The folder with the files; the repository itself when it is bare. No slash at the end.
  public let workTree: String
  let loose: LooseObjects
  /// What is to be durable before a reference moves.
  let unsynced = Unsynced()
  /// The inode of the index as it was last written here; nil when it was not, or made anew.
  let splicedIndex = Mutex<UInt64?>(nil)

  private init(
    _ pointer: sending OpaquePointer, workTree: String, gitDirectory: String,
    commonDirectory: String, scratch: String?
  ) {
    self.workTree = workTree
    self.gitDirectory = gitDirectory
    self.commonDirectory = commonDirectory
    self.scratch = scratch ?? String(gitDirectory.dropLast())
    loose = LooseObjects(
      folder: commonDirectory + "objects", temporary: "\(self.scratch)/new-object")
    handle = Mutex(Handle(pointer: pointer))
  }

  /// Runs with the handle. Closures must not call back into this repository.
  func with<Result: Sendable>(
    _ body: (OpaquePointer) throws(GitError) -> Result
  ) throws(GitError) -> Result {
    do {
      return try handle.withLock { handle throws in try body(handle.pointer) }
    } catch let error as GitError {
      throw error
    } catch {
      throw GitError(.generic, "use the repository", "\(error)")
    }
  }

  // MARK: Opening

  /// Opens the repository whose work tree, or bare folder, is exactly `path`.
  ///
  /// - Parameter scratch: a folder on the same file system for files that are being written; nil for the
  ///   `.git` folder itself. Who writes keeps others from writing with the same folder.
  public static func open(_ path: String, scratch: String? = nil) throws(GitError) -> Repository {
    guard LibGit2.begun else { throw GitError(.generic, "start libgit2", "initialisation failed") }
    var pointer: OpaquePointer?
    try GitError.check(
      git_repository_open_ext(&pointer, path, GIT_REPOSITORY_OPEN_NO_SEARCH.rawValue, nil),
      "open the repository \(path)")
    return try taking(pointer, path, scratch: scratch)
  }

  /// Makes a repository with a work tree at `path`, or a bare one, its branch `main` not born yet.
  public static func create(
    _ path: String, isBare: Bool = false
  ) throws(GitError) -> Repository {
    guard LibGit2.begun else { throw GitError(.generic, "start libgit2", "initialisation failed") }
    var options = git_repository_init_options()
    git_repository_init_options_init(&options, UInt32(GIT_REPOSITORY_INIT_OPTIONS_VERSION))
    options.flags =
      GIT_REPOSITORY_INIT_MKPATH.rawValue | GIT_REPOSITORY_INIT_NO_REINIT.rawValue
    if isBare { options.flags |= GIT_REPOSITORY_INIT_BARE.rawValue }
    var pointer: OpaquePointer?
    let result = branch.withCString { head in
      options.initial_head = head
      return git_repository_init_ext(&pointer, path, &options)
    }
    try GitError.check(result, "make a repository at \(path)")
    return try taking(pointer, path, scratch: nil)
  }

  /// The branch of a new repository.
  public static let branch = "main"

  private static func taking(
    _ pointer: sending OpaquePointer?, _ place: String, scratch: String?
  ) throws(GitError) -> Repository {
    guard let pointer, let path = git_repository_path(pointer),
      let common = git_repository_commondir(pointer)
    else { throw GitError(.generic, "open the repository", "libgit2 gave no handle") }
    let (directory, commonDirectory) = (String(cString: path), String(cString: common))
    // Not derived from the `.git` folder, which a link or a file may name.
    var workTree = Substring(place)
    while workTree.utf8.count > 1, workTree.hasSuffix("/") { workTree.removeLast() }
    if workTree.hasSuffix("/.git") { workTree.removeLast(5) }
    return Repository(
      pointer, workTree: String(workTree), gitDirectory: directory,
      commonDirectory: commonDirectory, scratch: scratch)
  }

  // MARK: State

  /// Whether it was cloned with `--depth`: its history has an end that is no beginning.
  public var isShallow: Bool { access(commonDirectory + "shallow", F_OK) == 0 }

  /// What a user's own git has begun and not ended.
  public enum Operation: Sendable {
    case none, merge, rebase, other
  }

  public func operation() throws(GitError) -> Operation {
    try with { repository throws(GitError) in
      switch git_repository_state_t(UInt32(git_repository_state(repository))) {
      case GIT_REPOSITORY_STATE_NONE: .none
      case GIT_REPOSITORY_STATE_MERGE: .merge
      case GIT_REPOSITORY_STATE_REBASE, GIT_REPOSITORY_STATE_REBASE_INTERACTIVE,
        GIT_REPOSITORY_STATE_REBASE_MERGE:
        .rebase
      default: .other
      }
    }
  }

  /// The full name of the branch that HEAD names, born or not; nil when HEAD is detached.
  public func headBranch() throws(GitError) -> String? {
    try with { repository throws(GitError) in
      var reference: OpaquePointer?
      try GitError.check(git_reference_lookup(&reference, repository, "HEAD"), "read HEAD")
      defer { git_reference_free(reference) }
      return git_reference_symbolic_target(reference).map { String(cString: $0) }
    }
  }

  /// The full name of the branch that is checked out, whatever it is called; `refs/heads/main` when HEAD is detached.
  public func currentBranch() throws(GitError) -> String {
    try headBranch() ?? "refs/heads/\(Repository.branch)"
  }

  /// The commit that a reference (`refs/heads/main`) names in the end; nil when there is none.
  public func commit(of reference: String) throws(GitError) -> ObjectID? {
    try with { repository throws(GitError) in
      var oid = git_oid()
      let result = git_reference_name_to_id(&oid, repository, reference)
      if result == GIT_ENOTFOUND.rawValue { return nil }
      try GitError.check(result, "read \(reference)")
      return ObjectID(oid)
    }
  }
}
