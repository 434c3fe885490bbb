import BelfryCore
import BelfryInput
import BelfryStore
import BelfryTerminal

/// The parser of times, dates, lengths and schedules in the arguments of one command.
///
/// If a text has several readings, the user chooses one on a terminal. Elsewhere it is an error.
final class InputParser {
  /// The kind of a value, with examples for errors.
  enum Kind {
    case time, date, dates, end, moment, length, period, weekdays, monthDays, yearDay, zone,
      schedule, months, weeks, years
  }

  let context: InputContext
  /// The formatter of times in messages.
  let formatter: TimeText
  private let canAsk: Bool
  /// The texts that replace ambiguous ones, by the user's choice.
  private var choices: [String: String] = [:]

  init(_ context: InputContext, _ formatter: TimeText, canAsk: Bool = Style.canAsk) {
    self.context = context
    self.formatter = formatter
    self.canAsk = canAsk
  }

  /// Creates the parser of a command, with the time and the zones of its context.
  ///
  /// - Parameters:
  ///   - zone: The zone of the values; nil for the local zone.
  ///   - calendar: The working days and holidays.
  convenience init(
    _ context: CommandContext, zone: TimeZoneRules? = nil, calendar: WorkCalendar = .standard
  ) {
    let zones = context.storeContext.zones
    self.init(
      InputContext(
        instant: context.storeContext.now, zone: zone ?? zones.local, calendar: calendar,
        zoneNames: ZoneNames(load: { zones.names }, rules: { zones.zone(named: $0) }),
        dayTimes: { context.dayTimes }),
      context.times, canAsk: Style.canAsk && !context.isQuiet)
  }

  /// Returns a parser for another zone and calendar, which knows the user's choices.
  func with(zone: TimeZoneRules, calendar: WorkCalendar) -> InputParser {
    let parser = InputParser(
      context.with(zone: zone, calendar: calendar), formatter, canAsk: canAsk)
    parser.choices = choices
    return parser
  }

  /// Returns a parser of values at another time, which knows the user's choices.
  func at(_ instant: Instant) -> InputParser {
    let parser = InputParser(context.at(instant), formatter, canAsk: canAsk)
    parser.choices = choices
    return parser
  }

  // MARK: Values

  /// Returns the times of day of an option.
  func times(_ text: String, of option: String) throws -> [CivilTime] {
    try read(text, .time, option, Input.times)
  }

  /// Returns the date of an option.
  func date(_ text: String, of option: String) throws -> CivilDate {
    try read(text, .date, option, Input.date)
  }

  /// Returns the date of an option from which cycles are counted.
  func start(_ text: String, of option: String) throws -> CivilDate {
    try read(text, .date, option, Input.start)
  }

  /// Returns the weekdays of an option.
  func weekdays(_ text: String, of option: String) throws -> [Weekday] {
    try read(text, .weekdays, option, Input.weekdays)
  }

  /// Returns the days of a month of an option.
  func monthDays(_ text: String, of option: String) throws -> [Recurrence.MonthDay] {
    try read(text, .monthDays, option, Input.monthDays)
  }

  /// Returns the length of time of an option or argument, in seconds.
  func length(_ text: String, of option: String?) throws -> Int64 {
    try read(text, .length, option, Input.length)
  }

  /// Returns a number of days, weeks, months or years.
  func period(_ text: String, of option: String) throws -> Period {
    try read(text, .period, option, Input.period)
  }

  /// Returns the name of a time zone.
  func zone(_ text: String, of option: String?) throws -> String {
    try read(text, .zone, option, Input.zone)
  }

  /// Returns the moment of an option or argument.
  func moment(
    _ text: String, _ direction: Moment.Direction = .future, of option: String?
  ) throws -> Moment {
    try read(text, .moment, option) { (text, context) throws(InputError) in
      try Input.moment(text, direction, in: context)
    }
  }

  /// Returns the parts of a schedule.
  func schedule(_ text: String, of option: String? = nil) throws -> ScheduleDraft {
    if let draft = try ruleText(text) { return draft }
    return try read(text, .schedule, option, Input.schedule)
  }

  /// Returns what a function reads from a text. Asks for the reading of an ambiguous text.
  ///
  /// - Parameter option: The option of the text, for errors; nil for an argument.
  /// - Throws: `CommandError` if the text is not understood.
  func read<Value>(
    _ text: String, _ kind: Kind, _ option: String?,
    _ parse: (String, InputContext) throws(InputError) -> Value
  ) throws -> Value {
    var current = choices[text] ?? text
    while true {
      do throws(InputError) {
        return try parse(current, context)
      } catch {
        guard case .ambiguous(let words, let readings) = error, canAsk,
          let range = current.range(ofWords: words), let chosen = choose(words, readings)
        else {
          let failure = InputErrorText(error, current, kind, option, formatter).commandError
          if case .ambiguous = error { throw failure.needingTerminal() }
          throw failure
        }
        current.replaceSubrange(range, with: chosen)
        choices[text] = current
      }
    }
  }

  /// Returns the reading that the user chooses; nil for none.
  private func choose(_ words: String, _ readings: [String]) -> String? {
    Console.error("'\(Printable.text(words))' has \(readings.count) readings:")
    for (index, reading) in readings.enumerated() { Console.error("  \(index + 1)  \(reading)") }
    let answer = Console.answer(to: "Which one? [1-\(readings.count)]")
    guard let number = answer.flatMap({ Int($0) }), readings.indices.contains(number - 1) else {
      return nil
    }
    return readings[number - 1]
  }
}

extension String {
  /// Returns the range of some words, in any case and with any spaces between them; nil if they do not occur.
  fileprivate func range(ofWords words: String) -> Range<Index>? {
    let wanted = words.lowercased()
    var start = startIndex
    while start < endIndex {
      if self[start...].lowercased().hasPrefix(wanted) {
        return start..<(index(start, offsetBy: words.count, limitedBy: endIndex) ?? endIndex)
      }
      start = index(after: start)
    }
    return nil
  }
}
