import Files
import Glibc

/// A hold on git's garbage collection while objects exist that no reference names yet: `gc --prune=now` would delete
/// them.
///
/// The hold is git's own lock, `gc.pid`, which holds a process number and a host name. git doesn't collect while that
/// process runs, or for twelve hours if the host is another one. The hold ends with the value.
public struct CollectionHold: ~Copyable {
  private let lock: CollectionLock

  /// The reason that the hold failed.
  public enum Failure: Error, Sendable {
    /// A collection is running. The process is nil if it isn't known yet.
    case collecting(GitUser?)
  }

  /// Takes the hold.
  ///
  /// - Precondition: The caller holds a lock that keeps other processes from writing with the same scratch folder.
  /// - Throws: `Failure`, or `FileError` if the lock cannot be written.
  public init(_ repository: Repository) throws {
    let lock = CollectionLock(repository)
    // git's protocol: the process that creates this file may read the lock and replace it.
    let new = lock.file + ".lock"
    let opened = Descriptor.open(new, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW)
    guard opened >= 0 else {
      if errno == EEXIST { throw Failure.collecting(nil) }
      throw FileError("open", new)
    }
    let descriptor = Descriptor(taking: opened)
    do {
      var status = stat()
      guard fstat(descriptor.number, &status) == 0 else { throw FileError("stat", new) }
      if let holder = lock.holder(now: Int64(status.st_mtim.tv_sec)) {
        throw Failure.collecting(holder)
      }
      let text = "\(getpid()) \(CollectionLock.host)"
      try DurableFile.fill(descriptor.number, Array(text.utf8), new)
      // Written after the lock's content, so that the note is never older than its lock.
      try lock.note(text)
      guard rename(new, lock.file) == 0 else { throw FileError("write", lock.file) }
    } catch {
      _ = unlink(new)
      throw error
    }
    // Assigned last: once the value is complete, `deinit` removes the lock even if the initializer throws.
    self.lock = lock
  }

  deinit { lock.remove() }
}

extension Repository {
  /// The process whose `gc.pid` keeps Belfry from writing; nil if there is none or it is gone.
  public var collector: GitUser? {
    CollectionLock(self).holder(now: fileSystemTime() ?? 0)
  }

  /// Removes `gc.pid` unless its process is known to run on this machine.
  ///
  /// Call this only at the user's request: a collection may be running on another host.
  ///
  /// - Returns: True if the lock existed and was removed.
  public func removeCollectionLock() -> Bool {
    let lock = CollectionLock(self)
    guard access(lock.file, F_OK) == 0 else { return false }
    if let holder = lock.holder(now: fileSystemTime() ?? 0), holder.host == nil { return false }
    return lock.remove()
  }
}

/// git's `gc.pid`, with a note beside it that identifies the locks that Belfry made.
///
/// Without the note, a lock left by a killed Belfry process could belong to any program: the host name may have
/// changed (a container, DHCP), or another process may have the same number.
struct CollectionLock: Sendable {
  /// The path of `gc.pid`.
  let file: String
  private let noteFile: String
  /// The identity of the store among those that share a repository's objects: each work tree has its own.
  private let store: UInt64

  /// The time in seconds for which a lock of another host is valid.
  ///
  /// A collection of a store takes less. git's own limit of twelve hours would block every write meanwhile.
  private static let foreignTimeout: Int64 = 900

  init(_ repository: Repository) {
    file = repository.commonDirectory + "gc.pid"
    noteFile = repository.commonDirectory + "gc.pid.belfry"
    var status = stat()
    store = stat(repository.scratch, &status) == 0 ? UInt64(status.st_ino) : 0
  }

  /// The name of this machine.
  static var host: String {
    var buffer = [CChar](repeating: 0, count: 256)
    gethostname(&buffer, buffer.count - 1)
    return String(
      decoding: buffer.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }

  /// Returns the process that holds the lock, or nil if there is none or it is gone.
  ///
  /// - Parameter now: The file system's time, in seconds since the epoch.
  func holder(now: @autoclosure () -> Int64) -> GitUser? {
    guard let content = try? DurableFile.read(file, limit: 4096) else { return nil }
    let text = String(decoding: content.bytes, as: UTF8.self)
    let fields = text.split { $0 == " " || $0 == "\n" }
    guard fields.count == 2, let process = Int32(fields[0]), process != getpid() else { return nil }
    let host = String(fields[1])
    let changed = FileSignature(content.status).modified
    if let note = readNote(), note.text == text, changed <= note.written {
      return note.mayBeHeld(by: store) ? GitUser(name: "belfry", process: process) : nil
    }
    if host != CollectionLock.host {
      return now() - Int64(content.status.st_mtim.tv_sec) < CollectionLock.foreignTimeout
        ? GitUser(name: "git gc", process: process, host: host) : nil
    }
    guard kill(process, 0) == 0 || errno == EPERM else { return nil }
    // The number may belong to another program now. A program that cannot be seen may be git.
    let program = RunningProcess.name(of: process)
    return program.isEmpty || RunningProcess.isGit(program)
      ? GitUser(name: "git gc", process: process) : nil
  }

  /// Removes the lock and its note. Returns true if the lock existed.
  @discardableResult func remove() -> Bool {
    let isRemoved = unlink(file) == 0
    _ = unlink(noteFile)
    return isRemoved
  }

  // MARK: The note

  /// The identity of the process that made a lock.
  private struct Note {
    /// The content of `gc.pid`.
    var text: String
    var store: UInt64
    var process: ProcessIdentity
    /// The time of the note, in nanoseconds since the epoch.
    var written: Int64 = 0

    /// Returns true if a process of another store that shares these objects may still hold the lock.
    ///
    /// Only one process at a time writes in a store, and that is the observer itself.
    func mayBeHeld(by observer: UInt64) -> Bool {
      store != observer && process.state() != .gone
    }
  }

  /// Records that this process is about to create the lock with the given content.
  func note(_ text: String) throws {
    guard let process = ProcessIdentity.current else { return }
    let lines = [
      text, "\(store)", "\(process.number)", "\(process.started)", process.boot,
      "\(process.namespace)",
    ]
    try DurableFile.write(
      Array(lines.joined(separator: "\n").utf8), to: noteFile, temporary: noteFile + "~",
      syncing: false)
  }

  private func readNote() -> Note? {
    guard let content = (try? DurableFile.read(noteFile, limit: 4096)) ?? nil else { return nil }
    let lines = String(decoding: content.bytes, as: UTF8.self).split(separator: "\n")
    guard lines.count == 6, let store = UInt64(lines[1]), let number = Int32(lines[2]),
      let started = UInt64(lines[3]), let namespace = UInt64(lines[5])
    else { return nil }
    return Note(
      text: String(lines[0]), store: store,
      process: ProcessIdentity(
        number: number, started: started, boot: String(lines[4]), namespace: namespace),
      written: FileSignature(content.status).modified)
  }
}
