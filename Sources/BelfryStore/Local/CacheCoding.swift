import Git

/// The coding of numbers and file signatures in the caches, in native byte order, and their checksum.
enum CacheCoding {
  /// The size of a file signature in bytes.
  static let signatureSize = 32

  /// Returns the number at an offset.
  static func number<Number: FixedWidthInteger>(
    _ bytes: [UInt8], at offset: Int, as type: Number.Type = UInt64.self
  ) -> Number {
    bytes.withUnsafeBytes { $0.loadUnaligned(fromByteOffset: offset, as: type) }
  }

  /// Returns the signature at an offset.
  static func signature(_ bytes: [UInt8], at offset: Int) -> FileSignature {
    FileSignature(
      size: number(bytes, at: offset, as: Int64.self),
      modified: number(bytes, at: offset + 8, as: Int64.self),
      changed: number(bytes, at: offset + 16, as: Int64.self),
      inode: number(bytes, at: offset + 24))
  }

  /// Replaces the number at an offset.
  static func set(_ value: UInt64, at offset: Int, in bytes: inout [UInt8]) {
    bytes.withUnsafeMutableBytes { $0.storeBytes(of: value, toByteOffset: offset, as: UInt64.self) }
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

  /// Returns the checksum of a file, see `CacheChecksum`.
  static func checksum(_ bytes: [UInt8], of ranges: [Range<Int>]) -> UInt64 {
    bytes.withUnsafeBytes { raw in
      var checksum = CacheChecksum(size: raw.count)
      for range in ranges { checksum.add(UnsafeRawBufferPointer(rebasing: raw[range])) }
      return checksum.value
    }
  }
}

/// The checksum of a file: a Fletcher sum of its length and of all numbers in some of its parts.
///
/// It protects against damage, not against intent, and costs less than the copy of the file into memory. The sums of the
/// parts can be computed separately, and joined.
struct CacheChecksum: Sendable {
  private var sum: UInt64
  private var sums: UInt64 = 0
  /// The number of summands.
  private var count: UInt64 = 0

  /// Creates the checksum of a file without parts.
  init(size: Int) { sum = UInt64(size) }

  /// Creates the sum of a part. The parts before the last one have a multiple of eight bytes.
  init(part: UnsafeRawBufferPointer) {
    sum = 0
    add(part)
  }

  /// Adds a part.
  mutating func add(_ part: UnsafeRawBufferPointer) {
    var offset = 0
    while offset + 8 <= part.count {
      sum &+= part.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
      sums &+= sum
      offset += 8
    }
    count &+= UInt64(offset / 8 + part.count - offset)
    while offset < part.count {
      sum &+= UInt64(part[offset])
      sums &+= sum
      offset += 1
    }
  }

  /// Adds the sum of a part.
  mutating func add(_ part: CacheChecksum) {
    sums &+= part.count &* sum &+ part.sums
    sum &+= part.sum
    count &+= part.count
  }

  /// The checksum.
  var value: UInt64 { sum ^ (sums << 32 | sums >> 32) }
}

extension FileSignature {
  /// The maximum resolution of a file system's clock, in nanoseconds.
  private static let tick: Int64 = 50_000_000

  /// Returns true if a cache that contains the signature proves that a file with an equal one is unchanged.
  ///
  /// A file that changed in the same clock interval in which the cache was written can change again without a new
  /// signature.
  ///
  /// - Parameter written: The time when the cache was written, in nanoseconds since the epoch.
  func isConclusive(at written: Int64) -> Bool {
    max(changed, modified) < written - FileSignature.tick
  }
}

/// A reader of a cache's parts or a journal's entry. Its methods return nil at the end of the bytes.
struct CacheReader {
  private let bytes: [UInt8]
  /// The position of the next part.
  private(set) var position = 0

  /// Creates a reader that begins at the start of the bytes.
  init(_ bytes: [UInt8]) {
    self.bytes = bytes
  }

  /// Returns the next bytes.
  mutating func take(_ count: Int) -> ArraySlice<UInt8>? {
    guard count >= 0, bytes.count - position >= count else { return nil }
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
    guard let number = number(), number <= UInt64(bytes.count - position) else { return nil }
    return Int(number)
  }

  /// Returns bytes that follow their number.
  mutating func content() -> ArraySlice<UInt8>? { count().flatMap { take($0) } }

  /// Returns a text that follows the number of its bytes.
  mutating func text() -> String? { content().map { String(decoding: $0, as: UTF8.self) } }

  /// Returns a file signature.
  mutating func signature() -> FileSignature? {
    let start = position
    return take(CacheCoding.signatureSize).map { _ in CacheCoding.signature(bytes, at: start) }
  }
}
