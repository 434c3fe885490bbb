import ArgumentParser
import BelfryCore
import BelfryStore

/// The schedule options of `add` and `edit`.
struct ScheduleOptions: ParsableArguments {
  @Option(help: ArgumentHelp("Once: 2026-12-24T18:00, or a date with --at.", valueName: "when"))
  var once: String?

  @Flag(help: "Every day.")
  var daily = false

  @Option(help: ArgumentHelp("Every week: mon,fri.", valueName: "days"))
  var weekly: String?

  @Option(
    help: ArgumentHelp(
      "Every month: 15 or 5,last or \"first mon\" or \"last workday\".", valueName: "days"))
  var monthly: String?

  @Option(
    help: ArgumentHelp("Every year: 03-15 or \"fourth thu of nov\".", valueName: "date"))
  var annual: String?

  @Option(help: ArgumentHelp("Every n days, counted from --start.", valueName: "n"))
  var days: Int?

  @Option(
    help: ArgumentHelp(
      "Again 90d (2w, 6mo, 1y) after it was done; until then, daily.", valueName: "period"))
  var afterDone: String?

  @Option(help: ArgumentHelp("Only every n-th day, week, month or year.", valueName: "n"))
  var every: Int?

  @Option(help: ArgumentHelp("The first day to count from (default: today).", valueName: "date"))
  var start: String?

  @Option(help: ArgumentHelp("Times of day: 09:00 or 09:00,12:00,17:00.", valueName: "times"))
  var at: String?

  @Option(help: ArgumentHelp("The last day; none for no end.", valueName: "date"))
  var ends: String?

  @Option(help: ArgumentHelp("End after n more occurrences.", valueName: "n"))
  var times: Int?

  @Option(
    help: ArgumentHelp(
      "No occurrence on these: 2026-12-24,2026-12-31; or none.", valueName: "dates"))
  var except: String?

  @Option(
    help: ArgumentHelp(
      "On a holiday: skip, before or after (the next workday), or none.", valueName: "rule"))
  var onHoliday: String?

  @Option(
    help: ArgumentHelp("Europe/Berlin, or floating: the device's zone.", valueName: "zone"))
  var zone: String?

  // MARK: Parsing

  private var text: ScheduleText { ScheduleText(command: "add") }

  /// Returns the zone that the option names, or nil if none is given.
  func zone(_ zones: ZoneLibrary) throws -> Alarm.Zone? {
    guard let zone else { return nil }
    if zone == Alarm.Zone.floating.text { return .floating }
    guard zones.zone(named: zone) != nil else {
      throw CommandError(
        .usage, "there is no time zone '\(Printable.text(zone))'.",
        hint: "Use a name such as Europe/Berlin, or 'floating'; see 'timedatectl list-timezones'.")
    }
    return .named(zone)
  }

  /// The facts that a schedule depends on.
  struct Circumstances {
    /// The current wall-clock time in the zone of the alarm.
    let now: CivilDateTime
    /// The working days and holidays of the store.
    var calendar = WorkCalendar.standard
    /// The schedule to change; nil to create one.
    var earlier: Schedule?
    /// The date of the latest completion of the alarm to change; nil if there was none.
    var completed: CivilDate?
  }

  /// Returns the schedule that the options describe.
  ///
  /// - Throws: `CommandError` or `ScheduleError` if the options are not valid.
  func schedule(_ given: Circumstances) throws -> Schedule {
    let cycles = [
      once.map { _ in "--once" }, daily ? "--daily" : nil, weekly.map { _ in "--weekly" },
      monthly.map { _ in "--monthly" }, annual.map { _ in "--annual" }, days.map { _ in "--days" },
      afterDone.map { _ in "--after-done" },
    ].compactMap { $0 }
    if cycles.count > 1 {
      throw CommandError(
        .usage, "\(cycles[0]) and \(cycles[1]) cannot be combined.", hint: "Choose one cycle.")
    }
    let earlier = given.earlier
    if let once {
      if every != nil || start != nil {
        throw CommandError(
          .usage, "--once cannot be combined with --every or --start.",
          hint: "Give only the date and time.")
      }
      return try limited(onceSchedule(once, earlier: earlier, today: given.now), given)
    }
    let times = try self.times(of: given)
    let schedule =
      if cycles.isEmpty, let earlier {
        try Schedule(recounted(earlier.recurrence, given), times: times, limits: earlier.limits)
      } else {
        try Schedule(recurrence(given), times: times, limits: earlier?.limits ?? .none)
      }
    return try limited(schedule, given)
  }

  private func recurrence(_ given: Circumstances) throws -> Recurrence {
    let today = given.now.date
    if let afterDone { return try recurrence(after: afterDone, given) }
    let cadence = try cadence(earlier: nil, today: today)
    if daily { return .daily(cadence) }
    if let monthly { return try text.monthly(monthly, of: "--monthly", cadence) }
    if let annual { return try text.annual(annual, of: "--annual", cadence) }
    if let days { return .days(days, cadence) }
    if let weekly { return try text.weekly(weekly, of: "--weekly", cadence) }
    return .weekly([today.weekday], cadence)
  }

