import ArgumentParser
import BelfryActions
import BelfryCore
import BelfryDocuments
import BelfryInput
import BelfryScheduler
import BelfryStore
import BelfryTerminal
import Git

/// The part that `month`, `week` and `year` have in common: the period, the alarms, and the output.
struct AgendaCommand {
  /// The unit of the calendar.
  let unit: CalendarUnit
  /// The kind of the words that name a period, for errors.
  let kind: InputParser.Kind
  /// The words of the period, and those that select alarms.
  let words: [String]
  /// The number of units from the first one on; nil for those that the words name.
  var count: Int?
  /// True to show a unit more before and after.
  var isSurrounded = false
  /// True for a list of days instead of a grid.
  var isList = false
  /// The width in columns; nil for that of the terminal.
  var width: Int?

  func run(_ context: CommandContext, json: Bool) throws {
    let (period, rest) = try period(context)
    let zones = context.storeContext.zones
    // Without a store, the calendar is empty, as for a new one.
    var agenda = AgendaBuilder(period.dates, zone: zones.local, now: context.storeContext.now)
      .agenda
    if let store = try rest.isEmpty ? context.openIfAny() : context.open(.reading) {
      let filter =
        try rest.isEmpty
        ? nil
        : context.explaining {
          try context.selector(of: store).filter(rest)
        }
      let reading = ReadAgenda(period.dates, filter) { path, error in
        CommandDiagnostic.warn(
          "\(Printable.text(path)) is not valid: \(Printable.text(error.text)).")
      }
      let all = try context.overview(store)
      let selected = reading.select(all)
      if selected.isEmpty, !rest.isEmpty, !json {
        let text = Printable.text(URLMask.masked(rest.joined(separator: " ")))
        return Console.line(
          !reading.matching(all).isEmpty
            ? "Only disabled alarms match '\(text)'. To show their past: belfry \(verb) disabled \(text)"
            : "No alarm matches '\(text)'.")
      }
      agenda = try reading.perform(in: store, selected)
    }
    if json { return try Console.write(AgendaDocument(agenda, zones: zones)) }
    let text = AgendaText(agenda, context.times, context.style, width: width)
    Console.write(text.lines(period, isList: isList).map { $0.text + "\n" }.joined())
  }

  /// Returns the period, and the words that select alarms.
  private func period(_ context: CommandContext) throws -> (CalendarPeriod, [String]) {
    let input = InputParser(context).context
    let named: CalendarPeriod?
    let rest: [String]
    do throws(InputError) {
      (named, rest) = try Input.calendarPeriod(words, of: unit, in: input)
    } catch {
      throw InputErrorText(error, words.joined(separator: " "), kind, nil).commandError
    }
    var period = named ?? CalendarPeriod(unit, containing: input.today)
    if let count, period.count > 1 {
      throw CommandError(
        .usage, "--\(option) \(count) cannot follow a range of \(option).",
        hint: "Name only the first of the \(option).")
    }
    if isSurrounded {
      period = period.extended(before: 1, after: 1)
    } else if let count {
      period = period.extended(after: count - 1)
    }
    guard period.isValid else {
      throw CommandError(.usage, "the calendar is not within the years 1 to 9999.")
    }
    guard period.count <= unit.limit else {
      throw CommandError(.usage, "the calendar is longer than \(unit.limit) \(option).")
    }
    return (period, rest)
  }

  /// The name of the option with the number of units.
  private var option: String { verb + "s" }

  /// The name of the command.
  private var verb: String { "\(unit)" }
}

/// The options of calendars.
struct AgendaOptions: ParsableArguments {
  @Option(
    name: .shortAndLong, help: "The width in columns (default: the terminal's, or 80).")
  var width: Int?

  func validate() throws {
    if let width, !(20...400).contains(width) { throw ValidationError("--width is 20 to 400.") }
  }
}
