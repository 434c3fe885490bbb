import BelfryCore
import Git

extension AlarmIndexFile {
  /// A new row, and its summary.
  typealias Change = (row: Row, summary: AlarmSummary)

  /// The contents of the files to write.
  struct Output {
    /// The main file; nil if it stays as it is.
    var main: [UInt8]?
    /// The changes.
    var changes: [UInt8]
  }

  /// Returns the files of an index with rows replaced, added or removed.
  ///
  /// - Parameters:
  ///   - old: The present index; nil for none.
  ///   - rows: The rows by id; nil removes a row.
  ///   - folder: The state of the alarms' folder.
  ///   - fingerprint: The other inputs of the statuses.
  static func output(
    from old: AlarmIndexFile?, replacing rows: [Identifier: Change?], folder: AlarmFolderState,
    fingerprint: String
  ) -> Output {
    if let old, old.fingerprint == fingerprint,
      let changes = old.head.changes(replacing: rows, folder: folder)
    {
      return Output(main: nil, changes: changes)
    }
    var all: [Identifier: AlarmIndexTable.Source?] = [:]
    if let changes = old?.changes {
      for index in 0..<changes.count {
        if let id = changes.identifier(index) { all[id] = .some(.copied(changes, index)) }
      }
    }
    for (id, change) in rows { all[id] = .some(change.map { .new($0) }) }
    let main = AlarmIndexTable.bytes(
      .main(fingerprint: fingerprint), link: UInt64(fingerprint.utf8.count), from: old?.main,
      keepingHeap: old.map { $0.fingerprint == fingerprint && $0.main.isHeapDense } ?? false,
      replacing: all, folder: folder)
    let checksum = CacheCoding.number(main, at: AlarmIndexLayout.Header.checksum)
    return Output(
      main: main,
      changes: AlarmIndexTable.bytes(
        .changes, link: checksum, from: nil, replacing: [:], folder: folder))
  }
}

extension AlarmIndexTable {
  /// The kind of a file to write.
  enum NewFile {
    case main(fingerprint: String)
    case changes

    fileprivate var magic: UInt64 {
      switch self {
      case .main: AlarmIndexHeader.Kind.main.magic
      case .changes: AlarmIndexHeader.Kind.changes.magic
      }
    }
  }

  /// The source of a row to write.
  enum Source {
    /// A new row.
    case new(AlarmIndexFile.Change)
    /// A row of a table, by its index.
    case copied(AlarmIndexTable, Int)
  }

  /// Returns the bytes of a file with rows replaced, added or removed.
  ///
  /// - Parameters:
  ///   - file: The kind of the file.
  ///   - link: The field `link` of the header.
  ///   - old: The present rows; nil for none.
  ///   - keepingHeap: True to keep the present heap with the summaries of replaced rows, which is faster.
  ///   - changes: The rows by id; nil removes a row.
  ///   - folder: The state of the alarms' folder.
  static func bytes(
    _ file: NewFile, link: UInt64, from old: AlarmIndexTable?, keepingHeap: Bool = false,
    replacing changes: [Identifier: Source?], folder: AlarmFolderState
  ) -> [UInt8] {
    var rows = AlarmIndexRows(old, keepingHeap: keepingHeap, adding: changes.count)
    if !keepingHeap, case .main(let fingerprint) = file {
      rows.heap.append(contentsOf: fingerprint.utf8)
    }
    for (id, change) in changes.sorted(by: { $0.key < $1.key }) {
      rows.copy(before: id)
      switch change {
      case .new(let (row, summary)): rows.append(row, summary)
      case .copied(let table, let index): rows.append(table, index..<(index + 1))
      case nil: break
      }
    }
    rows.copyRest()
    var result: [UInt8] = []
    result.reserveCapacity(
      AlarmIndexLayout.Header.size + rows.rows.count + rows.titles.count + rows.heap.count)
    CacheCoding.append(file.magic, to: &result)
    CacheCoding.append(UInt64(rows.rows.count / AlarmIndexLayout.Row.size), to: &result)
    CacheCoding.append(folder.signature, to: &result)
    CacheCoding.append(link, to: &result)
    CacheCoding.append(UInt64(0), to: &result)
    CacheCoding.append(AlarmIndexLayout.titlesChecksum(rows.titles), to: &result)
    CacheCoding.append(folder.token?.epoch ?? 0, to: &result)
    CacheCoding.append(folder.token?.number ?? 0, to: &result)
    result.append(contentsOf: rows.rows)
    result.append(contentsOf: rows.titles)
    result.append(contentsOf: rows.heap)
    CacheCoding.set(
      AlarmIndexLayout.checksum(result), at: AlarmIndexLayout.Header.checksum, in: &result)
    return result
  }

