import CLinux
import Glibc
import Synchronization

/// The terminal in full-screen mode. Its previous state is restored however the process ends.
package final class TerminalSession {
  private let isColored: Bool
  private var saved = termios()
  private var isActive = false
  /// True if the terminal reports key releases.
  package private(set) var seesReleases = false
  private var guardian: Guardian?
  private var shown: [String] = []
  /// The time since the last complete repaint.
  private var repainted = ElapsedTime()

  /// The time after which all lines are sent again, in milliseconds: other programs may have written over them.
  private static let repaintInterval: Int64 = 2000

  /// Returns nil if standard input or output is not a terminal.
  package init?(isColored: Bool) {
    guard isatty(STDIN_FILENO) == 1, isatty(STDOUT_FILENO) == 1,
      tcgetattr(STDIN_FILENO, &saved) == 0
    else { return nil }
    self.isColored = isColored
  }

  /// The sequence that opens the alternate screen and hides the cursor.
  private static let enter = "\u{1B}[?1049h" + hideCursor
  private static let hideCursor = "\u{1B}[?25l"
  /// The sequence that undoes `enter`.
  fileprivate static let leave =
    "\u{1B}[0m\u{1B}[?2004l\u{1B}[?1006l\u{1B}[?1000l\u{1B}[?25h\u{1B}[?1049l"
  /// The sequence that requests reports of the mouse, and marks around pasted text.
  private static let reports = "\u{1B}[?1000h\u{1B}[?1006h\u{1B}[?2004h"

  /// Enters full-screen mode.
  package func begin() {
    Signals.install()
    guardian = Guardian()
    takeOver()
    // A terminal with the Kitty keyboard protocol replies to the first query, every terminal to the second. Keys that
    // were typed before are dropped, as they were not meant for this screen.
    Console.write("\u{1B}[?u\u{1B}[c")
    var reader = KeyReader()
    var waited = 0
    while waited < 300 {
      for event in reader.read(read(milliseconds: 20)) {
        if case .keyboardFlags = event { seesReleases = true }
        if event == .attributes { waited = 300 }
      }
      waited += 20
    }
    // Request keys as sequences, with repeats and releases.
    if seesReleases { Console.write("\u{1B}[>11u") }
  }

  private func takeOver() {
    var raw = saved
    cfmakeraw(&raw)
    // Raw mode is for input only; output is positioned line by line.
    raw.c_oflag = saved.c_oflag
    tcsetattr(STDIN_FILENO, TCSADRAIN, &raw)
    Console.write(TerminalSession.enter)
    isActive = true
    shown = []
  }

  /// Begins or ends the input of text, for which a terminal that reports keys as sequences reports characters instead.
  package func readText(_ isOn: Bool) {
    if seesReleases { Console.write(isOn ? "\u{1B}[<u" : "\u{1B}[>11u") }
  }

  // MARK: A screen of cells

  /// Enters full-screen mode for a screen that is written with `write(_:)`, with reports of the mouse and of pasted text.
  package func beginScreen() {
    Signals.install()
    guardian = Guardian()
    takeOver()
    Console.write(TerminalSession.reports)
  }

  /// Gives the terminal to another program, in its normal state.
  package func pause() {
    guard isActive else { return }
    Console.write(TerminalSession.leave)
    tcsetattr(STDIN_FILENO, TCSADRAIN, &saved)
  }

  /// Takes the terminal back after `pause()`.
  package func resume() {
    guard isActive else { return }
    // Keys that interrupt the other program are not meant for this one.
    Signals.forgetInterrupts()
    takeOver()
    Console.write(TerminalSession.reports)
  }

  /// Writes bytes to the terminal.
  package func write(_ bytes: [UInt8]) { if !bytes.isEmpty { Console.write(bytes) } }

  /// A descriptor that can be read after a signal, also one about the size.
  package var signalDescriptor: Int32 { Signals.descriptor }

  /// Makes `signalDescriptor` unreadable until the next signal.
  package func drainSignals() { Signals.drain() }

  /// Returns true once after the process was stopped and continued. It then has the terminal again.
  package func wasContinued() -> Bool {
    guard Signals.wasContinued() else { return false }
    if isActive { resume() }
    return true
  }

  /// Leaves full-screen mode and restores the terminal.
  package func end() {
    guard isActive else { return }
    isActive = false
    Console.write((seesReleases ? "\u{1B}[<u" : "") + TerminalSession.leave)
    tcsetattr(STDIN_FILENO, TCSADRAIN, &saved)
    guardian?.dismiss()
    guardian = nil
  }

  /// The size in columns and rows; 80 by 24 if it is unknown.
  package var size: (columns: Int, rows: Int) {
    var size = winsize()
    guard ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0, size.ws_row > 0
    else { return (80, 24) }
    return (Int(size.ws_col), Int(size.ws_row))
  }

  /// Shows lines that fill the screen. Unchanged lines are sent again after some seconds only.
  package func show(_ lines: [String]) {
    // The shell had the terminal while the process was stopped.
    if Signals.wasContinued() { takeOver() }
    if shown.count != lines.count {
      shown = []
      Console.write((isColored ? Style.black : "") + "\u{1B}[2J")
    }
    let isDue = repainted.milliseconds >= TerminalSession.repaintInterval
    if isDue { repainted = ElapsedTime() }
    // A shell that wrote here may have shown the cursor.
    var text = isDue ? TerminalSession.hideCursor : ""
    for (row, line) in lines.enumerated() where isDue || shown.isEmpty || shown[row] != line {
      text += "\u{1B}[\(row + 1);1H" + (isColored ? Style.black : "") + line
    }
    if !text.isEmpty { Console.write(text) }
    shown = lines
  }

  /// Returns the bytes typed within a time, or no bytes at its end.
  package func read(milliseconds: Int) -> [UInt8] {
    var poll = pollfd(fd: STDIN_FILENO, events: Int16(POLLIN), revents: 0)
    guard Glibc.poll(&poll, 1, Int32(milliseconds)) > 0 else { return [] }
    var buffer = [UInt8](repeating: 0, count: 1024)
    let count = Glibc.read(STDIN_FILENO, &buffer, buffer.count)
    // The terminal was closed.
    if count == 0 || (count < 0 && errno == EIO) { Signals.hangUp() }
    return count > 0 ? Array(buffer.prefix(count)) : []
  }

  /// The signal that asks the process to end; nil if none was received.
  package var endingSignal: Int32? { Signals.ending }
}

