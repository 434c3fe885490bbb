import BelfryCore

/// The occurrences of alarms on the days of a calendar, for this device's wall clock.
///
/// The occurrences of an alarm on one day are one entry, which has the state that most needs attention.
public struct DayEntries: Sendable {
  /// The state of an entry.
  public enum State: Int, Comparable, Sendable {
    /// The states in ascending need for attention.
    case done, autoCompleted, skipped, upcoming, snoozed, pending, ringing, missed

    /// Returns true if `a` needs less attention than `b`.
    public static func < (a: State, b: State) -> Bool { a.rawValue < b.rawValue }

    init(_ outcome: Statistics.Outcome) {
      switch outcome {
      case .done: self = .done
      case .autoCompleted: self = .autoCompleted
      case .skipped: self = .skipped
      case .missed: self = .missed
      }
    }
  }

  /// The occurrences of an alarm on one day.
  public struct Entry: Hashable, Sendable {
    /// The alarm.
    public let alarm: Identifier
    /// The title of the alarm.
    public let title: String
    /// The time of the first occurrence.
    public internal(set) var time: CivilTime
    /// The number of the occurrences.
    public internal(set) var count: Int
    /// The state that most needs attention.
    public internal(set) var state: State
  }

  /// The dates of the calendar.
  public let dates: ClosedRange<CivilDate>
  private var days: [[Entry]]

  /// Creates a calendar without entries.
  public init(_ dates: ClosedRange<CivilDate>) {
    self.dates = dates
    days = Array(repeating: [], count: dates.upperBound.dayNumber - dates.lowerBound.dayNumber + 1)
  }

  /// Returns the entries of a day, by time and title.
  public func entries(on date: CivilDate) -> [Entry] {
    dates.contains(date) ? days[date.dayNumber - dates.lowerBound.dayNumber] : []
  }

  /// Adds the occurrences of an alarm.
  ///
  /// - Parameters:
  ///   - occurrences: The occurrences of one alarm on this device's wall clock, each once.
  ///   - alarm: The alarm.
  ///   - title: Its title.
  public mutating func add(
    _ occurrences: [(civil: CivilDateTime, state: State)], of alarm: Identifier, title: String
  ) {
    let first = dates.lowerBound.dayNumber
    for occurrence in occurrences where dates.contains(occurrence.civil.date) {
      let day = occurrence.civil.date.dayNumber - first
      // The entries of an alarm are added one after another.
      if var entry = days[day].last, entry.alarm == alarm {
        entry.time = min(entry.time, occurrence.civil.time)
        entry.count += 1
        entry.state = max(entry.state, occurrence.state)
        days[day][days[day].count - 1] = entry
      } else {
        days[day].append(
          Entry(
            alarm: alarm, title: title, time: occurrence.civil.time, count: 1,
            state: occurrence.state))
      }
    }
  }

  /// Adds the entries of another calendar with the same dates.
  public mutating func add(_ other: DayEntries) {
    precondition(dates == other.dates, "both calendars have the same dates")
    for (index, entries) in other.days.enumerated() { days[index] += entries }
  }

  /// Sorts the entries of each day by time and title.
  public mutating func sort() {
    for index in days.indices { days[index].sort { ($0.time, $0.title) < ($1.time, $1.title) } }
  }
}

extension DayEntries {
  /// The maximum number of upcoming occurrences of an alarm that are computed.
  private static let maxUpcoming = 2000

  /// Returns the occurrences of an alarm on the dates of a calendar, on this device's wall clock.
  ///
  /// - Parameters:
  ///   - timeline: The alarm.
  ///   - status: Its status.
  ///   - responses: Its settled occurrences.
  ///   - local: This device's zone.
  ///   - now: The present time.
  public static func occurrences(
    of timeline: Timeline, _ status: AlarmStatus, _ responses: [Statistics.Response],
    on dates: ClosedRange<CivilDate>, local: TimeZoneRules, now: Instant
  ) -> [(civil: CivilDateTime, state: State)] {
    let isLocal = timeline.zone == local
    func shown(_ civil: CivilDateTime) -> CivilDateTime {
      let occurrence = timeline.occurrence(civil)
      return isLocal ? occurrence.time : local.civil(at: occurrence.at)
    }
    var states: [CivilDateTime: State] = [:]
    // A zone is at most a day away.
    for response in responses.reversed() {
      if response.civil.date < dates.lowerBound.adding(days: -1) { break }
      states[response.civil] = State(response.outcome)
    }
    for civil in status.missed { states[civil] = .missed }
    for civil in status.skipped { states[civil] = .skipped }
    for pending in status.pending { states[pending.occurrence] = .pending }
    if status.state == .ringing {
      for civil in status.alsoRinging + [status.current].compactMap({ $0 }) {
        states[civil] = .ringing
      }
    } else if let snooze = status.snooze {
      states[snooze.occurrence] = .snoozed
    }
    var result = states.map { (civil: shown($0.key), state: $0.value) }
    guard timeline.alarm.enabled else { return result }
    for occurrence in timeline.upcoming(after: now).prefix(maxUpcoming) {
      let civil = isLocal ? occurrence.time : local.civil(at: occurrence.at)
      if civil.date > dates.upperBound { break }
      if states[occurrence.civil] == nil { result.append((civil, .upcoming)) }
    }
    return result
  }
}
