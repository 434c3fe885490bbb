import Glibc

/// The metadata of a file that change whenever its content does.
public struct FileSignature: Hashable, Sendable {
  /// The size in bytes.
  public var size: Int64
  /// The time of the last change of the content, in nanoseconds since the epoch.
  public var modified: Int64
  /// The time of the last change of the metadata, in nanoseconds since the epoch.
  public var changed: Int64
  /// The inode number.
  public var inode: UInt64

  /// Creates the signature of a file from its status.
  public init(_ status: stat) {
    size = Int64(status.st_size)
    modified = Int64(status.st_mtim.tv_sec) * 1_000_000_000 + Int64(status.st_mtim.tv_nsec)
    changed = Int64(status.st_ctim.tv_sec) * 1_000_000_000 + Int64(status.st_ctim.tv_nsec)
    inode = UInt64(status.st_ino)
  }

  /// Returns true if a file with this signature still has the content that it had with another one. A rename sets only
  /// the change time.
  public func hasContent(of other: FileSignature) -> Bool {
    size == other.size && modified == other.modified && inode == other.inode
  }

  /// Creates a signature that was recorded earlier.
  public init(size: Int64, modified: Int64, changed: Int64, inode: UInt64) {
    self.size = size
    self.modified = modified
    self.changed = changed
    self.inode = inode
  }
}
