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
  /// The blob of the version that the summary describes.
  let blob: ObjectID
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
    self.blob = blob
    self.validFrom = validFrom
    self.validUntil = validUntil
    var bytes = Array(id.text.utf8)
    CacheCoding.append(signature, to: &bytes)
    CacheCoding.append(readAt, to: &bytes)
    bytes += blob.bytes
    CacheCoding.append(validFrom.milliseconds, to: &bytes)
    CacheCoding.append(validUntil.milliseconds, to: &bytes)
    AlarmSummaryWriter.append(summary, to: &bytes)
    CacheCoding.appendChecksum(to: &bytes)
    self.bytes = bytes
  }

  /// Reads a row. Returns nil if it is damaged.
  init?(_ bytes: [UInt8]) {
    guard var reader = CacheReader(checked: bytes),
      let id = reader.take(Identifier.length).flatMap({ Identifier($0) }),
      let signature = reader.signature(), let readAt = reader.number(as: Int64.self),
      let blob = reader.take(ObjectID.byteCount), let from = reader.number(as: Int64.self),
      let until = reader.number(as: Int64.self)
    else { return nil }
    self.id = id
    self.signature = signature
    self.readAt = readAt
    self.blob = ObjectID(blob)
    validFrom = Instant(milliseconds: from)
    validUntil = Instant(milliseconds: until)
    self.bytes = bytes
  }

  /// The size of the fields before the summary: the id, the signature, the blob, and three times.
  private static let fieldsSize = Identifier.length + 4 * 8 + ObjectID.byteCount + 3 * 8

  /// The summary, which few commands need of all alarms; nil if it is not valid.
  var summary: AlarmSummary? {
    bytes.withUnsafeBytes { raw in
      var reader = AlarmSummaryReader(
        raw: UnsafeRawBufferPointer(rebasing: raw[CachedAlarm.fieldsSize..<(raw.count - 8)]))
      return reader.summary(id)
    }
  }

  /// Returns true if the signature of the file proves that it is unchanged.
  func vouches(for signature: FileSignature) -> Bool {
    signature == self.signature && signature.isConclusive(at: readAt)
  }

  /// Returns true if the status is valid at an instant.
  func isValid(at now: Instant) -> Bool { now >= validFrom && now < validUntil }
}
