/// What this device has already rung for, by alarm and occurrence: local, never synced.
public struct Firings: Hashable, Sendable {
  public struct Key: Hashable, Comparable, Sendable {
    public let alarm: Identifier
    public let occurrence: CivilDateTime

    public init(alarm: Identifier, occurrence: CivilDateTime) {
      self.alarm = alarm
      self.occurrence = occurrence
    }

    public static func < (a: Key, b: Key) -> Bool {
      (a.alarm, a.occurrence) < (b.alarm, b.occurrence)
    }
  }

  public struct Firing: Hashable, Sendable {
    /// The moment it was due: its own time, or the end of a snooze. Another one is another ringing.
    public let due: Instant
    /// When it rang.
    public let at: Instant

    public init(due: Instant, at: Instant) {
      self.due = due
      self.at = at
    }
  }

  public private(set) var firings: [Key: Firing]

  public init(_ firings: [Key: Firing] = [:]) {
    self.firings = firings
  }

  /// When this device rang for an occurrence that was due at a moment; nil when it has not.
  public func rang(_ alarm: Identifier, _ occurrence: CivilDateTime, due: Instant) -> Instant? {
    let firing = firings[Key(alarm: alarm, occurrence: occurrence)]
    return firing?.due == due ? firing?.at : nil
  }

  public mutating func record(
    _ alarm: Identifier, _ occurrence: CivilDateTime, due: Instant, at: Instant
  ) {
    firings[Key(alarm: alarm, occurrence: occurrence)] = Firing(due: due, at: at)
  }

  /// Takes over what another note says; the later ringing of one occurrence counts.
  public mutating func merge(_ other: Firings) {
    firings.merge(other.firings) { $0.at < $1.at ? $1 : $0 }
  }

  /// Forgets what rang before a moment; only what may still be ringing matters.
  public mutating func forget(before moment: Instant) {
    firings = firings.filter { $0.value.at >= moment }
  }
}
