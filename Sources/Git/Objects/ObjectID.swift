import CLibgit2

/// The id of a git object: a SHA-1 of 20 bytes.
public struct ObjectID: Hashable, Sendable {
  private let high: UInt64
  private let middle: UInt64
  private let low: UInt32

  /// The size of an id in bytes.
  public static let byteCount = 20
  /// The id that no object has. In a reflog it marks the creation of a reference.
  static let zero = ObjectID([UInt8](repeating: 0, count: byteCount))

  /// The id of the empty tree, which git knows even if no such object is stored.
  public static let emptyTree = LooseObjects.name(.tree, [])

  /// Creates an id from 20 bytes.
  public init(_ bytes: some Collection<UInt8>) {
    precondition(bytes.count == ObjectID.byteCount)
    let words = bytes.withContiguousStorageIfAvailable {
      $0.withMemoryRebound(to: UInt8.self, ObjectID.words)
    }
    (high, middle, low) = words ?? Array(bytes).withUnsafeBufferPointer(ObjectID.words)
  }

  private static func words(_ bytes: UnsafeBufferPointer<UInt8>) -> (UInt64, UInt64, UInt32) {
    let raw = UnsafeRawBufferPointer(bytes)
    return (
      UInt64(bigEndian: raw.loadUnaligned(fromByteOffset: 0, as: UInt64.self)),
      UInt64(bigEndian: raw.loadUnaligned(fromByteOffset: 8, as: UInt64.self)),
      UInt32(bigEndian: raw.loadUnaligned(fromByteOffset: 16, as: UInt32.self))
    )
  }

  /// Creates an id from libgit2's type.
  init(_ oid: git_oid) {
    self = withUnsafeBytes(of: oid) { ObjectID($0) }
  }

  /// Parses 40 hexadecimal digits. Returns nil for any other text.
  public init?(hexadecimal text: some StringProtocol) {
    let digits = text.utf8.compactMap { UInt8(String(UnicodeScalar($0)), radix: 16) }
    guard digits.count == 2 * ObjectID.byteCount, text.utf8.count == digits.count else {
      return nil
    }
    self.init((0..<ObjectID.byteCount).map { digits[2 * $0] << 4 | digits[2 * $0 + 1] })
  }

  /// The 20 bytes of the id.
  public var bytes: [UInt8] {
    var result: [UInt8] = []
    result.reserveCapacity(ObjectID.byteCount)
    withUnsafeBytes(of: high.bigEndian) { result.append(contentsOf: $0) }
    withUnsafeBytes(of: middle.bigEndian) { result.append(contentsOf: $0) }
    withUnsafeBytes(of: low.bigEndian) { result.append(contentsOf: $0) }
    return result
  }

  /// The id as libgit2's type.
  var oid: git_oid {
    var oid = git_oid()
    withUnsafeMutableBytes(of: &oid) { $0.copyBytes(from: bytes) }
    return oid
  }

  /// Returns true if `a` sorts before `b` byte by byte.
  public static func < (a: ObjectID, b: ObjectID) -> Bool {
    (a.high, a.middle, a.low) < (b.high, b.middle, b.low)
  }
}

extension ObjectID: Comparable, CustomStringConvertible {
  /// The id as 40 hexadecimal digits.
  public var description: String {
    let digits = Array("0123456789abcdef".utf8)
    return String(
      decoding: bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }, as: UTF8.self)
  }

  /// The first eight hexadecimal digits, for messages.
  public var short: String { String(description.prefix(8)) }
}
