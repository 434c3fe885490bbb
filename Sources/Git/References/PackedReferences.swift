import Files
import Glibc

/// git's `packed-refs` file, which holds one reference per line.
///
/// A single malformed line makes git and libgit2 reject all references.
public struct PackedReferences: Sendable {
  /// The path of the file.
  public let path: String
  /// The number of malformed lines.
  public let damagedLines: Int
  /// The content of a file with the intact references only.
  public let mended: [UInt8]

  /// True if a line is malformed.
  public var isDamaged: Bool { damagedLines > 0 }

  /// Parses the content of a file.
  public init(path: String, _ bytes: some Sequence<UInt8>) {
    self.path = path
    let bytes = Array(bytes)
    var damaged = 0
    var kept: [UInt8] = []
    let lines = bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
    for (number, line) in lines.enumerated() {
      // The part after the final newline is empty.
      if number == lines.count - 1, line.isEmpty { break }
      let isEnded = number < lines.count - 1
      if number == 0, isEnded, line.starts(with: PackedReferences.header.utf8) { continue }
      if PackedReferences.isPeeled(line), isEnded { continue }
      if PackedReferences.isReference(line) {
        kept += line + [UInt8(ascii: "\n")]
        if isEnded { continue }
      }
      damaged += 1
    }
    damagedLines = damaged
    // Without the header, git assumes neither sorted lines nor peeled tags.
    mended = kept
  }

  /// The start of the first line, which git and libgit2 write. git accepts no other line that starts with `#`.
  private static let header = "# pack-refs with:"

  /// Returns true for a line such as `<id> refs/heads/main`.
  private static func isReference(_ line: ArraySlice<UInt8>) -> Bool {
    let digits = 2 * ObjectID.byteCount
    let name = line.dropFirst(digits + 1)
    return line.count > digits && line[line.startIndex + digits] == UInt8(ascii: " ")
      && isObject(line.prefix(digits)) && name.starts(with: "refs/".utf8)
      // The characters that git forbids in reference names.
      && !name.contains { $0 <= 0x20 || $0 == 0x7F || "~^:?*[\\".utf8.contains($0) }
      && name.last != UInt8(ascii: "/")
  }

  /// Returns true for `^<id>`, the object to which the tag of the previous line points.
  private static func isPeeled(_ line: ArraySlice<UInt8>) -> Bool {
    line.first == UInt8(ascii: "^") && isObject(line.dropFirst())
  }

  private static func isObject(_ digits: ArraySlice<UInt8>) -> Bool {
    ObjectID(hexadecimal: String(decoding: digits, as: UTF8.self)) != nil
  }
}

extension Repository {
  /// The packed references; nil if there is no such file. An unreadable file counts as one damaged line.
  public var packedReferences: PackedReferences? {
    let path = commonDirectory + "packed-refs"
    do {
      return try DurableFile.read(path, limit: 256 << 20).map {
        PackedReferences(path: path, $0.bytes)
      }
    } catch {
      return PackedReferences(path: path, "?".utf8)
    }
  }
}
