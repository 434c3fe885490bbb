// Reads split indexes, which libgit2 rejects, so that `IndexFile` can splice them like others.

/// An index that git keeps in two files (`core.splitIndex`), and its conversion to one file.
///
/// ```
/// sharedindex.<checksum>    all entries at the time of the split
/// index                     replacements of shared entries, further entries, and the `link` extension: the checksum,
///                           a bitmap of the deleted shared entries, and a bitmap of the replaced ones
/// ```
///
/// See gitformat-index(5). Version 4 of the format is not supported.
enum SplitIndex {
  /// Returns true if the index has a `link` extension.
  static func isSplit(_ bytes: [UInt8]) -> Bool { (try? link(in: bytes)) != nil }

  /// Returns the bytes of the joined index, with zeros in place of the checksum.
  ///
  /// - Parameters:
  ///   - bytes: The `index` file, with a `link` extension.
  ///   - shared: A function that reads the shared file of a checksum, and returns nil if it doesn't exist.
  /// - Throws: `IndexFile.Failure.unsupported` if a part is missing or malformed.
  static func joined(
    _ bytes: [UInt8], shared: (ObjectID) throws -> [UInt8]?
  ) throws -> [UInt8] {
    let link = try link(in: bytes)
    let split = try entries(of: bytes)
    var base: [Entry] = []
    if link.base != ObjectID.zero {
      guard let file = try shared(link.base) else { throw IndexFile.Failure.unsupported }
      base = try entries(of: file)
    }
    guard link.deleted.allSatisfy({ $0 < base.count }), link.replaced.count <= split.count else {
      throw IndexFile.Failure.unsupported
    }
    // The replacements come first, without their paths, in the order of the shared entries.
    for (entry, index) in zip(split, link.replaced.sorted()) {
      guard index < base.count, entry.path.isEmpty else { throw IndexFile.Failure.unsupported }
      base[index].fixed = entry.fixed
    }
    var all = base.enumerated().filter { !link.deleted.contains($0.offset) }.map(\.element)
    all += split.dropFirst(link.replaced.count)
    all.sort { one, two in
      one.path == two.path
        ? one.stage < two.stage : one.path.lexicographicallyPrecedes(two.path)
    }
    return write(all, extensions: link.others)
  }

  // MARK: Entries

  /// An entry of an index.
  private struct Entry {
    /// The stat data, object id and flags.
    var fixed: ArraySlice<UInt8>
    let path: ArraySlice<UInt8>

    private var flags: Int {
      Int(fixed[fixed.startIndex + 60]) << 8 | Int(fixed[fixed.startIndex + 61])
    }
    var stage: Int { flags >> 12 & 3 }
    var isExtended: Bool { flags & 0x4000 != 0 }

    var bytes: [UInt8] {
      var result = Array(fixed)
      let length = min(path.count, 0xFFF)
      result[60] = result[60] & 0xF0 | UInt8(length >> 8)
      result[61] = UInt8(length & 0xFF)
      result += path
      result += repeatElement(0, count: 8 - result.count % 8)
      return result
    }
  }

  private static let headerSize = 12

  private static func entries(of bytes: [UInt8]) throws -> [Entry] {
    try scan(bytes).entries
  }

  /// Returns the entries and the position of their end.
  private static func scan(_ bytes: [UInt8]) throws -> (entries: [Entry], end: Int) {
    let end = bytes.count - ObjectID.byteCount
    guard end >= headerSize, bytes[0..<4].elementsEqual("DIRC".utf8),
      (2...3).contains(word(bytes, 4))
    else { throw IndexFile.Failure.unsupported }
    var entries: [Entry] = []
    var position = headerSize
    for _ in 0..<word(bytes, 8) {
      guard position + 62 < end else { throw IndexFile.Failure.unsupported }
      let isExtended = bytes[position + 60] & 0x40 != 0
      let start = position + (isExtended ? 64 : 62)
      guard start < end, let nul = bytes[start..<end].firstIndex(of: 0) else {
        throw IndexFile.Failure.unsupported
      }
      entries.append(Entry(fixed: bytes[position..<start], path: bytes[start..<nul]))
      position += (nul - position + 8) / 8 * 8
      guard position <= end else { throw IndexFile.Failure.unsupported }
    }
    return (entries, position)
  }

