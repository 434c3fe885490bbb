import BelfryCore
import BelfryStore

/// Alarms as a table with one line each, grouped by the day on which they ring next.
///
/// ```
/// Now (1)
///   ringing  Rent reminder  Mon, Fri 09:00    since 09:00     next Fri 09:00
/// Tomorrow (1)
///            Pills          daily 08:00       tomorrow 08:00  cascade
/// ```
struct AlarmTable: Sendable {
  /// A group of alarms under a heading. The raw value is its place.
  enum Group: Int, CaseIterable, Sendable {
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

    var heading: String {
      switch self {
      case .now: "Now"
      case .today: "Today"
      case .tomorrow: "Tomorrow"
      case .week: "This week"
      case .later: "Later"
      case .disabled: "Disabled"
      case .finished: "Finished"
      }
    }
  }

  private let output: AlarmOutput
  private var times: TimeText { output.times }
  private var style: Style { output.style }
  private let days: DayBounds

  init(_ output: AlarmOutput) {
    self.output = output
    days = DayBounds(output.times)
  }

  // MARK: Groups

  /// Returns the group of an alarm.
  func group(_ status: AlarmStatus) -> Group {
    switch status.state {
    case .ringing, .snoozed, .missed, .pending: .now
    case .disabled: .disabled
    case .finished: .finished
    case .active, .paused: status.next.map { days.group(of: $0.at) } ?? .finished
    }
  }

  /// Returns the alarms in the order of the table: the most urgent first, then by the next occurrence, title and id.
  func sorted(_ summaries: [AlarmSummary]) -> [AlarmSummary] {
    // Sorting small keys is faster than moving whole summaries, and few titles have to be compared.
    var keys = Chunks.map(summaries.count) { range in
      range.map { index in
        let summary = summaries[index]
        return SortKey(
          rank: AlarmTable.rank(summary.state), next: summary.next?.at.milliseconds ?? .max,
          index: index)
      }
    }
    keys.sort { a, b in a.rank != b.rank ? a.rank < b.rank : a.next < b.next }
    var start = 0
    while start < keys.count {
      var end = start + 1
      while end < keys.count, keys[end].rank == keys[start].rank, keys[end].next == keys[start].next
      { end += 1 }
      if end - start > 1 {
        let titled = keys[start..<end].map { (title: summaries[$0.index].title, key: $0) }
          .sorted { a, b in
            a.title != b.title
              ? a.title < b.title : summaries[a.key.index].id < summaries[b.key.index].id
          }
        keys.replaceSubrange(start..<end, with: titled.map(\.key))
      }
      start = end
    }
    return keys.map { summaries[$0.index] }
  }

  private struct SortKey: Sendable {
    let rank: Int
    /// The time of the next occurrence in milliseconds; the greatest number for none.
    let next: Int64
    let index: Int
  }

  private static func rank(_ state: AlarmStatus.State) -> Int {
    switch state {
    case .ringing: 0
    case .snoozed: 1
    case .missed: 2
    case .pending: 3
    case .active, .paused: 4
    case .disabled: 5
    case .finished: 6
    }
  }

  // MARK: Text

  /// Id, state, title, schedule, next, badges.
  private static let columns = [
    TextColumns.Column(limit: 8, isOptional: true), TextColumns.Column(limit: 8),
    TextColumns.Column(limit: 40), TextColumns.Column(limit: 40), TextColumns.Column(limit: 24),
    TextColumns.Column(limit: 40),
  ]
  private static let (title, schedule, badges) = (2, 3, 5)
  private static let reductions = [
    TextColumns.Reduction(title, to: 32), TextColumns.Reduction(schedule, to: 24),
    TextColumns.Reduction(badges, to: 24), TextColumns.Reduction(title, to: 26),
    TextColumns.Reduction(schedule, to: 18), TextColumns.Reduction(badges, to: 14),
    TextColumns.Reduction(title, to: 20), TextColumns.Reduction(schedule, to: 14),
    TextColumns.Reduction(badges, to: 7), TextColumns.Reduction(title, to: 14),
    TextColumns.Reduction(schedule, to: 8), TextColumns.Reduction(badges, to: 0),
    TextColumns.Reduction(schedule, to: 0),
  ]

