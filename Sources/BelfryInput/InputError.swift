import BelfryCore

/// The reason why an input is not understood.
public enum InputError: Error, Equatable, Sendable {
  /// The input has no words.
  case empty
  /// A word has no meaning at its place. A known word may be similar.
  case notUnderstood(String, suggestion: String?)
  /// Something must follow a word.
  case missing(Part, after: String)
  /// Some words have several meanings. Each reading can replace the words.
  case ambiguous(String, readings: [String])
  /// A date does not exist: `31 feb`.
  case noSuchDate(String)
  /// A time of day does not exist: `25:00`.
  case noSuchTime(String)
  /// A time has seconds, but occurrences are at whole minutes.
  case hasSeconds(String)
  /// A part occurs more than once, or contradicts another one.
  case repeated(Part)
  /// Two rules cannot be one schedule: `every mon and every 15th`.
  case severalRules
  /// No schedule can express the input.
  case unsupported(Unsupported)
  /// An interval of minutes does not divide a day, and the input has no window.
  case unevenInterval(minutes: Int)
  /// A window has no interval: `mon-fri 9-17`.
  case windowAlone(CivilTime, CivilTime)
  /// A one-time schedule has several times of day: `8am and 8pm`.
  case severalTimes(String)
  /// A date and a weekday contradict each other: `thu 27 nov`.
  case wrongWeekday(String, CivilDate)
  /// A date has passed, and has another one: `thursday 9am` on a Thursday afternoon.
  case passed(String, next: CivilDate)
  /// A number without a unit may be a year: `in 2029`.
  case numberAlone(String)
  /// A word is not English.
  case foreignWord(String)
  /// A window ends before it starts, or is shorter than its interval.
  case emptyWindow(CivilTime, CivilTime)
  /// `twice a day` with another number of times.
  case timesPerDay(said: Int, given: Int)
  /// No time zone has a name, or several have it.
  case unknownZone(String, suggestions: [String])
  /// A number is too large or too small.
  case outOfRange(String)
  /// A text of cron, systemd or iCalendar has no equal schedule. The reason is a clause without a subject.
  case foreign(Format, reason: String)

  /// A part of an input.
  public enum Part: String, Sendable {
    /// A part with the meaning of its name.
    case date, time, weekday, day, month, unit, length, number, zone, start, end, rule
    /// The dates that a schedule omits.
    case exceptions
    /// The treatment of holidays.
    case holidays
    /// The number of occurrences.
    case count
  }

  /// A rule that no schedule expresses.
  public enum Unsupported: String, Sendable {
    /// Several dates of a year with different days and months.
    case unequalDates
    /// Positions from the start and the end of a quarter.
    case quarterPositions
    /// Weekdays that are omitted from a rule that is not daily or weekly.
    case omittedWeekdays
    /// Months that a rule without days of the month leaves out.
    case omittedMonths
    /// A weekly rule for the n-th week of a month, or a similar combination.
    case combination
    /// A time of day that has no fixed hour: `tomorrow morning`.
    case partOfDay
    /// Easter in each year, and the days that hang on it.
    case movingFeast
    /// A time of day that follows the sun.
    case sun
    /// A season, or a phase of the moon.
    case season
    /// A number of days before or after a weekday of the month.
    case besideWeekday
    /// A condition: `if it is a weekend`.
    case condition
    /// A day that each person knows: a payday.
    case payday
    /// A day that has another date in each country or family: a birthday.
    case namedDay
    /// Weeks or days with even or odd numbers.
    case parity
    /// A place instead of a time.
    case place
    /// A reminder before the occurrence, which is an option.
    case reminder
    /// `once` behind a rule that repeats.
    case onceOfRule
    /// More dates than a schedule can omit.
    case tooManyDates
    /// A number of occurrences of a rule that follows completions.
    case countedCompletions
    /// A latest completion that is still to come.
    case futureCompletion
    /// Other times of day for a schedule that counts hours or minutes from its start.
    case timesOfDistance
  }

  /// A format of another program.
  public enum Format: String, Sendable {
    /// A line of a crontab.
    case cron
    /// The text of `OnCalendar` in a systemd timer.
    case onCalendar
    /// The text of `RRULE` in iCalendar.
    case rrule
  }
}
