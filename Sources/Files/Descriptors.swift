import Glibc

/// The process's limit of open file descriptors.
public enum Descriptors {
  /// Raises the number of files that this process may have open, as far as the system allows.
  ///
  /// A running hook needs three descriptors, so the usual limit of 1,024 is reached at about 300 alarms that ring
  /// together.
  public static func raiseLimit(to wanted: UInt = 65_536) {
    var limit = rlimit()
    let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
    guard getrlimit(resource, &limit) == 0, limit.rlim_cur < wanted else { return }
    limit.rlim_cur = min(wanted, limit.rlim_max)
    // If the system refuses, hooks that cannot be started are retried.
    _ = setrlimit(resource, &limit)
  }

  /// Checks that `count` more descriptors can be opened.
  ///
  /// Starting a process needs several at once, and Subprocess traps if one of them is missing.
  ///
  /// - Throws: `FileError` with `EMFILE`.
  public static func ensure(_ count: Int = 12) throws(FileError) {
    var opened: [Int32] = []
    defer { for number in opened { _ = close(number) } }
    for _ in 0..<count {
      let number =
        opened.first.map { fcntl($0, F_DUPFD_CLOEXEC, 0) }
        ?? Descriptor.open("/dev/null", O_RDONLY)
      guard number >= 0 else { throw FileError("open", "enough files to start a process") }
      opened.append(number)
    }
  }
}
