import BelfryCore
import Git
import Glibc

/// A step that brings one part of a store back into agreement with the others.
///
/// A step runs under the store's lock. It changes nothing if its part already agrees, and an error leaves the store in
/// a state that the next reconciliation accepts. Each step documents its precondition, its effect and its cost.
protocol ReconcileStep {
  /// The result of the step.
  associatedtype Outcome = Void
  /// The place of the step among all steps.
  static var stage: ReconcileStage { get }

  /// Runs the step.
  ///
  /// - Parameter permit: The proof that a reconciliation runs the step in its order. A step that consists of others passes
  ///   it on.
  func run(_ writer: StoreWriter, _ permit: ReconcilePermit) throws -> Outcome
}

/// The permit to run a step. Only `StoreWriter.reconcile(_:)` makes one, so that no step runs outside the list.
struct ReconcilePermit {
  fileprivate init() {}
}

/// The steps of a reconciliation, in their order. Each one relies on those before it.
enum ReconcileStage: Int, CaseIterable, Comparable {
  /// `MergeConflictResolver`: ends a merge of git, so that the branch can move.
  case mergeConflicts
  /// `JournalRecovery`: completes an interrupted write, so that the work tree is as Belfry left it.
  case interruptedWrite
  /// `WorkTreeUpdate`: takes over the commits of other programs, so that every file is compared with the right commit.
  case movedBranch
  /// `IncomingMerge`: merges the commits that other devices left here.
  case incomingCommits
  /// `DroppedRecordRestoration`: commits records again that the branch lost in the past.
  case droppedRecords
  /// `UnusableFileQuarantine`: moves files away that cannot be records.
  case unusableFiles
  /// `HandEditImport`: commits hand edits of alarms, and restores missing alarms.
  case alarms
  /// `TrackedRecordImport<SettingsFile>`: commits hand edits of the settings.
  case settings
  /// `TrackedRecordImport<CalendarRecord>`: commits hand edits of the holiday calendars, and restores missing ones.
  case calendars
  /// `DeviceHandEditImport`: commits hand edits of the devices' records.
  case devices
  /// `TimeZoneUpdate`: commits a changed zone of this device.
  case timeZone
  /// `MissingRecordRestoration`: restores missing records except alarms.
  case missingRecords
  /// `UncommittedRecordImport`: commits records that another program wrote.
  case uncommittedRecords
  /// `FutureOutcomeRemoval`: re-arms alarms that a clock that was ahead settled.
  case futureOutcomes
  /// `LostAnswerRestoration`: adds outcomes that only the log contains.
  case lostAnswers

  static func < (one: ReconcileStage, other: ReconcileStage) -> Bool {
    one.rawValue < other.rawValue
  }
}

/// The part of a store that is reconciled before a write. The cost grows with the scope.
enum ReconcileScope {
  /// The branch only, for a change that depends on no record.
  case branch
  /// The branch and some alarms. The cost doesn't depend on the size of the store for a single alarm.
  case alarms([Identifier])
  /// The branch and the settings.
  case settings
  /// The branch and the holiday calendars.
  case calendars
  /// The branch, all alarms, the settings and the holiday calendars.
  case records
  /// The branch and all records of alarms, settings, holiday calendars and devices.
  case all
  /// The branch, incoming commits, all alarms, the settings, the holiday calendars, and this device's zone, for the
  /// evaluation of a tick.
  case evaluation

  /// The steps, in the order of their stages, except `mergeConflicts`, which opens every reconciliation.
  var steps: [any ReconcileStep] {
    let branch: [any ReconcileStep] = [JournalRecovery(), WorkTreeUpdate()]
    let settings = TrackedRecordImport<SettingsFile>()
    let calendars = TrackedRecordImport<CalendarRecord>()
    return switch self {
    case .branch: branch
    case .alarms(let ids): branch + [HandEditImport(.alarms(ids))]
    case .settings: branch + [settings]
    case .calendars: branch + [calendars]
    case .records: branch + [HandEditImport(.edited), settings, calendars]
    case .all:
      branch + [HandEditImport(.edited), settings, calendars, DeviceHandEditImport()]
    case .evaluation:
      branch + [
        IncomingMerge(), HandEditImport(.edited), settings, calendars, TimeZoneUpdate(),
      ]
    }
  }
}

extension Store {
  /// Reconciles a part of the store, and writes to it, under the store's lock.
  ///
  /// - Parameters:
  ///   - scope: The part to reconcile first.
  ///   - body: Receives the writer.
  /// - Throws: `StoreError.operationInProgress`, `.detachedHead`, `.gitBusy`, `.locked`, `GitError`, `FileError`, and
  ///   the errors of `body`.
  func write<Result>(
    reconciling scope: ReconcileScope, _ body: (StoreWriter) throws -> Result
  ) throws -> Result {
    try locked {
      let writer = try reconciledWriter(scope)
      defer { withExtendedLifetime(writer) {} }
      return try body(writer)
    }
  }

  /// Reconciles a part of the store, for a caller that holds the store's lock, or whose store is not at its path yet.
  ///
  /// - Returns: The writer, which is valid as long as the lock is held.
  /// - Throws: `StoreError.operationInProgress`, `.detachedHead`, `.gitBusy`, `GitError`, `FileError`.
  func reconciledWriter(_ scope: ReconcileScope) throws -> StoreWriter {
    let repository = try repository()
    try PowerFailureRecovery(self).run(repository)
    if Repository.mayBeUnmerged(repository.gitDirectory) {
      try MergeConflictResolver(self, repository).resolve()
    }
    let operation = try repository.operation()
    guard operation == .none else { throw StoreError.operationInProgress(operation) }
    guard let branch = try repository.headBranch() else {
      throw StoreError.detachedHead(branch: self.branch.nameToCheckOut(in: repository))
    }
    let signature = try signature(repository)
    let writer = StoreWriter(
      self, repository, branch: branch, signature: signature,
      hold: try collectionHold(repository), seen: local.readSeen())
    for step in scope.steps { try writer.reconcile(step) }
    return writer
  }

  /// Waits until a running garbage collection ends, and prevents the next one from starting.
  private func collectionHold(_ repository: Repository) throws -> CollectionHold {
    var waited = 0
    while true {
      do {
        return try CollectionHold(repository)
      } catch CollectionHold.Failure.collecting(let user) {
        let lock = repository.commonDirectory + "gc.pid"
        if user == nil, repository.removeStaleLock(lock + ".lock") { continue }
        guard waited < context.lockTimeout else { throw StoreError.gitBusy(path: lock, by: user) }
        usleep(5_000)
        waited += 5
      }
    }
  }
}

extension StoreWriter {
  /// Runs a step after those of earlier stages.
  @discardableResult
  func reconcile<Step: ReconcileStep>(_ step: Step) throws -> Step.Outcome {
    precondition(latestStage <= Step.stage, "\(Step.stage) must precede \(latestStage)")
    latestStage = Step.stage
    return try step.run(self, ReconcilePermit())
  }
}
