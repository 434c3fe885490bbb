import BelfryCore
import BelfryStore

/// The holidays of an iCalendar document.
public struct HolidayDocument {
  /// The number of years for which a holiday that repeats for ever is written.
  public static let years = 10

  /// The maximum number of occurrences of a rule: those of two centuries of weeks.
  private static let maxOccurrences = 10_400

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
    let events = try library.read(bytes).flatMap(\.items).filter { $0.name == "VEVENT" }
    for series in CalendarSeries.groups(of: events) {
      // A changed day of a repetition, such as a holiday that is moved in one year.
      let changed = Set(series.changes.flatMap { dates($0, "RECURRENCE-ID") })
      for event in series.items + series.changes {
        let name = name(of: event)
        do throws(CalendarRule.Unsupported) {
          let omitted = event.first("RECURRENCE-ID") == nil ? changed : []
          for date in try days(of: event, omitting: omitted, today: today) {
            // Two holidays on one day, such as a national and a regional one.
            let names = Set([holidays[date], name].compactMap(\.self)).sorted()
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
    let text = event.first("SUMMARY").map { CalendarText.unescaped($0.value) } ?? ""
    let name = (try? AlarmText.title(String(text.prefix(HolidayCalendar.longestHolidayName)))) ?? ""
    return name.isEmpty ? "Holiday" : name
  }

  private func days(
    of event: CalendarComponent, omitting changed: Set<CivilDate>, today: CivilDate
  ) throws(CalendarRule.Unsupported) -> Set<CivilDate> {
    if event.first("STATUS")?.value.uppercased() == "CANCELLED" { return [] }
    guard let start = event.first("DTSTART").flatMap({ CalendarTime.read($0.value) }) else {
      throw CalendarRule.Unsupported("it has no date")
    }
    let length = length(of: event, from: start.civil)
    guard length <= HolidayCalendar.maxHolidays else {
      throw CalendarRule.Unsupported("it is longer than a year")
    }
    let first = try firstDates(of: event, from: start.civil, today: today)
    let excluded = changed.union(dates(event, "EXDATE"))
    let days = (first + dates(event, "RDATE")).filter { !excluded.contains($0) }
      .flatMap { date in (0..<length).map { date.adding(days: $0) } }
    guard days.count <= HolidayCalendar.maxHolidays * HolidayDocument.years else {
      throw CalendarRule.Unsupported("it has too many dates")
    }
    return Set(days)
  }

  /// Returns the number of days of an event. The end of an event of whole days is the day after; some programs write
  /// the start as the end.
  private func length(of event: CalendarComponent, from start: CivilDateTime) -> Int {
    if let end = event.first("DTEND").flatMap({ CalendarTime.read($0.value) })?.civil {
      // An event by the hour is on the day of its start, unless it is from midnight to midnight.
      let isWhole = start.time == .midnight && end.time == .midnight
      return isWhole ? max(1, end.date.dayNumber - start.date.dayNumber) : 1
    }
    let duration = event.first("DURATION").flatMap { CalendarDuration(correcting: $0.value) }
    return start.time == .midnight ? max(1, (duration?.minutes ?? 0) / 1440) : 1
  }

  /// Returns the dates of all properties with a name. Of a period, that is its start.
  private func dates(_ event: CalendarComponent, _ name: String) -> [CivilDate] {
    (event.all(name) + event.rejected.filter { $0.name == name })
      .flatMap { $0.value.split(separator: ",") }
      .compactMap { $0.split(separator: "/").first }
      .compactMap { CalendarTime.read(String($0))?.civil.date }
  }

  /// Returns the first dates of an event and its repetitions.
  private func firstDates(
    of event: CalendarComponent, from start: CivilDateTime, today: CivilDate
  ) throws(CalendarRule.Unsupported) -> [CivilDate] {
    if let line = event.rejected.first(where: { $0.name == "RRULE" }) {
      // libical rejects a rule without the reason.
      _ = try CalendarRule.read(line.value, start: start)
      throw CalendarRule.Unsupported("its recurrence rule is not valid: \(line.value)")
    }
    guard let rule = event.first("RRULE") else { return [start.date] }
    let last = CivilDate(year: today.year + Self.years - 1, month: 12, day: 31)
    let occurrences = library.occurrences(
      of: rule.value, from: start, limit: HolidayDocument.maxOccurrences)
    return ([start] + occurrences).map(\.date).filter { $0.year >= today.year && $0 <= last }
  }
}
