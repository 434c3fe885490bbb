import ArgumentParser
import BelfryCore
import BelfryStore

struct PauseCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "pause",
    abstract: "Let an alarm, or all, be silent until a day: for a vacation.",
    discussion: """
      What comes due meanwhile is logged as skipped; on that day it comes again by itself. What rings already, or
      waits to be confirmed, goes on; a cascade that rings falls silent on all devices and counts as skipped.

        belfry pause pills --until 2026-12-28
        belfry pause --all --until 2027-01-04    # what is paused for longer stays so
        belfry resume --all                      # home early
      """)

  @Argument(help: "The alarm.")
  var alarm: String?

  @Flag(help: "All alarms that are switched on.")
  var all = false

  @Option(help: ArgumentHelp("The day, or time, from which it comes again.", valueName: "date"))
  var until: String?

  @OptionGroup var common: CommonOptions
  @ParentCommand var root: Belfry

  func validate() throws {
    try Pausing.validate(alarm, all: all)
    if until == nil { throw ValidationError("Say until when: --until 2026-12-28.") }
  }

  func run() throws {
    let end = try CivilDateTime(until: until ?? "")
    let pausing = try Pausing(
      common, root,
      unchanged: all
        ? "Nothing has changed: every alarm that is switched on is paused for at least as long."
        : "Nothing has changed: it is paused until then already.")
    try pausing.run(alarm) { timeline, now in
      let here = timeline.zone.civil(at: now)
      guard here < end else {
        throw CommandError(
          .usage, "--until: \(end.spoken) has passed.", hint: "Name a day that is to come.")
      }
      // One that goes on is made longer or shorter; a vacation for all does not cut short what was wanted for one.
      let current = timeline.alarm.pause.flatMap { $0.covers(here) ? $0 : nil }
      if all, let current, current.until > end { return current }
      return BelfryCore.Pause(from: current?.from ?? here, until: end)
    }
  }
}

struct Resume: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "End a pause now: it comes again.")

  @Argument(help: "The alarm.")
  var alarm: String?

  @Flag(help: "All alarms that are paused.")
  var all = false

  @OptionGroup var common: CommonOptions
  @ParentCommand var root: Belfry

  func validate() throws { try Pausing.validate(alarm, all: all) }

  func run() throws {
    let unchanged = "Nothing has changed: \(all ? "no alarm" : "it") is \(all ? "" : "not ")paused."
    try Pausing(common, root, unchanged: unchanged).run(alarm) { _, _ in nil }
  }
}

/// Begins and ends pauses.
private struct Pausing {
  private let context: CommandContext
  private let json: Bool
  /// What is said when there is nothing to do.
  private let unchanged: String

  init(_ common: CommonOptions, _ root: Belfry, unchanged: String) throws {
    context = try common.context(root)
    json = common.json
    self.unchanged = unchanged
  }

  static func validate(_ alarm: String?, all: Bool) throws {
    if (alarm == nil) != all { throw ValidationError("Name an alarm, or --all.") }
  }

  /// Gives one alarm, or all that are switched on, another pause, in one commit.
  ///
  /// - Parameter name: the alarm; nil for all.
  func run(
    _ name: String?, _ pause: (Timeline, Instant) throws -> BelfryCore.Pause?
  ) throws {
    let store = try context.open()
    let summaries = try name.map { [try context.find($0, in: store)] } ?? context.overview(store)
    let settings = try store.settings().settings
    let ledger = store.ledger()
    var left: [Alarm] = []
    let changed: [Alarm] = try store.update(summaries.map(\.id).sorted()) { alarms in
      left = []
      var changed: [Alarm] = []
      var events: [(Event, Alarm)] = []
      for alarm in alarms where name != nil || alarm.enabled {
        let timeline = store.timeline(alarm)
        let wanted = try pause(timeline, context.storeContext.now)
        if wanted == alarm.pause { continue }
        if let wanted, timeline.comesOnlyOnce(within: wanted) {
          left.append(alarm)
          continue
        }
        let transition = timeline.paused(
          wanted, at: context.storeContext.now, settings: settings, ledger: ledger)
        let after = transition.alarm.stamped(
          against: alarm, at: context.storeContext.now, device: store.device)
        changed.append(after)
        events += transition.events.map { ($0, after) }
      }
      guard let first = changed.first, let last = events.last?.0 else { return (nil, []) }
      let message =
        changed.count == 1
        ? CommitMessage(last, of: first, device: store.device)
        : CommitMessage(
          "\(last.action.label): \(changed.count) alarms",
          trailers: [("Action", last.action.rawValue)], device: store.device)
      return (
        Store.Change(alarms: changed, entries: store.entries(events), message: message), changed
      )
    }
    try tell(changed, left, isOne: name != nil, store)
  }

  private func tell(_ changed: [Alarm], _ left: [Alarm], isOne: Bool, _ store: Store) throws {
    if isOne, let alarm = left.first {
      throw CommandError(
        .notPossible,
        "\(Printable.text(alarm.title)) comes only once, and then: paused it would never ring.",
        hint: "Give it another time with 'belfry edit \(alarm.id.short) --once …', or delete it.")
    }
    for alarm in left {
      Console.error(
        "belfry: warning: \(Printable.text(alarm.title)) comes only once, and then: it is not paused."
      )
    }
    let output = AlarmOutput(store: store, style: context.style)
    if json {
      return output.print(
        .array(try changed.map { output.json($0, try store.status($0)) }))
    }
    if changed.isEmpty { return Console.line(unchanged) }
    for alarm in changed {
      let title = Printable.text(alarm.title)
      let next = output.next(alarm, try store.status(alarm))
      Console.line(
        alarm.pause.map {
          "Paused \(title) until \(output.when($0.until, zone: alarm.zone.text)): \(next)."
        } ?? "\(title) is paused no more: \(next).")
    }
  }
}

extension CivilDateTime {
  /// The end of a span of days, as a person types it: a day means its beginning.
  init(until text: String) throws {
    if let civil = CivilDateTime(text) {
      self = civil
    } else if let date = CivilDate(text) {
      self.init(date, .midnight)
    } else {
      throw CommandError(
        .usage, "--until: '\(Printable.text(text))' is not a date.",
        hint: "Write it as 2026-12-15 or 2026-12-15T12:00.")
    }
  }
}
