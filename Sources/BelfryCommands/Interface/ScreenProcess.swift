import BelfryTerminal
import CLinux
import Glibc

/// A program without a terminal, whose output is collected.
///
/// It uses no concurrency of Swift: the monitor of its threads would wake each second for as long as the full screen is open.
struct ScreenProcess {
  /// The end of a program.
  enum Outcome {
    /// It has ended by itself. Standard output, and standard error.
    case ended(status: Int32, output: String, error: String)
    case timedOut
    /// The reason why it could not be started.
    case failed(String)
  }

  private let process: pid_t
  private let output: Int32
  private let error: Int32
  private var texts: [Int32: [UInt8]] = [:]

  /// The greatest size of an output, in bytes. The rest is left out.
  private static let maxBytes = 4 << 20
  /// The time between two looks at a program whose output stays open, in milliseconds: it may have left another one behind.
  private static let interval: Int32 = 20

  /// Runs a program in a session of its own until it ends.
  ///
  /// - Parameters:
  ///   - seconds: The time after which it is killed.
  static func run(
    _ path: String, _ arguments: [String], environment: [String: String], seconds: Int64
  ) -> Outcome {
    let (out, err) = (pipe(), pipe())
    defer { for end in [out.read, err.read] { close(end) } }
    var actions = posix_spawn_file_actions_t()
    var attributes = posix_spawnattr_t()
    posix_spawn_file_actions_init(&actions)
    posix_spawnattr_init(&attributes)
    defer {
      posix_spawn_file_actions_destroy(&actions)
      posix_spawnattr_destroy(&attributes)
    }
    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0)
    posix_spawn_file_actions_adddup2(&actions, out.write, STDOUT_FILENO)
    posix_spawn_file_actions_adddup2(&actions, err.write, STDERR_FILENO)
    var signals = sigset_t()
    sigfillset(&signals)
    posix_spawnattr_setsigdefault(&attributes, &signals)
    sigemptyset(&signals)
    posix_spawnattr_setsigmask(&attributes, &signals)
    posix_spawnattr_setflags(
      &attributes,
      Int16(POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK) | ScreenProcess.newSession)
    var words = ([path] + arguments).map { strdup($0) } + [nil]
    var variables = environment.map { strdup("\($0.key)=\($0.value)") } + [nil]
    defer { for text in words + variables { free(text) } }
    var process = pid_t()
    let code = posix_spawn(&process, path, &actions, &attributes, &words, &variables)
    for end in [out.write, err.write] { close(end) }
    if code != 0 { return .failed(String(cString: strerror(code))) }
    var running = ScreenProcess(process: process, output: out.read, error: err.read)
    return running.wait(seconds: seconds)
  }

  /// `POSIX_SPAWN_SETSID`.
  private static let newSession: Int16 = 0x80

  private init(process: pid_t, output: Int32, error: Int32) {
    self.process = process
    self.output = output
    self.error = error
  }

  private static func pipe() -> (read: Int32, write: Int32) {
    var ends: [Int32] = [-1, -1]
    _ = pipe2(&ends, O_CLOEXEC)
    return (ends[0], ends[1])
  }

  private mutating func wait(seconds: Int64) -> Outcome {
    let started = ElapsedTime()
    var open = [output, error]
    var status: Int32?
    while status == nil, !open.isEmpty {
      if started.milliseconds > seconds * 1000 {
        kill(-process, SIGKILL)
        _ = ended(0)
        return .timedOut
      }
      read(&open, milliseconds: ScreenProcess.interval)
      status = open.isEmpty ? nil : ended(WNOHANG)
    }
    // What was written before the end is still in the pipes.
    if status != nil { read(&open, milliseconds: 0) }
    let code = status ?? ended(0) ?? 1
    func text(_ file: Int32) -> String { String(decoding: texts[file] ?? [], as: UTF8.self) }
    return .ended(
      status: code & 0x7F == 0 ? code >> 8 & 0xFF : 128 + (code & 0x7F), output: text(output),
      error: text(error))
  }

  /// Returns the status of the program if it has ended.
  private func ended(_ options: Int32) -> Int32? {
    var status: Int32 = 0
    while true {
      let result = waitpid(process, &status, options)
      if result == process { return status }
      if result == 0 || errno != EINTR { return nil }
    }
  }

  /// Reads what there is, within a time for the first part. Files that have ended are removed.
  private mutating func read(_ open: inout [Int32], milliseconds: Int32) {
    var buffer = [UInt8](repeating: 0, count: 1 << 16)
    var polled = open.map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
    var timeout = milliseconds
    while !polled.isEmpty, poll(&polled, nfds_t(polled.count), timeout) > 0 {
      timeout = 0
      for item in polled where item.revents != 0 {
        let count = Glibc.read(item.fd, &buffer, buffer.count)
        let known = texts[item.fd]?.count ?? 0
        if count > 0 {
          texts[item.fd, default: []] += buffer.prefix(
            min(count, max(0, ScreenProcess.maxBytes - known)))
        } else {
          open.removeAll { $0 == item.fd }
        }
      }
      polled = open.map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
    }
  }
}
