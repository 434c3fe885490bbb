import BelfryActions
import BelfryCore
import BelfryStore
import BelfryTerminal

/// The errors of actions and selections as errors of a command, with times in the form of the terminal.
struct ActionErrorText {
  private let output: AlarmOutput

  init(_ output: AlarmOutput) { self.output = output }

  // MARK: Actions

  /// Returns the error of a command for an action that is not possible.
  func error(_ error: ActionError) -> CommandError {
    switch error {
    case .refused(let answer, let alarm, let reason):
      return RefusalText(answer, alarm, output).error(reason)
    case .notMovable(let alarm, let reason):
      return MoveErrorText(alarm, output).error(reason)
    case .noFutureOccurrence(let schedule):
      return CommandError(
        .usage, "\(output.times.schedule(schedule)) has no future occurrence.",
        hint: "Use a time in the future.")
    case .pauseHasPassed(let end):
      return CommandError(
        .usage, "--until: \(output.times.full(end)) has passed.",
        hint: "Use a date in the future.")
    case .pauseEndsFirst(let from, let end):
      return CommandError(
        .usage, "a pause from \(output.times.full(from)) cannot end \(output.times.full(end)).",
        hint: "Use a later end.")
    case .otherPause(let alarm, let pause):
      let (from, end) = (
        output.times.end(pause.from, zone: alarm.zone.text),
        output.times.end(pause.until, zone: alarm.zone.text)
      )
      return CommandError(
        .notPossible,
        "\(title(alarm)) has a pause from \(from) until \(end), and an alarm has one at a time.",
        hint:
          "To end that one: belfry resume \(alarm.id.short). To leave out dates instead: belfry edit \(alarm.id.short) except 24 dec - 2 jan"
      )
    case .pauseCoversOnlyOccurrence(let alarm):
      return CommandError(
        .notPossible,
        "\(title(alarm)) has one occurrence, during the pause, so it would never ring.",
        hint: "Change its time with 'belfry edit \(alarm.id.short) --once …', or delete it.")
    case .disabled(let alarm):
      return CommandError(
        .notPossible, "\(title(alarm)) is disabled.",
        hint: "Enable it: belfry enable \(alarm.id.short)")
    case .noActiveCascade(let alarm):
      return CommandError(
        .notPossible, "\(title(alarm)) has no cascade that is on.",
        hint: "Add a step: belfry cascade add \(alarm.id.short)")
    case .ringsSoon(let alarm):
      return CommandError(
        .notPossible, "\(title(alarm)) rings now or soon, so it cannot be tested.",
        hint: "Try again after the occurrence.")
    case .failed(let alarm, let cause):
      let cause = (cause as? ActionError).map { self.error($0) } ?? CommandError(cause)
      return CommandError("nothing was changed: \(title(alarm))", causedBy: cause)
    }
  }

  private func title(_ alarm: Alarm) -> String { Printable.text(alarm.title) }

  // MARK: Selections

  /// The maximum number of alarms that a hint about an ambiguous name shows.
  private static let maxMatches = 4
  /// The maximum number of alarms that a hint about an unclear selection shows.
  private static let maxCandidates = 6

  /// Returns the error of a command for words that select no alarm.
  func error(_ error: SelectionError) -> CommandError {
    switch error {
    case .mixed:
      return CommandError(
        .usage, "alarms are named and also selected by a filter.",
        hint: "Name alarms, or use +tag, a state, due: or --all.")
    case .noMatch(let words):
      return CommandError(
        .noSuchAlarm, "no alarm matches '\(Printable.text(words.joined(separator: " ")))'.",
        hint: "See 'belfry list'.")
    case .nothing(let verb, let filters, let matching): return nothing(verb, filters, matching)
    case .unclear(let verb, let candidates): return unclear(verb, candidates)
    case .misspelled(let name, let nearest):
      let error = CommandError(StoreError.noSuchAlarm(name))
      return error.with(hints: [ActionErrorText.suggestion(nearest)] + error.hints)
    case .ambiguous(let name, let matches): return ambiguous(name, matches)
    case .partOfWord(let name, let summary):
      return CommandError(
        .noSuchAlarm, "\(ActionErrorText.part(name, of: summary)), but not the start of a word.",
        hint: "Use the start of a word, or the identifier: \(summary.id.short)."
      ).needingTerminal()
    case .scheduleOrAlarm(let words, let summary):
      let words = Printable.text(words)
      return CommandError(
        .usage,
        "'\(words)' can be a schedule or the alarm \(Printable.text(summary.title)).",
        hint:
          "For the schedule, write --schedule '\(words)'. For the alarm, write \(summary.id.short)."
      )
    case .badTag(let word, let error):
      return CommandError(
        .usage, "'\(Printable.text(word))' is not a tag: \(error.reason).",
        hint: "Write it as +home.")
    }
  }

  /// Returns the question whether an alarm with a similar name is meant.
  static func suggestion(_ nearest: AlarmSummary) -> String {
    "Did you mean '\(Printable.text(nearest.title))'?"
  }

