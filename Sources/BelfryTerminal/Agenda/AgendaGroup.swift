import BelfryCore

/// The occurrences of an alarm on a day that have the same state, which a calendar shows together.
package struct AgendaGroup: Hashable, Sendable {
  package let alarm: Identifier
  package let state: Agenda.State
  /// The times of day, in order.
  package private(set) var times: [CivilTime]

  /// Returns the groups of a day, in the order of their first times.
  package static func groups(of day: Agenda.Day) -> [AgendaGroup] {
    struct Key: Hashable {
      let alarm: Identifier
      let state: Agenda.State
    }
    var places: [Key: Int] = [:]
    var groups: [AgendaGroup] = []
    for entry in day.entries {
      let key = Key(alarm: entry.alarm, state: entry.state)
      if let place = places[key] {
        groups[place].times.append(entry.local.time)
      } else {
        places[key] = groups.count
        groups.append(
          AgendaGroup(alarm: entry.alarm, state: entry.state, times: [entry.local.time]))
      }
    }
    return groups
  }

  /// Returns at most some groups of a day, in their order. The groups that need an answer stay, then the upcoming ones. Of
  /// these, the alarms with few days stay: what comes back each day is known.
  ///
  /// - Parameter days: The number of days of each alarm in the shown time.
  static func mostUrgent(
    _ groups: [AgendaGroup], _ limit: Int, days: [Identifier: Int]
  ) -> [AgendaGroup] {
    guard groups.count > limit else { return groups }
    func rank(_ index: Int) -> (Agenda.State, Int, Int) {
      (groups[index].state, days[groups[index].alarm] ?? 0, index)
    }
    let kept = Set(groups.indices.sorted { rank($0) < rank($1) }.prefix(limit))
    return groups.indices.filter(kept.contains).map { groups[$0] }
  }

  /// The number of times up to which each is named.
  private static let maxNamed = 8

  /// Returns the times as words: `08:00, 14:00, 21:00`, or `00:00 - 23:40 ×72` if there are many.
  ///
  /// - Parameter columns: The width of a line.
  func times(_ text: TimeText, in columns: Int) -> [String] {
    if times.count > AgendaGroup.maxNamed, let first = times.first, let last = times.last {
      let ends = [first, last].map { text.compact($0, in: columns) }
      return [ends[0], "-", ends[1], "×\(times.count)"]
    }
    return times.enumerated().map { index, time in
      index < times.count - 1
        ? text.compact(time, in: columns - 1) + "," : text.compact(time, in: columns)
    }
  }
}
