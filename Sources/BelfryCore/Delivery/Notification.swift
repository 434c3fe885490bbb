/// Something to deliver to the user. It holds facts; the command line makes the text.
public enum Notification: Hashable, Sendable {
  /// An occurrence rings.
  case firing(Content, Firing)
  /// A stopped occurrence was not confirmed.
  case followUp(Content, FollowUp)
  /// An occurrence comes later. Silent.
  case advanceWarning(Content)
  /// Occurrences that were missed, in one notification.
  case missedSummary(MissedSummary)
  /// The battery may not last until an occurrence, nor until `others` later ones.
  case batteryWarning(Content, BatteryWarning, others: Int)
  /// A message that is not about an alarm. Silent.
  case message(Message)
  /// A rehearsal of a cascade, with the time of its request. It rings for a while and is marked as a test.
  case rehearsal(Content, requested: Instant)

  /// The alarm and the occurrence that a notification shows.
  public struct Content: Hashable, Sendable {
    /// The identity of the occurrence.
    public let id: OccurrenceID
    /// The alarm's title.
    public let title: String
    /// The alarm's note.
    public let note: String?
    /// The name of the occurrence's time zone; nil if it is the device's own.
    public let zoneName: String?
    /// The time at which the notification was due; for an advance warning, the time of the occurrence.
    public let at: Instant
    /// The name of the alarm's own sound; nil for the device's.
    public let sound: String?
    /// The name of the partner who has set the alarm; nil for the store's own alarms.
    public let partner: String?
    /// The civil time to which the occurrence was moved; nil if it rings at its own time.
    public let movedTo: CivilDateTime?

    /// The civil time at which the occurrence rings.
    public var time: CivilDateTime { movedTo ?? id.occurrence }

    /// Creates the content of a notification.
    public init(
      id: OccurrenceID, title: String, note: String? = nil, zoneName: String? = nil, at: Instant,
      sound: String? = nil, partner: String? = nil, movedTo: CivilDateTime? = nil
    ) {
      self.movedTo = movedTo
      self.id = id
      self.title = title
      self.note = note
      self.zoneName = zoneName
      self.at = at
      self.sound = sound
      self.partner = partner
    }
  }

  /// The circumstances of a firing.
  public struct Firing: Hashable, Sendable {
    /// True if the occurrence has been due for more than a minute.
    public let isLate: Bool
    /// The step of the cascade; nil for a device that rings at the alarm's time.
    public let step: CascadeStep?
    /// The possible answers, in order of display.
    public let actions: [Action]
    /// The action to run; nil for none.
    public let run: ActionName?

    /// Creates the circumstances of a firing.
    public init(
      isLate: Bool, step: CascadeStep? = nil, actions: [Action] = [], run: ActionName? = nil
    ) {
      self.run = run
      self.isLate = isLate
      self.step = step
      self.actions = actions
    }
  }

  /// A step of a cascade that rings because nobody responded before.
  public struct CascadeStep: Hashable, Sendable {
    /// The number of the step; the first is 1.
    public let number: Int
    /// The name of the first device; nil if it is unknown.
    public let firstDevice: String?
    /// The reason why the answers on other devices are unknown; nil if they are known.
    public let uncertainty: Uncertainty?

    /// Creates a step.
    public init(number: Int, firstDevice: String?, uncertainty: Uncertainty? = nil) {
      self.number = number
      self.firstDevice = firstDevice
      self.uncertainty = uncertainty
    }
  }

  /// A reason why a device does not know the answers on other devices.
  public enum Uncertainty: Hashable, Sendable {
    /// The store has no remote.
    case noRemote
    /// The device has never synced.
    case neverSynced
    /// The remote has been unreachable since a time.
    case remoteUnreachable(since: Instant)
    /// The device has not synced since a time.
    case notSynced(since: Instant)
  }

  /// The occurrences that one tick recorded as missed.
  public struct MissedSummary: Hashable, Sendable {
    /// An occurrence that was missed.
    public struct Item: Hashable, Sendable {
      /// The identity of the occurrence.
      public let id: OccurrenceID
      /// The alarm's title.
      public let title: String
      /// The time at which the occurrence was due.
      public let due: Instant
      /// The facts of the miss, such as earlier missed occurrences; nil if there are none.
      public let payload: LogPayload?
      /// The civil time to which the occurrence was moved; nil if it was due at its own time.
      public let movedTo: CivilDateTime?

      /// The civil time at which the occurrence was due.
      public var time: CivilDateTime { movedTo ?? id.occurrence }

      /// Creates an item.
      public init(
        id: OccurrenceID, title: String, due: Instant, payload: LogPayload? = nil,
        movedTo: CivilDateTime? = nil
      ) {
        self.movedTo = movedTo
        self.id = id
        self.title = title
        self.due = due
        self.payload = payload
      }
    }

