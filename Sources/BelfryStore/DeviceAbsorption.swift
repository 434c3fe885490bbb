import Git

/// Takes hand edits of `devices/*.json` up: another name for a device.
struct DeviceAbsorption {
  private let writer: StoreWriter
  private var store: Store { writer.store }

  init(_ writer: StoreWriter) {
    self.writer = writer
  }

  /// Commits the records that differ from HEAD's; those that are not valid stay as they are.
  func absorb() throws {
    let tree = try writer.head().map { try writer.repository.commit($0).tree }
    var files: [String: [UInt8]?] = [:]
    for name in DurableFile.names(in: store.path + "/devices") {
      let path = "devices/\(name)"
      guard let kind = RecordPath(path),
        let file = (try? DurableFile.read("\(store.path)/\(path)", limit: kind.largest)) ?? nil,
        kind.error(in: file.bytes) == nil
      else { continue }
      let committed = try tree.flatMap { try writer.repository.blob(at: path, in: $0) }
      if committed != Repository.blobID(file.bytes) { files[path] = .some(file.bytes) }
    }
    if files.isEmpty { return }
    try writer.commit(
      files, message: CommitMessage("Edited by hand: devices", device: store.device))
  }
}
