import BelfryCore
import BelfryInput
import BelfryStore
import Files

/// A run that brings the store and the folder of the phone's tasks together, in both directions.
///
/// ```
///  folder ─▶ list, read changed files ─▶ answers ─▶ actions ─▶ store
///                                                                │
///  folder ◀── place changed files ◀── compare revisions ◀── Projection
/// ```
///
/// The folder is a projection of the store, never a second truth. A run that is killed at any point is completed by the next
/// one, and no answer is lost or recorded twice:
///
/// 1. The answers are saved with the times of their log entries before the first one is recorded. After a crash, the log
///    tells which ones were (`PhoneState.Intent`).
/// 2. New versions of files are written beside them, then saved as planned, then placed. After a crash, the file beside a
///    planned one tells that it was not placed (`PhoneState.Entry`). So a missing file was deleted by the phone.
/// 3. A file that changes between reading and placing keeps the phone's version, and is read again.
public struct PhoneSync: Sendable {
  /// The decision about deletions that are held.
  public enum Decision: Sendable {
    /// None yet.
    case none
    /// The occurrences are skipped.
    case skip
    /// The tasks are written again.
    case restore
  }

  /// The steps of a run, at each of which a test can interrupt it.
  enum Step: Hashable, Sendable, CaseIterable {
    case read, intended, recorded, prepared, planned, placed, removed, saved
  }

  let store: Store
  let settings: Settings
  let input: InputContext
  let decision: Decision
  /// The time for which deletions rest before they count, in seconds: more may follow. 0 for a run that a person has started.
  let deletionRest: Int64
  /// Is called after each step. An error that it throws ends the run, as a crash does.
  var didReach: @Sendable (Step) throws -> Void = { _ in }

  /// The time for which deletions rest in a run of the daemon, in seconds. It runs again afterwards.
  public static let backgroundRest: Int64 = 3
  /// The place of the answers, in the log.
  static let place = "phone"
  /// The number of passes if the phone writes at the same time.
  private static let maxPasses = 3

  /// Creates a run. It does nothing yet.
  ///
  /// - Parameters:
  ///   - settings: The settings of the store, with those of this device.
  ///   - input: The context for the words of new tasks.
  ///   - deletionRest: The time for which deletions rest before they count, in seconds.
  public init(
    _ store: Store, settings: Settings, input: InputContext,
    decision: Decision = .none, deletionRest: Int64 = 0
  ) {
    self.deletionRest = deletionRest
    self.store = store
    self.settings = settings
    self.input = input
    self.decision = decision
  }

  /// Runs once. Without a configuration on this device, nothing happens.
  ///
  /// - Throws: `PhoneError` if the folder cannot be used; `StoreError`, `FileError`. What was recorded and written before
  ///   the error stays.
  public func run() async throws -> PhoneReport {
    let lock = try PhoneState.lock(of: store)
    defer { withExtendedLifetime(lock) {} }
    // Not before: a setup that held the lock may have chosen another folder.
    guard let configuration = PhoneConfiguration.read(of: store) else { return PhoneReport() }
    let folder = TaskFolder(configuration.folder)
    try folder.check(collection: configuration.collection)
    if let publisher = store.devices.phonePublisher, !publisher.isOwn { return try standby() }
    var report = PhoneReport()
    for pass in 1...PhoneSync.maxPasses {
      var run = PhoneRun(
        self, configuration.options, folder, decision: pass == 1 ? decision : .none)
      let needsAnother = try await run.perform()
      report.add(run.report)
      if !needsAnother { break }
    }
    return report
  }

  /// Returns the report of a device that leaves the folder to another one.
  ///
  /// It forgets the files: what the other device removes must not count as deleted by the phone later.
  private func standby() throws -> PhoneReport {
    let file = PhoneState.file(of: store)
    let before = file.read()
    var state = before
    state.entries = state.entries.filter { $0.value.problem == PhoneState.earlier }
    (state.deletions, state.intents) = ([], [])
    if state != before { try file.replace(with: state) }
    var report = PhoneReport()
    report.isStandby = true
    return report
  }
}

/// The reason why the tasks cannot be brought together with the store.
public enum PhoneError: Error, Hashable, Sendable {
  /// The folder does not exist.
  case folderMissing(path: String)
  /// The folder is not the one that was set up: its mark is missing.
  case folderReplaced(path: String)
  /// The server holds its lock.
  case serverLocked(path: String)
  /// Another run holds the lock.
  case busy
  /// git could not add the files to the repository of Xandikos.
  case notAdded(path: String, reason: String)
}

extension PhoneReport {
  /// Adds the report of another pass.
  fileprivate mutating func add(_ other: PhoneReport) {
    written += other.written
    removed += other.removed
    recorded += other.recorded
    completions += other.completions
    refusals += other.refusals
    newlyHeld += other.newlyHeld
    (tasks, held, problems) = (other.tasks, other.held, other.problems)
    isStandby = other.isStandby
  }
}
