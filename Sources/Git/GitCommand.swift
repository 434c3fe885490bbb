import Subprocess
import SystemPackage

/// The user's own git, run as a process: what it does better than a library, such as pushing to a path
/// with its hooks, locks and quarantine.
public enum GitCommand {
  public struct Outcome: Sendable {
    /// The exit status; 128 + n when signal n ended it.
    public let status: Int32
    public let output: String
    public let error: String
  }

  /// Thrown when git cannot be started.
  public struct NotFound: Error, Sendable {}

  /// Variables that would point git at another repository than the one it is run in.
  public static let repositoryVariables = [
    "GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_OBJECT_DIRECTORY", "GIT_COMMON_DIR",
    "GIT_ALTERNATE_OBJECT_DIRECTORIES", "GIT_NAMESPACE", "GIT_PREFIX",
  ]

  /// Runs git in a folder, without a prompt, in English, and collects what it says.
  ///
  /// - Parameter input: a file for its standard input; nil for none.
  public static func run(
    _ arguments: [String], in folder: String, input: String? = nil
  ) async throws -> Outcome {
    try Descriptors.ensure()
    var changes: [Environment.Key: String?] = ["LC_ALL": "C", "GIT_TERMINAL_PROMPT": "0"]
    for name in repositoryVariables {
      if let key = Environment.Key(rawValue: name) { changes[key] = .some(nil) }
    }
    do {
      let file = try FileDescriptor.open(FilePath(input ?? "/dev/null"), .readOnly)
      let result = try await Subprocess.run(
        .name("git"), arguments: Arguments(["-C", folder] + arguments),
        environment: .inherit.updating(changes),
        input: .fileDescriptor(file, closeAfterSpawningProcess: true),
        output: .string(limit: 64 << 20),
        error: .string(limit: 1 << 20))
      return Outcome(
        status: result.terminationStatus.shellStatus, output: result.standardOutput,
        error: result.standardError)
    } catch let error as SubprocessError where error.code == .executableNotFound {
      throw NotFound()
    }
  }
}

extension TerminationStatus {
  /// The status as a shell tells it: 128 + n when signal n ended the process.
  public var shellStatus: Int32 {
    switch self {
    case .exited(let code): code
    case .signaled(let signal): 128 + signal
    }
  }
}
