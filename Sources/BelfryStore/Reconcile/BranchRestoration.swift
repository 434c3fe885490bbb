import BelfryCore
import Files
import Git

/// A restoration of records that another program took from the branch, for example by a commit of an outdated index, a
/// `git reset --hard`, a rebase that dropped a commit, or a commit of a removed file.
///
/// ```
/// seen ──────────── the commit at which Belfry left the branch
///   └─ … ── head    the current commit of the branch, moved by another program
/// ```
///
/// For each record that differs between the two:
///
/// 1. Head lacks the record: it is restored, because absence never means deletion.
/// 2. An alarm, the settings or a calendar: the two versions are joined, so that an older version doesn't revert
///    acknowledged changes. A value that differs under the same stamp is a hand edit, which is left to the import, also if it was
///    made from an earlier version (see `EditOrigin`).
/// 3. A log entry: it is restored, because log entries are immutable.
/// 4. A device's record, or a new record: head's version is kept.
/// 5. A record of a newer format: it is restored, unless head's version has the same format or a later one.
struct BranchRestoration {
  private let repository: Repository

  init(_ repository: Repository) {
    self.repository = repository
  }

  /// The records that a branch lost, and the hand edits in it.
  struct Result {
    /// The files that head lacks, or has in a version that loses something, by path.
    var files: [String: [UInt8]] = [:]
    /// The paths of the records of which head has a hand edit that was committed without a stamp.
    var edited: Set<String> = []
    /// False if a version could not be read.
    var isComplete = true
  }

  /// Returns the records that a branch lost. An invalid version restores nothing.
  ///
  /// - Parameters:
  ///   - seen: The commit at which Belfry left the branch, and later ones of this device.
  ///   - head: The current commit of the branch.
  func result(seen commits: [ObjectID], head: ObjectID) throws -> Result {
    var result = Result()
    func content(_ blob: ObjectID, _ kind: RecordPath) -> [UInt8]? {
      do throws(GitError) {
        return try repository.blob(blob, limit: kind.largest)
      } catch {
        if error.isUnreadable { result.isComplete = false }
        return nil
      }
    }
    let tree = try repository.commit(head).tree
    for commit in commits {
      var origin = EditOrigin(repository, from: commit)
      for change in try repository.changedFiles(from: tree, to: repository.commit(commit).tree) {
        guard let kind = RecordPath(carried: change.path), let after = change.after,
          let seen = content(after, kind)
        else { continue }
        let newer = kind.newerFormat(of: seen)
        if case .other = kind, newer == nil { continue }
        guard let now = result.files[change.path] ?? change.before.flatMap({ content($0, kind) })
        else {
          if change.before == nil { result.files[change.path] = seen }
          continue
        }
        if let newer {
          if kind.newerFormat(of: now) ?? 0 < newer { result.files[change.path] = seen }
          continue
        }
        if case .log = kind {
          result.files[change.path] = seen
          continue
        }
        switch origin.isEdited(now, since: seen, at: kind) {
        case true?: result.edited.insert(change.path)
        case false?:
          let joined = RecordJoin(kind, ours: .success(now), theirs: .success(seen)).bytes
          if let joined, joined != now { result.files[change.path] = joined }
        case nil: break
        }
      }
    }
    // The import of an edit joins all versions.
    for path in result.edited { result.files[path] = nil }
    return result
  }
}

extension Store {
  /// Returns the paths of the given files whose content was never committed. These are left to the user.
  ///
  /// - Parameter committed: The blobs by path; nil if nothing is committed.
  func edited(_ committed: [String: ObjectID?]) -> Set<String> {
    let files = committed.map { (path: $0.key, blob: $0.value) }
    return Set(
      Chunks.map(files.count) { range in
        files[range].filter { path, blob in
          do {
            let file = try DurableFile.read("\(self.path)/\(path)", limit: AlarmRecord.largest)
            return file.map { Repository.blobID($0.bytes) != blob } ?? false
          } catch {
            // The file is not regular, or not readable for this user.
            return true
          }
        }.map(\.path)
      })
  }
}
