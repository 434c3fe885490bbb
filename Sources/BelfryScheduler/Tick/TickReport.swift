import BelfryCore
import BelfryStore

/// The result of a tick.
public struct TickReport: Sendable {
  /// An occurrence that the tick settled.
  public struct Item: Hashable, Sendable {
    /// The identity of the occurrence.
    public let id: OccurrenceID
    /// The alarm's title.
    public let title: String
    /// The time at which the occurrence was due.
    public let due: Instant
    /// The facts of the outcome, such as earlier missed occurrences; nil if there are none.
    public let payload: LogPayload?
    /// The civil time to which the occurrence was moved; nil if it was due at its own time.
    public let movedTo: CivilDateTime?

    /// The alarm.
    public var alarm: Identifier { id.alarm }
    /// The date and time of the occurrence.
    public var occurrence: CivilDateTime { id.occurrence }
    /// The civil time at which the occurrence was due.
    public var time: CivilDateTime { movedTo ?? id.occurrence }
  }

  /// The delivered notifications and the failed ones, with their outcomes.
  public var delivered: [(notification: Notification, outcome: DeliveryOutcome)] = []
  /// The answers that users gave during the tick.
  public var answered: [(alarm: Alarm, event: Event)] = []
  /// The occurrences that the tick recorded as missed.
  public var missed: [Item] = []
  /// The pending occurrences that the tick recorded as done.
  public var autoCompleted: [Item] = []
  /// The outcome of the missed summary; nil if no occurrence was missed.
  public var summary: DeliveryOutcome?
  /// The time at which the next tick is due; nil if never.
  public var nextWake: Instant? { (wakes.values + [otherWake].compactMap { $0 }).min() }
  /// The time of the next evaluation of each evaluated alarm that needs one.
  var wakes: [Identifier: Instant] = [:]
  /// The time of the next evaluation of any other alarm.
  var otherWake: Instant?
  /// The calls and messages that this device has to start. Each needs a process of its own.
  public var callouts: [Callout] = []
  /// The records that are not valid.
  public var problems: [RecordProblem] = []
  /// The errors that prevented something from being recorded. Everything was delivered nevertheless.
  public var failures: [any Error] = []
}
