import Files
import Glibc

/// A process that uses a repository.
public struct GitUser: Hashable, Sendable {
  /// The name of its program, such as `git`.
  public let name: String
  /// The process number.
  public let process: Int32
  /// The host of the process; nil for this host.
  public let host: String?

  /// Creates the description of a process.
  public init(name: String, process: Int32, host: String? = nil) {
    self.name = name
    self.process = process
    self.host = host
  }
}

extension Repository {
  /// Returns the existing lock files that a git process may have left behind in this repository.
  ///
  /// - Parameter branch: The full name of a reference whose lock is included.
  public func locks(of branch: String) -> [String] {
    (["index.lock", "HEAD.lock"].map { gitDirectory + $0 }
      + ["packed-refs.lock", "config.lock", "gc.pid.lock", "\(branch).lock"]
      .map { commonDirectory + $0 })
      .filter { access($0, F_OK) == 0 }
  }

  /// Returns the path of a reference's lock file.
  public func lock(of reference: String) -> String { "\(commonDirectory)\(reference).lock" }

  /// Returns a process that may be using a lock file: one that has the file open, or a git that may be working in the
  /// repository. Returns nil if this user can see no such process.
  public func user(of lock: String) -> GitUser? {
    let suspects = lockSuspects(Repository.resolved(lock))
    let own = getpid()
    for name in DurableFile.names(in: "/proc") {
      guard let number = Int32(name), number != own else { continue }
      if RunningProcess.hasOpen(lock, number)
        || RunningProcess(git: number).map(suspects.include) == true
      {
        return GitUser(name: RunningProcess.name(of: number), process: number)
      }
    }
    return nil
  }

  private func lockSuspects(_ lock: String) -> LockSuspects {
    func permissions(_ path: String) -> LockSuspects.Permissions {
      var status = stat()
      // A missing folder counts as writable by everybody.
      guard stat(path, &status) == 0 else { return .init(user: 0, group: 0, mode: 0o777) }
      return .init(user: status.st_uid, group: status.st_gid, mode: status.st_mode)
    }
    var status = stat()
    let folders = [workTree, gitDirectory, commonDirectory]
    return LockSuspects(
      folders: folders.map(Repository.resolved),
      identities: Set(folders.compactMap { FileIdentity($0) }),
      workTree: permissions(workTree), gitDirectory: permissions(gitDirectory),
      lockChanged: lstat(lock, &status) == 0 ? Int64(status.st_mtim.tv_sec) : nil)
  }

  /// Removes a stale lock file that a git process left behind. Returns true if it was removed.
  ///
  /// A running git has the file open, or works in the repository's folder while it waits for an editor. A git that
  /// cannot be seen from here, on another machine or in a container, holds a lock only briefly.
  ///
  /// - Parameters:
  ///   - lock: The path of the lock file.
  ///   - seconds: The minimum age of the lock in seconds, by the file system's clock.
  public func removeStaleLock(_ lock: String, olderThan seconds: Int64 = 3) -> Bool {
    var (before, after) = (stat(), stat())
    guard lstat(lock, &before) == 0, before.st_mode & S_IFMT == S_IFREG else { return false }
    if seconds > 0 {
      guard let now = fileSystemTime(), Int64(before.st_mtim.tv_sec) <= now - seconds else {
        return false
      }
    }
    guard user(of: lock) == nil, lstat(lock, &after) == 0, before.st_ino == after.st_ino,
      FileSignature(before) == FileSignature(after)
    else { return false }
    return unlink(lock) == 0
  }

  /// Returns the file system's time in seconds since the epoch, or nil if no file can be written.
  func fileSystemTime() -> Int64? {
    // Processes without the store's lock call this, too.
    let path = "\(scratch)/new-time-\(DurableFile.uniqueSuffix)"
    guard let status = try? DurableFile.write([], to: path, temporary: path + "~", syncing: false)
    else { return nil }
    _ = unlink(path)
    return Int64(status.st_mtim.tv_sec)
  }

  private static func resolved(_ path: String) -> String {
    guard let resolved = realpath(path, nil) else { return path }
    defer { free(resolved) }
    return String(cString: resolved)
  }
}