  /// True if at least half of the heap is in use.
  fileprivate var isHeapDense: Bool {
    var used = 4096
    for index in 0..<count { used += location(index).length }
    return bytes.count - heap < 2 * used
  }
}

/// The rows and the heap of a file that is made from an earlier one.
private struct AlarmIndexRows {
  private let old: AlarmIndexTable?
  private let keepsHeap: Bool
  /// The number of old rows that were copied or replaced.
  private var copied = 0
  private(set) var rows: [UInt8] = []
  private(set) var titles: [UInt8] = []
  var heap: [UInt8] = []

  init(_ old: AlarmIndexTable?, keepingHeap: Bool, adding added: Int) {
    self.old = old
    keepsHeap = keepingHeap
    rows.reserveCapacity(((old?.count ?? 0) + added) * AlarmIndexLayout.Row.size)
    guard let old, keepingHeap else { return }
    heap.reserveCapacity(old.bytes.count - old.heap + added * 256)
    heap.append(contentsOf: old.bytes[old.heap...])
  }

  /// Copies the old rows before an alarm's, and skips the alarm's own.
  mutating func copy(before id: Identifier) {
    guard let old else { return }
    let index = old.insertionIndex(of: id)
    copy(upTo: index)
    if index < old.count, old.identifier(index) == id { copied = index + 1 }
  }

  /// Copies the remaining old rows.
  mutating func copyRest() { copy(upTo: old?.count ?? 0) }

  private mutating func copy(upTo end: Int) {
    guard let old, copied < end else { return }
    if keepsHeap {
      rows.append(contentsOf: old.bytes[old.start(copied)..<old.start(end)])
      titles.append(contentsOf: old.titles(copied..<end))
    } else {
      append(old, copied..<end)
    }
    copied = end
  }

  /// Appends rows of a table, and their summaries.
  mutating func append(_ table: AlarmIndexTable, _ range: Range<Int>) {
    let start = rows.count
    rows.append(
      contentsOf: table.bytes[table.start(range.lowerBound)..<table.start(range.upperBound)])
    titles.append(contentsOf: table.titles(range))
    for (number, index) in range.enumerated() {
      let offset = heap.count
      if let payload = table.payload(index) { heap.append(contentsOf: table.bytes[payload]) }
      let location = AlarmIndexLayout.SummaryLocation(offset: offset, length: heap.count - offset)
      CacheCoding.set(
        location.number,
        at: start + number * AlarmIndexLayout.Row.size + AlarmIndexLayout.Row.summary, in: &rows)
    }
  }

  /// Appends a new row in the order of `AlarmIndexLayout.Row`, and its summary.
  mutating func append(_ row: AlarmIndexFile.Row, _ summary: AlarmSummary) {
    let offset = heap.count
    AlarmSummaryWriter.append(summary, to: &heap)
    let location = AlarmIndexLayout.SummaryLocation(offset: offset, length: heap.count - offset)
    let next = summary.isDeleted ? nil : summary.status.next?.at
    CacheCoding.append(AlarmIndexLayout.titleHash(summary.title.utf8), to: &titles)
    rows.append(contentsOf: "\(row.id).json".utf8)
    rows.append(0)
    CacheCoding.append(row.signature, to: &rows)
    rows.append(contentsOf: row.blob.bytes)
    rows.append(contentsOf: repeatElement(0, count: AlarmIndexLayout.Row.blobPadding))
    CacheCoding.append(UInt64(bitPattern: row.validFrom.milliseconds), to: &rows)
    CacheCoding.append(UInt64(bitPattern: row.validUntil.milliseconds), to: &rows)
    CacheCoding.append(location.number, to: &rows)
    CacheCoding.append(UInt64(bitPattern: next?.milliseconds ?? .max), to: &rows)
  }
}
