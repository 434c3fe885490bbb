import ArgumentParser
import BelfryCore
import BelfryInput
import BelfryStore
import BelfryTerminal

/// The schedule options of `add` and `edit`.
struct ScheduleOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "The schedule as a phrase: \"every other tue 7pm\". See 'belfry help when'.",
      valueName: "phrase"))
  var schedule: String?

  @Option(
    help: ArgumentHelp(
      "Once: \"tomorrow 18:00\", or one or more dates with --at.", valueName: "when"))
  var once: String?

  @Flag(help: "Every day.")
  var daily = false

  @Option(help: ArgumentHelp("Every week: mon,fri or mon-fri.", valueName: "days"))
  var weekly: String?

  @Option(
    help: ArgumentHelp(
      "Every month: 15 or 5,last or \"first mon\" or \"last workday\".", valueName: "days"))
  var monthly: String?

  @Option(
    help: ArgumentHelp("Every year: 03-15, \"24 dec\", \"fourth thu of nov\".", valueName: "date"))
  var annual: String?

  @Option(help: ArgumentHelp("Every n days, counted from --start.", valueName: "n"))
  var days: Int?

  @Option(
    help: ArgumentHelp(
      "90d, 2w, 6mo or 1y after it was done; daily while overdue.", valueName: "period"))
  var afterDone: String?

  @Option(help: ArgumentHelp("Only every n-th day, week, month or year.", valueName: "n"))
  var every: Int?

  @Option(help: ArgumentHelp("The first day to count from (default: today).", valueName: "date"))
  var start: String?

  @Option(
    help: ArgumentHelp(
      "Times of day: 9am,12:00; every 2 h: 9:00-17:00/2h; in edit, +30m.", valueName: "times"))
  var at: String?

  @Option(help: ArgumentHelp("The last day; none for no end.", valueName: "date"))
  var ends: String?

  @Option(help: ArgumentHelp("End after n more occurrences.", valueName: "n"))
  var times: Int?

  @Option(
    help: ArgumentHelp(
      "No occurrence on these: \"24 dec, 31 dec\"; or none.", valueName: "dates"))
  var except: String?

  @Option(
    help: ArgumentHelp(
      "On a holiday: skip, before or after (the next workday), or none.", valueName: "rule"))
  var onHoliday: String?

  @Option(
    help: ArgumentHelp("berlin or Europe/Berlin; floating: the device's zone.", valueName: "zone"),
    completion: .zones)
  var zone: String?

  /// The value that removes a limit.
  private static let none = "none"

  /// True if any option changes the schedule.
  var changesSchedule: Bool {
    schedule != nil || givenCycles.count > 0 || every != nil || start != nil || at != nil
      || ends != nil || times != nil || except != nil || onHoliday != nil
  }

  /// The options that name a cycle.
  var givenCycles: [String] {
    [
      once.map { _ in "--once" }, daily ? "--daily" : nil, weekly.map { _ in "--weekly" },
      monthly.map { _ in "--monthly" }, annual.map { _ in "--annual" }, days.map { _ in "--days" },
      afterDone.map { _ in "--after-done" },
    ].compactMap { $0 }
  }

  // MARK: Zone

  /// Returns the zone that the option or the phrase names, or nil if none is given.
  func zone(_ parser: InputParser, phrase: ScheduleDraft? = nil) throws -> Alarm.Zone? {
    if let zone {
      if let name = phrase?.zone {
        throw CommandError(
          .usage, "the schedule names the zone \(name), so --zone is not allowed.",
          hint: "Leave one of them out.")
      }
      if zone == Alarm.Zone.floating.text { return .floating }
      return .named(try parser.zone(zone, of: "--zone"))
    }
    return (phrase?.ownZone).map { .named($0) }
  }

  // MARK: Phrases

  /// Returns the parts of the phrase that `--schedule` or the words after the title give; nil without a phrase.
  ///
  /// - Throws: `CommandError` if it is not understood, or is combined with an option for the same part.
  func phrase(_ words: [String], _ parser: InputParser) throws -> ScheduleDraft? {
    if schedule != nil, !words.isEmpty {
      throw CommandError(
        .usage, "the schedule is given twice: with --schedule, and after the title.",
        hint: "Leave one of them out.")
    }
    guard let text = schedule ?? (words.isEmpty ? nil : words.joined(separator: " ")) else {
      return nil
    }
    let draft = try parser.schedule(text, of: schedule == nil ? nil : "--schedule")
    let doubled: [(option: String, isGiven: Bool)] = [
      (givenCycles.first ?? "", !givenCycles.isEmpty && draft.rule != nil),
      ("--every", every != nil), ("--at", at != nil && draft.times != nil),
      ("--start", start != nil && draft.start != nil),
      ("--ends", ends != nil && draft.end != nil), ("--times", times != nil && draft.end != nil),
      ("--except", except != nil && draft.exceptions != nil),
      ("--on-holiday", onHoliday != nil && draft.onHoliday != nil),
    ]
    if let option = doubled.first(where: \.isGiven)?.option {
      throw CommandError(
        .usage, "\(option) cannot be combined with the schedule '\(Printable.text(text))'.",
        hint: "Write it into the schedule, or leave it out.")
    }
    return draft
  }

  /// Returns true if neither the phrase nor an option names a time of day.
  func lacksTime(_ phrase: ScheduleDraft?) -> Bool {
    if case .later? = phrase?.rule { return false }
    return phrase?.times == nil && at == nil && once == nil
  }

  // MARK: The schedule

  /// The facts that a schedule depends on.
  struct Circumstances {
    /// The parser, in the zone and the calendar of the alarm.
    let parser: InputParser
    /// The words of the schedule after the title.
    var phrase: [String] = []
    /// The schedule to change; nil to create one.
    var earlier: Schedule?
    /// The date of the latest completion of the alarm to change; nil if there was none.
    var completed: CivilDate?

    var now: CivilDateTime { parser.context.now }
    /// The time of day of a schedule that names none.
    var standardTime: CivilTime { parser.context.standardTime }
  }

  /// Returns the schedule that the options describe.
  ///
  /// - Throws: `CommandError` or `ScheduleError` if the options are not valid.
  func schedule(_ given: Circumstances) throws -> Schedule {
    let cycles = givenCycles
    if cycles.count > 1 {
      throw CommandError(
        .usage, "\(cycles[0]) and \(cycles[1]) cannot be combined.", hint: "Choose one cycle.")
    }
    if let phrase = try phrase(given) { return try schedule(phrase, given) }
    let earlier = given.earlier
    if let once {
      if every != nil || start != nil {
        throw CommandError(
          .usage, "--once cannot be combined with --every or --start.",
          hint: "Give only the date and time.")
      }
      return try limited(onceSchedule(once, given), given)
    }
    let times = try timesOfDay(given) ?? earlier?.times ?? [given.standardTime]
    let schedule =
      if cycles.isEmpty, let earlier {
        try Schedule(recounted(earlier.recurrence, given), times: times, limits: earlier.limits)
      } else {
        try Schedule(recurrence(given), times: times, limits: earlier?.limits ?? .none)
      }
    return try limited(schedule, given)
  }

  /// Returns the parts of the phrase in the alarm's zone; nil without a phrase.
  private func phrase(_ given: Circumstances) throws -> ScheduleDraft? {
    let draft = try phrase(given.phrase, given.parser)
    guard let draft, draft.countsElapsedTime, draft.zone == nil, zone == nil else { return draft }
    // The alarm is in UTC, but its times were typed at home.
    let context = given.parser.context
    let home = given.parser.with(zone: context.homeZone, calendar: context.calendar)
    return try phrase(given.phrase, home)?.inUTC(from: home.context)
  }

  /// Returns the schedule of a phrase, completed by the options and the earlier schedule.
  private func schedule(_ phrase: ScheduleDraft, _ given: Circumstances) throws -> Schedule {
    var draft = phrase
    draft.times = try draft.times ?? timesOfDay(given)
    draft.start = try draft.start ?? startDate(given)
    if draft.rule == nil, !givenCycles.isEmpty {
      let schedule = try Schedule(
        recurrence(given), times: draft.times ?? [given.standardTime], limits: .none)
      draft.rule = .complete(schedule.recurrence)
    }
    if let earlier = given.earlier {
      let text = self.schedule ?? given.phrase.joined(separator: " ")
      draft = try given.parser.read(text, .schedule, nil) { (words, context) throws(InputError) in
        // The words are other ones if the user has chosen a reading.
        var chosen = words == text ? draft : try Input.schedule(words, in: context)
        chosen.times = chosen.times ?? draft.times
        chosen.start = chosen.start ?? draft.start
        return try chosen.changing(earlier, in: context)
      }
    }
    return try limited(
      draft.schedule(in: given.parser.context, completed: given.completed), given)
  }

  private func recurrence(_ given: Circumstances) throws -> Recurrence {
    let parser = given.parser
    if let afterDone { return try recurrence(after: afterDone, given) }
    let cadence = try cadence(earlier: nil, given)
    if daily { return .daily(cadence) }
    if let monthly { return .monthly(try parser.monthDays(monthly, of: "--monthly"), cadence) }
    if let annual { return try parser.annual(annual, of: "--annual", cadence) }
    if let days { return .days(days, cadence) }
    if let weekly { return .weekly(try parser.weekdays(weekly, of: "--weekly"), cadence) }
    return .weekly([given.now.date.weekday], cadence)
  }

  private func recurrence(after words: String, _ given: Circumstances) throws -> Recurrence {
    let period = try given.parser.period(words, of: "--after-done")
    if every != nil {
      throw CommandError(
        .usage, "--after-done cannot be combined with --every.", hint: "Write a longer period.")
    }
    if start == nil, case .afterDone(_, let origin)? = given.earlier?.recurrence {
      return .afterDone(period, origin)
    }
    let first = try startDate(given) ?? given.now.date.adding(period)
    return .afterDone(period, .init(start: first, completionsAfter: given.completed))
  }

  // MARK: Limits

  /// Returns a schedule with the limits of the options.
  private func limited(_ schedule: Schedule, _ given: Circumstances) throws -> Schedule {
    var limits = schedule.limits
    if let except { limits.exceptions = try exceptions(except, given) }
    if let onHoliday { limits.onHoliday = try holidayRule(onHoliday) }
    if let ends {
      limits.until =
        ends == Self.none ? nil : try given.parser.read(ends, .end, "--ends", Input.end)
    }
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
    guard (1...ScheduleDraft.maxCount).contains(count) else {
      throw CommandError(
        .usage, "--times: \(count) is not a number from 1 to \(ScheduleDraft.maxCount).",
        hint: "Leave the option out for no end.")
    }
    limits.until = nil
    let endless = try Schedule(schedule.recurrence, times: schedule.times, limits: limits)
    let occurrences = Occurrences(endless, in: given.parser.context.calendar)
    var last = given.now
    for _ in 0..<count {
      guard let next = occurrences.next(after: last) else { break }
      last = next
    }
    limits.until = last
    return try Schedule(schedule.recurrence, times: schedule.times, limits: limits)
  }

  private func exceptions(_ text: String, _ given: Circumstances) throws -> [CivilDate] {
    if text == Self.none { return [] }
    return try given.parser.read(text, .dates, "--except") { (text, context) throws(InputError) in
      try Input.dates(text, in: context)
    }
  }

  private func holidayRule(_ text: String) throws -> Schedule.HolidayRule? {
    if text == Self.none { return nil }
    guard let rule = Schedule.HolidayRule(rawValue: text.lowercased()) else {
      throw CommandError(
        .usage, "--on-holiday: '\(Printable.text(text))' is not skip, before, after or none.",
        hint: "See 'belfry help add'.")
    }
    return rule
  }

  // MARK: Parts

  private func onceSchedule(_ once: String, _ given: Circumstances) throws -> Schedule {
    let parser = given.parser
    if once.contains(",") {
      let dates = try parser.read(once, .dates, "--once") { (text, context) throws(InputError) in
        try Input.dates(text, in: context)
      }
      let times = try timesOfDay(given) ?? given.earlier?.times ?? [given.standardTime]
      return try Schedule(dates.count == 1 ? .once(dates[0]) : .dates(dates), times: times)
    }
    let moment = try parser.moment(once, of: "--once")
    if case .date(let date) = moment {
      let times = try timesOfDay(given) ?? given.earlier?.times ?? [given.standardTime]
      return try Schedule(.once(date), times: times)
    }
    let civil = moment.civil(.future, in: parser.context)
    if at != nil {
      throw CommandError(
        .usage, "--once already names a time, so --at is not allowed.",
        hint: "Write --once \(civil.date) --at TIME, or --once \(civil).")
    }
    return try Schedule(.once(civil.date), times: [civil.time])
  }

  private func startDate(_ given: Circumstances) throws -> CivilDate? {
    try start.map { try given.parser.start($0, of: "--start") }
  }

  private func cadence(
    earlier: Recurrence.Cadence?, _ given: Circumstances
  ) throws -> Recurrence.Cadence {
    var cadence = earlier ?? Recurrence.Cadence(start: given.now.date)
    if let every { cadence.interval = every }
    if let date = try startDate(given) { cadence.start = date }
    return cadence
  }

  /// Returns a recurrence with the interval and start of the options.
  private func recounted(
    _ recurrence: Recurrence, _ given: Circumstances
  ) throws -> Recurrence {
    if case .elapsed = recurrence, every != nil || start != nil || at != nil {
      throw CommandError(
        .usage, "the times of this alarm follow from its start and its distance.",
        hint: "Write both again: belfry edit ALARM every 7 hours from 18:00")
    }
    if case .cyclic = recurrence, every != nil {
      throw CommandError(
        .usage, "this alarm cannot have --every, because it has a cycle of its own.",
        hint: "Write the cycle again: belfry edit ALARM 21 days on, 7 days off")
    }
    if case .afterDone(let period, _) = recurrence, every == nil {
      guard let first = try startDate(given) else { return recurrence }
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
    return recurrence.with(try cadence(earlier: earlier, given))
  }
}

extension InputParser {
  /// Returns the recurrence of `03-15`, `24 dec`, `fourth thu of nov` or `10 of mar,jun`.
  func annual(
    _ text: String, of option: String, _ cadence: Recurrence.Cadence
  ) throws -> Recurrence {
    let draft = try read(text, .yearDay, option) { (text, context) throws(InputError) in
      try Input.schedule("yearly on \(text)", in: context)
    }
    guard case .annual(let months?, let days?, 1)? = draft.rule, draft.parts == [.rule] else {
      throw InputErrorText(
        .notUnderstood(text, suggestion: nil), text, .yearDay, option
      ).commandError
    }
    return .annual(months: months, days, cadence)
  }
}
