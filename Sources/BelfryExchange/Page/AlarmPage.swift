import BelfryCore

/// The content of the page that `export --format html` writes: the alarms of a store at one moment.
///
/// The page is a pure function of this value. Texts of people are unescaped here; times are already formatted for the
/// reader's locale.
public struct AlarmPage: Sendable {
  /// An alarm.
  public struct Row: Sendable {
    /// The title.
    public let title: String
    /// The tags, without their sign.
    public let tags: [String]
    /// The note; nil if there is none.
    public let note: String?
    /// The state.
    public let state: AlarmStatus.State
    /// The schedule in words.
    public let schedule: String
    /// The next occurrence; empty if there is none.
    public let next: String
    /// The responses of the last twelve months.
    public let responses: ResponseSummary
    /// The length of the current streak.
    public let streak: Int

    /// Creates a row from its parts.
    public init(
      title: String, tags: [String], note: String?, state: AlarmStatus.State, schedule: String,
      next: String, responses: ResponseSummary, streak: Int
    ) {
      self.title = title
      self.tags = tags
      self.note = note
      self.state = state
      self.schedule = schedule
      self.next = next
      self.responses = responses
      self.streak = streak
    }
  }

  /// An occurrence in a list.
  public struct Occurrence: Sendable {
    /// The title of the alarm.
    public let title: String
    /// The date and time of the occurrence.
    public let time: String
    /// The occurrence for machines.
    public let civil: CivilDateTime
    /// Its state, such as `ringing`, with the time of the next follow-up or snooze.
    public let state: String

    /// Creates an occurrence from its parts.
    public init(title: String, time: String, civil: CivilDateTime, state: String) {
      self.title = title
      self.time = time
      self.civil = civil
      self.state = state
    }
  }

  /// The time of the page as text, with the name of the time zone.
  public var updated: String
  /// The date of the page.
  public var today: CivilDate
  /// The weekdays from the first day of a week, and their names.
  public var week: [(weekday: Weekday, name: String)]
  /// Returns a time of day as text.
  public var time: @Sendable (CivilTime) -> String
  /// The alarms in the order of the list.
  public var rows: [Row] = []
  /// The occurrences that ring, are snoozed, pending or missed, and wait for an answer.
  public var open: [Occurrence] = []
  /// The next occurrence with its alarm; nil if there is none.
  public var next: (title: String, time: String)?
  /// The latest missed occurrences of the last twelve months, newest first, without those that are open.
  public var missed: [Occurrence] = []
  /// The number of earlier missed occurrences of the last twelve months, which are left out.
  public var earlierMissed = 0
  /// Returns the title of an alarm in the calendar.
  public var title: @Sendable (Agenda.Subject) -> String
  /// The months of the calendar.
  public var calendar: Agenda
  /// The settled occurrences of the last twelve months, of all alarms.
  public var responses: [Statistics.Response] = []

  /// Creates a page without alarms.
  public init(
    updated: String, today: CivilDate, week: [(weekday: Weekday, name: String)],
    calendar: Agenda, time: @escaping @Sendable (CivilTime) -> String,
    title: @escaping @Sendable (Agenda.Subject) -> String
  ) {
    self.updated = updated
    self.today = today
    self.week = week
    self.calendar = calendar
    self.time = time
    self.title = title
  }

  /// The dates of the heat map and the chart: twelve months up to this one.
  public static func year(upTo today: CivilDate) -> ClosedRange<CivilDate> {
    let months = CalendarUnit.month
    return months.dates(-11, from: today).lowerBound...months.dates(around: today).upperBound
  }

  /// The dates of the calendar: this month and the next one.
  public static func calendarDates(at today: CivilDate) -> ClosedRange<CivilDate> {
    let months = CalendarUnit.month
    return months.dates(around: today).lowerBound...months.dates(1, from: today).upperBound
  }

  /// The full names of the months.
  static let months = [
    "January", "February", "March", "April", "May", "June", "July", "August", "September",
    "October", "November", "December",
  ]

  /// Returns the name of a month with its year.
  static func name(ofMonth date: CivilDate) -> String { "\(months[date.month - 1]) \(date.year)" }

  /// Returns the abbreviated name of a month with its year: `Nov 2026`.
  static func shortName(ofMonth date: CivilDate) -> String {
    "\(CivilDate.monthNames[date.month - 1]) \(date.year)"
  }

  /// Returns a number with a noun: `1 alarm`, `3 alarms`.
  static func count(_ number: Int, _ noun: String) -> String {
    "\(number) \(noun)\(number == 1 ? "" : "s")"
  }

  /// Returns a delay: `2 min`, `10 min early`.
  static func delay(_ seconds: Int64) -> String {
    seconds < 0 ? "\(Span.length(-seconds)) early" : Span.length(seconds)
  }

  /// Returns the counts of a group that are not zero: `12 done, 1 missed`.
  static func counts(_ summary: ResponseSummary) -> String {
    let counts = [
      (summary.done, "done"), (summary.autoCompleted, "automatic"), (summary.skipped, "skipped"),
      (summary.missed, "missed"),
    ]
    let texts = counts.filter { $0.0 > 0 }.map { "\($0.0) \($0.1)" }
    return texts.isEmpty ? "none" : texts.joined(separator: ", ")
  }
}
