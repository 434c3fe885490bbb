import BelfryCore
import BelfryStore

/// The copies of the store: the document of `backup`.
package struct BackupDocument: JSONDocument {
  /// The path of the store.
  let store: String
  /// The number of alarms.
  let alarms: Int
  /// The number of commits.
  let commits: Int
  /// The copies: the remotes, then the last export.
  let copies: [Copy]
  /// The number of records with hand edits that are in no commit.
  let handEdits: Int
  /// True if there is a copy that is not on the disk of the store.
  let isSafe: Bool
  /// The number of commits that would be lost with the disk.
  let unsaved: Int

  /// A copy.
  package struct Copy: Encodable {
    /// `remote` or `export`.
    let kind: String
    /// The name of the remote; absent for an export.
    let name: String?
    /// The URL of the remote, with credentials masked, or the path of the export; absent if it is unknown.
    let place: String?
    /// The time of the last sync or of the export; absent if there was none.
    let at: String?
    /// The number of commits that the copy lacks; absent if it is unknown.
    let lacking: Int?
    /// True if the copy is on the disk of the store.
    let sameDisk: Bool
    /// True if the file or folder of the copy is not there now.
    let missing: Bool
  }

  package init(_ backup: StoreBackup, zones: ZoneLibrary, shown: (String) -> String) {
    store = backup.path
    alarms = backup.alarms
    commits = backup.commits
    handEdits = backup.handEdits
    isSafe = backup.best != nil
    unsaved = backup.unsavedCount
    copies = backup.copies.map { copy in
      var (kind, name, place): (String, String?, String?)
      switch copy.place {
      case .remote(let remote): (kind, name, place) = ("remote", remote.name, shown(remote.url))
      case .export(let path): (kind, name, place) = ("export", nil, path)
      }
      return Copy(
        kind: kind, name: name, place: place, at: copy.at.map { zones.text($0) },
        lacking: copy.lacking, sameDisk: copy.isOnSameDisk, missing: copy.isMissing)
    }
  }
}
