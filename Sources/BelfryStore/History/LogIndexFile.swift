import BelfryCore
import Git
import Glibc

/// The log index on disk, `.git/belfry/log-index`: the entries of most days of the log, decoded.
///
/// ```
/// header    magic, the numbers and sizes of the parts
/// texts     identifiers of alarms and devices, and titles, each once
/// days      the day, its folder's signature, and its range of rows
/// rows      one per entry, of fixed size, newest first: its file's signature and its values
/// heap      the records of entries that have more values than a row
/// ```
///
/// It is a cache of the log's files, whose signatures decide which days of it are used. `CacheCoding` describes the numbers.
struct LogIndexFile: Sendable {
  /// A day of the log.
  struct Day: Sendable {
    /// The signature of the day's folder.
    var folder: FileSignature
    /// The rows of the day.
    var rows: Range<Int>
  }

  /// An entry and the signature of its file.
  struct Row {
    var entry: LogEntry
    var signature: FileSignature
  }

  /// The days by the path of their folder in the log: `2026/11/25`.
  let days: [String: Day]
  private let bytes: [UInt8]
  private let texts: [String]
  private let identifiers: [Identifier?]
  private let rowStart: Int
  private let heapStart: Int
  private let written: Int64

  /// `BLFLOG02`: the digits are the version of the format.
  private static let magic: UInt64 = 0x3230_474F_4C46_4C42
  /// The size of the magic number and the checksum.
  private static let headerSize = 16
  private static let dayName = 10
  private static let none = UInt32.max
  /// The action of a row whose entry is in the heap.
  private static let inHeap = UInt8.max

  /// The offsets of a row's fields from the row's start. A text is the number of one of the texts.
  private enum Field {
    static let signature = 0
    static let action = 32
    static let auto = 33
    static let state = 34
    static let alarm = 36
    static let device = 40
    static let title = 44
    static let undoes = 48
    static let revision = 52
    static let at = 56
    static let occurrence = 64
    static let effective = 72
    /// The name of the entry's file as a C string: `HHMMSSmmm-<id>.json`, and a NUL byte.
    static let name = 80
    /// The row's size.
    static let size = 128
    /// The offset and the size of a record in the heap, in a row whose action is `inHeap`.
    static let (heapOffset, heapSize) = (alarm, device)
  }

  // MARK: Reading

  /// Reads an index. Returns nil if it is damaged or of another version.
  ///
  /// - Parameter written: The modification time of the file in nanoseconds.
  init?(_ bytes: [UInt8], written: Int64) {
    var reader = CacheReader(bytes)
    guard reader.number() == LogIndexFile.magic, let sum = reader.number(as: UInt64.self),
      sum == LogIndexFile.checksum(bytes), let textCount = reader.count(),
      let dayCount = reader.count(), let rowCount = reader.count()
    else { return nil }
    var texts: [String] = []
    for _ in 0..<textCount {
      guard let text = reader.text() else { return nil }
      texts.append(text)
    }
    var days: [String: Day] = [:]
    for _ in 0..<dayCount {
      guard let name = reader.take(LogIndexFile.dayName), let folder = reader.signature(),
        let first = reader.number(as: UInt32.self), let count = reader.number(as: UInt32.self),
        Int(first) + Int(count) <= rowCount
      else { return nil }
      days[String(decoding: name, as: UTF8.self)] = Day(
        folder: folder, rows: Int(first)..<(Int(first) + Int(count)))
    }
    rowStart = reader.position
    guard reader.take(rowCount * Field.size) != nil else { return nil }
    heapStart = reader.position
    self.days = days
    self.texts = texts
    identifiers = texts.map { $0.utf8.count == Identifier.length ? Identifier($0) : nil }
    self.bytes = bytes
    self.written = written
  }

  /// Returns true if an equal signature proves that a file or folder has not changed since the index was written.
  func vouches(for signature: FileSignature) -> Bool { signature.isConclusive(at: written) }

  private func start(_ row: Int) -> Int { rowStart + row * Field.size }

  /// Returns the signature of a row's file.
  func signature(_ row: Int) -> FileSignature {
    CacheCoding.signature(bytes, at: start(row) + Field.signature)
  }

  /// Calls a closure with the name of a row's file.
  func withName<Result>(_ row: Int, _ body: (UnsafePointer<CChar>) -> Result) -> Result {
    bytes.withUnsafeBytes { raw in
      body((raw.baseAddress! + start(row) + Field.name).assumingMemoryBound(to: CChar.self))
    }
  }

  /// Returns the number by which the rows refer to an alarm; nil if no row does.
  func number(of alarm: Identifier) -> Int? { texts.firstIndex(of: alarm.text) }

  /// Returns true if a row's entry can be of an alarm with a number.
  func mentions(_ number: Int, row: Int) -> Bool {
    bytes[start(row) + Field.action] == LogIndexFile.inHeap
      || word(row, Field.alarm) == UInt32(number)
  }

  private func word(_ row: Int, _ field: Int) -> UInt32 {
    CacheCoding.number(bytes, at: start(row) + field, as: UInt32.self)
  }

  private func time(_ row: Int, _ field: Int) -> Int64? {
    let value = CacheCoding.number(bytes, at: start(row) + field, as: Int64.self)
    return value == .min ? nil : value
  }

