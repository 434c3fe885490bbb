import BelfryCore

// MARK: The chart of delays, and the table beside it

extension AlarmPage {
  func writeResponses(_ html: inout HTMLWriter) {
    section("delays", "Delays", &html) { html in
      let year = ResponseSummary(responses)
      guard let median = year.median, let quartiles = year.quartiles else {
        return html.element("p", text: "Nothing was done in the last 12 months.")
      }
      let range = "\(AlarmPage.delay(quartiles.lower)) to \(AlarmPage.delay(quartiles.upper))"
      html.element(
        "p", ("class", "m"),
        text:
          "The time from an occurrence to its confirmation: median \(AlarmPage.delay(median)), half of them \(range). Each dot is the median of a week, each bar has the middle half."
      )
      html.element("div", ("class", "chart")) { html in
        for (style, width) in [("wide", 1000), ("slim", 380)] {
          let chart = DelayChart(responses, AlarmPage.year(upTo: today), width: width)
          html.element("div", ("class", style)) { chart.write(to: &$0) }
        }
      }
      writeMonths(&html)
    }
  }

  private func writeMonths(_ html: inout HTMLWriter) {
    let months = DateBuckets(AlarmPage.year(upTo: today), by: .month)
    let groups = ResponseSummary.by(months, responses)
    html.element("table", ("class", "responses")) { html in
      html.element("caption", text: "Responses by month")
      head(
        [
          ("Month", ""), ("Done", "n"), ("On time", "n"), ("Median delay", "n"),
          ("Middle half", "n q"), ("Skipped", "n q"), ("Missed", "n"),
        ], &html)
      html.element("tbody") { html in
        for (index, group) in groups.enumerated() where group.count > 0 {
          let range = group.quartiles.map {
            "\(AlarmPage.delay($0.lower)) to \(AlarmPage.delay($0.upper))"
          }
          html.element("tr") { html in
            html.element(
              "th", ("scope", "row"),
              text: AlarmPage.shortName(ofMonth: months.dates(index).lowerBound))
            html.element("td", ("class", "n"), text: "\(group.done)")
            html.element(
              "td", ("class", "n"), text: group.onTimePercent.map { "\($0) %" } ?? "")
            html.element(
              "td", ("class", "n"), text: group.median.map(AlarmPage.delay) ?? "")
            html.element("td", ("class", "n q"), text: range ?? "")
            html.element(
              "td", ("class", "n q"), text: group.skipped == 0 ? "" : "\(group.skipped)")
            html.element("td", ("class", "n"), text: group.missed == 0 ? "" : "\(group.missed)")
          }
        }
      }
    }
  }
}
