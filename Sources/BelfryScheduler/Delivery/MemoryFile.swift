import CLinux
import Glibc
import SystemPackage

/// Files in memory, for the input of other processes. Unlike a pipe, a file does not block the writer if the process
/// does not read.
enum MemoryFile {
  /// Returns an open file with some bytes, positioned at its start; nil on failure, with `errno`.
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

  /// The system's message for `errno`.
  static var lastError: String { String(cString: strerror(errno)) }
}