  private func identifier(_ row: Int, _ field: Int) -> Identifier? {
    let number = Int(word(row, field))
    return identifiers.indices.contains(number) ? identifiers[number] : nil
  }

  /// Returns a row's entry, or nil if the row is not valid.
  func entry(_ row: Int) -> LogEntry? {
    let start = start(row)
    let action = Int(bytes[start + Field.action])
    if action == Int(LogIndexFile.inHeap) {
      let position = heapStart + Int(word(row, Field.heapOffset))
      let size = Int(word(row, Field.heapSize))
      guard position + size <= bytes.count else { return nil }
      return try? LogRecord.decode(Array(bytes[position..<(position + size)]))
    }
    let (actions, states) = (LogEntry.Action.allCases, OccurrenceRecord.State.allCases)
    let (title, state) = (Int(word(row, Field.title)), Int(bytes[start + Field.state]))
    let id = start + Field.name + LogRecord.timeLength
    guard actions.indices.contains(action), texts.indices.contains(title),
      let alarm = identifier(row, Field.alarm), let device = identifier(row, Field.device),
      let at = time(row, Field.at), let id = Identifier(bytes[id..<(id + Identifier.length)])
    else { return nil }
    return LogEntry(
      id: id, alarm: alarm, title: texts[title],
      occurrence: time(row, Field.occurrence).map { CivilDateTime(minuteNumber: Int($0)) },
      action: actions[action], at: Instant(milliseconds: at), device: device,
      auto: bytes[start + Field.auto] != 0,
      effective: time(row, Field.effective).map { Instant(milliseconds: $0) },
      undoes: identifier(row, Field.undoes), revision: Int(word(row, Field.revision)),
      state: states.indices.contains(state) ? states[state] : nil)
  }

  // MARK: Writing

  /// Returns the bytes of an index.
  ///
  /// - Parameter days: The days with their rows, newest first.
  static func bytes(_ days: [(name: String, folder: FileSignature, rows: [Row])]) -> [UInt8] {
    var (writer, body, first) = (Writer(), [UInt8](), 0)
    for day in days {
      body += Array(day.name.utf8)
      CacheCoding.append(day.folder, to: &body)
      CacheCoding.append(UInt32(first), to: &body)
      CacheCoding.append(UInt32(day.rows.count), to: &body)
      first += day.rows.count
      for row in day.rows { writer.append(row) }
    }
    var result: [UInt8] = []
    for number in [magic, 0, UInt64(writer.texts.count), UInt64(days.count), UInt64(first)] {
      CacheCoding.append(number, to: &result)
    }
    for text in writer.texts {
      CacheCoding.append(UInt64(text.utf8.count), to: &result)
      result += Array(text.utf8)
    }
    result += body
    result += writer.rows
    result += writer.heap
    CacheCoding.set(checksum(result), at: headerSize / 2, in: &result)
    return result
  }

  private static func checksum(_ bytes: [UInt8]) -> UInt64 {
    CacheCoding.checksum(bytes, of: [headerSize..<bytes.count])
  }

  /// The growing parts of an index.
  private struct Writer {
    var texts: [String] = []
    private var numbers: [String: UInt32] = [:]
    var rows: [UInt8] = []
    var heap: [UInt8] = []

    private mutating func number(_ text: String) -> UInt32 {
      if let number = numbers[text] { return number }
      let number = UInt32(texts.count)
      numbers[text] = number
      texts.append(text)
      return number
    }

    mutating func append(_ row: Row) {
      let (entry, start) = (row.entry, rows.count)
      CacheCoding.append(row.signature, to: &rows)
      let action = LogEntry.Action.allCases.firstIndex(of: entry.action)
      if let action, entry.payload == nil, entry.extras.isEmpty {
        append(entry, action: UInt8(action))
      } else {
        let record = LogRecord.encode(entry)
        rows += [LogIndexFile.inHeap, 0, 0, 0]
        CacheCoding.append(UInt32(heap.count), to: &rows)
        CacheCoding.append(UInt32(record.count), to: &rows)
        heap += record
      }
      rows += repeatElement(0, count: start + Field.name - rows.count)
      rows += Array((LogRecord.path(entry).split(separator: "/").last ?? "").utf8)
      rows += repeatElement(0, count: start + Field.size - rows.count)
    }

    private mutating func append(_ entry: LogEntry, action: UInt8) {
      let state = entry.state.flatMap { OccurrenceRecord.State.allCases.firstIndex(of: $0) }
      rows += [action, entry.auto ? 1 : 0, state.map { UInt8($0) } ?? .max, 0]
      for text in [entry.alarm.text, entry.device.text, entry.title] {
        CacheCoding.append(number(text), to: &rows)
      }
      CacheCoding.append(entry.undoes.map { number($0.text) } ?? LogIndexFile.none, to: &rows)
      CacheCoding.append(UInt32(clamping: entry.revision), to: &rows)
      for time in [
        entry.at.milliseconds, entry.occurrence.map { Int64($0.minuteNumber) } ?? .min,
        entry.effective?.milliseconds ?? .min,
      ] {
        CacheCoding.append(time, to: &rows)
      }
    }
  }
}
