import BelfryCore
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
  /// The summary in the format of `AlarmSummaryWriter`. Most commands need few summaries.
  private let summaryBytes: [UInt8]

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
    var bytes: [UInt8] = []
    AlarmSummaryWriter.append(summary, to: &bytes)
    summaryBytes = bytes
  }

  /// The summary; nil if it is damaged.
  var summary: AlarmSummary? {
    summaryBytes.withUnsafeBytes { raw in
      var reader = AlarmSummaryReader(raw: raw)
      return reader.summary(id)
    }
  }

  /// Returns true if the signature of the file proves that it is unchanged.
  func vouches(for signature: FileSignature) -> Bool {
    signature == self.signature && signature.isConclusive(at: readAt)
  }

  /// Returns true if the status is valid at an instant.
  func isValid(at now: Instant) -> Bool { now >= validFrom && now < validUntil }

  // MARK: Coding

  /// The row as bytes: its fields, the summary, and a checksum.
  var bytes: [UInt8] {
    var bytes = Array(id.text.utf8)
    CacheCoding.append(signature, to: &bytes)
    CacheCoding.append(readAt, to: &bytes)
    bytes += blob.bytes
    CacheCoding.append(validFrom.milliseconds, to: &bytes)
    CacheCoding.append(validUntil.milliseconds, to: &bytes)
    bytes += summaryBytes
    CacheCoding.appendChecksum(to: &bytes)
    return bytes
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
    summaryBytes = Array(reader.rest())
  }
}
