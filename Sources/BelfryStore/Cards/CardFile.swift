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
/// heap     the fingerprint, then each row's card
/// ```
struct CardFile: Sendable {
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

  private static let magic: UInt64 = 0x3130_6472_6143_6c42  // "BlCard01"
  private static let headerSize = 64
  private static let rowSize = 112
  /// `<id>.json` and a NUL byte, as the system wants file names.
  static let nameSize = 32

  private let bytes: [UInt8]
  let count: Int
  /// When the file was written, nanoseconds since the epoch by the file system's clock.
  let folder: FileSignature
  /// What the statuses depend on besides the records: the time zones.
  let fingerprint: String

  /// Nil when the bytes are not such a file.
  init?(_ bytes: [UInt8]) {
    guard bytes.count >= CardFile.headerSize, CardFile.load(bytes, 0) == CardFile.magic else {
      return nil
    }
    let count = Int(CardFile.load(bytes, 8))
    let length = Int(CardFile.load(bytes, 48))
    let heap = CardFile.headerSize + count * CardFile.rowSize
    guard count < 1 << 24, length < 1 << 12, heap + length <= bytes.count else { return nil }
    self.bytes = bytes
    self.count = count
    folder = CardFile.signature(bytes, 16)
    fingerprint = String(decoding: bytes[heap..<(heap + length)], as: UTF8.self)
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

  private func start(_ index: Int) -> Int { CardFile.headerSize + index * CardFile.rowSize }

  /// Runs with the name of a row's file as a C string.
  func withName<Result>(_ index: Int, _ body: (UnsafePointer<CChar>) -> Result) -> Result {
    bytes.withUnsafeBytes { raw in
      body(raw.baseAddress!.advanced(by: start(index)).assumingMemoryBound(to: CChar.self))
    }
  }

  func identifier(_ index: Int) -> Identifier? {
    Identifier(
      String(decoding: bytes[start(index)..<(start(index) + Identifier.length)], as: UTF8.self))
  }

  func signature(_ index: Int) -> FileSignature {
    CardFile.signature(bytes, start(index) + CardFile.nameSize)
  }

  func isValid(_ index: Int, at now: Instant) -> Bool {
    now.milliseconds >= Int64(bitPattern: CardFile.load(bytes, start(index) + 88))
      && now.milliseconds < Int64(bitPattern: CardFile.load(bytes, start(index) + 96))
  }

  func validUntil(_ index: Int) -> Instant {
    Instant(milliseconds: Int64(bitPattern: CardFile.load(bytes, start(index) + 96)))
  }

  func row(_ index: Int) -> Row? {
    let start = start(index)
    guard let id = identifier(index) else { return nil }
    return Row(
      id: id, signature: signature(index),
      blob: ObjectID(bytes[(start + 64)..<(start + 64 + ObjectID.byteCount)]),
      validFrom: Instant(milliseconds: Int64(bitPattern: CardFile.load(bytes, start + 88))),
      validUntil: validUntil(index))
  }

  private func payload(_ index: Int) -> Range<Int>? {
    let place = CardFile.load(bytes, start(index) + 104)
    let offset = Int(place >> 24)
    let length = Int(place & 0xFF_FFFF)
    return offset + length <= bytes.count ? offset..<(offset + length) : nil
  }

  func card(_ index: Int) -> Card? {
    guard let id = identifier(index), let payload = payload(index) else { return nil }
    return bytes.withUnsafeBytes { raw in
      var reader = CardReader(raw: UnsafeRawBufferPointer(rebasing: raw[payload]))
      return reader.card(id)
    }
  }

  /// The index of an alarm's row; rows are sorted by name.
  func index(of id: Identifier) -> Int? {
    var low = 0
    var high = count
    while low < high {
      let middle = (low + high) / 2
      let name = bytes[start(middle)..<(start(middle) + Identifier.length)]
      if name.lexicographicallyPrecedes(id.text.utf8) { low = middle + 1 } else { high = middle }
    }
    return low < count && identifier(low) == id ? low : nil
  }

  // MARK: Writing

  /// A file with some rows replaced, added or (nil) removed, and the others as they are.
  static func bytes(
    from old: CardFile?, replacing changes: [Identifier: (row: Row, card: Card)?],
    folder: FileSignature, fingerprint: String
  ) -> [UInt8] {
    var rows: [UInt8] = []
    var heap = Array(fingerprint.utf8)
    rows.reserveCapacity(((old?.count ?? 0) + changes.count) * rowSize)
    heap.reserveCapacity((old?.bytes.count ?? 0) + changes.count * 128)
    var count = 0
    func add(_ row: Row, _ card: Card) {
      rows.append(contentsOf: "\(row.id).json".utf8)
      rows.append(0)
      append(row.signature, to: &rows)
      rows.append(contentsOf: row.blob.bytes)
      rows.append(contentsOf: [0, 0, 0, 0])
      append(UInt64(bitPattern: row.validFrom.milliseconds), to: &rows)
      append(UInt64(bitPattern: row.validUntil.milliseconds), to: &rows)
      let place = heap.count
      CardWriter.append(card, to: &heap)
      append(UInt64(place) << 24 | UInt64(heap.count - place), to: &rows)
      count += 1
    }
    var pending = changes.sorted { $0.key < $1.key }[...]
    for index in 0..<(old?.count ?? 0) {
      guard let old, let id = old.identifier(index), let payload = old.payload(index) else { continue }
      while let change = pending.first, change.key < id {
        if let value = change.value { add(value.row, value.card) }
        pending.removeFirst()
      }
      if let change = pending.first, change.key == id {
        if let value = change.value { add(value.row, value.card) }
        pending.removeFirst()
        continue
      }
      let start = old.start(index)
      rows.append(contentsOf: old.bytes[start..<(start + 104)])
      append(UInt64(heap.count) << 24 | UInt64(payload.count), to: &rows)
      heap.append(contentsOf: old.bytes[payload])
      count += 1
    }
    for change in pending {
      if let value = change.value { add(value.row, value.card) }
    }
    // Places count from the start of the heap until its own place is known.
    let base = headerSize + rows.count
    rows.withUnsafeMutableBytes { raw in
      for index in 0..<count {
        let offset = index * rowSize + 104
        let place = raw.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
        raw.storeBytes(of: place + UInt64(base) << 24, toByteOffset: offset, as: UInt64.self)
      }
    }
    var result: [UInt8] = []
    result.reserveCapacity(base + heap.count)
    append(magic, to: &result)
    append(UInt64(count), to: &result)
    append(folder, to: &result)
    append(UInt64(fingerprint.utf8.count), to: &result)
    append(0, to: &result)
    result.append(contentsOf: rows)
    result.append(contentsOf: heap)
    return result
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

private enum CardWriter {
  static func append(_ card: Card, to bytes: inout [UInt8]) {
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
    let status = card.status
    text(card.title)
    optional(card.note, text)
    text(card.badge)
    text(card.zone)
    bytes.append(card.isDeleted ? 1 : 0)
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
    }
    optional(status.snooze) {
      number(Int64($0.occurrence.minuteNumber))
      number($0.until.milliseconds)
      number(Int64($0.count))
    }
  }
}

/// Reads what `CardWriter` writes; nil from the first thing that is not there.
private struct CardReader {
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
    guard let length = number(), length >= 0, position + Int(length) <= raw.count else { return nil }
    defer { position += Int(length) }
    return String(
      decoding: UnsafeRawBufferPointer(rebasing: raw[position..<(position + Int(length))]),
      as: UTF8.self)
  }

  mutating func civil() -> CivilDateTime? { number().map { CivilDateTime(minuteNumber: Int($0)) } }
  mutating func instant() -> Instant? { number().map { Instant(milliseconds: $0) } }

  mutating func card(_ id: Identifier) -> Card? {
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
      guard let civil = civil(), let since = instant() else { return nil }
      status.pending.append(AlarmStatus.Pending(occurrence: civil, since: since))
    }
    guard let hasSnooze = byte() else { return nil }
    if hasSnooze == 1 {
      guard let civil = civil(), let until = instant(), let count = number() else { return nil }
      status.snooze = AlarmStatus.Snooze(occurrence: civil, until: until, count: Int(count))
    }
    return Card(
      id: id, title: title, note: note, badge: badge, zone: zone, isDeleted: deleted == 1,
      status: status)
  }
}
