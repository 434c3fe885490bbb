/// The occurrences of alarms on the days of a period, each with its state, for calendars of every form.
public struct Agenda: Hashable, Sendable {
  /// The days of the period, one for each date.
  public let days: [Day]
  /// The date of the present time on this device.
  public let today: CivilDate
  /// The alarms that the entries and pauses name.
  public let alarms: [Identifier: Subject]

  /// A day of the period.
  public struct Day: Hashable, Sendable {
    /// The date.
    public let date: CivilDate
    /// The names of the holidays on the date, in ascending order.
    public var holidays: [String]
    /// The alarms that are paused for some part of the day, in ascending order.
    public var paused: [Identifier]
    /// The occurrences, in the order of their times.
    public var entries: [Entry]

    /// Creates a day from its parts.
    public init(
      _ date: CivilDate, holidays: [String] = [], paused: [Identifier] = [], entries: [Entry] = []
    ) {
      self.date = date
      self.holidays = holidays
      self.paused = paused
      self.entries = entries
    }
  }

  /// An occurrence with its state.
  public struct Entry: Hashable, Sendable {
    /// The alarm.
    public let alarm: Identifier
    /// The occurrence, in the civil time of the alarm.
    public let occurrence: CivilDateTime
    /// The time of the occurrence.
    public let at: Instant
    /// The time on this device's wall clock, which decides on which day the entry is.
    public let local: CivilDateTime
    /// The state.
    public let state: State

    /// Creates an entry from its parts.
    public init(
      alarm: Identifier, occurrence: CivilDateTime, at: Instant, local: CivilDateTime, state: State
    ) {
      self.alarm = alarm
      self.occurrence = occurrence
      self.at = at
      self.local = local
      self.state = state
    }
  }

  /// The states of an occurrence. The raw values are the names in documents.
  public enum State: String, CaseIterable, Comparable, Sendable {
    /// The states from the most urgent one. The worst of a day is the first of them.
    case missed, ringing, snoozed, pending, upcoming, autoCompleted, skipped, done, paused

    private static let ranks = Dictionary(
      uniqueKeysWithValues: allCases.enumerated().map { ($1, $0) })

    /// Returns true if `a` is more urgent than `b`.
    public static func < (a: State, b: State) -> Bool {
      ranks[a, default: 0] < ranks[b, default: 0]
    }

    /// True if the occurrence needs an answer.
    public var isOpen: Bool {
      switch self {
      case .missed, .ringing, .snoozed, .pending: true
      case .upcoming, .autoCompleted, .skipped, .done, .paused: false
      }
    }
  }

  /// The part of an alarm that a calendar shows.
  public struct Subject: Hashable, Sendable {
    /// The title.
    public let title: String
    /// The note; nil if there is none.
    public let note: String?
    /// The tags, in ascending order.
    public let tags: [AlarmTag]
    /// The name of the partner who set the alarm; nil if no partner did.
    public let partner: String?

    /// Creates the part of an alarm.
    public init(_ alarm: Alarm) {
      self.init(
        title: alarm.title, note: alarm.note, tags: alarm.tags.sorted(),
        partner: alarm.partner?.name)
    }

    /// Creates a subject from its parts.
    public init(
      title: String, note: String? = nil, tags: [AlarmTag] = [], partner: String? = nil
    ) {
      self.title = title
      self.note = note
      self.tags = tags
      self.partner = partner
    }
  }

  /// Creates an agenda of days. Entries are put in order by time, title and identifier.
  public init(_ days: [Day], today: CivilDate, alarms: [Identifier: Subject]) {
    self.today = today
    self.alarms = alarms
    // Most entries of a large store share their times with others. Titles are compared once for each alarm.
    let order = alarms.sorted { ($0.value.title, $0.key) < ($1.value.title, $1.key) }
    let ranks = Dictionary(uniqueKeysWithValues: order.enumerated().map { ($1.key, $0) })
    self.days = days.map { day in
      var day = day
      day.paused.sort()
      day.entries = Agenda.sorted(day.entries) { ranks[$0] ?? -1 }
      return day
    }
  }

  /// Returns entries in order by time, and by the rank of their alarms.
  private static func sorted(_ entries: [Entry], by rank: (Identifier) -> Int) -> [Entry] {
    let keys = entries.enumerated().map { (at: $1.at, rank: rank($1.alarm), index: $0) }
    return keys.sorted { a, b in
      if a.at != b.at { return a.at < b.at }
      if a.rank != b.rank { return a.rank < b.rank }
      let (one, two) = (entries[a.index], entries[b.index])
      return (one.alarm, one.occurrence) < (two.alarm, two.occurrence)
    }.map { entries[$0.index] }
  }

  /// Returns the day of a date; nil if the date is outside of the period.
  public subscript(date: CivilDate) -> Day? {
    guard let first = days.first?.date else { return nil }
    let index = date.dayNumber - first.dayNumber
    return days.indices.contains(index) ? days[index] : nil
  }

  /// The number of occurrences in each state.
  public var counts: [State: Int] { Agenda.counts(days) }

  /// Returns the number of occurrences in each state on some dates.
  public func counts(in dates: ClosedRange<CivilDate>) -> [State: Int] {
    Agenda.counts(days.filter { dates.contains($0.date) })
  }

  private static func counts(_ days: [Day]) -> [State: Int] {
    days.reduce(into: [:]) { counts, day in
      for entry in day.entries { counts[entry.state, default: 0] += 1 }
    }
  }
}
