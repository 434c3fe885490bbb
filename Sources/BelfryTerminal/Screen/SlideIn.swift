import BelfryCore
import Glibc

/// The animation that slides a battery warning in from the right, within a sixth of a second.
package enum SlideIn {
  /// The distance from the final position in each frame, in columns.
  private static let offsets = [24, 16, 10, 6, 3, 1, 0]
  /// The duration of a frame, in microseconds.
  private static let frameDuration: useconds_t = 25_000

  /// Shows a battery warning, without animation if `isMoving` is false or the terminal is narrow.
  package static func show(_ batteryWarning: BatteryWarning, _ style: Style, isMoving: Bool) {
    let text = BatteryWarningText(batteryWarning, style)
    guard isMoving, let width = style.width, width >= 50 else { return Console.write(text.text) }
    for (number, offset) in offsets.enumerated() {
      let lines = text.lines(offset: 2 + offset)
      // Return to the first line and redraw each line.
      let back = number == 0 ? "" : "\u{1B}[\(lines.count)A"
      Console.write(back + lines.map { "\u{1B}[2K\($0)\n" }.joined())
      if offset > 0 { usleep(frameDuration) }
    }
  }
}
