import BelfryCore
import Files
import Glibc

/// The caches of a store on disk: the alarm index and the log index, in one SQLite database, `.git/belfry/cache.db`.
///
/// ```
/// state     the generation of the alarm index, the other inputs of its statuses, and the number of its rows (one row)
/// alarms    the rows of the alarm index, see `CachedAlarm`
/// days      the days of the log index, see `CachedLogDay`
/// ```
///
/// Everything works without it, only slower: without libsqlite3, while another process holds the database for too long,
/// on a full disk, and in a folder that cannot be written. A database that is damaged or of another version is removed.
struct StoreCache: StorePart {
  let store: Store

  /// The version of the tables and of their content. Another version is removed.
  private static let version: Int64 = 4

  private static let tables = """
    CREATE TABLE state (generation INTEGER NOT NULL, fingerprint TEXT NOT NULL, count INTEGER NOT NULL);
    CREATE TABLE alarms (id TEXT PRIMARY KEY, title TEXT NOT NULL, content BLOB NOT NULL) WITHOUT ROWID;
    CREATE TABLE days (day TEXT PRIMARY KEY, content BLOB NOT NULL);
    PRAGMA user_version = \(version);
    """

  /// Returns the result of a closure that reads the database, or nil if there is none that can be used.
  func read<Result>(_ body: (CacheDatabase) throws -> Result?) -> Result? {
    use(creating: false) { database in
      try database.transaction(writing: false) {
        try StoreCache.version(of: database) ? body(database) : nil
      }
    }
  }

  /// Returns the result of a closure that writes to the database, or nil if nothing was written. A missing database is
  /// created.
  func write<Result>(_ body: (CacheDatabase) throws -> Result) -> Result? {
    use(creating: true) { database in
      if try !StoreCache.version(of: database) { try create(database) }
      return try database.transaction(writing: true) { try body(database) }
    }
  }

  private func use<Result>(
    creating: Bool, _ body: (CacheDatabase) throws -> Result?
  ) -> Result? {
    do {
      return try body(CacheDatabase(local.cache, creating: creating))
    } catch {
      // Whatever else fails is no reason to lose the rows.
      if let failure = error as? CacheDatabase.Failure, failure.isDamage { remove() }
      return nil
    }
  }

  /// Returns true if a database has the tables of this version, and false if it is new.
  ///
  /// - Throws: `CacheDatabase.Failure.damaged` for another version.
  private static func version(of database: CacheDatabase) throws -> Bool {
    var found: Int64 = 0
    try database.run("PRAGMA user_version") { found = $0.number(0) }
    guard found == 0 || found == version else { throw CacheDatabase.Failure.damaged }
    return found == version
  }

  /// Creates the tables, and removes the files of earlier versions of Belfry.
  private func create(_ database: CacheDatabase) throws {
    try database.transaction(writing: true) {
      // Another process may have been faster.
      if try !StoreCache.version(of: database) { try database.execute(StoreCache.tables) }
    }
    for name in DurableFile.names(in: local.folder)
    where StoreCache.earlierFiles.contains(where: name.hasPrefix) {
      _ = unlink("\(local.folder)/\(name)")
    }
  }

  /// The beginnings of the names of files that earlier versions of Belfry have left.
  private static let earlierFiles = [
    "alarm-index", "new-alarm-index-", "log-index", "changes.socket",
  ]

  /// Removes the database and the files that SQLite can have made beside it. The next reader builds it anew.
  func remove() {
    for suffix in ["", "-journal", "-wal", "-shm"] { _ = unlink(local.cache + suffix) }
  }
}

extension Store {
  /// Loads the library of the caches, so that a later use does not wait for it.
  public static func preloadCaches() { CacheDatabase.preload() }

  /// The caches of this store on disk.
  var cache: StoreCache { StoreCache(store: self) }
}
