import BelfryCore
import Git

/// A comparison of the work tree and the branch for records that the alarm index doesn't cover: log entries, devices
/// and settings that were removed or written without Belfry.
struct DailyAudit {
  private let writer: StoreWriter
  private var store: Store { writer.store }

  init(_ writer: StoreWriter) {
    self.writer = writer
  }

  /// Restores the last valid versions of missing records.
  ///
  /// - Returns: The paths of the restored records.
  func restore(_ paths: [String]) throws -> [String] {
    guard let head = try writer.head() else { return [] }
    let tree = try writer.repository.commit(head).tree
    var files: [String: [UInt8]?] = [:]
    var isCommitted = true
    for path in paths {
      guard let good = try store.lastGoodVersion(of: path, writer.repository) else { continue }
      files[path] = .some(good.bytes)
      if try writer.repository.blob(at: path, in: tree) != good.blob { isCommitted = false }
    }
    if files.isEmpty { return [] }
    if isCommitted {
      try writer.write(files) { _ in head }
    } else {
      try writer.commit(
        files, message: CommitMessage("Restore the last valid version", device: store.device))
    }
    return files.keys.sorted()
  }

  /// Commits device records that differ from HEAD's, for example after a hand edit of the name. This device's own
  /// record gets a new stamp.
  func commitDevices() throws {
    let tree = try writer.head().map { try writer.repository.commit($0).tree }
    let folder = try tree.flatMap { try writer.repository.entry(at: "devices", in: $0) }
    let committed = try writer.repository.entries(of: folder?.mode == .folder ? folder?.id : nil)
    let changed = DurableFile.names(in: store.path + "/devices").filter { name in
      let path = "\(store.path)/devices/\(name)"
      let file = try? DurableFile.read(path, limit: DeviceRecord.largest)
      return (file ?? nil).map { Repository.blobID($0.bytes) } != committed[name]?.id
    }
    var files = valid(changed.map { "devices/\($0)" })
    for (path, bytes) in files {
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

  /// Commits records that were never committed. Invalid ones stay as they are.
  ///
  /// - Returns: The paths of the committed records.
  func commit(_ paths: [String]) throws -> [String] {
    let files = valid(paths)
    if files.isEmpty { return [] }
    try writer.commit(
      files,
      message: CommitMessage("Import records that another program wrote", device: store.device))
    return files.keys.sorted()
  }

  /// Returns the contents of the valid records among the given files.
  private func valid(_ paths: [String]) -> [String: [UInt8]?] {
    var files: [String: [UInt8]?] = [:]
    for path in paths {
      guard let kind = RecordPath(path),
        let file = (try? DurableFile.read("\(store.path)/\(path)", limit: kind.largest)) ?? nil,
        kind.error(in: file.bytes) == nil
      else { continue }
      files[path] = .some(file.bytes)
    }
    return files
  }
}

extension Store {
  /// The interval between two audits, in seconds.
  private static let auditInterval: Int64 = 86_400

  /// Audits all records once a day: restores removed records, with a notice, and commits records that were written
  /// without Belfry.
  ///
  /// - Throws: `StoreError`, `GitError`.
  public func tidy() async throws {
    let now = context.now
    if let last = local.last(.tidying),
      (0..<Store.auditInterval).contains(now.seconds(since: last))
    {
      return
    }
    guard past == nil, !isRebasing else { return }
    let changes = try await WorkTreeChanges(self)
    let written = changes.uncommitted.filter { path in
      // Alarms and settings are imported with stamps.
      switch RecordPath(path) {
      case .log, .device: true
      default: false
      }
    }
    if !changes.removed.isEmpty || !written.isEmpty {
      let restored = try locked {
        let audit = DailyAudit(try StoreWriter(self))
        _ = try audit.commit(written)
        return try audit.restore(changes.removed)
      }
      if !restored.isEmpty { context.report(.restored(restored)) }
    }
    local.note(.tidying, at: now)
  }
}
