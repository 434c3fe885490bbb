import BelfryCore
import BelfryStore

/// Alarms as text.
package struct AlarmOutput: Sendable {
  /// The formatter of times and dates.
  package let times: TimeText
  package let style: Style
  /// The battery warnings to show below alarms.
  package let batteryWarnings: BatteryWarnings

  package init(
    now: Instant, zones: ZoneLibrary, style: Style,
    batteryWarnings: BatteryWarnings = BatteryWarnings()
  ) {
    times = TimeText(now: now, zones: zones, format: style.timeFormat)
    self.style = style
    self.batteryWarnings = batteryWarnings
  }

  package init(store: Store, style: Style, batteryWarnings: BatteryWarnings = BatteryWarnings()) {
    self.init(
      now: store.context.now, zones: store.context.zones, style: style,
      batteryWarnings: batteryWarnings)
  }

  package var now: Instant { times.now }
  package var zones: ZoneLibrary { times.zones }

  // MARK: Text

  /// Returns `Mon 23 Nov 2026, 09:00`, followed by the zone if it is not this device's.
  package func when(_ occurrence: CivilDateTime, zone: String) -> String {
    times.full(occurrence, zone: zone)
  }

  /// Returns the time at which an occurrence rings, and its own time if it was moved:
  /// `Tue 24 Nov 2026, 15:00, moved from Mon 18:00`.
  package func when(_ occurrence: Timeline.Occurrence, zone: String) -> String {
    times.full(occurrence.civil, movedTo: occurrence.movedTo, zone: zone)
  }

  /// Returns the time at which an occurrence of an alarm rings, and its own time if it was moved.
  package func when(_ occurrence: CivilDateTime, of alarm: Alarm) -> String {
    times.full(occurrence, movedTo: alarm.progress.moves[occurrence]?.time, zone: alarm.shownZone)
  }

  /// Returns the time at which an occurrence of a status rings, and its own time if it was moved.
  package func when(_ occurrence: CivilDateTime, in summary: AlarmSummary) -> String {
    times.full(occurrence, movedTo: summary.status.moved[occurrence], zone: summary.zone)
  }

  /// Returns a moment on this device's wall clock, without the date if it is today.
  package func when(_ instant: Instant) -> String { times.moment(instant) }

  /// Appends a card: title and badge, state and command, next occurrence and countdown, identifier, tags and note.
  ///
  /// - Parameter hasNote: false to leave out the note.
  package func append(_ summary: AlarmSummary, hasNote: Bool = true, to text: inout String) {
    let status = summary.status
    let muted = status.state == .disabled || status.state == .finished
    title(summary, muted: muted, to: &text)
    for line in state(summary) { append(line, to: &text) }
    let older = status.pending.map(\.occurrence).filter { $0 != status.current }
    if status.state != .pending, !older.isEmpty {
      append([Piece("Pending:", .brightMagenta)] + list(older, in: summary), to: &text)
    }
    if status.state != .missed, !status.missed.isEmpty {
      append([Piece("Missed:", .red)] + list(status.missed, in: summary), to: &text)
    }
    if !status.skipped.isEmpty {
      append(
        [Piece("Skips", .yellow)] + list(status.skipped, naming: \.first, in: summary),
        to: &text)
    }
    if let next = status.next {
      let when = (status.state == .active ? "" : "next ") + when(next, zone: summary.zone)
      append(
        [Piece(when + ","), Piece(" " + Span.until(next.at.seconds(since: now)))], to: &text)
    }
    var last = summary.id.short
    for tag in summary.tags.sorted() { last += "  +\(tag)" }
    if hasNote, let note = summary.note?.split(separator: "\n").first {
      last += "  " + Printable.text(String(note).replacing("\t", with: " "))
    }
    text += "  "
    text += style.paint(style.fit(last, indent: 2), .faint)
    text += "\n"
    if let batteryWarning = batteryWarnings[summary.id] {
      text += BatteryWarningText(batteryWarning, style).text
    }
  }

  /// Returns the card of an alarm.
  package func summary(_ summary: AlarmSummary) -> String {
    var text = ""
    append(summary, to: &text)
    return text
  }

  /// Returns the card of a pending occurrence.
  package func pending(_ summary: AlarmSummary, _ pending: AlarmStatus.Pending) -> String {
    var text = ""
    title(summary, muted: false, to: &text)
    let age = Span.ago(now.seconds(since: pending.since))
    append(
      [
        Piece("Pending:", .brightMagenta),
        Piece(" \(when(pending.occurrence, in: summary)),"),
        Piece(" stopped \(age)"),
      ], to: &text)
    let isFirst = pending.followUpsSent == 0
    let sent = isFirst ? "" : "follow-up \(pending.followUpsSent) was sent, "
    append(
      [
        Piece(
          pending.nextFollowUp.map {
            $0 > now
              ? "\(sent)next follow-up \(times.at($0))"
              : "\(sent)a follow-up is due since \(when($0))"
          } ?? (isFirst ? "no follow-ups" : "\(sent)no follow-ups left"))
      ], to: &text)
    append([Piece("if it is done: belfry done \(summary.id.short)", .faint)], to: &text)
    return text
  }

  /// A part of a line in one color.
  private struct Piece {
    let text: String
    let color: Style.Color?

    init(_ text: String, _ color: Style.Color? = nil) {
      self.text = text
      self.color = color
    }
  }

  /// Appends a line of a card. A piece that does not fit starts a new line.
  private func append(_ pieces: [Piece], to text: inout String) {
    var used = 2
    text += "  "
    for piece in pieces {
      var content = piece.text
      let width = TextWidth.of(content)
      if let columns = style.width, used > 2, used + width > columns {
        text += "\n    "
        used = 4
        content = String(content.drop { $0 == " " })
      }
      let shown = style.fit(content, indent: used)
      text += piece.color.map { style.paint(shown, $0) } ?? shown
      used += TextWidth.of(shown)
    }
    text += "\n"
  }

  /// The column at which badges end on a terminal.
  private static let badgeEdge = 72

  private func title(_ summary: AlarmSummary, muted: Bool, to text: inout String) {
    let badge = "[\(summary.badge)]"
    let title = style.fit(Printable.text(summary.title))
    text += style.paint(title, muted ? .faint : .bold)
    if let width = style.width, TextWidth.of(title) + 1 + badge.utf8.count > width {
      // The title says more.
      text += "\n"
      return
    }
    var gap = 1
    if let width = style.width {
      let edge = min(width, AlarmOutput.badgeEdge)
      gap = max(1, edge - TextWidth.of(title) - badge.utf8.count)
    }
    text += String(repeating: " ", count: gap)
    text += style.paint(badge, muted ? .faint : AlarmOutput.color(ofBadge: summary.badge))
    text += "\n"
  }

  /// Returns the color of a badge. Each cycle has its own.
  package static func color(ofBadge badge: String) -> Style.Color {
    switch badge.split(separator: " ").last {
    case "annual", "years": .green
    case "monthly", "months": .magenta
    case "weekly", "weeks": .blue
    case "once": .bold
    default: .cyan
    }
  }

  /// Returns the lines for the alarm's state and the command to type; no lines for an active alarm.
  private func state(_ summary: AlarmSummary) -> [[Piece]] {
    let status = summary.status
    let current = status.current.map { when($0, in: summary) }
    let id = summary.id.short
    switch status.state {
    case .active: return []
    case .ringing where status.isUndelivered:
      return [
        [
          Piece("Due, not delivered", .red),
          Piece(" on this device", .red), Piece(current.map { ", since \($0)" } ?? ""),
        ],
        [
          Piece("if it is done: belfry done \(id);", .faint),
          Piece(" reasons: belfry why \(id)", .faint),
        ],
      ]
    case .ringing:
      return [
        [Piece("RINGING", .red), Piece(current.map { " since \($0)" } ?? "")],
        [Piece("answer it: belfry ring", .faint)],
      ]
    case .snoozed:
      let label = status.snooze?.count == 0 ? "Quiet hours" : "Snoozed"
      return [
        [Piece(label, .yellow), Piece(status.snooze.map { " until \(when($0.until))" } ?? "")]
      ]
    case .pending:
      let asks = status.pending.last?.nextFollowUp.map { " next follow-up \(times.at($0))" }
      return [
        [
          Piece("Pending:", .brightMagenta)
        ] + list(status.pending.map(\.occurrence), in: summary, end: ",") + [
          Piece(asks ?? " not confirmed yet")
        ],
        [Piece("if it is done: belfry done \(id)", .faint)],
      ]
    case .missed:
      return [
        [Piece("Missed:", .red)] + list(status.missed, in: summary),
        [
          Piece("if it is done: belfry done \(id);", .faint),
          Piece(" if not: belfry dismiss \(id)", .faint),
        ],
      ]
    case .paused:
      let until = status.pausedUntil.map { " until \(when($0, zone: summary.zone))" } ?? ""
      return [
        [Piece("Paused", .yellow), Piece(until)],
        [Piece("resume now: belfry resume \(id)", .faint)],
      ]
    case .disabled: return [[Piece("Disabled", .faint)]]
    case .finished: return [[Piece("Finished", .faint)]]
    }
  }

  /// Returns `Mon 23 Nov 2026, 09:00` or `Mon 23 Nov 2026, 09:00 and 2 more`.
  ///
  /// - Parameter naming: the occurrence to name; by default the latest one.
  private func list(
    _ occurrences: [CivilDateTime], naming: KeyPath<[CivilDateTime], CivilDateTime?> = \.last,
    in summary: AlarmSummary, end: String = ""
  ) -> [Piece] {
    guard let last = occurrences[keyPath: naming] else { return [] }
    let more = occurrences.count - 1
    if more == 0 { return [Piece(" \(when(last, in: summary))\(end)")] }
    return [Piece(" \(when(last, in: summary))"), Piece(" and \(more) more\(end)")]
  }

  /// Returns the text of a list without alarms, although there are others.
  ///
  /// - Parameter finished: true for the list of the finished alarms.
  package func empty(finished: Bool) -> String {
    finished
      ? "No alarm is finished.\n"
      : "All alarms are finished. To list them: belfry list --finished\n"
  }

  /// Returns `until Mon 4 Jan 2027`, or `from Thu 24 Dec 2026 until Mon 4 Jan 2027`; nil for an alarm without a pause, or
  /// whose pause has ended.
  package func plannedPause(_ alarm: Alarm) -> String? {
    let here = times.zones.zone(of: alarm).civil(at: now)
    guard let pause = alarm.pause, here < pause.until else { return nil }
    return times.pause(pause, zone: alarm.zone.text, at: here)
  }

  /// Returns `next is Mon 23 Nov 2026, 09:00, in 2 days`, or the reason why there is no next occurrence.
  package func next(_ alarm: Alarm, _ status: AlarmStatus) -> String {
    guard let next = status.next else {
      return alarm.enabled ? "it has no further occurrence" : "it is disabled"
    }
    return
      "next is \(when(next, zone: alarm.shownZone)), \(Span.until(next.at.seconds(since: now)))"
  }
}
