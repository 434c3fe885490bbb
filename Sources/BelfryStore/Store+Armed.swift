import BelfryCore
import Git
import Glibc

/// An alarm and its file, which the daemon keeps in memory so that the alarm rings even if the store disappears.
public struct ArmedRecord: Sendable {
  /// The alarm.
  public let alarm: Alarm
  /// The content of the file.
  public let bytes: [UInt8]
  /// The signature of the file, which changes with it; nil if the alarm was not read from a file.
  public let signature: FileSignature?

  /// Creates a record.
  public init(alarm: Alarm, bytes: [UInt8], signature: FileSignature? = nil) {
    self.alarm = alarm
    self.bytes = bytes
    self.signature = signature
  }
}

/// Reads for the daemon. They never wait, and open the git repository only if their documentation says so.
extension Store {
  /// Returns the same store with another environment.
  public func with(_ context: StoreContext) -> Store {
    Store(
      path: path, context: context, device: device, local: local, adoptionFailure: adoptionFailure,
      presenceCache: presenceCache, deviceZones: deviceZones)
  }

  /// Returns the identifiers of the alarms that have files.
  public func armedIdentifiers() -> [Identifier] {
    DurableFile.names(in: path + "/alarms").compactMap {
      $0.hasSuffix(".json") ? Identifier($0.dropLast(5)) : nil
    }
  }

  /// Returns an alarm's record. Returns nil if it is missing or not valid, or if an earlier commit is checked out.
  public func armed(_ id: Identifier) -> ArmedRecord? {
    guard past == nil, case .good(let alarm, let content)? = try? readAlarm(id) else { return nil }
    return ArmedRecord(
      alarm: alarm, bytes: content.bytes, signature: FileSignature(content.status))
  }

  /// Returns the signature of an alarm's file, or nil if there is none.
  public func armedSignature(_ id: Identifier) -> FileSignature? {
    var status = stat()
    return lstat("\(path)/\(AlarmRecord.path(id))", &status) == 0 ? FileSignature(status) : nil
  }

  /// Returns the last valid versions of the alarms that have no valid file now. Opens the repository, and can be slow.
  ///
  /// - Parameter known: The alarms to leave out.
  public func armedByHistory(besides known: Set<Identifier>) -> [ArmedRecord] {
    guard let repository = try? repository() else { return [] }
    let ids: [Identifier]
    if past != nil {
      // The work tree shows an earlier commit, but the branch's alarms ring.
      let alarms: [Alarm]? = (try? branchAlarms()) ?? nil
      return (alarms ?? []).filter { !known.contains($0.id) }
        .map { ArmedRecord(alarm: $0, bytes: AlarmRecord.encode($0)) }
    } else {
      ids = ((try? Store.committedAlarms(repository)) ?? [:]).keys.filter { !known.contains($0) }
    }
    return ids.compactMap { id in
      ((try? lastGood(id)) ?? nil).map {
        ArmedRecord(alarm: $0.alarm, bytes: AlarmRecord.encode($0.alarm))
      }
    }
  }

  /// Returns the alarms of which the work tree lacks a version, for example after another program has moved the branch.
  /// Opens the repository.
  public func armedByBranch() -> [ArmedRecord] {
    guard let pending = pendingVersions() else { return [] }
    return pending.alarms.sorted().compactMap { id in
      // The signature is read first, so that a change during the read is noticed.
      let signature = armedSignature(id)
      // An unreadable alarm is known from its file, or from an earlier version.
      guard let alarm = (try? alarm(id, pending)) ?? nil else { return nil }
      return ArmedRecord(alarm: alarm, bytes: AlarmRecord.encode(alarm), signature: signature)
    }
  }

  /// The folders in which git replaces a file when it moves the checked-out branch.
  public var branchFolders: [String] {
    [local.gitDirectory, local.commonDirectory, local.commonDirectory + "/refs/heads"]
  }

  // MARK: The daemon's own files

  /// The daemon's lock file, and the named pipe that wakes it.
  public var daemonFiles: (lock: String, poke: String) { (local.daemonLock, local.poke) }

  /// The folder for the notes about running hooks.
  public var hookNotes: String { local.folder + "/hooks" }

  /// Makes this process the store's daemon for as long as it holds the lock.
  ///
  /// - Returns: The lock, or the reason that there is none, for example on a file system without locks. In that case a
  ///   second daemon isn't noticed, which is better than no daemon.
  /// - Throws: `StoreError.daemonRuns` if the store already has a daemon.
  public func lockForDaemon() throws -> Result<DaemonLock, FileError> {
    do {
      return .success(
        DaemonLock(
          try StoreLock(local.daemonLock, holder: context.process, timeout: 0),
          path: local.daemonLock))
    } catch StoreError.locked(let process) {
      throw StoreError.daemonRuns(process: process)
    } catch let failure as FileError {
      return .failure(failure)
    }
  }

  /// Wakes the daemon of this store. Returns true if there is one.
  @discardableResult public func pokeDaemon() -> Bool { local.pokeDaemon() }

  /// The description of this store's daemon process; nil if there is no daemon.
  public var daemonProcess: String? {
    let file = Glibc.open(local.daemonLock, O_RDWR | O_CLOEXEC | O_NOFOLLOW)
    guard file >= 0 else { return nil }
    defer { close(file) }
    if flock(file, LOCK_SH | LOCK_NB) == 0 { return nil }
    var buffer = [UInt8](repeating: 0, count: 200)
    let count = pread(file, &buffer, buffer.count, 0)
    return count > 0 ? String(decoding: buffer.prefix(count), as: UTF8.self) : "another process"
  }

  /// The commit of the branch; nil if its files cannot be read.
  public var branchMark: String? {
    (local.readHead() ?? local.readReference("refs/heads/\(Repository.branch)"))?.description
  }

  /// True if git's configuration contains a remote.
  public var hasRemote: Bool {
    guard let file = (try? DurableFile.read("\(local.gitDirectory)/config", limit: 1 << 20)) ?? nil
    else { return false }
    return file.bytes.firstRange(of: Array("[remote ".utf8)) != nil
  }
}

extension LocalState {
  /// Wakes the daemon. Returns true if there is one.
  @discardableResult func pokeDaemon() -> Bool {
    // The pipe can be opened only if a daemon reads from it.
    let pipe = Glibc.open(poke, O_WRONLY | O_NONBLOCK | O_CLOEXEC | O_NOFOLLOW)
    guard pipe >= 0 else { return false }
    defer { close(pipe) }
    var byte = UInt8(ascii: "p")
    // A full pipe already contains enough pokes.
    return Glibc.write(pipe, &byte, 1) == 1 || errno == EAGAIN
  }
}
