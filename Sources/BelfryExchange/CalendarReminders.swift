import BelfryCore

/// A reminder (VALARM) of an item.
enum CalendarReminder: Hashable {
  /// A duration after the start.
  case start(CalendarDuration)
  /// A duration after the end of an event, or the due time of a to-do.
  case end(CalendarDuration)
  /// A fixed time.
  case fixed(Instant)

  /// The longest duration before or after an event, in seconds.
  private static let longest = 366 * 86_400

  /// Returns the reminders of an item. Those by email count only if there are no others.
  ///
  /// - Parameter losses: Receives the reminders that Belfry cannot represent, as noun phrases.
  static func all(
    of item: CalendarComponent, _ zones: CalendarZones, _ losses: inout [String]
  ) -> [CalendarReminder] {
    var reminders: [CalendarReminder] = []
    var emails: [CalendarReminder] = []
    for component in item.components("VALARM") {
      let action = component.first("ACTION")?.value.uppercased()
      // Apple writes "no reminder" so, with a date of 1976.
      if action == "NONE" { continue }
      guard let trigger = component.first("TRIGGER") else {
        for line in component.rejected where line.name == "TRIGGER" {
          losses.append("a reminder at '\(line.value)'")
        }
        continue
      }
      guard let reminder = CalendarReminder(trigger, zones) else {
        losses.append("a reminder at '\(trigger.value)'")
        continue
      }
      if action == "EMAIL" {
        emails.append(reminder)
        continue
      }
      if action == "PROCEDURE" { losses.append("a command") }
      if component.first("REPEAT").map({ $0.value != "0" }) ?? false {
        losses.append("a repeating reminder")
      }
      reminders.append(reminder)
    }
    if !emails.isEmpty { losses.append("an email reminder") }
    return reminders.isEmpty ? emails : reminders
  }

  private init?(_ trigger: CalendarProperty, _ zones: CalendarZones) {
    if let duration = CalendarDuration(correcting: trigger.value) {
      guard abs(duration.total) <= CalendarReminder.longest else { return nil }
      let isAtEnd = trigger.parameters["RELATED"]?.uppercased() == "END"
      self = isAtEnd ? .end(duration) : .start(duration)
    } else if let moment = zones.moments(trigger).first, !moment.isDate {
      self = .fixed(zones.instant(moment))
    } else {
      return nil
    }
  }
}

/// The length of an item.
struct CalendarLength {
  /// The length by the calendar and the clock.
  let duration: CalendarDuration
  /// The length in minutes on the wall clock.
  let wallMinutes: Int

  /// Returns the length of an item that starts at a moment (RFC 5545, 3.6.1): a day for a date, nothing for a time, if
  /// it has neither an end nor a duration.
  init(of item: CalendarComponent, from start: CalendarMoment, _ zones: CalendarZones) {
    let property =
      item.first("DTEND") ?? (item.first("DTSTART") == nil ? nil : item.first("DUE"))
    if let end = property.flatMap({ zones.moments($0).first }) {
      let civil = zones.civil(end, like: start)
      wallMinutes = civil.minuteNumber - start.civil.minuteNumber
      duration =
        start.isDate || end.isDate
        ? CalendarDuration(days: civil.date.dayNumber - start.civil.date.dayNumber)
        : CalendarDuration(seconds: Int(zones.instant(end).seconds(since: zones.instant(start))))
    } else if let duration = item.first("DURATION").flatMap({
      CalendarDuration(correcting: $0.value)
    }) {
      self.duration = duration
      wallMinutes = duration.minutes
    } else {
      duration = CalendarDuration(days: start.isDate ? 1 : 0)
      wallMinutes = duration.minutes
    }
  }
}
