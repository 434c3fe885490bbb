import BelfryCore
import BelfryStore

/// The parser of a schedule's parts in the values of options.
struct ScheduleText {
  /// The command whose help describes the options: `add`.
  let command: String

  /// Returns the times of day of `09:00,12:00`.
  func times(_ text: String, of option: String) throws -> [CivilTime] {
    try list(text).map { word in
      guard let time = CivilTime(word) else {
        throw invalid(option, word, "a time of day, such as 09:00")
      }
      return time
    }
  }

  /// Returns the recurrence on the weekdays of `mon,fri`.
  func weekly(
    _ text: String, of option: String, _ cadence: Recurrence.Cadence
  ) throws -> Recurrence {
    .weekly(
      try list(text).map { word in
        guard let day = Weekday(word) else {
          throw invalid(option, word, "a weekday: mon, tue, wed, thu, fri, sat or sun")
        }
        return day
      }, cadence)
  }

  /// Returns the recurrence on the days of `5,last,first mon,third workday`.
  func monthly(
    _ text: String, of option: String, _ cadence: Recurrence.Cadence
  ) throws -> Recurrence {
    .monthly(try monthDays(text, of: option), cadence)
  }

  /// Returns the recurrence on the month and day of `03-15`, or on a day of some months such as `fourth thu of nov`.
  func annual(
    _ text: String, of option: String, _ cadence: Recurrence.Cadence
  ) throws -> Recurrence {
    if let range = text.firstRange(of: " of ") {
      let names = text[range.upperBound...].split(separator: ",")
      let months = names.compactMap { CivilDate.month(named: String($0)) }
      if months.count == names.count {
        let days = try monthDays(String(text[..<range.lowerBound]), of: option)
        return .annual(months: months, days, cadence)
      }
    }
    guard let date = ScheduleRecord.monthAndDay(text) else {
      throw invalid(option, text, "a month and a day, such as 03-15 or \"fourth thu of nov\"")
    }
    return .annual(months: [date.month], [.day(date.day)], cadence)
  }

  private func monthDays(_ text: String, of option: String) throws -> [Recurrence.MonthDay] {
    try text.split(separator: ",", omittingEmptySubsequences: false).map { word in
      guard let day = Recurrence.MonthDay(String(word)) else {
        throw invalid(
          option, word.trimmingPrefix { $0 == " " }.description,
          "a day of the month: 1 to 31, last, last-2, \"first mon\", \"last-1 fri\" or \"last workday\""
        )
      }
      return day
    }
  }

  /// Returns the dates of `2026-12-24,2026-12-31`; none for `none`.
  func dates(_ text: String, of option: String) throws -> [CivilDate] {
    if text == ScheduleText.none { return [] }
    return try list(text).map { word in
      guard let date = CivilDate(word) else {
        throw invalid(option, word, "a date, such as 2026-12-24")
      }
      return date
    }
  }

  /// Returns the latest possible occurrence of a schedule that ends on a date, or at a time; nil for `none`.
  func end(_ text: String, of option: String) throws -> CivilDateTime? {
    if text == ScheduleText.none { return nil }
    guard
      let end = CivilDate(text).map(Schedule.Limits.end)
        ?? CivilDateTime(text.replacing(" ", with: "T"))
    else { throw invalid(option, text, "a date, such as 2027-06-30, or none") }
    return end
  }

  /// Returns a rule for holidays; nil for `none`.
  func holidayRule(_ text: String, of option: String) throws -> Schedule.HolidayRule? {
    if text == ScheduleText.none { return nil }
    guard let rule = Schedule.HolidayRule(rawValue: text.lowercased()) else {
      throw invalid(option, text, "skip, before, after or none")
    }
    return rule
  }

  /// The value that removes a limit.
  private static let none = "none"

  /// Returns the error for a value that is not valid.
  func invalid(_ option: String, _ text: String, _ expected: String) -> CommandError {
    CommandError(
      .usage, "\(option): '\(Printable.text(text))' is not \(expected).",
      hint: "See 'belfry help \(command)'.")
  }

  private func list(_ text: String) -> [String] {
    text.split(separator: ",", omittingEmptySubsequences: false)
      .map { $0.filter { $0 != " " }.lowercased() }
  }
}

extension CivilDate {
  /// Returns the number of a month by the first three or more letters of its English name; nil for any other text.
  static func month(named text: String) -> Int? {
    let name = text.filter { $0 != " " }.lowercased()
    guard name.count >= 3 else { return nil }
    return longMonthNames.firstIndex { $0.lowercased().hasPrefix(name) }.map { $0 + 1 }
  }

  private static let longMonthNames = [
    "January", "February", "March", "April", "May", "June", "July", "August", "September",
    "October", "November", "December",
  ]
}

extension CivilDateTime {
  /// Creates the occurrence that an argument or an option names.
  ///
  /// - Throws: `CommandError` if the text is not a date with a time.
  init(occurrence text: String) throws {
    guard let civil = CivilDateTime(text) else {
      throw CommandError(
        .usage, "'\(Printable.text(text))' is not an occurrence.",
        hint: "Write it as 2026-11-23T09:00.")
    }
    self = civil
  }
}
