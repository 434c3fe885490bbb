import BelfryCore
import Files
import Glibc

/// The removal of invalid files at the paths of records to the quarantine, and the restoration of their last valid
/// versions.
///
/// - Precondition: The branch contains all records, so that a valid version is found.
/// - Effect: Every file in the folders of records is valid, or has a newer format. At most one commit.
/// - Cost: Reads every record, so only a repair does it.
struct UnusableFileQuarantine: ReconcileStep {
  static let stage = ReconcileStage.unusableFiles
  private let quarantine: Quarantine
  private let report: (RepairedItem) -> Void

  /// Creates a step.
  ///
  /// - Parameters:
  ///   - quarantine: The quarantine.
  ///   - report: A function that receives each change when it has been made.
  init(_ quarantine: Quarantine, report: @escaping (RepairedItem) -> Void) {
    self.quarantine = quarantine
    self.report = report
  }

  func run(_ writer: StoreWriter, _ permit: ReconcilePermit) throws {
    let store = writer.store
    for folder in RecordPath.folders + ["log"] {
      var status = stat()
      guard lstat("\(store.path)/\(folder)", &status) == 0, status.st_mode & S_IFMT != S_IFDIR
      else { continue }
      try take(folder, from: store)
    }
    var restorable: [String] = []
    for path in store.recordFiles() where isUnusable(path, in: store) {
      try take(path, from: store)
      if RecordPath(path) != nil { restorable.append(path) }
    }
    let restored = try MissingRecordRestoration(restorable).run(writer, permit)
    if !restored.isEmpty { report(.restored(restored)) }
  }

  private func isUnusable(_ path: String, in store: Store) -> Bool {
    // No record has this name.
    guard let kind = RecordPath(path) else { return true }
    do {
      let file = try DurableFile.read("\(store.path)/\(path)", limit: kind.largest)
      guard let error = file.flatMap({ kind.error(in: $0.bytes) }) else { return false }
      // A later version of Belfry can read it.
      if case .newerFormat = error.kind { return false }
      // git reads attributes of any form.
      return path != Store.attributesPath
    } catch {
      return true
    }
  }

  private func take(_ path: String, from store: Store) throws {
    let destination = try quarantine.take("\(store.path)/\(path)", as: path)
    report(.quarantined(path: path, to: destination))
  }
}
