/// A day of the proleptic Gregorian calendar, without a time zone.
///
/// Kept as the number of days since 1970-01-01, so that stepping is integer addition; year, month and
/// day are computed from it (the era method: 400 years are 146,097 days).
public struct CivilDate: Hashable, Comparable, Sendable {
  /// The years that a record may hold; four digits, so that dates sort as text.
  public static let years = 1...9999

  /// Days since 1970-01-01; negative before.
  public var dayNumber: Int

  public init(dayNumber: Int) {
    self.dayNumber = dayNumber
  }

  /// The day of a date that exists; a month or day out of range is the caller's mistake.
  public init(year: Int, month: Int, day: Int) {
    precondition((1...12).contains(month) && (1...31).contains(day), "no such day")
    let shifted = month <= 2 ? year - 1 : year
    let era = shifted.floorDivided(by: 400)
    let yearOfEra = shifted - era * 400
    let dayOfYear = (153 * ((month + 9) % 12) + 2) / 5 + day - 1
    let dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
    self.init(dayNumber: era * 146_097 + dayOfEra - 719_468)
  }

  /// Year, month 1…12 and day 1…31.
  public var components: (year: Int, month: Int, day: Int) {
    let shifted = dayNumber + 719_468
    let era = shifted.floorDivided(by: 146_097)
    let dayOfEra = shifted - era * 146_097
    let yearOfEra =
      (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
    let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
    let monthFromMarch = (5 * dayOfYear + 2) / 153
    let day = dayOfYear - (153 * monthFromMarch + 2) / 5 + 1
    let month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9
    return (yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, day)
  }

  public var year: Int { components.year }
  public var month: Int { components.month }
  public var day: Int { components.day }

  public var weekday: Weekday {
    // 1970-01-01 was a Thursday.
    Weekday(rawValue: (dayNumber + 3).floorRemainder(by: 7)) ?? .monday
  }

  public static func < (a: CivilDate, b: CivilDate) -> Bool { a.dayNumber < b.dayNumber }

  public func adding(days: Int) -> CivilDate { CivilDate(dayNumber: dayNumber + days) }

  /// How many days a month has.
  public static func length(ofMonth month: Int, year: Int) -> Int {
    switch month {
    case 2: year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28
    case 4, 6, 9, 11: 30
    default: 31
    }
  }
}

extension CivilDate: CustomStringConvertible {
  /// `2026-12-01`.
  public var description: String {
    let (year, month, day) = components
    return padded(year, 4) + "-" + padded(month, 2) + "-" + padded(day, 2)
  }

  /// Reads `2026-12-01`; nil when it is not a day of the calendar.
  public init?(_ text: String) {
    let bytes = Array(text.utf8)
    guard bytes.count == 10, bytes[4] == UInt8(ascii: "-"), bytes[7] == UInt8(ascii: "-"),
      let year = decimal(bytes[0..<4]), let month = decimal(bytes[5..<7]),
      let day = decimal(bytes[8..<10]), CivilDate.years.contains(year), (1...12).contains(month),
      day >= 1, day <= CivilDate.length(ofMonth: month, year: year)
    else { return nil }
    self.init(year: year, month: month, day: day)
  }
}

/// A day of the week; weeks start on Monday, as in ISO 8601.
public enum Weekday: Int, CaseIterable, Comparable, Sendable {
  case monday, tuesday, wednesday, thursday, friday, saturday, sunday

  public static func < (a: Weekday, b: Weekday) -> Bool { a.rawValue < b.rawValue }

  /// `mon` … `sun`, as records and the command line spell it.
  public var abbreviation: String {
    ["mon", "tue", "wed", "thu", "fri", "sat", "sun"][rawValue]
  }

  /// Reads the three-letter abbreviation or the whole English name, in any case.
  public init?(_ text: String) {
    let lowered = text.lowercased()
    guard
      let match = Weekday.allCases.first(where: {
        lowered == $0.abbreviation || lowered == "\($0)"
      })
    else { return nil }
    self = match
  }
}
