/// A centered line of a full screen.
package struct ScreenLine {
  /// The importance of a line, in ascending order. Lines of the first case are left out first.
  package enum Importance: CaseIterable {
    case blank, badge, note, time, more, title
  }

  package let text: String
  package let importance: Importance
  package let color: Style.Color?

  package init(_ text: String, _ importance: Importance, _ color: Style.Color? = nil) {
    self.text = text
    self.importance = importance
    self.color = color
  }

  /// Returns the lines of a screen, each of exactly `columns` columns, without line ends.
  ///
  /// If there are too few rows, the least important lines are left out.
  ///
  /// - Parameters:
  ///   - body: the lines in the upper part of the screen.
  ///   - keys: the lines at its end.
  package static func fill(
    columns: Int, rows: Int, with body: [ScreenLine], above keys: [ScreenLine], _ style: Style
  ) -> [String] {
    var (body, keys) = (body, keys)
    for importance in Importance.allCases where body.count + keys.count > rows {
      body.removeAll { $0.importance == importance }
      keys.removeAll { $0.importance == importance }
    }
    let free = max(0, rows - body.count - keys.count)
    let blanks = [ScreenLine](repeating: ScreenLine("", .blank), count: free)
    let all = blanks.prefix(free / 3) + body + blanks.dropFirst(free / 3) + keys
    return all.prefix(rows).map { $0.centered(in: columns, style) }
  }

  private func centered(in columns: Int, _ style: Style) -> String {
    let text = TextWidth.cut(self.text, to: columns)
    let width = TextWidth.of(text)
    let left = (columns - width) / 2
    return String(repeating: " ", count: left)
      + (color.map { style.paintOnBlack(text, $0) } ?? text)
      + String(repeating: " ", count: columns - width - left)
  }
}
