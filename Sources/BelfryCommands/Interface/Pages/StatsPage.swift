import BelfryStore
import BelfryTerminal
import BelfryUI

/// The statistics of all alarms. A line of an alarm opens its own.
struct StatsPage {
  private let source: PageSource

  init(_ source: PageSource) { self.source = source }

  func lines() throws -> [PageLine] {
    let summaries = try source.store.overview().summaries
    let items = source.statistics(of: summaries, waits: true)
    let output = AlarmOutput(store: source.store, style: source.style)
    return StatsOverview(items, output).lines.map { line in
      PageLine(line.text, command: line.alarm.map { ["stats", $0.text] })
    }
  }
}
