import Glibc
import Subprocess
import SystemPackage

/// A running tmux server, and the messages that its clients show.
struct TmuxServer: Sendable {
  /// The process of the server.
  let process: Int32
  /// The path of its socket.
  let socket: String

  /// The timeout of a command, in seconds.
  private static let timeout = 3

  /// The program of the server. The commands of another version may not work with it.
  private var program: Executable {
    guard let path = realpath("/proc/\(process)/exe", nil) else { return .name("tmux") }
    defer { free(path) }
    return .path(FilePath(String(cString: path)))
  }

  private func run(_ arguments: [String]) async -> String? {
    let outcome = await TimedProcess.run(
      program, ["-S", socket] + arguments, seconds: TmuxServer.timeout)
    guard case .ended(0, let output, _) = outcome else { return nil }
    return String(decoding: output, as: UTF8.self)
  }

  /// A client: a terminal that shows a session.
  struct Client: Sendable {
    /// The path of the terminal.
    let terminal: String
    /// The path of the terminal of the pane in the foreground.
    let pane: String
  }

  /// Returns the clients.
  func clients() async -> [Client] {
    (await run(["list-clients", "-F", "#{client_tty} #{pane_tty}"]) ?? "").split(separator: "\n")
      .compactMap { line in
        let paths = line.split(separator: " ").map(String.init)
        return paths.count == 2 ? Client(terminal: paths[0], pane: paths[1]) : nil
      }
  }

  /// Returns the paths of the terminals of all panes. A popup has none of them.
  func panes() async -> [String] {
    (await run(["list-panes", "-a", "-F", "#{pane_tty}"]) ?? "").split(separator: "\n")
      .map(String.init)
  }

  /// The time for which a client shows a message, in milliseconds. Until then, or until the next key, tmux draws nothing
  /// else.
  static let messageDuration: Int64 = 4000

  /// Shows a text in the message line of a client.
  ///
  /// - Returns: False on failure.
  func show(_ text: String, on terminal: String) async -> Bool {
    let message = ["-c", terminal, TmuxServer.literal(text)]
    // Before version 3.2, a message disappears after the time that the user has set.
    let duration = "\(TmuxServer.messageDuration)"
    if await run(["display-message", "-d", duration] + message) != nil { return true }
    return await run(["display-message"] + message) != nil
  }

  /// Returns a text that tmux shows as it is. tmux expands `#{…}`, runs the command of `#(…)`, replaces `%H` with the
  /// hour, and ends a command at a final semicolon.
  static func literal(_ text: String) -> String {
    text.replacing("#", with: "##").replacing("%", with: "%%") + " "
  }
}
