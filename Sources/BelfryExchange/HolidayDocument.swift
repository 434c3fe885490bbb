import BelfryCore
import BelfryStore

/// The holidays of an iCalendar document.
public struct HolidayDocument {
  /// The number of years for which a holiday that repeats for ever is written.
  public static let years = 10

  private let library: CalendarLibrary

  /// Loads libical.
  ///
  /// - Throws: `ExchangeError` if libical is not installed.
  public init() throws(ExchangeError) {
    library = try CalendarLibrary()
  }

  /// Reads the days of all events.
  ///
  /// - Parameters:
  ///   - bytes: the document.
  ///   - today: the first year that a repetition covers is that of this date.
  /// - Returns: The names of the holidays by date, and a remark for each event that was left out.
  /// - Throws: `ExchangeError` if the document is not valid.
  public func read(
    _ bytes: [UInt8], today: CivilDate
  ) throws(ExchangeError) -> (holidays: [CivilDate: String], leftOut: [Remark]) {
    var holidays: [CivilDate: String] = [:]
    var leftOut: [Remark] = []
    for document in try library.read(bytes) {
      for event in document.components("VEVENT") {
        let name = name(of: event)
        do throws(CalendarRule.Unsupported) {
          for date in try dates(of: event, today: today) {
            // Two holidays on one day, such as a national and a regional one.
            let names = Set([holidays[date], name].compactMap { $0 }).sorted()
            holidays[date] = String(
              names.joined(separator: ", ").prefix(HolidayCalendar.longestHolidayName))
          }
        } catch {
          leftOut.append(Remark(title: name, error.reason))
        }
      }
    }
    return (holidays, leftOut)
  }

  private func name(of event: CalendarComponent) -> String {
    let text = event.first("SUMMARY").map { library.text($0.value) } ?? ""
    let name = (try? AlarmText.title(String(text.prefix(HolidayCalendar.longestHolidayName)))) ?? ""
    return name.isEmpty ? "Holiday" : name
  }

  private func dates(
    of event: CalendarComponent, today: CivilDate
  ) throws(CalendarRule.Unsupported) -> [CivilDate] {
    if event.first("STATUS")?.value.uppercased() == "CANCELLED" { return [] }
    guard let start = event.first("DTSTART").flatMap({ CalendarTime.read($0.value) }) else {
      throw CalendarRule.Unsupported("it has no date")
    }
    // The end of an event of whole days is the day after.
    let end = event.first("DTEND").flatMap { CalendarTime.read($0.value) }?.civil.date
    let length = start.isDate ? end.map { $0.dayNumber - start.civil.date.dayNumber } ?? 1 : 1
    guard (1...HolidayCalendar.maxHolidays).contains(length) else {
      throw CalendarRule.Unsupported("it is longer than a year")
    }
    let first = try firstDates(of: event, from: start.civil, today: today)
    let excluded = Set(event.all("EXDATE").flatMap { CalendarTime.list($0.value) }.map(\.date))
    return first.filter { !excluded.contains($0) }.flatMap { date in
      (0..<length).map { date.adding(days: $0) }
    }
  }

  /// Returns the first dates of an event and its repetitions.
  private func firstDates(
    of event: CalendarComponent, from start: CivilDateTime, today: CivilDate
  ) throws(CalendarRule.Unsupported) -> [CivilDate] {
    guard let rule = event.first("RRULE") else { return [start.date] }
    let reading = try CalendarRule.read(rule.value, start: start)
    let last = CivilDate(year: today.year + Self.years - 1, month: 12, day: 31)
    let until = reading.until.flatMap { CalendarTime.read($0) }?.civil.date
    var dates: [CivilDate] = []
    var day = reading.recurrence.first(onOrAfter: start.date, in: .standard)
    var count = 0
    while let date = day, date <= min(last, until ?? last), count < reading.count ?? .max {
      count += 1
      if date.year >= today.year { dates.append(date) }
      day = reading.recurrence.first(onOrAfter: date.adding(days: 1), in: .standard)
    }
    return dates
  }
}
