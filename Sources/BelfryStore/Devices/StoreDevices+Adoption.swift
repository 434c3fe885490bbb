import BelfryCore
import CLinux
import Files
import Git

/// Adoption of another device's place, after a restore from a backup or on a new machine.
extension StoreDevices {
  /// The result of adopting another device.
  public struct Adoption: Sendable {
    /// The adopted device, which is now replaced.
    public let old: Device
    /// The changed alarms, which named the adopted device before.
    public let alarms: [Alarm]
  }

  /// Replaces another device by this one in every alarm, and marks the other one as replaced, as one commit.
  ///
  /// This device also adopts the kind, the owner and the permission to place calls, unless it has its own.
  ///
  /// - Parameter old: The device to adopt.
  /// - Returns: The changes.
  /// - Throws: `StoreError`, `GitError`, `FileError`.
  public func adopt(_ old: Device) throws -> Adoption {
    try store.write(reconciling: .all) { writer in
      var files: [String: [UInt8]?] = [:]
      var changed: [Alarm] = []
      for id in store.armedAlarms.identifiers() {
        // An invalid record stays as it is. The replacement in the device's record applies to it nevertheless.
        guard case .good(let alarm, _) = try writer.readAlarm(id), !alarm.isDeleted,
          let after = alarm.replacing(old.id, by: device, at: context.now)
        else { continue }
        files[AlarmRecord.path(id)] = AlarmRecord.encode(after)
        changed.append(after)
      }
      let event = Event(.edited, payload: .replacedDevice(old.id))
      let events = changed.map { (event: event, alarm: $0) }
      for entry in store.entries(events) { files[LogRecord.path(entry)] = LogRecord.encode(entry) }
      var record = own
      record.replaced[old.id] = context.now
      record.kind = record.kind ?? old.kind
      record.owner = record.owner ?? old.owner
      record.calls = record.calls || old.calls
      record.stamp = .next(after: record.stamp, now: context.now, device: device)
      files[DeviceRecord.path(device)] = DeviceRecord.encode(record)
      try writer.commit(
        files,
        message: CommitMessage(
          "Adopt the device \(old.name) (\(old.id.short))",
          trailers: [("Action", CommitMessage.adoption), ("Replaces", old.id.text)],
          device: device))
      return Adoption(old: old, alarms: changed)
    }
  }

  /// Reverts an adoption in this device's record, if the given commit made one.
  ///
  /// - Parameters:
  ///   - action: The commit.
  ///   - changed: The files that the commit changed.
  ///   - repository: The store's repository.
  ///   - files: Receives the reverted record.
  /// - Returns: The devices that are no longer replaced.
  func revertAdoption(
    _ action: Commit, _ changed: [ChangedFile], _ repository: Repository,
    _ files: inout [String: [UInt8]?]
  ) throws -> [Identifier] {
    let path = DeviceRecord.path(device)
    guard CommitMessage.trailers(of: action.message)["Action"] == CommitMessage.adoption,
      let file = changed.first(where: { $0.path == path })
    else { return [] }
    func version(_ blob: ObjectID?) throws -> Device? {
      guard let blob else { return nil }
      return try DeviceRecord.decode(repository.blob(blob, limit: DeviceRecord.largest))
    }
    guard let after = try version(file.after) else { return [] }
    let before = try version(file.before)
    var own = self.own
    let replaced = after.replaced.keys.filter { before?.replaced[$0] == nil }
      .filter { own.replaced[$0] == after.replaced[$0] }
    if replaced.isEmpty { return [] }
    for id in replaced { own.replaced[id] = nil }
    if own.kind == after.kind { own.kind = before?.kind }
    if own.owner == after.owner { own.owner = before?.owner }
    if own.calls == after.calls { own.calls = before?.calls ?? false }
    own.stamp = .next(after: own.stamp, now: context.now, device: device)
    files[path] = .some(DeviceRecord.encode(own))
    return replaced.sorted()
  }

  // MARK: Alarms of silent devices

  /// A silent device, and the alarms that another device rings in its place.
  public struct SilentDevice: Sendable {
    /// The silent device.
    public let device: Device
    /// The time of its latest heartbeat or other evidence.
    public let lastHeard: Instant
    /// The device that stands in for it; nil if every device rings.
    public let standIn: Identifier?
    /// The alarms that name the silent device.
    public var alarms: [Alarm]
  }

  /// Returns the silent devices that alarms name, each with the alarms that this device rings in its place.
  public func silent() -> [SilentDevice] {
    let presence = presence
    let silent = all().devices.filter { !presence.isAlive($0.id) }
    if silent.isEmpty { return [] }
    var result = silent.map { device in
      SilentDevice(
        device: device, lastHeard: presence.lastHeard[device.id] ?? device.created,
        standIn: presence.standIns[device.id], alarms: [])
    }
    let reader = store.alarmReader()
    for id in store.armedAlarms.identifiers().sorted() where mentionsDevices(id) {
      guard let alarm = (try? reader.alarm(id)) ?? nil, alarm.enabled, !alarm.isDeleted
      else { continue }
      let named = alarm.delivery.devices.union(
        (alarm.cascade?.plan.isActive == true ? alarm.cascade?.plan.targets : nil)?
          .compactMap(\.device) ?? [])
      if named.isEmpty { continue }
      let ringsInstead = store.timeline(alarm).role == .standIn
      for index in result.indices where named.contains(result[index].device.id) {
        if ringsInstead || result[index].standIn == device { result[index].alarms.append(alarm) }
      }
    }
    return result.filter { !$0.alarms.isEmpty }
  }

  /// Returns false if an alarm's file names no device, so that it need not be parsed.
  private func mentionsDevices(_ id: Identifier) -> Bool {
    guard
      let file =
        (try? DurableFile.read(
          "\(path)/\(AlarmRecord.path(id))", limit: AlarmRecord.largest)) ?? nil
    else { return true }
    let keys = ["\"devices\"", "\"targets\""].map { Array($0.utf8) }
    return keys.contains { key in
      file.bytes.withUnsafeBytes { memmem($0.baseAddress, $0.count, key, key.count) != nil }
    }
  }

  /// Returns the silent devices that this device has probably replaced: it was made from a copy of them, or has their
  /// name.
  public func adoptable() -> [Device] {
    let presence = presence
    return all().devices.filter { other in
      presence.standIns[other.id] == device && presence.replacements[other.id] == nil
    }
  }
}
