/// A wall-clock time of day, to the minute.
public struct CivilTime: Hashable, Comparable, Sendable {
  /// Minutes since midnight, 0…1439.
  public let minuteOfDay: Int

  /// Nil unless `hour` is 0…23 and `minute` 0…59.
  public init?(hour: Int, minute: Int) {
    guard (0..<24).contains(hour), (0..<60).contains(minute) else { return nil }
    minuteOfDay = hour * 60 + minute
  }

  public static let midnight = CivilTime(minuteOfDay: 0)

  init(minuteOfDay: Int) {
    self.minuteOfDay = minuteOfDay
  }

  public var hour: Int { minuteOfDay / 60 }
  public var minute: Int { minuteOfDay % 60 }

  public static func < (a: CivilTime, b: CivilTime) -> Bool { a.minuteOfDay < b.minuteOfDay }
}

extension CivilTime: CustomStringConvertible {
  /// `09:00`.
  public var description: String { padded(hour, 2) + ":" + padded(minute, 2) }

  /// Reads `09:00` or `9:00`; nil when it is not a time of day.
  public init?(_ text: String) {
    let parts = text.utf8.split(separator: UInt8(ascii: ":"), omittingEmptySubsequences: false)
    guard parts.count == 2, parts[0].count <= 2, parts[1].count == 2, let hour = decimal(parts[0]),
      let minute = decimal(parts[1])
    else { return nil }
    self.init(hour: hour, minute: minute)
  }
}

/// A wall-clock date and time without a time zone, to the minute. It names an occurrence.
public struct CivilDateTime: Hashable, Comparable, Sendable {
  public var date: CivilDate
  public var time: CivilTime

  public init(_ date: CivilDate, _ time: CivilTime) {
    self.date = date
    self.time = time
  }

  /// Minutes since 1970-01-01T00:00 on the same wall clock.
  public var minuteNumber: Int { date.dayNumber * 1440 + time.minuteOfDay }

  public init(minuteNumber: Int) {
    self.init(
      CivilDate(dayNumber: minuteNumber.floorDivided(by: 1440)),
      CivilTime(minuteOfDay: minuteNumber.floorRemainder(by: 1440)))
  }

  public static func < (a: CivilDateTime, b: CivilDateTime) -> Bool {
    a.minuteNumber < b.minuteNumber
  }
}

extension CivilDateTime: CustomStringConvertible {
  /// `2026-12-01T09:00`.
  public var description: String { "\(date)T\(time)" }

  /// Reads `2026-12-01T09:00`; nil when it is not a date and time.
  public init?(_ text: String) {
    let parts = text.split(separator: "T", omittingEmptySubsequences: false)
    guard parts.count == 2, let date = CivilDate(String(parts[0])),
      let time = CivilTime(String(parts[1])), parts[1].utf8.count == 5
    else { return nil }
    self.init(date, time)
  }
}
