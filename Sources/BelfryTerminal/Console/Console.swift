import BelfryCore
import Git
import Glibc
import Synchronization

/// Standard output and standard error.
package enum Console {
  /// Writes text to standard output as it is.
  package static func write(_ text: String) {
    var text = text
    text.withUTF8 { write(UnsafeRawBufferPointer($0)) }
  }

  /// Writes a line to standard output, wrapped to the width of the terminal.
  package static func line(_ text: String) { write(wrapped(text, for: STDOUT_FILENO) + "\n") }

  /// Returns a line wrapped to the width of the terminal on standard output.
  package static func fitted(_ line: String) -> String { wrapped(line, for: STDOUT_FILENO) }

  private static func wrapped(_ text: String, for descriptor: Int32) -> String {
    guard let columns = Style.width(descriptor), !text.contains("\u{1B}") else { return text }
    return text.split(separator: "\n", omittingEmptySubsequences: false).map { line in
      guard TextWidth.of(String(line)) > columns else { return String(line) }
      let indent = String(line.prefix { $0 == " " })
      // The further lines of a numbered step stand below its text.
      let number = line.dropFirst(indent.count).prefix { $0.isASCII && $0.isNumber }
      let isStep = !number.isEmpty && line[number.endIndex...].hasPrefix(". ")
      let further = isStep ? indent + String(repeating: " ", count: number.count + 2) : indent
      return indent
        + TextWidth.wrapped(String(line), to: max(8, columns - further.count))
        .joined(separator: "\n" + further)
    }.joined(separator: "\n")
  }

  package static func write(_ bytes: [UInt8]) { bytes.withUnsafeBytes { write($0) } }

  private static func write(_ bytes: UnsafeRawBufferPointer) {
    let outcome = pager.withLock { $0?.write(bytes) } ?? .notPaged
    switch outcome {
    case .accepted: return
    case .ended(let status): _exit(pagerFailed(status) ? 1 : 0)
    case .notPaged: break
    }
    if send(bytes, to: STDOUT_FILENO) { return }
    // The reader has closed the pipe, as `| head` does. That is no error.
    if errno == EPIPE { _exit(0) }
    error("error: could not write the output: \(String(cString: strerror(errno))).")
    _exit(1)
  }

  // MARK: The pager

  private static let pager = Mutex<Pager?>(nil)

  /// Shows the output from now on in a pager if it is longer than the screen. Does nothing if standard output is not a
  /// terminal.
  ///
  /// - Parameter command: Returns the shell command of the pager; nil for none.
  package static func page(_ command: @escaping @Sendable () -> String?) {
    guard let size = Style.size(STDOUT_FILENO) else { return }
    // The last line is for the prompt of the shell.
    pager.withLock { $0 = Pager(rows: size.rows - 1, command: command) }
  }

  /// Writes the rest of the output, and waits until the user leaves the pager.
  ///
  /// - Returns: False if the pager could not be started.
  @discardableResult
  package static func endPaging() -> Bool {
    let status = pager.withLock { pager in
      defer { pager = nil }
      return pager?.finish() ?? nil
    }
    return status.map { !pagerFailed($0) } ?? true
  }

  /// Reports a pager that the shell has not found, or could not run.
  private static func pagerFailed(_ status: Int32) -> Bool {
    guard status == 126 || status == 127 else { return false }
    _ = pager.withLock { $0 = nil }
    error("error: the pager could not be started.")
    error("hint: Correct BELFRY_PAGER, core.pager of git, or PAGER; or add --no-pager.")
    return true
  }

  /// Writes a line to standard output, and goes on if nobody reads it.
  package static func report(_ line: String) {
    _ = Array("\(line)\n".utf8).withUnsafeBytes { send($0, to: STDOUT_FILENO) }
  }

  /// Writes a message to standard error, with the credentials of URLs masked. On a terminal with colors, the kind of a
  /// diagnostic is in color: `error:`, `warning:`, `hint:`.
  package static func error(_ line: String) {
    let text = wrapped(whole(URLMask.masked(line)), for: STDERR_FILENO).replacing(glue, with: " ")
    let bytes = Array((diagnostic(text, isColored: errorsAreColored) + "\n").utf8)
    // A message on the same terminal would be written over the screen of the pager.
    if pager.withLock({ $0?.isRunning == true }), isatty(STDERR_FILENO) == 1 {
      return write(bytes)
    }
    // A failure cannot be reported, as this is standard error.
    _ = bytes.withUnsafeBytes { send($0, to: STDERR_FILENO) }
  }

  private static let colorOfErrors = Mutex<ColorChoice>(.auto)

  /// Chooses the colors of diagnostics. By default, they are in color on a terminal.
  package static func colorErrors(_ choice: ColorChoice) {
    colorOfErrors.withLock { $0 = choice }
  }

  /// True if diagnostics are in color. By default, that is the case if standard error is a terminal with colors, whatever
  /// standard output is.
  private static var errorsAreColored: Bool {
    func variable(_ name: String) -> String { getenv(name).map { String(cString: $0) } ?? "" }
    switch colorOfErrors.withLock({ $0 }) {
    case .always: return true
    case .never: return false
    case .auto:
      return isatty(STDERR_FILENO) == 1
        && Style.allowsColor(noColor: variable("NO_COLOR"), terminal: variable("TERM"))
    }
  }

  /// Returns a diagnostic with its kind in color.
  package static func diagnostic(_ text: String, isColored: Bool) -> String {
    guard isColored, !text.contains("\u{1B}") else { return text }
    let kinds: [(String, Style.Color)] = [
      ("error:", .red), ("warning:", .yellow), ("hint:", .cyan),
    ]
    guard let (kind, color) = kinds.first(where: { text.hasPrefix($0.0 + " ") }) else {
      return text
    }
    return Style(isColored: true, width: nil).paint(kind, color) + text.dropFirst(kind.count)
  }

  /// A character in place of a space at which no line is broken.
  private static let glue = "\u{E000}"

  /// Returns a message in which a command at its end stays on one line.
  private static func whole(_ line: String) -> String {
    guard let start = line.ranges(of: ": belfry ").last?.lowerBound else { return line }
    let command = line[start...].dropFirst(2)
    guard command.utf8.count <= longestWhole, !command.contains("\n") else { return line }
    return line[..<start] + ": " + command.replacing(" ", with: glue)
  }

  /// The length up to which a command stays on one line.
  private static let longestWhole = 38

  /// Replaces the current line of the terminal on standard error.
  package static func overwrite(_ text: String) {
    _ = Array("\r\u{1B}[K\(text)".utf8).withUnsafeBytes { send($0, to: STDERR_FILENO) }
  }

  /// Writes a yes-no question to standard error. The cursor stays behind it.
  package static func prompt(_ question: String) {
    let text = wrapped("\(question) [y/N]", for: STDERR_FILENO)
    _ = Array("\(text) ".utf8).withUnsafeBytes { send($0, to: STDERR_FILENO) }
  }

  /// Writes a question to standard error, and returns the next line of standard input; nil if there is none.
  package static func answer(to question: String) -> String? {
    _ = Array("\(wrapped(question, for: STDERR_FILENO)) ".utf8).withUnsafeBytes {
      send($0, to: STDERR_FILENO)
    }
    return readLine()
  }

  /// Returns true if the next line of standard input is `y` or `yes`.
  package static func confirmed() -> Bool {
    readLine().map { ["y", "yes"].contains($0.lowercased()) } ?? false
  }

  static func send(_ bytes: UnsafeRawBufferPointer, to descriptor: Int32) -> Bool {
    var sent = 0
    while sent < bytes.count {
      let count = Glibc.write(descriptor, bytes.baseAddress! + sent, bytes.count - sent)
      if count < 0, errno == EINTR { continue }
      if count < 0 { return false }
      sent += count
    }
    return true
  }
}

/// Untrusted text, made safe for a terminal.
package enum Printable {
  /// Returns a text in which control characters, bidirectional controls and invisible characters are replaced by their
  /// code points, such as `\u{ad}`.
  package static func text(_ text: String) -> String {
    // A fast path, as most text is plain ASCII.
    if text.utf8.allSatisfy({ $0 >= 0x20 && $0 < 0x7F }) { return text }
    let scalars = Array(text.unicodeScalars)
    let invisible = Set(AlarmText.invisible(in: scalars))
    guard !invisible.isEmpty || scalars.contains(where: \.isHidden) else { return text }
    var result = ""
    for (index, scalar) in scalars.enumerated() {
      if scalar.isHidden || invisible.contains(index) {
        result += "\\u{\(String(scalar.value, radix: 16))}"
      } else {
        result.unicodeScalars.append(scalar)
      }
    }
    return result
  }
}
