/// The daemon's log of failing tasks: the first failure of a task and its recovery are logged, repetitions are not.
struct FailureLog {
  private let log: @Sendable (DaemonLogEvent) -> Void
  private var failing: Set<DaemonTask> = []
  /// The last warnings of a command.
  private var warnings: [CommandDiagnostic] = []

  /// Creates an empty log.
  init(_ log: @escaping @Sendable (DaemonLogEvent) -> Void) {
    self.log = log
  }

  /// Records the result of a task.
  ///
  /// - Parameter failure: the reason of the failure; nil for a success.
  mutating func report(_ task: DaemonTask, _ failure: String?) {
    if let failure {
      if failing.insert(task).inserted { log(.failed(task, reason: failure)) }
    } else if failing.remove(task) != nil {
      log(.recovered(task))
    }
  }

  /// Records the result of a command. New warnings of a successful one are logged.
  mutating func report(_ task: DaemonTask, _ result: ChildCommands.Result) {
    report(task, result.failure)
    guard result.failure == nil else { return }
    if result.warnings != warnings, !result.warnings.isEmpty { log(.warned(result.warnings)) }
    warnings = result.warnings
  }
}
