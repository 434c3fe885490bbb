import BelfryCore
import Git

/// The summaries of all alarms in one file, so that a list doesn't read every record.
///
/// The file is a cache. A row is valid only as long as its record's file has the row's signature. Layout, in native
/// byte order:
///
/// ```
/// header   magic, row count, time of writing, folder signature, length of the fingerprint
/// rows     112 bytes each, sorted by file name: the data that a scan needs
/// heap     the fingerprint, then the summaries of the rows, at offsets from the heap's start
/// ```
struct AlarmIndexFile: Sendable {
  /// The data about one record's file.
  struct Row: Sendable {
    /// The alarm's id.
    let id: Identifier
    /// The signature of the record's file.
    var signature: FileSignature
    /// The blob of the version that the summary describes.
    var blob: ObjectID
    /// The start of the time in which the summary's status is valid.
    var validFrom: Instant
    /// The end of that time, exclusive.
    var validUntil: Instant
  }

  private static let magic: UInt64 = 0x3430_6472_6143_6c42  // "BlCard04"
  private static let headerSize = 64
  private static let rowSize = 112
  /// The size of a file name: `<id>.json` and a NUL byte.
  static let nameSize = 32

  private let bytes: [UInt8]
  /// The number of rows.
  let count: Int
  /// The signature of the alarms' folder when it was last listed.
  let folder: FileSignature
  /// The other inputs of the statuses: the time zones and the settings.
  let fingerprint: String

  /// The time of writing in nanoseconds since the epoch, by the file system's clock.
  private let written: Int64

  /// Validates the bytes of a file. Returns nil if they are not an index.
  init?(_ bytes: [UInt8], written: Int64) {
    guard bytes.count >= AlarmIndexFile.headerSize,
      AlarmIndexFile.load(bytes, 0) == AlarmIndexFile.magic
    else {
      return nil
    }
    let count = Int(AlarmIndexFile.load(bytes, 8))
    let length = Int(AlarmIndexFile.load(bytes, 48))
    let heap = AlarmIndexFile.headerSize + count * AlarmIndexFile.rowSize
    guard count < 1 << 24, length < 1 << 12, heap + length <= bytes.count else { return nil }
    self.bytes = bytes
    self.written = written
    self.count = count
    folder = AlarmIndexFile.signature(bytes, 16)
    fingerprint = String(decoding: bytes[heap..<(heap + length)], as: UTF8.self)
  }

  /// The maximum resolution of a file system's clock, in nanoseconds.
  private static let tick: Int64 = 50_000_000

  /// Returns true if an equal signature proves equal content.
  ///
  /// A file that changed in the same clock interval in which the index was written can change again without a new
  /// signature.
  func vouches(for signature: FileSignature) -> Bool {
    max(signature.changed, signature.modified) < written - AlarmIndexFile.tick
  }

  private static func load(_ bytes: [UInt8], _ offset: Int) -> UInt64 {
    bytes.withUnsafeBytes { $0.loadUnaligned(fromByteOffset: offset, as: UInt64.self) }
  }

  private static func signature(_ bytes: [UInt8], _ offset: Int) -> FileSignature {
    FileSignature(
      size: Int64(bitPattern: load(bytes, offset)),
      modified: Int64(bitPattern: load(bytes, offset + 8)),
      changed: Int64(bitPattern: load(bytes, offset + 16)), inode: load(bytes, offset + 24))
  }

  private func start(_ index: Int) -> Int {
    AlarmIndexFile.headerSize + index * AlarmIndexFile.rowSize
  }

  /// Calls a closure with the name of a row's file as a C string.
  func withName<Result>(_ index: Int, _ body: (UnsafePointer<CChar>) -> Result) -> Result {
    bytes.withUnsafeBytes { raw in
      body(raw.baseAddress!.advanced(by: start(index)).assumingMemoryBound(to: CChar.self))
    }
  }

  /// Returns the alarm's id of a row, or nil if the row is damaged.
  func identifier(_ index: Int) -> Identifier? {
    Identifier(bytes[start(index)..<(start(index) + Identifier.length)])
  }

  /// Returns the signature of a row's file.
  func signature(_ index: Int) -> FileSignature {
    AlarmIndexFile.signature(bytes, start(index) + AlarmIndexFile.nameSize)
  }

  /// Returns true if the status of a row is valid at an instant.
  func isValid(_ index: Int, at now: Instant) -> Bool {
    now.milliseconds >= Int64(bitPattern: AlarmIndexFile.load(bytes, start(index) + 88))
      && now.milliseconds < Int64(bitPattern: AlarmIndexFile.load(bytes, start(index) + 96))
  }

