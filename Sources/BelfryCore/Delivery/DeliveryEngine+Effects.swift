extension DeliveryEngine {
  /// Something that every driver has to do.
  public enum Effect: Hashable, Sendable {
    /// Report `recordingDue` shortly: deliveries that finish together are recorded together.
    case recordSoon
    /// Write outcomes and ends to the ledger. A process that has claimed deliveries then commits the outcomes to the
    /// log, and evaluates the alarms of the recording again.
    case record(Recording)
    /// Carry out the user's answer to deliveries, and report `answerRecorded`.
    case respond([PendingDelivery], DeliveredAnswer)
  }

  /// The changes of the ledger that are recorded together.
  public struct Recording: Hashable, Sendable {
    /// The outcomes of deliveries, in the order in which they were due.
    public var outcomes: [RecordedOutcome] = []
    /// The deliveries whose channels have ended by themselves.
    public var released: Set<DeliveryID> = []
    /// The deliveries whose channels were ended.
    public var withdrawn: Set<DeliveryID> = []

    /// Creates a recording.
    public init(
      outcomes: [RecordedOutcome] = [], released: Set<DeliveryID> = [],
      withdrawn: Set<DeliveryID> = []
    ) {
      self.outcomes = outcomes
      self.released = released
      self.withdrawn = withdrawn
    }

    /// True if there is nothing to record.
    public var isEmpty: Bool { outcomes.isEmpty && released.isEmpty && withdrawn.isEmpty }

    /// The alarms that have to be evaluated again after the recording.
    public var alarms: Set<Identifier> {
      Set((outcomes.map(\.pending.id) + withdrawn).compactMap(\.key.alarm))
    }
  }

  /// The outcome of a delivery as the ledger has to have it. Nil means that the delivery was no longer needed.
  public struct RecordedOutcome: Hashable, Sendable {
    /// The delivery.
    public let pending: PendingDelivery
    /// The outcome; nil if the delivery was no longer needed.
    public let outcome: DeliveryOutcome?

    /// Creates an outcome.
    public init(_ pending: PendingDelivery, _ outcome: DeliveryOutcome?) {
      self.pending = pending
      self.outcome = outcome
    }
  }
}
