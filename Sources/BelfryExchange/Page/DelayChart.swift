import BelfryCore
import Glibc

/// A chart of delays over time as SVG: for each week the median, and the range of the middle half.
///
/// The scale is logarithmic, because delays are between seconds and weeks. Early completions are at its start.
struct DelayChart {
  private let weeks: DateBuckets
  private let groups: [ResponseSummary]
  private let months: DateBuckets
  private let width: Int
  private let height = 260
  // The margins of the plot.
  private let left = 58
  private let right = 12
  private let top = 12
  private let bottom = 28
  /// The largest delay of the scale, in seconds.
  private let largest: Int64

  /// The delays with a line and a label, in seconds.
  private static let ticks: [Int64] = [
    0, 60, 300, 1800, 7200, 6 * 3600, 86_400, 3 * 86_400, 7 * 86_400, 30 * 86_400, 365 * 86_400,
  ]

  /// - Parameter width: the width of the image in its own units, of which a label has 13 in height.
  init(_ responses: [Statistics.Response], _ dates: ClosedRange<CivilDate>, width: Int) {
    self.width = width
    weeks = DateBuckets(dates, by: .isoWeek)
    months = DateBuckets(dates, by: .month)
    groups = ResponseSummary.by(weeks, responses)
    let upper = groups.compactMap { $0.quartiles?.upper }.max() ?? 0
    largest = max(Statistics.Response.tolerance, DelayChart.ticks.first { $0 >= upper } ?? upper)
  }

  /// Returns the vertical position of a delay.
  private func y(_ seconds: Int64) -> Int {
    func scaled(_ seconds: Int64) -> Double { log2(1 + Double(max(0, seconds)) / 60) }
    let part = scaled(min(seconds, largest)) / scaled(largest)
    return height - bottom - Int(part * Double(height - top - bottom))
  }

  /// Returns the horizontal position of a date.
  private func x(_ date: CivilDate) -> Int {
    let (first, last) = (weeks.dates(0).lowerBound, weeks.dates(weeks.count - 1).upperBound)
    let part =
      Double(date.dayNumber - first.dayNumber) / Double(last.dayNumber + 1 - first.dayNumber)
    return left + Int(part * Double(width - left - right))
  }

  func write(to html: inout HTMLWriter) {
    html.element(
      "svg", ("viewBox", "0 0 \(width) \(height)"), ("role", "img"),
      ("aria-label", "The delays of each week. The table below has them by month.")
    ) { html in
      writeAxes(&html)
      var (boxes, dots) = ("", "")
      for (index, group) in groups.enumerated() {
        guard let median = group.median, let quartiles = group.quartiles else { continue }
        let x = x(weeks.dates(index).lowerBound.adding(days: 3))
        let (low, high) = (y(quartiles.lower), y(quartiles.upper))
        if low > high { boxes += "M\(x) \(low)V\(high)" }
        dots += "M\(x) \(y(median))h0"
      }
      html.empty("path", ("class", "box"), ("d", boxes))
      html.empty("path", ("class", "dot"), ("d", dots))
    }
  }

  private func writeAxes(_ html: inout HTMLWriter) {
    var lines = ""
    let ticks = DelayChart.ticks.filter { $0 <= largest }
    let limit = Statistics.Response.tolerance
    for tick in ticks where tick != limit { lines += "M\(left) \(y(tick))H\(width - right)" }
    html.empty("path", ("class", "grid"), ("d", lines))
    html.empty("path", ("class", "limit"), ("d", "M\(left) \(y(limit))H\(width - right)"))
    for tick in ticks {
      html.element(
        "text", ("x", "\(left - 8)"), ("y", "\(y(tick) + 4)"), ("text-anchor", "end"),
        ("class", tick == limit ? "limit-text" : "tick"), text: tick == 0 ? "0" : Span.length(tick))
    }
    // On a narrow chart, every third month has a label.
    let step = width < 600 ? 3 : 1
    for index in stride(from: 0, to: months.count, by: step) {
      let first = months.dates(index).lowerBound
      let name = CivilDate.monthNames[first.month - 1]
      html.element(
        "text", ("x", "\(x(first))"), ("y", "\(height - 8)"),
        text: first.month == 1 || index == 0 ? "\(name) \(first.year)" : name)
    }
  }
}
