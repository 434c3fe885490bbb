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

  /// Returns the paths of the terminals on which a client shows a session.
  func terminals() async -> [String] {
    (await run(["list-clients", "-F", "#{client_tty}"]) ?? "").split(separator: "\n")
      .map(String.init)
  }

  /// Shows a text in the message line of a client until the next key.
  ///
  /// - Returns: False on failure.
  func show(_ text: String, on terminal: String) async -> Bool {
    let message = ["-c", terminal, TmuxServer.literal(text)]
    // Before version 3.2, a message disappears after the time that the user has set.
    if await run(["display-message", "-d", "0"] + message) != nil { return true }
    return await run(["display-message"] + message) != nil
  }

  /// Returns a text that tmux shows as it is. tmux expands `#{…}`, runs the command of `#(…)`, replaces `%H` with the
  /// hour, and ends a command at a final semicolon.
  static func literal(_ text: String) -> String {
    text.replacing("#", with: "##").replacing("%", with: "%%") + " "
  }
}
