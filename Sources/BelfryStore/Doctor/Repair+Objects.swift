import BelfryCore
import Files
import Git
import Glibc

/// Damaged and missing objects.
extension Repair {
  /// Moves damaged packs to the quarantine and restores their readable objects.
  func salvagePacks(_ repository: Repository, _ quarantine: Quarantine) async throws {
    let folder = repository.commonDirectory + "objects/pack"
    for name in DurableFile.names(in: folder).sorted() where name.hasSuffix(".idx") {
      let base = "\(folder)/\(name.dropLast(4))"
      let check = try await GitCommand.run(["verify-pack", "\(base).idx"], in: store.path)
      if check.status == 0 { continue }
      for suffix in ["idx", "rev", "bitmap", "pack"] where access("\(base).\(suffix)", F_OK) == 0 {
        let path = "\(base).\(suffix)"
        let destination = try quarantine.take(path, as: "objects/\(name.dropLast(4)).\(suffix)")
        report(.quarantined(path: path, to: destination))
        guard suffix == "pack" else { continue }
        // `unpack-objects` stops at the first unreadable object. The objects before it are restored.
        _ = try await GitCommand.run(
          ["unpack-objects", "-r", "-q"], in: store.path, input: destination)
      }
    }
  }

  /// Moves git's commit graph and multi-pack index to the quarantine if they refer to missing commits. git
  /// regenerates them.
  func repairGraph(_ repository: Repository, _ quarantine: Quarantine) async throws {
    let check = try await GitCommand.run(["commit-graph", "verify"], in: store.path)
    if check.status == 0 { return }
    for name in ["info/commit-graph", "info/commit-graphs", "pack/multi-pack-index"] {
      let path = "\(repository.commonDirectory)objects/\(name)"
      guard access(path, F_OK) == 0 else { continue }
      report(.quarantined(path: path, to: try quarantine.take(path, as: "objects/\(name)")))
    }
  }

  /// Restores the objects of the writes since the last checkpoint from the journal.
  func restoreRecentObjects(_ repository: Repository) throws {
    for entry in try store.local.recentWrites() {
      for id in try entry.restoreObjects(in: repository, acceptsPacks: true) {
        report(.object(id, source: .journal))
      }
    }
  }

  /// Restores missing objects from the work tree, the index and the remotes.
  ///
  /// Repeats until nothing new is restored, because a restored object may reference further missing objects.
  func restoreObjects(_ repository: Repository) async throws {
    var restored: Set<ObjectID> = []
    var hasRestored = true
    while hasRestored {
      hasRestored = false
      // git may still report an object after it was restored. It is not restored again.
      let missing = try await missingObjects().filter { !restored.contains($0.id) }
      if missing.isEmpty { break }
      if missing.contains(where: { $0.kind == "tree" }) {
        // The index contains the trees of HEAD.
        _ = try await GitCommand.run(["write-tree", "--missing-ok"], in: store.path)
      }
      let files = missing.contains { $0.kind == "blob" } ? workTreeBlobs() : [:]
      for object in missing {
        if let source = try await restore(object, files, repository) {
          report(.object(object.id, source: source))
          restored.insert(object.id)
          hasRestored = true
        }
      }
      try repository.flush()
    }
    removeClones()
  }

  private func missingObjects() async throws -> [MissingObject] {
    let outcome = try await GitCommand.run(
      ["fsck", "--connectivity-only", "--no-dangling", "--no-progress"], in: store.path)
    return MissingObject.all(in: outcome)
  }

  private func restore(
    _ object: MissingObject, _ files: [ObjectID: RecordFile], _ repository: Repository
  ) async throws -> RepairedItem.Source? {
    if object.kind == "blob", let bytes = files[object.id]?.read(in: store) {
      _ = try repository.writeBlob(bytes)
      return .workTree
    }
    if object.kind == "tree", (try? repository.tree(object.id)) != nil { return .index }
    for remote in try repository.remotes() {
      guard let clone = try await self.clone(remote) else { continue }
      if try repository.adopt(object.id, from: clone) { return .remote(remote.name) }
    }
    return nil
  }

  /// Returns the files of the work tree by the ids of their blobs.
  private func workTreeBlobs() -> [ObjectID: RecordFile] {
    var blobs: [ObjectID: RecordFile] = [:]
    for path in store.recordFiles() {
      guard let kind = RecordPath(path) else { continue }
      let file = RecordFile(path: path, kind: kind)
      if let bytes = file.read(in: store) { blobs[Repository.blobID(bytes)] = file }
    }
    return blobs
  }

  private func clonePath(_ remote: Remote) -> String {
    "\(store.local.folder)/recovery-\(remote.name).git"
  }

  /// Returns a bare copy of a remote, made once per repair, or nil if the remote cannot be reached.
  private func clone(_ remote: Remote) async throws -> Repository? {
    let path = clonePath(remote)
    if access(path, F_OK) != 0 {
      let transport = try GitTransport(store.repository(), remote, context: store.context)
      guard (try? await transport.copy(to: path)) != nil else { return nil }
    }
    return try? Repository.open(path)
  }

  private func removeClones() {
    for name in DurableFile.names(in: store.local.folder) where name.hasPrefix("recovery-") {
      Store.removeFolder("\(store.local.folder)/\(name)")
    }
  }
}

/// A file at the path of a record.
private struct RecordFile {
  let path: String
  let kind: RecordPath

  /// Returns the file's bytes, or nil if it cannot be read.
  func read(in store: Store) -> [UInt8]? {
    ((try? DurableFile.read("\(store.path)/\(path)", limit: kind.largest)) ?? nil)?.bytes
  }
}
