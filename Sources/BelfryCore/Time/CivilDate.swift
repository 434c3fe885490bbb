/// A day of the proleptic Gregorian calendar, without a time zone.
///
/// It is stored as the number of days since 1970-01-01, so that stepping is integer addition. Year, month and day are
/// computed from eras of 400 years, which have 146,097 days each.
public struct CivilDate: Hashable, Comparable, Sendable {
  /// The years that records can contain. Four digits make dates sortable as text.
  public static let years = 1...9999
  /// The first date that a record can contain.
  public static let earliest = CivilDate(year: 1, month: 1, day: 1)
  /// The last date that a record can contain.
  public static let latest = CivilDate(year: 9999, month: 12, day: 31)

  /// The number of days since 1970-01-01; negative before that date.
  public var dayNumber: Int

  /// Creates the date that is a number of days after 1970-01-01.
  public init(dayNumber: Int) {
    self.dayNumber = dayNumber
  }

  /// Creates a date from its year, month and day. The date must exist.
  ///
  /// - Precondition: `month` is in 1…12, and `day` is in 1…31.
  public init(year: Int, month: Int, day: Int) {
    precondition((1...12).contains(month) && (1...31).contains(day), "month or day out of range")
    let shifted = month <= 2 ? year - 1 : year
    let era = shifted.floorDivided(by: 400)
    let yearOfEra = shifted - era * 400
    let dayOfYear = (153 * ((month + 9) % 12) + 2) / 5 + day - 1
    let dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
    self.init(dayNumber: era * 146_097 + dayOfEra - 719_468)
  }

  /// The year, the month (1…12) and the day (1…31).
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

  /// The year.
  public var year: Int { components.year }
  /// The month, 1…12.
  public var month: Int { components.month }
  /// The day of the month, 1…31.
  public var day: Int { components.day }

  /// The day of the week.
  public var weekday: Weekday {
    // 1970-01-01 was a Thursday.
    Weekday(rawValue: (dayNumber + 3).floorRemainder(by: 7)) ?? .monday
  }

  /// Returns true if `a` is earlier than `b`.
  public static func < (a: CivilDate, b: CivilDate) -> Bool { a.dayNumber < b.dayNumber }

  /// Returns the date that is a number of days later, or earlier if the number is negative.
  public func adding(days: Int) -> CivilDate { CivilDate(dayNumber: dayNumber + days) }

  /// Returns the number of days in a month.
  public static func length(ofMonth month: Int, year: Int) -> Int {
    switch month {
    case 2: year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28
    case 4, 6, 9, 11: 30
    default: 31
    }
  }
}

extension CivilDate: CustomStringConvertible {
  /// The date as text: `2026-12-01`.
  public var description: String {
    let (year, month, day) = components
    return padded(year, 4) + "-" + padded(month, 2) + "-" + padded(day, 2)
  }

  /// Creates a date from text such as `2026-12-01`; nil if it is not a date of the years 1 to 9999.
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

/// A day of the week. Weeks start on Monday, as in ISO 8601.
public enum Weekday: Int, CaseIterable, Comparable, Sendable {
  /// A weekday. The raw value is the number of days since Monday.
  case monday, tuesday, wednesday, thursday, friday, saturday, sunday

  /// Returns true if `a` precedes `b` in a week that starts on Monday.
  public static func < (a: Weekday, b: Weekday) -> Bool { a.rawValue < b.rawValue }

  /// The abbreviation in records and on the command line, `mon` … `sun`.
  public var abbreviation: String {
    ["mon", "tue", "wed", "thu", "fri", "sat", "sun"][rawValue]
  }

  /// Creates a weekday from its abbreviation or its English name, in any case; nil for any other text.
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