  /// Returns the filter for words that match no title, but are tags of alarms; nil if one of them is none.
  static func tags(_ words: [String], _ alarms: AlarmListing) -> String? {
    let tags = Set(alarms.summaries.flatMap(\.tags).map(\.text))
    let names = words.map { $0.first == "#" ? String($0.dropFirst()) : $0 }
    return names.allSatisfy(tags.contains) ? names.map { "+\($0)" }.joined(separator: " ") : nil
  }

  /// Returns the sentence about a name that matches only inside of a word.
  static func part(_ name: String, of summary: AlarmSummary) -> String {
    "'\(Printable.text(name))' is a part of \(Printable.text(summary.title))"
  }

  private func nothing(
    _ verb: AnswerVerb, _ filters: [String], _ matching: [AlarmSummary]
  ) -> CommandError {
    let filter = Printable.text(filters.joined(separator: " "))
    let subject = filters.isEmpty ? "nothing" : "no alarm that matches '\(filter)'"
    let next = matching.filter { $0.status.next != nil }
      .min { ($0.status.next?.at ?? .distantFuture) < ($1.status.next?.at ?? .distantFuture) }
    let hint = next.flatMap { summary in
      summary.status.next.map {
        "Next: \(Printable.text(summary.title)), \(output.when($0, zone: summary.zone))."
      }
    }
    return CommandError(
      filters.isEmpty || !matching.isEmpty ? .notPossible : .noSuchAlarm,
      matching.isEmpty && !filters.isEmpty
        ? "no alarm matches '\(filter)'." : "\(subject) is \(states(verb)).",
      hint: hint ?? "See 'belfry list'.")
  }

  private func unclear(_ verb: AnswerVerb, _ candidates: [AlarmSummary]) -> CommandError {
    let shown = candidates.prefix(Self.maxCandidates).map { summary in
      let when = summary.status.current.map { output.when($0, in: summary) }
      let state = summary.status.state.rawValue
      return "\(Printable.text(summary.title)) (\(summary.id.short)): \(state)"
        + (when.map { " since \($0)" } ?? "")
    }
    let rest = candidates.count - shown.count
    return CommandError(
      .noSuchAlarm, "\(candidates.count) alarms are \(states(verb)). Name one, or use --all.",
      hint: shown.joined(separator: "\n      ") + (rest > 0 ? "\n      and \(rest) more" : ""))
  }

  /// Returns the error for a name that several alarms match. Its hint has the identifier, the title and the next occurrence
  /// of the first ones. If all have one title, it has their notes, too.
  private func ambiguous(_ name: String, _ matches: [AlarmSummary]) -> CommandError {
    let isOneTitle = Set(matches.map(\.title)).count == 1
    let shown = matches.prefix(Self.maxMatches).map { summary in
      let note = isOneTitle ? summary.note?.split(separator: "\n").first.map { ": \($0)" } : nil
      let next = summary.status.next.map { ", \(output.when($0, zone: summary.zone))" }
      return Printable.text(summary.title + (note ?? ""))
        + " (\(summary.id.short), \(summary.badge)\(next ?? ""))"
    }
    let more = matches.count > shown.count ? ", …" : ""
    return CommandError(
      .noSuchAlarm, "'\(Printable.text(name))' could be any of \(matches.count) alarms.",
      hint: "Use more of the title, or the identifier: \(shown.joined(separator: ", "))\(more).")
  }

  /// Returns the states to which a verb applies, in a sentence.
  private func states(_ verb: AnswerVerb) -> String {
    switch verb {
    case .stop, .snooze: "ringing"
    case .done, .skip: "ringing, snoozed, pending or missed"
    case .unskip: "skipped"
    case .dismiss: "missed"
    }
  }
}

extension CommandContext {
  /// Runs a body. Errors of actions and selections become errors of the command.
  func explaining<Result>(_ body: () throws -> Result) throws -> Result {
    var text: ActionErrorText {
      ActionErrorText(
        AlarmOutput(now: storeContext.now, zones: storeContext.zones, style: style))
    }
    do {
      return try body()
    } catch let error as ActionError {
      throw text.error(error)
    } catch let error as SelectionError {
      throw text.error(error)
    }
  }

  /// Returns the selector of the alarms of a store, which asks nothing.
  func silentSelector(of store: Store) -> AlarmSelector {
    let parser = InputParser(self)
    return AlarmSelector(
      in: store, parser.context, readDate: { try parser.date($0, of: "due") },
      report: { warnings.warn(about: $0) })
  }

  /// Returns the selector of the alarms of a store. It asks on a terminal whether a name that matches only inside of a word
  /// is meant.
  func selector(of store: Store) -> AlarmSelector {
    let parser = InputParser(self)
    return AlarmSelector(
      in: store, parser.context, readDate: { try parser.date($0, of: "due") },
      confirm: { name, summary in
        guard Style.canAsk, !isQuiet else { return false }
        Console.prompt(
          "\(ActionErrorText.part(name, of: summary)) (\(summary.id.short)). Use this alarm?")
        return Console.confirmed()
      },
      report: { warnings.warn(about: $0) })
  }
}
