import BelfryCore
import Git

/// The cards of all alarms in one file, so that a list need not read ten thousand.
///
/// A cache: whatever is in it can be computed again, and a row counts only as long as its record's file
/// has the signature that the row holds. Layout, in the machine's own byte order:
///
/// ```
/// header   magic, row count, when written, folder signature, fingerprint's length
/// rows     one of 112 bytes each, by file name: what a scan needs
/// heap     the fingerprint, then the rows' cards, at places counted from its start
/// ```
struct AlarmIndexFile: Sendable {
  /// What is known of one record's file.
  struct Row: Sendable {
    let id: Identifier
    var signature: FileSignature
    /// The blob of the version that the card was made from.
    var blob: ObjectID
    /// The card's status holds from here …
    var validFrom: Instant
    /// … to before here.
    var validUntil: Instant
  }

  private static let magic: UInt64 = 0x3430_6472_6143_6c42  // "BlCard04"
  private static let headerSize = 64
  private static let rowSize = 112
  /// `<id>.json` and a NUL byte, as the system wants file names.
  static let nameSize = 32

  private let bytes: [UInt8]
  let count: Int
  /// What the alarms' folder was like when it was last listed.
  let folder: FileSignature
  /// What the statuses depend on besides the records: the time zones and the settings.
  let fingerprint: String

  /// When the file was written, in nanoseconds since the epoch by the file system's clock.
  private let written: Int64

  /// Nil when the bytes are not such a file.
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

  /// How long a file system's clock may stand still, in nanoseconds.
  private static let tick: Int64 = 50_000_000

  /// Whether an equal signature proves an equal content: what changed in the instant in which the cards
  /// were written could have changed once more in it, and nobody would see.
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

  /// Runs with the name of a row's file as a C string.
  func withName<Result>(_ index: Int, _ body: (UnsafePointer<CChar>) -> Result) -> Result {
    bytes.withUnsafeBytes { raw in
      body(raw.baseAddress!.advanced(by: start(index)).assumingMemoryBound(to: CChar.self))
    }
  }

  func identifier(_ index: Int) -> Identifier? {
    Identifier(bytes[start(index)..<(start(index) + Identifier.length)])
  }

  func signature(_ index: Int) -> FileSignature {
    AlarmIndexFile.signature(bytes, start(index) + AlarmIndexFile.nameSize)
  }

  func isValid(_ index: Int, at now: Instant) -> Bool {
    now.milliseconds >= Int64(bitPattern: AlarmIndexFile.load(bytes, start(index) + 88))
      && now.milliseconds < Int64(bitPattern: AlarmIndexFile.load(bytes, start(index) + 96))
  }

  func validUntil(_ index: Int) -> Instant {
    Instant(milliseconds: Int64(bitPattern: AlarmIndexFile.load(bytes, start(index) + 96)))
  }

  func row(_ index: Int) -> Row? {
    let start = start(index)
    guard let id = identifier(index) else { return nil }
    return Row(
      id: id, signature: signature(index),
      blob: ObjectID(bytes[(start + 64)..<(start + 64 + ObjectID.byteCount)]),
      validFrom: Instant(milliseconds: Int64(bitPattern: AlarmIndexFile.load(bytes, start + 88))),
      validUntil: validUntil(index))
  }

  /// Where the rows end and the heap begins.
  private var heap: Int { AlarmIndexFile.headerSize + count * AlarmIndexFile.rowSize }

  private func payload(_ index: Int) -> Range<Int>? {
    let place = AlarmIndexFile.load(bytes, start(index) + 104)
    let offset = heap + Int(place >> 24)
    let length = Int(place & 0xFF_FFFF)
    return offset + length <= bytes.count ? offset..<(offset + length) : nil
  }

  func summary(_ index: Int) -> AlarmSummary? {
    guard let id = identifier(index), let payload = payload(index) else { return nil }
    return bytes.withUnsafeBytes { raw in
      var reader = AlarmIndexReader(raw: UnsafeRawBufferPointer(rebasing: raw[payload]))
      return reader.summary(id)
    }
  }

  /// The index of an alarm's row; rows are sorted by name.
  func index(of id: Identifier) -> Int? {
    let index = place(of: id)
    return index < count && identifier(index) == id ? index : nil
  }

  /// How many rows come before an alarm's.
  private func place(of id: Identifier) -> Int {
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

  /// The rows whose title holds a text, in any case, or whose identifier starts with it.
  ///
  /// - Parameter text: ASCII, lower case; that is compared byte by byte, without making any string.
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

  /// The rows with exactly this title, and those whose status changes at a moment: their next firing.
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

  /// A file with some rows replaced, added or (nil) removed, and the others as they are.
  ///
  /// The cards of replaced rows stay in the heap unused, until they are as many as those in use.
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
          let place = heap.count
          if let payload = old.payload(index) { heap.append(contentsOf: old.bytes[payload]) }
          set(
            UInt64(place) << 24 | UInt64(heap.count - place),
            at: start + (index - copied) * rowSize + 104, in: &rows)
        }
      }
      copied = end
    }
    for (id, change) in changes.sorted(by: { $0.key < $1.key }) {
      if let old {
        let place = old.place(of: id)
        copy(upTo: place)
        if place < old.count, old.identifier(place) == id { copied = place + 1 }
      }
      guard let (row, summary) = change else { continue }
      rows.append(contentsOf: "\(row.id).json".utf8)
      rows.append(0)
      append(row.signature, to: &rows)
      rows.append(contentsOf: row.blob.bytes)
      rows.append(contentsOf: [0, 0, 0, 0])
      append(UInt64(bitPattern: row.validFrom.milliseconds), to: &rows)
      append(UInt64(bitPattern: row.validUntil.milliseconds), to: &rows)
      let place = heap.count
      AlarmIndexWriter.append(summary, to: &heap)
      append(UInt64(place) << 24 | UInt64(heap.count - place), to: &rows)
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

  /// Whether more of the heap is in use than not.
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

// MARK: A card's bytes

private enum AlarmIndexWriter {
  static func append(_ summary: AlarmSummary, to bytes: inout [UInt8]) {
    func text(_ text: String) {
      number(Int64(text.utf8.count))
      bytes.append(contentsOf: text.utf8)
    }
    func number(_ number: Int64) {
      withUnsafeBytes(of: number) { bytes.append(contentsOf: $0) }
    }
    /// Present or not, then what there is.
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

/// Reads what `AlarmIndexWriter` writes; nil from the first thing that is not there.
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
