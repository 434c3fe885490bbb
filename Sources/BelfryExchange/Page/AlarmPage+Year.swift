import BelfryCore

// MARK: The heat map of a year

extension AlarmPage {
  /// The width and height of a day, and the distance between two of them.
  private static let (side, pitch) = (10, 12)

  func writeYear(_ html: inout HTMLWriter) {
    section("year", "Year", &html) { html in
      html.element(
        "p", ("class", "m"), text: "The outcome of each day. The worst one of a day counts.")
      let months = DateBuckets(AlarmPage.year(upTo: today), by: .month)
      let groups = (0..<months.count).map { _ in [Statistics.Response]() }
      var byMonth = groups
      for response in responses {
        if let index = months.index(of: response.civil.date) { byMonth[index].append(response) }
      }
      html.element("ul", ("class", "year")) { html in
        for index in 0..<months.count { writeMonth(months.dates(index), byMonth[index], &html) }
      }
      writeLegend(&html)
    }
  }

  private func writeMonth(
    _ dates: ClosedRange<CivilDate>, _ responses: [Statistics.Response], _ html: inout HTMLWriter
  ) {
    let name = AlarmPage.name(ofMonth: dates.lowerBound)
    let summary = AlarmPage.counts(ResponseSummary(responses))
    let days = ResponseSummary.by(DateBuckets(dates, by: .day), responses)
    let place = week.firstIndex { $0.weekday == dates.lowerBound.weekday } ?? 0
    html.element("li") { html in
      html.element("h3", text: AlarmPage.shortName(ofMonth: dates.lowerBound))
      html.element(
        "svg", ("viewBox", "0 0 \(7 * AlarmPage.pitch) \(6 * AlarmPage.pitch)"), ("role", "img"),
        ("aria-label", "\(name): \(summary)")
      ) { html in
        var paths: [String: String] = [:]
        for (index, day) in days.enumerated() {
          let x = (place + index) % 7 * AlarmPage.pitch + 1
          let y = (place + index) / 7 * AlarmPage.pitch + 1
          let date = dates.lowerBound.adding(days: index)
          for (style, path) in AlarmPage.marks(day, x, y, isAhead: date > today) {
            paths[style, default: ""] += path
          }
          if date == today { paths["t", default: ""] += AlarmPage.square(x, y) }
        }
        for (style, path) in paths.sorted(by: { $0.key < $1.key }) {
          html.empty("path", ("class", style), ("d", path))
        }
      }
    }
  }

  /// Returns the marks of a day, each with the class of its color. They differ in form, not in color only.
  private static func marks(
    _ day: ResponseSummary, _ x: Int, _ y: Int, isAhead: Bool
  ) -> [(style: String, path: String)] {
    let s = side
    if day.missed > 0 {
      return [
        ("i", square(x, y)),
        ("x", "M\(x + 2) \(y + 2)l\(s - 4) \(s - 4)M\(x + s - 2) \(y + 2)l\(4 - s) \(s - 4)"),
      ]
    }
    if day.autoCompleted > 0 { return [("a", "M\(x + 1) \(y + 1)h\(s - 2)v\(s - 2)h\(2 - s)z")] }
    if day.skipped > 0 { return [("i", square(x, y)), ("s", "M\(x + 1) \(y + s / 2)h\(s - 2)")] }
    if day.done > 0 { return [("d", square(x, y))] }
    return isAhead ? [] : [("i", square(x, y))]
  }

  private static func square(_ x: Int, _ y: Int) -> String {
    "M\(x) \(y)h\(side)v\(side)h-\(side)z"
  }

  private func writeLegend(_ html: inout HTMLWriter) {
    func day(_ outcome: Statistics.Outcome?) -> ResponseSummary {
      ResponseSummary(
        outcome.map {
          [Statistics.Response(civil: CivilDateTime(today, .midnight), outcome: $0, delay: nil)]
        } ?? [])
    }
    let entries: [(Statistics.Outcome?, String)] = [
      (.done, "done"), (.autoCompleted, "completed automatically"), (.skipped, "skipped"),
      (.missed, "missed"), (nil, "nothing due"),
    ]
    html.element("ul", ("class", "k")) { html in
      for (outcome, name) in entries {
        html.element("li") { html in
          html.element("svg", ("viewBox", "0 0 12 12"), ("aria-hidden", "true")) { html in
            for (style, path) in AlarmPage.marks(day(outcome), 1, 1, isAhead: false) {
              html.empty("path", ("class", style), ("d", path))
            }
          }
          html.text(name)
        }
      }
    }
  }
}
