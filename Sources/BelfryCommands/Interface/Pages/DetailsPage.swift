import BelfryCore
import BelfryStore
import BelfryTerminal

/// The details of an alarm: its card, the progress of a cascade, and the last entries of its log.
struct DetailsPage {
  private let source: PageSource
  private let alarm: Alarm

  /// The number of dates after the next one.
  private static let laterDates = 4
  /// The number of lines of the log.
  private static let lastEntries = 6
  /// The number of days of the log that are searched for them: the last occurrence of a yearly alarm is among them.
  private static let searchedDays = 400
  /// The columns of the day before an entry.
  private static let dayWidth = 8

  init(_ alarm: Alarm, _ source: PageSource) {
    self.alarm = alarm
    self.source = source
  }

  func lines() throws -> [String] {
    let (store, style) = (source.store, source.style)
    let card = try AlarmCard(alarm, in: store, source.context, style)
    let statistics = source.statistics(of: [card.summary], waits: false).first?.statistics
    let text = card.text(
      store.deviceNames(), in: store, lastDone: statistics?.lastDone, statistics,
      later: DetailsPage.laterDates, hasFile: false)
    var lines = StyledText.lines(of: text)
    if let progress = try CascadeProgress(alarm, in: store) {
      // The heading repeats the card.
      let steps = StyledText.lines(of: progress.text(style, source.times)).drop {
        !$0.hasPrefix(" ")
      }
      lines += ["", heading("cascade now")] + steps
    }
    let entries = entries
    if !entries.isEmpty { lines += ["", heading("last entries")] + entries }
    return lines
  }

  private func heading(_ text: String) -> String { "  " + source.style.paint(text, .faint) }

  /// The last entries of the log, with the day before the first one of each.
  private var entries: [String] {
    let style = source.style.with(width: max(24, source.columns - DetailsPage.dayWidth))
    let log = LogText(source.store, source.context, style, hasTitles: false)
    let since = source.times.today.adding(days: -DetailsPage.searchedDays)
    let entries = LogLines(NewestFirst(source.store.history.log(of: alarm.id, since: since)))
      .prefix(DetailsPage.lastEntries)
    var last: CivilDate?
    var lines: [String] = []
    for line in entries {
      let day = log.day(line)
      let label = day == last ? "" : day.map { source.times.shortDate($0) } ?? ""
      last = day
      let space = String(repeating: " ", count: DetailsPage.dayWidth)
      for (index, row) in StyledText.lines(of: log.row(line)).enumerated() {
        let head = TextWidth.padded(label, to: DetailsPage.dayWidth)
        // The row begins with two spaces, and so does this line.
        lines.append(
          index == 0
            ? "  " + source.style.paint(head, .faint) + row.dropFirst(2) : space + row)
      }
    }
    return lines
  }
}
