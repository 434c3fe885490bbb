import ArgumentParser
import BelfryCore
import BelfryInput
import BelfryScheduler
import BelfryStore

struct PauseCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "pause",
    abstract: "Pause an alarm, or all alarms, until a date.",
    discussion: """
      Occurrences during the pause are logged as skipped. On the date the alarm resumes automatically. Occurrences that \
      are already ringing or pending continue, except in a cascade: all its devices fall silent and the occurrence is \
      skipped.

        belfry pause pills until friday
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
    if end == nil {
      throw ValidationError("The end of the pause is missing, such as --until friday.")
    }
  }

  /// The words before `until`.
  private var names: [String] { Array(words.prefix { until != nil || $0 != "until" }) }

  /// The end: the value of `--until`, or the words behind `until`.
  private var end: String? {
    if let until { return until }
    let rest = words.drop { $0 != "until" }.dropFirst()
    return rest.isEmpty ? nil : rest.joined(separator: " ")
  }

  func run() throws {
    let parser = InputParser(try common.context(root))
    let end = try parser.moment(self.end ?? "", of: "--until").civil(.future, in: parser.context)
    let pausing = try Pausing(
      common, root,
      unchanged: all
        ? "Nothing changed: every enabled alarm is already paused for at least as long."
        : "Nothing changed: \(names.count == 1 ? "the alarm is" : "they are") already paused until then."
    )
    try pausing.run(names) { timeline, now in
      let here = timeline.zone.civil(at: now)
      guard here < end else {
        throw CommandError(
          .usage, "--until: \(pausing.times.full(end)) has passed.",
          hint: "Use a date in the future.")
      }
      // A running pause gets a new end; `--all` does not shorten the pause of one alarm.
      let current = timeline.alarm.pause.flatMap { $0.covers(here) ? $0 : nil }
      if all, let current, current.until > end { return .unchanged }
      return .set(BelfryCore.Pause(from: current?.from ?? here, until: end))
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
    try Pausing(common, root, unchanged: unchanged).run(words) { timeline, _ in
      // `--all` is about the paused alarms.
      all && timeline.alarm.pause == nil ? .unchanged : .set(nil)
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

  var times: TimeText { context.times }

  /// The wanted pause of an alarm.
  enum Wish {
    /// The alarm stays as it is.
    case unchanged
    /// The alarm gets a pause; nil for none.
    case set(BelfryCore.Pause?)
  }

  static func validate(_ words: [String], all: Bool) throws {
    if words.isEmpty != all {
      throw ValidationError("Name alarms, select some such as +work, or use --all.")
    }
  }

  /// Sets the pause of one alarm, or of all enabled alarms, in one commit.
  ///
  /// An alarm whose only occurrence is during the pause is not paused.
  ///
  /// - Parameters:
  ///   - words: the alarms, or a filter; empty for all.
  ///   - pause: returns the wanted pause of an alarm. One that it has already is stamped again.
  /// - Throws: `CommandError` if the one alarm would never ring.
  func run(
    _ words: [String], _ pause: (Timeline, Instant) throws -> Wish
  ) throws {
    let store = try context.open(.writing)
    let summaries = try AlarmSelection.listed(words, in: store, context)
    let isNamed =
      try !words.isEmpty
      && AlarmSelection.split(words, InputParser(context), StoreSession(context), store).filters
        .isEmpty
    if !words.isEmpty, summaries.isEmpty {
      throw CommandError(
        .noSuchAlarm, "no alarm matches '\(Printable.text(words.joined(separator: " ")))'.",
        hint: "See 'belfry list'.")
    }
    let settings = try store.settings().settings
    let ledger = store.ledger.read()
    var unpausable: [Alarm] = []
    let changed: [Alarm] = try store.update(summaries.map(\.id).sorted()) { alarms in
      unpausable = []
      var changed: [Alarm] = []
      var restated: [Alarm] = []
      var events: [(Event, Alarm)] = []
      for alarm in alarms where isNamed || alarm.enabled {
        let timeline = store.timeline(alarm)
        let now = context.storeContext.now
        guard case .set(let wanted) = try pause(timeline, now) else { continue }
        if let wanted, timeline.comesOnlyOnce(within: wanted) {
          unpausable.append(alarm)
          continue
        }
        let transition = timeline.paused(wanted, at: now, settings: settings, ledger: ledger)
        let after = transition.alarm.stamped(against: alarm, at: now, device: store.device)
          .restating(
            StatedParts(fields: [.pause]), since: alarm, at: now, device: store.device)
        if wanted == alarm.pause { restated.append(after) } else { changed.append(after) }
        events += transition.events.map { ($0, after) }
      }
      let written = changed + restated
      guard let first = written.first, let last = events.last?.0 else { return (nil, []) }
      let message =
        written.count == 1
        ? CommitMessage(last, of: first, device: store.device)
        : CommitMessage(
          "\(last.action.label): \(written.count) alarms",
          trailers: [("Action", last.action.rawValue)], device: store.device)
      return (
        Store.Change(alarms: written, entries: store.entries(events), message: message), changed
      )
    }
    try show(changed, unpausable, isOne: isNamed && summaries.count == 1, store)
  }

  private func show(
    _ changed: [Alarm], _ unpausable: [Alarm], isOne: Bool, _ store: Store
  ) throws {
    if isOne, let alarm = unpausable.first {
      throw CommandError(
        .notPossible,
        "\(Printable.text(alarm.title)) has one occurrence, during the pause, so it would never ring.",
        hint: "Change its time with 'belfry edit \(alarm.id.short) --once …', or delete it.")
    }
    for alarm in unpausable {
      CommandDiagnostic.warn(
        "\(Printable.text(alarm.title)) was not paused: its only occurrence is during the pause.")
    }
    let output = AlarmOutput(store: store, style: context.style)
    if json {
      return try Console.write(changed.map { output.document($0, try store.status($0)) })
    }
    if changed.isEmpty { return Console.line(unchanged) }
    for alarm in changed {
      let title = Printable.text(alarm.title)
      let next = output.next(alarm, try store.status(alarm))
      Console.line(
        alarm.pause.map {
          "Paused \(title) until \(output.times.end($0.until, zone: alarm.zone.text)): \(next)."
        } ?? "Resumed \(title): \(next).")
    }
  }
}
