import Git
import Synchronization

/// The watch of an ssh remote by a script on its host.
struct ShellWatch: Sendable {
  /// The URL of the remote.
  let url: RemoteURL
  /// The path of the repository on the host.
  let path: String
  /// The branch.
  let branch: String
  /// The folder of the store's repository.
  let repository: String
  /// The user's ssh connections.
  let connections: SSHConnections

  /// The time in seconds in which the script has to start.
  private static let startTimeout = 40
  /// The time in seconds without a line after which the connection counts as lost: three keep-alive lines.
  private static let timeout = 900
  /// The number of lines that the user's shell may print before the script starts.
  private static let maxGreeting = 20

  private struct State {
    var isStarted = false
    var greeting = 0
    var end: RemoteWatchEnd?
  }

  /// Watches the remote until the connection is lost or the task is canceled.
  func run(_ report: @escaping @Sendable (ObjectID?) -> Void) async -> RemoteWatchEnd {
    guard let shell = await RemoteShell(to: url, in: repository, connections: connections) else {
      return .unavailable
    }
    let state = Mutex(State())
    let end = try? await shell.run(
      RemoteWatchScript(path: path, branch: branch).text, firstTimeout: ShellWatch.startTimeout,
      timeout: ShellWatch.timeout
    ) { line in
      let (isValid, head) = state.withLock { ShellWatch.receive(line, &$0) }
      if let head { report(head) }
      return isValid
    }
    let (isStarted, reason) = state.withLock { ($0.isStarted, $0.end) }
    if let reason { return reason }
    // git-shell, or a forced command, exits without the script's first line.
    return end == .exited && !isStarted ? .unavailable : .lost
  }

  /// Handles a line. Returns false for an invalid one, and the reported commit.
  private static func receive(
    _ line: [UInt8], _ state: inout State
  ) -> (isValid: Bool, head: ObjectID??) {
    switch (RemoteWatchLine(line), state.isStarted) {
    case (.started, false):
      state.isStarted = true
      return (true, nil)
    case (.head(let commit), true): return (true, .some(commit))
    case (.alive, true): return (true, nil)
    case (_, false) where state.greeting < maxGreeting:
      state.greeting += 1
      return (true, nil)
    default:
      state.end = .unavailable
      return (false, nil)
    }
  }
}
