import BelfryCore
import Files
import Glibc

/// A reader of the log's days, from their files or from the log index.
///
/// A day comes from the index if its folder and each of its files have the signature that they had when the index was
/// written. All others are read, so an index that is old or missing costs time only.
final class LogReader {
  fileprivate let store: Store
  private let report: (String, RecordError) -> Void
  private let alarm: Identifier?
  /// The path of the first day's folder; empty for all days.
  fileprivate let first: String

  /// The number of days that are read from their files before the index is opened, as few commands need more.
  fileprivate static let directDays = 8
  /// The number of days that are taken from the index together at first, if the first day is given.
  fileprivate static let periodBatch = 64
  /// The maximum number of days that are taken from the index together.
  fileprivate static let largestBatch = 256
  /// The number of days from which on they are taken on all cores.
  private static let parallelDays = 32

  /// - Parameters:
  ///   - alarm: The alarm whose entries are returned; nil for all alarms.
  ///   - first: The UTC day of the first entries; nil for all days.
  ///   - report: Receives the path and the error of each file that is not a valid entry.
  init(
    _ store: Store, of alarm: Identifier?, since first: CivilDate? = nil,
    report: @escaping (String, RecordError) -> Void
  ) {
    self.first = first.map { "\($0)".replacing("-", with: "/") } ?? ""
    self.store = store
    self.alarm = alarm
    self.report = report
  }

  /// Returns the paths of the days' folders, newest first: `2026/11/25`.
  ///
  /// The names of years, months and days sort chronologically.
  static func days(_ store: Store) -> some Sequence<String> {
    let root = store.path + "/log"
    func below(_ folders: some Sequence<String>) -> some Sequence<String> {
      folders.lazy.flatMap { folder in
        names("\(root)/\(folder)").lazy.map { folder.isEmpty ? $0 : "\(folder)/\($0)" }
      }
    }
    return below(below(below([""])))
  }

  fileprivate static func names(_ folder: String) -> [String] {
    DurableFile.names(in: folder).filter { !$0.hasPrefix(".") }.sorted(by: >)
  }

  /// Returns the entries of all days, newest first. They are read while the result is iterated.
  func entries() -> some Sequence<LogEntry> { LogEntries(reader: self) }

  /// Returns the entries of a day, newest first. Files are read lazily.
  ///
  /// - Parameter known: The entries from the index; nil to read the files.
  fileprivate func entries(of day: String, known: [LogEntry]?) -> DayEntries {
    let names = known == nil ? LogReader.names("\(store.path)/log/\(day)") : []
    return DayEntries(known: known ?? [], names: names) { [self] name in
      read("log/\(day)/\(name)")?.entry
    }
  }

  /// Reads the file of an entry. Returns nil if it is of another alarm, not valid or missing.
  fileprivate func read(_ path: String) -> CachedLogDay.Row? {
    guard case .log = RecordPath(path) else { return nil }
    do {
      guard let file = try DurableFile.read("\(store.path)/\(path)", limit: LogRecord.largest)
      else { return nil }
      if let alarm, !LogRecord.mentions(alarm, file.bytes) { return nil }
      let entry = try LogRecord.decode(file.bytes)
      guard alarm == nil || entry.alarm == alarm else { return nil }
      return CachedLogDay.Row(entry: entry, signature: FileSignature(file.status))
    } catch let error as RecordError {
      report(path, error)
    } catch {
      report(path, RecordError("\(error)"))
    }
    return nil
  }

  /// Returns the entries of several days from the index, for each day nil if the index doesn't have it as it is now.
  ///
  /// - Parameter days: Consecutive days, newest first.
  fileprivate func indexed(_ days: [String]) -> [[LogEntry]?] {
    let known = LogIndex(store: store).days(days)
    let (path, alarm) = (store.path, alarm)
    // One day has about twenty entries.
    return Chunks.map(days.count, parallelFrom: LogReader.parallelDays) { range in
      days[range].map { day -> [LogEntry]? in
        guard let bytes = known[day] else { return nil }
        return LogReader.unchangedRows(bytes, of: alarm, path: "\(path)/log/\(day)")?.map(\.entry)
      }
    }
  }

  /// Passes the entries of some days to a closure.
  ///
  /// - Parameter days: Consecutive days, newest first.
  func forEachEntry(of days: ArraySlice<String>, _ body: (LogEntry) -> Void) {
    var rest = days
    while !rest.isEmpty {
      let batch = Array(rest.prefix(LogReader.largestBatch))
      rest = rest.dropFirst(batch.count)
      let known = batch.count > LogReader.directDays ? LogIndex(store: store).days(batch) : [:]
      for day in batch {
        let folder = "log/\(day)"
        if let bytes = known[day],
          let rows = LogReader.unchangedRows(bytes, of: alarm, path: "\(store.path)/\(folder)")
        {
          for row in rows { body(row.entry) }
        } else {
          for name in LogReader.names("\(store.path)/\(folder)") {
            if let row = read("\(folder)/\(name)") { body(row.entry) }
          }
        }
      }
    }
  }

