import CLinux
import Glibc
import Subprocess
import Synchronization
import SystemPackage

/// The user's own git, run as a process: what it does better than a library, such as reaching remotes with the
/// user's configuration, ssh, credentials and certificates, and pushing with the remote's hooks, locks and
/// quarantine.
public enum GitCommand {
  public struct Outcome: Sendable {
    /// The exit status; 128 + n when signal n ended it.
    public let status: Int32
    public let output: String
    public let error: String

    public init(status: Int32, output: String, error: String) {
      self.status = status
      self.output = output
      self.error = error
    }
  }

  /// Thrown when git cannot be started.
  public struct NotFound: Error, Sendable {}

  /// Variables that would point git at another repository than the one it is run in.
  public static let repositoryVariables = [
    "GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_OBJECT_DIRECTORY", "GIT_COMMON_DIR",
    "GIT_ALTERNATE_OBJECT_DIRECTORIES", "GIT_NAMESPACE", "GIT_PREFIX",
  ]

  /// What git is run with: in English, without a prompt, in the repository of the folder.
  private static func environment(
    _ more: [Environment.Key: String?] = [:], keeping kept: Set<String> = []
  ) -> Environment {
    var changes: [Environment.Key: String?] = ["LC_ALL": "C", "GIT_TERMINAL_PROMPT": "0"]
    for name in repositoryVariables where !kept.contains(name) {
      if let key = Environment.Key(rawValue: name) { changes[key] = .some(nil) }
    }
    return .inherit.updating(changes.merging(more) { $1 })
  }

