import ArgumentParser
import BelfryCore
import BelfryInput
import BelfryStore

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
}

/// The answering of one alarm, or of several.
enum Responding {
  case one(Answering)
  case several(BulkAnswering)

  /// Selects the alarms of the options.
  ///
  /// - Throws: `CommandError` if no alarm is selected, it is not clear which one, or several have one `--occurrence`.
  init(_ options: AnswerOptions, for verb: AlarmSelection.Verb, _ context: CommandContext) throws {
    let parser = InputParser(context)
    // An invalid option is reported before the first command creates a store.
    if let occurrence = options.occurrence { _ = try parser.moment(occurrence, of: "--occurrence") }
    let store = try context.open(.writing)
    let selection = try AlarmSelection(
      options.alarms, all: options.all, for: verb, in: store, context)
    if selection.isBulk {
      if options.occurrence != nil {
        throw CommandError(
          .usage, "--occurrence needs one alarm.", hint: "Name the alarm of the occurrence.")
      }
      self = .several(try BulkAnswering(selection, in: store, context))
    } else {
      let summary = selection.summaries[0]
      self = .one(
        Answering(
          summary,
          try options.occurrence.map { try parser.occurrence($0, of: summary.id, in: store) },
          in: store, settings: try context.settings(store), context))
    }
  }

  /// The settings of the store.
  var settings: Settings {
    switch self {
    case .one(let answering): answering.settings
    case .several(let answering): answering.settings
    }
  }

  /// Returns the results that an answer would have, without recording them.
  func preview(_ answer: Answer) throws -> [Transition] {
    switch self {
    case .one(let answering): [try answering.preview(answer)]
    case .several(let answering): try answering.preview(answer)
    }
  }

  /// Records an answer and prints the result.
  func giveAndShow(_ answer: Answer, json: Bool) throws {
    switch self {
    case .one(let answering): try answering.giveAndShow(answer, json: json)
    case .several(let answering): try answering.giveAndShow(answer, json: json)
    }
  }
}

extension InputParser {
  /// Returns the occurrence of an alarm that an option names. A date is enough if the alarm occurs once on it.
  ///
  /// - Throws: `CommandError` if the text is not a date or time, or the date has no occurrence, or several.
  func occurrence(_ text: String, of timeline: Timeline, option: String) throws -> CivilDateTime {
    let local = with(zone: timeline.zone, calendar: timeline.calendar)
    let moment = try local.moment(text, of: option)
    guard case .date(let date) = moment else { return moment.civil(.past, in: local.context) }
    let occurrences = timeline.occurrences(on: date)
    if occurrences.count == 1 { return occurrences[0] }
    let title = Printable.text(timeline.alarm.title)
    if occurrences.isEmpty {
      throw CommandError(
        .usage, "\(option): \(title) has no occurrence on \(formatter.date(date)).",
        hint: "See 'belfry next \(timeline.alarm.id.short)'.")
    }
    throw CommandError(
      .usage,
      "\(option): \(title) has \(occurrences.count) occurrences on \(formatter.date(date)).",
      hint: "Name one: \(occurrences.prefix(4).map(\.description).joined(separator: ", ")).")
  }
}

extension InputParser {
  /// Returns the occurrence of an alarm that the option `--occurrence` names.
  func occurrence(_ text: String, of id: Identifier, in store: Store) throws -> CivilDateTime {
    guard let alarm = try store.alarm(id) else { throw StoreError.noSuchAlarm(id.text) }
    return try occurrence(text, of: store.timeline(alarm), option: "--occurrence")
  }
}

/// The execution of an answer, such as Stop or Done, and the report of its result.
struct Answering {
  let store: Store
  let output: AlarmOutput
  let summary: AlarmSummary
  let occurrence: CivilDateTime?
  let settings: Settings
  private let action: DoneAction
  /// The time of the answer; nil for now.
  private let time: Instant?

  /// Creates the answering of one alarm by its name.
  init(
    _ name: String, _ occurrence: String?, for verb: AlarmSelection.Verb, _ context: CommandContext
  ) throws {
    let parser = InputParser(context)
    let store = try context.open(.writing)
    let summary = try StoreSession(context).find(name, for: verb, in: store)
    self.init(
      summary, try occurrence.map { try parser.occurrence($0, of: summary.id, in: store) },
      in: store, settings: try context.settings(store), context)
  }

  init(
    _ summary: AlarmSummary, _ occurrence: CivilDateTime?, in store: Store, settings: Settings,
    _ context: CommandContext
  ) {
    self.store = store
    self.summary = summary
    self.occurrence = occurrence
    self.settings = settings
    output = AlarmOutput(store: store, style: context.style)
    action = DoneAction(context)
    time = context.answerTime
  }

  /// Returns the result that an answer would have, without recording it.
  func preview(_ answer: Answer) throws -> Transition {
    guard let alarm = try store.alarm(summary.id) else {
      throw StoreError.noSuchAlarm(summary.id.text)
    }
    return try transition(answer, alarm)
  }

  /// Records an answer. Returns the transition and the alarm's status after it.
  func give(_ answer: Answer) throws -> (transition: Transition, status: AlarmStatus) {
    let transition = try store.update(summary.id) { alarm in
      let transition = try self.transition(answer, alarm)
      return (store.change(transition, at: time), transition)
    }
    return (transition, try store.status(transition.alarm))
  }

