import BelfryCore

/// A plot of the median delay over time, in block characters.
package struct DelayPlot {
  private let buckets: DateBuckets
  /// The median delay of each bucket; nil for one without completions.
  private let medians: [Int64?]

  /// Creates the plot of completions; nil if there are fewer than two.
  ///
  /// - Parameters:
  ///   - responses: the settled occurrences, in any order.
  ///   - columns: the number of columns of the bars.
  package init?(_ responses: [Statistics.Response], columns: Int) {
    let done = responses.filter { $0.delay != nil }
    guard done.count > 1, let first = done.lazy.map(\.plotDate).min(),
      let last = done.lazy.map(\.plotDate).max()
    else { return nil }
    let buckets = DateBuckets(first...last, maxCount: max(4, columns))
    self.buckets = buckets
    medians = ResponseSummary.by(buckets, done) { $0.plotDate }.map(\.median)
  }

  /// The number of rows of the bars.
  private static let rows = 5
  /// The columns of the labels to the left of the bars.
  private static let margin = 8
  private static let blocks = ["▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"]

  /// Returns the plot of completions, or an empty text if there are too few.
  package static func text(
    _ responses: [Statistics.Response], _ times: TimeText, _ style: Style
  ) -> String {
    let columns = min(style.width ?? 80, 100) - margin - 2
    return DelayPlot(responses, columns: columns)?.text(times, style, columns: columns) ?? ""
  }

  private func text(_ times: TimeText, _ style: Style, columns: Int) -> String {
    let step = buckets.count * 2 <= columns ? 2 : 1
    let top = DelayPlot.scale(above: medians.compactMap { $0 }.max() ?? 0)
    var text = style.paint(style.fit("Median delay by \(buckets.unit)"), .faint) + "\n"
    for row in (0..<DelayPlot.rows).reversed() {
      let label = row == DelayPlot.rows - 1 ? Span.length(top) : row == 0 ? "0" : ""
      var line = String(repeating: " ", count: max(0, DelayPlot.margin - label.count)) + label + " "
      line += row == DelayPlot.rows - 1 || row == 0 ? "┤" : "│"
      for median in medians {
        line += bar(median, row: row, top: top)
        if step == 2 { line += " " }
      }
      while line.last == " " { line.removeLast() }
      text += line + "\n"
    }
    let labels = axisLabels(times, step: step)
    if !labels.isEmpty {
      let margin = String(repeating: " ", count: DelayPlot.margin + 2)
      text += style.paint(margin + labels, .faint) + "\n"
    }
    return text
  }

  /// Returns the part of a bar in a row. A median of zero is a thin line.
  private func bar(_ median: Int64?, row: Int, top: Int64) -> String {
    guard let median else { return " " }
    let count = Int64(DelayPlot.rows * DelayPlot.blocks.count)
    let height = max(1, Int((max(0, median) * count + top - 1) / top))
    let part = min(height - row * DelayPlot.blocks.count, DelayPlot.blocks.count)
    return part > 0 ? DelayPlot.blocks[part - 1] : " "
  }

  /// Returns the smallest round delay that is not below a delay.
  package static func scale(above seconds: Int64) -> Int64 {
    let minutes: [Int64] = [1, 2, 5, 10, 15, 30, 60, 120, 180, 360, 720]
    let days: [Int64] = [1, 2, 3, 7, 14, 30, 60, 90, 180, 365]
    let steps = minutes.map { $0 * 60 } + days.map { $0 * 86_400 }
    return steps.first { $0 >= seconds } ?? (seconds / 86_400 + 1) * 86_400
  }

  // MARK: The axis

  private func axisLabels(_ times: TimeText, step: Int) -> String {
    let width = max(buckets.count * step, 12)
    var line = [Character](repeating: " ", count: width)
    func place(_ label: String, at column: Int) {
      let range = column..<(column + label.count)
      guard range.upperBound <= width,
        line[max(0, column - 1)..<min(width, range.upperBound + 1)].allSatisfy({ $0 == " " })
      else { return }
      line.replaceSubrange(range, with: label)
    }
    let labels = (0..<buckets.count).map { DelayPlot.label(buckets.dates($0), buckets.unit) }
    // Years have a place before the months between them.
    for isYear in [true, false] {
      for (index, label) in labels.enumerated() where label?.isYear == isYear {
        place(label?.text ?? "", at: index * step)
      }
    }
    if line.allSatisfy({ $0 == " " }) {
      place(times.shortDate(buckets.dates(0).lowerBound), at: 0)
    }
    while line.last == " " { line.removeLast() }
    return String(line)
  }

  /// Returns the label of a part of the axis: the year or month that begins in it.
  package static func label(
    _ dates: ClosedRange<CivilDate>, _ unit: CalendarUnit
  ) -> (text: String, isYear: Bool)? {
    let (year, month, day) = dates.upperBound.components
    let startsMonth = day < 8 && unit.isWeek || dates.lowerBound.day == 1
    guard startsMonth else { return nil }
    switch unit {
    case .day, .week, .month:
      let first = unit == .month ? dates.lowerBound.month : month
      return first == 1 ? ("\(year)", true) : (CivilDate.monthNames[first - 1], false)
    case .quarter: return dates.lowerBound.month == 1 ? ("\(year)", true) : nil
    case .year: return ("\(year)", true)
    }
  }
}

/// A line of block characters with the part of an alarm's occurrences that was done on time, over time.
package struct Sparkline {
  private let buckets: DateBuckets

  private static let maxCount = 14
  private static let blocks = Array("▁▂▃▄▅▆▇█")

  /// - Parameter dates: the dates of the line; nil for the last twelve months.
  package init(_ dates: ClosedRange<CivilDate>?, times: TimeText) {
    let year = CalendarUnit.month.dates(-11, from: times.today).lowerBound...times.today
    let dates = dates ?? year
    // The future is left out, unless nothing else remains.
    let end = max(dates.lowerBound, min(dates.upperBound, times.today))
    buckets = DateBuckets(dates.lowerBound...end, maxCount: Sparkline.maxCount)
  }

  /// Returns the line. A time without occurrences is a dot.
  package func text(_ responses: [Statistics.Response]) -> String {
    var counts = [(expected: Int, onTime: Int)](repeating: (0, 0), count: buckets.count)
    for response in responses.reversed() where response.outcome != .skipped {
      guard let index = buckets.index(of: response.civil.date) else {
        // Earlier responses are earlier than the line, too.
        if response.civil.date < buckets.dates(0).lowerBound { break }
        continue
      }
      counts[index].expected += 1
      if response.isOnTime { counts[index].onTime += 1 }
    }
    return String(
      counts.map { expected, onTime in
        if expected == 0 { return "·" }
        return Sparkline.blocks[
          max(0, (onTime * Sparkline.blocks.count + expected - 1) / expected - 1)]
      })
  }

  /// Returns the sentence about the line.
  package func legend(_ times: TimeText) -> String {
    let dates = buckets.dates(0).lowerBound...buckets.dates(buckets.count - 1).upperBound
    return "trend: part done on time, by \(buckets.unit), \(times.range(dates))"
  }
}
