import BelfryCore

/// The delays of completed occurrences as a histogram.
///
/// ```
/// Lateness: median 4 min, half of them 2 min to 9 min
///   early      ▊ 12
///   to 5 min   ████████████████████ 812
///   to 15 min  ████████▎ 301
/// ```
package struct LatenessText {
  /// The number of completions in each row, in the order of `names`.
  package let counts: [Int]
  private let summary: ResponseSummary

  /// The names of the rows. Each but the first and the last one has an upper limit in `limits`.
  private static let names = [
    "early", "to 5 min", "to 15 min", "to 30 min", "to 2 h", "to a day", "later",
  ]
  private static let limits: [Int64] = [-1, 300, 900, Statistics.Response.tolerance, 7200, 86_400]
  private static let labelWidth = 9
  private static let maxBar = 40
  private static let blocks = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"]

  /// Creates the histogram of responses.
  package init(_ summary: ResponseSummary) {
    self.summary = summary
    var counts = [Int](repeating: 0, count: LatenessText.names.count)
    for delay in summary.delays {
      counts[LatenessText.limits.firstIndex { delay <= $0 } ?? LatenessText.limits.count] += 1
    }
    self.counts = counts
  }

  /// The lines; none if nothing was done. The last row is the last one with a completion, or that of what is on time.
  package func lines(_ style: Style) -> [String] {
    guard let median = summary.median, let most = counts.max() else { return [] }
    let width = style.width ?? 80
    var head = ["median \(StatsText.delay(median))"]
    if let spread = StatsText.spread(summary) { head.append("half of them \(spread)") }
    let whole = head.joined(separator: ", ")
    if whole.count <= width - 2 { head = [whole] }
    let numbers = counts.map { "\($0)" }
    let numberWidth = numbers.map(\.count).max() ?? 0
    let room = min(
      LatenessText.maxBar, max(4, width - 2 - LatenessText.labelWidth - 4 - numberWidth))
    let last = max(3, counts.lastIndex { $0 > 0 } ?? 0)
    var lines = [style.paint(style.fit("Lateness"), .bold)]
    lines += head.map { "  " + style.paint(style.fit($0, indent: 2), .faint) }
    for index in 0...last where index > 0 || counts[0] > 0 {
      let isOnTime = index <= 3
      let label = TextWidth.padded(LatenessText.names[index], to: LatenessText.labelWidth)
      let bar = LatenessText.bar(counts[index], of: most, room)
      lines.append(
        "  \(label)  " + style.paint(bar, isOnTime ? .green : .yellow)
          + (bar.isEmpty ? "" : " ") + style.paint(numbers[index], .faint))
    }
    return lines
  }

  /// Returns a bar in eighths of a column. Any number but 0 is visible.
  private static func bar(_ count: Int, of most: Int, _ columns: Int) -> String {
    guard count > 0, most > 0 else { return "" }
    let eighths = max(1, count * columns * 8 / most)
    return String(repeating: "█", count: eighths / 8) + blocks[eighths % 8]
  }
}
