import BelfryCore
import Files
import Git

/// An import of device records that differ from HEAD's, for example after a hand edit of a device's name.
///
/// These are no `HandEdits`: a device's record has one stamp, not one for each part, because only that device writes it.
/// The record of this device gets a new stamp. A file that is older than HEAD's version reverts nothing.
///
/// - Precondition: The work tree agrees with the branch, apart from hand edits.
/// - Effect: At most one commit. Invalid files stay as they are.
/// - Cost: Reads all device records, and their folder in HEAD.
struct DeviceHandEditImport: ReconcileStep {
  static let stage = ReconcileStage.devices

  func run(_ writer: StoreWriter, _ permit: ReconcilePermit) throws {
    let store = writer.store
    let paths = DurableFile.names(in: store.path + "/devices").map { "devices/\($0)" }
    let committed = try writer.repository.blobs(at: paths, in: writer.head())
    let changed = paths.filter { path in
      let file = try? DurableFile.read("\(store.path)/\(path)", limit: DeviceRecord.largest)
      return (file ?? nil).map { Repository.blobID($0.bytes) } != committed[path]
    }
    // Another program can have committed an invalid version.
    func known(_ path: String) -> (bytes: [UInt8], stamp: Stamp?)? {
      guard committed[path] != nil,
        let good = try? store.lastGoodVersion(of: path, writer.repository),
        let device = try? DeviceRecord.decode(good.bytes)
      else { return nil }
      return (good.bytes, device.stamp)
    }
    var files = store.validRecords(among: changed)
    for (path, bytes) in files {
      writer.read[path] = bytes.map { Repository.blobID($0) }
      // A file that is older than the branch must not revert it.
      guard let bytes, let stamp = (try? DeviceRecord.decode(bytes))?.stamp,
        let old = known(path), let latest = old.stamp, stamp < latest
      else { continue }
      files[path] = .some(old.bytes)
    }
    let own = DeviceRecord.path(store.device)
    if let bytes = files[own] ?? nil, var device = try? DeviceRecord.decode(bytes) {
      device.stamp = .next(
        after: [device.stamp, known(own)?.stamp].compactMap { $0 }.max(), now: store.context.now,
        device: store.device)
      files[own] = .some(DeviceRecord.encode(device))
    }
    if files.isEmpty { return }
    try writer.commit(
      files, message: CommitMessage("Edited by hand: devices", device: store.device))
  }
}
