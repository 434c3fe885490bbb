import BelfryCore

// MARK: The month grids

extension AlarmPage {
  /// The maximum number of entries of a day that are listed.
  private static let maxEntries = 5

  func writeCalendar(_ html: inout HTMLWriter) {
    section("calendar", "Calendar", &html) { html in
      html.element("div", ("class", "months")) { html in
        let months = DateBuckets(AlarmPage.calendarDates(at: today), by: .month)
        for index in 0..<months.count { writeMonth(months.dates(index), &html) }
      }
      html.element("ul", ("class", "k")) { html in
        for state: Agenda.State in [
          .upcoming, .done, .autoCompleted, .skipped, .pending, .missed,
        ] {
          let look = AlarmPage.look(state)
          html.element("li") { html in
            html.element(
              "span", ("class", look.style), ("aria-hidden", "true"),
              text: state == .upcoming ? "\(time(.noon)) " : "\(look.mark) ")
            html.text(look.name)
          }
        }
      }
    }
  }

  private func writeMonth(_ dates: ClosedRange<CivilDate>, _ html: inout HTMLWriter) {
    let place = week.firstIndex { $0.weekday == dates.lowerBound.weekday } ?? 0
    let start = dates.lowerBound.adding(days: -place)
    html.element("table", ("class", "month stack")) { html in
      html.element("caption", text: AlarmPage.name(ofMonth: dates.lowerBound))
      html.element("thead") { html in
        html.element("tr") { html in
          for day in week { html.element("th", ("scope", "col"), text: day.name) }
        }
      }
      html.element("tbody") { html in
        let weeks = (dates.upperBound.dayNumber - start.dayNumber) / 7 + 1
        for number in 0..<weeks {
          html.element("tr") { html in
            for column in week.indices {
              let date = start.adding(days: number * 7 + column)
              if dates.contains(date) {
                writeDay(date, week[column].name, &html)
              } else {
                html.empty("td", ("class", "o"))
              }
            }
          }
        }
      }
    }
  }

  private func writeDay(_ date: CivilDate, _ weekday: String, _ html: inout HTMLWriter) {
    let entries = calendar[date].map { DayEntry.entries(of: $0) } ?? []
    let content: (inout HTMLWriter) -> Void = { html in
      html.element("time", ("datetime", "\(date)")) { html in
        html.element("span", ("class", "w"), text: "\(weekday) ")
        html.text("\(date.day)")
      }
      if entries.isEmpty { return }
      html.element("ul") { html in
        // One line is no place for the number of a single entry.
        let shown =
          entries.count <= AlarmPage.maxEntries ? entries.count : AlarmPage.maxEntries - 1
        for entry in entries.prefix(shown) { write(entry, &html) }
        if shown < entries.count {
          html.element("li", ("class", "m"), text: "and \(entries.count - shown) more")
        }
      }
    }
    if date == today {
      html.element("td", ("aria-current", "date"), content: content)
    } else {
      let style = [date < today ? "past" : "", entries.isEmpty ? "e" : ""].filter { !$0.isEmpty }
      if style.isEmpty {
        html.element("td", content: content)
      } else {
        html.element("td", ("class", style.joined(separator: " ")), content: content)
      }
    }
  }

  private func write(_ entry: DayEntry, _ html: inout HTMLWriter) {
    html.element("li") { html in
      let look = AlarmPage.look(entry.state)
      if entry.state != .upcoming {
        html.element("i", ("class", look.style), ("aria-hidden", "true"), text: look.mark)
        html.element("span", ("class", "v"), text: "\(look.name): ")
      }
      html.text("\(time(entry.time)) ")
      html.element(
        "bdi", text: AlarmPage.cut(calendar.alarms[entry.alarm].map(title) ?? "", to: 40))
      if entry.count > 1 { html.text(" ×\(entry.count)") }
    }
  }

  /// Returns the mark, the class of the color, and the name of a state.
  private static func look(
    _ state: Agenda.State
  ) -> (mark: String, style: String, name: String) {
    switch state {
    case .done: ("✓", "done", "done")
    case .autoCompleted: ("○", "auto", "completed automatically")
    case .skipped: ("–", "skipped", "skipped")
    case .upcoming: ("", "m", "upcoming")
    case .snoozed: ("●", "open", "snoozed")
    case .pending: ("●", "open", "open")
    case .ringing: ("●", "open", "rings")
    case .missed: ("✕", "missed", "missed")
    case .paused: ("–", "skipped", "paused")
    }
  }
}
