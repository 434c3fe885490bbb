import BelfryCore
import Git
import Glibc

/// A record's file as it lies: what a daemon remembers of an alarm, so that it rings also when the store is gone.
public struct ArmedRecord: Sendable {
  public let alarm: Alarm
  public let bytes: [UInt8]
  /// Changes when the file does; nil when it was not read from a file.
  public let signature: FileSignature?

  public init(alarm: Alarm, bytes: [UInt8], signature: FileSignature? = nil) {
    self.alarm = alarm
    self.bytes = bytes
    self.signature = signature
  }
}

/// Reading for a daemon: nothing here opens the git repository unless it says so, nothing waits.
extension Store {
  /// The same store at another moment, or for another reader.
  public func with(_ context: StoreContext) -> Store {
    Store(
      path: path, context: context, device: device, local: local, adoptionFailure: adoptionFailure,
      presenceCache: presenceCache, deviceZones: deviceZones)
  }

  /// The alarms that have files.
  public func armedIdentifiers() -> [Identifier] {
    DurableFile.names(in: path + "/alarms").compactMap {
      $0.hasSuffix(".json") ? Identifier($0.dropLast(5)) : nil
    }
  }

  /// An alarm's record, if there is a valid one and the work tree shows no past.
  public func armed(_ id: Identifier) -> ArmedRecord? {
    guard past == nil, case .good(let alarm, let content)? = try? readAlarm(id) else { return nil }
    return ArmedRecord(
      alarm: alarm, bytes: content.bytes, signature: FileSignature(content.status))
  }

  /// What the file of an alarm is like now; nil when there is none.
  public func armedSignature(_ id: Identifier) -> FileSignature? {
    var status = stat()
    return lstat("\(path)/\(AlarmRecord.path(id))", &status) == 0 ? FileSignature(status) : nil
  }

  /// The alarms as the history has them, of those that have no valid file now: opens the repository, and may take
  /// long.
  public func armedByHistory(besides known: Set<Identifier>) -> [ArmedRecord] {
    guard let repository = try? repository() else { return [] }
    let ids: [Identifier]
    if past != nil {
      // The work tree tells nothing of what rings.
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

  /// The alarms of which the work tree lacks a version, as when something other than Belfry has moved the branch.
  /// Opens the repository.
  public func armedByBranch() -> [ArmedRecord] {
    guard let pending = pendingVersions() else { return [] }
    return pending.alarms.sorted().compactMap { id in
      // From before the file is read: one that changes meanwhile is read again.
      let signature = armedSignature(id)
      // What cannot be read is known from its file, or from an earlier version.
      guard let alarm = (try? alarm(id, pending)) ?? nil else { return nil }
      return ArmedRecord(alarm: alarm, bytes: AlarmRecord.encode(alarm), signature: signature)
    }
  }

  /// The folders in which git replaces a file when the checked-out branch moves.
  public var branchFolders: [String] {
    [local.gitDirectory, local.commonDirectory, local.commonDirectory + "/refs/heads"]
  }

  // MARK: The daemon's own files

  /// Where a daemon waits for pokes, and what keeps it the only one.
  public var daemonFiles: (lock: String, poke: String) { (local.daemonLock, local.poke) }

  /// The folder for notes of the hooks that run.
  public var hookNotes: String { local.folder + "/hooks" }

  /// Makes this process the store's daemon, as long as the lock is held.
  ///
  /// - Returns: the lock; or why there is none, as on a file system without locks. A second daemon then goes unnoticed,
  ///   which is better than none.
  /// - Throws: `StoreError.daemonRuns`.
  public func lockForDaemon() throws -> Result<DaemonLock, FileError> {
    do {
      return .success(
        DaemonLock(
          try StoreLock(local.daemonLock, holder: context.process, patience: 0),
          path: local.daemonLock))
    } catch StoreError.locked(let process) {
      throw StoreError.daemonRuns(process: process)
    } catch let failure as FileError {
      return .failure(failure)
    }
  }

  /// Wakes the daemon of this store; returns whether there is one.
  @discardableResult public func pokeDaemon() -> Bool { local.pokeDaemon() }

  /// The process that is the daemon of this store; nil when none is.
  public var daemonProcess: String? {
    let file = Glibc.open(local.daemonLock, O_RDWR | O_CLOEXEC | O_NOFOLLOW)
    guard file >= 0 else { return nil }
    defer { close(file) }
    if flock(file, LOCK_SH | LOCK_NB) == 0 { return nil }
    var buffer = [UInt8](repeating: 0, count: 200)
    let count = pread(file, &buffer, buffer.count, 0)
    return count > 0 ? String(decoding: buffer.prefix(count), as: UTF8.self) : "another process"
  }

  /// The commit at which the branch stands; nil when its files cannot be read.
  public var branchMark: String? {
    (local.readHead() ?? local.readReference("refs/heads/\(Repository.branch)"))?.description
  }

  /// Whether the configuration names a remote.
  public var hasRemote: Bool {
    guard let file = (try? DurableFile.read("\(local.gitDirectory)/config", limit: 1 << 20)) ?? nil
    else { return false }
    return file.bytes.firstRange(of: Array("[remote ".utf8)) != nil
  }
}

extension LocalState {
  @discardableResult func pokeDaemon() -> Bool {
    // Without a reader it is not opened.
    let pipe = Glibc.open(poke, O_WRONLY | O_NONBLOCK | O_CLOEXEC | O_NOFOLLOW)
    guard pipe >= 0 else { return false }
    defer { close(pipe) }
    var byte = UInt8(ascii: "p")
    // A full pipe has pokes enough.
    return Glibc.write(pipe, &byte, 1) == 1 || errno == EAGAIN
  }
}
