import BelfryCore
import CLinux
import Git

/// This device in the place of another: after a restore from a backup, or on a machine that was set up anew.
extension Store {
  /// The result of adopting another device.
  public struct Adoption: Sendable {
    /// The device whose place was taken.
    public let old: Device
    /// The alarms that named the other, as they are now.
    public let alarms: [Alarm]
  }

  /// Puts this device in another's place in every alarm, and notes that the other is replaced, as one commit.
  ///
  /// The kind, the owner and the right to place calls are adopted where this device has none of its own.
  public func adopt(_ old: Device) throws -> Adoption {
    try locked {
      let writer = try StoreWriter(self)
      try writer.absorb()
      try DailyAudit(writer).commitDevices()
      var files: [String: [UInt8]?] = [:]
      var changed: [Alarm] = []
      for id in armedIdentifiers() {
        // A record that is not valid stays as it is; the replacement counts for it all the same.
        guard case .good(let alarm, _) = try readAlarm(id), !alarm.isDeleted,
          let after = alarm.replacing(old.id, by: device, at: context.now)
        else { continue }
        files[AlarmRecord.path(id)] = AlarmRecord.encode(after)
        changed.append(after)
      }
      let detail = "device: \(ownDevice.name) (\(device.short)) in the place of \(old.id.short)"
      let events = changed.map { (event: Event(.edited, detail: detail), alarm: $0) }
      for entry in entries(events) { files[LogRecord.path(entry)] = LogRecord.encode(entry) }
      var own = ownDevice
      own.replaced[old.id] = context.now
      own.kind = own.kind ?? old.kind
      own.owner = own.owner ?? old.owner
      own.calls = own.calls || old.calls
      own.stamp = .next(after: own.stamp, now: context.now, device: device)
      files[DeviceRecord.path(device)] = DeviceRecord.encode(own)
      try writer.commit(
        files,
        message: CommitMessage(
          "Adopt the device \(old.name) (\(old.id.short))",
          trailers: [("Action", CommitMessage.adoption), ("Replaces", old.id.text)],
          device: device))
      return Adoption(old: old, alarms: changed)
    }
  }

  /// Takes an adoption back in this device's own record, where a commit made one.
  ///
  /// - Returns: the devices that are not replaced any more.
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
    var own = ownDevice
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

  /// A device that is not known to be alive, and the alarms for which another rings in its place.
  public struct SilentDevice: Sendable {
    /// The device that nothing is heard of.
    public let device: Device
    /// The time of its latest sign of life.
    public let lastHeard: Instant
    /// The device that has its place meanwhile; nil where every device rings.
    public let standIn: Identifier?
    public var alarms: [Alarm]
  }

  /// The devices that alarms name and that are not known to be alive, with the alarms that this device rings for in
  /// their place.
  public func silentDevices() -> [SilentDevice] {
    let presence = presence
    let silent = devices().devices.filter { !presence.isAlive($0.id) }
    if silent.isEmpty { return [] }
    var result = silent.map { device in
      SilentDevice(
        device: device, lastHeard: presence.lastHeard[device.id] ?? device.created,
        standIn: presence.standIns[device.id], alarms: [])
    }
    let reader = alarmReader()
    for id in armedIdentifiers().sorted() where mentionsDevices(id) {
      guard let alarm = (try? reader.alarm(id)) ?? nil, alarm.enabled, !alarm.isDeleted
      else { continue }
      let named = alarm.delivery.devices.union(
        (alarm.cascade?.plan.isActive == true ? alarm.cascade?.plan.targets : nil)?
          .compactMap(\.device) ?? [])
      if named.isEmpty { continue }
      let ringsInstead = timeline(alarm).role == .standIn
      for index in result.indices where named.contains(result[index].device.id) {
        if ringsInstead || result[index].standIn == device { result[index].alarms.append(alarm) }
      }
    }
    return result.filter { !$0.alarms.isEmpty }
  }

  /// Returns false for an alarm whose file names no device: most need not be parsed.
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

  /// The silent devices whose place this one may have taken: it was made from a copy of them, or has their name.
  public func adoptable() -> [Device] {
    let presence = presence
    return devices().devices.filter { other in
      presence.standIns[other.id] == device && presence.replacements[other.id] == nil
    }
  }
}
