import Glibc

/// The processes of this machine.
public enum ProcessTable {
  /// The files in `/proc/PID` that name a process.
  public enum File: String {
    /// The arguments, each with a zero byte at its end.
    case arguments = "cmdline"
    /// The environment variables, each with a zero byte at its end.
    case environment = "environ"
  }

  /// Returns the first other process whose file contains a text.
  public static func first(with text: String, in file: File) -> pid_t? {
    guard let folder = opendir("/proc") else { return nil }
    defer { closedir(folder) }
    var buffer = [UInt8](repeating: 0, count: 1 << 18)
    let pattern = Array(text.utf8)
    while let entry = readdir(folder) {
      let name = withUnsafePointer(to: &entry.pointee.d_name) {
        $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
      }
      guard let process = pid_t(name), process != getpid() else { continue }
      // The file of an ended process is empty or cannot be opened.
      let descriptor = open("/proc/\(name)/\(file.rawValue)", O_RDONLY | O_CLOEXEC)
      if descriptor < 0 { continue }
      defer { close(descriptor) }
      let count = read(descriptor, &buffer, buffer.count)
      if count > 0, buffer[..<count].firstRange(of: pattern) != nil { return process }
    }
    return nil
  }

  /// Waits up to a minute until the file of no other process contains a text. Returns false if one still does.
  public static func waitUntilNone(has text: String, in file: File) async throws -> Bool {
    let end = ContinuousClock.now.advanced(by: .seconds(60))
    var pause = Duration.milliseconds(50)
    while first(with: text, in: file) != nil {
      if ContinuousClock.now > end { return false }
      try await Task.sleep(for: pause)
      pause = min(pause * 2, .milliseconds(500))
    }
    return true
  }
}
