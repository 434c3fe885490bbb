import CLinux
import Glibc

/// The terminal in full-screen mode: it shows screens of cells, and reads keys. Its previous state is restored however
/// the process ends.
package final class TerminalSession {
  /// The reports that a screen needs beyond keys.
  package enum Reports: Sendable {
    /// Repeats and releases of keys, on terminals that report them.
    case holds
    /// The mouse, and marks around pasted text.
    case mouse
  }

  private let colors: TerminalColors
  private var reports = Reports.holds
  private var saved = termios()
  private var isActive = false
  /// True if the terminal reports key releases.
  package private(set) var seesReleases = false
  private var guardian: TerminalGuardian?
  private var decoder = InputDecoder()
  /// The screen that the terminal shows; nil if it is not known.
  private var shown: Buffer?
  /// The time since the last complete repaint.
  private var repainted = ElapsedTime()

  /// The time after which a lone escape is the key, in milliseconds.
  private static let escapeTime = 25
  /// The time for which a terminal may take to reply, in milliseconds.
  private static let replyTime: Int64 = 300
  /// The time between two looks at the replies, in milliseconds.
  private static let replyInterval = 20

  /// Returns nil if standard input or output is not a terminal.
  package init?(colors: TerminalColors) {
    guard isatty(STDIN_FILENO) == 1, isatty(STDOUT_FILENO) == 1,
      tcgetattr(STDIN_FILENO, &saved) == 0
    else { return nil }
    self.colors = colors
  }

  // MARK: The state of the terminal

  /// The sequence that opens the alternate screen and hides the cursor.
  private static let enter = "\u{1B}[?1049h\u{1B}[?25l"
  /// The sequence that undoes `enter` and the requests of reports. Terminals that do not know a part of it ignore it.
  static let leave =
    "\u{1B}[0m\u{1B}[r\u{1B}[?2004l\u{1B}[?1006l\u{1B}[?1000l\u{1B}[?25h\u{1B}[?1049l"
  private static let mouse = "\u{1B}[?1000h\u{1B}[?1006h\u{1B}[?2004h"
  /// The sequences that request keys as sequences, with repeats and releases, and as characters again.
  private static let holds = (on: "\u{1B}[>11u", off: "\u{1B}[<u")

  /// Enters full-screen mode.
  package func begin(_ reports: Reports) {
    self.reports = reports
    TerminalSignals.install()
    guardian = TerminalGuardian()
    takeOver()
    if reports == .holds { askForHolds() }
  }

  /// Finds out whether the terminal reports releases of keys.
  ///
  /// A terminal with the Kitty keyboard protocol replies to the first query, every terminal to the second. Keys that were
  /// typed before are dropped, as they were not meant for this screen.
  private func askForHolds() {
    Console.write("\u{1B}[?u\u{1B}[c")
    let asked = ElapsedTime()
    while asked.milliseconds < TerminalSession.replyTime {
      let events = read(milliseconds: TerminalSession.replyInterval).events
      if events.contains(where: { if case .keyboardFlags = $0 { true } else { false } }) {
        seesReleases = true
      }
      if events.contains(.attributes) { break }
    }
    if seesReleases { Console.write(TerminalSession.holds.on) }
  }

  private func takeOver() {
    var raw = saved
    cfmakeraw(&raw)
    // Raw mode is for input only.
    raw.c_oflag = saved.c_oflag
    tcsetattr(STDIN_FILENO, TCSADRAIN, &raw)
    Console.write(TerminalSession.enter + (reports == .mouse ? TerminalSession.mouse : ""))
    isActive = true
    shown = nil
  }

  /// Begins or ends the input of text, for which a terminal that reports keys as sequences reports characters instead.
  package func readText(_ isOn: Bool) {
    if seesReleases {
      Console.write(isOn ? TerminalSession.holds.off : TerminalSession.holds.on)
    }
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
    TerminalSignals.forgetInterrupts()
    takeOver()
  }

  /// Leaves full-screen mode and restores the terminal.
  package func end() {
    guard isActive else { return }
    isActive = false
    Console.write((seesReleases ? TerminalSession.holds.off : "") + TerminalSession.leave)
    tcsetattr(STDIN_FILENO, TCSADRAIN, &saved)
    guardian?.dismiss()
    guardian = nil
  }

  // MARK: Output

  /// The size; 80 by 24 if it is unknown.
  package var size: Size {
    var size = winsize()
    guard ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0, size.ws_row > 0
    else { return Size(80, 24) }
    return Size(Int(size.ws_col), Int(size.ws_row))
  }

  /// Shows a screen. Only cells that differ from the screen before are sent.
  ///
  /// - Parameter interval: The time after which all cells are sent again, in milliseconds, because other programs may have
  ///   written over them; nil to trust the terminal.
  package func show(_ screen: Buffer, repaintingAfter interval: Int64? = nil) {
    // The shell had the terminal while the process was stopped.
    if TerminalSignals.wasContinued() { takeOver() }
    let isDue = interval.map { repainted.milliseconds >= $0 } ?? false
    if isDue { repainted = ElapsedTime() }
    let bytes = BufferDifference.bytes(
      from: isDue ? nil : shown, to: screen, colors, clears: shown?.size != screen.size)
    if !bytes.isEmpty { Console.write(bytes) }
    shown = screen
  }

  /// Sends all cells with the next screen.
  package func forgetShown() { shown = nil }

  // MARK: Input

  /// The input of a moment.
  package struct Input: Sendable {
    package let events: [InputEvent]
    /// True if the terminal sent something, also a part of a sequence.
    package let hasBytes: Bool
  }

  /// Waits for input for a time. A lone escape is complete after a moment.
  package func read(milliseconds: Int) -> Input {
    let isWaiting = decoder.isWaiting
    let bytes = bytes(
      milliseconds: isWaiting ? min(milliseconds, TerminalSession.escapeTime) : milliseconds)
    return Input(
      events: bytes.isEmpty && isWaiting ? decoder.finish() : decoder.read(bytes),
      hasBytes: !bytes.isEmpty)
  }

  /// The longest time to wait before the next `read`, in milliseconds, if a sequence has begun; nil if none has.
  package var waitingTime: Int? { decoder.isWaiting ? TerminalSession.escapeTime : nil }

  private func bytes(milliseconds: Int) -> [UInt8] {
    var poll = pollfd(fd: STDIN_FILENO, events: Int16(POLLIN), revents: 0)
    guard Glibc.poll(&poll, 1, Int32(milliseconds)) > 0 else { return [] }
    var buffer = [UInt8](repeating: 0, count: 1024)
    let count = Glibc.read(STDIN_FILENO, &buffer, buffer.count)
    // The terminal was closed.
    if count == 0 || (count < 0 && errno == EIO) { TerminalSignals.hangUp() }
    return count > 0 ? Array(buffer.prefix(count)) : []
  }

  // MARK: Signals

  /// The signal that asks the process to end; nil if none was received.
  package var endingSignal: Int32? { TerminalSignals.ending }

  /// A descriptor that can be read after a signal, also one about the size.
  package var signalDescriptor: Int32 { TerminalSignals.descriptor }

  /// Makes `signalDescriptor` unreadable until the next signal.
  package func drainSignals() { TerminalSignals.drain() }
}
