import BelfryCore
import Git
import Glibc

/// The copies of a store, and the commits that each of them lacks.
public struct StoreBackup: Sendable {
  /// A copy of the store.
  public struct Copy: Sendable {
    /// The place of a copy.
    public enum Place: Hashable, Sendable {
      case remote(Remote)
      /// A document of `belfry export`; nil if it was not written to a file.
      case export(path: String?)
    }

    /// The place.
    public let place: Place
    /// The time of the last sync or of the export; nil if there was none.
    public let at: Instant?
    /// The number of commits that the copy lacks; nil if there is no copy, or its commit is unknown.
    public let lacking: Int?
    /// True if the copy is on the file system of the store, so that it is lost with it.
    public let isOnSameDisk: Bool
    /// True if the file or folder of the copy is not there now.
    public let isMissing: Bool
    fileprivate let commit: ObjectID?

    /// True if the copy remains if the disk of the store fails.
    public var isSafe: Bool { lacking != nil && !isOnSameDisk && !isMissing }
  }

  /// A commit that no safe copy has.
  public struct Change: Sendable {
    /// The subject.
    public let subject: String
    /// The occurrence that the subject names; nil if it names none.
    public let occurrence: CivilDateTime?
    /// The time.
    public let at: Instant
  }

  /// The path of the store.
  public let path: String
  /// The number of alarms that are not deleted.
  public let alarms: Int
  /// The number of commits.
  public let commits: Int
  /// The copies: the remotes, then the last export.
  public let copies: [Copy]
  /// The number of records with hand edits that are in no commit.
  public let handEdits: Int
  /// The number of commits that the best safe copy lacks; all commits without such a copy.
  public let unsavedCount: Int
  /// The newest of these commits.
  public let unsaved: [Change]

  /// The copy from which a lost store is restored: the safe copy that lacks least; nil for none.
  public var best: Copy? {
    copies.filter(\.isSafe).min { ($0.lacking ?? .max) < ($1.lacking ?? .max) }
  }

  /// The maximum number of commits that are named.
  private static let maxChanges = 5

  /// Reads the state of the copies of a store, as of the last sync.
  public init(of store: Store) throws {
    let repository = try store.repository()
    let head = try repository.commit(of: repository.headBranch() ?? "HEAD")
    let index = try AlarmIndex(store)
    index.save()
    path = store.path
    alarms = index.summaries().count { !$0.isDeleted }
    handEdits = index.edited.count + store.editedKinds.count
    commits = try head.map { try repository.count($0) } ?? 0
    let remotes = try repository.remotes()
    let syncs = store.local.remoteSyncs.read()
    var copies = try remotes.map { remote in
      let commit = try repository.commit(
        of: "refs/remotes/\(remote.name)/\(Repository.defaultBranch)")
      let disk = StoreBackup.disk(of: remote.url)
      // Earlier versions recorded one time for all remotes.
      let at = syncs[remote.name] ?? (commit != nil && remotes.count == 1 ? store.sync.last : nil)
      return Copy(
        place: .remote(remote), at: at,
        lacking: StoreBackup.lacking(commit, head, repository),
        isOnSameDisk: disk.map { $0 == StoreBackup.disk(of: store.path) } ?? false,
        isMissing: StoreBackup.path(of: remote.url) != nil && disk == nil, commit: commit)
    }
    if let export = store.local.lastExport.read() {
      let disk = export.path.flatMap { StoreBackup.disk(of: $0) }
      copies.append(
        Copy(
          place: .export(path: export.path), at: export.at,
          lacking: StoreBackup.lacking(export.commit, head, repository),
          isOnSameDisk: disk.map { $0 == StoreBackup.disk(of: store.path) } ?? false,
          isMissing: export.path != nil && disk == nil, commit: export.commit))
    }
    self.copies = copies
    let safe = copies.filter(\.isSafe)
    let count = safe.compactMap(\.lacking).min() ?? commits
    unsavedCount = count
    if let head {
      unsaved = try StoreBackup.changes(
        from: head, savedIn: safe.compactMap(\.commit), repository,
        limit: min(StoreBackup.maxChanges, count))
    } else {
      unsaved = []
    }
  }

