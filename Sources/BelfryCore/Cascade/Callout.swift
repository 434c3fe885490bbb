/// A cascade step whose turn has come and whose target is a phone number or a person. Any capable device can call.
public struct Callout: Hashable, Sendable {
  /// The reason for a call.
  public enum Subject: Hashable, Sendable {
    /// An occurrence that nobody has answered. `resumed` is the time at which it began to ring again, after a snooze or
    /// an undo; nil if it rings for the first time.
    case occurrence(OccurrenceID, resumed: Instant? = nil)
    /// A rehearsal of an alarm's cascade, with the time of its request.
    case rehearsal(alarm: Identifier, requested: Instant)
  }

  /// The identity of a call, which is the same on every device.
  public struct ID: Hashable, Sendable {
    /// The reason for the call.
    public let subject: Subject
    /// The phone number or person.
    public let target: CascadeTarget

    /// Creates an identity.
    public init(_ subject: Subject, _ target: CascadeTarget) {
      self.subject = subject
      self.target = target
    }

    /// The identity as text: the key of the call in local files and at the remote.
    public var text: String {
      switch subject {
      case .occurrence(let id, nil): "\(id.alarm) \(id.occurrence) \(target.key)"
      case .occurrence(let id, let resumed?):
        "\(id.alarm) \(id.occurrence) \(resumed.rfc3339Milliseconds) \(target.key)"
      case .rehearsal(let alarm, let requested):
        "\(alarm) rehearsal \(requested.rfc3339Milliseconds) \(target.key)"
      }
    }
  }

  /// The identity of the call.
  public let id: ID
  /// The time at which the cascade step became due; for a rehearsal, the time of its request.
  public let due: Instant

  /// Creates a callout.
  public init(_ subject: Subject, _ target: CascadeTarget, due: Instant) {
    id = ID(subject, target)
    self.due = due
  }

  /// The phone number or person.
  public var target: CascadeTarget { id.target }

  /// The alarm.
  public var alarm: Identifier {
    switch id.subject {
    case .occurrence(let occurrence, _): occurrence.alarm
    case .rehearsal(let alarm, _): alarm
    }
  }

  /// The occurrence; nil for a rehearsal.
  public var occurrence: CivilDateTime? {
    if case .occurrence(let occurrence, _) = id.subject { occurrence.occurrence } else { nil }
  }

  /// The time at which the occurrence began to ring again; nil if it rings for the first time.
  public var resumed: Instant? {
    if case .occurrence(_, let resumed) = id.subject { resumed } else { nil }
  }

  /// True for a rehearsal.
  public var isTest: Bool { occurrence == nil }
}
