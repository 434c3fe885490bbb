import Glibc

/// Reads the entries of a folder's listing.
public enum FolderEntry {
  /// Returns the bytes of an entry's name, without the final zero. They are valid until the next `readdir`.
  ///
  /// An entry is only as long as its name. A copy of `d_name` has 256 bytes, and can exceed the memory of the listing,
  /// which ends the process.
  public static func name(_ entry: UnsafePointer<dirent>) -> UnsafeBufferPointer<UInt8> {
    guard let offset = MemoryLayout<dirent>.offset(of: \.d_name) else {
      preconditionFailure("d_name is a stored property of an imported structure.")
    }
    let name = UnsafeRawPointer(entry) + offset
    let length = strlen(name.assumingMemoryBound(to: CChar.self))
    return UnsafeBufferPointer(start: name.assumingMemoryBound(to: UInt8.self), count: length)
  }
}
