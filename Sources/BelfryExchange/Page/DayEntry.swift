import BelfryCore

/// The occurrences of an alarm on one day that are in the same state, which the calendar of a page shows as one entry.
struct DayEntry: Hashable {
  /// The alarm.
  let alarm: Identifier
  /// The time of the first occurrence.
  let time: CivilTime
  /// The number of the occurrences.
  private(set) var count = 1
  /// Their state.
  let state: Agenda.State

  /// The alarm and the state of the occurrences that one entry shows.
  private struct Kind: Hashable {
    let alarm: Identifier
    let state: Agenda.State
  }

  /// Creates the entry of a first occurrence.
  private init(_ occurrence: Agenda.Entry) {
    alarm = occurrence.alarm
    time = occurrence.local.time
    state = occurrence.state
  }

  /// Returns the entries of a day, in the order of their times. Paused occurrences have none.
  static func entries(of day: Agenda.Day) -> [DayEntry] {
    var places = [Kind: Int](minimumCapacity: day.entries.count)
    var entries: [DayEntry] = []
    for occurrence in day.entries where occurrence.state != .paused {
      let kind = Kind(alarm: occurrence.alarm, state: occurrence.state)
      if let place = places[kind] {
        entries[place].count += 1
      } else {
        places[kind] = entries.count
        entries.append(DayEntry(occurrence))
      }
    }
    return entries
  }
}
