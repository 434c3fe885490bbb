import BelfryCore
import Files
import Git

/// An import of device records that differ from HEAD's, for example after a hand edit of a device's name.
///
/// The record of this device gets a new stamp. A file that is older than HEAD's version reverts nothing.
///
/// - Precondition: The work tree agrees with the branch, apart from hand edits.
/// - Effect: At most one commit. Invalid files stay as they are.
/// - Cost: Reads all device records, and their folder in HEAD.
struct DeviceHandEditImport: ReconcileStep {
  static let stage = ReconcileStage.devices

  func run(_ writer: StoreWriter, _ permit: ReconcilePermit) throws {
    let store = writer.store
    let tree = try writer.head().map { try writer.repository.commit($0).tree }
    let folder = try tree.flatMap { try writer.repository.entry(at: "devices", in: $0) }
    let committed = try writer.repository.entries(of: folder?.mode == .folder ? folder?.id : nil)
    let changed = DurableFile.names(in: store.path + "/devices").filter { name in
      let path = "\(store.path)/devices/\(name)"
      let file = try? DurableFile.read(path, limit: DeviceRecord.largest)
      return (file ?? nil).map { Repository.blobID($0.bytes) } != committed[name]?.id
    }
    var files = store.validRecords(among: changed.map { "devices/\($0)" })
    for (path, bytes) in files {
      writer.read[path] = bytes.map { Repository.blobID($0) }
      // A file that is older than the branch must not revert it.
      guard let blob = committed[String(path.dropFirst("devices/".count))]?.id, let bytes,
        let known = try? writer.repository.blob(blob, limit: DeviceRecord.largest),
        let (new, old) = try? (DeviceRecord.decode(bytes), DeviceRecord.decode(known)),
        let stamp = new.stamp, let latest = old.stamp, stamp < latest
      else { continue }
      files[path] = .some(known)
    }
    let own = DeviceRecord.path(store.device)
    if let bytes = files[own] ?? nil, var device = try? DeviceRecord.decode(bytes) {
      let known = committed["\(store.device).json"].flatMap {
        try? DeviceRecord.decode(writer.repository.blob($0.id, limit: DeviceRecord.largest))
      }
      device.stamp = .next(
        after: [device.stamp, known?.stamp].compactMap { $0 }.max(), now: store.context.now,
        device: store.device)
      files[own] = .some(DeviceRecord.encode(device))
    }
    if files.isEmpty { return }
    try writer.commit(
      files, message: CommitMessage("Edited by hand: devices", device: store.device))
  }
}
