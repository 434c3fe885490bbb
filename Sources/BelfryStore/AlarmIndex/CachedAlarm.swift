import BelfryCore
import Files
import Git

/// A row of the alarm index: a summary, and the file that it describes.
struct CachedAlarm: Sendable {
  /// The alarm's id.
  let id: Identifier
  /// The signature of the record's file.
  let signature: FileSignature
  /// A time before the file was read, in nanoseconds since the epoch. See `FileSignature.isConclusive(at:)`.
  let readAt: Int64
  /// The start of the time in which the summary's status is valid.
  let validFrom: Instant
  /// The end of that time, exclusive.
  let validUntil: Instant
  /// The row as bytes: its fields, the summary in the format of `AlarmSummaryWriter`, and a checksum.
  let bytes: [UInt8]

  /// Creates a row.
  init(
    id: Identifier, signature: FileSignature, readAt: Int64, blob: ObjectID, validFrom: Instant,
    validUntil: Instant, summary: AlarmSummary
  ) {
    self.id = id
    self.signature = signature
    self.readAt = readAt
    self.validFrom = validFrom
    self.validUntil = validUntil
    var bytes = Array(id.text.utf8)
    CacheCoding.append(signature, to: &bytes)
    CacheCoding.append(readAt, to: &bytes)
    bytes += blob.bytes
    CacheCoding.append(validFrom.milliseconds, to: &bytes)
    CacheCoding.append(validUntil.milliseconds, to: &bytes)
    assert(bytes.count == CachedAlarm.fieldsSize, "the fields before the summary have a fixed size")
    AlarmSummaryWriter.append(summary, to: &bytes)
    CacheCoding.appendChecksum(to: &bytes)
    self.bytes = bytes
  }

  /// Reads a row. Returns nil if it is damaged.
  init?(_ bytes: [UInt8]) {
    let end = bytes.count - MemoryLayout<UInt64>.size
    guard end >= CachedAlarm.fieldsSize,
      CacheCoding.number(bytes, at: end) == CacheCoding.checksum(bytes[..<end]),
      let id = Identifier(bytes[..<Identifier.length])
    else { return nil }
    func number(_ offset: Int) -> Int64 {
      CacheCoding.number(bytes, at: offset, as: Int64.self)
    }
    let (signed, dated) = (Identifier.length, CachedAlarm.blobEnd)
    self.id = id
    signature = FileSignature(
      size: number(signed), modified: number(signed + 8), changed: number(signed + 16),
      inode: CacheCoding.number(bytes, at: signed + 24))
    readAt = number(signed + 32)
    validFrom = Instant(milliseconds: number(dated))
    validUntil = Instant(milliseconds: number(dated + 8))
    self.bytes = bytes
  }

  /// The blob of the version that the summary describes.
  var blob: ObjectID {
    ObjectID(bytes[(CachedAlarm.blobEnd - ObjectID.byteCount)..<CachedAlarm.blobEnd])
  }

  /// The end of the blob, which follows the id, the signature and the time of the read.
  private static let blobEnd = Identifier.length + 4 * 8 + 8 + ObjectID.byteCount

  /// The size of the fields before the summary: all these, and the period of the status.
  private static let fieldsSize = blobEnd + 2 * 8

  /// The summary, which few commands need of all alarms; nil if it is not valid.
  var summary: AlarmSummary? {
    bytes.withUnsafeBytes { raw in
      var reader = AlarmSummaryReader(
        raw: UnsafeRawBufferPointer(rebasing: raw[CachedAlarm.fieldsSize..<(raw.count - 8)]))
      return reader.summary(id)
    }
  }

  /// The name of the record's file, with a final zero.
  var fileName: [CChar] {
    bytes[..<Identifier.length].map(CChar.init(bitPattern:)) + CachedAlarm.suffix
  }

  private static let suffix = Array(".json".utf8CString)

  /// Returns true if the signature of the file proves that it is unchanged.
  func vouches(for signature: FileSignature) -> Bool {
    signature == self.signature && signature.isConclusive(at: readAt)
  }

  /// Returns true if the status is valid at an instant.
  func isValid(at now: Instant) -> Bool { now >= validFrom && now < validUntil }
}