  /// Returns the table.
  ///
  /// - Parameter summaries: the alarms in the order of `sorted(_:)`.
  func text(_ summaries: [AlarmSummary]) -> String {
    parts(summaries).map { String(decoding: $0, as: UTF8.self) }.joined()
  }

  /// Returns the parts of the table in UTF-8, to be written one after another.
  ///
  /// - Parameter summaries: the alarms in the order of `sorted(_:)`.
  func parts(_ summaries: [AlarmSummary]) -> [[UInt8]] {
    let rows = Chunks.map(summaries.count) { range in range.map { row(summaries[$0]) } }
    var natural = AlarmTable.columns.map { _ in 0 }
    for row in rows {
      for (index, cell) in row.cells.enumerated() {
        natural[index] = max(natural[index], cell.width)
      }
    }
    var essential = natural
    essential[AlarmTable.badges] = rows.map { $0.cells[AlarmTable.badges].essential }.max() ?? 0
    let columns = TextColumns(
      AlarmTable.columns, natural: natural, essential: essential, AlarmTable.reductions, style)
    let counts = rows.reduce(into: [Group: Int]()) { $0[$1.group, default: 0] += 1 }
    return Chunks.map(rows.count) { range in
      var bytes: [UInt8] = []
      bytes.reserveCapacity(range.count * AlarmTable.typicalLine)
      for index in range {
        let group = rows[index].group
        if index == 0 || rows[index - 1].group != group {
          let heading = style.paint("\(group.heading) (\(counts[group] ?? 0))", .bold)
          bytes.append(contentsOf: heading.utf8)
          bytes.append(UInt8(ascii: "\n"))
        }
        columns.append(rows[index].cells, to: &bytes)
      }
      return [bytes]
    }
  }

  /// The length of a line for which memory is reserved, in bytes.
  private static let typicalLine = 96

  private struct Row: Sendable {
    let group: Group
    /// Id, state, title, schedule, next, badges.
    let cells: [TextColumns.Cell]
  }