  /// Returns the end of the time in which the status of a row is valid.
  func validUntil(_ index: Int) -> Instant {
    Instant(milliseconds: Int64(bitPattern: AlarmIndexFile.load(bytes, start(index) + 96)))
  }

  /// Returns a row, or nil if it is damaged.
  func row(_ index: Int) -> Row? {
    let start = start(index)
    guard let id = identifier(index) else { return nil }
    return Row(
      id: id, signature: signature(index),
      blob: ObjectID(bytes[(start + 64)..<(start + 64 + ObjectID.byteCount)]),
      validFrom: Instant(milliseconds: Int64(bitPattern: AlarmIndexFile.load(bytes, start + 88))),
      validUntil: validUntil(index))
  }

  /// The offset of the heap, which follows the rows.
  private var heap: Int { AlarmIndexFile.headerSize + count * AlarmIndexFile.rowSize }

  private func payload(_ index: Int) -> Range<Int>? {
    let location = AlarmIndexFile.load(bytes, start(index) + 104)
    let offset = heap + Int(location >> 24)
    let length = Int(location & 0xFF_FFFF)
    return offset + length <= bytes.count ? offset..<(offset + length) : nil
  }

  /// Returns the summary of a row, or nil if it is damaged.
  func summary(_ index: Int) -> AlarmSummary? {
    guard let id = identifier(index), let payload = payload(index) else { return nil }
    return bytes.withUnsafeBytes { raw in
      var reader = AlarmIndexReader(raw: UnsafeRawBufferPointer(rebasing: raw[payload]))
      return reader.summary(id)
    }
  }

  /// Returns the index of an alarm's row, or nil if there is none.
  ///
  /// - Complexity: O(log *n*)
  func index(of id: Identifier) -> Int? {
    let index = insertionIndex(of: id)
    return index < count && identifier(index) == id ? index : nil
  }

  /// Returns the number of rows before an alarm's.
  private func insertionIndex(of id: Identifier) -> Int {
    let wanted = Array(id.text.utf8)
    var low = 0
    var high = count
    while low < high {
      let middle = (low + high) / 2
      let name = bytes[start(middle)..<(start(middle) + Identifier.length)]
      if name.lexicographicallyPrecedes(wanted) { low = middle + 1 } else { high = middle }
    }
    return low
  }

  /// Returns the rows whose title contains a text in any case, or whose id starts with it.
  ///
  /// - Parameter text: Lower-case ASCII. It is compared byte by byte without creating strings.
  func rows(matching text: [UInt8]) -> [Int] {
    bytes.withUnsafeBufferPointer { bytes in
      (0..<count).filter { index in
        let name = start(index)
        if bytes[name..<(name + Identifier.length)].starts(with: text) { return true }
        guard let payload = payload(index), payload.count >= 8 else { return false }
        let length = Int(AlarmIndexFile.load(self.bytes, payload.lowerBound))
        let start = payload.lowerBound + 8
        guard length >= text.count, start + length <= bytes.count else { return false }
        for offset in 0...(length - text.count) {
          var matched = 0
          while matched < text.count,
            AlarmIndexFile.lowered(bytes[start + offset + matched]) == text[matched]
          {
            matched += 1
          }
          if matched == text.count { return true }
        }
        return false
      }
    }
  }

  private static func lowered(_ byte: UInt8) -> UInt8 {
    byte >= UInt8(ascii: "A") && byte <= UInt8(ascii: "Z") ? byte | 0x20 : byte
  }

  /// Returns the rows with exactly this title, and the rows whose status changes at an instant, their next
  /// occurrence.
  func rows(titled title: String, orChangingAt moment: Instant) -> [Int] {
    let wanted = Array(title.utf8)
    return (0..<count).filter { index in
      if validUntil(index) == moment { return true }
      guard let payload = payload(index), payload.count >= 8 + wanted.count,
        Int(AlarmIndexFile.load(bytes, payload.lowerBound)) == wanted.count
      else { return false }
      let start = payload.lowerBound + 8
      return bytes[start..<(start + wanted.count)] == wanted[...]
    }
  }

  // MARK: Writing

