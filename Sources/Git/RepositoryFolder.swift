import CLinux
import Glibc

/// The folder of another repository on this machine's file systems, read without libgit2.
public struct RepositoryFolder: Sendable {
  /// The path of the folder that contains `HEAD`.
  public let path: String

  /// Finds the folder of a repository as git does for the path of a remote. Returns nil if there is none.
  public init?(_ path: String) {
    let folders = ["/.git", "", ".git/.git", ".git"].map { path + $0 }
    let found = folders.first {
      access($0 + "/HEAD", F_OK) == 0 && access($0 + "/objects", F_OK) == 0
    }
    guard let found else { return nil }
    self.path = found
  }

  /// True if the references are files in this folder.
  public var hasFileReferences: Bool {
    access(path + "/reftable", F_OK) != 0 && access(path + "/commondir", F_OK) != 0
  }

  /// True if other machines may write to the folder's file system.
  public var isShared: Bool { RepositoryFolder.isShared(path) }

  /// Returns the commit of a branch, from its own file or from the packed references.
  public func head(of branch: String) -> ObjectID? {
    ReferenceFiles.read("refs/heads/\(branch)", in: path)
  }

  /// Returns true if other machines may write to a path's file system.
  public static func isShared(_ path: String) -> Bool {
    let kind = belfry_file_system(path)
    guard kind >= 0 else { return true }
    // NFS, SMB, CIFS, SMB2, FUSE, 9P, Ceph, AFS, GFS2, OCFS2, Lustre, and the shared folders of VirtualBox and VMware:
    // linux/magic.h and the file systems' own sources.
    switch UInt32(truncatingIfNeeded: kind) {
    case 0x6969, 0x517B, 0xFF53_4D42, 0xFE53_4D42, 0x6573_5546, 0x0102_1997, 0x00C3_6400,
      0x5346_414F, 0x0116_1970, 0x7461_636F, 0x0BD0_0BD0, 0x786F_4256, 0xBACB_ACBC:
      return true
    default: return false
    }
  }
}
