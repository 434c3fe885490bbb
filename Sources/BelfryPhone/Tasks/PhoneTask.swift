import BelfryCore
import BelfryExchange
import BelfryStore

/// The task of one occurrence, as it has to be in the folder.
struct PhoneTask: Hashable, Sendable {
  /// The state of a task.
  enum Status: Hashable, Sendable {
    /// The occurrence needs an answer.
    case open
    /// The occurrence was done at a time.
    case done(Instant)
  }

  /// The occurrence.
  let id: OccurrenceID
  /// The title.
  var title: String
  /// The note of the alarm; nil if it has none.
  var note: String?
  /// The last line of the description; see `Projection.footer`.
  var footer: String
  /// The time at which the occurrence is due.
  var due: Instant
  /// The wall-clock time at which the occurrence is due, in the alarm's zone.
  var time: CivilDateTime
  /// The time since which the occurrence rings, or will: the due time, or the end of the last snooze.
  var ringsSince: Instant
  /// The time at which the phone reminds: the due time, the end of a snooze, or the next follow-up.
  var alert: Instant
  /// The times of the advance warnings.
  var warnings: [Instant]
  /// The time of the latest stop or snooze, with which apps end a reminder that is shown; nil for none.
  var acknowledged: Instant?
  /// True if the occurrence is snoozed until `alert`.
  var isSnoozed: Bool
  /// The status.
  var status: Status
  /// The tags.
  var tags: [String]
  /// True for an alarm that rings until it is answered.
  var isImportant: Bool
  /// The time of the alarm's last edit, which is the same on every device.
  var created: Instant

  /// The beginning of the last line of a description, which is not part of the note.
  private static let footerMark = "— "
  /// The beginning of that line with its first word. A person's own line can begin with a dash, too.
  private static let footerStart = "\(footerMark)Belfry:"

  /// The description: the note, and how to answer.
  var description: String {
    note.map { "\($0)\n\n\(PhoneTask.footerMark)\(footer)" } ?? PhoneTask.footerMark + footer
  }

  /// Returns the note in a description: the text around Belfry's line. A person may have written behind it, too.
  static func note(in description: String) -> String {
    var lines = description.split(separator: "\n", omittingEmptySubsequences: false)[...]
    guard let own = lines.lastIndex(where: { $0.hasPrefix(footerStart) }) else {
      return description
    }
    func isBlank(_ line: Substring) -> Bool { line.allSatisfy(\.isWhitespace) }
    let behind = lines[(own + 1)...].drop(while: isBlank)
    lines = lines[..<own]
    while let last = lines.last, isBlank(last) { lines.removeLast() }
    return (lines + behind).joined(separator: "\n")
  }

  /// The revision of the task.
  var revision: TaskRevision {
    TaskRevision(
      title: title, note: note ?? "", due: CalendarTime.utc(due),
      alerts: PhoneTask.alertText(
        [alert] + warnings, acknowledged: acknowledged, isSnoozed: isSnoozed),
      status: statusText, labels: "\(isImportant) \(tags.joined(separator: ",")) \(footer)")
  }

  /// Returns the hashed text of reminders.
  static func alertText(
    _ times: [Instant], acknowledged: Instant?, isSnoozed: Bool
  ) -> String {
    (times + [acknowledged].compactMap { $0 }).map(CalendarTime.utc).joined(separator: ",")
      + (isSnoozed ? "z" : "")
  }

  private var statusText: String {
    switch status {
    case .open: PhoneTask.openStatus
    case .done: PhoneTask.doneStatus
    }
  }

  /// The hashed texts of the status. The time of a completion is not a part of it.
  static let (openStatus, doneStatus) = ("open", "done")
}
