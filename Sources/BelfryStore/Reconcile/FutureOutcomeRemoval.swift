import BelfryCore

/// A re-arming of alarms whose future occurrences were settled by a clock that was ahead.
///
/// - Precondition: Hand edits of alarms are imported.
/// - Effect: One commit for each such alarm.
/// - Cost: Reads every enabled alarm, so only a repair does it.
struct FutureOutcomeRemoval: ReconcileStep {
  static let stage = ReconcileStage.futureOutcomes
  private let report: (RepairedItem) -> Void

  /// Creates a step.
  ///
  /// - Parameter report: A function that receives each change when it has been made.
  init(report: @escaping (RepairedItem) -> Void) {
    self.report = report
  }

  func run(_ writer: StoreWriter, _ permit: ReconcilePermit) throws {
    let store = writer.store
    for summary in try AlarmIndex(store).summaries() where !summary.isDeleted {
      guard case .good(let alarm, _) = try writer.readAlarm(summary.id), alarm.enabled,
        let rearmed = store.timeline(alarm).rearmed(alarm, at: store.context.now)
      else { continue }
      try writer.commit(
        [AlarmRecord.path(alarm.id): AlarmRecord.encode(rearmed)],
        message: CommitMessage(
          "Re-armed: \(alarm.title) (a clock was ahead)", device: store.device))
      report(.rearmed(title: alarm.title))
    }
  }
}
