import BelfryTerminal
import Glibc

/// A command of belfry that the full screen runs in a process of its own.
struct ChildOfScreen {
  /// The end of a command.
  struct Result {
    /// The exit status; `needsTerminal` if the command did nothing, and has to run on the terminal.
    let status: Int32
    /// The lines of standard output, with colors.
    let output: [String]
    /// The lines of standard error.
    let error: [String]
  }

  /// The exit status of a command of a full screen that needs the terminal.
  static let needsTerminal: Int32 = 8

  /// The variable that marks a command of a full screen, which has no terminal.
  private static let variable = "BELFRY_SCREEN"

  /// True if this process is a command that a full screen runs without a terminal.
  static let isThisProcess: Bool = {
    guard getenv(variable) != nil else { return false }
    // Not for a command that a hook of this one starts.
    unsetenv(variable)
    return true
  }()

  /// Throws in a command of a full screen, before it would do something without asking. The screen runs it again on the
  /// terminal.
  static func requireTerminal() throws {
    if isThisProcess {
      throw CommandError(.usage, "this command asks on a terminal.").needingTerminal()
    }
  }

  private let context: CommandContext
  private let opened: ElapsedTime

  init(_ context: CommandContext, _ opened: ElapsedTime) {
    self.context = context
    self.opened = opened
  }

  private var variables: [String: String] {
    var variables = ["BELFRY_PAGER": "cat"]
    if context.clockOffset != 0 {
      variables["BELFRY_NOW"] = context.present(after: opened).storeContext.now.rfc3339Milliseconds
    }
    return variables
  }

  /// The time that a command may take, in seconds: a sync over a slow network.
  private static let timeout: Int64 = 300

  /// The editor of git without a terminal. It says where there is one.
  private static let editor =
    "sh -c 'echo \"This needs an editor. Type :! before the command, such as :!git commit.\" >&2; exit 1'"

  /// Runs a command without a terminal, in a session of its own: a program that asks on `/dev/tty` fails at once.
  func run(_ words: [String], columns: Int) -> Result {
    guard let command = context.environment.executable else {
      return Result(status: 1, output: [], error: ["The program of belfry was not found."])
    }
    let arguments = ["--store", context.storePath, "--color", "always"] + words
    let variables = variables.merging([
      "COLUMNS": "\(columns)", ChildOfScreen.variable: "1", "GIT_EDITOR": ChildOfScreen.editor,
      "GIT_SEQUENCE_EDITOR": ChildOfScreen.editor,
    ]) { $1 }
    let outcome = ScreenProcess.run(
      command, arguments, environment: context.environment.variables.merging(variables) { $1 },
      seconds: ChildOfScreen.timeout)
    switch outcome {
    case .ended(let status, let output, let error):
      return Result(status: status, output: lines(output), error: lines(error))
    case .timedOut:
      return Result(
        status: 1, output: [], error: ["It was ended after \(ChildOfScreen.timeout) s."])
    case .failed(let reason): return Result(status: 1, output: [], error: [reason])
    }
  }

  private func lines(_ text: String) -> [String] {
    var lines = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
    while lines.last?.isEmpty == true { lines.removeLast() }
    return lines
  }

  /// Runs a command on the terminal. Returns its exit status.
  ///
  /// - Parameter waits: True to wait for a key afterwards, so that the output can be read.
  func runOnTerminal(_ words: [String], waitsAfterwards waits: Bool) -> Int32 {
    guard let command = context.environment.executable else { return 1 }
    let end = "printf '\\nPress Enter to go back.'; read -r line"
    // Ctrl-C ends the command, and its output stays readable.
    return spawn(
      "trap : INT QUIT; \"$@\"; status=$?; \(waits ? end : ":"); exit $status",
      [command, "--store", context.storePath] + words)
  }

  /// Opens a file in an editor, whose command can have options.
  func edit(_ path: String, with editor: String) { _ = spawn("\(editor) \"$1\"", [path]) }

  private func spawn(_ script: String, _ arguments: [String]) -> Int32 {
    let clock = variables["BELFRY_NOW"].map { "export BELFRY_NOW='\($0)'; " } ?? ""
    var words: [UnsafeMutablePointer<CChar>?] =
      (["sh", "-c", clock + script, "belfry"] + arguments).map { strdup($0) } + [nil]
    defer { for word in words { free(word) } }
    var process = pid_t()
    guard posix_spawn(&process, "/bin/sh", nil, nil, &words, environ) == 0 else { return 1 }
    var status: Int32 = 0
    while waitpid(process, &status, 0) < 0, errno == EINTR {}
    return status & 0x7F == 0 ? status >> 8 & 0xFF : 1
  }
}
