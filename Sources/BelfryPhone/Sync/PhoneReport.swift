import BelfryCore
import BelfryStore

/// The result of a run: what the phone has answered, and what was written.
public struct PhoneReport: Hashable, Sendable {
  /// A file that Belfry does not use.
  public struct Problem: Hashable, Sendable {
    /// The name of the file; nil for the folder as a whole.
    public let name: String?
    /// The reason, as a clause.
    public let reason: String
  }

  /// An answer that was recorded.
  public struct Recorded: Hashable, Sendable {
    /// The alarm.
    public let alarm: Identifier
    /// The title of the alarm.
    public let title: String
    /// The occurrence; nil for a new alarm.
    public let occurrence: CivilDateTime?
    /// The action in the log.
    public let action: LogEntry.Action
  }

  /// An occurrence that was completed, for the action of its alarm.
  public struct Completion: Hashable, Sendable {
    /// The alarm.
    public let alarm: Alarm
    /// The event of the completion.
    public let event: Event
  }

  /// A move that is not possible. The task gets its time back.
  public struct Refusal: Hashable, Sendable {
    /// The alarm.
    public let alarm: Alarm
    /// The occurrence.
    public let occurrence: CivilDateTime
    /// The reason.
    public let reason: MoveError
  }

  /// The completed occurrences.
  public var completions: [Completion] = []
  /// The number of files that were written.
  public var written = 0
  /// The number of files that were removed.
  public var removed = 0
  /// The number of open tasks in the folder.
  public var tasks = 0
  /// The answers that were recorded, in their order.
  public var recorded: [Recorded] = []
  /// The moves that are not possible.
  public var refusals: [Refusal] = []
  /// The occurrences whose tasks were deleted together, and that wait for a decision.
  public var held: [OccurrenceID] = []
  /// The number of them that are new in this run, so that the person has to be asked.
  public var newlyHeld = 0
  /// The files that Belfry ignores.
  public var problems: [Problem] = []
  /// True if another device publishes the tasks at present.
  public var isStandby = false

  /// Creates an empty report.
  public init() {}

  /// True if the run has changed nothing.
  public var isUnchanged: Bool { written == 0 && removed == 0 && recorded.isEmpty }
}
