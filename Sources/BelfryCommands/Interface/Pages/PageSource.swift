import BelfryCore
import BelfryScheduler
import BelfryStore
import BelfryTerminal
import BelfryUI

/// The store, the present time and the form of the texts, from which the pages of the full screen are made.
struct PageSource {
  let store: Store
  let context: CommandContext
  /// The width of the page.
  let columns: Int
  let statistics: StatisticsCache
  /// Reports that the page has to be read again.
  let changed: @Sendable () -> Void

  var now: Instant { context.storeContext.now }
  var times: TimeText { context.times }

  /// The form of texts in the whole width.
  var style: Style { context.screenStyle(columns) }

  /// The shared settings with this device's own. A warning about an invalid file would disturb the screen.
  var settings: Settings {
    let shared = (try? store.settings())?.settings ?? Settings()
    return (try? context.deviceSettings?.applied(to: shared)) ?? shared
  }

  /// Returns the statistics of alarms, without those that are not known yet.
  ///
  /// - Parameter waits: True to read the log at once if it was never read.
  func statistics(of summaries: [AlarmSummary], waits: Bool) -> [AlarmStatistics] {
    statistics.statistics(
      of: summaries, in: store, skipBreaksStreak: settings.skipBreaksStreak, waits: waits,
      changed: changed)
  }

  /// Returns a heading.
  func heading(_ text: String) -> PageLine { PageLine(style.paint(style.fit(text), .bold)) }

  /// Returns lines of a sentence, wrapped and indented.
  func wrapped(_ text: String, indent: Int = 2, _ color: Style.Color? = nil) -> [PageLine] {
    let space = String(repeating: " ", count: indent)
    return TextWidth.wrapped(Printable.text(text), to: max(8, columns - indent)).map {
      PageLine(space + (color.map { [text = $0] in style.paint(text, $0) } ?? $0))
    }
  }
}

extension CommandContext {
  /// The form of texts on the full screen, in a width.
  func screenStyle(_ columns: Int) -> Style {
    var style = Style(isColored: true, width: columns, timeFormat: style.timeFormat)
    style.hasLinks = true
    return style
  }
}
