import BelfryCore
import Git

/// The rows and summaries of one of the two files of the alarm index. `AlarmIndexLayout` describes the format.
struct AlarmIndexTable: Sendable {
  /// The whole file.
  let bytes: [UInt8]
  /// The header.
  let header: AlarmIndexHeader
  /// The number of rows.
  var count: Int { header.count }

  /// The time of writing in nanoseconds since the epoch, by the file system's clock.
  private let written: Int64

  /// Validates the bytes of a file. Returns nil if they are not a file of this kind and version, or damaged.
  init?(_ bytes: [UInt8], _ kind: AlarmIndexHeader.Kind, written: Int64) {
    guard bytes.count >= AlarmIndexLayout.Header.size else { return nil }
    self.init(bytes, checksum: AlarmIndexLayout.checksum(bytes), kind, written: written)
  }

  /// Reads a file. Returns nil if it cannot be read, or is not of this kind and version, or damaged.
  init?(_ file: borrowing ReadableFile, _ kind: AlarmIndexHeader.Kind) {
    guard file.status.st_size <= AlarmIndexLayout.Limit.size,
      let (bytes, checksum) = try? AlarmIndexLayout.read(file)
    else { return nil }
    self.init(
      bytes, checksum: checksum, kind, written: FileSignature(file.status).modified)
  }

  private init?(
    _ bytes: [UInt8], checksum: UInt64, _ kind: AlarmIndexHeader.Kind, written: Int64
  ) {
    guard let header = AlarmIndexHeader(bytes, kind), header.checksum == checksum,
      header.heap <= bytes.count
    else { return nil }
    self.bytes = bytes
    self.header = header
    self.written = written
  }

  /// Returns true if an equal signature proves equal content.
  func vouches(for signature: FileSignature) -> Bool { signature.isConclusive(at: written) }

  /// Returns the offset of a row.
  func start(_ index: Int) -> Int { header.start(index) }

  /// The offset of the heap.
  var heap: Int { header.heap }

  private func number(_ index: Int, _ field: Int) -> UInt64 {
    CacheCoding.number(bytes, at: start(index) + field)
  }

  private func instant(_ index: Int, _ field: Int) -> Instant {
    Instant(milliseconds: Int64(bitPattern: number(index, field)))
  }

  /// Calls a closure with the name of a row's file as a C string.
  func withName<Result>(_ index: Int, _ body: (UnsafePointer<CChar>) -> Result) -> Result {
    bytes.withUnsafeBytes { raw in
      body(
        (raw.baseAddress! + start(index) + AlarmIndexLayout.Row.name)
          .assumingMemoryBound(to: CChar.self))
    }
  }

  private func name(_ index: Int) -> ArraySlice<UInt8> {
    let start = start(index) + AlarmIndexLayout.Row.name
    return bytes[start..<(start + Identifier.length)]
  }

  /// Returns the alarm's id of a row, or nil if the row is damaged.
  func identifier(_ index: Int) -> Identifier? { Identifier(name(index)) }

  /// Returns the signature of a row's file.
  func signature(_ index: Int) -> FileSignature {
    CacheCoding.signature(bytes, at: start(index) + AlarmIndexLayout.Row.signature)
  }

  /// Returns true if the status of a row is valid at an instant.
  func isValid(_ index: Int, at now: Instant) -> Bool {
    now >= instant(index, AlarmIndexLayout.Row.validFrom) && now < validUntil(index)
  }

  /// Returns the end of the time in which the status of a row is valid.
  func validUntil(_ index: Int) -> Instant { instant(index, AlarmIndexLayout.Row.validUntil) }

  /// Returns the time of the next occurrence of a row's alarm, or nil if there is none or the alarm is deleted.
  func next(_ index: Int) -> Instant? {
    let next = instant(index, AlarmIndexLayout.Row.next)
    return next.milliseconds == .max ? nil : next
  }

  /// Returns a row, or nil if it is damaged.
  func row(_ index: Int) -> AlarmIndexFile.Row? {
    guard let id = identifier(index) else { return nil }
    let blob = start(index) + AlarmIndexLayout.Row.blob
    return AlarmIndexFile.Row(
      id: id, signature: signature(index),
      blob: ObjectID(bytes[blob..<(blob + ObjectID.byteCount)]),
      validFrom: instant(index, AlarmIndexLayout.Row.validFrom), validUntil: validUntil(index))
  }

  /// Returns the location of a row's summary.
  func location(_ index: Int) -> AlarmIndexLayout.SummaryLocation {
    AlarmIndexLayout.SummaryLocation(number: number(index, AlarmIndexLayout.Row.summary))
  }

