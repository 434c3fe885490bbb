import Glibc

/// git's file `packed-refs`, which holds many references, each on a line.
///
/// A single line of another form makes git and libgit2 refuse all references.
public struct PackedReferences: Sendable {
  /// The path of the file.
  public let path: String
  /// The number of lines that are not of the file's form.
  public let damagedLines: Int
  /// A file with the references of the others.
  public let mended: [UInt8]

  /// True if a line is no reference.
  public var isDamaged: Bool { damagedLines > 0 }

  /// Reads the content of a file.
  public init(path: String, _ bytes: some Sequence<UInt8>) {
    self.path = path
    let bytes = Array(bytes)
    var damaged = 0
    var kept: [UInt8] = []
    let lines = bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
    for (number, line) in lines.enumerated() {
      // The last line ends with a newline as well.
      if number == lines.count - 1, line.isEmpty { break }
      let isEnded = number < lines.count - 1
      if number == 0, line.first == UInt8(ascii: "#") { continue }
      if PackedReferences.isPeeled(line), isEnded { continue }
      if PackedReferences.isReference(line) {
        kept += line + [UInt8(ascii: "\n")]
        if isEnded { continue }
      }
      damaged += 1
    }
    damagedLines = damaged
    // Without the header nothing is promised of the order, and of what tags name.
    mended = kept
  }

  /// `<id> refs/heads/main`
  private static func isReference(_ line: ArraySlice<UInt8>) -> Bool {
    let digits = 2 * ObjectID.byteCount
    let name = line.dropFirst(digits + 1)
    return line.count > digits && line[line.startIndex + digits] == UInt8(ascii: " ")
      && isObject(line.prefix(digits)) && name.starts(with: "refs/".utf8)
      // What no reference's name may hold, except for names that git takes apart itself.
      && !name.contains { $0 <= 0x20 || $0 == 0x7F || "~^:?*[\\".utf8.contains($0) }
      && name.last != UInt8(ascii: "/")
  }

  /// `^<id>`: the object that the tag on the line before names.
  private static func isPeeled(_ line: ArraySlice<UInt8>) -> Bool {
    line.first == UInt8(ascii: "^") && isObject(line.dropFirst())
  }

  private static func isObject(_ digits: ArraySlice<UInt8>) -> Bool {
    ObjectID(hexadecimal: String(decoding: digits, as: UTF8.self)) != nil
  }
}

extension Repository {
  /// The file of packed references; nil when there is none. One that cannot be read counts as one damaged line.
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
