import CLibgit2

/// The name of a git object: 20 bytes.
public struct ObjectID: Hashable, Sendable {
  private let high: UInt64
  private let middle: UInt64
  private let low: UInt32

  public static let byteCount = 20
  /// The name that no object has: in a reflog, where a reference began.
  static let zero = ObjectID([UInt8](repeating: 0, count: byteCount))

  /// The tree without entries, which git knows whether or not there is an object of it.
  public static let emptyTree = LooseObjects.name(.tree, [])

  /// Reads 20 bytes.
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

  init(_ oid: git_oid) {
    self = withUnsafeBytes(of: oid) { ObjectID($0) }
  }

  /// Reads 40 hexadecimal digits; nil for anything else.
  public init?(hexadecimal text: some StringProtocol) {
    let digits = text.utf8.compactMap { UInt8(String(UnicodeScalar($0)), radix: 16) }
    guard digits.count == 2 * ObjectID.byteCount, text.utf8.count == digits.count else {
      return nil
    }
    self.init((0..<ObjectID.byteCount).map { digits[2 * $0] << 4 | digits[2 * $0 + 1] })
  }

  /// The 20 bytes.
  public var bytes: [UInt8] {
    var result: [UInt8] = []
    result.reserveCapacity(ObjectID.byteCount)
    withUnsafeBytes(of: high.bigEndian) { result.append(contentsOf: $0) }
    withUnsafeBytes(of: middle.bigEndian) { result.append(contentsOf: $0) }
    withUnsafeBytes(of: low.bigEndian) { result.append(contentsOf: $0) }
    return result
  }

  var oid: git_oid {
    var oid = git_oid()
    withUnsafeMutableBytes(of: &oid) { $0.copyBytes(from: bytes) }
    return oid
  }

  public static func < (a: ObjectID, b: ObjectID) -> Bool {
    (a.high, a.middle, a.low) < (b.high, b.middle, b.low)
  }
}

extension ObjectID: Comparable, CustomStringConvertible {
  /// 40 hexadecimal digits.
  public var description: String {
    let digits = Array("0123456789abcdef".utf8)
    return String(
      decoding: bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }, as: UTF8.self)
  }

  /// The first eight digits.
  public var short: String { String(description.prefix(8)) }
}
