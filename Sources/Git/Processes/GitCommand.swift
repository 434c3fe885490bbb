import CLinux
import Files
import Glibc
import Subprocess
import Synchronization
import SystemPackage

/// The user's own git, run as a process.
///
/// It does what libgit2 cannot: it reaches remotes with the user's configuration, ssh, credentials and certificates,
/// and it pushes with the remote's hooks, locks and quarantine.
public enum GitCommand {
  /// The result of a git process.
  public struct Outcome: Sendable {
    /// The exit status, or 128 + n if signal n ended the process.
    public let status: Int32
    /// The standard output.
    public let output: String
    /// The standard error.
    public let error: String

    /// Creates an outcome from its parts.
    public init(status: Int32, output: String, error: String) {
      self.status = status
      self.output = output
      self.error = error
    }
  }

  /// An error of a git that cannot be found in `PATH`.
  public struct NotFound: Error, Sendable {}

  /// The environment variables that make git use another repository than the one in its working folder.
  public static let repositoryVariables = [
    "GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_OBJECT_DIRECTORY", "GIT_COMMON_DIR",
    "GIT_ALTERNATE_OBJECT_DIRECTORIES", "GIT_NAMESPACE", "GIT_PREFIX",
  ]

  /// Returns an environment for git: English messages, no prompts, and the repository of the working folder.
  private static func environment(
    _ more: [Environment.Key: String?] = [:], keeping kept: Set<String> = []
  ) -> Environment {
    var changes: [Environment.Key: String?] = ["LC_ALL": "C", "GIT_TERMINAL_PROMPT": "0"]
    for name in repositoryVariables where !kept.contains(name) {
      if let key = Environment.Key(rawValue: name) { changes[key] = .some(nil) }
    }
    return .inherit.updating(changes.merging(more) { $1 })
  }

  /// Runs git in a folder and collects its output.
  ///
  /// - Parameters:
  ///   - arguments: The arguments after `git -C FOLDER`.
  ///   - folder: The folder of the repository.
  ///   - input: The path of a file for the standard input; nil for none.
  ///   - inheritsIndex: True to use the index that a calling git has set. In a commit hook it is the index to commit.
  /// - Throws: `NotFound` if there is no git. A failed git is an `Outcome`, not an error.
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
  /// The status in the form that a shell reports: 128 + n if signal n ended the process.
  public var shellStatus: Int32 {
    switch self {
    case .exited(let code): code
    case .signaled(let signal): 128 + signal
    }
  }
}

// MARK: References

