import BelfryCore
import Files

/// A day in the log index: the decoded entries of its files, and their signatures.
///
/// ```
/// folder    the signature of the day's folder, and a time before its files were read
/// texts     identifiers of alarms and devices, and titles, each once
/// rows      one per entry, newest first: its file's signature and name, and its values
/// checksum
/// ```
///
/// A change of the format needs another version of `StoreCache`. `CacheCoding` describes the numbers.
enum CachedLogDay {
  /// An entry and the signature of its file.
  struct Row {
    var entry: LogEntry
    var signature: FileSignature
  }

  /// The length of a file's name: `HHMMSSmmm-<id>.json`.
  private static let nameLength = LogRecord.timeLength + Identifier.length + 5
  private static let none = UInt32.max
  /// The action of a row with the record of an entry that has more values than a row.
  private static let asRecord = UInt8.max

  // MARK: Reading

  /// Returns the rows of a day if it has not changed, otherwise nil. Returns nil for damaged bytes, too.
  ///
  /// - Parameters:
  ///   - bytes: The day in the log index.
  ///   - alarm: The alarm whose rows are returned; nil for all alarms.
  ///   - isUnchanged: Receives the name and the signature of each file, and first `.` for the folder. Returns true if it
  ///     still has this signature.
  static func rows(
    _ bytes: [UInt8], of alarm: Identifier?,
    isUnchanged: (ArraySlice<UInt8>, FileSignature) -> Bool
  ) -> [Row]? {
    guard var reader = CacheReader(checked: bytes), let folder = reader.signature(),
      let readAt = reader.number(as: Int64.self), folder.isConclusive(at: readAt),
      isUnchanged([UInt8(ascii: ".")], folder), let textCount = reader.count()
    else { return nil }
    var texts: [String] = []
    for _ in 0..<textCount {
      guard let text = reader.text() else { return nil }
      texts.append(text)
    }
    let identifiers = texts.map { $0.utf8.count == Identifier.length ? Identifier($0) : nil }
    guard let count = reader.count() else { return nil }
    var rows: [Row] = []
    if alarm == nil { rows.reserveCapacity(count) }
    for _ in 0..<count {
      guard let signature = reader.signature(), let name = reader.take(nameLength),
        signature.isConclusive(at: readAt),
        isUnchanged(name, signature),
        let entry = entry(&reader, name, texts, identifiers)
      else { return nil }
      if alarm == nil || entry.alarm == alarm {
        rows.append(Row(entry: entry, signature: signature))
      }
    }
    return rows
  }

  /// Returns the next entry, or nil if it is not valid.
  private static func entry(
    _ reader: inout CacheReader, _ name: ArraySlice<UInt8>, _ texts: [String],
    _ identifiers: [Identifier?]
  ) -> LogEntry? {
    guard let number = reader.number(as: UInt8.self) else { return nil }
    if number == asRecord {
      return reader.content().flatMap { try? LogRecord.decode(Array($0)) }
    }
    let (actions, states) = (LogEntry.Action.allCases, OccurrenceRecord.State.allCases)
    func identifier(_ number: UInt32) -> Identifier? {
      identifiers.indices.contains(Int(number)) ? identifiers[Int(number)] : nil
    }
    guard let auto = reader.number(as: UInt8.self), let state = reader.number(as: UInt8.self),
      let alarm = reader.number(as: UInt32.self).flatMap(identifier),
      let device = reader.number(as: UInt32.self).flatMap(identifier),
      let title = reader.number(as: UInt32.self), let undoes = reader.number(as: UInt32.self),
      let revision = reader.number(as: UInt32.self), let at = reader.number(as: Int64.self),
      let occurrence = reader.number(as: Int64.self), let effective = reader.number(as: Int64.self),
      let id = Identifier(name.dropFirst(LogRecord.timeLength).prefix(Identifier.length)),
      actions.indices.contains(Int(number)), texts.indices.contains(Int(title))
    else { return nil }
    return LogEntry(
      id: id, alarm: alarm, title: texts[Int(title)],
      occurrence: occurrence == .min ? nil : CivilDateTime(minuteNumber: Int(occurrence)),
      action: actions[Int(number)], at: Instant(milliseconds: at), device: device,
      auto: auto != 0,
      effective: effective == .min ? nil : Instant(milliseconds: effective),
      undoes: identifier(undoes), revision: Int(revision),
      state: states.indices.contains(Int(state)) ? states[Int(state)] : nil)
  }

  // MARK: Writing

  /// Returns the bytes of a day.
  ///
  /// - Parameters:
  ///   - folder: The signature of the day's folder.
  ///   - readAt: A time before the files were read, see `FileSignature.isConclusive(at:)`.
  ///   - rows: The rows, newest first.
  static func bytes(_ folder: FileSignature, readAt: Int64, _ rows: [Row]) -> [UInt8] {
    assert(
      zip(rows, rows.dropFirst()).allSatisfy {
        LogRecord.path($0.entry) > LogRecord.path($1.entry)
      }, "the rows are sorted, newest first")
    var writer = Writer()
    for row in rows { writer.append(row) }
    var bytes: [UInt8] = []
    CacheCoding.append(folder, to: &bytes)
    CacheCoding.append(readAt, to: &bytes)
    CacheCoding.append(UInt64(writer.texts.count), to: &bytes)
    for text in writer.texts {
      CacheCoding.append(UInt64(text.utf8.count), to: &bytes)
      bytes += Array(text.utf8)
    }
    CacheCoding.append(UInt64(rows.count), to: &bytes)
    bytes += writer.rows
    CacheCoding.appendChecksum(to: &bytes)
    return bytes
  }

  /// The growing parts of a day.
  private struct Writer {
    var texts: [String] = []
    private var numbers: [String: UInt32] = [:]
    var rows: [UInt8] = []

    private mutating func number(_ text: String) -> UInt32 {
      if let number = numbers[text] { return number }
      let number = UInt32(texts.count)
      numbers[text] = number
      texts.append(text)
      return number
    }

    mutating func append(_ row: Row) {
      let entry = row.entry
      CacheCoding.append(row.signature, to: &rows)
      let name = LogRecord.path(entry).split(separator: "/").last ?? ""
      assert(name.utf8.count == CachedLogDay.nameLength, "names have a fixed length")
      rows += Array(name.utf8)
      let action = LogEntry.Action.allCases.firstIndex(of: entry.action)
      guard let action, entry.payload == nil, entry.via == nil, entry.extras.isEmpty else {
        let record = LogRecord.encode(entry)
        rows.append(CachedLogDay.asRecord)
        CacheCoding.append(UInt64(record.count), to: &rows)
        rows += record
        return
      }
      let state = entry.state.flatMap { OccurrenceRecord.State.allCases.firstIndex(of: $0) }
      rows += [UInt8(action), entry.auto ? 1 : 0, state.map { UInt8($0) } ?? .max]
      for text in [entry.alarm.text, entry.device.text, entry.title] {
        CacheCoding.append(number(text), to: &rows)
      }
      CacheCoding.append(entry.undoes.map { number($0.text) } ?? CachedLogDay.none, to: &rows)
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
