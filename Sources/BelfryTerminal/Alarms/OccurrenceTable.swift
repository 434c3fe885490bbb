import BelfryCore
import BelfryStore

/// Upcoming occurrences as a table with one line each, grouped by day.
///
/// ```
/// Today (1)
///   today 18:00     Rent reminder
/// Tomorrow (1)
///   tomorrow 01:00  Team call      09:00 Asia/Tokyo
/// ```
package struct OccurrenceTable {
  /// An occurrence of an alarm.
  package struct Item {
    package let alarm: Alarm
    package let occurrence: Timeline.Occurrence

    package init(alarm: Alarm, occurrence: Timeline.Occurrence) {
      self.alarm = alarm
      self.occurrence = occurrence
    }
  }

  private let output: AlarmOutput

  package init(_ output: AlarmOutput) { self.output = output }

  private static let columns = [
    TextColumns.Column(limit: 24), TextColumns.Column(limit: 60), TextColumns.Column(limit: 40),
  ]
  private static let reductions = [
    TextColumns.Reduction(1, to: 24), TextColumns.Reduction(2, to: 8),
    TextColumns.Reduction(1, to: 8),
  ]

  /// The number of dates up to which each has a heading.
  private static let maxDays = 8

  /// Returns the table of occurrences in the order of their times.
  ///
  /// - Parameter dates: The dates that a person has named. If they are few, each has a heading.
  package func text(_ items: [Item], on dates: ClosedRange<CivilDate>? = nil) -> String {
    let times = output.times
    let days = DayBounds(times)
    let isByDay =
      dates.map { $0.upperBound.dayNumber - $0.lowerBound.dayNumber < OccurrenceTable.maxDays }
      ?? false
    func heading(_ moment: Instant) -> String {
      let group = days.group(of: moment)
      let isNear = group == .today || group == .tomorrow
      return isByDay && !isNear
        ? times.date(times.zones.local.civil(at: moment).date) : group.heading
    }
    let rows = items.map { item in
      let zone = item.alarm.shownZone
      let moved = item.occurrence.movedTo.map { _ in
        "moved from \(times.relative(item.occurrence.civil))"
      }
      let elsewhere =
        times.isLocal(zone)
        ? nil : "\(times.time(item.occurrence.time.time)) \(Printable.text(zone))"
      return (
        heading: heading(item.occurrence.at),
        cells: [
          TextColumns.Cell(times.relative(item.occurrence.at)),
          TextColumns.Cell(Printable.text(item.alarm.shownTitle), .bold),
          TextColumns.Cell([elsewhere, moved].compactMap { $0 }.joined(separator: ", "), .faint),
        ]
      )
    }
    let natural = OccurrenceTable.columns.indices.map { column in
      rows.map { TextWidth.of($0.cells[column].text) }.max() ?? 0
    }
    let columns = TextColumns(
      OccurrenceTable.columns, natural: natural, OccurrenceTable.reductions, output.style)
    var text = ""
    for (index, row) in rows.enumerated() {
      if index == 0 || rows[index - 1].heading != row.heading {
        let count = rows.count { $0.heading == row.heading }
        text += output.style.paint("\(row.heading) (\(count))", .bold) + "\n"
      }
      columns.append(row.cells, to: &text)
    }
    return text
  }
}
