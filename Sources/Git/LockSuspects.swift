import Glibc

/// Decides which gits may be at work in a repository and so may own a lock file there, which git closes while it waits
/// for an editor.
struct LockSuspects: Sendable {
  /// The folders of the repository, without symbolic links.
  var folders: [String]
  /// The owner and mode of the work tree, which decide who may enter it.
  var workTree: Permissions
  /// The owner and mode of the `.git` folder, which decide who may write to it.
  var gitDirectory: Permissions
  /// The time of the lock's last change, in seconds since the epoch; nil when it is not there.
  var lockChanged: Int64?

  /// The owner and mode of a folder.
  struct Permissions: Sendable {
    var user: UInt32
    var group: UInt32
    var mode: UInt32

    /// Returns true when a process may use all of some bits (`r` 4, `w` 2, `x` 1). Access control lists are ignored.
    func allow(_ bits: UInt32, _ process: RunningProcess) -> Bool {
      if process.user == 0 { return true }
      let shift: UInt32 =
        process.user == user ? 6 : process.groups.contains(group) ? 3 : 0
      return (mode >> shift) & bits == bits
    }
  }

  /// Commands that may run for days and change nothing in the repository.
  private static let readers: Set = [
    "blame", "cat-file", "credential-cache--daemon", "daemon", "fsmonitor--daemon", "grep",
    "http-backend", "log", "ls-remote", "rev-list", "show", "upload-pack",
  ]

  /// The difference between the file system's clock and this machine's that is put up with, in seconds.
  private static let tolerance: Int64 = 60

  /// Returns true for a git that writes, and that
  ///
  /// 1. is in one of the repository's folders; or,
  /// 2. when another user's keeps its folder from view, may write here and ran before the lock was last changed.
  func include(_ process: RunningProcess) -> Bool {
    guard process.isGit else { return false }
    if let command = process.gitCommand, LockSuspects.readers.contains(command) { return false }
    switch process.workingDirectory {
    case .path(let path):
      return folders.contains { path == $0 || path.hasPrefix($0 + "/") }
    case .none: return false
    case .hidden:
      guard workTree.allow(1, process), gitDirectory.allow(3, process) else { return false }
      guard let started = process.started, let lockChanged else { return true }
      return started <= lockChanged + LockSuspects.tolerance
    }
  }
}
