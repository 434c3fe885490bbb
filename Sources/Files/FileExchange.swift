import CLinux
import Glibc

/// The replacement of a file that keeps the replaced version, whichever version that is at that moment.
///
/// A plain rename removes the version that it replaces, which another program may have written a moment ago.
public enum FileExchange {
  /// The flags of `renameat2`, from `linux/fs.h`.
  private enum Flag {
    /// Fail if the new name exists.
    static let noReplace: UInt32 = 1
    /// Exchange the two files.
    static let exchange: UInt32 = 2
  }

  /// The number of attempts if another program creates and removes the file at the same time.
  private static let maxAttempts = 100

  /// Writes a file, and keeps the version that it replaces.
  ///
  /// - Parameters:
  ///   - bytes: The new content.
  ///   - path: The file.
  ///   - aside: The path that the replaced version gets. The new content is written there first.
  /// - Returns: The new file's status with the content `bytes`, also if another program has changed it since, and true if
  ///   there was a file before, which is at `aside` now.
  public static func replace(
    _ path: String, with bytes: [UInt8], aside: String
  ) throws(FileError) -> (status: stat, hadFile: Bool) {
    let file = try create(aside)
    do throws(FileError) {
      try DurableFile.fill(file.number, bytes, aside)
      let filled = try file.status(aside)
      guard let hadFile = try place(aside, at: path) else {
        return try replaceInSteps(path, with: bytes, aside: aside)
      }
      // The rename has set the change time.
      let status = try file.status(path)
      let isUnchanged = FileSignature(status).hasContent(of: FileSignature(filled))
      return (isUnchanged ? status : filled, hadFile)
    } catch {
      _ = unlink(aside)
      throw error
    }
  }

  /// Exchanges two files on the same file system. Returns false, with `errno`, if that is not possible.
  public static func exchange(_ one: String, _ other: String) -> Bool {
    renameat2(AT_FDCWD, one, AT_FDCWD, other, Flag.exchange) == 0
  }

  private static func create(_ path: String) throws(FileError) -> Descriptor {
    let flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW
    do throws(FileError) {
      return try Descriptor(path, flags)
    } catch  where error.number == EEXIST {
      _ = unlink(path)
      return try Descriptor(path, flags)
    }
  }

  /// Gives a file its final name. A file that has the name gets the present one.
  ///
  /// - Returns: True if there was such a file; nil if the file system supports this only in steps, and nothing was done.
  public static func place(_ file: String, at path: String) throws(FileError) -> Bool? {
    for _ in 0..<maxAttempts {
      if exchange(file, path) { return true }
      guard errno == ENOENT else { break }
      if renameat2(AT_FDCWD, file, AT_FDCWD, path, Flag.noReplace) == 0 { return false }
      guard errno == EEXIST else { break }
    }
    guard [EINVAL, ENOSYS, EXDEV, ENOTSUP].contains(errno) else { throw FileError("write", path) }
    return nil
  }

  /// Writes a file where two files cannot be exchanged: on some network file systems, or if `aside` is on another file
  /// system. A version that another program writes between the two steps is lost.
  private static func replaceInSteps(
    _ path: String, with bytes: [UInt8], aside: String
  ) throws(FileError) -> (status: stat, hadFile: Bool) {
    let hadFile = try DurableFile.keep(path, as: aside)
    if !hadFile { _ = unlink(aside) }
    let status = try DurableFile.write(bytes, to: path, temporary: aside + "~", syncing: false)
    return (status, hadFile)
  }
}
