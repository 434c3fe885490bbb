import BelfryCore
import Git
import Synchronization

/// The layout of the alarm index's files on disk. Numbers have eight bytes, apart from the hashes of the titles, in
/// native byte order.
///
/// ```
/// header   88 bytes: see `Header`
/// rows     120 bytes each, sorted by file name: the data that a scan needs, see `Row`
/// titles   4 bytes each: a hash of each row's title, by which alarms are found without reading the rows
/// heap     the fingerprint (main file), then the summaries of the rows, at offsets from the heap's start
/// ```
///
/// The main file and the changes have the same layout. The changes contain the checksum of their main file. Both are
/// replaced without a flush, and belong together:
///
/// 1. Neither is used without the other. Otherwise a lost file of changes would hide that the file of a new alarm is
///    missing.
/// 2. A process that ends between the two renames leaves changes of another main file. The index is then rebuilt.
///
/// The format is Belfry's own, because a list of 100,000 alarms must start with one read of one file and without
/// parsing the rows. The files are a cache: a file of another version, or with another checksum, is rebuilt.
enum AlarmIndexLayout {
  /// The offsets of the header's fields.
  enum Header {
    /// The kind and the version of the file, see `AlarmIndexHeader.Kind`.
    static let magic = 0
    /// The number of rows.
    static let count = 8
    /// The signature of the alarms' folder when it was last listed.
    static let folder = 16
    /// In the main file, the length of the fingerprint in bytes. In the changes, the checksum of the main file.
    static let link = 48
    /// The checksum of everything else.
    static let checksum = 56
    /// The checksum of the hashes of the titles.
    static let titles = 64
    /// The number of the daemon's watch up to which the rows are current; 0 without one. See `FolderChangeToken`.
    static let epoch = 72
    /// The number of changes that this watch had seen.
    static let number = 80
    /// The header's size.
    static let size = 88
  }

  /// The size of the hash of a title.
  static let titleSize = 4

  /// The offsets of a row's fields from the row's start.
  enum Row {
    /// The name of the record's file as a C string: `<id>.json`, and a NUL byte.
    static let name = 0
    /// The signature of the record's file.
    static let signature = 32
    /// The blob of the version that the summary describes.
    static let blob = 64
    /// The start of the time in which the summary's status is valid, in milliseconds since the epoch.
    static let validFrom = 88
    /// The end of that time, exclusive.
    static let validUntil = 96
    /// The location of the summary in the heap, see `SummaryLocation`.
    static let summary = 104
    /// The time of the next occurrence of an alarm that is not deleted, in milliseconds since the epoch; the greatest
    /// number for none.
    static let next = 112
    /// A row's size.
    static let size = 120

    /// The number of unused bytes between the blob and the next field.
    static let blobPadding = validFrom - blob - ObjectID.byteCount
  }

  /// The location of a summary: 40 bits for its offset in the heap, 24 bits for its length.
  struct SummaryLocation {
    /// The offset from the heap's start.
    let offset: Int
    /// The length in bytes.
    let length: Int

    private static let lengthBits: UInt64 = 24

    /// Creates a location from its parts.
    init(offset: Int, length: Int) {
      self.offset = offset
      self.length = length
    }

    /// Creates a location from the number in a row.
    init(number: UInt64) {
      offset = Int(number >> SummaryLocation.lengthBits)
      length = Int(number & (1 << SummaryLocation.lengthBits - 1))
    }

    /// The location as the number in a row.
    var number: UInt64 { UInt64(offset) << SummaryLocation.lengthBits | UInt64(length) }
  }

  /// The offsets of a summary's fields from its start. They are followed by the title, the zone, the rule
  /// (`RuleWriter`), and the rest (`AlarmSummaryWriter`).
  ///
  /// The fields that most lines of a list show come before the rest, so that the rest is not decoded.
  enum Summary {
    /// The length of the title, in four bytes.
    static let titleLength = 0
    /// The length of the time zone's name, in four bytes.
    static let zoneLength = 4
    /// The length of the rule, in four bytes.
    static let ruleLength = 8
    /// The number of the state, in one byte.
    static let state = 12
    /// See `Flags`, in one byte.
    static let flags = 13
    /// The next occurrence on the alarm's wall clock, as a minute number; 0 for none.
    static let nextCivil = 16
    /// The time of the next occurrence in milliseconds since the epoch; the greatest number for none.
    static let next = 24
    /// The time before which the status does not change, in milliseconds since the epoch.
    static let validUntil = 32
    /// The size of these fields.
    static let size = 40

    /// The properties of an alarm that are true.
    struct Flags: OptionSet, Sendable {
      /// The bits in the index.
      let rawValue: UInt8
      /// See `AlarmSummary.isDeleted`.
      static let isDeleted = Flags(rawValue: 1)
      /// See `AlarmStatus.isFinished`.
      static let isFinished = Flags(rawValue: 2)
      /// See `AlarmSummary.isPlain`.
      static let isPlain = Flags(rawValue: 4)
      /// See `AlarmSummary.hasCascade`.
      static let hasCascade = Flags(rawValue: 8)
      /// The alarm rings again after a snooze.
      static let isSnoozed = Flags(rawValue: 16)
    }
  }

  /// The limits of a valid file.
  enum Limit {
    /// The number of rows, exclusive.
    static let count = 1 << 24
    /// The size of a file in bytes.
    static let size = 1 << 30
    /// The length of the fingerprint, exclusive.
    static let fingerprintLength = 1 << 12
  }

  /// Returns the hash of a title's UTF-8 bytes (FNV-1a).
  static func titleHash(_ title: some Sequence<UInt8>) -> UInt32 {
    title.reduce(0x811C_9DC5) { ($0 ^ UInt32($1)) &* 0x0100_0193 }
  }

  /// Returns the checksum of the hashes of titles.
  static func titlesChecksum(_ hashes: [UInt8]) -> UInt64 {
    CacheCoding.checksum(hashes, of: [hashes.indices])
  }

  /// Returns the checksum of a file, of everything but the stored checksum.
  static func checksum(_ bytes: [UInt8]) -> UInt64 {
    CacheCoding.checksum(bytes, of: [0..<Header.checksum, Header.titles..<bytes.count])
  }

  /// Reads a file of at least the size of a header. Returns it with its checksum.
  static func read(
    _ file: borrowing ReadableFile
  ) throws(FileError) -> (bytes: [UInt8], checksum: UInt64) {
    let size = Int(file.status.st_size)
    let parts = Mutex<[(offset: Int, sum: CacheChecksum)]>([])
    let bytes = try file.bytes(count: size) { offset, piece in
      let start = offset == 0 ? min(Header.titles, piece.count) : 0
      let sum = CacheChecksum(part: UnsafeRawBufferPointer(rebasing: piece[start...]))
      parts.withLock { $0.append((offset, sum)) }
    }
    var checksum = CacheChecksum(size: bytes.count)
    bytes.withUnsafeBytes { raw in
      checksum.add(UnsafeRawBufferPointer(rebasing: raw[..<min(Header.checksum, raw.count)]))
    }
    for part in parts.withLock({ $0 }).sorted(by: { $0.offset < $1.offset }) {
      checksum.add(part.sum)
    }
    return (bytes, checksum.value)
  }
}
