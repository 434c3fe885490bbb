import BelfryStore
import Files
import Git

/// The watches of a store's remotes. They start again when git's configuration changes.
struct RemoteWatches {
  private let connections: SSHConnections?
  private let report: @Sendable (Remote, RemoteWatch.Report) -> Void
  private var tasks: [Remote: Task<Void, Never>] = [:]
  private var live: Set<Remote> = [] {
    didSet { if live != oldValue { publish(Set(live.map(\.name))) } }
  }
  private let publish: (Set<String>) -> Void
  /// The state of git's configuration when the remotes were read.
  private var configuration: FileSignature?

  /// Creates the watches. None is running yet.
  ///
  /// - Parameters:
  ///   - publish: Receives the names of the remotes whose watches run, whenever they change.
  ///   - report: Receives the reports, on any thread.
  init(
    connections: SSHConnections?, publish: @escaping (Set<String>) -> Void,
    report: @escaping @Sendable (Remote, RemoteWatch.Report) -> Void
  ) {
    (self.connections, self.publish, self.report) = (connections, publish, report)
  }

  /// The remotes.
  var remotes: [Remote] { Array(tasks.keys) }

  /// Returns true if the remotes have to be read, because git's configuration has changed.
  mutating func checkConfiguration(of store: Store) -> Bool {
    let signature = store.sync.configurationSignature
    defer { configuration = signature }
    return signature != configuration
  }

  /// Starts the watches of new remotes, and ends those of removed or changed ones.
  ///
  /// - Returns: True if there is a new remote or a changed one.
  mutating func update(_ remotes: [Remote], of store: Store) -> Bool {
    for (remote, task) in tasks where !remotes.contains(remote) {
      task.cancel()
      tasks[remote] = nil
      live.remove(remote)
    }
    let new = remotes.filter { tasks[$0] == nil }
    for remote in new { start(remote, store) }
    return !new.isEmpty
  }

  /// Starts all watches again, after the machine has slept.
  mutating func restart(of store: Store) {
    for (remote, task) in tasks {
      task.cancel()
      live.remove(remote)
      start(remote, store)
    }
  }

  /// Ends all watches.
  mutating func stop() {
    for task in tasks.values { task.cancel() }
    (tasks, live) = ([:], [])
  }

  private mutating func start(_ remote: Remote, _ store: Store) {
    let watch = RemoteWatch(remote: remote, repository: store.path, connections: connections)
    let report = report
    tasks[remote] = Task.detached { await watch.run { report(remote, $0) } }
  }

  /// The effect of a report.
  enum Change {
    /// The watch of the remote has started.
    case started
    /// The watch of the remote has ended.
    case ended
  }

  /// Records a report. Returns the change of the watch, or nil if there is none.
  mutating func record(_ report: RemoteWatch.Report, of remote: Remote) -> Change? {
    guard tasks[remote] != nil else { return nil }
    switch report {
    case .head: return live.insert(remote).inserted ? .started : nil
    case .lost: return live.remove(remote) == nil ? nil : .ended
    }
  }
}
