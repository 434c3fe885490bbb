import BelfryCore
import Files
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

/// The alarms of a store as the daemon reads them.
///
/// The reads never wait, and open the git repository only if their documentation says so.
public struct ArmedAlarms: StorePart {
  let store: Store

  /// Returns the identifiers of the alarms that have files.
  public func identifiers() -> [Identifier] {
    DurableFile.names(in: path + "/alarms").compactMap {
      $0.hasSuffix(".json") ? Identifier($0.dropLast(5)) : nil
    }
  }

  /// Returns an alarm's record. Returns nil if it is missing or not valid, or if an earlier commit is checked out.
  public func record(of id: Identifier) -> ArmedRecord? {
    guard store.branch.detachedHead == nil,
      case .good(let alarm, let content)? = try? store.readAlarm(id)
    else {
      return nil
    }
    return ArmedRecord(
      alarm: alarm, bytes: content.bytes, signature: FileSignature(content.status))
  }

  /// Returns the signature of an alarm's file, or nil if there is none.
  public func signature(of id: Identifier) -> FileSignature? {
    var status = stat()
    return lstat("\(path)/\(AlarmRecord.path(id))", &status) == 0 ? FileSignature(status) : nil
  }

  /// Returns the last valid versions of the alarms that have no valid file now. Opens the repository, and can be slow.
  ///
  /// - Parameter known: The alarms to leave out.
  public func lastValidRecords(besides known: Set<Identifier>) -> [ArmedRecord] {
    guard let repository = try? repository() else { return [] }
    let ids: [Identifier]
    if store.branch.detachedHead != nil {
      // The work tree shows an earlier commit, but the branch's alarms ring.
      let alarms: [Alarm]? = (try? store.branch.alarms()) ?? nil
      return (alarms ?? []).filter { !known.contains($0.id) }
        .map { ArmedRecord(alarm: $0, bytes: AlarmRecord.encode($0)) }
    } else {
      ids = ((try? Store.committedAlarms(repository)) ?? [:]).keys.filter { !known.contains($0) }
    }
    return ids.compactMap { id in
      ((try? store.lastGood(id)) ?? nil).map {
        ArmedRecord(alarm: $0, bytes: AlarmRecord.encode($0))
      }
    }
  }

  /// Returns the alarms of which the work tree lacks a version, for example after another program has moved the branch.
  /// Opens the repository.
  public func pendingRecords() -> [ArmedRecord] {
    guard let pending = store.pendingVersions() else { return [] }
    return pending.alarms.sorted().compactMap { id in
      // The signature is read first, so that a change during the read is noticed.
      let signature = signature(of: id)
      // An unreadable alarm is known from its file, or from an earlier version.
      guard let alarm = (try? store.alarm(id, pending)) ?? nil else { return nil }
      return ArmedRecord(alarm: alarm, bytes: AlarmRecord.encode(alarm), signature: signature)
    }
  }
}

extension Store {
  /// The alarms of this store as the daemon reads them.
  public var armedAlarms: ArmedAlarms { ArmedAlarms(store: self) }
}