  /// Runs git in a folder and collects what it says.
  ///
  /// - Parameters:
  ///   - input: a file for its standard input; nil for none.
  ///   - inheritsIndex: uses the index that a git that called us has named: in a hook what it is to commit.
  public static func run(
    _ arguments: [String], in folder: String, input: String? = nil, inheritsIndex: Bool = false
  ) async throws -> Outcome {
    try Descriptors.ensure()
    do {
      let file = try FileDescriptor.open(FilePath(input ?? "/dev/null"), .readOnly)
      let result = try await Subprocess.run(
        .name("git"), arguments: Arguments(["-C", folder] + arguments),
        environment: environment(keeping: inheritsIndex ? ["GIT_INDEX_FILE"] : []),
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

// MARK: References

extension GitCommand {
  /// Removes references, thousands of them in one step.
  public static func removeReferences(_ names: [String], in repository: Repository) async throws {
    if names.isEmpty { return }
    let list = "\(repository.scratch)/new-references-\(getpid())"
    // `start` and `delete`, each ended by a NUL byte, so that no name is taken for anything else.
    let text = names.sorted().map { "delete \($0)\0\0" }.joined()
    try DurableFile.write(Array(text.utf8), to: list, temporary: list + "~", syncing: false)
    defer { _ = unlink(list) }
    let outcome = try await run(
      ["update-ref", "--stdin", "-z"], in: repository.workTree, input: list)
    guard outcome.status == 0 else {
      throw GitError(
        .generic, "remove references",
        outcome.error.split(separator: "\n").first.map(String.init) ?? "git failed")
    }
  }
}

// MARK: Transfers

extension GitCommand {
  /// How far a transfer has come, as git tells it.
  public struct Progress: Hashable, Sendable {
    /// `Receiving objects`, `Writing objects` …
    public let phase: String
    public let percent: Int

    /// Reads a line of git's own; nil for any other, and for what the remote says.
    init?(_ line: Substring) {
      let phases = [
        "Receiving objects", "Resolving deltas", "Unpacking objects", "Writing objects",
        "Compressing objects",
      ]
      guard let colon = line.firstIndex(of: ":"), phases.contains(String(line[..<colon])),
        let end = line[colon...].firstIndex(of: "%"),
        let percent = Int(line[line.index(after: colon)..<end].drop { $0 == " " })
      else { return nil }
      (phase, self.percent) = (String(line[..<colon]), percent)
    }
  }

  /// Thrown when the other side was silent for too long.
  public struct Stalled: Error, Sendable {}

  /// What a remote may make git take, so that none can fill the disk or the memory.
  public enum Limit {
    /// One file, in bytes: 2 GiB.
    public static let file = 2 << 30
    /// What git itself may print, in bytes.
    public static let output = 1 << 20
    /// Of address space, in KiB: 8 GiB.
    static let memory = 8 << 20
    /// What is larger is written as it comes, without being held in memory, in bytes.
    static let held = 1 << 20
  }

  /// Runs a fetch or a push in a session of its own: nothing can ask a question on the terminal, and all of
  /// it can be ended together.
  ///
  /// Only transports that cannot run commands are allowed, no redirect is followed, nothing is collected, and no
  /// submodule is looked at.
  ///
  /// - Parameters:
  ///   - urls: where the remote is: what is set for its very address is to hold, too.
  ///   - patience: how long the other side may be silent, in seconds.
  ///   - file: how large a file it may write, in bytes.
  ///   - output: how much it may print, in bytes; more ends it.
  ///   - progress: is told how far it has come.
  /// - Throws: `NotFound`, `Stalled`.
  public static func transfer(
    _ arguments: [String], in folder: String, to urls: [RemoteURL], patience: Int,
    file: Int = Limit.file, output: Int = Limit.output,
    progress: @escaping @Sendable (Progress) -> Void
  ) async throws -> Outcome {
    try Descriptors.ensure()
    var options = PlatformOptions()
    options.createSession = true
    options.teardownSequence = [
      .send(signal: .terminate, toProcessGroup: true, allowedDurationToNextStep: .seconds(1))
    ]
    // A setting for an address stands over one for all.
    let redirects = urls.filter { $0.transport == .http }
      .map { "http.\($0.settingsAddress).followRedirects=false" }
    let settings =
      (redirects + [
        "http.followRedirects=false", "gc.auto=0", "maintenance.auto=false",
        "core.bigFileThreshold=\(Limit.held)", "submodule.recurse=false",
        "fetch.recurseSubmodules=false", "push.recurseSubmodules=no",
        // Options for the remote's hooks, which many remotes refuse; an empty one clears the list.
        "push.pushOption=",
        "advice.pushUpdateRejected=false",
      ]).flatMap { ["-c", $0] }
    // Standard input ends when we do, whatever ends us: then all of the session is to end, too.
    let script = """
      ulimit -f \(file / 512) 2>/dev/null; ulimit -v \(Limit.memory) 2>/dev/null
      exec 3<&0
      git "$@" 3<&- </dev/null &
      git=$!
      { read -r _ <&3; kill -TERM 0; } >/dev/null 2>&1 &
      watcher=$!
      exec 3<&-
      wait "$git"; status=$?
      kill "$watcher" 2>/dev/null
      exit "$status"
      """
    let configuration = Configuration(
      executable: .path("/bin/sh"),
      arguments: Arguments(["-c", script, "sh", "-C", folder] + settings + arguments),
      environment: environment([
        "GIT_ALLOW_PROTOCOL": "file:git:http:https:ssh", "SSH_ASKPASS_REQUIRE": "never",
        "SSH_ASKPASS": nil,
      ]), platformOptions: options)
    let heard = LastHeard()
    let outcome = try await withThrowingTaskGroup(of: Outcome?.self) { group in
      group.addTask { try await collect(configuration, heard, output, progress) }
      group.addTask {
        while true {
          let silent = heard.seconds
          guard silent < patience else { return nil }
          do {
            try await Task.sleep(for: .seconds(patience - silent))
          } catch {
            return nil
          }
        }
      }
      let first = try await group.next() ?? nil
      group.cancelAll()
      return first
    }
    guard let outcome else { throw Stalled() }
    if outcome.status == 127 { throw NotFound() }
    return outcome
  }

  private static func collect(
    _ configuration: Configuration, _ heard: LastHeard, _ limit: Int,
    _ progress: @Sendable (Progress) -> Void
  ) async throws -> Outcome {
    var ends: [Int32] = [0, 0]
    guard pipe2(&ends, O_CLOEXEC) == 0 else { throw FileError("make", "a pipe") }
    let (input, life) = (
      FileDescriptor(rawValue: ends[0]), FileDescriptor(rawValue: ends[1])
    )
    // Open as long as we live.
    defer { try? life.close() }
    var said: [UInt8] = []
    let result = try await Subprocess.run(
      configuration, input: .fileDescriptor(input, closeAfterSpawningProcess: true),
      output: .string(limit: limit), error: .sequence
    ) { execution in
      var line: [UInt8] = []
      for try await buffer in execution.standardError {
        heard.now()
        buffer.withUnsafeBytes { bytes in
          for byte in bytes {
            guard byte == UInt8(ascii: "\n") || byte == UInt8(ascii: "\r") else {
              // A line of the remote's may be as long as it likes.
              if line.count < Said.longestLine { line.append(byte) }
              continue
            }
            if let step = Progress(Substring(String(decoding: line, as: UTF8.self))) {
              progress(step)
            } else if said.count < Said.longest {
              said += line + [UInt8(ascii: "\n")]
            }
            line = []
          }
        }
      }
      if said.count < Said.longest { said += line }
    }
    return Outcome(
      status: result.terminationStatus.shellStatus, output: result.standardOutput,
      error: String(decoding: said, as: UTF8.self))
  }

  /// How much of what is said is kept, in bytes.
  private enum Said {
    static let longest = 64 << 10
    static let longestLine = 1024
  }
}

/// When somebody was last heard of.
private final class LastHeard: Sendable {
  private let moment = Mutex(ContinuousClock.now)

  func now() { moment.withLock { $0 = .now } }

  /// How long ago that was.
  var seconds: Int {
    Int(moment.withLock { ContinuousClock.now - $0 }.components.seconds)
  }
}
