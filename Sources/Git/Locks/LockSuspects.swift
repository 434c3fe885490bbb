import Files
import Glibc

/// The criteria by which a git process may own a lock file of a repository.
///
/// Open files don't identify the owner: git closes its lock file while it waits for an editor.
struct LockSuspects: Sendable {
  /// The folders of the repository, with symbolic links resolved.
  var folders: [String]
  /// The same folders, for processes that see them at another path, through a bind mount or in a container.
  var identities: Set<FileIdentity> = []
  /// The owner and mode of the work tree, which decide who may enter it.
  var workTree: Permissions
  /// The owner and mode of the `.git` folder, which decide who may write to it.
  var gitDirectory: Permissions
  /// The time of the lock's last change, in seconds since the epoch; nil if there is no lock.
  var lockChanged: Int64?

  /// The owner and mode of a folder.
  struct Permissions: Sendable {
    var user: UInt32
    var group: UInt32
    var mode: UInt32

    /// Returns true if a process has all of the permission bits (`r` 4, `w` 2, `x` 1). Access control lists are
    /// ignored.
    func allow(_ bits: UInt32, _ process: RunningProcess) -> Bool {
      if process.user == 0 { return true }
      let shift: UInt32 =
        process.user == user ? 6 : process.groups.contains(group) ? 3 : 0
      return (mode >> shift) & bits == bits
    }
  }

  /// git commands that may run for days and write nothing in the repository.
  private static let readers: Set = [
    "blame", "cat-file", "credential-cache--daemon", "daemon", "fsmonitor--daemon", "grep",
    "http-backend", "log", "ls-remote", "rev-list", "show", "upload-pack",
  ]

  /// The tolerated difference between the file system's clock and this machine's, in seconds.
  private static let tolerance: Int64 = 60

  /// Returns true for a git that writes, and that meets one of these conditions:
  ///
  /// 1. It runs in one of the repository's folders.
  /// 2. It belongs to another user, its folder is hidden, it may write here, and it started before the lock's last
  ///    change.
  func include(_ process: RunningProcess) -> Bool {
    guard process.isGit else { return false }
    if let command = process.gitCommand, LockSuspects.readers.contains(command) { return false }
    switch process.workingDirectory {
    case .path(let path):
      return folders.contains { path == $0 || path.hasPrefix($0 + "/") }
        || !identities.isDisjoint(with: process.workingFolders)
    case .none: return false
    case .hidden:
      guard workTree.allow(1, process), gitDirectory.allow(3, process) else { return false }
      guard let started = process.started, let lockChanged else { return true }
      return started <= lockChanged + LockSuspects.tolerance
    }
  }
}
