import BelfryCore
import BelfryInput
import BelfryTerminal

/// The message for an input that is not understood.
struct InputErrorText {
  private let error: InputError
  private let text: String
  private let kind: InputParser.Kind
  private let option: String?
  private let times: TimeText?

  /// - Parameter times: The formatter of times and dates; nil for the default format.
  init(
    _ error: InputError, _ text: String, _ kind: InputParser.Kind, _ option: String?,
    _ times: TimeText? = nil
  ) {
    self.error = error
    self.text = text
    self.kind = kind
    self.option = option
    self.times = times
  }

  /// The error for the user.
  var commandError: CommandError {
    CommandError(
      .usage, (option.map { "\($0): " } ?? "") + message, hints: [hint].compactMap { $0 },
      source: error)
  }

  private func formatted(_ date: CivilDate) -> String {
    times?.shortDate(date) ?? "\(date.dayAndMonth) \(date.year)"
  }

  private func formatted(_ time: CivilTime) -> String { times?.time(time) ?? "\(time)" }

  // MARK: The message

  private func quoted(_ text: String) -> String { "'\(Printable.text(text))'" }

  private var message: String {
    switch error {
    case .empty: "\(kind.name) is missing."
    case .notUnderstood(let word, _):
      word == text || isPlainValue
        ? "\(quoted(text)) is not \(kind.name)."
        : "\(quoted(word)) in \(quoted(text)) is not understood."
    case .missing(.rule, after: ""): "it is missing how often the alarm repeats."
    case .missing(let part, let word):
      word.isEmpty ? "\(name(part)) is missing." : "\(name(part)) is missing after \(quoted(word))."
    case .ambiguous(let words, let readings):
      "\(quoted(words)) can mean \(readings.joined(separator: " or "))."
    case .noSuchDate(let words):
      kind == .monthDays
        ? "no month has the day \(quoted(words))." : "there is no date \(quoted(words))."
    case .noSuchTime(let words): "there is no time of day \(quoted(words))."
    case .hasSeconds(let words):
      "\(quoted(words)) has seconds, but alarms ring at whole minutes."
    case .repeated(let part): "\(quoted(text)) has more than one \(noun(part))."
    case .severalRules: "\(quoted(text)) has rules that one alarm cannot combine."
    case .unsupported(let reason): "\(quoted(text)): \(describe(reason))."
    case .unevenInterval(let minutes):
      "every \(Span.length(Int64(minutes) * 60)) does not fit into a day."
    case .windowAlone(let from, let to):
      "\(formatted(from)) to \(formatted(to)) is a window, but how often does the alarm ring in it?"
    case .severalTimes(let times):
      "\(times) are several times of day, but an alarm that rings once has one."
    case .wrongWeekday(let words, let date):
      "\(quoted(words)): \(formatted(date)) is a \("\(date.weekday)".capitalizedFirst)."
    case .passed(let words, _): "\(words) has passed today."
    case .numberAlone(let words):
      "\(quoted(words)) may be a year, a time of day or a number without a unit."
    case .foreignWord(let word):
      "\(quoted(word)) in \(quoted(text)) is not English."
    case .emptyWindow(let from, let to):
      "the window ends at \(formatted(to)), before it starts at \(formatted(from))."
    case .timesPerDay(let said, let given):
      "\(quoted(text)) needs \(said) times of day, but it has \(given == 0 ? "none" : "\(given)")."
    case .unknownZone(let name, _): "there is no time zone \(quoted(name))."
    case .outOfRange(let words): "\(quoted(words)) is out of range."
    case .foreign(let format, let reason):
      "\(quoted(text)) is \(format.name), but Belfry cannot follow it: \(reason)."
    }
  }

  /// True if the value has no words of its own, so that the whole value is wrong.
  private var isPlainValue: Bool {
    switch kind {
    case .time, .date, .length, .period, .moment, .zone, .end, .months, .weeks, .years: true
    case .dates, .weekdays, .monthDays, .yearDay, .schedule: false
    }
  }

  /// The setting for the part of the day in the text, and a value of it.
  private var partOfDay: String {
    let words = text.lowercased()
    if words.contains("morning") { return "morning 8:00" }
    if words.contains("afternoon") { return "afternoon 15:00" }
    return words.contains("night") ? "night 22:00" : "evening 19:00"
  }

