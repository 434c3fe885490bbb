import BelfryCore

/// An update of the zone in this device's record, so that other devices know its local time.
///
/// - Precondition: The work tree agrees with the branch, apart from hand edits.
/// - Effect: One commit if the zone has changed, after an import of edited device records.
/// - Cost: Reads one file if the zone is unchanged.
struct TimeZoneUpdate: ReconcileStep {
  static let stage = ReconcileStage.timeZone

  func run(_ writer: StoreWriter, _ permit: ReconcilePermit) throws {
    let store = writer.store
    guard !store.devices.isZoneRecorded else { return }
    try DeviceHandEditImport().run(writer, permit)
    guard var device = try store.devices.recordOfThisDevice() else { return }
    let name = store.context.zones.recordedName(at: store.context.now)
    device.zone = name
    device.stamp = .next(after: device.stamp, now: store.context.now, device: store.device)
    try writer.commit(
      [DeviceRecord.path(store.device): DeviceRecord.encode(device)],
      message: CommitMessage("Time zone: \(device.name) (\(name))", device: store.device))
  }
}
