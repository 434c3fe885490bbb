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
struct BranchRestoration {
  private let repository: Repository

  init(_ repository: Repository) {
    self.repository = repository
  }

  /// The files that head lacks, or has in a version that loses something.
  ///
  /// A version that is no record restores nothing.
  ///
  /// - Returns: the files, and whether every version could be read.
  func files(
    seen: ObjectID, head: ObjectID
  ) throws -> (files: [String: [UInt8]], isComplete: Bool) {
    let changes = try repository.changedFiles(
      from: repository.commit(head).tree, to: repository.commit(seen).tree)
    var files: [String: [UInt8]] = [:]
    var isComplete = true
    func content(_ blob: ObjectID, _ kind: RecordPath) -> [UInt8]? {
      do throws(GitError) {
        return try repository.blob(blob, limit: kind.largest)
      } catch {
        if error.isUnreadable { isComplete = false }
        return nil
      }
    }
    for change in changes {
      guard let kind = RecordPath(change.path), let after = change.after,
        let seen = content(after, kind)
      else { continue }
      guard let before = change.before else {
        files[change.path] = seen
        continue
      }
      guard let now = content(before, kind) else { continue }
      if let healed = healed(kind, seen: seen, now: now), healed != now {
        files[change.path] = healed
      }
    }
    return (files, isComplete)
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
