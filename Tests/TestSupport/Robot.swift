import Foundation
import Glibc
import Subprocess
import Synchronization
import SystemPackage

/// A person at a terminal of 80 × 24 cells, who types keys and waits for what a program shows.
///
/// The terminal knows the sequences of Belfry's screens and of shells. Each wait ends as soon as the text is shown.
public final class Robot: Sendable {
  private let keyboard: Keyboard
  private let screen = Mutex(TerminalScreen())
  private let task: Task<Int32, any Error>

  /// Starts belfry on a terminal of its own.
  ///
  /// - Parameter now: The time that belfry's clock starts with.
  public init(
    _ sandbox: Sandbox, _ arguments: [String] = ["ui"], now: String,
    environment: [String: String] = [:]
  ) throws {
    let state = sandbox.home + "/.local/state/belfry"
    try FileManager.default.createDirectory(atPath: state, withIntermediateDirectories: true)
    // Without the welcome of a first command.
    try sandbox.write("", to: state + "/welcomed")
    keyboard = try Keyboard()
    let terminal = keyboard.terminal
    let variables = [
      "TZ": "UTC", "BELFRY_DEVICE": "laptop", "BELFRY_NOW": now, "TERM": "xterm-256color",
    ].merging(environment) { $1 }
    task = Task {
      // The session of the program has the terminal, for Ctrl-C and for programs that open `/dev/tty`.
      let script = "exec <\"$0\" >\"$0\" 2>&1; exec setsid --ctty --wait \"$@\""
      let output = try await sandbox.run(
        "/bin/sh", ["-c", script, terminal, Sandbox.binary] + arguments, environment: variables)
      return output.status
    }
    keyboard.read { [weak self] bytes in
      guard let self else { return }
      let replies = self.screen.withLock { $0.write(bytes) }
      if !replies.isEmpty { self.type(replies) }
    }
  }

  deinit {
    task.cancel()
    keyboard.close()
  }

  /// A failure of a robot.
  public struct Failure: Error, CustomStringConvertible {
    /// The reason, and what the terminal showed.
    public let description: String
  }

  /// The lines that the terminal shows.
  public var lines: [String] { screen.withLock { $0.lines } }

  /// Types keys.
  public func type(_ keys: String) { keyboard.type(keys) }

  /// Waits until the terminal shows a text.
  public func waitFor(_ text: String) async throws {
    try await wait(for: "'\(text)'") { $0.contains { $0.contains(text) } }
  }

  /// Waits until the terminal no longer shows a text.
  public func waitForEnd(of text: String) async throws {
    try await wait(for: "the end of '\(text)'") { !$0.contains { $0.contains(text) } }
  }

  /// Waits until a condition about the lines is true.
  ///
  /// - Throws: `Failure` after a minute.
  public func wait(for what: String, _ condition: ([String]) -> Bool) async throws {
    let end = ContinuousClock.now + .seconds(60)
    while !condition(lines) {
      if ContinuousClock.now > end {
        throw Failure(description: "no \(what) on\n\(lines.joined(separator: "\n"))")
      }
      try await Task.sleep(for: .milliseconds(4))
    }
  }

  /// Types keys that end the program, and returns its exit status.
  ///
  /// - Throws: `Failure` after two minutes.
  public func end(_ keys: String = "") async throws -> Int32 {
    type(keys)
    return try await withThrowingTaskGroup(of: Int32?.self) { group in
      group.addTask { [task] in
        try await withTaskCancellationHandler {
          try await task.value
        } onCancel: {
          task.cancel()
        }
      }
      group.addTask {
        try await Task.sleep(for: .seconds(120))
        return nil
      }
      defer { group.cancelAll() }
      guard let status = try await group.next() ?? nil else {
        throw Failure(description: "no end on\n\(lines.joined(separator: "\n"))")
      }
      return status
    }
  }
}

/// The master of a pseudo-terminal of 80 × 24 cells: a person's keyboard and eyes.
private final class Keyboard: Sendable {
  /// The path of the terminal for the program.
  let terminal: String
  private let descriptor: Int32
  private let isClosed = Mutex(false)

  init() throws {
    descriptor = open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC)
    // The requests TIOCSPTLCK and TIOCGPTN, which Glibc's module does not have.
    var (locked, number) = (Int32(0), UInt32(0))
    guard descriptor >= 0, ioctl(descriptor, 0x4004_5431, &locked) == 0,
      ioctl(descriptor, 0x8004_5430, &number) == 0
    else { throw Robot.Failure(description: "no terminal could be opened") }
    terminal = "/dev/pts/\(number)"
    var size = winsize(ws_row: 24, ws_col: 80, ws_xpixel: 0, ws_ypixel: 0)
    _ = ioctl(descriptor, UInt(TIOCSWINSZ), &size)
  }

  func type(_ keys: String) {
    let bytes = Array(keys.utf8)
    var sent = 0
    while sent < bytes.count {
      let count = bytes[sent...].withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
      if count <= 0 { return }
      sent += count
    }
  }

  /// Starts to read what the program shows, until `close`.
  func read(_ show: @escaping @Sendable (ArraySlice<UInt8>) -> Void) {
    let reader = Thread { [self] in
      var buffer = [UInt8](repeating: 0, count: 1 << 16)
      while true {
        // With a limit, because a close does not end a wait in another thread.
        var state = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        poll(&state, 1, 50)
        // The thread that reads closes the descriptor: a file that is opened later could get the same number.
        let hasEnded = isClosed.withLock { isClosed in
          if isClosed { Glibc.close(descriptor) }
          return isClosed
        }
        if hasEnded { return }
        guard state.revents & Int16(POLLIN) != 0 else {
          // Without a program on the terminal, a poll returns at once.
          if state.revents != 0 { usleep(2_000) }
          continue
        }
        let count = Glibc.read(descriptor, &buffer, buffer.count)
        if count > 0 { show(buffer.prefix(count)) }
      }
    }
    reader.start()
  }

  /// Ends the reading.
  func close() { isClosed.withLock { $0 = true } }
}

