import BelfryCore
import Git

/// The parts of the alarm index that are read before a change of a few rows: the header of the main file, and the
/// changes since its writing.
struct AlarmIndexHead: Sendable {
  /// The header of the main file.
  let main: AlarmIndexHeader
  /// The other inputs of the statuses: the time zones and the settings.
  let fingerprint: String
  /// The changes since the main file was written.
  let changes: AlarmIndexTable

  /// Creates a head. Returns nil if the changes belong to another main file.
  init?(_ main: AlarmIndexHeader, fingerprint: String, _ changes: AlarmIndexTable) {
    guard changes.header.link == main.checksum else { return nil }
    self.main = main
    self.fingerprint = fingerprint
    self.changes = changes
  }

  /// Returns true if other heads have the same files.
  func isSame(as other: AlarmIndexHead) -> Bool {
    main == other.main && changes.header == other.changes.header
  }

  /// The number of changed rows above which the main file is written again.
  ///
  /// A write of the changes then costs at most about a hundredth of a write of the main file, which is needed once for
  /// as many writes.
  private var maxChanges: Int { max(64, main.count / 128) }

  /// Returns the bytes of the changes with rows replaced or added.
  ///
  /// - Parameters:
  ///   - rows: The rows by id; nil removes a row.
  ///   - folder: The state of the alarms' folder.
  /// - Returns: The bytes, or nil if the main file must be written again: if there are too many changes, or if a row is
  ///   removed.
  func changes(
    replacing rows: [Identifier: AlarmIndexFile.Change?], folder: AlarmFolderState
  ) -> [UInt8]? {
    guard rows.count <= maxChanges, rows.values.allSatisfy({ $0 != nil }) else { return nil }
    let bytes = AlarmIndexTable.bytes(
      .changes, link: main.checksum, from: changes,
      replacing: rows.mapValues { $0.map { .new($0) } }, folder: folder)
    guard let header = AlarmIndexHeader(bytes, .changes), header.count <= maxChanges else {
      return nil
    }
    return bytes
  }
}
