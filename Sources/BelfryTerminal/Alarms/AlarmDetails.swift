import BelfryCore
import BelfryStore

/// All details of an alarm as text: its card, the values that are not defaults, and its note.
///
/// ```
/// Rent                                        [monthly]
///   Tue 1 Dec 2026, 09:00, in 7 days
///   bkrrxnef  +home
///
///   schedule    monthly 1st 09:00
///   last done   Sun 1 Nov 2026, 09:04, 22 days ago
///   streak      11, longest 14
///   then        Fri 1 Jan 2027, 09:00
///               Mon 1 Feb 2027, 09:00
///   cascade     rings on laptop first
///               2 min later: Alarm on Watch
///
///   Pay the landlord
/// ```
package struct AlarmDetails {
  private let output: AlarmOutput
  /// The names of the devices.
  private let names: [Identifier: String]

  package init(_ output: AlarmOutput, names: [Identifier: String]) {
    self.output = output
    self.names = names
  }

  /// The number of occurrences after the next one.
  package static let laterOccurrences = 2

  /// Returns the text.
  ///
  /// - Parameters:
  ///   - later: The occurrences after the next one.
  ///   - lastDone: The time at which an occurrence was done last; nil for never.
  ///   - statistics: The statistics of the alarm, for its streaks; nil to leave them out.
  ///   - calendars: The names of the calendars that this device follows and that contain the alarm.
  package func text(
    _ alarm: Alarm, _ status: AlarmStatus, later: [Timeline.Occurrence], lastDone: Instant?,
    statistics: Statistics? = nil, calendars: [String] = [], hasFile: Bool = true
  ) -> String {
    var text = ""
    output.append(AlarmSummary(alarm, status: status), hasNote: false, to: &text)
    text += "\n"
    var rows = [("schedule", output.times.schedule(alarm.schedule, zone: alarm.zone.text))]
    if let lastDone {
      let ago = Span.ago(output.now.seconds(since: lastDone))
      rows.append(("last done", "\(output.times.full(lastDone)), \(ago)"))
    }
    // A single confirmation is no streak yet.
    if let statistics, statistics.longestStreak > 1, let streak = StatsText.streak(statistics) {
      rows.append(("streak", streak))
    }
    for (index, occurrence) in later.enumerated() {
      rows.append((index == 0 ? "then" : "", output.when(occurrence, zone: alarm.zone.text)))
    }
    // The card shows a pause that has begun.
    if let pause = output.plannedPause(alarm), status.pausedUntil == nil {
      rows.append(("pause", pause))
    }
    // The schedule names the zone only where it differs from this device's.
    if alarm.zone != .floating, output.times.isLocal(alarm.zone.text) {
      rows.append(("zone", alarm.zone.text))
    }
    rows += cascade(alarm) + partner(alarm) + delivery(alarm.delivery)
    if !calendars.isEmpty { rows.append(("calendar", calendars.joined(separator: ", "))) }
    let indent = 2 + AlarmDetails.labelWidth
    if hasFile {
      rows.append(("file", output.style.fit(AlarmRecord.path(alarm.id), indent: indent)))
    }
    for (name, value) in rows {
      let label = name + String(repeating: " ", count: AlarmDetails.labelWidth - name.utf8.count)
      text += "  " + output.style.paint(label, .faint)
      text += wrapped(Printable.text(value), indent: indent) + "\n"
    }
    guard let note = alarm.note else { return text }
    text += "\n"
    for line in note.split(separator: "\n", omittingEmptySubsequences: false) {
      text +=
        "  " + wrapped(Printable.text(String(line)), indent: 2, hasLinks: output.style.hasLinks)
      text += "\n"
    }
    return text
  }

  /// The width of the names of values with the space behind them.
  private static let labelWidth = 12

  /// Returns a text whose lines after the first one are indented, wrapped to the width of the terminal.
  ///
  /// - Parameter hasLinks: True to mark web addresses as links.
  private func wrapped(_ text: String, indent: Int, hasLinks: Bool = false) -> String {
    let columns = output.style.width ?? .max
    let fits = TextWidth.of(text) <= columns - indent
    let lines = fits ? [text] : TextWidth.wrapped(text, to: max(8, columns - indent))
    return (hasLinks ? Hyperlinks.marked(lines, of: text) : lines)
      .joined(separator: "\n" + String(repeating: " ", count: indent))
  }

  /// Returns the rows of the delivery options that are not defaults.
  private func delivery(_ delivery: Alarm.Delivery) -> [(String, String)] {
    var rows: [(String, String)] = []
    if delivery.persistent { rows.append(("delivery", "rings until answered")) }
    if delivery.strict {
      rows.append(("strict", "rings again at each follow-up; never completed automatically"))
    }
    if let followUps = delivery.followUps { rows.append(("follow-ups", followUps.description)) }
    if let sound = delivery.sound { rows.append(("sound", sound)) }
    if let warnings = delivery.warnings { rows.append(("warnings", warnings.description)) }
    if let run = delivery.run { rows.append(("runs", run.text)) }
    if let run = delivery.runDone { rows.append(("when done", "runs \(run)")) }
    let devices = delivery.devices.map { names[$0] ?? $0.short }.sorted()
    if !devices.isEmpty { rows.append(("rings on", devices.joined(separator: ", "))) }
    return rows
  }

  /// Returns the rows with the steps of the cascade and the time after which each begins; none without steps.
  private func cascade(_ alarm: Alarm) -> [(String, String)] {
    guard let plan = alarm.cascade?.plan, !plan.targets.isEmpty else { return [] }
    guard plan.isOn else {
      return [("cascade", "off (\(plan.targets.map { $0.label(names) }.joined(separator: " → ")))")]
    }
    let first = plan.primary.map { names[$0] ?? $0.short }
    let begin = first.map { "rings on \($0) first" } ?? "rings first"
    return [("cascade", begin)]
      + plan.targets.enumerated().map { index, target in
        let wait = Span.exact(plan.interval * Int64(index + 1))
        return ("", "\(wait) later: \(target.action(names))")
      }
  }

  /// Returns the row about the partner who set the alarm, and who gets the receipts; none for an alarm of one's own.
  private func partner(_ alarm: Alarm) -> [(String, String)] {
    guard let partner = alarm.partner else { return [] }
    let quiet = partner.quiet.map {
      "; waits from \(output.times.time($0.from)) to \(output.times.time($0.until))"
    }
    return [("partner", "set by \(partner.name), who sees your answers\(quiet ?? "")")]
  }
}

extension AlarmDetails {
  /// Returns the time at which an occurrence was done last, without the completions that were undone; nil for never.
  ///
  /// - Parameter log: The entries of the alarm, the newest first.
  package static func lastDone(_ log: some Sequence<LogEntry>) -> Instant? {
    var undone: Set<Identifier> = []
    for entry in NewestFirst(log) where !undone.contains(entry.id) {
      // A redo is the undo of an undo.
      if entry.action == .undone, let undoes = entry.undoes { undone.insert(undoes) }
      if entry.action == .done, !entry.auto { return entry.effective ?? entry.at }
    }
    return nil
  }
}