  /// Returns the range of a row's summary in the file, or nil if it is outside of the file.
  func payload(_ index: Int) -> Range<Int>? {
    let location = location(index)
    let offset = heap + location.offset
    let end = offset + location.length
    return end <= bytes.count ? offset..<end : nil
  }

  /// Returns the fields of a row that a list shows, or nil if the row is damaged.
  ///
  /// - Parameter raw: `bytes`.
  func line(_ index: Int, in raw: UnsafeRawBufferPointer) -> AlarmLine? {
    guard let payload = payload(index) else { return nil }
    let name = start(index) + AlarmIndexLayout.Row.name
    return AlarmLine(
      id: UnsafeRawBufferPointer(rebasing: raw[name..<(name + Identifier.length)]),
      summary: UnsafeRawBufferPointer(rebasing: raw[payload]))
  }

  /// Returns the summary of a row, or nil if it is damaged.
  func summary(_ index: Int) -> AlarmSummary? {
    guard let id = identifier(index), let payload = payload(index) else { return nil }
    return bytes.withUnsafeBytes { raw in
      var reader = AlarmSummaryReader(raw: UnsafeRawBufferPointer(rebasing: raw[payload]))
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
  func insertionIndex(of id: Identifier) -> Int { insertionIndex(ofName: Array(id.text.utf8)) }

  private func insertionIndex(ofName wanted: some Collection<UInt8>) -> Int {
    var low = 0
    var high = count
    while low < high {
      let middle = (low + high) / 2
      if name(middle).lexicographicallyPrecedes(wanted) { low = middle + 1 } else { high = middle }
    }
    return low
  }

  /// Returns the number of rows before that of an alarm with a row in another table, and true if there is one of the
  /// same alarm.
  func place(of index: Int, in other: AlarmIndexTable) -> (index: Int, exists: Bool) {
    let name = other.name(index)
    let place = insertionIndex(ofName: name)
    return (place, place < count && self.name(place) == name)
  }

  // MARK: Titles

  /// Returns the hashes of the titles of some rows.
  func titles(_ range: Range<Int>) -> ArraySlice<UInt8> {
    let start = header.titles.lowerBound
    return bytes[
      (start + range.lowerBound * AlarmIndexLayout.titleSize)..<(start + range.upperBound
        * AlarmIndexLayout.titleSize)]
  }

  /// Returns the rows whose title contains a text in any case, or whose id starts with it.
  ///
  /// - Parameter text: Lower-case ASCII. It is compared byte by byte without creating strings.
  func rows(matching text: [UInt8]) -> [Int] {
    bytes.withUnsafeBufferPointer { bytes in
      (0..<count).filter { index in
        let name = start(index) + AlarmIndexLayout.Row.name
        if bytes[name..<(name + Identifier.length)].starts(with: text) { return true }
        guard let title = titleRange(index), title.count >= text.count else { return false }
        let (start, length) = (title.lowerBound, title.count)
        for offset in 0...(length - text.count) {
          var matched = 0
          while matched < text.count,
            AlarmIndexTable.lowered(bytes[start + offset + matched]) == text[matched]
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

  /// Returns the rows with exactly this title.
  func rows(titled title: String) -> [Int] {
    AlarmIndexTable.rows(titled: title, hashes: bytes[header.titles]).filter { index in
      titleRange(index).map { bytes[$0].elementsEqual(title.utf8) } ?? false
    }
  }

  /// Returns the rows whose title has the hash of a title.
  ///
  /// - Parameter hashes: The bytes of the hashes.
  static func rows(titled title: String, hashes: ArraySlice<UInt8>) -> [Int] {
    let wanted = AlarmIndexLayout.titleHash(title.utf8)
    return hashes.withUnsafeBytes { raw in
      (0..<(raw.count / AlarmIndexLayout.titleSize)).filter { index in
        raw.loadUnaligned(
          fromByteOffset: index * AlarmIndexLayout.titleSize, as: UInt32.self) == wanted
      }
    }
  }

  /// Returns the range of a row's title in the file, or nil if the row is damaged.
  private func titleRange(_ index: Int) -> Range<Int>? {
    typealias Summary = AlarmIndexLayout.Summary
    guard let payload = payload(index), payload.count >= Summary.size else { return nil }
    let length = CacheCoding.number(
      bytes, at: payload.lowerBound + Summary.titleLength, as: UInt32.self)
    guard length <= payload.count - Summary.size else { return nil }
    let start = payload.lowerBound + Summary.size
    return start..<(start + Int(length))
  }
}
