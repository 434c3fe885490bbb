import BelfryCore
import Git

/// The versions of records on which a write builds.
extension StoreWriter {
  /// The maximum number of commits to search for those of this device.
  private static let maxOwnCommits = 200

  /// Returns the commits whose records the branch must not lose, if another program has moved it since Belfry left it:
  /// the one at which Belfry left it, and those that this device has made since then, latest first. A writer commits on top
  /// of what another program has just committed, and leaves that to the next writer.
  func acknowledgedCommits() throws -> [ObjectID] {
    guard let seen, var next = try head(), next != seen else { return [] }
    var own: [ObjectID] = []
    for _ in 0..<StoreWriter.maxOwnCommits {
      // A damaged commit, or a branch that was moved back.
      guard let commit = try? repository.commit(next), let parent = commit.parents.first else {
        break
      }
      if CommitMessage.device(of: commit.message) == store.device { own.append(next) }
      if parent == seen { return [seen] + own }
      next = parent
    }
    return [seen]
  }

  /// Reads a record that is then changed, as the reconciliation left it.
  ///
  /// A file that an editor has saved since then has edits without stamps. In its place, the branch's version is
  /// returned. The file stays as it is, and the next reconciliation imports it.
  func read<Kind: Record>(
    _: Kind.Type, at path: RecordPath
  ) throws -> Store.RecordFile<Kind.Value> {
    let file = try store.read(Kind.self, at: path)
    guard case .good(_, let content) = file,
      let bytes = try reconciledVersion(of: path.text, saved: content.bytes),
      let value = try? Kind.decode(bytes, at: path, now: store.context.now)
    else { return file }
    return .good(value, Store.DurableFileContent(bytes: bytes, status: content.status))
  }

  /// Reads an alarm that is then changed.
  func readAlarm(_ id: Identifier) throws -> Store.AlarmFile {
    try read(AlarmRecord.self, at: .alarm(id))
  }

  /// Reads the settings that are then changed.
  ///
  /// - Throws: `StoreError.badRecord`.
  func readSettings() throws -> SettingsRecord {
    try read(SettingsFile.self, at: .settings).value(at: .settings) ?? SettingsRecord()
  }

  /// Returns the branch's version of a file that was saved since the reconciliation; nil if the file is as it was, or
  /// if the branch has no such file.
  func reconciledVersion(of path: String, saved bytes: [UInt8]) throws -> [UInt8]? {
    let blob = Repository.blobID(bytes)
    if read[path] == blob { return nil }
    // A version that cannot be read is replaced by the write.
    guard let known = committed[path] ?? (try? reconciledBlob(at: path)) ?? nil, known != blob,
      let version = try? repository.blob(known, limit: AlarmRecord.largest)
    else {
      read[path] = blob
      return nil
    }
    return version
  }

  /// Returns true if a file's version is one that was read, or the one in the commit with which the work tree agrees.
  func isKnown(_ blob: ObjectID, at path: String) -> Bool {
    // A version that cannot be looked up counts as an edit.
    read[path] == blob || (try? reconciledBlob(at: path)) == blob
  }

  /// Returns the blob of a file in the commit with which the work tree agrees; nil if it has no such file.
  private func reconciledBlob(at path: String) throws -> ObjectID? {
    let commit = try reconciled ?? head()
    if commitOfFolders != commit {
      (folders, commitOfFolders) = (FolderCache(repository, commit: commit), commit)
    }
    return try folders.blob(at: path)
  }

  /// Returns a record in a tree that only a newer version of Belfry can read; nil if there is none.
  func newerVersion(of path: String, in tree: ObjectID) throws -> [UInt8]? {
    guard let kind = RecordPath(carried: path), let blob = try repository.blob(at: path, in: tree),
      let bytes = try? repository.blob(blob, limit: kind.largest),
      kind.newerFormat(of: bytes) != nil
    else { return nil }
    return bytes
  }
}
