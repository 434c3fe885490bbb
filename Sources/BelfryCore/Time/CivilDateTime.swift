/// A wall-clock time of day, to the minute.
public struct CivilTime: Hashable, Comparable, Sendable {
  /// The number of minutes since midnight, 0…1439.
  public let minuteOfDay: Int

  /// Creates a time of day; nil unless `hour` is in 0…23 and `minute` in 0…59.
  public init?(hour: Int, minute: Int) {
    guard (0..<24).contains(hour), (0..<60).contains(minute) else { return nil }
    minuteOfDay = hour * 60 + minute
  }

  /// The time `00:00`.
  public static let midnight = CivilTime(minuteOfDay: 0)
  /// The time `12:00`.
  public static let noon = CivilTime(minuteOfDay: 720)

  init(minuteOfDay: Int) {
    assert((0..<1440).contains(minuteOfDay), "a time is within a day")
    self.minuteOfDay = minuteOfDay
  }

  /// The hour, 0…23.
  public var hour: Int { minuteOfDay / 60 }
  /// The minute, 0…59.
  public var minute: Int { minuteOfDay % 60 }

  /// Returns true if `a` is earlier than `b`.
  public static func < (a: CivilTime, b: CivilTime) -> Bool { a.minuteOfDay < b.minuteOfDay }
}

extension CivilTime: CustomStringConvertible {
  /// The time as text: `09:00`.
  public var description: String { padded(hour, 2) + ":" + padded(minute, 2) }

  /// Creates a time of day from text such as `09:00` or `9:00`; nil for any other text.
  public init?(_ text: String) {
    let parts = text.utf8.split(separator: UInt8(ascii: ":"), omittingEmptySubsequences: false)
    guard parts.count == 2, parts[0].count <= 2, parts[1].count == 2, let hour = decimal(parts[0]),
      let minute = decimal(parts[1])
    else { return nil }
    self.init(hour: hour, minute: minute)
  }
}

/// A wall-clock date and time without a time zone, to the minute. It identifies an occurrence of an alarm.
public struct CivilDateTime: Hashable, Comparable, Sendable {
  /// The date.
  public var date: CivilDate
  /// The time of day.
  public var time: CivilTime

  /// Creates a civil time from its date and time of day.
  public init(_ date: CivilDate, _ time: CivilTime) {
    self.date = date
    self.time = time
  }

  /// The number of minutes since 1970-01-01T00:00 on the same wall clock.
  public var minuteNumber: Int { date.dayNumber * 1440 + time.minuteOfDay }

  /// Creates the civil time that is a number of minutes after 1970-01-01T00:00.
  public init(minuteNumber: Int) {
    self.init(
      CivilDate(dayNumber: minuteNumber.floorDivided(by: 1440)),
      CivilTime(minuteOfDay: minuteNumber.floorRemainder(by: 1440)))
  }

  /// Returns true if `a` is earlier than `b`.
  public static func < (a: CivilDateTime, b: CivilDateTime) -> Bool {
    a.minuteNumber < b.minuteNumber
  }
}

extension CivilDateTime: CustomStringConvertible {
  /// The civil time as text: `2026-12-01T09:00`.
  public var description: String { "\(date)T\(time)" }

  /// Creates a civil time from text such as `2026-12-01T09:00`; nil for any other text.
  public init?(_ text: String) {
    let parts = text.split(separator: "T", omittingEmptySubsequences: false)
    guard parts.count == 2, let date = CivilDate(String(parts[0])),
      let time = CivilTime(String(parts[1])), parts[1].utf8.count == 5
    else { return nil }
    self.init(date, time)
  }
}
