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
        belfry pause +work --until monday
        belfry pause --all --until "4 jan"       # longer pauses stay as they are
        belfry resume --all                      # end all pauses early
      """)

  @Argument(help: "Alarms, or +tag, a state or due:week.", completion: .selections)
  var words: [String] = []

  @Flag(help: "All enabled alarms.")
  var all = false

  @Option(help: ArgumentHelp("The date or time at which the alarm resumes.", valueName: "date"))
  var until: String?

  @OptionGroup var common: CommonOptions
  @ParentCommand var root: Belfry

  func validate() throws {
    try Pausing.validate(names, all: all)
    if end == nil, let from = words.firstIndex(of: "from"), from > 0 {
      throw ValidationError(
        "A pause begins now. To leave out dates: belfry edit \(words[..<from].joined(separator: " ")) except \(words[(from + 1)...].joined(separator: " ").replacing(" to ", with: " - "))"
      )
    }
    if end == nil {
      throw ValidationError("The end of the pause is missing, such as --until friday, or 2 weeks.")
    }
  }

  /// The names of the alarms.
  private var names: [String] { parts.names }

  /// The end: the value of `--until`, the words behind `until`, or a length of time at the end.
  private var end: String? { parts.end }

  private var parts: (names: [String], end: String?) {
    if let until { return (words, until) }
    if let position = words.firstIndex(of: "until") {
      let rest = words[(position + 1)...]
      if position == 0, !all, let split = PauseCommand.splitEnd(Array(rest)) { return split }
      return (Array(words[..<position]), rest.isEmpty ? nil : rest.joined(separator: " "))
    }
    // `gym 2w`, `gym for 3 days`
    for start in words.indices {
      let length = words[start...].drop { $0 == "for" }.joined(separator: " ")
      if length.contains(where: \.isLetter), Input.isLength(length) {
        return (Array(words[..<start]), "in \(length)")
      }
    }
    // `2w gym`
    for end in words.indices.dropFirst().reversed() {
      let length = words[..<end].drop { $0 == "for" }.joined(separator: " ")
      if length.contains(where: \.isLetter), Input.isLength(length) {
        return (Array(words[end...]), "in \(length)")
      }
    }
    return (words, nil)
  }

  /// Returns the names and the end of `3 dec gym`; nil if the end is not followed by a name.
  private static func splitEnd(_ words: [String]) -> (names: [String], end: String?)? {
    guard let count = Input.leadingMomentCount(words), count < words.count else { return nil }
    return (Array(words[count...]), words[..<count].joined(separator: " "))
  }

  func run() throws {
    let parser = InputParser(try common.context(root))
    let end = try parser.moment(self.end ?? "", of: "--until").civil(.future, in: parser.context)
    try Pausing(
      common, root,
      unchanged: all
        ? "Nothing changed: every enabled alarm is already paused for at least as long."
        : "Nothing changed: \(names.count == 1 ? "the alarm is" : "they are") already paused until then."
    ).run(names) { ids, isNamed, settings in
      .until(end, ids, isNamed: isNamed, keepingLonger: all, settings: settings)
    }
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

  func validate() throws { try Pausing.validate(words, all: all) }

  func run() throws {
    let unchanged = "Nothing changed: \(all ? "no alarm is" : "the alarm is not") paused."
    try Pausing(common, root, unchanged: unchanged).run(words) { ids, isNamed, settings in
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

  init(_ common: CommonOptions, _ root: Belfry, unchanged: String) throws {
    context = try common.context(root)
    json = common.json
    self.unchanged = unchanged
  }

  static func validate(_ words: [String], all: Bool) throws {
    if words.isEmpty != all {
      throw ValidationError("Name alarms, select some such as +work, or use --all.")
    }
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
    show(result.unpausable)
    let output = AlarmOutput(store: store, style: context.style)
    if json {
      return try Console.write(result.changes.map { output.document($0.alarm, $0.status) })
    }
    if result.changes.isEmpty { return Console.line(unchanged) }
    for change in result.changes {
      let title = Printable.text(change.alarm.title)
      let next = output.next(change.alarm, change.status)
      Console.line(
        change.alarm.pause.map {
          "Paused \(title) until \(output.times.end($0.until, zone: change.alarm.zone.text)): \(next)."
        } ?? "Resumed \(title): \(next).")
    }
  }

  private func show(_ unpausable: [Alarm]) {
    for alarm in unpausable {
      CommandDiagnostic.warn(
        "\(Printable.text(alarm.title)) was not paused: its only occurrence is during the pause.")
    }
  }
}
