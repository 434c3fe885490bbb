import BelfryCore

/// The occurrences of an alarm on one day, which the calendar of a page shows as one entry.
struct DayEntry: Hashable {
  /// The alarm.
  let alarm: Identifier
  /// The time of the first occurrence.
  let time: CivilTime
  /// The number of the occurrences.
  private(set) var count = 1
  /// The most urgent state.
  private(set) var state: Agenda.State

  /// Creates the entry of a first occurrence.
  private init(_ occurrence: Agenda.Entry) {
    alarm = occurrence.alarm
    time = occurrence.local.time
    state = occurrence.state
  }

  /// Returns the entries of a day, in the order of their times. Paused occurrences have none.
  static func entries(of day: Agenda.Day) -> [DayEntry] {
    var places = [Identifier: Int](minimumCapacity: day.entries.count)
    var entries: [DayEntry] = []
    for occurrence in day.entries where occurrence.state != .paused {
      if let place = places[occurrence.alarm] {
        entries[place].count += 1
        entries[place].state = min(entries[place].state, occurrence.state)
      } else {
        places[occurrence.alarm] = entries.count
        entries.append(DayEntry(occurrence))
      }
    }
    return entries
  }
}
