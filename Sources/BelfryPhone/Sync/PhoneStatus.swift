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
    held = state.held.map(\.id).sorted()
    problems = state.problems
    leftAlone = state.entries.values.count { $0.problem == PhoneState.earlier }
    do {
      try folder.check(collection: configuration.collection)
      let files = try folder.list { state.entries[$0] != nil }.files
      changed =
        files.count { name, signature in
          state.entries[name]?.signature.map { !signature.hasContent(of: $0) } ?? true
        } + state.entries.keys.count { files[$0] == nil }
      failure = nil
    } catch let error as PhoneError {
      (failure, changed) = (error, nil)
    } catch {
      (failure, changed) = (.folderMissing(path: configuration.folder), nil)
    }
  }
}
