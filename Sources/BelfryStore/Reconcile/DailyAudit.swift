import BelfryCore
import Git

/// Brings the work tree and the branch together where the cards, which tell of the alarms, do not: log
/// entries, devices and settings that somebody has removed, or written without Belfry.
struct DailyAudit {
  private let writer: StoreWriter
  private var store: Store { writer.store }

  init(_ writer: StoreWriter) {
    self.writer = writer
  }

  /// Writes the last good versions of records that are gone; returns those that there were any of.
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
        files, message: CommitMessage("Take the last good version back", device: store.device))
    }
    return files.keys.sorted()
  }

  /// Commits the devices' records that differ from HEAD's: another name, written by hand. Of its own this
  /// device says when that was.
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
      // A file that is older than the branch takes nothing back.
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

  /// Commits records that nobody has; those that are not valid stay as they are.
  func commit(_ paths: [String]) throws -> [String] {
    let files = valid(paths)
    if files.isEmpty { return [] }
    try writer.commit(
      files,
      message: CommitMessage("Take up what another program wrote", device: store.device))
    return files.keys.sorted()
  }

  /// The contents of those of some files that are records.
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
  /// How often all records are compared with the branch, in seconds.
  private static let tidyingInterval: Int64 = 86_400

  /// Compares all records with the branch, once a day: what was removed by hand comes back, and is told; what
  /// was written by hand is committed.
  public func tidy() async throws {
    let now = context.now
    if let last = local.last(.tidying),
      (0..<Store.tidyingInterval).contains(now.seconds(since: last))
    {
      return
    }
    guard past == nil, !isRebasing else { return }
    let changes = try await WorkTreeChanges(self)
    let written = changes.uncommitted.filter { path in
      // Alarms and settings are taken up with stamps.
      switch RecordPath(path) {
      case .log, .device: true
      default: false
      }
    }
    if !changes.removed.isEmpty || !written.isEmpty {
      let restored = try locked {
        let tidying = DailyAudit(try StoreWriter(self))
        _ = try tidying.commit(written)
        return try tidying.restore(changes.removed)
      }
      if !restored.isEmpty { context.report(.restored(restored)) }
    }
    local.note(.tidying, at: now)
  }
}
