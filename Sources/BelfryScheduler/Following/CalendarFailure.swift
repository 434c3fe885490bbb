import BelfryExchange

/// The reason why a calendar could not be fetched or read.
public struct CalendarFailure: Error, Hashable, Sendable {
  /// The kind of a failure.
  public enum Kind: Hashable, Sendable {
    /// The server cannot be reached.
    case network
    /// The server refuses access.
    case denied
    /// The calendar is not valid, or something else failed.
    case other
  }

  /// The reason as a clause, without a final period. It contains no credentials.
  public let reason: String
  /// The kind.
  public let kind: Kind

  init(_ reason: String, _ kind: Kind = .other) {
    self.reason = reason
    self.kind = kind
  }

  init(_ damage: CalendarDamage) {
    switch damage {
    case .empty: self.init("it is empty")
    case .webPage: self.init("it is a web page, not a calendar")
    case .otherKind: self.init("it is not an iCalendar document")
    case .incomplete: self.init("it ends before its end (END:VCALENDAR)")
    case .tooManyItems(let count):
      self.init("it has \(count) events; the maximum is \(CalendarFeed.maxItems)")
    }
  }

  /// The failure of a document that exceeds the maximum size.
  static let tooLarge = CalendarFailure("it is larger than 16 MB")
}