  private func describe(_ reason: InputError.Unsupported) -> String {
    switch reason {
    case .unequalDates: "one alarm cannot have different days in different months"
    case .quarterPositions: "one alarm cannot count from the start and the end of a quarter"
    case .omittedWeekdays: "only a daily or weekly alarm can leave out weekdays"
    case .omittedMonths: "only an alarm that repeats can leave out months"
    case .combination: "one alarm cannot combine these rules"
    case .partOfDay: "this part of the day has no fixed time"
    case .movingFeast: "Easter has another date each year, and one alarm cannot follow it"
    case .sun: "Belfry has no times of day that follow the sun"
    case .season: "Belfry knows no seasons and no phases of the moon"
    case .payday: "Belfry does not know the days of your pay"
    case .condition: "a schedule has no conditions"
    case .besideWeekday: "an alarm cannot ring some days beside a weekday or workday of the month"
    case .namedDay: "this day has another date in each country or family"
    case .parity: "Belfry does not count even and odd days or weeks"
    case .place: "Belfry knows no places"
    case .reminder: "a reminder is no part of a schedule"
    case .onceOfRule: "an alarm that repeats does not ring once"
    case .tooManyDates:
      "an alarm can leave out at most \(Schedule.Limits.maxExceptions) dates"
    case .countedCompletions:
      "the dates after a completion are not known in advance, so an end must be a date"
    case .futureCompletion: "the last time that it was done is still to come"
    case .timesOfDistance: "the times of this alarm follow from its start and its distance"
    }
  }

  private func name(_ part: InputError.Part) -> String {
    switch part {
    case .end: "an end"
    case .exceptions: "a date"
    case .holidays: "a rule for holidays"
    case .count: "a number"
    default: "a \(part.rawValue)"
    }
  }

  private func noun(_ part: InputError.Part) -> String {
    switch part {
    case .time: "list of times"
    case .exceptions: "list of exceptions"
    case .holidays: "rule for holidays"
    default: part.rawValue
    }
  }

  // MARK: The hint

  /// Returns the schedule with the first day of its month, or an example: `every two years on 1 may`.
  private func exampleWithDay(of month: String) -> String {
    let words = text.lowercased().split(separator: " ").map(String.init)
    guard let position = words.firstIndex(of: month.lowercased()), position > 1,
      words[position - 1] == "in", Input.startsSchedule(words[0])
    else { return "yearly on 1 \(Printable.text(month))" }
    let named = words[..<(position - 1)] + ["on", "1"] + words[position...]
    return Printable.text(named.joined(separator: " "))
  }

  private var hint: String? {
    switch error {
    case .notUnderstood(_, let suggestion):
      (suggestion.map { "Did you mean '\($0)'? " } ?? "") + kind.example
    case .ambiguous(let words, let readings):
      readings.isEmpty
        ? nil : "Write \(readings.joined(separator: " or ")) instead of \(quoted(words))."
    case .unsupported(.omittedMonths):
      "Write how often, such as 'every sunday may to october' or '15th of the month except august'."
    case .missing(.day, let word) where word.count > 2 && !["every", "each"].contains(word):
      "Name the day, such as '\(exampleWithDay(of: word))'."
    case .severalRules: "Add one alarm for each rule. See 'belfry help when'."
    case .repeated(.time):
      "Write one list, such as 'at 8am and 8pm'. For other times on other days, add another alarm."
    case .unevenInterval:
      "Leave the days out, or add a window: every 5h from 8:00 to 18:00 on mon."
    case .unsupported(.timesOfDistance): "Write both again, such as 'every 7 hours from 18:00'."
    case .unsupported(.onceOfRule):
      "Leave 'once' out, or write the date, such as 'monday 18:00' or '24 dec 9am'."
    case .unsupported(.sun): "Write a time of day instead, such as 6:30 or 20:00."
    case .unsupported(.season): "Write the date, such as 1 dec or 21 jun."
    case .emptyWindow:
      "A window over midnight is possible for every day or one date. Else write two: 'from 22:00 to 23:59', and 'from 0:00 to 2:00' on the next day."
    case .unsupported(.condition):
      "An alarm can move from holidays ('or the workday after a holiday'), and ring on workdays ('third workday of the month')."
    case .unsupported(.unequalDates):
      "Add one alarm for each day of the month, such as '10 of apr,jul,oct' and 'every 20 dec'."
    case .unsupported(.payday): "Write the day, such as 'every 25th' or 'last workday'."
    case .unsupported(.namedDay): "Write the date, such as 'every 5 jun' or '4th thu of nov'."
    case .unsupported(.parity): "Write 'every 2 days', 'every other mon' or 'every 2 weeks on mon'."
    case .unsupported(.reminder):
      "Beside the schedule of add and edit, write 'remind me 1 day before', or use the option --warn, such as --warn 1w or --warn 30d,7d."
    case .unsupported(.place): "Write a time, such as 18:00 or 'in 2 hours'."
    case .windowAlone(let from, let to):
      "Write 'every hour from \(formatted(from)) to \(formatted(to))', for example. An alarm has a start only: \(formatted(from))."
    case .severalTimes(let times): "Write 'every day at \(times)', or add an alarm for each time."
    case .wrongWeekday(_, let date):
      "Leave the weekday out, or write \(date.weekday.abbreviation) \(formatted(date))."
    case .passed(_, let next):
      "Write 'next \(next.weekday.abbreviation)' for \(formatted(next)), or a later time."
    case .numberAlone(let words):
      "Write \(words.prefix(2)):\(words.suffix(2)), a date such as '1 jan \(words)', or 'in \(words)m'."
    case .foreignWord:
      "Write the schedule in English, such as 'every monday at 9' or 'tomorrow 18:00'. Names of days and months may be German, French or Spanish."
    case .missing(.rule, _):
      "Write how often, such as 'every day until friday' or 'every day for 2 weeks'."
    case .noSuchTime(let words) where words.hasPrefix("24"):
      "Write midnight, or 0:00 of the next day."
    case .unsupported(.partOfDay):
      "Write a time of day instead, such as 8:00 or 19:00, or set one for the word: belfry settings set \(partOfDay)"
    case .unsupported(.movingFeast):
      "Name it without 'every' and 'yearly' for the next time, and add the one after it then."
    case .timesPerDay(said: 3, _): "Write each time: '3 times a day at 8:00, 14:00 and 20:00'."
    case .timesPerDay(said: 4, _):
      "Write each time: '4 times a day at 8:00, 12:00, 16:00 and 20:00'."
    case .timesPerDay: "Write each time: 'twice a day at 9:00 and 21:00'."
    case .unknownZone(let name, let suggestions) where suggestions.first?.hasPrefix("Etc/") == true:
      "Name a city, whose clock changes count, such as 'berlin time'. \(suggestions[0]) has the fixed offset \(Printable.text(name))."
    case .unknownZone(_, let suggestions):
      suggestions.isEmpty
        ? "Use a name such as Europe/Berlin or berlin, or 'floating'; see 'timedatectl list-timezones'."
        : "Did you mean \(suggestions.joined(separator: " or "))?"
    case .foreign: "Write the schedule as a phrase, or add several alarms."
    default: kind.example
    }
  }
}