  /// Returns the bytes of an index with rows replaced, added or removed.
  ///
  /// The summaries of replaced rows stay in the heap until they take as much space as the summaries in use.
  ///
  /// - Parameters:
  ///   - old: The present index; nil for none.
  ///   - changes: The rows by id; nil removes a row.
  ///   - folder: The signature of the alarms' folder.
  ///   - fingerprint: The other inputs of the statuses.
  static func bytes(
    from old: AlarmIndexFile?, replacing changes: [Identifier: (row: Row, summary: AlarmSummary)?],
    folder: FileSignature, fingerprint: String
  ) -> [UInt8] {
    let sameHeap = old.map { $0.fingerprint == fingerprint && $0.isHeapDense } ?? false
    var rows: [UInt8] = []
    rows.reserveCapacity(((old?.count ?? 0) + changes.count) * rowSize)
    var heap: [UInt8] = []
    if let old, sameHeap {
      heap.reserveCapacity(old.bytes.count - old.heap + changes.count * 256)
      heap.append(contentsOf: old.bytes[old.heap...])
    } else {
      heap.append(contentsOf: fingerprint.utf8)
    }
    var copied = 0
    func copy(upTo end: Int) {
      guard let old, copied < end else { return }
      let start = rows.count
      rows.append(contentsOf: old.bytes[old.start(copied)..<old.start(end)])
      if !sameHeap {
        for index in copied..<end {
          let offset = heap.count
          if let payload = old.payload(index) { heap.append(contentsOf: old.bytes[payload]) }
          set(
            UInt64(offset) << 24 | UInt64(heap.count - offset),
            at: start + (index - copied) * rowSize + 104, in: &rows)
        }
      }
      copied = end
    }
    for (id, change) in changes.sorted(by: { $0.key < $1.key }) {
      if let old {
        let index = old.insertionIndex(of: id)
        copy(upTo: index)
        if index < old.count, old.identifier(index) == id { copied = index + 1 }
      }
      guard let (row, summary) = change else { continue }
      rows.append(contentsOf: "\(row.id).json".utf8)
      rows.append(0)
      append(row.signature, to: &rows)
      rows.append(contentsOf: row.blob.bytes)
      rows.append(contentsOf: [0, 0, 0, 0])
      append(UInt64(bitPattern: row.validFrom.milliseconds), to: &rows)
      append(UInt64(bitPattern: row.validUntil.milliseconds), to: &rows)
      let offset = heap.count
      AlarmIndexWriter.append(summary, to: &heap)
      append(UInt64(offset) << 24 | UInt64(heap.count - offset), to: &rows)
    }
    copy(upTo: old?.count ?? 0)
    var result: [UInt8] = []
    result.reserveCapacity(headerSize + rows.count + heap.count)
    append(magic, to: &result)
    append(UInt64(rows.count / rowSize), to: &result)
    append(folder, to: &result)
    append(UInt64(fingerprint.utf8.count), to: &result)
    append(0, to: &result)
    result.append(contentsOf: rows)
    result.append(contentsOf: heap)
    return result
  }

  /// True if at least half of the heap is in use.
  private var isHeapDense: Bool {
    var used = 4096
    for index in 0..<count {
      used += Int(AlarmIndexFile.load(bytes, start(index) + 104) & 0xFF_FFFF)
    }
    return bytes.count - heap < 2 * used
  }

  private static func set(_ value: UInt64, at offset: Int, in bytes: inout [UInt8]) {
    bytes.withUnsafeMutableBytes { $0.storeBytes(of: value, toByteOffset: offset, as: UInt64.self) }
  }

  private static func append(_ value: UInt64, to bytes: inout [UInt8]) {
    withUnsafeBytes(of: value) { bytes.append(contentsOf: $0) }
  }

  private static func append(_ signature: FileSignature, to bytes: inout [UInt8]) {
    append(UInt64(bitPattern: signature.size), to: &bytes)
    append(UInt64(bitPattern: signature.modified), to: &bytes)
    append(UInt64(bitPattern: signature.changed), to: &bytes)
    append(signature.inode, to: &bytes)
  }
}

// MARK: Summaries