  /// Returns the rows of a day in the index if its folder and files are as they were when it was written, or nil.
  ///
  /// - Parameters:
  ///   - bytes: The day in the index.
  ///   - alarm: The alarm whose rows are returned; nil for all alarms.
  ///   - path: The day's folder.
  static func unchangedRows(
    _ bytes: [UInt8], of alarm: Identifier? = nil, path: String
  ) -> [CachedLogDay.Row]? {
    let folder = Glibc.open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard folder >= 0 else { return nil }
    defer { close(folder) }
    // One buffer for all names: a string for each would take longer than the system call.
    var path: [CChar] = []
    return CachedLogDay.rows(bytes, of: alarm) { name, signature in
      path.removeAll(keepingCapacity: true)
      for byte in name { path.append(CChar(bitPattern: byte)) }
      path.append(0)
      var status = stat()
      return fstatat(folder, path, &status, AT_SYMLINK_NOFOLLOW) == 0
        && FileSignature(status) == signature
    }
  }
}

/// The entries of the days of a log: the first days from their files, the others in growing batches from the index.
private struct LogEntries: Sequence {
  let reader: LogReader

  func makeIterator() -> LogEntryIterator { LogEntryIterator(reader) }
}

private struct LogEntryIterator: IteratorProtocol {
  private let reader: LogReader
  private var days: AnyIterator<String>
  /// The number of days that were taken.
  private var count = 0
  /// The days of the batch, with their entries in the index.
  private var batch: ArraySlice<(day: String, known: [LogEntry]?)> = []
  private var day: DayEntries?

  init(_ reader: LogReader) {
    self.reader = reader
    let first = reader.first
    days = AnyIterator(LogReader.days(reader.store).lazy.prefix { $0 >= first }.makeIterator())
  }

  mutating func next() -> LogEntry? {
    while true {
      if let entry = day?.next() { return entry }
      if batch.isEmpty { readBatch() }
      guard let next = batch.popFirst() else { return nil }
      day = reader.entries(of: next.day, known: next.known)
    }
  }

  private mutating func readBatch() {
    // The reader of a period needs all of its days.
    let isDirect = count < LogReader.directDays && reader.first.isEmpty
    let size = reader.first.isEmpty ? count : Swift.max(count, LogReader.periodBatch)
    let names = Array(days.prefix(isDirect ? 1 : Swift.min(size, LogReader.largestBatch)))
    if names.isEmpty { return }
    count += names.count
    let known = isDirect ? [nil] : reader.indexed(names)
    assert(known.count == names.count, "each day is read from the index or from its files")
    batch = zip(names, known).map { (day: $0, known: $1) }[...]
  }
}

/// The entries of a day: those that are known, or those whose files are read.
private struct DayEntries: IteratorProtocol {
  private var known: ArraySlice<LogEntry>
  private var names: ArraySlice<String>
  private let read: (String) -> LogEntry?

  init(known: [LogEntry], names: [String], read: @escaping (String) -> LogEntry?) {
    self.known = known[...]
    self.names = names[...]
    self.read = read
  }

  mutating func next() -> LogEntry? {
    if let entry = known.popFirst() { return entry }
    while let name = names.popFirst() {
      if let entry = read(name) { return entry }
    }
    return nil
  }
}

/// The log index of a store, which maintenance writes once a day.
struct LogIndex: StorePart {
  let store: Store

  /// Returns the days in the index with the given paths, see `CachedLogDay`.
  ///
  /// - Parameter days: Consecutive days, newest first.
  func days(_ days: [String]) -> [String: [UInt8]] {
    guard let first = days.last, let last = days.first else { return [:] }
    return store.cache.read { database in
      var found: [String: [UInt8]] = [:]
      try database.run(
        "SELECT day, content FROM days WHERE day BETWEEN ? AND ?", [[.text(first), .text(last)]]
      ) { found[$0.text(0)] = $0.bytes(1) }
      return found
    } ?? [:]
  }

  /// The number of days below which the log is read without an index.
  private static let minDays = 60

  /// Updates the index with all days whose entries are valid. An error is ignored: the log is then read from its files.
  func update() {
    let days = Array(LogReader.days(store))
    guard days.count >= LogIndex.minDays else { return }
    let readAt = FileSignature.time(in: path)
    let known = self.days(days)
    var content: [[CacheDatabase.Value]] = []
    var outdated = Set(known.keys)
    for day in days {
      let folder = "\(path)/log/\(day)"
      if let bytes = known[day], LogReader.unchangedRows(bytes, path: folder) != nil {
        outdated.remove(day)
      } else if let bytes = read(day, in: folder, readAt) {
        content.append([.text(day), .bytes(bytes)])
      }
    }
    if content.isEmpty, outdated.isEmpty { return }
    _ = store.cache.write { database in
      try database.run("DELETE FROM days WHERE day = ?", outdated.map { [.text($0)] })
      try database.run("INSERT OR REPLACE INTO days (day, content) VALUES (?, ?)", content)
    }
  }

  /// Returns a day from its files, or nil if it has an entry that is not valid.
  private func read(_ day: String, in folder: String, _ readAt: Int64) -> [UInt8]? {
    var status = stat()
    guard stat(folder, &status) == 0 else { return nil }
    var isValid = true
    let reader = LogReader(store, of: nil) { _, _ in isValid = false }
    let paths = LogReader.names(folder).map { "log/\(day)/\($0)" }
    let rows = paths.compactMap { reader.read($0) }
    // A row has the name of its file from the entry.
    guard isValid, !rows.isEmpty, rows.map({ LogRecord.path($0.entry) }) == paths else {
      return nil
    }
    return CachedLogDay.bytes(FileSignature(status), readAt: readAt, rows)
  }
}
