import BelfryCore
import Git
import Glibc

/// A reader of the log's days, from their files or from the log index.
///
/// A day comes from the index if its folder and each of its files have the signature that they had when the index was
/// written. All others are read, so an index that is old or missing costs time only.
final class LogReader {
  fileprivate let store: Store
  private let report: (String, RecordError) -> Void
  private let alarm: Identifier?
  /// The index and the number of the alarm in it; the index is nil if it is missing, the number if it is not needed.
  private var index: (file: LogIndexFile?, alarm: Int?)?

  /// The number of days that are read from their files before the index is opened, as few commands need more.
  fileprivate static let directDays = 8
  /// The maximum number of days that are taken from the index together.
  fileprivate static let largestBatch = 256
  /// The number of days from which on they are taken on all cores.
  private static let parallelDays = 32

  /// - Parameters:
  ///   - alarm: The alarm whose entries are returned; nil for all alarms.
  ///   - report: Receives the path and the error of each file that is not a valid entry.
  init(
    _ store: Store, of alarm: Identifier?, report: @escaping (String, RecordError) -> Void
  ) {
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
  fileprivate func read(_ path: String) -> LogIndexFile.Row? {
    guard case .log = RecordPath(path) else { return nil }
    do {
      guard let file = try DurableFile.read("\(store.path)/\(path)", limit: LogRecord.largest)
      else { return nil }
      if let alarm, !LogRecord.mentions(alarm, file.bytes) { return nil }
      let entry = try LogRecord.decode(file.bytes)
      guard alarm == nil || entry.alarm == alarm else { return nil }
      return LogIndexFile.Row(entry: entry, signature: FileSignature(file.status))
    } catch let error as RecordError {
      report(path, error)
    } catch {
      report(path, RecordError("\(error)"))
    }
    return nil
  }

  /// Returns the entries of several days from the index, for each day nil if the index doesn't have it as it is now.
  fileprivate func indexed(_ days: [String]) -> [[LogEntry]?] {
    let (file, number) = index ?? open()
    guard let file else { return days.map { _ in nil } }
    let (path, alarm) = (store.path, alarm)
    // One day has about twenty entries.
    return Chunks.map(days.count, parallelFrom: LogReader.parallelDays) { range in
      range.map { LogReader.indexed(days[$0], in: file, path, of: alarm, number) }
    }
  }

  private static func indexed(
    _ day: String, in file: LogIndexFile, _ store: String, of alarm: Identifier?, _ number: Int?
  ) -> [LogEntry]? {
    guard let rows = unchangedRows(of: day, in: file, store) else { return nil }
    var entries: [LogEntry] = []
    if alarm == nil { entries.reserveCapacity(rows.count) }
    for row in rows {
      if alarm != nil, number.map({ !file.mentions($0, row: row) }) ?? false { continue }
      guard let entry = file.entry(row) else { return nil }
      if alarm == nil || entry.alarm == alarm { entries.append(entry) }
    }
    return entries
  }

  private func open() -> (file: LogIndexFile?, alarm: Int?) {
    let file = LogIndex(store: store).read()
    let opened = (file: file, alarm: alarm.flatMap { file?.number(of: $0) })
    index = opened
    return opened
  }

  /// Returns the rows of a day whose folder and files are as they were when the index was written, or nil.
  static func unchangedRows(
    of day: String, in file: LogIndexFile, _ store: String
  ) -> Range<Int>? {
    guard let known = file.days[day] else { return nil }
    let folder = Glibc.open("\(store)/log/\(day)", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard folder >= 0 else { return nil }
    defer { close(folder) }
    var status = stat()
    guard fstat(folder, &status) == 0, FileSignature(status) == known.folder,
      file.vouches(for: known.folder)
    else { return nil }
    for row in known.rows {
      let expected = file.signature(row)
      let result = file.withName(row) { fstatat(folder, $0, &status, AT_SYMLINK_NOFOLLOW) }
      guard result == 0, FileSignature(status) == expected, file.vouches(for: expected)
      else { return nil }
    }
    return known.rows
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
    days = AnyIterator(LogReader.days(reader.store).makeIterator())
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
    let isDirect = count < LogReader.directDays
    let names = Array(days.prefix(isDirect ? 1 : Swift.min(count, LogReader.largestBatch)))
    if names.isEmpty { return }
    count += names.count
    let known = isDirect ? [nil] : reader.indexed(names)
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

  /// Returns the index, or nil if it is missing or damaged.
  func read() -> LogIndexFile? {
    (try? DurableFile.read(local.logIndex, limit: 1 << 30)).flatMap {
      LogIndexFile($0.bytes, written: FileSignature($0.status).modified)
    }
  }

  /// The number of days below which the log is read without an index.
  private static let minDays = 60

  /// Writes the index with all days whose entries are valid. An error is ignored: the log is then read from its files.
  func update() {
    let days = Array(LogReader.days(store))
    guard days.count >= LogIndex.minDays else { return }
    let known = read()
    var content: [(name: String, folder: FileSignature, rows: [LogIndexFile.Row])] = []
    for day in days {
      var isValid = true
      let reader = LogReader(store, of: nil) { _, _ in isValid = false }
      var status = stat()
      let folder = "\(path)/log/\(day)"
      guard stat(folder, &status) == 0 else { continue }
      if let known, let range = LogReader.unchangedRows(of: day, in: known, path) {
        let rows = range.compactMap { row in
          known.entry(row).map { LogIndexFile.Row(entry: $0, signature: known.signature(row)) }
        }
        if rows.count == range.count { content.append((day, FileSignature(status), rows)) }
        continue
      }
      let paths = LogReader.names(folder).map { "log/\(day)/\($0)" }
      let rows = paths.compactMap { reader.read($0) }
      // A row has the name of its file from the entry.
      if isValid, !rows.isEmpty, rows.map({ LogRecord.path($0.entry) }) == paths {
        content.append((day, FileSignature(status), rows))
      }
    }
    _ = try? DurableFile.write(
      LogIndexFile.bytes(content), to: local.logIndex,
      temporary: "\(local.logIndex).new-\(getpid())", syncing: false)
  }
}
