import BelfryCore
import Git
import Glibc

/// Standard output and standard error, in bytes.
enum Console {
  static func write(_ text: String) {
    var text = text
    text.withUTF8 { write(UnsafeRawBufferPointer($0)) }
  }

  /// A sentence or two, broken between words where the terminal ends.
  static func line(_ text: String) { write(broken(text, for: STDOUT_FILENO) + "\n") }

  /// A line for standard output, broken in the same way.
  static func fitted(_ line: String) -> String { broken(line, for: STDOUT_FILENO) }

  private static func broken(_ text: String, for descriptor: Int32) -> String {
    guard let columns = Style.width(descriptor), !text.contains("\u{1B}") else { return text }
    return text.split(separator: "\n", omittingEmptySubsequences: false).map { line in
      guard TextWidth.of(String(line)) > columns else { return String(line) }
      let indent = String(line.prefix { $0 == " " })
      return TextWidth.wrapped(String(line), to: max(8, columns - indent.count))
        .map { indent + $0 }.joined(separator: "\n")
    }.joined(separator: "\n")
  }

  static func write(_ bytes: [UInt8]) { bytes.withUnsafeBytes { write($0) } }

  private static func write(_ bytes: UnsafeRawBufferPointer) {
    if send(bytes, to: STDOUT_FILENO) { return }
    // Whoever read has gone (`| head`): nothing more to say. A full disk is another matter.
    if errno == EPIPE { _exit(0) }
    error("belfry: could not write the output: \(String(cString: strerror(errno))).")
    _exit(1)
  }

  /// Writes a message to standard error, without the credentials of URLs that it quotes.
  static func error(_ line: String) {
    let bytes = Array((broken(URLMask.masked(line), for: STDERR_FILENO) + "\n").utf8)
    // There is nobody to tell when standard error is gone.
    _ = bytes.withUnsafeBytes { send($0, to: STDERR_FILENO) }
  }

  /// Shows a text on the line that standard error's cursor is on, in place of what it shows.
  static func overwrite(_ text: String) {
    _ = Array("\r\u{1B}[K\(text)".utf8).withUnsafeBytes { send($0, to: STDERR_FILENO) }
  }

  /// Asks on standard error, and leaves the cursor behind the question.
  static func prompt(_ question: String) {
    let text = broken("\(question) [y/N]", for: STDERR_FILENO)
    _ = Array("\(text) ".utf8).withUnsafeBytes { send($0, to: STDERR_FILENO) }
  }

  /// Whether the next line of standard input says yes.
  static func confirmed() -> Bool {
    readLine().map { ["y", "yes"].contains($0.lowercased()) } ?? false
  }

  private static func send(_ bytes: UnsafeRawBufferPointer, to descriptor: Int32) -> Bool {
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

/// Text of somebody else's on a terminal.
enum Printable {
  /// Control characters, those that turn the writing direction and those that show nothing, shown by their numbers.
  static func text(_ text: String) -> String {
    // Most text is plain ASCII, which is seen at once.
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
