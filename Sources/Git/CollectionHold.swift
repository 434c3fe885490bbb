import Glibc

/// Keeps `git gc` from starting while objects are written that no reference names yet: `gc --prune=now` would delete
/// them before a reference can name them.
///
/// It is git's own lock, `gc.pid`, which holds a process number and a host name. git does not collect while the process
/// runs, or for twelve hours when the host is another one.
public struct CollectionHold: ~Copyable {
  private let lock: CollectionLock

  /// The reason that collection could not be held off.
  public enum Failure: Error, Sendable {
    /// A collection is running; nil when its process is not known yet.
    case collecting(GitUser?)
  }

  /// - Precondition: the caller holds a lock that keeps other processes from writing with the same scratch folder.
  public init(_ repository: Repository) throws {
    let lock = CollectionLock(repository)
    // As git does: the process that makes this file may look at the lock and replace it.
    let new = lock.file + ".lock"
    let opened = Descriptor.open(new, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW)
    guard opened >= 0 else {
      if errno == EEXIST { throw Failure.collecting(nil) }
      throw FileError("open", new)
    }
    let descriptor = Descriptor(taking: opened)
    do {
      var status = stat()
      guard fstat(descriptor.number, &status) == 0 else { throw FileError("look at", new) }
      if let holder = lock.holder(now: Int64(status.st_mtim.tv_sec)) {
        throw Failure.collecting(holder)
      }
      let text = "\(getpid()) \(CollectionLock.host)"
      try DurableFile.fill(descriptor.number, Array(text.utf8), new)
      // Written after the lock's content, so that the note is never older than the lock that it belongs to.
      try lock.note(text)
      guard rename(new, lock.file) == 0 else { throw FileError("write", lock.file) }
    } catch {
      _ = unlink(new)
      throw error
    }
    // Last: a complete value is ended by its `deinit`, even when its initializer throws.
    self.lock = lock
  }

  deinit { lock.remove() }
}

extension Repository {
  /// The process for which `gc.pid` keeps Belfry from writing; nil when nothing does, as when the process is gone.
  public var collector: GitUser? {
    CollectionLock(self).holder(now: fileSystemTime() ?? 0)
  }

  /// Removes `gc.pid` unless its process is known to run on this machine; returns true when it was there and is gone.
  ///
  /// For use after a person has asked for it: on another host a collection may be running.
  public func removeCollectionLock() -> Bool {
    let lock = CollectionLock(self)
    guard access(lock.file, F_OK) == 0 else { return false }
    if let holder = lock.holder(now: fileSystemTime() ?? 0), holder.host == nil { return false }
    return lock.remove()
  }
}

/// git's `gc.pid`, with a note beside it by which Belfry recognizes the locks that it made itself.
///
/// Without the note a lock that a killed Belfry left could belong to any program: the host name may have changed since
/// (a container, DHCP), or another process may have got the process number.
struct CollectionLock: Sendable {
  let file: String
  private let noteFile: String
  /// Identifies the store among those that share a repository's objects: two work trees have a lock each.
  private let store: UInt64

  /// The time in seconds for which a lock of another host is respected. A store is collected in less, and git's own
  /// twelve hours would stop every write meanwhile.
  private static let foreignTimeout: Int64 = 900

  init(_ repository: Repository) {
    file = repository.commonDirectory + "gc.pid"
    noteFile = repository.commonDirectory + "gc.pid.belfry"
    var status = stat()
    store = stat(repository.scratch, &status) == 0 ? UInt64(status.st_ino) : 0
  }

  static var host: String {
    var buffer = [CChar](repeating: 0, count: 256)
    gethostname(&buffer, buffer.count - 1)
    return String(
      decoding: buffer.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }

  /// The process that keeps others from collecting; nil when there is none, or it is gone.
  ///
  /// - Parameter now: the time by the file system's clock, in seconds since the epoch.
  func holder(now: @autoclosure () -> Int64) -> GitUser? {
    guard let content = try? DurableFile.read(file, limit: 4096) else { return nil }
    let text = String(decoding: content.bytes, as: UTF8.self)
    let words = text.split { $0 == " " || $0 == "\n" }
    guard words.count == 2, let process = Int32(words[0]), process != getpid() else { return nil }
    let host = String(words[1])
    let changed = FileSignature(content.status).modified
    if let note = readNote(), note.text == text, changed <= note.written {
      return note.mayBeHeld(by: store) ? GitUser(name: "belfry", process: process) : nil
    }
    if host != CollectionLock.host {
      return now() - Int64(content.status.st_mtim.tv_sec) < CollectionLock.foreignTimeout
        ? GitUser(name: "git gc", process: process, host: host) : nil
    }
    guard kill(process, 0) == 0 || errno == EPERM else { return nil }
    // Another program may have the number by now. One that cannot be seen may be git.
    let program = RunningProcess.name(of: process)
    return program.isEmpty || RunningProcess.isGit(program)
      ? GitUser(name: "git gc", process: process) : nil
  }

  @discardableResult func remove() -> Bool {
    let isRemoved = unlink(file) == 0
    _ = unlink(noteFile)
    return isRemoved
  }

  // MARK: The note

  private struct Note {
    /// The content of `gc.pid`.
    var text: String
    var store: UInt64
    var process: ProcessIdentity
    /// Nanoseconds since the epoch.
    var written: Int64 = 0

    /// Returns true when a process of another store, which shares this one's objects, may hold the lock still. Of the
    /// same store only one process writes: the observer itself.
    func mayBeHeld(by observer: UInt64) -> Bool {
      store != observer && process.presence() != .gone
    }
  }

  /// Notes that this process is about to make the lock, with a content.
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
