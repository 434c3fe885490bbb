import ArgumentParser
import BelfryActions
import BelfryCore
import BelfryDocuments
import BelfryInput
import BelfryStore
import BelfryTerminal

/// The options of all commands that respond to an occurrence.
struct AnswerOptions: ParsableArguments {
  @Argument(
    help: "The alarms, or +tag, a state or due:… (default: the one that rings).",
    completion: .selections)
  var alarms: [String] = []

  @Flag(help: "All alarms to which the command applies.")
  var all = false

  @Option(
    help: "The occurrence: a date, or 2026-11-23T09:00 (default: the current one).")
  var occurrence: String?

  init() {}

  /// Creates the options of a command that reads its words itself.
  init(_ alarms: [String], all: Bool = false, occurrence: String?) {
    self.alarms = alarms
    self.all = all
    self.occurrence = occurrence
  }

  /// Returns the options without the words at their end that have a meaning of their own, and these words; nil if there
  /// are none.
  ///
  /// - Parameter missing: A word that is no alarm, which the words at the end contain; nil for any.
  func separating(
    _ missing: String?, _ isMeaning: (String) -> Bool
  ) -> (options: AnswerOptions, words: String)? {
    for start in alarms.indices.dropFirst()
    where missing.map(alarms[start...].contains) ?? true {
      let words = alarms[start...].joined(separator: " ")
      guard isMeaning(words) else { continue }
      return (AnswerOptions(Array(alarms[..<start]), all: all, occurrence: occurrence), words)
    }
    return nil
  }
}

/// The answer of a command to the alarms that its words select, and the report of the result.
struct Answering {
  let store: Store
  let output: AlarmOutput
  let settings: Settings
  /// True if the user may have meant several alarms, so that the output is a list.
  let isBulk: Bool
  /// True if a filter or `--all` has selected the alarms, so that an answer is for all that is open.
  private let isFiltered: Bool
  private let context: CommandContext
  private let alarms: [Identifier]
  /// The occurrence of the only alarm; nil for the current ones.
  let occurrence: CivilDateTime?

  /// Selects the alarms of some options.
  ///
  /// - Throws: `CommandError` if no alarm is selected, it is not clear which one, or several have one `--occurrence`.
  ///
  /// - Parameter direction: The direction in which a date without a year, such as `friday`, is searched; nil for that of
  ///   the verb.
  init(
    _ options: AnswerOptions, for verb: AnswerVerb, _ context: CommandContext,
    direction: Moment.Direction? = nil
  ) throws {
    try self.init(
      named: try Answering.dated(options, for: verb, context), for: verb, context,
      direction ?? verb.direction)
  }

  /// Returns options whose words end with a date, as in `skip gym friday`, with the date as the occurrence.
  ///
  /// - Throws: `CommandError` if the date is the name of an alarm, too.
  private static func dated(
    _ options: AnswerOptions, for verb: AnswerVerb, _ context: CommandContext
  ) throws -> AnswerOptions {
    let input = InputParser(context).context
    guard options.occurrence == nil, !options.all,
      let (named, date) = options.separating(
        nil, { (try? Input.date($0, in: input)) != nil || CivilDateTime($0) != nil })
    else { return options }
    if let store = context.existing,
      let last = try? context.selector(of: store).select(options.alarms, all: false, for: verb)
        .summaries.last
    {
      // `skip friday review` names one alarm twice.
      let words = options.alarms.joined(separator: " ")
      if last.title.lowercased().contains(words.lowercased()) { return options }
      throw CommandError(
        .usage,
        "'\(Printable.text(date))' can be a date or the alarm \(Printable.text(last.title)).",
        hint:
          "For the date, write --occurrence '\(Printable.text(date))'. For the alarm, write \(last.id.short)."
      )
    }
    var dated = named
    dated.occurrence = date
    return dated
  }

  private init(
    named options: AnswerOptions, for verb: AnswerVerb, _ context: CommandContext,
    _ direction: Moment.Direction
  ) throws {
    let parser = InputParser(context)
    // An invalid option is reported before the first command creates a store.
    if let occurrence = options.occurrence { _ = try parser.moment(occurrence, of: "--occurrence") }
    let store = try context.open(.writing)
    let isMeant = options.occurrence.map { parser.having($0, in: store, direction) }
    let selection = try context.explaining {
      try context.selector(of: store)
        .select(options.alarms, all: options.all, for: verb, where: isMeant)
    }
    if selection.isBulk, options.occurrence != nil {
      throw CommandError(
        .usage, "--occurrence needs one alarm.", hint: "Name the alarm of the occurrence.")
    }
    self.init(
      selection.ids,
      try options.occurrence.map {
        try parser.occurrence($0, of: selection.summaries[0].id, in: store, direction)
      },
      isBulk: selection.isBulk, isFiltered: selection.isFiltered, in: store,
      settings: try context.settings(store), context)
  }

  init(
    _ alarms: [Identifier], _ occurrence: CivilDateTime?, isBulk: Bool = false,
    isFiltered: Bool = false, in store: Store, settings: Settings, _ context: CommandContext
  ) {
    self.store = store
    self.context = context
    self.alarms = alarms
    self.occurrence = occurrence
    self.isBulk = isBulk
    self.isFiltered = isFiltered
    self.settings = settings
    output = AlarmOutput(store: store, style: context.style)
  }