/// The signals received, for the event loop to poll.
private enum Signals {
  // Lock-free, as signal handlers write them on any thread.
  private static let received = Atomic<Int32>(0)
  private static let continued = Atomic<Bool>(false)

  static var ending: Int32? {
    let number = received.load(ordering: .relaxed)
    return number == 0 ? nil : number
  }

  /// The ends of a pipe with a byte for each signal.
  private static let pipe: (read: Int32, write: Int32) = {
    var ends: [Int32] = [-1, -1]
    _ = pipe2(&ends, O_CLOEXEC | O_NONBLOCK)
    return (ends[0], ends[1])
  }()

  /// A descriptor that can be read after a signal.
  static var descriptor: Int32 { pipe.read }

  static func drain() {
    var buffer: UInt64 = 0
    while read(pipe.read, &buffer, 8) > 0 {}
  }

  private static func wake() {
    let number = errno
    var byte: UInt8 = 1
    _ = write(pipe.write, &byte, 1)
    errno = number
  }

  static func install() {
    // Initializes the static variables before a handler can access them.
    received.store(0, ordering: .relaxed)
    continued.store(false, ordering: .relaxed)
    _ = pipe
    for number in [SIGINT, SIGTERM, SIGHUP, SIGQUIT] {
      signal(number) {
        Signals.received.store($0, ordering: .relaxed)
        Signals.wake()
      }
    }
    signal(SIGCONT) { _ in
      Signals.continued.store(true, ordering: .relaxed)
      Signals.wake()
    }
    signal(SIGWINCH) { _ in Signals.wake() }
  }

  static func forgetInterrupts() {
    let number = received.load(ordering: .relaxed)
    if number == SIGINT || number == SIGQUIT { received.store(0, ordering: .relaxed) }
  }

  static func hangUp() { received.store(SIGHUP, ordering: .relaxed) }

  static func wasContinued() -> Bool { continued.exchange(false, ordering: .relaxed) }
}

/// A process that restores the terminal if this one is killed.
///
/// It waits for the end of a pipe. The line `done` before it means that this process has restored the terminal.
private final class Guardian {
  private let pipe: Int32

  private static let script = """
    trap '' INT QUIT HUP TERM TSTP TTOU
    IFS= read -r word <&3
    [ "$word" = done ] && exit 0
    printf '%s' "$2"
    # A shell that is in the foreground again has already restored its own settings.
    read -r process < /proc/$$/stat
    set -- "$1" ${process##*) }
    [ "$4" != "$7" ] || stty "$1"
    """

  /// Returns nil if the process cannot be started. Only a kill then leaves the terminal unrestored.
  init?() {
    var ends: [Int32] = [0, 0]
    guard pipe2(&ends, O_CLOEXEC) == 0 else { return nil }
    pipe = ends[1]
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    posix_spawn_file_actions_adddup2(&actions, ends[0], 3)
    // `\u{1B}[<u` resets the keyboard flags. Terminals without them ignore it.
    let command = [
      "sh", "-c", Guardian.script, "belfry-guardian", Guardian.settings(),
      "\u{1B}[<u" + TerminalSession.leave,
    ]
    var arguments = command.map { strdup($0) } + [nil]
    defer { for argument in arguments { free(argument) } }
    var process = pid_t()
    let code = posix_spawn(&process, "/bin/sh", &actions, nil, &arguments, environ)
    close(ends[0])
    if code != 0 {
      close(ends[1])
      return nil
    }
  }

  /// Returns the terminal's settings in the form of `stty -g`, or `sane` if they cannot be read.
  private static func settings() -> String {
    guard let stream = popen("stty -g", "r") else { return "sane" }
    defer { pclose(stream) }
    var buffer = [CChar](repeating: 0, count: 512)
    guard fgets(&buffer, Int32(buffer.count), stream) != nil else { return "sane" }
    let text = String(
      decoding: buffer.prefix { $0 != 0 && $0 != 10 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
    return text.isEmpty ? "sane" : text
  }

  /// Ends the process without restoring the terminal.
  func dismiss() {
    _ = Array("done\n".utf8).withUnsafeBytes { write(pipe, $0.baseAddress, $0.count) }
    close(pipe)
  }
}
