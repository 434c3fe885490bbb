import CLibgit2
import Glibc
import Synchronization

/// An open git repository: objects, references and commits.
///
/// libgit2's handle is protected by a lock and never leaves this type. Results are values.
public final class Repository: Sendable {
  private struct Handle: ~Copyable {
    let pointer: OpaquePointer
    /// The source of loose objects for libgit2; nil as long as it reads them itself.
    var looseObjects: LooseObjectBackend?
    /// The object database of the packs alone; nil as long as nothing was read from it.
    var packs: OpaquePointer?
    deinit {
      git_odb_free(packs)
      git_repository_free(pointer)
    }
  }
  private let handle: Mutex<Handle>
  /// The path of the `.git` folder, with a trailing slash.
  public let gitDirectory: String
  /// The path of the folder with objects and references, with a trailing slash. It differs from `gitDirectory` in a
  /// linked work tree.
  public let commonDirectory: String
  /// The folder for temporary files that are renamed or linked into place, without a trailing slash.
  let scratch: String
  /// The folder with the files, or the repository itself if it is bare, without a trailing slash.
  public let workTree: String
  let loose: LooseObjects
  /// The objects whose files were created here, and that `discard` may remove.
  let created = Mutex<Set<ObjectID>>([])
  /// The files that must be durable before a reference moves.
  let unsynced = Unsynced()
  /// The inode of the index after the last splice; nil if there was none, or if libgit2 rebuilt the index.
  let splicedIndex = Mutex<UInt64?>(nil)

  private init(
    _ pointer: sending OpaquePointer, workTree: String, gitDirectory: String,
    commonDirectory: String, scratch: String?
  ) {
    self.workTree = workTree
    self.gitDirectory = gitDirectory
    self.commonDirectory = commonDirectory
    self.scratch = scratch ?? String(gitDirectory.dropLast())
    loose = LooseObjects(folder: commonDirectory + "objects", scratch: self.scratch)
    handle = Mutex(Handle(pointer: pointer))
  }

  /// Calls a closure with libgit2's handle. The closure must not call this repository's methods.
  func with<Result: Sendable>(
    _ body: (OpaquePointer) throws(GitError) -> Result
  ) throws(GitError) -> Result {
    try locked { handle throws(GitError) in try body(handle.pointer) }
  }

  /// Calls a closure with libgit2's handle, for which a damaged loose object is an error. Otherwise libgit2 would loop
  /// forever on a truncated one. The closure must not call this repository's methods.
  func withLooseObjects<Result: Sendable>(
    _ body: (OpaquePointer) throws(GitError) -> Result
  ) throws(GitError) -> Result {
    try locked { handle throws(GitError) in
      let source: LooseObjectBackend
      if let attached = handle.looseObjects {
        source = attached
      } else {
        source = try LooseObjectBackend.attach(loose, to: handle.pointer)
        handle.looseObjects = source
      }
      return try source.reporting { () throws(GitError) in try body(handle.pointer) }
    }
  }

  /// Calls a closure with the object database of the repository's own packs, without loose objects and alternates.
  ///
  /// - Parameters:
  ///   - opening: True to open the database if it is not open yet.
  ///   - body: The closure. It must not call this repository's methods.
  /// - Returns: The result of the closure, or nil if the database is not open.
  func withPacks<Result: Sendable>(
    opening: Bool, _ body: (OpaquePointer) throws(GitError) -> Result?
  ) throws(GitError) -> Result? {
    try locked { handle throws(GitError) in
      if handle.packs == nil, opening {
        var database: OpaquePointer?
        let code = belfry_git_open_packs(&database, loose.folder)
        if code != 0 { git_odb_free(database) }
        try GitError.check(code, "open the packs")
        handle.packs = database
      }
      guard let packs = handle.packs else { return nil }
      return try body(packs)
    }
  }

  private func locked<Result: Sendable>(
    _ body: (inout Handle) throws(GitError) -> Result
  ) throws(GitError) -> Result {
    do {
      return try handle.withLock { handle throws in try body(&handle) }
    } catch let error as GitError {
      throw error
    } catch {
      throw GitError(.generic, "use the repository", "\(error)")
    }
  }

