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
      "Every month: 15 or 5,15,25 or last or \"first mon\" … \"last fri\".", valueName: "days"))
  var monthly: String?

  @Option(help: ArgumentHelp("Every year: 03-15.", valueName: "month-day"))
  var annual: String?

  @Option(help: ArgumentHelp("Every n days, counted from --start.", valueName: "n"))
  var days: Int?

  @Option(help: ArgumentHelp("Only every n-th day, week, month or year.", valueName: "n"))
  var every: Int?

  @Option(help: ArgumentHelp("The first day to count from (default: today).", valueName: "date"))
  var start: String?

  @Option(help: ArgumentHelp("Times of day: 09:00 or 09:00,12:00,17:00.", valueName: "times"))
  var at: String?

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

  /// Returns the schedule that the options describe.
  ///
  /// - Parameters:
  ///   - earlier: the schedule to change; nil to create one.
  ///   - today: the current wall-clock time in the zone of the alarm.
  /// - Throws: `CommandError` or `ScheduleError` if the options are not valid.
  func schedule(changing earlier: Schedule?, now today: CivilDateTime) throws -> Schedule {
    let given = [
      once.map { _ in "--once" }, daily ? "--daily" : nil, weekly.map { _ in "--weekly" },
      monthly.map { _ in "--monthly" }, annual.map { _ in "--annual" }, days.map { _ in "--days" },
    ].compactMap { $0 }
    if given.count > 1 {
      throw CommandError(
        .usage, "\(given[0]) and \(given[1]) cannot be combined.", hint: "Choose one cycle.")
    }
    if let once {
      if every != nil || start != nil {
        throw CommandError(
          .usage, "--once cannot be combined with --every or --start.",
          hint: "Give only the date and time.")
      }
      return try onceSchedule(once, earlier: earlier, today: today)
    }
    let times = try times() ?? earlier?.times ?? [today.time]
    if given.isEmpty, let earlier {
      return try Schedule(recounted(earlier.recurrence), times: times)
    }
    let cadence = try cadence(earlier: nil, today: today)
    let recurrence: Recurrence
    if daily {
      recurrence = .daily(cadence)
    } else if let monthly {
      recurrence = try text.monthly(monthly, of: "--monthly", cadence)
    } else if let annual {
      recurrence = try text.annual(annual, of: "--annual", cadence)
    } else if let days {
      recurrence = .days(days, cadence)
    } else if let weekly {
      recurrence = try text.weekly(weekly, of: "--weekly", cadence)
    } else {
      recurrence = .weekly([today.date.weekday], cadence)
    }
    return try Schedule(recurrence, times: times)
  }

  /// True if any option changes the schedule.
  var changesSchedule: Bool {
    once != nil || daily || weekly != nil || monthly != nil || annual != nil || days != nil
      || every != nil || start != nil || at != nil
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
    return try Schedule(.once(date), times: try times() ?? earlier?.times ?? [today.time])
  }

  private func times() throws -> [CivilTime]? {
    try at.map { try text.times($0, of: "--at") }
  }

  private func cadence(
    earlier: Recurrence.Cadence?, today: CivilDateTime
  ) throws -> Recurrence.Cadence {
    var cadence = earlier ?? Recurrence.Cadence(start: today.date)
    if let every { cadence.interval = every }
    if let start {
      guard let date = CivilDate(start) else {
        throw text.invalid("--start", start, "a date, such as 2026-12-01")
      }
      cadence.start = date
    }
    return cadence
  }

  /// Returns a recurrence with the interval and start of the options.
  private func recounted(_ recurrence: Recurrence) throws -> Recurrence {
    guard let earlier = recurrence.cadence else {
      if every != nil || start != nil {
        throw CommandError(
          .usage, "a one-time alarm cannot have --every or --start.",
          hint: "Also give it a cycle, such as --daily.")
      }
      return recurrence
    }
    let cadence = try cadence(earlier: earlier, today: CivilDateTime(minuteNumber: 0))
    return switch recurrence {
    case .once: recurrence
    case .daily: .daily(cadence)
    case .weekly(let days, _): .weekly(days, cadence)
    case .monthly(let days, _): .monthly(days, cadence)
    case .monthlyWeekday(let ordinal, let weekday, _): .monthlyWeekday(ordinal, weekday, cadence)
    case .annual(let month, let day, _): .annual(month: month, day: day, cadence)
    case .days(let count, _): .days(count, cadence)
    }
  }
}
