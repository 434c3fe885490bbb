import BelfryCore
import BelfryStore
import Files

/// The present state of the phone's tasks, read without a change.
public struct PhoneStatus: Sendable {
  /// The configuration.
  public let configuration: PhoneConfiguration
  /// The server of the folder.
  public let server: TaskServer
  /// The number of open tasks that Belfry has written.
  public let tasks: Int
  /// The number of completed tasks that are still in the folder.
  public let closed: Int
  /// The deleted tasks that wait for a decision.
  public let held: [OccurrenceID]
  /// The files that Belfry ignores.
  public let problems: [PhoneReport.Problem]
  /// The number of files that were in the folder before it was set up.
  public let leftAlone: Int
  /// The reason why the folder cannot be used; nil if it can.
  public let failure: PhoneError?
  /// The number of files that differ from what Belfry has written or read last; nil if the folder cannot be used.
  public let changed: Int?

  /// Reads the state.
  public init(_ configuration: PhoneConfiguration, of store: Store) {
    self.configuration = configuration
    let state = PhoneState.file(of: store).read()
    let folder = TaskFolder(configuration.folder)
    server = folder.server
    tasks = state.entries.values.count { $0.id != nil && $0.closed == nil }
    closed = state.entries.values.count { $0.closed != nil }
    held = state.deletions.filter { $0.state == .held }.map(\.id).sorted()
    problems = state.entries.filter {
      !$0.value.problem.isEmpty && $0.value.problem != PhoneState.earlier
    }.sorted { $0.key < $1.key }
      .map { PhoneReport.Problem(name: $0.key, reason: $0.value.problem) }
    leftAlone = state.entries.values.count { $0.problem == PhoneState.earlier }
    do {
      try folder.check(collection: configuration.collection)
      let files = try folder.list { state.entries[$0] != nil }.files
      let known = state.entries
      changed =
        files.count { name, signature in
          known[name]?.signature.map { !signature.hasContent(of: $0) } ?? true
        } + known.keys.count { files[$0] == nil }
      failure = nil
    } catch let error as TaskFolder.Failure {
      (failure, changed) = (PhoneError(error, configuration.folder), nil)
    } catch {
      (failure, changed) = (.folderMissing(path: configuration.folder), nil)
    }
  }
}
