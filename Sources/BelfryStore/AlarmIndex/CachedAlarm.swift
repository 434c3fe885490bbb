import BelfryCore
import Files
import Git

/// A row of the alarm index: a summary, and the file that it describes.
///
/// Its fields are read from its bytes when they are needed, so that the rows of a thousand alarms cost little.
///
/// ```
/// id · signature of the file · time of its read · blob · validity of the status · outline · summary · checksum
/// ```
struct CachedAlarm: Sendable {
  /// The row as bytes.
  let bytes: ArraySlice<UInt8>

  /// Creates a row.
  ///
  /// - Parameters:
  ///   - id: The alarm's id.
  ///   - signature: The signature of the record's file.
  ///   - readAt: A time before the file was read, in nanoseconds since the epoch, see `FileSignature.isConclusive(at:)`.
  ///   - blob: The version of the record that the summary describes.
  ///   - validFrom: The start of the time in which the summary's status is valid.
  ///   - validUntil: The end of that time, exclusive.
  ///   - summary: The summary.
  init(
    id: Identifier, signature: FileSignature, readAt: Int64, blob: ObjectID, validFrom: Instant,
    validUntil: Instant, summary: AlarmSummary
  ) {
    var bytes = Array(id.text.utf8)
    CacheCoding.append(signature, to: &bytes)
    CacheCoding.append(readAt, to: &bytes)
    bytes += blob.bytes
    CacheCoding.append(validFrom.milliseconds, to: &bytes)
    CacheCoding.append(validUntil.milliseconds, to: &bytes)
    let outline = summary.outline
    CacheCoding.append(outline.state.code, to: &bytes)
    CacheCoding.append(UInt8(outline.isDeleted ? 1 : 0), to: &bytes)
    CacheCoding.append(UInt8(outline.isFinished ? 1 : 0), to: &bytes)
    for instant in [outline.next, outline.nextRinging] {
      CacheCoding.append(instant?.milliseconds ?? CachedAlarm.never, to: &bytes)
    }
    assert(bytes.count == Offset.summary, "the fields before the summary have a fixed size")
    AlarmSummaryWriter.append(summary, to: &bytes)
    CacheCoding.appendChecksum(to: &bytes)
    self.bytes = bytes[...]
  }

  /// Reads a row. Returns nil if it is damaged.
  init?(_ bytes: ArraySlice<UInt8>) {
    let size = bytes.count - MemoryLayout<UInt64>.size
    guard size >= Offset.summary,
      CacheCoding.number(bytes, at: size) == CacheCoding.checksum(bytes.prefix(size)),
      Identifier.isValid(bytes.prefix(Identifier.length))
    else { return nil }
    self.bytes = bytes
  }

  /// The size of most rows in bytes, for which memory is reserved.
  static let typicalSize = 320

  /// The positions of the fields.
  private enum Offset {
    static let signature = Identifier.length
    static let readAt = signature + 4 * 8
    static let blob = readAt + 8
    static let validFrom = blob + ObjectID.byteCount
    static let validUntil = validFrom + 8
    static let state = validUntil + 8
    static let isDeleted = state + 1
    static let isFinished = isDeleted + 1
    static let next = isFinished + 1
    static let nextRinging = next + 8
    static let summary = nextRinging + 8
  }

  private func number(at offset: Int) -> Int64 {
    CacheCoding.number(bytes, at: offset, as: Int64.self)
  }

  private func instant(at offset: Int) -> Instant { Instant(milliseconds: number(at: offset)) }

  private func byte(at offset: Int) -> UInt8 { bytes[bytes.startIndex + offset] }

  /// The alarm's id.
  var id: Identifier { Identifier(checked: idBytes) }

  /// The text of the id in UTF-8. The rows of the index are in the order of these bytes.
  var idBytes: ArraySlice<UInt8> { bytes.prefix(Identifier.length) }

  /// The signature of the record's file.
  var signature: FileSignature {
    FileSignature(
      size: number(at: Offset.signature), modified: number(at: Offset.signature + 8),
      changed: number(at: Offset.signature + 16),
      inode: CacheCoding.number(bytes, at: Offset.signature + 24))
  }

  /// A time before the file was read, in nanoseconds since the epoch. See `FileSignature.isConclusive(at:)`.
  var readAt: Int64 { number(at: Offset.readAt) }

  /// The blob of the version that the summary describes.
  var blob: ObjectID {
    let start = bytes.startIndex + Offset.blob
    return ObjectID(bytes[start..<(start + ObjectID.byteCount)])
  }

  /// The start of the time in which the summary's status is valid.
  var validFrom: Instant { instant(at: Offset.validFrom) }

  /// The end of that time, exclusive.
  var validUntil: Instant { instant(at: Offset.validUntil) }

  /// The outline of the summary, which is enough to select and sort alarms.
  var outline: AlarmSummary.Outline {
    func occurrence(at offset: Int) -> Instant? {
      let milliseconds = number(at: offset)
      return milliseconds == CachedAlarm.never ? nil : Instant(milliseconds: milliseconds)
    }
    return AlarmSummary.Outline(
      state: AlarmStatus.State(code: byte(at: Offset.state)) ?? .active,
      isDeleted: byte(at: Offset.isDeleted) == 1, isFinished: byte(at: Offset.isFinished) == 1,
      next: occurrence(at: Offset.next), nextRinging: occurrence(at: Offset.nextRinging))
  }

  /// The number for an instant that there is not.
  private static let never = Int64.min

  /// The summary; nil if it is not valid.
  var summary: AlarmSummary? {
    bytes.withUnsafeBytes { raw in
      var reader = AlarmSummaryReader(
        raw: UnsafeRawBufferPointer(rebasing: raw[Offset.summary..<(raw.count - 8)]))
      return reader.summary(id)
    }
  }

  /// The title in UTF-8; empty if it is not valid.
  var titleBytes: ArraySlice<UInt8> {
    let count = number(at: Offset.summary)
    let start = bytes.startIndex + Offset.summary + 8
    guard (0...Int64(bytes.endIndex - 8 - start)).contains(count) else { return [] }
    return bytes[start..<(start + Int(count))]
  }

  /// Returns the result of a closure that gets the name of the record's file, with a final zero.
  func withFileName<Result>(_ body: (UnsafePointer<CChar>) -> Result) -> Result {
    withUnsafeTemporaryAllocation(byteCount: Identifier.length + 6, alignment: 1) { name in
      bytes.withUnsafeBytes { name.copyMemory(from: .init(rebasing: $0[..<Identifier.length])) }
      CachedAlarm.suffix.withUnsafeBytes {
        UnsafeMutableRawBufferPointer(rebasing: name[Identifier.length...]).copyMemory(from: $0)
      }
      return name.withMemoryRebound(to: CChar.self) { name in
        guard let start = name.baseAddress else { preconditionFailure("The name is not empty.") }
        return body(start)
      }
    }
  }

  private static let suffix = Array(".json".utf8CString)

  /// Returns true if the signature of the file proves that it is unchanged.
  func vouches(for signature: FileSignature) -> Bool {
    signature == self.signature && signature.isConclusive(at: readAt)
  }

  /// Returns true if the status is valid at an instant.
  func isValid(at now: Instant) -> Bool { now >= validFrom && now < validUntil }
}