  /// Records an answer and prints its result.
  func giveAndShow(_ answer: Answer, json: Bool) throws {
    let (transition, status) = try give(answer)
    guard let event = transition.events.last else { return }
    if json {
      try Console.write(output.document(transition.alarm, status, event: event))
    } else {
      for line in messages(transition, status) { Console.line(line) }
    }
    runAction(transition)
  }

  /// Runs the alarm's action if the answer has marked an occurrence as done.
  func runAction(_ transition: Transition) { action.run(transition.alarm, transition.events) }

  /// Returns the messages for the result of an answer.
  func messages(_ transition: Transition, _ status: AlarmStatus) -> [String] {
    AnswerText(output).messages(transition, status)
  }

  private func transition(_ answer: Answer, _ alarm: Alarm) throws -> Transition {
    do throws(LifecycleError) {
      return try store.timeline(alarm).answer(
        answer, to: occurrence, at: time ?? store.context.now, settings: settings,
        ledger: store.ledger.read())
    } catch {
      throw Refusal(answer, alarm, output).error(error)
    }
  }
}

/// The error messages for answers that are not possible.
struct Refusal {
  private let answer: Answer
  private let alarm: Alarm
  private let output: AlarmOutput

  init(_ answer: Answer, _ alarm: Alarm, _ output: AlarmOutput) {
    self.answer = answer
    self.alarm = alarm
    self.output = output
  }

  private var title: String { Printable.text(alarm.title) }
  private var id: String { alarm.id.short }

  func error(_ error: LifecycleError) -> CommandError {
    switch error {
    case .notPossible(let state, let next): notPossible(state, next: next)
    case .wrongPhase(let civil, let phase): wrongPhase(civil, phase)
    case .oneTime:
      CommandError(
        .notPossible, "\(title) rings only once, so it has no other occurrence.",
        hint: "To delete it: belfry delete \(id)")
    case .nothingBefore(let civil):
      CommandError(
        .notPossible, "\(title) has no occurrence before \(output.times.full(civil)).",
        hint: "See its occurrences: belfry next \(id)")
    case .tooMany:
      CommandError(
        .notPossible, "that would skip more than \(Answer.maxSkips) occurrences.",
        hint: "Disable the alarm instead: belfry disable \(id)")
    case .snoozeIsOff:
      CommandError(
        .notPossible, "snoozing is disabled.",
        hint: "Enable it: belfry settings set snoozeEnabled on")
    case .inTheFuture:
      CommandError(
        .usage, "that time is in the future.", hint: "Give --at a time in the past.")
    }
  }

  private func notPossible(_ state: AlarmStatus.State, next: CivilDateTime?) -> CommandError {
    let reason =
      switch (state, answer) {
      case (.disabled, _): "is disabled"
      case (_, .unskip): "has no skipped occurrence ahead"
      case (_, .dismiss): "has no missed occurrence"
      case (.active, _): "is not ringing"
      case (.paused, _): "is paused"
      case (.finished, _): "is finished"
      case (.pending, _): "is pending, not ringing"
      case (.missed, _): "was missed and no longer rings"
      case (.ringing, _), (.snoozed, _): "is \(state.rawValue)"
      }
    let comes = next.map { "next is \(output.when($0, zone: alarm.zone.text))" }
    let hint =
      switch (state, answer) {
      case (.disabled, _): "Enable it: belfry enable \(id)"
      case (.pending, .stop), (.pending, .snooze), (.missed, .stop), (.missed, .snooze):
        "When it is done: belfry done \(id)"
      case (_, .done) where next != nil:
        "\((comes ?? "").capitalizedFirst). If it is already done: belfry done \(id) --early"
      default: "\((comes ?? "it has no further occurrence").capitalizedFirst)."
      }
    return CommandError(
      .notPossible, "\(title) \(reason), so there is nothing to \(infinitive).", hint: hint)
  }

  private func wrongPhase(_ civil: CivilDateTime, _ phase: Phase) -> CommandError {
    let when = output.when(civil, zone: alarm.zone.text)
    let reason =
      switch phase {
      case .upcoming: "is upcoming"
      case .ringing, .snoozed, .pending, .skipped, .missed: "is \(phase.rawValue)"
      case .skippedAhead: "is skipped"
      case .done: "is already done"
      case .autoCompleted: "was completed automatically"
      case .unknown: "is not an occurrence, or was too long ago"
      }
    let hint =
      switch (phase, answer) {
      case (.upcoming, .done): "If it is already done, add --early."
      case (.skippedAhead, _): "Undo the skip: belfry unskip \(id)"
      case (.unknown, _): "See 'belfry show \(id)' and 'belfry log \(id)'."
      default: "See 'belfry log \(id)'."
      }
    return CommandError(
      .notPossible, "\(title): \(when) \(reason), so there is nothing to \(infinitive).",
      hint: hint)
  }

  /// The verb of the answer.
  private var infinitive: String {
    switch answer {
    case .stop: "stop"
    case .done: "mark as done"
    case .snooze: "snooze"
    case .skip: "skip"
    case .unskip: "unskip"
    case .dismiss: "dismiss"
    }
  }
}

extension String {
  /// The text with an upper-case first letter.
  var capitalizedFirst: String { prefix(1).uppercased() + dropFirst() }
}
