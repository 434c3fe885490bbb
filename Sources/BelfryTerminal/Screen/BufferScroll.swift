/// Rows that move up or down as a whole between two screens, which a terminal can do by itself.
struct BufferScroll {
  /// The rows in which the screens differ.
  private let region: Range<Int>
  /// The number of rows by which the content moves up; negative for down.
  private let steps: Int

  /// The least number of rows that must move for a scroll to be worth its sequences.
  private static let least = 3

  /// Returns nil if no rows move, or too few.
  ///
  /// - Parameters:
  ///   - old: The screen that the terminal shows.
  ///   - new: Another one of the same size.
  init?(from old: Buffer, to new: Buffer) {
    let rows = 0..<new.size.rows
    guard let first = rows.first(where: { old.row($0) != new.row($0) }),
      let last = rows.last(where: { old.row($0) != new.row($0) })
    else { return nil }
    let region = first..<last + 1
    guard region.count > BufferScroll.least else { return nil }
    func moved(_ steps: Int) -> Int {
      region.count { row in
        region.contains(row + steps) && new.row(row) == old.row(row + steps)
          && new.row(row) != old.row(row)
      }
    }
    let distances = (1..<region.count).flatMap { [$0, -$0] }
    let best = distances.map { (steps: $0, count: moved($0)) }.max { $0.count < $1.count }
    guard let best, best.count >= BufferScroll.least else { return nil }
    (self.region, steps) = (region, best.steps)
  }

  /// The sequences that move the rows: margins, line ends at one of them, and no margins. Every terminal knows them.
  var sequence: String {
    let move =
      steps > 0
      ? "\u{1B}[\(region.upperBound);1H" + String(repeating: "\n", count: steps)
      : "\u{1B}[\(region.lowerBound + 1);1H" + String(repeating: "\u{1B}M", count: -steps)
    return "\u{1B}[\(region.lowerBound + 1);\(region.upperBound)r\(move)\u{1B}[r"
  }

  /// Returns the screen that the terminal shows after the sequences.
  func applied(to old: Buffer) -> Buffer {
    var buffer = old
    for row in region {
      buffer.setRow(row, region.contains(row + steps) ? Array(old.row(row + steps)) : nil)
    }
    return buffer
  }
}
