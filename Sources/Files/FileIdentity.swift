import Glibc

/// A file or folder, whatever its path: the same one can have several, through links and bind mounts.
public struct FileIdentity: Hashable, Sendable {
  /// The device.
  public let device: UInt64
  /// The inode number.
  public let inode: UInt64

  /// Creates the identity of the file at a path; nil if it cannot be examined.
  public init?(_ path: String) {
    var status = stat()
    guard stat(path, &status) == 0 else { return nil }
    (device, inode) = (UInt64(status.st_dev), UInt64(status.st_ino))
  }
}
