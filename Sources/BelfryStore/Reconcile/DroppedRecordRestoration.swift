import BelfryCore

/// A restoration of records that the history contains and HEAD lacks.
///
/// - Precondition: The work tree agrees with the branch, apart from hand edits.
/// - Effect: At most one commit. A file that the user has created at such a path stays in the work tree.
/// - Cost: In proportion to the given files. The search for them (see `DroppedRecords`) reads the whole history, so only
///   a repair does it.
struct DroppedRecordRestoration: ReconcileStep {
  static let stage = ReconcileStage.droppedRecords
  private let files: [String: [UInt8]]

  init(_ files: [String: [UInt8]]) {
    self.files = files
  }

  /// Restores the records.
  ///
  /// - Returns: The paths of the restored records.
  @discardableResult
  func run(_ writer: StoreWriter, _ permit: ReconcilePermit) throws -> [String] {
    if files.isEmpty { return [] }
    let store = writer.store
    try writer.commit(
      files.mapValues { $0 }, keeping: store.edited(files.mapValues { _ in nil }),
      message: CommitMessage("Restore dropped records", device: store.device))
    return files.keys.sorted()
  }
}
