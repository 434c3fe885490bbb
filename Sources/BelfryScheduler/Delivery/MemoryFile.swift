import CLinux
import Glibc
import SystemPackage

/// Files in memory, for what is handed to another process: one that does not read it must not matter to
/// who writes it.
enum MemoryFile {
  /// An open file that holds some bytes, to be read from its beginning; nil with `errno`.
  static func holding(_ bytes: [UInt8]) -> FileDescriptor? {
    let descriptor = memfd_create("belfry", 1)  // MFD_CLOEXEC
    guard descriptor >= 0 else { return nil }
    guard write(descriptor, bytes, bytes.count) == bytes.count, lseek(descriptor, 0, SEEK_SET) == 0
    else {
      close(descriptor)
      return nil
    }
    return FileDescriptor(rawValue: descriptor)
  }

  /// Why the last call failed, in the system's words.
  static var reason: String { String(cString: strerror(errno)) }
}
