/// The identity of a delivery.
///
/// Deliveries of different kinds for one occurrence do not affect each other, so the kind is part of the key.
public enum DeliveryKey: Hashable, Sendable {
  /// A notification about an occurrence of an alarm.
  case occurrence(OccurrenceID, OccurrenceKind)
  /// A rehearsal of an alarm's cascade, with the time of its request.
  case rehearsal(alarm: Identifier, requested: Instant)
  /// A warning that the battery may not last until an occurrence.
  case battery(OccurrenceID)
  /// The summary of the occurrences that a tick recorded as missed, with the time of the tick.
  case missedSummary(Instant)
  /// A message that is not about an alarm, such as a partner's.
  case message(Identifier)

  /// A kind of notification about an occurrence.
  public enum OccurrenceKind: Hashable, Comparable, Sendable {
    /// The occurrence rings.
    case firing
    /// The follow-up with a number; the first is 1.
    case followUp(Int)
    /// The occurrence comes later.
    case advanceWarning
  }

  /// The alarm of the delivery; nil if it is about none or about several.
  public var alarm: Identifier? {
    switch self {
    case .occurrence(let id, _), .battery(let id): id.alarm
    case .rehearsal(let alarm, _): alarm
    case .missedSummary, .message: nil
    }
  }

  /// The occurrence of the delivery; nil if it is about none or about several.
  public var occurrence: CivilDateTime? {
    switch self {
    case .occurrence(let id, _), .battery(let id): id.occurrence
    case .rehearsal, .missedSummary, .message: nil
    }
  }

  /// True if the delivery gets an entry in the log. Silent notifications do not.
  public var isLogged: Bool {
    switch self {
    case .occurrence(_, .firing), .occurrence(_, .followUp), .rehearsal: true
    case .occurrence(_, .advanceWarning), .battery, .missedSummary, .message: false
    }
  }
}

/// The identity of an occurrence of an alarm.
public struct OccurrenceID: Hashable, Comparable, Sendable {
  /// The alarm.
  public let alarm: Identifier
  /// The date and time of the occurrence.
  public let occurrence: CivilDateTime

  /// Creates the identity of an occurrence.
  public init(alarm: Identifier, occurrence: CivilDateTime) {
    self.alarm = alarm
    self.occurrence = occurrence
  }

  /// Orders occurrences by alarm, and those of one alarm by time.
  public static func < (a: OccurrenceID, b: OccurrenceID) -> Bool {
    (a.alarm, a.occurrence) < (b.alarm, b.occurrence)
  }
}