  // MARK: Opening

  /// Opens the repository whose work tree or bare folder is exactly `path`.
  ///
  /// - Parameters:
  ///   - path: The folder. Its parents are not searched.
  ///   - scratch: A folder on the same file system for temporary files; nil for the `.git` folder. A writer must keep
  ///     others from writing with the same folder.
  public static func open(_ path: String, scratch: String? = nil) throws(GitError) -> Repository {
    try LibGit2.start()
    var pointer: OpaquePointer?
    try GitError.check(
      git_repository_open_ext(&pointer, path, GIT_REPOSITORY_OPEN_NO_SEARCH.rawValue, nil),
      "open the repository \(path)")
    return try wrapping(pointer, path, scratch: scratch)
  }

  /// Creates a repository at `path`, with a work tree or bare. Its branch `main` has no commit yet.
  public static func create(
    _ path: String, isBare: Bool = false
  ) throws(GitError) -> Repository {
    try LibGit2.start()
    var options = git_repository_init_options()
    git_repository_init_options_init(&options, UInt32(GIT_REPOSITORY_INIT_OPTIONS_VERSION))
    options.flags =
      GIT_REPOSITORY_INIT_MKPATH.rawValue | GIT_REPOSITORY_INIT_NO_REINIT.rawValue
    if isBare { options.flags |= GIT_REPOSITORY_INIT_BARE.rawValue }
    var pointer: OpaquePointer?
    let result = defaultBranch.withCString { head in
      options.initial_head = head
      return git_repository_init_ext(&pointer, path, &options)
    }
    try GitError.check(result, "create a repository at \(path)")
    return try wrapping(pointer, path, scratch: nil)
  }

  /// The name of a new repository's branch.
  public static let defaultBranch = "main"

  private static func wrapping(
    _ pointer: sending OpaquePointer?, _ location: String, scratch: String?
  ) throws(GitError) -> Repository {
    guard let pointer, let path = git_repository_path(pointer),
      let common = git_repository_commondir(pointer)
    else { throw GitError(.generic, "open the repository", "libgit2 returned no handle") }
    let (directory, commonDirectory) = (String(cString: path), String(cString: common))
    // Not derived from the `.git` folder, which can be a link or a file.
    var workTree = Substring(location)
    while workTree.utf8.count > 1, workTree.hasSuffix("/") { workTree.removeLast() }
    if workTree.hasSuffix("/.git") { workTree.removeLast(5) }
    return Repository(
      pointer, workTree: String(workTree), gitDirectory: directory,
      commonDirectory: commonDirectory, scratch: scratch)
  }

  // MARK: State

  /// True if the repository is a shallow clone (`--depth`), with an incomplete history.
  public var isShallow: Bool { access(commonDirectory + "shallow", F_OK) == 0 }

  /// An operation of the user's own git that is unfinished.
  public enum Operation: Sendable {
    /// No operation.
    case none
    /// A merge.
    case merge
    /// A rebase.
    case rebase
    /// Another operation, such as a cherry-pick or a bisection.
    case other
  }

  /// Returns the unfinished operation.
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

  /// Returns the full name of the branch that HEAD points to, with or without a commit, or nil if HEAD is detached.
  public func headBranch() throws(GitError) -> String? {
    try with { repository throws(GitError) in
      var reference: OpaquePointer?
      try GitError.check(git_reference_lookup(&reference, repository, "HEAD"), "read HEAD")
      defer { git_reference_free(reference) }
      return git_reference_symbolic_target(reference).map { String(cString: $0) }
    }
  }

  /// Returns the full name of the checked-out branch, or `refs/heads/main` if HEAD is detached.
  public func currentBranch() throws(GitError) -> String {
    try headBranch() ?? "refs/heads/\(Repository.defaultBranch)"
  }

  /// Returns the commit of a reference (`refs/heads/main`), or nil if there is none.
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