/// A terminal's screen.
private struct TerminalScreen {
  private var cells = Array(repeating: Array(repeating: Character(" "), count: 80), count: 24)
  private var row = 0
  private var column = 0
  /// The rows that scroll.
  private var margins = 0..<24
  /// The bytes of an unfinished sequence or character.
  private var rest: [UInt8] = []

  var lines: [String] {
    cells.map { line in
      var text = String(line)
      while text.last == " " { text.removeLast() }
      return text
    }
  }

  /// Shows bytes. Returns the replies to queries.
  mutating func write(_ bytes: ArraySlice<UInt8>) -> String {
    rest += bytes
    var replies = ""
    while let byte = rest.first {
      let length: Int?
      switch byte {
      case 0x1B: length = sequenceLength()
      case 0xC0...: length = byte >= 0xF0 ? 4 : byte >= 0xE0 ? 3 : 2
      default: length = 1
      }
      guard let length, rest.count >= length else { break }
      let part = Array(rest.prefix(length))
      rest.removeFirst(length)
      if byte == 0x1B {
        replies += perform(String(decoding: part.dropFirst(), as: UTF8.self))
      } else {
        put(part)
      }
    }
    return replies
  }

  /// Returns the length of the sequence at the start; nil if it is unfinished.
  private func sequenceLength() -> Int? {
    guard rest.count > 1 else { return nil }
    switch rest[1] {
    case UInt8(ascii: "["):
      return rest.dropFirst(2).firstIndex { (0x40...0x7E).contains($0) }.map { $0 + 1 }
    case UInt8(ascii: "]"), UInt8(ascii: "P"):
      for index in rest.indices.dropFirst(2) {
        if rest[index] == 7 { return index + 1 }
        if rest[index] == 0x5C, rest[index - 1] == 0x1B { return index + 1 }
      }
      return nil
    case UInt8(ascii: "("), UInt8(ascii: ")"): return rest.count > 2 ? 3 : nil
    default: return 2
    }
  }

  private mutating func perform(_ sequence: String) -> String {
    if sequence == "M" { scrollDown() }
    guard sequence.first == "[", let final = sequence.last else { return "" }
    let parameters = sequence.dropFirst().dropLast()
    let numbers = parameters.split(separator: ";").map { Int($0) ?? 0 }
    let first = max(1, numbers.first ?? 1)
    switch final {
    case "H", "f":
      row = min(23, first - 1)
      column = min(79, max(1, numbers.dropFirst().first ?? 1) - 1)
    case "A": row = max(0, row - first)
    case "B": row = min(23, row + first)
    case "C": column = min(79, column + first)
    case "D": column = max(0, column - first)
    case "G": column = min(79, first - 1)
    case "r":
      margins = (numbers.first ?? 1) - 1..<(numbers.dropFirst().first ?? 24)
      (row, column) = (0, 0)
    case "J" where numbers.first == 2: clear()
    case "K": for index in column..<80 { cells[row][index] = " " }
    case "X": for index in column..<min(80, column + first) { cells[row][index] = " " }
    case "h" where parameters == "?1049", "l" where parameters == "?1049":
      clear()
      (row, column) = (0, 0)
    case "c" where parameters.isEmpty: return "\u{1B}[?62c"
    default: break
    }
    return ""
  }

  private mutating func clear() {
    for index in cells.indices { cells[index] = Array(repeating: " ", count: 80) }
  }

  /// Moves the cursor up. At the upper margin, the rows move down instead.
  private mutating func scrollDown() {
    if row == margins.lowerBound {
      cells.remove(at: margins.upperBound - 1)
      cells.insert(Array(repeating: " ", count: 80), at: margins.lowerBound)
    } else {
      row = max(0, row - 1)
    }
  }

  private mutating func put(_ bytes: [UInt8]) {
    switch bytes[0] {
    case 13: column = 0
    case 10:
      if row == margins.upperBound - 1 {
        cells.insert(Array(repeating: " ", count: 80), at: margins.upperBound)
        cells.remove(at: margins.lowerBound)
      } else {
        row = min(23, row + 1)
      }
    case 8: column = max(0, column - 1)
    case 0..<32: break
    default:
      guard let character = String(decoding: bytes, as: UTF8.self).first else { return }
      if column > 79 {
        put([13])
        put([10])
      }
      cells[row][column] = character
      column += 1
    }
  }
}
