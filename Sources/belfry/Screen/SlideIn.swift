import BelfryCore
import Glibc

/// Lets a nudge slide into its place from the right: noticed, and over in a sixth of a second.
enum SlideIn {
  /// How far from its place it stands in each picture, in columns, and how long each is shown, in microseconds.
  private static let offsets = [24, 16, 10, 6, 3, 1, 0]
  private static let pause: useconds_t = 25_000

  /// Shows a nudge; at once where nothing may move.
  static func show(_ batteryWarning: BatteryWarning, _ style: Style, isMoving: Bool) {
    let text = BatteryWarningText(batteryWarning, style)
    guard isMoving, let width = style.width, width >= 50 else { return Console.write(text.text) }
    for (number, offset) in offsets.enumerated() {
      let lines = text.lines(offset: 2 + offset)
      // Back to the first line, and each of them anew.
      let back = number == 0 ? "" : "\u{1B}[\(lines.count)A"
      Console.write(back + lines.map { "\u{1B}[2K\($0)\n" }.joined())
      if offset > 0 { usleep(pause) }
    }
  }
}
