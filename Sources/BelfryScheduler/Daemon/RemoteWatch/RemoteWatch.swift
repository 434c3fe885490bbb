import BelfryStore
import Git

/// The watch of one remote, which reports the commit of its branch at once.
///
/// | remote | watch |
/// |---|---|
/// | path, `file` | inotify: `FolderWatch` |
/// | ssh | a shell on the host: `ShellWatch` |
/// | others | none |
struct RemoteWatch: Sendable {
  /// A change of the watch.
  enum Report: Hashable, Sendable {
    /// The remote's branch has this commit; nil for none. It is the first report of a watch, and follows each change.
    case head(ObjectID?)
    /// The watch has ended. It starts again later.
    case lost
  }

  /// The remote.
  let remote: Remote
  /// The folder of the store's repository.
  let repository: String
  /// The user's ssh connections; nil to watch no ssh remotes.
  let connections: SSHConnections?

  /// Watches the remote until the task is canceled. Returns immediately if its protocol has no watch.
  ///
  /// - Parameter report: Receives the reports, on any thread.
  func run(report: @escaping @Sendable (Report) -> Void) async {
    var backOff = RemoteWatchBackOff()
    while !Task.isCancelled {
      let began = ContinuousClock.now
      guard let end = await watch({ report(.head($0)) }), !Task.isCancelled else { return }
      report(.lost)
      let seconds = (ContinuousClock.now - began).components.seconds
      // Cancellation ends the loop.
      try? await TimerThread.sleep(for: .seconds(backOff.next(after: end, lasting: seconds)))
    }
  }

  /// Watches the remote once. Returns the reason for the end, or nil if its protocol has no watch.
  private func watch(_ report: @escaping @Sendable (ObjectID?) -> Void) async -> RemoteWatchEnd? {
    guard let url = try? RemoteURL(remote.url), let path = url.repositoryPath else { return nil }
    switch url.transport {
    case .path:
      return await FolderWatch(path: path, branch: Repository.defaultBranch).run(report)
    case .ssh:
      guard let connections else { return nil }
      // The user may have changed it since the last attempt.
      connections.forget()
      return await ShellWatch(
        url: url, path: path, branch: Repository.defaultBranch, repository: repository,
        connections: connections
      ).run(report)
    case .http, .git: return nil
    }
  }
}