  /// Returns the newest commits that none of the saved commits has in its history.
  private static func changes(
    from head: ObjectID, savedIn saved: [ObjectID], _ repository: Repository, limit: Int
  ) throws -> [Change] {
    var changes: [Change] = []
    if limit == 0 { return changes }
    try repository.visitHistory(from: head) { commit in
      if try saved.contains(where: { try repository.isAncestor(commit.id, of: $0) }) {
        return true
      }
      let trailers = CommitMessage.trailers(of: commit.message)
      changes.append(
        Change(
          subject: CommitMessage.subject(of: commit.message),
          occurrence: trailers[CommitMessage.occurrence].flatMap { CivilDateTime($0) },
          at: Instant(seconds: commit.time)))
      return changes.count < limit
    }
    return changes
  }

  private static func lacking(
    _ commit: ObjectID?, _ head: ObjectID?, _ repository: Repository
  ) -> Int? {
    guard let commit, let head else { return nil }
    // A commit that is not in the repository says nothing.
    return (try? repository.aheadBehind(head, commit))?.ahead
  }

  /// Returns the path of a URL; nil if it is on another machine.
  private static func path(of url: String) -> String? {
    url.hasPrefix("/") ? url : url.hasPrefix("file:///") ? String(url.dropFirst(7)) : nil
  }

  /// Returns the number of the file system of a path or URL; nil if there is nothing, or it is on another machine.
  private static func disk(of url: String) -> dev_t? {
    var status = stat()
    guard let path = path(of: url), stat(path, &status) == 0 else { return nil }
    return status.st_dev
  }
}

/// The last export of a store.
public struct ExportNote: Hashable, Sendable {
  /// The time.
  public let at: Instant
  /// The commit that was exported.
  public let commit: ObjectID?
  /// The absolute path of the file; nil if it was not written to a file.
  public let path: String?
}

extension Store {
  /// Records an export for `StoreBackup`. A write error is ignored, because the note is informative only.
  ///
  /// - Parameter path: The absolute path of the file; nil if it was not written to a file.
  public func noteExport(to path: String?) {
    let repository = try? repository()
    let commit = (try? repository?.commit(of: repository?.headBranch() ?? "HEAD")) ?? nil
    try? local.lastExport.replace(with: ExportNote(at: context.now, commit: commit, path: path))
  }
}

extension LocalState {
  /// The last export, `last-export`.
  ///
  /// Written by `belfry export`. Without it, `belfry backup` shows no export.
  var lastExport: LocalFile<ExportNote?> {
    LocalFile(
      path: folder + "/last-export", format: .export, exclusion: .none, isDurable: false)
  }

  /// The times of the last syncs by the names of the remotes, `last-syncs`.
  ///
  /// Written by every sync. Without it, `belfry backup` shows no times.
  var remoteSyncs: LocalFile<[String: Instant]> {
    LocalFile(
      path: folder + "/last-syncs", format: .instants,
      exclusion: .lock(folder + "/last-syncs.lock", required: false), isDurable: false)
  }

  /// Records that the exchange with remotes was completed. A write error is ignored, because the times are informative
  /// only.
  func noteSync(with remotes: [String], at now: Instant, holder: String) {
    _ = try? remoteSyncs.update(holder: holder) { times in
      for name in remotes { times[name] = now }
    }
  }
}

extension LocalFile.Format where Value == ExportNote? {
  /// Three lines: the time, the commit and the path. The last two can be empty.
  fileprivate static var export: Self {
    Self(
      empty: nil, maxSize: 8192,
      decode: { bytes in
        let lines = String(decoding: bytes, as: UTF8.self)
          .split(separator: "\n", maxSplits: 2, omittingEmptySubsequences: false).map(String.init)
        guard lines.count == 3, let at = Instant(rfc3339: lines[0]) else { return nil }
        return ExportNote(
          at: at, commit: ObjectID(hexadecimal: lines[1]), path: lines[2].isEmpty ? nil : lines[2])
      },
      encode: { note in
        guard let note else { return [] }
        return Array("\(note.at)\n\(note.commit?.description ?? "")\n\(note.path ?? "")".utf8)
      })
  }
}

extension LocalFile.Format where Value == [String: Instant] {
  /// A line for each name: the time and the name.
  fileprivate static var instants: Self {
    Self(
      empty: [:], maxSize: 1 << 20,
      decode: { bytes in
        var result: [String: Instant] = [:]
        for line in String(decoding: bytes, as: UTF8.self).split(separator: "\n") {
          let parts = line.split(separator: " ", maxSplits: 1).map(String.init)
          guard parts.count == 2, let at = Instant(rfc3339: parts[0]) else { return nil }
          result[parts[1]] = at
        }
        return result
      },
      encode: { times in
        Array(
          times.sorted { $0.key < $1.key }.map { "\($0.value) \($0.key)\n" }.joined().utf8)
      })
  }
}
