import CLinux
import Glibc

/// Output that a pager shows if it is longer than the screen.
///
/// The output is kept until it is longer. So short output, which is most of it, starts no process.
struct Pager {
  /// The state of a write.
  enum Outcome {
    /// The output is kept, or the pager has it.
    case accepted
    /// The caller writes the output itself.
    case notPaged
    /// The pager has ended, with its exit status.
    case ended(Int32)
  }

  private enum State {
    /// The output fits on the screen so far.
    case keeping([UInt8], lines: Int)
    /// The pager reads the descriptor.
    case running(process: pid_t, descriptor: Int32)
    /// There is no pager.
    case off
  }

  /// The number of lines of the screen that the output may fill.
  private let rows: Int
  /// Returns the shell command of the pager; nil for none.
  private let command: @Sendable () -> String?
  private var state = State.keeping([], lines: 0)

  init(rows: Int, command: @escaping @Sendable () -> String?) {
    self.rows = rows
    self.command = command
  }

  /// Keeps output, or passes it to the pager.
  mutating func write(_ bytes: UnsafeRawBufferPointer) -> Outcome {
    switch state {
    case .keeping(var kept, var lines):
      // No second copy of the array, which is appended to.
      state = .off
      kept.append(contentsOf: bytes)
      lines += bytes.count { $0 == UInt8(ascii: "\n") }
      state = .keeping(kept, lines: lines)
      return lines > rows ? start() : .accepted
    case .running(_, let descriptor):
      return Console.send(bytes, to: descriptor) ? .accepted : .ended(finish() ?? 0)
    case .off: return .notPaged
    }
  }

  /// Returns true while a pager has the terminal.
  var isRunning: Bool { if case .running = state { true } else { false } }

  /// Writes what is kept, or waits until the user leaves the pager. Returns the pager's exit status; nil without one.
  mutating func finish() -> Int32? {
    defer { state = .off }
    switch state {
    case .keeping(let kept, _):
      _ = kept.withUnsafeBytes { Console.send($0, to: STDOUT_FILENO) }
      return nil
    case .running(let process, let descriptor):
      close(descriptor)
      var status: Int32 = 0
      while waitpid(process, &status, 0) < 0, errno == EINTR {}
      return status & 0x7F == 0 ? (status >> 8) & 0xFF : 0
    case .off: return nil
    }
  }

  /// Starts the pager with the kept output.
  private mutating func start() -> Outcome {
    guard case .keeping(let kept, _) = state else { return .notPaged }
    guard let command = command(), let running = Pager.spawn(command) else {
      _ = finish()
      return .accepted
    }
    state = .running(process: running.process, descriptor: running.descriptor)
    // The pager handles these keys. Without this process it would stay in the background with the terminal in its mode.
    signal(SIGINT, SIG_IGN)
    signal(SIGQUIT, SIG_IGN)
    return kept.withUnsafeBytes { write($0) }
  }

  /// Starts a shell command that reads from a pipe.
  private static func spawn(_ command: String) -> (process: pid_t, descriptor: Int32)? {
    var ends: [Int32] = [0, 0]
    guard pipe2(&ends, O_CLOEXEC) == 0 else { return nil }
    defer { close(ends[0]) }
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    posix_spawn_file_actions_adddup2(&actions, ends[0], STDIN_FILENO)
    var attributes = posix_spawnattr_t()
    posix_spawnattr_init(&attributes)
    defer { posix_spawnattr_destroy(&attributes) }
    var signals = sigset_t()
    sigemptyset(&signals)
    for number in [SIGPIPE, SIGINT, SIGQUIT] { sigaddset(&signals, number) }
    posix_spawnattr_setsigdefault(&attributes, &signals)
    posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGDEF))
    let words = ["sh", "-c", command]
    var arguments = words.map { strdup($0) } + [nil]
    defer { for argument in arguments { free(argument) } }
    // As git does: quit if it fits on the screen, show colors, and leave the text on the screen.
    setenv("LESS", "FRX", 0)
    setenv("LV", "-c", 0)
    var process = pid_t()
    guard posix_spawn(&process, "/bin/sh", &actions, &attributes, &arguments, environ) == 0 else {
      close(ends[1])
      return nil
    }
    return (process, ends[1])
  }
}
