import BelfryCore
import Files
import Git
import Glibc

/// An import of hand edits of `settings.json`, as `HandEditImport` is for alarms.
///
/// Keys that differ under the same stamp from the commit at which Belfry left the branch get a new stamp, and are
/// committed as the user's edit. An invalid or missing file stays as it is. A read of the settings reports it.
///
/// - Precondition: The work tree agrees with the branch, apart from hand edits.
/// - Effect: At most one commit. The signature of the settings is saved.
/// - Cost: The status of one file if it is unchanged since the last commit. Otherwise three versions of the file.
struct SettingsHandEditImport: ReconcileStep {
  static let stage = ReconcileStage.settings
  /// True to compare the file with the branch even if it is unchanged since the last commit.
  var isBranchUnknown = false

  func run(_ writer: StoreWriter, _ permit: ReconcilePermit) throws {
    let store = writer.store
    if store.settingsAreSettled, !isBranchUnknown { return }
    let path = "\(store.path)/\(SettingsFile.path)"
    guard let file = (try? DurableFile.read(path, limit: SettingsFile.largest)) ?? nil,
      let written = try? SettingsFile.decode(file.bytes)
    else { return }
    writer.read[SettingsFile.path] = Repository.blobID(file.bytes)
    let tree = try writer.head().map { try writer.repository.commit($0).tree }
    let blob = try tree.flatMap { try writer.repository.blob(at: SettingsFile.path, in: $0) }
    let bytes = try blob.map { try writer.repository.blob($0, limit: SettingsFile.largest) }
    let committed = bytes.flatMap { try? SettingsFile.decode($0) } ?? SettingsRecord()
    // Another program may have committed the edit without a stamp.
    let base = seenSettings(writer) ?? committed

    var result = written
    let latest = [written, base, committed].flatMap(\.stamps.values).max()
    let stamp = Stamp.next(after: latest, now: store.context.now, device: store.device)
    var origin = EditOrigin(writer.repository, from: try writer.seen ?? writer.head())
    for key in written.keysEditedByHand(since: origin.version(of: written, base: base)) {
      result.stamps[key] = stamp
    }
    result = SettingsRecord.join(SettingsRecord.join(result, base), committed)
    let encoded = SettingsFile.encode(result)
    if encoded == bytes, encoded == file.bytes {
      try store.settleSettings(file.status)
    } else {
      // It also settles the file that it writes.
      try writer.commit(
        [SettingsFile.path: encoded],
        message: CommitMessage(
          "Edited by hand: settings", trailers: [("Action", CommitMessage.settings)],
          device: store.device))
    }
  }

  /// Returns the settings of the commit at which Belfry left the branch, or nil if the commit is unknown or they cannot
  /// be read.
  private func seenSettings(_ writer: StoreWriter) -> SettingsRecord? {
    guard let seen = writer.seen, let tree = try? writer.repository.commit(seen).tree,
      let blob = try? writer.repository.blob(at: SettingsFile.path, in: tree),
      let bytes = try? writer.repository.blob(blob, limit: SettingsFile.largest)
    else { return nil }
    return try? SettingsFile.decode(bytes)
  }
}

extension Store {
  /// True if the settings are unchanged since the last commit, or the file is missing.
  var settingsAreSettled: Bool {
    guard let signature = settingsSignature else { return true }
    return local.settings.read() == signature
  }

  /// Saves the signature of the committed settings.
  ///
  /// - Parameter status: The status of the file that has the committed content. An editor may have saved another one
  ///   since then.
  func settleSettings(_ status: stat) throws {
    try local.settings.replace(with: Store.text(of: FileSignature(status)))
  }

  /// The signature of the settings file, which changes with its content; nil if the file is missing.
  var settingsSignature: String? {
    var status = stat()
    guard lstat("\(path)/\(SettingsFile.path)", &status) == 0 else { return nil }
    return Store.text(of: FileSignature(status))
  }

  private static func text(of signature: FileSignature) -> String {
    "\(signature.size) \(signature.modified) \(signature.changed) \(signature.inode)"
  }
}
