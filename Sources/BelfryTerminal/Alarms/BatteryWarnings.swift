import BelfryCore
import BelfryStore

/// The battery warnings of alarms, predicted from the current battery state. An alarm without risk has none.
package struct BatteryWarnings: Sendable {
  private let byAlarm: [Identifier: BatteryWarning]

  /// Creates the collection of some alarms' warnings.
  package init(_ byAlarm: [Identifier: BatteryWarning] = [:]) { self.byAlarm = byAlarm }

  /// True if no alarm has a warning.
  package var isEmpty: Bool { byAlarm.isEmpty }

  package subscript(_ id: Identifier) -> BatteryWarning? { byAlarm[id] }

  /// The warning with the lowest predicted level; nil if there is none.
  package var worst: BatteryWarning? { byAlarm.values.min { $0.predicted < $1.predicted } }
}

/// A battery warning as a card with a colored edge.
///
/// ```
/// ▌ ⚠ Alarm at Risk
/// ▌ Estimated battery at alarm: 0%
/// ▌ Plug in now.
/// ```
package struct BatteryWarningText {
  private let batteryWarning: BatteryWarning
  private let style: Style

  package init(_ batteryWarning: BatteryWarning, _ style: Style) {
    self.batteryWarning = batteryWarning
    self.style = style
  }

  private var color: Style.Color { batteryWarning.risk == .critical ? .red : .orange }

  /// Returns the lines of the card.
  ///
  /// - Parameter offset: the indentation, in columns.
  package func lines(offset: Int = 2) -> [String] {
    // Only the most important line is bold.
    var content: [(String, Style.Color?)] = [
      ("⚠ \(batteryWarning.title)", batteryWarning.risk == .critical ? .plainRed : .orange),
      (batteryWarning.headline, .bold), (batteryWarning.action, nil),
    ]
    if let note = batteryWarning.note { content.append((note, .faint)) }
    return content.map { text, color in
      let shown = style.fit(text, indent: offset + 2)
      return String(repeating: " ", count: offset) + style.paint("▌", self.color) + " "
        + (color.map { style.paint(shown, $0) } ?? shown)
    }
  }

  package var text: String { lines().joined(separator: "\n") + "\n" }
}
