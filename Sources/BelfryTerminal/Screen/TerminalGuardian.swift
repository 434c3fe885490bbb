import CLinux
import Glibc

/// A process that restores the terminal if this one is killed.
///
/// It waits for the end of a pipe. The line `done` before it means that this process has restored the terminal.
final class TerminalGuardian {
  private let pipe: Int32

  private static let script = """
    trap '' INT QUIT HUP TERM TSTP TTOU
    IFS= read -r word <&3
    [ "$word" = done ] && exit 0
    printf '%s' "$2"
    # A shell that is in the foreground again has already restored its own settings.
    read -r process < /proc/$$/stat
    set -- "$1" ${process##*) }
    [ "$4" != "$7" ] || stty "$1" 2>/dev/null || stty sane
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
      "sh", "-c", TerminalGuardian.script, "belfry-guardian", TerminalGuardian.settings(),
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

  /// Returns the terminal's settings in the form of `stty -g`, or `sane` if they cannot be read: the flags and the
  /// control characters in hexadecimal.
  private static func settings() -> String {
    var settings = termios()
    guard tcgetattr(STDIN_FILENO, &settings) == 0 else { return "sane" }
    let flags = [settings.c_iflag, settings.c_oflag, settings.c_cflag, settings.c_lflag]
    let characters = withUnsafeBytes(of: settings.c_cc) { Array($0) }
    return (flags.map { String($0, radix: 16) } + characters.map { String($0, radix: 16) })
      .joined(separator: ":")
  }

  /// Ends the process without restoring the terminal.
  func dismiss() {
    _ = Array("done\n".utf8).withUnsafeBytes { write(pipe, $0.baseAddress, $0.count) }
    close(pipe)
  }
}
