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
    all(with: text, in: file).first
  }

  /// Kills all other processes whose file contains a text. Returns the number and the arguments of each of them.
  public static func kill(with text: String, in file: File) -> [String] {
    all(with: text, in: file).map { process in
      let words = contents(of: .arguments, of: process).split(separator: 0)
      Glibc.kill(process, SIGKILL)
      return
        "\(process) \(words.map { String(decoding: $0, as: UTF8.self) }.joined(separator: " "))"
    }
  }

  /// Returns the other processes whose file contains a text.
  private static func all(with text: String, in file: File) -> [pid_t] {
    guard let folder = opendir("/proc") else { return [] }
    defer { closedir(folder) }
    let pattern = Array(text.utf8)
    var processes: [pid_t] = []
    while let entry = readdir(folder) {
      let name = withUnsafePointer(to: &entry.pointee.d_name) {
        $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
      }
      guard let process = pid_t(name), process != getpid() else { continue }
      if contents(of: file, of: process).firstRange(of: pattern) != nil {
        processes.append(process)
      }
    }
    return processes
  }

  /// Returns the first 256 kB of a process's file. The file of an ended process is empty or cannot be opened.
  private static func contents(of file: File, of process: pid_t) -> [UInt8] {
    let descriptor = open("/proc/\(process)/\(file.rawValue)", O_RDONLY | O_CLOEXEC)
    if descriptor < 0 { return [] }
    defer { close(descriptor) }
    return [UInt8](unsafeUninitializedCapacity: 1 << 18) { buffer, count in
      count = max(0, read(descriptor, buffer.baseAddress, buffer.count))
    }
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
