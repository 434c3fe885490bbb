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
/// It is a cache of the log's files, whose signatures decide which days of it are used. Numbers are little-endian.
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

  private static let magic = Array("BLFLOG01".utf8)
  private static let rowSize = 112
  private static let dayName = 10
  private static let daySize = 56
  private static let none = UInt32.max
  /// The action of a row whose entry is in the heap.
  private static let inHeap = UInt8.max

  // MARK: Reading

  /// Reads an index. Returns nil if it is damaged or of another version.
  ///
  /// - Parameter written: The modification time of the file in nanoseconds.
  init?(_ bytes: [UInt8], written: Int64) {
    var reader = Reader(bytes: bytes)
    guard reader.take(8).map({ Array($0) }) == LogIndexFile.magic, let sum = reader.number(),
      sum == LogIndexFile.checksum(bytes[16...]), let textCount = reader.count(),
      let dayCount = reader.count(), let rowCount = reader.count()
    else { return nil }
    var texts: [String] = []
    for _ in 0..<textCount {
      guard let size = reader.count(), let text = reader.take(size) else { return nil }
      texts.append(String(decoding: text, as: UTF8.self))
    }
    var days: [String: Day] = [:]
    for _ in 0..<dayCount {
      guard let name = reader.take(LogIndexFile.dayName), reader.take(6) != nil,
        let folder = reader.signature(), let first = reader.count32(), let count = reader.count32(),
        first + count <= rowCount
      else { return nil }
      days[String(decoding: name, as: UTF8.self)] = Day(
        folder: folder, rows: first..<(first + count))
    }
    rowStart = reader.position
    guard reader.take(rowCount * LogIndexFile.rowSize) != nil else { return nil }
    heapStart = reader.position
    self.days = days
    self.texts = texts
    identifiers = texts.map { $0.utf8.count == Identifier.length ? Identifier($0) : nil }
    self.bytes = bytes
    self.written = written
  }

  /// Returns true if a signature proves that a file or folder has not changed since the index was written.
  func vouches(for signature: FileSignature) -> Bool {
    max(signature.changed, signature.modified) < written - AlarmIndexFile.tick
  }

  /// Returns the signature of a row's file.
  func signature(_ row: Int) -> FileSignature {
    var reader = Reader(bytes: bytes, position: rowStart + row * LogIndexFile.rowSize)
    return reader.signature() ?? FileSignature(size: -1, modified: 0, changed: 0, inode: 0)
  }

  /// Returns the name of a row's file, ended by a zero.
  func fileName(_ row: Int) -> [CChar] {
    let start = rowStart + row * LogIndexFile.rowSize
    let at = Int64(bitPattern: LogIndexFile.word(bytes, start + 56))
    let remainder = at % 86_400_000
    let time = Int(remainder < 0 ? remainder + 86_400_000 : remainder)
    let digits =
      time / 3_600_000 * 10_000_000 + time / 60_000 % 60 * 100_000 + time % 60_000
    var name: [CChar] = []
    name.reserveCapacity(LogIndexFile.fileNameSize)
    var power = 100_000_000
    while power > 0 {
      name.append(CChar(48 + digits / power % 10))
      power /= 10
    }
    name.append(45)
    for byte in bytes[(start + 80)..<(start + 80 + Identifier.length)] {
      name.append(CChar(truncatingIfNeeded: byte))
    }
    for byte in ".json".utf8 { name.append(CChar(byte)) }
    name.append(0)
    return name
  }

  private static let fileNameSize = 48

  /// Returns the number by which the rows refer to an alarm; nil if no row does.
  func number(of alarm: Identifier) -> Int? { texts.firstIndex(of: alarm.text) }

  /// Returns true if a row's entry can be of an alarm with a number.
  func mentions(_ number: Int, row: Int) -> Bool {
    let start = rowStart + row * LogIndexFile.rowSize
    return bytes[start + 32] == LogIndexFile.inHeap
      || LogIndexFile.word32(bytes, start + 36) == UInt32(number)
  }

  /// Returns a row's entry, or nil if the row is not valid.
  func entry(_ row: Int) -> LogEntry? {
    let start = rowStart + row * LogIndexFile.rowSize
    let action = bytes[start + 32]
    if action == LogIndexFile.inHeap {
      let position = heapStart + Int(LogIndexFile.word32(bytes, start + 36))
      let size = Int(LogIndexFile.word32(bytes, start + 40))
      guard position + size <= bytes.count else { return nil }
      return try? LogRecord.decode(Array(bytes[position..<(position + size)]))
    }
    func identifier(_ offset: Int) -> Identifier? {
      let number = LogIndexFile.word32(bytes, start + offset)
      return number < identifiers.count ? identifiers[Int(number)] : nil
    }
    func time(_ offset: Int) -> Int64? {
      let value = Int64(bitPattern: LogIndexFile.word(bytes, start + offset))
      return value == .min ? nil : value
    }
    let title = LogIndexFile.word32(bytes, start + 44)
    guard action < LogEntry.Action.allCases.count, title < texts.count,
      let alarm = identifier(36), let device = identifier(40), let at = time(56),
      let id = Identifier(bytes[(start + 80)..<(start + 80 + Identifier.length)])
    else { return nil }
    let state = Int(bytes[start + 34])
    let states = OccurrenceRecord.State.allCases
    return LogEntry(
      id: id, alarm: alarm, title: texts[Int(title)],
      occurrence: time(64).map { CivilDateTime(minuteNumber: Int($0)) },
      action: LogEntry.Action.allCases[Int(action)], at: Instant(milliseconds: at), device: device,
      auto: bytes[start + 33] != 0, effective: time(72).map { Instant(milliseconds: $0) },
      undoes: identifier(48), revision: Int(LogIndexFile.word32(bytes, start + 52)),
      state: state < states.count ? states[state] : nil)
  }

  // MARK: Writing

  /// Returns the bytes of an index.
  ///
  /// - Parameter days: The days with their rows, newest first.
  static func bytes(_ days: [(name: String, folder: FileSignature, rows: [Row])]) -> [UInt8] {
    var writer = Writer()
    var body: [UInt8] = []
    var first = 0
    for day in days where day.name.utf8.count == dayName {
      body += Array(day.name.utf8) + [UInt8](repeating: 0, count: 6)
      append(day.folder, to: &body)
      append32(UInt32(first), to: &body)
      append32(UInt32(day.rows.count), to: &body)
      first += day.rows.count
      for row in day.rows { writer.append(row) }
    }
    var parts: [UInt8] = []
    append(UInt64(writer.texts.count), to: &parts)
    append(UInt64(days.count), to: &parts)
    append(UInt64(first), to: &parts)
    for text in writer.texts {
      append(UInt64(text.utf8.count), to: &parts)
      parts += Array(text.utf8)
    }
    parts += body
    parts += writer.rows
    parts += writer.heap
    var result = magic
    append(checksum(parts[...]), to: &result)
    return result + parts
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
      let entry = row.entry
      let start = rows.count
      LogIndexFile.append(row.signature, to: &rows)
      let action = LogEntry.Action.allCases.firstIndex(of: entry.action)
      if let action, entry.payload == nil, entry.extras.isEmpty {
        let state = entry.state.flatMap { OccurrenceRecord.State.allCases.firstIndex(of: $0) }
        rows += [UInt8(action), entry.auto ? 1 : 0, state.map { UInt8($0) } ?? .max, 0]
        for text in [entry.alarm.text, entry.device.text, entry.title] {
          LogIndexFile.append32(number(text), to: &rows)
        }
        LogIndexFile.append32(
          entry.undoes.map { number($0.text) } ?? LogIndexFile.none, to: &rows)
        LogIndexFile.append32(UInt32(clamping: entry.revision), to: &rows)
        for time in [
          entry.at.milliseconds, entry.occurrence.map { Int64($0.minuteNumber) } ?? .min,
          entry.effective?.milliseconds ?? .min,
        ] {
          LogIndexFile.append(UInt64(bitPattern: time), to: &rows)
        }
        rows += Array(entry.id.text.utf8)
      } else {
        let record = LogRecord.encode(entry)
        rows += [LogIndexFile.inHeap, 0, 0, 0]
        LogIndexFile.append32(UInt32(heap.count), to: &rows)
        LogIndexFile.append32(UInt32(record.count), to: &rows)
        rows += [UInt8](repeating: 0, count: 12)
        LogIndexFile.append(UInt64(bitPattern: entry.at.milliseconds), to: &rows)
        rows += [UInt8](repeating: 0, count: 16) + Array(entry.id.text.utf8)
        heap += record
      }
      rows += repeatElement(0, count: LogIndexFile.rowSize - (rows.count - start))
    }
  }

  // MARK: Coding

  /// Returns a sum that a torn file doesn't have.
  private static func checksum(_ bytes: ArraySlice<UInt8>) -> UInt64 {
    bytes.withUnsafeBytes { raw in
      var sum: UInt64 = 0x9E37_79B9_7F4A_7C15
      var offset = 0
      while offset + 8 <= raw.count {
        let word = UInt64(littleEndian: raw.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
        sum = (sum ^ word) &* 0x100_0000_01B3
        sum ^= sum >> 29
        offset += 8
      }
      while offset < raw.count {
        sum = (sum ^ UInt64(raw[offset])) &* 0x100_0000_01B3
        offset += 1
      }
      return sum ^ UInt64(raw.count)
    }
  }

  private static func word(_ bytes: [UInt8], _ position: Int) -> UInt64 {
    bytes.withUnsafeBytes {
      UInt64(littleEndian: $0.loadUnaligned(fromByteOffset: position, as: UInt64.self))
    }
  }

  private static func word32(_ bytes: [UInt8], _ position: Int) -> UInt32 {
    bytes.withUnsafeBytes {
      UInt32(littleEndian: $0.loadUnaligned(fromByteOffset: position, as: UInt32.self))
    }
  }

  private static func append(_ word: UInt64, to bytes: inout [UInt8]) {
    withUnsafeBytes(of: word.littleEndian) { bytes.append(contentsOf: $0) }
  }

  private static func append32(_ word: UInt32, to bytes: inout [UInt8]) {
    withUnsafeBytes(of: word.littleEndian) { bytes.append(contentsOf: $0) }
  }

  private static func append(_ signature: FileSignature, to bytes: inout [UInt8]) {
    append(UInt64(bitPattern: signature.size), to: &bytes)
    append(UInt64(bitPattern: signature.modified), to: &bytes)
    append(UInt64(bitPattern: signature.changed), to: &bytes)
    append(signature.inode, to: &bytes)
  }

  /// A reader of an index's parts. Its methods return nil at the end of the bytes.
  private struct Reader {
    let bytes: [UInt8]
    var position = 0

    mutating func take(_ count: Int) -> ArraySlice<UInt8>? {
      guard count >= 0, bytes.count - position >= count else { return nil }
      defer { position += count }
      return bytes[position..<(position + count)]
    }

    mutating func number() -> UInt64? {
      guard bytes.count - position >= 8 else { return nil }
      defer { position += 8 }
      return LogIndexFile.word(bytes, position)
    }

    /// Returns a number that is at most that of the bytes.
    mutating func count() -> Int? {
      guard let number = number(), number <= UInt64(bytes.count) else { return nil }
      return Int(number)
    }

    mutating func count32() -> Int? {
      guard bytes.count - position >= 4 else { return nil }
      defer { position += 4 }
      return Int(LogIndexFile.word32(bytes, position))
    }

    mutating func signature() -> FileSignature? {
      guard let size = number(), let modified = number(), let changed = number(),
        let inode = number()
      else { return nil }
      return FileSignature(
        size: Int64(bitPattern: size), modified: Int64(bitPattern: modified),
        changed: Int64(bitPattern: changed), inode: inode)
    }
  }
}
