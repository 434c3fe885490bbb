import Files
import Git
import Glibc

/// The coding of numbers and file signatures in the caches and the journal, in native byte order, and their checksum.
enum CacheCoding {
  /// Returns the number at an offset.
  static func number<Number: FixedWidthInteger>(
    _ bytes: [UInt8], at offset: Int, as type: Number.Type = UInt64.self
  ) -> Number {
    bytes.withUnsafeBytes { $0.loadUnaligned(fromByteOffset: offset, as: type) }
  }

  /// Returns the number at an offset from the start of a slice.
  static func number<Number: FixedWidthInteger>(
    _ bytes: ArraySlice<UInt8>, at offset: Int, as type: Number.Type = UInt64.self
  ) -> Number {
    bytes.withUnsafeBytes { $0.loadUnaligned(fromByteOffset: offset, as: type) }
  }

  /// Appends a number.
  static func append(_ value: some FixedWidthInteger, to bytes: inout [UInt8]) {
    withUnsafeBytes(of: value) { bytes.append(contentsOf: $0) }
  }

  /// Appends a signature.
  static func append(_ signature: FileSignature, to bytes: inout [UInt8]) {
    append(signature.size, to: &bytes)
    append(signature.modified, to: &bytes)
    append(signature.changed, to: &bytes)
    append(signature.inode, to: &bytes)
  }

  /// Appends the checksum of the bytes: a Fletcher sum of their length and of all numbers in them. It protects against
  /// damage, not against intent.
  static func appendChecksum(to bytes: inout [UInt8]) {
    append(checksum(bytes[...]), to: &bytes)
  }

  /// Returns the checksum of bytes.
  static func checksum(_ bytes: ArraySlice<UInt8>) -> UInt64 {
    var sum = UInt64(bytes.count)
    var sums: UInt64 = 0
    bytes.withUnsafeBytes { raw in
      var offset = 0
      while offset + 8 <= raw.count {
        sum &+= raw.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
        sums &+= sum
        offset += 8
      }
      while offset < raw.count {
        sum &+= UInt64(raw[offset])
        sums &+= sum
        offset += 1
      }
    }
    return sum ^ (sums << 32 | sums >> 32)
  }
}

extension FileSignature {
  /// The maximum resolution of a file system's clock, in nanoseconds.
  private static let tick: Int64 = 50_000_000

  /// The maximum difference between the clocks of this machine and of one that shares its file system, in nanoseconds.
  private static let skew: Int64 = 60_000_000_000

  /// Returns true if a cache that contains the signature proves that a file with an equal one is unchanged.
  ///
  /// A file that changed in the same clock interval in which it was read can change again without a new signature.
  ///
  /// - Parameter readAt: A time before the file was read, in nanoseconds since the epoch, see `time(in:)`.
  func isConclusive(at readAt: Int64) -> Bool {
    max(changed, modified) < readAt - FileSignature.tick
  }

  /// Returns the time before which a change of a file in a folder has another signature than a change from now on, in
  /// nanoseconds since the epoch.
  static func lastConclusiveTime(in folder: String) -> Int64 { time(in: folder) - tick }

  /// Returns the present time, or an earlier one, by the clock of a folder's file system.
  static func time(in folder: String) -> Int64 {
    var now = timespec()
    clock_gettime(CLOCK_REALTIME, &now)
    let time = Int64(now.tv_sec) * 1_000_000_000 + Int64(now.tv_nsec)
    return RepositoryFolder.isShared(folder) ? time - skew : time
  }
}

/// A reader of a cache's parts or a journal's entry. Its methods return nil at the end of the bytes.
struct CacheReader {
  private let bytes: [UInt8]
  /// The position of the next part.
  private var position = 0
  /// The position after the last part.
  private let end: Int

  /// Creates a reader that begins at the start of the bytes.
  init(_ bytes: [UInt8]) {
    self.bytes = bytes
    end = bytes.count
  }

  /// Creates a reader of bytes that end with their checksum. Returns nil if they are damaged.
  init?(checked bytes: [UInt8]) {
    end = bytes.count - MemoryLayout<UInt64>.size
    guard end >= 0,
      CacheCoding.number(bytes, at: end) == CacheCoding.checksum(bytes[..<end])
    else { return nil }
    self.bytes = bytes
  }

  /// Returns the next bytes.
  mutating func take(_ count: Int) -> ArraySlice<UInt8>? {
    assert((0...end).contains(position) && end <= bytes.count, "the position is in the bytes")
    guard count >= 0, end - position >= count else { return nil }
    defer { position += count }
    return bytes[position..<(position + count)]
  }

  /// Returns a number.
  mutating func number<Number: FixedWidthInteger>(as type: Number.Type = UInt64.self) -> Number? {
    let start = position
    return take(MemoryLayout<Number>.size).map { _ in
      CacheCoding.number(bytes, at: start, as: type)
    }
  }

  /// Returns a number of parts or bytes that follow, which is at most that of the remaining bytes.
  mutating func count() -> Int? {
    guard let number = number(), number <= UInt64(end - position) else { return nil }
    return Int(number)
  }

  /// Returns bytes that follow their number.
  mutating func content() -> ArraySlice<UInt8>? { count().flatMap { take($0) } }

  /// Returns a text that follows the number of its bytes.
  mutating func text() -> String? { content().map { String(decoding: $0, as: UTF8.self) } }

  /// Returns a file signature.
  mutating func signature() -> FileSignature? {
    guard let size = number(as: Int64.self), let modified = number(as: Int64.self),
      let changed = number(as: Int64.self), let inode = number()
    else { return nil }
    return FileSignature(size: size, modified: modified, changed: changed, inode: inode)
  }
}
