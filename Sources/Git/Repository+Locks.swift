import Glibc

/// A process that is at work on a repository.
public struct GitUser: Hashable, Sendable {
  /// What it is called: `git`.
  public let name: String
  public let process: Int32
}

extension Repository {
  /// The lock files that a git which died may have left in this repository, those that are there.
  ///
  /// - Parameter branch: a reference whose lock is looked for, in full.
  public func locks(of branch: String) -> [String] {
    (["index.lock", "HEAD.lock"].map { gitDirectory + $0 }
      + ["packed-refs.lock", "config.lock", "gc.pid.lock", "\(branch).lock"]
      .map { commonDirectory + $0 })
      .filter { access($0, F_OK) == 0 }
  }

  /// The lock file of a reference.
  public func lock(of reference: String) -> String { "\(commonDirectory)\(reference).lock" }

  /// Who may be at work on a file of the repository: has it open, or is a git in its folders. Nil when it is
  /// nobody that this user can see.
  public func user(of file: String) -> GitUser? {
    let file = Repository.resolved(file)
    let folders = [workTree, gitDirectory, commonDirectory].map(Repository.resolved)
    let own = getpid()
    for name in DurableFile.names(in: "/proc") {
      guard let process = Int32(name), process != own else { continue }
      let entry = "/proc/\(name)"
      let program = Repository.program(entry)
      errno = 0
      let here = Repository.target("\(entry)/cwd")
      let isHidden = here == nil && errno == EACCES
      // Of another user's git nobody tells where it is: it may be here.
      let isGitHere =
        program.hasPrefix("git")
        && (isHidden
          || folders.contains { folder in here == folder || here?.hasPrefix(folder + "/") == true })
      let hasItOpen = DurableFile.names(in: "\(entry)/fd").contains {
        Repository.target("\(entry)/fd/\($0)") == file
      }
      if isGitHere || hasItOpen { return GitUser(name: program, process: process) }
    }
    return nil
  }

  /// Takes a lock file away that a git left which died; returns whether it did.
  ///
  /// A git that lives has the file open, or is in the repository's folder while it waits for an editor. One
  /// whose processes nobody here can see, on another machine or in a container, holds a lock for
  /// a moment only.
  ///
  /// - Parameter seconds: how old the lock must be by the file system's own clock.
  public func removeAbandonedLock(_ lock: String, olderThan seconds: Int64 = 3) -> Bool {
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

  /// The clock that files are dated by, in seconds since the epoch; nil when no file can be written.
  private func fileSystemTime() -> Int64? {
    let path = scratch + "/new-time"
    guard let status = try? DurableFile.write([], to: path, temporary: path + "~", syncing: false)
    else { return nil }
    _ = unlink(path)
    return Int64(status.st_mtim.tv_sec)
  }

  fileprivate static func program(_ entry: String) -> String {
    let name = (try? DurableFile.readStream("\(entry)/comm"))?.prefix { $0 != UInt8(ascii: "\n") }
    return String(decoding: name ?? [], as: UTF8.self)
  }

  private static func target(_ link: String) -> String? {
    var buffer = [UInt8](repeating: 0, count: 4096)
    let count = readlink(link, &buffer, buffer.count)
    return count > 0 ? String(decoding: buffer[..<count], as: UTF8.self) : nil
  }

  private static func resolved(_ path: String) -> String {
    guard let resolved = realpath(path, nil) else { return path }
    defer { free(resolved) }
    return String(cString: resolved)
  }
}

/// Keeps `git gc` from collecting while objects are written that no reference names yet: with
/// `--prune=now` it would delete them under the hands of who is about to name them.
///
/// It is git's own lock, `gc.pid`: a process number and a host. A git that finds one of a living process
/// does not collect.
public struct CollectionHold: ~Copyable {
  private let file: String

  public enum Failure: Error, Sendable {
    /// A collection is going on.
    case collecting(GitUser?)
  }

  public init(_ repository: Repository) throws {
    let file = repository.commonDirectory + "gc.pid"
    var buffer = [CChar](repeating: 0, count: 256)
    gethostname(&buffer, buffer.count - 1)
    let host = String(
      decoding: buffer.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    // As git does: whoever makes the lock may look at the file and replace it.
    let lock = file + ".lock"
    let opened = Descriptor.open(lock, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW)
    guard opened >= 0 else {
      if errno == EEXIST { throw Failure.collecting(nil) }
      throw FileError("open", lock)
    }
    let descriptor = Descriptor(taking: opened)
    do {
      var status = stat()
      guard fstat(descriptor.number, &status) == 0 else { throw FileError("look at", lock) }
      let now = Int64(status.st_mtim.tv_sec)
      if let process = CollectionHold.collector(file, host: host, now: now) {
        throw Failure.collecting(GitUser(name: "git gc", process: process))
      }
      try DurableFile.fill(descriptor.number, Array("\(getpid()) \(host)".utf8), lock)
      guard rename(lock, file) == 0 else { throw FileError("write", file) }
    } catch {
      _ = unlink(lock)
      throw error
    }
    // Last: a value that is whole is ended by its `deinit`, even when its initialiser throws.
    self.file = file
  }

  /// The living process that collects; nil when nobody does.
  private static func collector(_ file: String, host: String, now: Int64) -> Int32? {
    guard let content = try? DurableFile.read(file, limit: 4096) else { return nil }
    let words = String(decoding: content.bytes, as: UTF8.self)
      .split { $0 == " " || $0 == "\n" }
    guard words.count == 2, let process = Int32(words[0]), process != getpid() else { return nil }
    // Of another machine's processes nobody can tell; git heeds such a file for twelve hours.
    if words[1] != host {
      return now - Int64(content.status.st_mtim.tv_sec) < 12 * 3600 ? process : nil
    }
    guard kill(process, 0) == 0 || errno == EPERM else { return nil }
    // Another program may have the number by now.
    let program = Repository.program("/proc/\(process)")
    return program.isEmpty || program.hasPrefix("git") || program.hasPrefix("belfry")
      ? process : nil
  }

  deinit { _ = unlink(file) }
}
