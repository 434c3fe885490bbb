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

  /// Returns the recurrence on the days of `5,15,last`, or on the weekday of `first mon`.
  func monthly(
    _ text: String, of option: String, _ cadence: Recurrence.Cadence
  ) throws -> Recurrence {
    let parts = text.split(separator: " ").map(String.init)
    if parts.count == 2 {
      guard let ordinal = Recurrence.Ordinal(parts[0]), let weekday = Weekday(parts[1]) else {
        throw invalid(
          option, text, "a weekday of the month, such as \"first mon\" or \"last fri\"")
      }
      return .monthlyWeekday(ordinal, weekday, cadence)
    }
    let days = try list(text).map { word -> Recurrence.MonthDay in
      if word == "last" { return .last }
      guard let day = Int(word), (1...31).contains(day) else {
        throw invalid(option, word, "a day of the month: 1 to 31, or last")
      }
      return .day(day)
    }
    return .monthly(days, cadence)
  }

  /// Returns the recurrence on the month and day of `03-15`.
  func annual(
    _ text: String, of option: String, _ cadence: Recurrence.Cadence
  ) throws -> Recurrence {
    guard let date = ScheduleRecord.monthAndDay(text) else {
      throw invalid(option, text, "a month and a day, such as 03-15")
    }
    return .annual(month: date.month, day: date.day, cadence)
  }

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