    /// The earliest missed occurrence.
    public let first: Item
    /// The further ones, in the order in which they were due.
    public let others: [Item]
    /// The time of the tick.
    public let at: Instant

    /// All missed occurrences.
    public var items: [Item] { [first] + others }

    /// Creates a summary; nil without an item.
    public init?(_ items: [Item], at: Instant) {
      guard let first = items.first else { return nil }
      self.first = first
      others = Array(items.dropFirst())
      self.at = at
    }
  }

  /// A message that is not about an alarm.
  public struct Message: Hashable, Sendable {
    /// The identity of the message.
    public let id: Identifier
    /// The headline, in plain text.
    public let headline: String
    /// The text below the headline.
    public let body: String
    /// The time of the message.
    public let at: Instant

    /// Creates a message.
    public init(id: Identifier, headline: String, body: String, at: Instant) {
      self.id = id
      self.headline = headline
      self.body = body
      self.at = at
    }
  }

  /// A call to a phone number, or a message to a person.
  ///
  /// It is not a case of `Notification`: the devices elect one of them to call, so a call has no entry in a device's
  /// delivery ledger.
  public struct Call: Hashable, Sendable {
    /// The alarm of a call.
    public struct Subject: Hashable, Sendable {
      /// The alarm.
      public let alarm: Identifier
      /// The alarm's title.
      public let title: String
      /// The occurrence that nobody has answered; for a rehearsal, the next one, nil if there is none.
      public let occurrence: CivilDateTime?
      /// The civil time at which the occurrence rings: its own, or the one to which it was moved; nil without one.
      public let time: CivilDateTime?

      /// Creates a subject.
      public init(
        alarm: Identifier, title: String, occurrence: CivilDateTime?, movedTo: CivilDateTime? = nil
      ) {
        self.alarm = alarm
        self.title = title
        self.occurrence = occurrence
        time = movedTo ?? occurrence
      }
    }

    /// The phone number or person.
    public let target: CascadeTarget
    /// The alarm; nil for a test of this device's calls.
    public let subject: Subject?
    /// The name of the device whose alarm it is.
    public let source: String
    /// The sentence that the user has added to the text; nil if there is none.
    public let note: String?
    /// True if nothing is due.
    public let isTest: Bool

    /// Creates a call.
    public init(
      _ target: CascadeTarget, subject: Subject?, source: String, note: String? = nil, isTest: Bool
    ) {
      self.target = target
      self.subject = subject
      self.source = source
      self.note = note
      self.isTest = isTest
    }
  }

  /// An answer that a notification offers. The raw value is the word that a hook prints.
  public enum Action: String, Hashable, Sendable {
    /// Silence the occurrence; it is pending then.
    case stop
    /// Confirm the occurrence.
    case done
    /// Ring again later.
    case snooze
    /// Leave the occurrence out.
    case skip
    /// Ask again, as scheduled.
    case remind
  }

  /// The identity of the delivery.
  public var key: DeliveryKey {
    switch self {
    case .firing(let content, _): .occurrence(content.id, .firing)
    case .followUp(let content, let followUp): .occurrence(content.id, .followUp(followUp.number))
    case .advanceWarning(let content): .occurrence(content.id, .advanceWarning)
    case .missedSummary(let summary): .missedSummary(summary.at)
    case .batteryWarning(let content, _, _): .battery(content.id)
    case .message(let message): .message(message.id)
    case .rehearsal(let content, let requested):
      .rehearsal(alarm: content.id.alarm, requested: requested)
    }
  }

  /// The alarm and the occurrence; nil if the notification is about none or about several.
  public var content: Content? {
    switch self {
    case .firing(let content, _), .followUp(let content, _), .advanceWarning(let content),
      .batteryWarning(let content, _, _), .rehearsal(let content, _):
      content
    case .missedSummary, .message: nil
    }
  }

  /// The alarm's title, or the headline of a message.
  public var title: String {
    switch self {
    case .missedSummary(let summary): summary.first.title
    case .message(let message): message.headline
    case .firing, .followUp, .advanceWarning, .batteryWarning, .rehearsal: content?.title ?? ""
    }
  }

  /// The possible answers, in order of display.
  public var actions: [Action] {
    switch self {
    case .firing(_, let firing): firing.actions
    case .followUp: [.done, .remind]
    case .advanceWarning, .missedSummary, .batteryWarning, .message, .rehearsal: []
    }
  }

  /// True if the notification is heard as well as shown.
  public var rings: Bool {
    switch self {
    case .firing, .rehearsal: true
    case .followUp, .advanceWarning, .missedSummary, .batteryWarning, .message: false
    }
  }
}
