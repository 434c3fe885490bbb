import BelfryCore
import Files
import Git
import Glibc

/// A kind of record with few files, of which a saved signature tells if they have changed.
protocol TrackedRecord: EditableRecord {
  /// The stage of the import of hand edits.
  static var stage: ReconcileStage { get }
  /// The name of the records in commit messages.
  static var name: String { get }
  /// The value of the trailer `Action` in commit messages.
  static var action: String { get }
  /// The folder of the records, or their only file.
  static var location: String { get }

  /// Returns the file with the signature that the records had when they agreed with the branch.
  static func committedSignature(_ local: LocalState) -> LocalFile<String?>
}

extension TrackedRecord {
  /// Returns a text that changes with the records in the work tree; nil if the only file is missing.
  static func signature(of store: Store) -> String? {
    func signature(_ path: String) -> String? {
      var status = stat()
      guard lstat("\(store.path)/\(path)", &status) == 0 else { return nil }
      return FileSignature(status).text
    }
    if RecordPath(location) != nil { return signature(location) }
    return DurableFile.names(in: "\(store.path)/\(location)").sorted().map { name in
      signature("\(location)/\(name)").map { "\(name) \($0)" } ?? name
    }.joined(separator: " ")
  }

  /// Returns the records in the work tree and those in HEAD.
  fileprivate static func paths(_ writer: StoreWriter) throws -> [RecordPath] {
    if let file = RecordPath(location) { return [file] }
    let committed = try writer.repository.folder(location, in: writer.head())?.entries() ?? []
    let names = DurableFile.names(in: "\(writer.store.path)/\(location)") + committed.map(\.name)
    return Set(names).sorted().compactMap { RecordPath("\(location)/\($0)") }
  }
}

/// An import of hand edits of the settings or the holiday calendars (see `HandEdits`).
///
/// - Precondition: The work tree agrees with the branch, apart from hand edits.
/// - Effect: At most one commit. If nothing is to be imported, the signature of the records is saved.
/// - Cost: The status of each file if they are unchanged since the last commit. Otherwise three versions of each.
struct TrackedRecordImport<Kind: TrackedRecord>: ReconcileStep {
  static var stage: ReconcileStage { Kind.stage }
  /// True to compare the files with the branch even if they are unchanged since the last commit.
  var isBranchUnknown = false

  func run(_ writer: StoreWriter, _ permit: ReconcilePermit) throws {
    let store = writer.store
    if store.isCommitted(Kind.self), !isBranchUnknown { return }
    // An editor can save a file after this one was read.
    let signature = Kind.signature(of: store)
    let paths = try Kind.paths(writer)
    // A commit that cannot be read has no versions.
    let seen = try? writer.seen.map { try writer.repository.blobs(at: paths.map(\.text), in: $0) }
    let edits = try HandEdits<Kind>(writer, paths, bases: seen ?? [:])
    try edits.commit(
      message: CommitMessage(
        "Edited by hand: \(Kind.name)", trailers: [("Action", Kind.action)], device: store.device))
    // The next reconciliation compares new files once more.
    if edits.files.isEmpty, edits.invalid.isEmpty, let signature {
      try Kind.committedSignature(store.local).replace(with: signature)
    }
  }
}

extension Store {
  /// The kinds with few files of which records may have been edited by hand since the last commit.
  var editedKinds: [any TrackedRecord.Type] {
    RecordPath.trackedKinds.filter { !isCommitted($0) }
  }

  /// Returns true if the records of a kind are unchanged since the last commit, or the only file is missing.
  func isCommitted<Kind: TrackedRecord>(_ kind: Kind.Type) -> Bool {
    guard let signature = kind.signature(of: self) else { return true }
    return signature == kind.committedSignature(local).read() ?? ""
  }
}

extension FileSignature {
  /// The signature as text.
  var text: String { "\(size) \(modified) \(changed) \(inode)" }
}
