import BelfryCore

/// A recurrence rule of iCalendar as text: `FREQ=WEEKLY;BYDAY=MO,FR;UNTIL=20270630`.
public struct RecurrenceRuleText: Sendable {
  /// The dates.
  public let recurrence: Recurrence
  /// The times of day; nil if the rule has none of its own.
  public let times: [CivilTime]?
  /// The only months; empty for all.
  public let months: [Int]
  /// The latest possible occurrence; nil for no end.
  public let until: CivilDateTime?
  /// The number of occurrences; nil for no limit.
  public let count: Int?

  /// Reads a rule, with or without `RRULE:`.
  ///
  /// - Parameters:
  ///   - start: The civil time from which intervals are counted, and which replaces missing parts.
  ///   - zone: The zone of the civil times.
  /// - Throws: `ExchangeError` if the rule is not valid, or no schedule has the same occurrences.
  public init(
    _ text: String, start: CivilDateTime, zone: TimeZoneRules
  ) throws(ExchangeError) {
    let rule =
      text.uppercased().hasPrefix(Self.prefix) ? String(text.dropFirst(Self.prefix.count)) : text
    let reading: CalendarRule.Reading
    do throws(CalendarRule.Unsupported) {
      reading = try CalendarRule.read(rule, start: start)
    } catch {
      throw ExchangeError(error.reason)
    }
    if let loss = reading.losses.first {
      throw ExchangeError("an alarm cannot express \(loss)")
    }
    recurrence = reading.recurrence
    times = reading.times
    months = reading.months
    count = reading.count
    until = reading.until.flatMap { CalendarTime.read($0) }.map { until in
      if until.isDate { return Schedule.Limits.end(of: until.civil.date) }
      return until.isUTC
        ? zone.civil(at: TimeZoneRules.utc.instant(of: until.civil)) : until.civil
    }
  }

  private static let prefix = "RRULE:"

  /// Returns true if a text has the form of a rule.
  public static func isRule(_ text: String) -> Bool {
    let upper = text.uppercased()
    return upper.hasPrefix(prefix) || upper.hasPrefix("FREQ=") || upper.contains(";FREQ=")
  }
}
