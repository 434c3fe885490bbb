import BelfryCore
import BelfryStore

/// Alarms as a table with one line each, grouped by the day on which they ring next.
///
/// ```
/// Now (1)
///   ringing  Rent reminder  next Fri 09:00  since 09:00     Mon, Fri 09:00
/// Tomorrow (2)
///            Pills  +health, cascade        tomorrow 08:00  daily 08:00
///            Dentist (aqd6qw3n)             tomorrow 11:00  once
/// ```
///
/// Badges follow the title in its column, so that they take no room from the schedules.
package struct AlarmTable: Sendable {
  /// A group of alarms under a heading. The raw value is its place.
  package enum Group: Int, CaseIterable, Sendable {
    /// An occurrence rings, is snoozed, was missed, or waits for confirmation.
    case now
    /// The next occurrence is on this day.
    case today, tomorrow
    /// The next occurrence is within seven days.
    case week
    /// The next occurrence is later.
    case later
    /// The alarm is disabled.
    case disabled
    /// The alarm has no further occurrence.
    case finished

    package var heading: String {
      switch self {
      case .now: "Now"
      case .today: "Today"
      case .tomorrow: "Tomorrow"
      case .week: "Next 7 days"
      case .later: "Later"
      case .disabled: "Disabled"
      case .finished: "Finished"
      }
    }
  }

  /// The alarms that are shown with their ids.
  package enum ShownIDs: Sendable {
    /// All alarms, in a column of their own.
    case all
    /// The alarms whose titles don't tell them apart, behind their titles.
    case of(Set<Identifier>)
  }

  let output: AlarmOutput
  var times: TimeText { output.times }
  private var style: Style { output.style }
  private let days: DayBounds
  /// True for a column of ids.
  private let hasIDColumn: Bool
  /// The alarms whose ids follow their titles.
  private let ambiguous: Set<Identifier>
  /// True to show the time until an alarm that rings within an hour, on a screen that is drawn again each minute.
  private let hasCountdowns: Bool

  package init(_ output: AlarmOutput, ids: ShownIDs = .of([]), hasCountdowns: Bool = false) {
    self.output = output
    self.hasCountdowns = hasCountdowns
    switch ids {
    case .all: (hasIDColumn, ambiguous) = (true, [])
    case .of(let ambiguous): (hasIDColumn, self.ambiguous) = (false, ambiguous)
    }
    days = DayBounds(output.times)
  }

  // MARK: Groups

  /// Returns the group of an alarm.
  package func group(_ status: AlarmStatus) -> Group { group(status.state, status.next) }

  private func group(_ state: AlarmStatus.State, _ next: Timeline.Occurrence?) -> Group {
    switch state {
    case .ringing, .snoozed, .missed, .pending: .now
    case .disabled: .disabled
    case .finished: .finished
    case .active, .paused: next.map { days.group(of: $0.at) } ?? .finished
    }
  }

  /// Returns true if the first alarm needs an answer.
  ///
  /// - Parameter alarms: The alarms in the order of `AlarmListing.sorted()`.
  package func isUrgent(_ alarms: AlarmListing) -> Bool {
    guard !alarms.isEmpty, let first = alarms[0] else { return false }
    return group(first.status) == .now
  }

  // MARK: Text

  /// Id, state, title with badges, when, schedule.
  private static let columns = [
    TextColumns.Column(limit: 8), TextColumns.Column(limit: 8), TextColumns.Column(limit: 64),
    TextColumns.Column(limit: 0), TextColumns.Column(limit: 24), TextColumns.Column(limit: 60),
  ]
  private static let (title, badges, schedule) = (2, 3, 5)
  private static let reductions = [
    TextColumns.Reduction(title, to: 56), TextColumns.Reduction(title, to: 48),
    TextColumns.Reduction(schedule, to: 44), TextColumns.Reduction(title, to: 42),
    TextColumns.Reduction(schedule, to: 32), TextColumns.Reduction(title, to: 36),
    TextColumns.Reduction(title, to: 30), TextColumns.Reduction(schedule, to: 26),
    TextColumns.Reduction(title, to: 24), TextColumns.Reduction(schedule, to: 20),
    TextColumns.Reduction(title, to: 20), TextColumns.Reduction(schedule, to: 14),
    TextColumns.Reduction(title, to: 16), TextColumns.Reduction(schedule, to: 8),
    TextColumns.Reduction(schedule, to: 0),
  ]

  /// Returns the table.
  ///
  /// - Parameter alarms: the alarms in the order of `AlarmListing.sorted()`.
  package func text(_ alarms: AlarmListing) -> String {
    parts(alarms).map { String(decoding: $0, as: UTF8.self) }.joined()
  }

  /// Returns the lines of the table: the alarms in their order, with a heading before each group.
  ///
  /// - Parameter alarms: the alarms in the order of `AlarmListing.sorted()`.
  package func rows(_ alarms: AlarmListing) -> [ListRow] {
    let parts = Chunks.map(alarms.count, parallelFrom: Chunks.lightWork) { range in
      [part(alarms, range, naming: true)]
    }
    let (columns, headings) = layout(parts)
    var rows: [ListRow] = []
    rows.reserveCapacity(alarms.count + Group.allCases.count)
    var last: Group?
    for part in parts {
      let lines = TableLine.lines(part.rows, columns)
      for (index, group) in part.groups.enumerated() {
        if group != last { rows.append(.heading(headings[group.rawValue])) }
        last = group
        let named = part.named[index]
        rows.append(
          .alarm(
            AlarmRow(
              id: named.id, title: named.title, state: named.state, line: lines[index],
              isPaused: named.isPaused)))
      }
    }
    return rows
  }

  /// Returns the parts of the table in UTF-8, to be written one after another.
  ///
  /// - Parameter alarms: the alarms in the order of `AlarmListing.sorted()`.
  package func parts(_ alarms: AlarmListing) -> [[UInt8]] {
    let parts = Chunks.map(alarms.count, parallelFrom: Chunks.lightWork) { range in
      [part(alarms, range)]
    }
    let (columns, headings) = layout(parts)
    return Chunks.map(parts.count, parallelFrom: 2) { range in
      range.map { index in
        text(
          parts[index], columns, headings, after: index == 0 ? nil : parts[index - 1].groups.last)
      }
    }
  }

  /// Returns the columns that fit the rows of some parts, and the heading of each group.
  private func layout(_ parts: [Part]) -> (columns: TextColumns, headings: [String]) {
    func widest(_ widths: (TextRows) -> [Int]) -> [Int] {
      AlarmTable.columns.indices.map { column in
        parts.map { widths($0.rows)[column] }.max() ?? 0
      }
    }
    var natural = widest(\.widths)
    let essential = natural
    natural[AlarmTable.title] = parts.map(\.rows.remarkedWidth).max() ?? 0
    let columns = TextColumns(
      AlarmTable.columns, natural: natural, essential: essential, AlarmTable.reductions, style)
    let headings = Group.allCases.map { group in
      let count = parts.reduce(0) { $0 + $1.counts[group.rawValue] }
      return style.paint("\(group.heading) (\(count))", .bold)
    }
    return (columns, headings)
  }

  /// Some rows of the table.
  private struct Part: Sendable {
    var rows: TextRows
    /// The group of each row.
    var groups: [Group] = []
    /// The number of rows of each group, at its place.
    var counts = [Int](repeating: 0, count: Group.allCases.count)
    /// The alarm of each row, without its line. Empty unless asked for.
    var named: [AlarmRow] = []
  }

  /// - Parameter naming: true to return the alarms, too.
  private func part(_ alarms: AlarmListing, _ range: Range<Int>, naming: Bool = false) -> Part {
    var part = Part(
      rows: TextRows(
        columns: AlarmTable.columns.count, remarks: AlarmTable.badges, expected: range.count))
    part.groups.reserveCapacity(range.count)
    if naming { part.named.reserveCapacity(range.count) }
    for position in range {
      guard let summary = alarms[position] else { continue }
      if naming {
        part.named.append(
          AlarmRow(
            id: summary.id, title: Printable.text(summary.shownTitle), state: summary.state,
            isPaused: summary.status.pausedUntil != nil))
      }
      part.groups.append(
        appendPlain(summary, to: &part.rows) ?? append(summary, to: &part.rows))
    }
    for group in part.groups { part.counts[group.rawValue] += 1 }
    return part
  }

  private func text(
    _ part: Part, _ columns: TextColumns, _ headings: [String], after last: Group?
  ) -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(part.groups.count * TextRows.typicalRow)
    var last = last
    for (index, group) in part.groups.enumerated() {
      if group != last { bytes.append(headings[group.rawValue] + "\n") }
      last = group
      columns.append(part.rows, index, to: &bytes)
    }
    return bytes
  }

  // MARK: Rows

  /// Appends the row of a plain alarm in this device's time zone with a title in ASCII, as most are, and returns its
  /// group. Returns nil and appends nothing for any other alarm.
  private func appendPlain(_ summary: AlarmSummary, to rows: inout TextRows) -> Group? {
    guard summary.isPlain, output.batteryWarnings[summary.id] == nil, times.isLocal(summary.zone),
      summary.title.utf8.allSatisfy({ $0 >= 0x20 && $0 < 0x7F }),
      ambiguous.isEmpty || !ambiguous.contains(summary.id)
    else { return nil }
    let (state, next) = (summary.state, summary.next)
    let group = group(state, next)
    let muted: Style.Color? = group == .disabled || group == .finished ? .faint : nil
    if hasIDColumn {
      rows.bytes.append(contentsOf: summary.id.text.utf8.prefix(Identifier.shortLength))
    }
    rows.endCell(.faint)
    if state == .active {
      rows.endCell()
    } else {
      rows.append(self.state(AlarmStatus(state: state)))
    }
    rows.bytes.append(contentsOf: summary.title.utf8)
    rows.endCell(muted)
    rows.endCell()
    if let next {
      if let countdown = countdown(next) {
        rows.bytes.append(countdown)
      } else {
        times.appendRelative(next.time, to: &rows.bytes)
      }
    }
    rows.endCell(muted)
    let recurrence = remaining(summary.rule.recurrence)
    if next != nil, case .once = recurrence {
      rows.bytes.append(TimeText.once)
    } else {
      times.append(recurrence, times: summary.rule.times, to: &rows.bytes)
    }
    rows.endCell(.faint)
    return group
  }

  /// Appends the row of an alarm, and returns its group.
  private func append(_ summary: AlarmSummary, to rows: inout TextRows) -> Group {
    let status = summary.status
    let group = group(status)
    let muted: Style.Color? = group == .disabled || group == .finished ? .faint : nil
    rows.append(TextColumns.Cell(hasIDColumn ? summary.id.short : "", .faint))
    rows.append(state(status))
    rows.append(
      TextColumns.Cell(
        Printable.text(summary.shownTitle), group == .now ? .bold : muted,
        ending: ambiguous.contains(summary.id) ? " (\(summary.id.short))" : ""))
    rows.append(remarks(summary, status, group))
    let when = when(summary, status)
    rows.append(TextColumns.Cell(when, muted))
    rows.append(TextColumns.Cell(schedule(summary, isDated: !when.isEmpty), .faint))
    return group
  }

  private func state(_ status: AlarmStatus) -> TextColumns.Cell {
    let state = status.state
    return switch state {
    case .ringing where status.isUndelivered: TextColumns.Cell("due", .red)
    case .active: TextColumns.Cell()
    case .ringing, .missed: TextColumns.Cell(state.rawValue, .red)
    case .snoozed, .paused: TextColumns.Cell(state.rawValue, .yellow)
    case .pending: TextColumns.Cell(state.rawValue, .brightMagenta)
    case .disabled, .finished: TextColumns.Cell(state.rawValue, .faint)
    }
  }

  /// Returns the schedule in a few words, with its zone if that is not this device's.
  ///
  /// - Parameter isDated: true if the row has the date of an alarm that rings once.
  private func schedule(_ summary: AlarmSummary, isDated: Bool) -> String {
    let (rule, isLocal) = (summary.rule, times.isLocal(summary.zone))
    let recurrence = remaining(rule.recurrence)
    if isDated, case .once = recurrence {
      let time = isLocal ? "" : rule.times.first.map { " \(times.time($0))" } ?? ""
      return TimeText.once + time + (isLocal ? "" : " \(Printable.text(summary.zone))")
    }
    return times.rule(recurrence, times: rule.times, zone: summary.zone)
  }

  /// Returns a list of dates without those of the past; any other rule is unchanged.
  private func remaining(_ recurrence: Recurrence) -> Recurrence {
    guard case .dates(let dates) = recurrence else { return recurrence }
    let ahead = dates.filter { $0 >= times.today }
    return ahead.isEmpty ? recurrence : .dates(ahead)
  }

  /// Returns the time of the current occurrence, or of the next one, on this device's wall clock.
  private func when(_ summary: AlarmSummary, _ status: AlarmStatus) -> String {
    switch status.state {
    case .snoozed: return status.snooze.map { "until \(times.brief($0.until))" } ?? ""
    case .ringing, .pending, .missed:
      return status.current.map {
        "since \(times.brief(local(status.time(of: $0), summary.zone)))"
      } ?? ""
    case .active, .paused, .disabled, .finished:
      return next(summary) ?? ""
    }
  }

  /// Returns the next occurrence in a few words; nil if there is none.
  func next(_ summary: AlarmSummary) -> String? {
    guard let next = summary.next else { return nil }
    if let countdown = countdown(next) { return countdown }
    return times.isLocal(summary.zone) ? times.relative(next.time) : times.relative(next.at)
  }

  /// Returns the time until an occurrence, `in 12 min`; nil if it is not within an hour, or times are shown instead.
  private func countdown(_ next: Timeline.Occurrence) -> String? {
    hasCountdowns ? AlarmTable.countdown(next.at.seconds(since: output.now)) : nil
  }

  /// Returns a time until an alarm, `in 12 min`; nil if it is not within an hour.
  package static func countdown(_ seconds: Int64) -> String? {
    (1..<3600).contains(seconds) ? Span.countdown(seconds) : nil
  }

  /// Returns a civil time of a zone on this device's wall clock.
  func local(_ civil: CivilDateTime, _ zone: String) -> CivilDateTime {
    guard !times.isLocal(zone), let rules = output.zones.zone(recorded: zone) else { return civil }
    return output.zones.local.civil(at: rules.instant(of: civil))
  }
}