extension GitCommand {
  /// Removes references, all of them or none.
  ///
  /// - Throws: `GitError` with git's message.
  public static func removeReferences(_ names: [String], in repository: Repository) async throws {
    if names.isEmpty { return }
    let list = "\(repository.scratch)/new-references-\(getpid())"
    // In `-z` format each name and each old value ends with a NUL byte, so no name can be parsed as a command.
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
  /// The progress of a transfer, as git reports it.
  public struct Progress: Hashable, Sendable {
    /// The phase, such as `Receiving objects` or `Writing objects`.
    public let phase: String
    /// The progress of the phase, in percent.
    public let percent: Int

    /// Parses a progress line of git. Returns nil for any other line, and for lines of the remote.
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

  /// An error of a transfer that received nothing from the remote until the timeout.
  public struct Stalled: Error, Sendable {}

  /// The limits of a transfer, so that a remote can fill neither the disk nor the memory.
  public enum Limit {
    /// The size of one file, in bytes: 2 GiB.
    public static let file = 2 << 30
    /// The size of git's standard output, in bytes: 1 MiB.
    public static let output = 1 << 20
    /// The size of git's address space, in KiB: 8 GiB.
    static let memory = 8 << 20
    /// The size in bytes above which git streams a file instead of holding it in memory: 1 MiB.
    static let bigFile = 1 << 20
  }

  /// Runs a fetch or a push in its own session, so that no program can prompt on the terminal and one signal ends all
  /// of its processes.
  ///
  /// Only transports that cannot run commands are allowed. git follows no redirects, collects no garbage and ignores
  /// submodules.
  ///
  /// - Parameters:
  ///   - arguments: The arguments after `git -C FOLDER`.
  ///   - folder: The folder of the repository.
  ///   - urls: The URLs of the remote. The user's settings for exactly these URLs must not allow redirects either.
  ///   - timeout: The time in seconds after which a silent remote counts as stalled.
  ///   - file: The size limit of a written file, in bytes.
  ///   - output: The size limit of the standard output, in bytes. A larger output ends the transfer.
  ///   - connections: The ssh connections that several transfers share; nil to connect for this one alone.
  ///   - progress: A function that receives the progress.
  /// - Throws: `NotFound` or `Stalled`.
  public static func transfer(
    _ arguments: [String], in folder: String, to urls: [RemoteURL], timeout: Int,
    file: Int = Limit.file, output: Int = Limit.output, connections: SSHConnections? = nil,
    progress: @escaping @Sendable (Progress) -> Void
  ) async throws -> Outcome {
    try Descriptors.ensure()
    func attempt(_ connection: SharedSSHConnection?) async throws -> Outcome {
      let configuration = transferConfiguration(
        arguments, in: folder, to: urls, maxFileSize: file, connection)
      return try await attemptTransfer(
        configuration, timeout: timeout, output: output, progress: progress)
    }
    guard let connection = await connections?.connection(for: urls, in: folder) else {
      return try await attempt(nil)
    }
    let wasOpen = connection.isOpen
    do {
      let outcome = try await attempt(connection)
      // The connection may have been lost since the last transfer, a proxy's messages are missing, or the socket cannot
      // be created.
      guard outcome.status != 0,
        wasOpen || connection.hasProxy || outcome.error.contains("unix_listener"),
        outcome.error.contains("Could not read from remote repository")
      else { return outcome }
    } catch is Stalled where wasOpen {}
    connection.abandon()
    return try await attempt(nil)
  }

  private static func attemptTransfer(
    _ configuration: Configuration, timeout: Int, output: Int,
    progress: @escaping @Sendable (Progress) -> Void
  ) async throws -> Outcome {
    let activity = LastActivity()
    let outcome = try await withThrowingTaskGroup(of: Outcome?.self) { group in
      group.addTask { try await collect(configuration, activity, output, progress) }
      group.addTask {
        await activity.waitUntilIdle(for: timeout)
        return nil
      }
      let first = try await group.next() ?? nil
      group.cancelAll()
      return first
    }
    guard let outcome else { throw Stalled() }
    if outcome.status == 127 { throw NotFound() }
    return outcome
  }

  /// Returns the process of a transfer: a shell in its own session that limits git's resources and runs git.
  private static func transferConfiguration(
    _ arguments: [String], in folder: String, to urls: [RemoteURL], maxFileSize: Int,
    _ connection: SharedSSHConnection?
  ) -> Configuration {
    var options = PlatformOptions()
    options.createSession = true
    options.teardownSequence = [
      .send(signal: .terminate, toProcessGroup: true, allowedDurationToNextStep: .seconds(1))
    ]
    // Standard input reaches its end when this process dies, even by SIGKILL. The watcher then ends the session.
    let script = """
      ulimit -f \(maxFileSize / 512) 2>/dev/null; ulimit -v \(Limit.memory) 2>/dev/null
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
    return Configuration(
      executable: .path("/bin/sh"),
      arguments: Arguments(
        ["-c", script, "sh", "-C", folder] + transferSettings(for: urls) + arguments),
      environment: environment(
        [
          "GIT_ALLOW_PROTOCOL": "file:git:http:https:ssh", "SSH_ASKPASS_REQUIRE": "never",
          "SSH_ASKPASS": nil,
        ].merging(sshVariables(connection)) { $1 }), platformOptions: options)
  }

  /// Returns the environment variables that make git use a shared ssh connection.
  private static func sshVariables(
    _ connection: SharedSSHConnection?
  ) -> [Environment.Key: String?] {
    guard let connection else { return [:] }
    // git would take the variant from the command's first word.
    return ["GIT_SSH_COMMAND": connection.command, "GIT_SSH_VARIANT": "ssh"]
  }

  /// Returns git's options for the settings that must hold during a transfer, whatever the user has configured.
  private static func transferSettings(for urls: [RemoteURL]) -> [String] {
    // A setting for a URL overrides the general setting.
    let redirects = urls.filter { $0.transport == .http }
      .map { "http.\($0.settingsAddress).followRedirects=false" }
    let settings = [
      "http.followRedirects=false", "gc.auto=0", "maintenance.auto=false",
      "core.bigFileThreshold=\(Limit.bigFile)", "submodule.recurse=false",
      "fetch.recurseSubmodules=false", "push.recurseSubmodules=no",
      // Many remotes refuse push options. An empty value clears the list.
      "push.pushOption=",
      "advice.pushUpdateRejected=false",
    ]
    return (redirects + settings).flatMap { ["-c", $0] }
  }

  private static func collect(
    _ configuration: Configuration, _ activity: LastActivity, _ limit: Int,
    _ progress: @Sendable (Progress) -> Void
  ) async throws -> Outcome {
    var ends: [Int32] = [0, 0]
    guard pipe2(&ends, O_CLOEXEC) == 0 else { throw FileError("make", "a pipe") }
    let (input, lifeline) = (
      FileDescriptor(rawValue: ends[0]), FileDescriptor(rawValue: ends[1])
    )
    // The pipe stays open as long as this process lives.
    defer { try? lifeline.close() }
    var errorText: [UInt8] = []
    let result = try await Subprocess.run(
      configuration, input: .fileDescriptor(input, closeAfterSpawningProcess: true),
      output: .string(limit: limit), error: .sequence
    ) { execution in
      var line: [UInt8] = []
      for try await buffer in execution.standardError {
        activity.record()
        buffer.withUnsafeBytes { bytes in
          for byte in bytes {
            guard byte == UInt8(ascii: "\n") || byte == UInt8(ascii: "\r") else {
              // The remote chooses the length of its lines.
              if line.count < ErrorLimit.line { line.append(byte) }
              continue
            }
            if let step = Progress(Substring(String(decoding: line, as: UTF8.self))) {
              progress(step)
            } else if errorText.count < ErrorLimit.total {
              errorText += line + [UInt8(ascii: "\n")]
            }
            line = []
          }
        }
      }
      if errorText.count < ErrorLimit.total { errorText += line }
    }
    return Outcome(
      status: result.terminationStatus.shellStatus, output: result.standardOutput,
      error: String(decoding: errorText, as: UTF8.self))
  }

  /// The limits of the standard error that is kept, in bytes.
  private enum ErrorLimit {
    static let total = 64 << 10
    static let line = 1024
  }
}

/// The time of the last output of a process.
final class LastActivity: Sendable {
  private let moment = Mutex(ContinuousClock.now)
  private let hasOutput = Atomic<Bool>(false)

  func record() {
    moment.withLock { $0 = .now }
    hasOutput.store(true, ordering: .relaxed)
  }

  /// True if there was any output.
  var isRecorded: Bool { hasOutput.load(ordering: .relaxed) }

  /// The time since the last output, in whole seconds.
  var seconds: Int {
    Int(moment.withLock { ContinuousClock.now - $0 }.components.seconds)
  }

  /// Waits until there was no output for a number of seconds, or until the task is canceled.
  func waitUntilIdle(for timeout: Int) async {
    while true {
      let idle = seconds
      guard idle < timeout else { return }
      do {
        try await Task.sleep(for: .seconds(timeout - idle))
      } catch {
        return
      }
    }
  }
}
