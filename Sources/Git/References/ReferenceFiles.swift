import Files
import Glibc

/// The files that hold a repository's references, read without libgit2.
public enum ReferenceFiles {
  /// Returns the commit of a reference, from its own file or from the packed references. Nil if there is none.
  ///
  /// - Parameters:
  ///   - name: The full name of the reference, such as `refs/heads/main`.
  ///   - folder: The folder that contains `refs`.
  public static func read(_ name: String, in folder: String) -> ObjectID? {
    if let line = DurableFile.firstLine(of: "\(folder)/\(name)") {
      return ObjectID(hexadecimal: line)
    }
    guard let packed = (try? DurableFile.read("\(folder)/packed-refs", limit: 64 << 20)) ?? nil
    else { return nil }
    // A line is `<40 digits> refs/heads/main`.
    let digits = 2 * ObjectID.byteCount
    let ending = Array(" \(name)".utf8)
    return packed.bytes.withUnsafeBufferPointer { bytes -> ObjectID? in
      guard let start = bytes.baseAddress else { return nil }
      var position = 0
      while position < bytes.count {
        let found = memchr(start + position, Int32(UInt8(ascii: "\n")), bytes.count - position)
        let end = found.map { UnsafeRawPointer($0) - UnsafeRawPointer(start) } ?? bytes.count
        if end - position == digits + ending.count,
          memcmp(start + position + digits, ending, ending.count) == 0
        {
          return ObjectID(
            hexadecimal: String(decoding: bytes[position..<(position + digits)], as: UTF8.self))
        }
        position = end + 1
      }
      return nil
    }
  }
}
