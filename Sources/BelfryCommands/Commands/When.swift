import ArgumentParser
import BelfryCore
import BelfryDocuments
import BelfryInput
import BelfryStore
import BelfryTerminal
import Files

struct When: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "when",
    abstract: "Show how a schedule is understood, and its next dates.",
    discussion: """
      Stores nothing. The same words work in 'belfry add TITLE …' and in --schedule. The name of an alarm shows its dates.

      Days         every day; mon-fri; weekends; every other tue;
                   every 2 weeks on mon,thu
      Months       every 15th; 1st and 15th of the month; last day of the month;
                   every 3 months on the 5th
      Workdays     every workday; last workday; third workday of the month;
                   last workday of the quarter
      Weekdays     first mon of the month; last fri of june;
                   second-to-last fri of the month
      Years        every 24 dec; 4th thu of nov; 10 of mar,jun,sep,dec
      Once         tomorrow 18:00; friday 9am; 24 dec 18:00; in 20m; in 3 days at 9am;
                   3 dec, 14 jan and 5 feb at 9am
      Seasons      sundays 10am may to october; daily 9am except august
      Cycles       21 days on, 7 days off at 9am; every 7 hours from 6am
      After done   90 days after done at 18:00
      Times        at 9am and 21:00; noon; every 2h from 9 to 17; every 20 min
      Limits       from 1 dec; until june; 10 times; for 3 weeks;
                   except 24 dec - 2 jan; except holidays
      Zone         berlin time; in new york; Europe/Berlin
      Others       a line of cron (0 9 * * 1-5), an RRULE (FREQ=DAILY),
                   OnCalendar of systemd (Mon..Fri 09:00)
      """)

  @Argument(help: "The schedule.", completion: .text)
  var phrase: [String]

  @Option(help: "The number of dates.")
  var count = 5

  @OptionGroup var common: CommonOptions
  @ParentCommand var root: Belfry

  func validate() throws {
    guard (1...1000).contains(count) else {
      throw ValidationError("--count is a number from 1 to 1000.")
    }
  }

  func run() throws {
    let context = try common.context(root)
    var parser = InputParser(context)
    if let calendar = context.workCalendar {
      parser = parser.with(zone: parser.context.zone, calendar: calendar)
    }
    let text = phrase.joined(separator: " ")
    var draft: ScheduleDraft
    do {
      draft = try parser.schedule(text)
    } catch let error as CommandError {
      if let store = context.existing, let alarm = try? alarm(text, in: store, context) {
        return try show(alarm, in: store, context)
      }
      guard case .notUnderstood(_, suggestion: nil)? = error.source as? InputError,
        let hint = titleHint(text, parser)
      else { throw error }
      throw error.with(hints: [hint])
    }
    let isPinned = draft.zone == nil && draft.countsElapsedTime
    // The words are those of the wall clock, also if the alarm is in UTC.
    let typed = (draft, parser.context)
    if isPinned {
      draft = draft.inUTC(from: parser.context)
      parser = parser.with(zone: .utc, calendar: parser.context.calendar)
    } else if let zone = draft.zone.flatMap({ context.storeContext.zones.zone(named: $0) }) {
      parser = parser.with(zone: zone, calendar: parser.context.calendar)
    }
    let schedule = try draft.schedule(in: parser.context)
    var next = dates(of: schedule, in: parser.context)
    if isPinned {
      let home = parser.context.homeZone
      next = next.map { home.civil(at: TimeZoneRules.utc.instant(of: $0)) }
    }
    guard !next.isEmpty else {
      throw CommandError(
        .usage, "\(context.times.schedule(schedule)) has no future occurrence.",
        hint: "Use a time in the future.")
    }
    let understood = try typed.0.schedule(in: typed.1)
    if common.json {
      let words = understood.summary(today: typed.1.today)
      return try Console.write(
        WhenDocument(
          understood: words + (draft.zone.map { ", \($0) time" } ?? ""), next: next,
          zone: draft.zone))
    }
    let floating = Alarm.Zone.floating.text
    let words = context.times.schedule(understood, zone: draft.zone ?? floating)
    Console.line(words.capitalizedFirst)
    for civil in next {
      Console.line("  \(context.times.full(civil, zone: draft.zone ?? floating))")
    }
    if schedule.followsCompletion {
      Console.line("If it is done on each of these days. Until it is done, it recurs every day.")
    }
  }

  // MARK: An alarm instead of a schedule

  /// Returns the alarm that words name which are no schedule: `when rent`.
  private func alarm(_ name: String, in store: Store, _ context: CommandContext) throws -> Alarm? {
    try store.alarm(context.silentSelector(of: store).find(name).id)
  }

  /// Shows the schedule of an alarm, and its next occurrences.
  private func show(_ alarm: Alarm, in store: Store, _ context: CommandContext) throws {
    let occurrences =
      alarm.enabled
      ? Array(store.timeline(alarm).upcoming(after: context.storeContext.now).prefix(count)) : []
    if common.json {
      let today = store.timeline(alarm).zone.civil(at: context.storeContext.now).date
      return try Console.write(
        WhenDocument(
          understood: alarm.schedule.summary(today: today), next: occurrences.map(\.time),
          zone: alarm.zone == .floating ? nil : alarm.zone.text))
    }
    let output = AlarmOutput(store: store, style: context.style)
    let schedule = output.times.schedule(alarm.schedule, zone: alarm.zone.text)
    Console.line("\(Printable.text(alarm.title)): \(schedule)")
    for occurrence in occurrences {
      Console.line("  \(output.when(occurrence, zone: alarm.shownZone))")
    }
    if occurrences.isEmpty { Console.line("  \(try output.next(alarm, store.status(alarm)))") }
  }

  /// Returns the hint for words that also have a title, which only `add` takes.
  private func titleHint(_ text: String, _ parser: InputParser) -> String? {
    let words = text.split(separator: " ").map(String.init)
    guard let line = try? Input.line(words, in: parser.context), !line.title.isEmpty,
      !line.schedule.isEmpty, text.hasPrefix(line.title),
      !line.title.contains(where: { $0.isNumber || $0 == "=" }),
      !line.title.split(separator: " ").contains(where: { Input.startsSchedule(String($0)) })
    else { return nil }
    return
      "A title belongs to 'belfry add': belfry add \(ShellWord.quoted(line.title)) \(line.schedule)"
  }

  /// Returns the next dates. A schedule that follows completions is done on each of them, as in `next`.
  private func dates(of schedule: Schedule, in context: InputContext) -> [CivilDateTime] {
    var next: [CivilDateTime] = []
    while next.count < count {
      let completed = schedule.followsCompletion ? next.last?.date : nil
      let occurrences = Occurrences(schedule, in: context.calendar, completed: completed)
      guard let civil = occurrences.next(after: next.last ?? context.now) else { break }
      next.append(civil)
    }
    return next
  }
}
