import BelfryCore

/// A restoration of the last valid versions of missing records.
///
/// - Precondition: The work tree agrees with the branch, apart from the given files.
/// - Effect: The files exist again. One commit if HEAD lacks one of the versions. A record without a valid version stays
///   missing.
/// - Cost: For each file, one version in HEAD, or a search of the history if that version is not valid.
struct MissingRecordRestoration: ReconcileStep {
  static let stage = ReconcileStage.missingRecords
  private let paths: [String]

  init(_ paths: [String]) {
    self.paths = paths
  }

  /// Restores the records.
  ///
  /// - Returns: The paths of the restored records.
  @discardableResult
  func run(_ writer: StoreWriter, _ permit: ReconcilePermit) throws -> [String] {
    guard !paths.isEmpty, let head = try writer.head() else { return [] }
    let store = writer.store
    let tree = try writer.repository.commit(head).tree
    var files: [String: [UInt8]?] = [:]
    var isCommitted = true
    for path in paths {
      if let newer = try writer.newerVersion(of: path, in: tree) {
        files[path] = .some(newer)
        continue
      }
      guard let good = try store.lastGoodVersion(of: path, writer.repository) else { continue }
      files[path] = .some(good.bytes)
      if try writer.repository.blob(at: path, in: tree) != good.blob { isCommitted = false }
    }
    if files.isEmpty { return [] }
    if isCommitted {
      try writer.checkOut(files, of: head)
    } else {
      try writer.commit(
        files, message: CommitMessage("Restore the last valid version", device: store.device))
    }
    return files.keys.sorted()
  }
}