private enum AlarmIndexWriter {
  static func append(_ summary: AlarmSummary, to bytes: inout [UInt8]) {
    func text(_ text: String) {
      number(Int64(text.utf8.count))
      bytes.append(contentsOf: text.utf8)
    }
    func number(_ number: Int64) {
      withUnsafeBytes(of: number) { bytes.append(contentsOf: $0) }
    }
    /// Appends a presence flag and the value, if there is one.
    func optional<Value>(_ value: Value?, _ write: (Value) -> Void) {
      bytes.append(value == nil ? 0 : 1)
      if let value { write(value) }
    }
    let status = summary.status
    text(summary.title)
    optional(summary.note, text)
    text(summary.badge)
    text(summary.zone)
    bytes.append(summary.isDeleted ? 1 : 0)
    bytes.append(UInt8(AlarmStatus.State.allCases.firstIndex(of: status.state) ?? 0))
    number(status.validUntil.milliseconds)
    optional(status.next) {
      number(Int64($0.civil.minuteNumber))
      number($0.at.milliseconds)
    }
    optional(status.current) { number(Int64($0.minuteNumber)) }
    number(Int64(status.pending.count))
    for pending in status.pending {
      number(Int64(pending.occurrence.minuteNumber))
      number(pending.since.milliseconds)
      number(Int64(pending.followUpsSent))
      optional(pending.nextFollowUp) { number($0.milliseconds) }
    }
    for civils in [status.missed, status.skipped] {
      number(Int64(civils.count))
      for civil in civils { number(Int64(civil.minuteNumber)) }
    }
    optional(status.snooze) {
      number(Int64($0.occurrence.minuteNumber))
      number($0.until.milliseconds)
      number(Int64($0.count))
    }
    optional(status.pausedUntil) { number(Int64($0.minuteNumber)) }
  }
}

/// A reader of the format of `AlarmIndexWriter`. Its methods return nil at the end of the data and for an invalid
/// value.
private struct AlarmIndexReader {
  let raw: UnsafeRawBufferPointer
  var position = 0

  init(raw: UnsafeRawBufferPointer) {
    self.raw = raw
  }

  mutating func number() -> Int64? {
    guard position + 8 <= raw.count else { return nil }
    defer { position += 8 }
    return raw.loadUnaligned(fromByteOffset: position, as: Int64.self)
  }

  mutating func byte() -> UInt8? {
    guard position < raw.count else { return nil }
    defer { position += 1 }
    return raw[position]
  }

  mutating func text() -> String? {
    guard let length = number(), length >= 0, position + Int(length) <= raw.count else {
      return nil
    }
    defer { position += Int(length) }
    return String(
      decoding: UnsafeRawBufferPointer(rebasing: raw[position..<(position + Int(length))]),
      as: UTF8.self)
  }

  mutating func civil() -> CivilDateTime? { number().map { CivilDateTime(minuteNumber: Int($0)) } }
  mutating func instant() -> Instant? { number().map { Instant(milliseconds: $0) } }

  mutating func civils() -> [CivilDateTime]? {
    guard let count = number(), (0...10_000).contains(count) else { return nil }
    var result: [CivilDateTime] = []
    for _ in 0..<count {
      guard let civil = civil() else { return nil }
      result.append(civil)
    }
    return result
  }

  mutating func summary(_ id: Identifier) -> AlarmSummary? {
    guard let title = text(), let hasNote = byte() else { return nil }
    let note = hasNote == 1 ? text() : nil
    guard let badge = text(), let zone = text(), let deleted = byte(), let state = byte(),
      Int(state) < AlarmStatus.State.allCases.count, let validUntil = instant(),
      let hasNext = byte()
    else { return nil }
    var status = AlarmStatus(
      state: AlarmStatus.State.allCases[Int(state)], validUntil: validUntil)
    if hasNext == 1 {
      guard let civil = civil(), let at = instant() else { return nil }
      status.next = Timeline.Occurrence(civil: civil, at: at)
    }
    guard let hasCurrent = byte() else { return nil }
    if hasCurrent == 1 { status.current = civil() }
    guard let pending = number(), (0...10_000).contains(pending) else { return nil }
    for _ in 0..<pending {
      guard let civil = civil(), let since = instant(), let sent = number(), let hasNext = byte()
      else { return nil }
      status.pending.append(
        AlarmStatus.Pending(
          occurrence: civil, since: since, followUpsSent: Int(sent),
          nextFollowUp: hasNext == 1 ? instant() : nil))
    }
    guard let missed = civils(), let skipped = civils() else { return nil }
    status.missed = missed
    status.skipped = skipped
    guard let hasSnooze = byte() else { return nil }
    if hasSnooze == 1 {
      guard let civil = civil(), let until = instant(), let count = number() else { return nil }
      status.snooze = AlarmStatus.Snooze(occurrence: civil, until: until, count: Int(count))
    }
    guard let isPaused = byte() else { return nil }
    if isPaused == 1 { status.pausedUntil = civil() }
    return AlarmSummary(
      id: id, title: title, note: note, badge: badge, zone: zone, isDeleted: deleted == 1,
      status: status)
  }
}
