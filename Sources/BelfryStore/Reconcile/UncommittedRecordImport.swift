import BelfryCore
import Files

/// An import of records that another program wrote, and that were never committed.
///
/// - Precondition: Hand edits of alarms and settings are imported, because these need stamps.
/// - Effect: At most one commit. Invalid files stay as they are.
/// - Cost: Reads the given files.
struct UncommittedRecordImport: ReconcileStep {
  static let stage = ReconcileStage.uncommittedRecords
  private let paths: [String]

  init(_ paths: [String]) {
    self.paths = paths
  }

  /// Commits the records.
  ///
  /// - Returns: The paths of the committed records.
  @discardableResult
  func run(_ writer: StoreWriter, _ permit: ReconcilePermit) throws -> [String] {
    let store = writer.store
    let files = store.validRecords(among: paths)
    if files.isEmpty { return [] }
    try writer.commit(
      files,
      message: CommitMessage("Import records that another program wrote", device: store.device))
    return files.keys.sorted()
  }
}

extension Store {
  /// Returns the contents of the valid records among the given files.
  func validRecords(among paths: [String]) -> [String: [UInt8]?] {
    var files: [String: [UInt8]?] = [:]
    for path in paths {
      guard let kind = RecordPath(path),
        let file = (try? DurableFile.read("\(self.path)/\(path)", limit: kind.largest)) ?? nil,
        kind.error(in: file.bytes) == nil
      else { continue }
      files[path] = .some(file.bytes)
    }
    return files
  }
}
