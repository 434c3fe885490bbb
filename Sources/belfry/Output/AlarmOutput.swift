import BelfryCore
import BelfryStore

/// Spans of time in words.
enum Span {
  /// `in 12 min`, `in 10 h 5 min`, `in 3 days`.
  static func until(_ seconds: Int64) -> String {
    seconds < 60 ? "in less than a minute" : "in \(length(seconds))"
  }

  /// `12 min`, `10 h 5 min`, `2 days 3 h`, `12 days`.
  static func length(_ seconds: Int64) -> String {
    let minutes = seconds / 60
    let hours = minutes / 60
    let days = hours / 24
    func unit(_ count: Int64, _ name: String) -> String {
      "\(count) \(name)\(count == 1 ? "" : "s")"
    }
    switch seconds {
    case ..<60: return "\(seconds) s"
    case ..<3600: return "\(minutes) min"
    case ..<86_400: return minutes % 60 == 0 ? "\(hours) h" : "\(hours) h \(minutes % 60) min"
    case ..<(7 * 86_400):
      return hours % 24 == 0 ? unit(days, "day") : "\(unit(days, "day")) \(hours % 24) h"
    default: return unit(days, "day")
    }
  }

  /// Reads `90s`, `10m`, `1h`, `1d`, `1w`; nil for anything else, and for nothing or more than a year.
  static func parse(_ text: String) -> Int64? {
    let units: [Character: Int64] = ["s": 1, "m": 60, "h": 3600, "d": 86_400, "w": 604_800]
    guard let last = text.last, let unit = units[last], let count = Int64(text.dropLast()),
      count > 0, count <= 366 * 86_400 / unit, text.dropLast().allSatisfy(\.isNumber)
    else { return nil }
    return count * unit
  }
}

/// How alarms look, as text and as JSON.
struct AlarmOutput: Sendable {
  let store: Store
  let style: Style

  private var now: Instant { store.context.now }
  private var zones: ZoneLibrary { store.context.zones }

  // MARK: Text

  /// `Mon 23 Nov 2026, 09:00`, and where that is when it is not here.
  func when(_ occurrence: CivilDateTime, zone: String) -> String {
    zone == Alarm.Zone.floating.text || zone == zones.local.name
      ? occurrence.spoken : "\(occurrence.spoken) \(zone)"
  }

  /// A moment on this device's wall clock.
  func when(_ instant: Instant) -> String {
    let civil = zones.local.civil(at: instant)
    return civil.date == zones.local.civil(at: now).date ? "\(civil.time)" : civil.spoken
  }

  /// What a card says of the alarm's state: nothing when it is simply waiting.
  private func state(_ card: Card) -> String? {
    let status = card.status
    switch status.state {
    case .active: return nil
    case .ringing:
      return style.paint("RINGING", .red)
        + (status.current.map { " since \(when($0, zone: card.zone))" } ?? "")
    case .snoozed:
      return style.paint("Snoozed", .yellow)
        + (status.snooze.map { " until \(when($0.until))" } ?? "")
    case .pending:
      return style.paint("Pending", .magenta)
        + (status.pending.last.map {
          ": \(when($0.occurrence, zone: card.zone)), not confirmed yet"
        } ?? "")
    case .missed:
      return style.paint("Missed", .red)
        + (status.current.map { ": \(when($0, zone: card.zone))" } ?? "")
    case .disabled: return style.paint("Disabled", .faint)
    case .finished: return style.paint("Finished", .faint)
    }
  }

  private func badge(_ text: String) -> String {
    guard style.isColoured else { return "[\(text)]" }
    let colour: Style.Colour =
      switch text.split(separator: " ").last {
      case "annual", "years": .green
      case "monthly", "months": .magenta
      case "weekly", "weeks": .blue
      default: .cyan
      }
    return style.paint("[\(text)]", colour)
  }

  /// A card: title and badge, state, next date and countdown, identifier and note.
  func append(_ card: Card, to text: inout String) {
    let status = card.status
    let muted = status.state == .disabled || status.state == .finished
    let title = style.fit(Printable.text(card.title), indent: card.badge.utf8.count + 3)
    text += style.paint(title, muted ? .faint : .bold)
    text += " "
    text += badge(card.badge)
    text += "\n"
    if let state = state(card) {
      text += "  "
      text += state
      text += "\n"
    }
    if let next = status.next {
      var time = status.state == .active ? "" : "next "
      time += when(next.civil, zone: card.zone)
      time += ", "
      time += Span.until(next.at.seconds(since: now))
      text += "  "
      text += style.fit(time, indent: 2)
      text += "\n"
    }
    var last = card.id.short
    if let note = card.note?.split(separator: "\n").first {
      last += "  "
      last += Printable.text(String(note).replacing("\t", with: " "))
    }
    text += "  "
    text += style.paint(style.fit(last, indent: 2), .faint)
    text += "\n"
  }

  func card(_ card: Card) -> String {
    var text = ""
    append(card, to: &text)
    return text
  }

  // MARK: JSON

  /// `{id, title, note?, enabled, state, schedule, zone, next?, nextOccurrence?, countdownSeconds?,
  /// pending?, snooze?}`
  func json(_ alarm: Alarm, _ status: AlarmStatus) -> JSON {
    .object(omittingNil: [
      "id": JSON(alarm.id), "title": .string(alarm.title), "note": alarm.note.map { .string($0) },
      "enabled": .bool(alarm.enabled), "state": .string(status.state.rawValue),
      "schedule": ScheduleRecord.encode(alarm.schedule), "zone": .string(alarm.zone.text),
      "next": status.next.map { .string(zones.text($0.at)) },
      "nextOccurrence": status.next.map { JSON($0.civil) },
      "countdownSeconds": status.next.map { .integer($0.at.seconds(since: now)) },
      "pending": status.pending.last.map {
        .object([
          "occurrence": JSON($0.occurrence), "since": .string(zones.text($0.since)),
        ])
      },
      "snooze": status.snooze.map {
        .object([
          "occurrence": JSON($0.occurrence), "until": .string(zones.text($0.until)),
          "count": .integer(Int64($0.count)),
        ])
      },
    ])
  }

  /// `{alarm, title, occurrence?, action, next?}`
  func json(_ alarm: Alarm, _ status: AlarmStatus, event: Event) -> JSON {
    .object(omittingNil: [
      "alarm": JSON(alarm.id), "title": .string(alarm.title),
      "occurrence": event.occurrence.map { JSON($0) }, "action": .string(event.action.rawValue),
      "next": status.next.map { .string(zones.text($0.at)) },
    ])
  }

  func print(_ json: JSON) { Console.write(json.document) }

  /// `next is Mon 23 Nov 2026, 09:00, in 2 days`, or that there is none.
  func next(_ alarm: Alarm, _ status: AlarmStatus) -> String {
    guard let next = status.next else {
      return alarm.enabled ? "it does not come again" : "it is disabled"
    }
    return
      "next is \(when(next.civil, zone: alarm.zone.text)), \(Span.until(next.at.seconds(since: now)))"
  }
}
