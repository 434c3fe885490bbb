import ArgumentParser
import BelfryActions
import BelfryCore
import BelfryInput
import BelfryScheduler
import BelfryStore
import BelfryTerminal

struct PauseCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "pause",
    abstract: "Pause an alarm, or all alarms, until a date.",
    discussion: """
      Occurrences during the pause are logged as skipped. On the date the alarm resumes automatically. Occurrences that \
      are already ringing or pending continue, except in a cascade: all its devices fall silent and the occurrence is \
      skipped.

        belfry pause pills until friday
        belfry pause gym 2 weeks
        belfry pause +home from thursday until saturday
        belfry pause gym next week
        belfry pause +work --until monday
        belfry pause --all --until "4 jan"       # longer pauses stay as they are
        belfry resume --all                      # end all pauses early
      """)

  @Argument(help: "Alarms, or +tag, a state or due:week.", completion: .selections)
  var words: [String] = []

  @Flag(help: "All enabled alarms.")
  var all = false

  @Option(
    help: ArgumentHelp(
      "The date or time at which the pause begins (default: now).", valueName: "date"))
  var from: String?

  @Option(help: ArgumentHelp("The date or time at which the alarm resumes.", valueName: "date"))
  var until: String?

  @OptionGroup var time: TimeOption
  @OptionGroup var common: CommonOptions
  @ParentCommand var root: Belfry

  func run() throws {
    let context = try common.context(root)
    let parser = InputParser(context)
    var pause = try parts(parser)
    let all = try Pausing.isAll(&pause.names, all: all, context)
    guard let end = pause.end else {
      throw ValidationError(
        "The end of the pause is missing, such as --until friday, or 2 weeks.")
    }
    let start = try pause.start.map {
      try parser.moment($0, of: "--from").civil(.future, in: parser.context)
    }
    let until = try self.until(end, after: start, parser)
    try Pausing(
      context, json: common.json,
      unchanged: all
        ? "Nothing changed: every enabled alarm is already paused for at least as long."
        : "Nothing changed: \(pause.names.count == 1 ? "the alarm is" : "they are") already paused until then."
    ).run(pause.names) { ids, isNamed, settings in
      .pausing(
        ids, from: start, until: until, isNamed: isNamed, keepingLonger: all, settings: settings)
    }
  }

  /// Returns the parts of the words and options.
  private func parts(_ parser: InputParser) throws -> Input.WordsWithPause {
    var parts =
      try time.when.map { try partsOfTime($0, parser) } ?? Input.pause(words, in: parser.context)
    if let from {
      if parts.start != nil { throw ValidationError("The beginning of the pause is given twice.") }
      parts.start = from
    }
    if let until {
      if parts.end != nil { throw ValidationError("The end of the pause is given twice.") }
      parts.end = until
    }
    return parts
  }

  /// Returns the parts of words that are all names, with the time of an option of its own: `2 weeks`, `friday`.
  private func partsOfTime(
    _ text: String, _ parser: InputParser
  ) throws -> Input.WordsWithPause {
    var parts = Input.pause(text.split(separator: " ").map(String.init), in: parser.context)
    if parts.names.isEmpty, parts.end != nil {
      parts.names = words
      return parts
    }
    // `friday`, without `until`
    _ = try parser.moment(text, of: "--when")
    return Input.WordsWithPause(names: words, end: text)
  }

  /// Returns the end of a pause. One that would be before the beginning counts from there: `from saturday until thursday`,
  /// `from 24 dec for 2 weeks`.
  private func until(
    _ end: String, after start: CivilDateTime?, _ parser: InputParser
  ) throws -> CivilDateTime {
    let until = try parser.moment(end, of: "--until").civil(.future, in: parser.context)
    guard let start, start > parser.context.now else { return until }
    let isLength = end.hasPrefix("in ")
    guard isLength || until <= start else { return until }
    let later = parser.context.at(parser.context.zone.instant(of: start))
    let moved = try Input.moment(end, in: later).civil(.future, in: later)
    return moved > start ? moved : until
  }
}

struct Resume: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "resume",
    abstract: "End the pause of an alarm, or of all alarms.")

  @Argument(help: "Alarms, or +tag, a state or due:week.", completion: .selections)
  var words: [String] = []

  @Flag(help: "All paused alarms.")
  var all = false

  @OptionGroup var common: CommonOptions
  @ParentCommand var root: Belfry

  func run() throws {
    let context = try common.context(root)
    var words = words
    let all = try Pausing.isAll(&words, all: all, context)
    let unchanged = "Nothing changed: \(all ? "no alarm is" : "the alarm is not") paused."
    try Pausing(context, json: common.json, unchanged: unchanged).run(words) {
      ids, isNamed, settings in
      .resuming(ids, isNamed: isNamed, onlyPaused: all, settings: settings)
    }
  }
}

/// The start or end of a pause, for one alarm or all.
private struct Pausing {
  private let context: CommandContext
  private let json: Bool
  /// The message if no alarm changes.
  private let unchanged: String

  init(_ context: CommandContext, json: Bool, unchanged: String) {
    self.context = context
    self.json = json
    self.unchanged = unchanged
  }

  /// Returns true for all alarms, which `--all` or the word `all` selects.
  ///
  /// - Throws: `ValidationError` if there are neither names nor `--all`, or both.
  static func isAll(_ words: inout [String], all: Bool, _ context: CommandContext) throws -> Bool {
    var all = all
    if !all, AlarmSelector.isAll(words), context.existing?.hasTitle(words[0]) != true {
      (words, all) = ([], true)
    }
    if words.isEmpty != all {
      throw ValidationError("Name alarms, select some such as +work, or use --all.")
    }
    return all
  }

  /// Performs an action on the alarms of some words, or on all enabled ones, and prints the result.
  func run(
    _ words: [String], _ action: ([Identifier], _ isNamed: Bool, Settings) -> PauseAlarms
  ) throws {
    let store = try context.open(.writing)
    let selector = context.selector(of: store)
    let selection = try context.explaining {
      try words.isEmpty ? selector.select([]) : selector.selectAny(words)
    }
    let settings = try store.settings().settings
    let result = try context.explaining {
      try action(selection.ids, !selection.isFiltered, settings).perform(in: store)
    }
    warn(about: result)
    let (output, now) = (AlarmOutput(store: store, style: context.style), store.context.now)
    if json {
      return try Console.write(result.changes.map { output.document($0.alarm, $0.status) })
    }
    if result.changes.isEmpty { return Console.line(unchanged) }
    for change in result.changes {
      let title = Printable.text(change.alarm.title)
      let next = output.next(change.alarm, change.status)
      Console.line(
        output.plannedPause(change.alarm).map { time in
          let idle =
            store.timeline(change.alarm).hasOccurrenceInPause(after: now)
            ? "" : " It has no occurrence in that time."
          return "Paused \(title) \(time): \(next).\(idle)"
        } ?? "Resumed \(title): \(next).")
    }
  }

  private func warn(about result: PauseAlarms.Result) {
    for alarm in result.unpausable {
      CommandDiagnostic.warn(
        "\(Printable.text(alarm.title)) was not paused: its only occurrence is during the pause.")
    }
    for alarm in result.otherwisePaused {
      CommandDiagnostic.warn(
        "\(Printable.text(alarm.title)) was not paused: it has another pause. To end that one: belfry resume \(alarm.id.short)"
      )
    }
  }
}