  private func recurrence(after words: String, _ given: Circumstances) throws -> Recurrence {
    guard let period = Period(words) else {
      throw text.invalid("--after-done", words, "a period, such as 90d, 2w, 6mo or 1y")
    }
    if every != nil {
      throw CommandError(
        .usage, "--after-done cannot be combined with --every.", hint: "Write a longer period.")
    }
    if start == nil, case .afterDone(_, let origin)? = given.earlier?.recurrence {
      return .afterDone(period, origin)
    }
    let first = try startDate() ?? given.now.date.adding(period)
    return .afterDone(period, .init(start: first, completionsAfter: given.completed))
  }

  /// Returns a schedule with the limits of the options.
  private func limited(_ schedule: Schedule, _ given: Circumstances) throws -> Schedule {
    var limits = schedule.limits
    if let except { limits.exceptions = try text.dates(except, of: "--except") }
    if let onHoliday { limits.onHoliday = try text.holidayRule(onHoliday, of: "--on-holiday") }
    if let ends { limits.until = try text.end(ends, of: "--ends") }
    guard let count = times else {
      return try Schedule(schedule.recurrence, times: schedule.times, limits: limits)
    }
    if ends != nil {
      throw CommandError(
        .usage, "--ends and --times cannot be combined.", hint: "Choose one end.")
    }
    if schedule.followsCompletion {
      throw CommandError(
        .usage, "--times cannot be combined with --after-done.",
        hint: "Its dates are not known in advance. Use --ends DATE.")
    }
    guard (1...Self.maxTimes).contains(count) else {
      throw CommandError(
        .usage, "--times: \(count) is not a number from 1 to \(Self.maxTimes).",
        hint: "Leave the option out for no end.")
    }
    limits.until = nil
    let endless = try Schedule(schedule.recurrence, times: schedule.times, limits: limits)
    let occurrences = Occurrences(endless, in: given.calendar)
    var last = given.now
    for _ in 0..<count {
      guard let next = occurrences.next(after: last) else { break }
      last = next
    }
    limits.until = last
    return try Schedule(schedule.recurrence, times: schedule.times, limits: limits)
  }

  private static let maxTimes = 10_000

  /// True if any option changes the schedule.
  var changesSchedule: Bool {
    once != nil || daily || weekly != nil || monthly != nil || annual != nil || days != nil
      || afterDone != nil || every != nil || start != nil || at != nil || ends != nil
      || times != nil || except != nil || onHoliday != nil
  }

  private func onceSchedule(
    _ once: String, earlier: Schedule?, today: CivilDateTime
  ) throws -> Schedule {
    let text = once.replacing(" ", with: "T")
    if let moment = CivilDateTime(text) {
      if at != nil {
        throw CommandError(
          .usage, "--once already names a time, so --at is not allowed.",
          hint: "Write --once \(moment.date) --at TIME, or --once \(moment).")
      }
      return try Schedule(.once(moment.date), times: [moment.time])
    }
    guard let date = CivilDate(text) else {
      throw self.text.invalid(
        "--once", once, "a date and time, such as 2026-12-24T18:00")
    }
    return try Schedule(.once(date), times: try timesOfDay() ?? earlier?.times ?? [today.time])
  }

  private func timesOfDay() throws -> [CivilTime]? {
    try at.map { try text.times($0, of: "--at") }
  }

  private func times(of given: Circumstances) throws -> [CivilTime] {
    try timesOfDay() ?? given.earlier?.times ?? [given.now.time]
  }

  private func startDate() throws -> CivilDate? {
    try start.map { start in
      guard let date = CivilDate(start) else {
        throw text.invalid("--start", start, "a date, such as 2026-12-01")
      }
      return date
    }
  }

  private func cadence(
    earlier: Recurrence.Cadence?, today: CivilDate
  ) throws -> Recurrence.Cadence {
    var cadence = earlier ?? Recurrence.Cadence(start: today)
    if let every { cadence.interval = every }
    if let date = try startDate() { cadence.start = date }
    return cadence
  }

  /// Returns a recurrence with the interval and start of the options.
  private func recounted(
    _ recurrence: Recurrence, _ given: Circumstances
  ) throws -> Recurrence {
    if case .afterDone(let period, _) = recurrence, every == nil {
      guard let first = try startDate() else { return recurrence }
      return .afterDone(period, .init(start: first, completionsAfter: given.completed))
    }
    guard let earlier = recurrence.cadence else {
      if every != nil || start != nil {
        throw CommandError(
          .usage, "this alarm cannot have --every or --start, because it has no cycle.",
          hint: "Also give it a cycle, such as --daily.")
      }
      return recurrence
    }
    let cadence = try cadence(earlier: earlier, today: given.now.date)
    return switch recurrence {
    case .once, .afterDone: recurrence
    case .daily: .daily(cadence)
    case .weekly(let days, _): .weekly(days, cadence)
    case .monthly(let days, _): .monthly(days, cadence)
    case .annual(let months, let days, _): .annual(months: months, days, cadence)
    case .days(let count, _): .days(count, cadence)
    }
  }
}
