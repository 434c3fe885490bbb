import BelfryCore
import BelfryPhone
import BelfryScheduler
import BelfryStore

/// The state of the phone's tasks: the document of `phone`, `phone status` and `phone setup`.
package struct PhoneStatusDocument: JSONDocument {
  /// True if this device publishes tasks.
  let configured: Bool
  /// The folder.
  let folder: String?
  /// The kind of server: `radicale`, `xandikos` or `files`.
  let server: String?
  /// The address of the server, for the phone.
  let url: String?
  /// The name of the collection.
  let collection: String?
  /// The tags of which an alarm needs one to be published; absent if all alarms are.
  let tags: [String]?
  /// True if tasks have no titles, notes and tags.
  let neutral: Bool?
  /// True if edits, moves and new tasks of the phone are not accepted.
  let answersOnly: Bool?
  /// The number of open tasks.
  let tasks: Int?
  /// The number of completed tasks that are still in the folder.
  let completed: Int?
  /// The number of files that have changed since the last run.
  let waiting: Int?
  /// The occurrences whose tasks were deleted together, and that wait for a decision.
  let held: [PhoneOccurrence]
  /// The files that Belfry ignores.
  let problems: [PhoneProblem]
  /// True if a daemon, a timer or cron makes alarms ring on this device.
  let schedulerRunning: Bool

  /// Creates the document.
  ///
  /// - Parameter status: The state; nil if no folder is set up.
  package init(_ status: PhoneStatus?, scheduler: SchedulerState, store: Store) {
    let configuration = status?.configuration
    configured = status != nil
    folder = configuration?.folder
    server = status?.server.name
    url = configuration?.url
    collection = configuration?.collection
    let chosen = configuration?.options.tags.map(\.text).sorted() ?? []
    tags = chosen.isEmpty ? nil : chosen
    neutral = configuration.map(\.options.isNeutral)
    answersOnly = configuration.map { !$0.options.acceptsEdits }
    tasks = status?.tasks
    completed = status?.closed
    waiting = status?.changed
    held = (status?.held ?? []).map(PhoneOccurrence.init)
    problems = (status?.problems ?? []).map(PhoneProblem.init)
    schedulerRunning = scheduler.isRunning
  }
}

/// The result of a run: the document of `phone sync`.
package struct PhoneReportDocument: JSONDocument {
  /// The number of open tasks.
  let tasks: Int
  /// The number of files that were written.
  let written: Int
  /// The number of files that were removed.
  let removed: Int
  /// The answers that were recorded, in their order.
  let recorded: [Recorded]
  /// The occurrences that were moved to an impossible time, and are back at their own.
  let refused: [PhoneOccurrence]
  /// The occurrences whose tasks were deleted together, and that wait for a decision.
  let held: [PhoneOccurrence]
  /// The files that Belfry ignores.
  let problems: [PhoneProblem]
  /// True if another device publishes the tasks at present.
  let standby: Bool

  /// An answer that was recorded.
  package struct Recorded: Encodable {
    /// The id of the alarm.
    let alarm: String
    /// The title of the alarm.
    let title: String
    /// The occurrence; absent for an action on the whole alarm.
    let occurrence: String?
    /// The action as in the log.
    let action: String
  }

  /// Creates the document of a report.
  package init(_ report: PhoneReport) {
    tasks = report.tasks
    written = report.written
    removed = report.removed
    recorded = report.recorded.map {
      Recorded(
        alarm: $0.alarm.text, title: $0.title, occurrence: $0.occurrence?.description,
        action: $0.action.rawValue)
    }
    refused = report.refusals.map {
      PhoneOccurrence(OccurrenceID(alarm: $0.alarm.id, occurrence: $0.occurrence))
    }
    held = report.held.sorted().map(PhoneOccurrence.init)
    problems = report.problems.map(PhoneProblem.init)
    standby = report.isStandby
  }
}

/// An occurrence of an alarm in the documents of `phone`.
package struct PhoneOccurrence: Encodable {
  /// The id of the alarm.
  let alarm: String
  /// The occurrence.
  let occurrence: String

  init(_ id: OccurrenceID) {
    alarm = id.alarm.text
    occurrence = id.occurrence.description
  }
}

/// A file that Belfry ignores.
package struct PhoneProblem: Encodable {
  /// The name of the file; absent for the folder as a whole.
  let file: String?
  /// The reason.
  let reason: String

  init(_ problem: PhoneReport.Problem) {
    file = problem.name
    reason = problem.reason
  }
}
