import BelfryCore
import Files
import Glibc

/// The devices of a store: their records, their presence, and the zones that they follow.
public struct StoreDevices: StorePart {
  let store: Store

  /// Returns the devices with valid records, and the invalid records.
  public func all() -> (devices: [Device], problems: [RecordProblem]) {
    StoreDevices.all(in: path)
  }

  /// Returns the devices of the store at `path`.
  static func all(in path: String) -> (devices: [Device], problems: [RecordProblem]) {
    var devices: [Device] = []
    var problems: [RecordProblem] = []
    for name in DurableFile.names(in: path + "/devices").sorted() {
      let record = "devices/\(name)"
      do {
        guard let kind = RecordPath(record) else { throw RecordError("no record has this name") }
        guard let file = try DurableFile.read("\(path)/\(record)", limit: kind.largest) else {
          continue
        }
        if let error = kind.error(in: file.bytes) { throw error }
        devices.append(try DeviceRecord.decode(file.bytes))
      } catch {
        let reason =
          error as? RecordError
          ?? (error as? FileError).map {
            RecordError(Store.reason($0, limit: DeviceRecord.largest))
          } ?? RecordError("\(error)")
        problems.append(RecordProblem(path: record, kind: .invalid(reason, lastGood: false)))
      }
    }
    return (devices, problems)
  }

  /// The state of the folder of records. It changes when a record is written.
  public var signature: FileSignature? {
    var status = stat()
    return stat(path + "/devices", &status) == 0 ? FileSignature(status) : nil
  }

  /// Changes the record of this device, as one commit.
  ///
  /// - Parameter body: Edits the record.
  /// - Returns: The new record.
  @discardableResult
  public func describe(_ body: (inout Device) -> Void) throws -> Device {
    try describe(subject: { "Update the device \($0.name)" }, body)
  }

  /// Changes the record of this device, as one commit with a subject.
  func describe(
    subject: (Device) -> String, _ body: (inout Device) -> Void
  ) throws -> Device {
    try store.write(reconciling: .all) { writer in
      let before = own
      var after = before
      body(&after)
      if after == before, all().devices.contains(before) { return before }
      after.stamp = .next(after: before.stamp, now: context.now, device: device)
      try writer.commit(
        [DeviceRecord.path(device): DeviceRecord.encode(after)],
        message: CommitMessage(subject(after), device: device))
      return after
    }
  }

  /// The record of this device. If it is missing or not valid, it contains only the device's name.
  public var own: Device {
    all().devices.first { $0.id == device }
      ?? Device(id: device, name: context.deviceName, created: context.now)
  }

  /// The devices that can place calls.
  public var callers: Set<Identifier> {
    Set(current().filter(\.calls).map(\.id))
  }

  /// Returns the devices that no other device has replaced.
  public func current() -> [Device] {
    let replaced = presence.replacements
    return all().devices.filter { replaced[$0.id] == nil }
  }
}

extension Store {
  /// The devices of this store.
  public var devices: StoreDevices { StoreDevices(store: self) }
}

extension [Device] {
  /// The names of the devices, by identifier.
  public var names: [Identifier: String] { Dictionary(map { ($0.id, $0.name) }) { $1 } }
}