  private func action(_ answer: Answer) -> AnswerAlarms {
    guard let occurrence, alarms.count == 1 else {
      return AnswerAlarms(
        answer, to: alarms, everyOpen: isFiltered, settings: settings, at: context.answerTime)
    }
    return AnswerAlarms(
      answer, to: alarms[0], occurrence: occurrence, settings: settings, at: context.answerTime)
  }

  /// Returns the changes that an answer would make, without recording them.
  func preview(_ answer: Answer) throws -> [AlarmChange] {
    try context.explaining { try action(answer).preview(in: store) }
  }

  /// Records an answer, in one commit. Returns the changed alarms.
  func give(_ answer: Answer) throws -> [AlarmChange] {
    try context.explaining { try action(answer).perform(in: store) }
  }

  /// Records an answer, prints its result, and runs the actions of what is done.
  func giveAndShow(_ answer: Answer, json: Bool) throws {
    let changes = try give(answer)
    defer { context.runDoneActions(after: changes) }
    if json { return try Console.write(changes.compactMap(document), asList: isBulk) }
    for change in changes { for line in messages(change) { Console.line(line) } }
  }

  /// Returns the document of a change; nil for none.
  private func document(_ change: AlarmChange) -> ActionDocument? {
    change.events.last.map { output.document(change.alarm, change.status, event: $0) }
  }

  /// Returns the messages about a change.
  func messages(_ change: AlarmChange) -> [String] { AnswerText(output).messages(change) }
}

extension InputParser {
  /// Returns the occurrence of an alarm that an option names. A date is enough if the alarm occurs once on it.
  ///
  /// - Parameter direction: The direction in which a date without a year is searched first. If the alarm has no occurrence
  ///   there, the other one counts.
  /// - Throws: `CommandError` if the text is not a date or time, or the date has no occurrence, or several.
  func occurrence(
    _ text: String, of timeline: Timeline, option: String, _ direction: Moment.Direction = .future
  ) throws -> CivilDateTime {
    let local = with(zone: timeline.zone, calendar: timeline.calendar)
    var moment = try local.moment(text, direction, of: option)
    if direction == .past, !timeline.hasOccurrence(at: moment, local.context) {
      moment = try local.moment(text, of: option)
    }
    guard case .date(let date) = moment else {
      return timeline.occurrence(named: moment.civil(.past, in: local.context))
    }
    let occurrences = timeline.occurrences(on: date)
    if occurrences.count == 1 { return occurrences[0] }
    let title = Printable.text(timeline.alarm.title)
    if occurrences.isEmpty {
      throw CommandError(
        .usage, "\(title) has no occurrence on \(formatter.date(date)).",
        hint: "See 'belfry next \(timeline.alarm.id.short)'.")
    }
    throw CommandError(
      .usage,
      "\(title) has \(occurrences.count) occurrences on \(formatter.date(date)).",
      hint:
        "Name one: \(option) \(occurrences.prefix(4).map(\.description).joined(separator: " or "))."
    )
  }

  /// Returns the occurrence of an alarm that the option `--occurrence` names.
  func occurrence(
    _ text: String, of id: Identifier, in store: Store, _ direction: Moment.Direction = .future
  ) throws -> CivilDateTime {
    guard let alarm = try store.alarm(id) else { throw StoreError.noSuchAlarm(id.text) }
    return try occurrence(text, of: store.timeline(alarm), option: "--occurrence", direction)
  }

  /// Returns a function that returns true for an alarm with the occurrence that a text names: the one that a person means
  /// of several.
  func having(
    _ text: String, in store: Store, _ direction: Moment.Direction = .future
  ) -> (AlarmSummary) -> Bool {
    { summary in
      guard let alarm = try? store.alarm(summary.id) else { return false }
      let timeline = store.timeline(alarm)
      let local = self.with(zone: timeline.zone, calendar: timeline.calendar)
      return [direction, .future].contains { direction in
        guard let moment = try? local.moment(text, direction, of: nil) else { return false }
        return timeline.hasOccurrence(at: moment, local.context)
      }
    }
  }
}

extension Timeline {
  /// Returns true if the alarm has rung, or has a record of an occurrence, at a moment or on its date.
  fileprivate func hasOccurrence(at moment: Moment, _ context: InputContext) -> Bool {
    var civils = [moment.civil(.past, in: context)]
    if case .date(let date) = moment { civils = occurrences(on: date) }
    return civils.map { occurrence(named: $0) }.contains { civil in
      alarm.progress.occurrences[civil] != nil
        || scheduled.contains(civil) && occurrence(civil).at > alarm.progress.armed
    }
  }
}

extension AnswerVerb {
  /// The direction in which a date without a year is searched: what is skipped is ahead, other answers follow a ring.
  fileprivate var direction: Moment.Direction {
    switch self {
    case .skip, .unskip: .future
    case .stop, .done, .snooze, .dismiss: .past
    }
  }
}

extension String {
  /// The text with an upper-case first letter.
  var capitalizedFirst: String { prefix(1).uppercased() + dropFirst() }
}
