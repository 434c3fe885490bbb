import BelfryCore

/// A line of a calendar.
package struct AgendaLine: Hashable, Sendable {
  package let text: String
  /// The date of a line that begins a week of a grid, or a day of a list; nil for any other line.
  package let date: CivilDate?

  init(_ text: String, date: CivilDate? = nil) { (self.text, self.date) = (text, date) }
}

/// A calendar as lines of text: pure functions of an agenda, a width and a style.
package struct AgendaText {
  let agenda: Agenda
  let times: TimeText
  let style: Style
  /// The width in columns.
  let width: Int
  /// The number of lines that a month should not exceed; nil for no limit.
  private let height: Int?

  /// The width in columns below which a month or week is a list of days.
  package static let narrowest = 60
  /// The width above which a calendar does not grow.
  private static let widest = 240

  /// Creates the text of an agenda.
  ///
  /// - Parameters:
  ///   - width: the width in columns; nil for that of the terminal, or 80 without one.
  ///   - height: the number of lines that a month should not exceed. Its days then show fewer occurrences.
  package init(
    _ agenda: Agenda, _ times: TimeText, _ style: Style, width: Int? = nil, height: Int? = nil
  ) {
    self.height = height
    self.agenda = agenda
    self.times = times
    self.style = style
    self.width = min(width ?? style.width ?? 80, AgendaText.widest)
  }

  /// The names of the months.
  static let months = [
    "January", "February", "March", "April", "May", "June", "July", "August", "September",
    "October", "November", "December",
  ]

  /// Returns the lines of a period in the form of its unit.
  ///
  /// - Parameter isList: true for a list of days instead of a grid.
  package func lines(_ period: CalendarPeriod, isList: Bool = false) -> [AgendaLine] {
    let isGrid = !isList && width >= AgendaText.narrowest
    let legend = AgendaLegend(self, period.unit).lines.map { AgendaLine($0) }
    var lines: [AgendaLine] = []
    for (number, dates) in period.units.enumerated() {
      if number > 0 { lines.append(AgendaLine("")) }
      lines.append(
        AgendaLine(
          isList ? style.paint(title(period.unit, dates), .bold) : heading(period.unit, dates)))
      switch period.unit {
      case .year: lines += AgendaYear(self, dates).lines.map { AgendaLine($0) }
      case .month where isGrid: lines += month(dates, besides: lines.count + legend.count)
      case .week where isGrid: lines += AgendaWeek(self, dates).lines.map { AgendaLine($0) }
      case .day, .week, .month, .quarter: lines += AgendaList(self, dates).lines
      }
    }
    return lines + legend
  }

  /// Returns the lines of a month that fit the height, or else the fewest.
  private func month(_ dates: ClosedRange<CivilDate>, besides others: Int) -> [AgendaLine] {
    var lines: [AgendaLine] = []
    for count in AgendaMonth.heights {
      lines = AgendaMonth(self, dates, maxLines: count).lines
      guard let height, lines.count + others > height else { break }
    }
    return lines
  }

  /// Returns a heading in the middle of the line.
  private func heading(_ unit: CalendarUnit, _ dates: ClosedRange<CivilDate>) -> String {
    let title = title(unit, dates)
    let indent = max(0, (width - title.count) / 2)
    return String(repeating: " ", count: indent) + style.paint(title, .bold)
  }

  private func title(_ unit: CalendarUnit, _ dates: ClosedRange<CivilDate>) -> String {
    let first = dates.lowerBound
    switch unit {
    case .day: return times.date(first)
    case .year: return "\(first.year)"
    case .quarter: return "Q\((first.month + 2) / 3) \(first.year)"
    case .month: return "\(AgendaText.months[first.month - 1]) \(first.year)"
    case .week(let weekday):
      let last = dates.upperBound
      let long = "\(times.date(first)) - \(times.date(last))"
      // Weeks are numbered from Monday on.
      let numbered = weekday == .monday ? "Week \(AgendaText.weekNumber(first)): \(long)" : long
      let short = "\(times.shortDate(first)) - \(times.shortDate(last))"
      return [numbered, long].first { TextWidth.of($0) <= width } ?? TextWidth.cut(short, to: width)
    }
  }

  /// Returns the number of the week that begins with a Monday, as in ISO 8601.
  private static func weekNumber(_ monday: CivilDate) -> Int {
    let thursday = monday.adding(days: 3)
    return (thursday.dayNumber - CivilDate(year: thursday.year, month: 1, day: 1).dayNumber) / 7 + 1
  }

  // MARK: Parts

  /// Returns the title of an alarm.
  func title(_ alarm: Identifier) -> String {
    guard let subject = agenda.alarms[alarm] else { return alarm.short }
    return Printable.text(subject.shownTitle)
  }

  /// Returns the color of an alarm: that of its first tag; nil without tags.
  func color(_ alarm: Identifier) -> PaletteColor? {
    agenda.alarms[alarm]?.tags.first.map { PaletteColor.of($0) }
  }

  /// Returns the names of the holidays of a day, and `paused` if all alarms of the calendar are paused.
  func remarks(_ day: Agenda.Day) -> [String] {
    let isPaused = !agenda.alarms.isEmpty && day.paused.count == agenda.alarms.count
    return day.holidays.map { Printable.text($0) } + (isPaused ? ["paused"] : [])
  }
}
