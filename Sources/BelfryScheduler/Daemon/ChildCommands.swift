import Subprocess
import SystemPackage

/// The `belfry` commands that the daemon and delivery helpers run in child processes: they commit and sync, so that no
/// event loop waits for git.
struct ChildCommands: Sendable {
  /// The result of a command.
  struct Result: Sendable {
    /// The reason why the command failed; nil if it succeeded.
    var failure: String?
    /// The exit code of a command that failed; nil if it has no such code.
    var exitCode: ChildCommand.ExitCode?
    /// The warnings of a command that succeeded.
    var warnings: [CommandDiagnostic] = []
  }

  let command: String
  let store: String
  let variables: @Sendable () -> [String: String]

  /// The default timeout, in seconds.
  private static let timeout = 300

  /// Runs a command.
  ///
  /// - Parameters:
  ///   - command: the command. The variables of this value override its variables.
  ///   - timeout: the timeout, in seconds.
  func run(_ command: ChildCommand, timeout: Int = ChildCommands.timeout) async -> Result {
    let outcome = await TimedProcess.run(
      .path(FilePath(self.command)), command.arguments(store: store), input: command.input,
      variables: command.variables.merging(variables()) { $1 }
        .merging([CommandDiagnostic.variable: "json"]) { $1 },
      seconds: timeout)
    switch outcome {
    case .ended(0, _, let error): return Result(warnings: ChildCommands.diagnostics(error))
    case .ended(let status, _, let error):
      // The error is the last diagnostic. A crash of the command leaves other text, which begins with the reason.
      let reason =
        ChildCommands.diagnostics(error).last { $0.isError }?.message
        ?? error.split(separator: "\n").first.map(String.init)
      return Result(
        failure: reason ?? "the command exited with status \(status)",
        exitCode: ChildCommand.ExitCode(rawValue: status))
    case .timedOut: return Result(failure: "timed out after \(timeout) s")
    case .failed(let reason): return Result(failure: reason)
    }
  }

  /// Returns the diagnostics in a command's standard error.
  private static func diagnostics(_ output: String) -> [CommandDiagnostic] {
    output.split(separator: "\n").compactMap { CommandDiagnostic(line: String($0)) }
  }
}
