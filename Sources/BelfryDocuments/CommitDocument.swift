import BelfryCore
import BelfryStore

/// The changes of a commit: the document of `log --commit`.
package struct CommitDocument: JSONDocument {
  /// The id of the commit.
  let commit: String
  /// The subject.
  let subject: String
  /// The time of the commit.
  let at: String
  /// The id of the device that made it; absent for a commit of another program.
  let device: String?
  /// The name of the author.
  let author: String
  /// False if no remote has it, as of the last sync.
  let synced: Bool
  /// The changed files.
  let files: [File]

  /// A changed file.
  package struct File: Encodable {
    /// The path in the store.
    let path: String
    /// The change: `added`, `changed` or `removed`.
    let change: String
  }

  package init(_ changes: CommitChanges, zones: ZoneLibrary) {
    let commit = changes.commit
    self.commit = commit.id.description
    subject = commit.subject
    at = zones.text(commit.at)
    device = commit.device?.text
    author = commit.author
    synced = commit.isSynced
    files = changes.files.map { File(path: $0.path, change: $0.change.rawValue) }
  }
}
