import BelfryCore
import Git

/// Puts back what another git took from the branch: a commit made from an index that was read earlier, a
/// `reset --hard`, a rebase that dropped a commit, a removed file that was committed.
///
/// ```
/// seen ──────────── where Belfry left the branch
///   └─ … ── head    where it stands now, moved by somebody else
/// ```
///
/// For each record that differs between the two:
///
/// 1. Head has none: it is put back, as absence never means deletion.
/// 2. An alarm, or the settings: the two are joined, so that what was acknowledged stands over an older
///    version. A value that differs under the same stamp is a hand edit, which is left to the absorption.
/// 3. A log entry, which nobody rewrites: as it was.
/// 4. A device's record, or a new record: as head has it.
struct Healing {
  private let repository: Repository

  init(_ repository: Repository) {
    self.repository = repository
  }

  /// The files that head lacks, or has in a version that loses something.
  ///
  /// A version that cannot be read, or is none, heals nothing.
  func files(seen: ObjectID, head: ObjectID) throws -> [String: [UInt8]] {
    let changes = try repository.changedFiles(
      from: repository.commit(head).tree, to: repository.commit(seen).tree)
    var files: [String: [UInt8]] = [:]
    for change in changes {
      guard let kind = RecordPath(change.path), let after = change.after,
        let seen = try? repository.blob(after, limit: kind.largest)
      else { continue }
      guard let before = change.before else {
        files[change.path] = seen
        continue
      }
      guard let now = try? repository.blob(before, limit: kind.largest) else { continue }
      if let healed = healed(kind, seen: seen, now: now), healed != now {
        files[change.path] = healed
      }
    }
    return files
  }

  private func healed(_ kind: RecordPath, seen: [UInt8], now: [UInt8]) -> [UInt8]? {
    switch kind {
    case .alarm(let id):
      guard let old = try? AlarmRecord.decode(seen, id: id, now: RecordPath.start),
        let new = try? AlarmRecord.decode(now, id: id, now: RecordPath.start)
      else { return nil }
      let isEdited = !new.fieldsEditedByHand(since: old).isEmpty
      return isEdited ? nil : AlarmRecord.encode(Alarm.join(new, old))
    case .settings:
      guard let old = try? SettingsFile.decode(seen), let new = try? SettingsFile.decode(now) else {
        return nil
      }
      let isEdited = !new.keysEditedByHand(since: old).isEmpty
      return isEdited ? nil : SettingsFile.encode(SettingsRecord.join(new, old))
    case .log: return seen
    case .device, .attributes: return nil
    }
  }
}

extension StoreWriter {
  /// Puts back what somebody else took from the branch since we left it, and says so.
  func heal() throws {
    let seen = store.local.readSeen()
    guard let head = try head(), head != seen else { return }
    defer { store.local.noteSeen(head) }
    // What has been collected since is out of reach.
    guard let seen, (try? repository.commit(seen)) != nil else { return }
    // What cannot be compared heals nothing, and must not keep anybody from writing.
    guard let files = try? Healing(repository).files(seen: seen, head: head), !files.isEmpty
    else { return }
    let tree = try repository.commit(head).tree
    let committed = Dictionary(
      uniqueKeysWithValues: try files.keys.map { ($0, try repository.blob(at: $0, in: tree)) })
    try commit(
      files.mapValues { $0 }, keeping: store.edited(committed),
      message: CommitMessage(
        "Put back what another git dropped", body: files.keys.sorted(), device: store.device))
    store.context.report(.healed(files.keys.sorted()))
  }
}

extension Store {
  /// Those of some files that hold what was never committed: they are left to their owner.
  ///
  /// - Parameter committed: the blobs by path; nil where nothing is committed.
  func edited(_ committed: [String: ObjectID?]) -> Set<String> {
    Set(
      committed.keys.filter { path in
        do {
          let file = try DurableFile.read("\(self.path)/\(path)", limit: AlarmRecord.largest)
          return file.map { Repository.blobID($0.bytes) != committed[path] ?? nil } ?? false
        } catch {
          // Not a regular file, or one that this user may not read.
          return true
        }
      })
  }
}