extension InputError.Format {
  fileprivate var name: String {
    switch self {
    case .cron: "a line of cron"
    case .onCalendar: "a calendar event of systemd"
    case .rrule: "a rule of iCalendar"
    }
  }
}

extension InputParser.Kind {
  /// The name of a value in a sentence.
  fileprivate var name: String {
    switch self {
    case .time: "a time of day"
    case .date, .dates, .end: "a date"
    case .moment: "a date or time"
    case .length: "a length of time"
    case .period: "a number of days, weeks, months or years"
    case .weekdays: "a weekday"
    case .monthDays: "a day of the month"
    case .yearDay: "a date of a year"
    case .zone: "a time zone"
    case .schedule: "a schedule"
    case .months: "a month"
    case .weeks: "a week"
    case .years: "a year"
    }
  }

  /// Examples of a value.
  fileprivate var example: String {
    switch self {
    case .time: "Write it as 9:00, 9am, 21.30, noon, or every two hours: 9:00-17:00/2h."
    case .date: "Write it as 2026-12-24, 24 Dec, tomorrow, friday or 'in 3 days'."
    case .dates: "Write them as 2026-12-24, 31 Dec, '24 Dec - 2 Jan', or none."
    case .end: "Write it as 2027-06-30, 30 Jun or june, or none."
    case .moment: "Write it as 18:00, tomorrow, 'friday 9am', '24 Dec 18:00' or 'in 20m'."
    case .length: "Write it as 90s, 10m, 1h30m, '2 days' or 1w, up to a year."
    case .period: "Write it as 90d, 2w, 6mo or 1y."
    case .weekdays: "Write them as mon,fri, mon-fri, weekdays or weekends."
    case .monthDays:
      "Write them as 15, '1,15', last, last-2, 'first mon', 'last-1 fri' or 'last workday'."
    case .yearDay: "Write it as 03-15, '24 dec' or 'fourth thu of nov'."
    case .zone: "Write it as Europe/Berlin or berlin."
    case .months: "Write it as december, 2026-12, next, or 'december to february'."
    case .weeks: "Write it as next, 2026-12-14, 2026-W51, or '14 dec to 4 jan'."
    case .years: "Write it as 2027, next, or '2026 to 2028'."
    case .schedule:
      "Examples: 'every other tue 7pm', 'last workday 9am', 'tomorrow 18:00'. See 'belfry help when'."
    }
  }
}