  private func row(_ summary: AlarmSummary) -> Row {
    let status = summary.status
    let group = group(status)
    let muted: Style.Color? = group == .disabled || group == .finished ? .faint : nil
    return Row(
      group: group,
      cells: [
        TextColumns.Cell(summary.id.short, .faint), state(status),
        TextColumns.Cell(Printable.text(summary.title), group == .now ? .bold : muted),
        TextColumns.Cell(schedule(summary), .faint),
        TextColumns.Cell(when(summary, status), muted),
        badges(summary, status, group),
      ])
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
  private func schedule(_ summary: AlarmSummary) -> String {
    let rule = times.rule(summary.rule.recurrence, times: summary.rule.times)
    return times.isLocal(summary.zone) ? rule : "\(rule) \(Printable.text(summary.zone))"
  }

  /// Returns the time of the current occurrence, or of the next one, on this device's wall clock.
  private func when(_ summary: AlarmSummary, _ status: AlarmStatus) -> String {
    switch status.state {
    case .snoozed: return status.snooze.map { "until \(times.brief($0.until))" } ?? ""
    case .ringing, .pending, .missed:
      return status.current.map { "since \(times.brief(local($0, summary.zone)))" } ?? ""
    case .active, .paused, .disabled, .finished:
      return next(summary) ?? ""
    }
  }

  private func next(_ summary: AlarmSummary) -> String? {
    guard let next = summary.next else { return nil }
    return times.isLocal(summary.zone) ? times.relative(next.civil) : times.relative(next.at)
  }

  /// Returns a civil time of a zone on this device's wall clock.
  private func local(_ civil: CivilDateTime, _ zone: String) -> CivilDateTime {
    guard !times.isLocal(zone), let rules = output.zones.zone(recorded: zone) else { return civil }
    return output.zones.local.civil(at: rules.instant(of: civil))
  }

  /// Returns what else there is to know about an alarm, the most urgent first.
  private func badges(
    _ summary: AlarmSummary, _ status: AlarmStatus, _ group: Group
  ) -> TextColumns.Cell {
    if AlarmTable.hasNoBadges(summary, status), output.batteryWarnings[summary.id] == nil {
      return TextColumns.Cell()
    }
    var badges: [String] = []
    var color: Style.Color? = .faint
    if status.state == .ringing, status.isUndelivered {
      badges.append("not delivered")
      color = .red
    }
    if let warning = output.batteryWarnings[summary.id] {
      badges.append("battery \(warning.predicted)%")
      color = warning.risk == .critical ? .red : .orange
    }
    if status.state == .snoozed, status.snooze?.count == 0 { badges.append("quiet hours") }
    let isPending = status.state == .pending
    if status.pending.count > (isPending ? 1 : 0) {
      badges.append("\(status.pending.count) pending")
    }
    if status.missed.count > (status.state == .missed ? 1 : 0) {
      badges.append("\(status.missed.count) missed")
    }
    if let until = status.pausedUntil {
      let prefix = status.state == .paused ? "until" : "paused until"
      let end = local(until, summary.zone)
      badges.append(
        "\(prefix) \(end.time == .midnight ? times.relative(end.date) : times.brief(end))")
    }
    if let skipped = status.skipped.first {
      let more = status.skipped.count > 1 ? " +\(status.skipped.count - 1)" : ""
      badges.append("skips \(times.relative(local(skipped, summary.zone)))\(more)")
    }
    if !summary.tags.isEmpty {
      badges.append(summary.tags.sorted().map { "+\($0.text)" }.joined(separator: " "))
    }
    if summary.hasCascade { badges.append("cascade") }
    if let partner = summary.partner { badges.append("partner \(Printable.text(partner))") }
    let essential = badges.joined(separator: ", ")
    let nextBadge = group == .now ? next(summary).map { "next \($0)" } : nil
    if let nextBadge { badges.append(nextBadge) }
    var shorter = (1..<max(1, badges.count)).reversed().map {
      badges.prefix($0).joined(separator: ", ") + " …"
    }
    // The next occurrence follows from the schedule.
    if badges.first == nextBadge { shorter.append("") }
    return TextColumns.Cell(
      badges.joined(separator: ", "), color, shorter: shorter, essential: essential)
  }
}

extension AlarmTable {
  /// Returns true for a waiting alarm without any of the badges that follow from the summary, as most are.
  private static func hasNoBadges(_ summary: AlarmSummary, _ status: AlarmStatus) -> Bool {
    switch status.state {
    case .active, .disabled, .finished: break
    case .ringing, .snoozed, .pending, .missed, .paused: return false
    }
    return status.pending.isEmpty && status.missed.isEmpty && status.skipped.isEmpty
      && status.pausedUntil == nil && summary.tags.isEmpty && !summary.hasCascade
      && summary.partner == nil
  }
}

/// The instants at which the days around now begin on this device's wall clock.
struct DayBounds: Sendable {
  private let tomorrow: Instant
  private let dayAfter: Instant
  private let nextWeek: Instant

  init(_ times: TimeText) {
    func start(_ days: Int) -> Instant {
      times.zones.local.instant(of: CivilDateTime(times.today.adding(days: days), .midnight))
    }
    (tomorrow, dayAfter, nextWeek) = (
      start(1), start(2), start(TimeText.weekdayRange.upperBound + 1)
    )
  }

  /// Returns the group of an occurrence.
  func group(of moment: Instant) -> AlarmTable.Group {
    if moment < tomorrow { return .today }
    if moment < dayAfter { return .tomorrow }
    return moment < nextWeek ? .week : .later
  }
}
