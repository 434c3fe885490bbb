import BelfryCore

/// A restoration of outcomes that the log contains and the alarms' records lack (see `LostAnswer`).
///
/// - Precondition: The log is complete, and hand edits of alarms are imported.
/// - Effect: One commit for each such alarm.
/// - Cost: Reads every log entry and every alarm, so only a repair does it.
struct LostAnswerRestoration: ReconcileStep {
  static let stage = ReconcileStage.lostAnswers
  private let report: (RepairedItem) -> Void

  /// Creates a step.
  ///
  /// - Parameter report: A function that receives each change when it has been made.
  init(report: @escaping (RepairedItem) -> Void) {
    self.report = report
  }

  func run(_ writer: StoreWriter, _ permit: ReconcilePermit) throws {
    let store = writer.store
    let entries = Dictionary(grouping: store.history.log(), by: \.alarm)
    for (id, logged) in entries.sorted(by: { $0.key < $1.key }) {
      guard case .good(let alarm, _) = try writer.readAlarm(id) else { continue }
      let lost = LostAnswer.all(alarm, logged, at: store.context.now)
      if alarm.isDeleted || lost.isEmpty { continue }
      let repaired = LostAnswer.repaired(alarm, logged, at: store.context.now)
      try writer.commit(
        [AlarmRecord.path(id): AlarmRecord.encode(repaired)],
        message: CommitMessage(
          "Restore \(lost.count) answer\(lost.count == 1 ? "" : "s") from the log: \(alarm.title)",
          device: store.device))
      report(.answers(title: alarm.title, lost.map(\.0)))
    }
  }
}
