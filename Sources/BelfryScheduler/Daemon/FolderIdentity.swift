import Glibc

/// The identity of a folder on this machine.
struct FolderIdentity: Hashable, Sendable {
  /// The number of the file system.
  private let device: UInt64
  /// The number of the folder on it.
  private let inode: UInt64

  /// Creates the identity of a folder from its status.
  init(_ status: stat) {
    device = UInt64(status.st_dev)
    inode = UInt64(status.st_ino)
  }
}
