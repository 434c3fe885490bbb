import BelfryCore
import Git

/// Brings the work tree and the branch together where the cards, which tell of the alarms, do not: log
/// entries, devices and settings that somebody has removed, or written without Belfry.
struct Tidying {
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

  /// Commits the devices' records that differ from HEAD's: another name, written by hand.
  func commitDevices() throws {
    let tree = try writer.head().map { try writer.repository.commit($0).tree }
    let changed = try DurableFile.names(in: store.path + "/devices").map { "devices/\($0)" }
      .filter { path in
        let file = try? DurableFile.read("\(store.path)/\(path)", limit: DeviceRecord.largest)
        let committed = try tree.flatMap { try writer.repository.blob(at: path, in: $0) }
        return (file ?? nil).map { Repository.blobID($0.bytes) } != committed
      }
    _ = try commit(changed, subject: "Edited by hand: devices")
  }

  /// Commits records that nobody has; those that are not valid stay as they are.
  func commit(
    _ paths: [String], subject: String = "Take up what another program wrote"
  ) throws -> [String] {
    var files: [String: [UInt8]?] = [:]
    for path in paths {
      guard let kind = RecordPath(path),
        let file = (try? DurableFile.read("\(store.path)/\(path)", limit: kind.largest)) ?? nil,
        kind.error(in: file.bytes) == nil
      else { continue }
      files[path] = .some(file.bytes)
    }
    if files.isEmpty { return [] }
    try writer.commit(files, message: CommitMessage(subject, device: store.device))
    return files.keys.sorted()
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
        let tidying = Tidying(try StoreWriter(self))
        _ = try tidying.commit(written)
        return try tidying.restore(changes.removed)
      }
      if !restored.isEmpty { context.report(.restored(restored)) }
    }
    local.note(.tidying, at: now)
  }
}