  private static func write(_ entries: [Entry], extensions: [UInt8]) -> [UInt8] {
    var result = Array("DIRC".utf8)
    let version: UInt32 = entries.contains { $0.isExtended } ? 3 : 2
    for value in [version, UInt32(entries.count)] {
      withUnsafeBytes(of: value.bigEndian) { result.append(contentsOf: $0) }
    }
    for entry in entries { result += entry.bytes }
    return result + extensions + [UInt8](repeating: 0, count: ObjectID.byteCount)
  }

  // MARK: The extension

  /// The content of the `link` extension.
  private struct Link {
    let base: ObjectID
    let deleted: Set<Int>
    let replaced: Set<Int>
    /// The `TREE` extension, which describes the joined index.
    let others: [UInt8]
  }

  private static func link(in bytes: [UInt8]) throws -> Link {
    let end = bytes.count - ObjectID.byteCount
    var position = try scan(bytes).end
    var link: ArraySlice<UInt8>?
    var others: [UInt8] = []
    while position + 8 <= end {
      let size = word(bytes, position + 4)
      let next = position + 8 + size
      guard next <= end else { throw IndexFile.Failure.unsupported }
      let name = bytes[position..<(position + 4)]
      if name.elementsEqual("link".utf8) {
        link = bytes[(position + 8)..<next]
      } else if bytes[position] >= UInt8(ascii: "a") {
        throw IndexFile.Failure.unsupported
      } else if name.elementsEqual("TREE".utf8) {
        others += bytes[position..<next]
      }
      position = next
    }
    guard let link, link.count >= ObjectID.byteCount else { throw IndexFile.Failure.unsupported }
    var rest = link.dropFirst(ObjectID.byteCount)
    return Link(
      base: ObjectID(link.prefix(ObjectID.byteCount)),
      deleted: link.count == ObjectID.byteCount ? [] : try bitmap(&rest),
      replaced: link.count == ObjectID.byteCount ? [] : try bitmap(&rest), others: others)
  }

  /// Reads a bitmap in git's EWAH encoding and returns the numbers of the set bits.
  private static func bitmap(_ bytes: inout ArraySlice<UInt8>) throws -> Set<Int> {
    func take(_ count: Int) throws -> UInt64 {
      guard bytes.count >= count else { throw IndexFile.Failure.unsupported }
      defer { bytes = bytes.dropFirst(count) }
      return bytes.prefix(count).reduce(0) { $0 << 8 | UInt64($1) }
    }
    let size = Int(try take(4))
    var words = Int(try take(4))
    guard size <= 1 << 26, words * 8 <= bytes.count else { throw IndexFile.Failure.unsupported }
    var set: Set<Int> = []
    var bit = 0
    while words > 0 {
      // A marker has 1 bit for the run's value, 32 for its length in words, and 31 for the number of literal words.
      let marker = try take(8)
      words -= 1
      let run = Int(marker >> 1 & 0xFFFF_FFFF) * 64
      guard bit + run <= size + 64 else { throw IndexFile.Failure.unsupported }
      if marker & 1 == 1 { set.formUnion(min(bit, size)..<min(bit + run, size)) }
      bit += run
      let literals = Int(marker >> 33)
      guard literals <= words else { throw IndexFile.Failure.unsupported }
      for _ in 0..<literals {
        let literal = try take(8)
        for offset in 0..<64 where literal >> UInt64(offset) & 1 == 1 { set.insert(bit + offset) }
        bit += 64
      }
      words -= literals
    }
    // The position of the last marker isn't needed.
    _ = try take(4)
    return set
  }

  private static func word(_ bytes: [UInt8], _ offset: Int) -> Int {
    bytes[offset..<(offset + 4)].reduce(0) { $0 << 8 | Int($1) }
  }
}
