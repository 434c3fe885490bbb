import CSQLite
import Glibc

/// A connection to the database of the caches, for one read or write.
///
/// Nothing waits for the disk. A killed process leaves a journal, from which the next one undoes its transaction. A power
/// failure can leave a mixture of old and new pages: readers check what they read.
final class CacheDatabase {
  /// A failure of SQLite, or content that Belfry has not written.
  struct Failure: Error {
    /// The result code of SQLite.
    let code: Int32

    /// The failure for content that Belfry has not written.
    static let damaged = Failure(code: SQLITE_CORRUPT)

    /// True if the database has to be built anew. A statement that doesn't fit the tables is an `SQLITE_ERROR`.
    var isDamage: Bool { [SQLITE_CORRUPT, SQLITE_NOTADB, SQLITE_ERROR].contains(code & 0xFF) }
  }

  /// A value of a column.
  enum Value {
    case number(Int64)
    case text(String)
    case bytes([UInt8])
  }

  /// The present row of a result. It is valid only during the call of the closure that receives it.
  struct Row {
    fileprivate let statement: OpaquePointer

    /// Returns the number in a column.
    func number(_ column: Int32) -> Int64 { sqlite3_column_int64(statement, column) }

    /// Returns the bytes or the UTF-8 text in a column.
    func bytes(_ column: Int32) -> [UInt8] {
      guard let start = sqlite3_column_blob(statement, column) else { return [] }
      return Array(
        UnsafeRawBufferPointer(start: start, count: Int(sqlite3_column_bytes(statement, column))))
    }

    /// Appends the bytes in a column to an array.
    func append(_ column: Int32, to bytes: inout [UInt8]) {
      guard let start = sqlite3_column_blob(statement, column) else { return }
      bytes.append(
        contentsOf: UnsafeRawBufferPointer(
          start: start, count: Int(sqlite3_column_bytes(statement, column))))
    }

    /// Returns the text in a column.
    func text(_ column: Int32) -> String { String(decoding: bytes(column), as: UTF8.self) }
  }

  /// True if libsqlite3 could be loaded.
  private static let isLoaded = belfry_sqlite_load() == nil

  /// Loads libsqlite3, so that a later use does not wait for it.
  static func preload() { _ = isLoaded }

  /// The time for which a connection waits for another one, in milliseconds. Belfry then works without the caches.
  private static let timeout: Int32 = 100
  /// The size of the part of the database that is mapped into memory instead of copied, in bytes.
  private static let mappedSize = 16 << 20

  private let connection: OpaquePointer

  /// Opens a database.
  ///
  /// - Parameters:
  ///   - path: The path of the file.
  ///   - creating: True to write, and to create the file if it is missing.
  /// - Throws: `Failure`; `SQLITE_CANTOPEN` without a file, and without libsqlite3.
  init(_ path: String, creating: Bool) throws(Failure) {
    var status = stat()
    // SQLite would open a folder, and follow a link.
    let exists = lstat(path, &status) == 0
    guard exists ? status.st_mode & S_IFMT == S_IFREG : creating, CacheDatabase.isLoaded else {
      throw Failure(code: SQLITE_CANTOPEN)
    }
    var opened: OpaquePointer?
    let flags =
      SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | (creating ? SQLITE_OPEN_CREATE : 0)
    let code = sqlite3_open_v2(path, &opened, flags, nil)
    guard code == SQLITE_OK, let opened else {
      _ = sqlite3_close(opened)
      throw Failure(code: code)
    }
    connection = opened
    _ = sqlite3_busy_timeout(connection, CacheDatabase.timeout)
    try execute("PRAGMA mmap_size = \(CacheDatabase.mappedSize)")
    // Otherwise each write would wait for the disk, also that of a command that only reads.
    if creating { try execute("PRAGMA synchronous = OFF") }
  }

  deinit { _ = sqlite3_close(connection) }

  /// Runs statements without parameters and results.
  func execute(_ sql: String) throws(Failure) {
    let code = sqlite3_exec(connection, sql, nil, nil, nil)
    guard code == SQLITE_OK else { throw Failure(code: code) }
  }

  /// Runs a statement once for each list of values.
  ///
  /// - Parameters:
  ///   - sql: The statement.
  ///   - lists: The values of the parameters.
  ///   - body: Receives each row of the results.
  func run(
    _ sql: String, _ lists: [[Value]] = [[]], _ body: (Row) throws -> Void = { _ in }
  ) throws {
    var prepared: OpaquePointer?
    let code = sqlite3_prepare_v2(connection, sql, -1, &prepared, nil)
    guard code == SQLITE_OK, let statement = prepared else { throw Failure(code: code) }
    defer { _ = sqlite3_finalize(statement) }
    for values in lists {
      for (index, value) in values.enumerated() {
        let code = CacheDatabase.bind(value, to: statement, Int32(index + 1))
        guard code == SQLITE_OK else { throw Failure(code: code) }
      }
      var code = sqlite3_step(statement)
      while code == SQLITE_ROW {
        try body(Row(statement: statement))
        code = sqlite3_step(statement)
      }
      guard code == SQLITE_DONE else { throw Failure(code: code) }
      _ = sqlite3_reset(statement)
    }
  }

  private static func bind(_ value: Value, to statement: OpaquePointer, _ index: Int32) -> Int32 {
    switch value {
    case .number(let number): return sqlite3_bind_int64(statement, index, number)
    case .text(var text):
      return text.withUTF8 {
        belfry_sqlite_bind_text(statement, index, $0.baseAddress, Int32($0.count))
      }
    case .bytes(let bytes):
      return bytes.withUnsafeBytes {
        belfry_sqlite_bind_blob(statement, index, $0.baseAddress, Int32($0.count))
      }
    }
  }

  /// Runs a closure in a transaction, which ends without changes if the closure throws.
  ///
  /// - Parameter writing: True to wait for other writers first.
  func transaction<Result>(
    writing: Bool, _ body: () throws -> Result
  ) throws -> Result {
    try execute(writing ? "BEGIN IMMEDIATE" : "BEGIN")
    let result: Result
    do {
      result = try body()
      try execute("COMMIT")
    } catch {
      try? execute("ROLLBACK")
      throw error
    }
    return result
  }
}
