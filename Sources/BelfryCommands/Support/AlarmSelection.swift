import BelfryCore
import BelfryInput
import BelfryStore

/// The alarms to which a command responds: named ones, those of a filter, all that it can apply to, or the only one.
struct AlarmSelection {
  /// The alarms, without duplicates; at least one.
  let summaries: [AlarmSummary]
  /// True if the user may have meant several, so that the output is a list.
  let isBulk: Bool

  /// A command that responds to occurrences.
  enum Verb: String {
    case stop, done, snooze, skip, unskip, dismiss

    /// Returns true if an alarm is in a state to which the command applies.
    func applies(to status: AlarmStatus) -> Bool {
      switch self {
      case .stop, .snooze: status.state == .ringing || status.state == .snoozed
      case .done, .skip: isRinging(status) || !status.pending.isEmpty || status.state == .missed
      case .unskip: !status.skipped.isEmpty
      case .dismiss: !status.missed.isEmpty
      }
    }

    /// Returns the position of an alarm among those that a name matches, the lowest first: ringing, pending, snoozed,
    /// missed; then those to which the command does not apply, and the finished ones.
    func rank(_ status: AlarmStatus) -> Int {
      if status.isFinished { return 5 }
      guard applies(to: status) else { return 4 }
      let order: [AlarmStatus.State] = [.ringing, .pending, .snoozed, .missed]
      return self == .unskip || self == .dismiss ? 0 : order.firstIndex(of: status.state) ?? 4
    }

    private func isRinging(_ status: AlarmStatus) -> Bool {
      status.state == .ringing || status.state == .snoozed
    }

    /// The states to which the command applies, in a sentence.
    fileprivate var states: String {
      switch self {
      case .stop, .snooze: "ringing"
      case .done, .skip: "ringing, snoozed, pending or missed"
      case .unskip: "skipped"
      case .dismiss: "missed"
      }
    }
  }

  /// Selects the alarms of some words. Without words, the only alarm that rings, or the only one to which the command
  /// applies.
  ///
  /// - Parameters:
  ///   - words: Names and filter words; see `AlarmFilter`.
  ///   - all: Select all alarms to which the command applies.
  /// - Throws: `CommandError` if no alarm is selected, or it is not clear which one is meant.
  init(
    _ words: [String], all: Bool, for verb: Verb, in store: Store, _ context: CommandContext
  ) throws {
    let session = StoreSession(context)
    let parser = InputParser(context)
    let (names, filters) = try AlarmSelection.split(words, parser, session, store)
    if !names.isEmpty {
      guard filters.isEmpty, !all else { throw AlarmSelection.mixed }
      if names == ["all"] || names == ["ALL"], (try? store.alarms(named: "all"))?.rule != .whole {
        throw CommandError(
          .usage, "'all' is not the name of an alarm.", hint: "For all alarms, use --all.")
      }
      summaries = try session.findAll(names, in: store) {
        try session.find($0, for: verb, in: store)
      }
      isBulk = names.count > 1
      return
    }
    let overview = try session.overview(store)
    let filter = try AlarmFilter(filters, parser)
    let matching = overview.filter { filter.matches($0) }
    let candidates = matching.filter { verb.applies(to: $0.status) }
    if candidates.isEmpty {
      throw AlarmSelection.nothing(
        verb, filters, matching, AlarmOutput(store: store, style: context.style))
    }
    if all || !filters.isEmpty {
      summaries = candidates
      isBulk = true
      return
    }
    let ringing = candidates.filter { $0.status.state == .ringing }
    guard let only = ringing.count == 1 ? ringing.first : candidates.first,
      ringing.count == 1 || candidates.count == 1
    else {
      throw AlarmSelection.unclear(
        verb, candidates, AlarmOutput(store: store, style: context.style))
    }
    summaries = [only]
    isBulk = false
  }

  /// Returns the alarms of a listing: named ones, those of a filter, or all without words.
  ///
  /// - Throws: `CommandError` if a name does not match, or names and filter words are mixed.
  static func listed(
    _ words: [String], in store: Store, _ context: CommandContext
  ) throws -> [AlarmSummary] {
    let session = StoreSession(context)
    let parser = InputParser(context)
    let (names, filters) = try split(words, parser, session, store)
    if names.isEmpty {
      let filter = try AlarmFilter(filters, parser)
      return try session.overview(store).filter { filter.matches($0) }
    }
    guard filters.isEmpty else { throw mixed }
    return try session.findAll(names, in: store) { try session.find($0, in: store) }
  }

  /// Returns the words that name alarms, and those that filter. A title that is also a filter word is a name.
  static func split(
    _ words: [String], _ parser: InputParser, _ session: StoreSession, _ store: Store
  ) throws -> (names: [String], filters: [String]) {
    var names: [String] = []
    var filters: [String] = []
    for word in words {
      let isFilter = try AlarmFilter.term(word, parser) != nil
      if isFilter, (try? store.alarms(named: word))?.rule != .whole {
        filters.append(word)
      } else {
        names.append(word)
      }
    }
    return (names, filters)
  }

  // MARK: Errors

  static var mixed: CommandError {
    CommandError(
      .usage, "alarms are named and also selected by a filter.",
      hint: "Name alarms, or use +tag, a state, due: or --all.")
  }

  private static func nothing(
    _ verb: Verb, _ filters: [String], _ matching: [AlarmSummary], _ output: AlarmOutput
  ) -> CommandError {
    let filter = Printable.text(filters.joined(separator: " "))
    let subject = filters.isEmpty ? "nothing" : "no alarm that matches '\(filter)'"
    let next = matching.filter { $0.status.next != nil }
      .min { ($0.status.next?.at ?? .distantFuture) < ($1.status.next?.at ?? .distantFuture) }
    let hint = next.flatMap { summary in
      summary.status.next.map {
        "Next: \(Printable.text(summary.title)), \(output.when($0.civil, zone: summary.zone))."
      }
    }
    return CommandError(
      filters.isEmpty || !matching.isEmpty ? .notPossible : .noSuchAlarm,
      matching.isEmpty && !filters.isEmpty
        ? "no alarm matches '\(filter)'." : "\(subject) is \(verb.states).",
      hint: hint ?? "See 'belfry list'.")
  }

  private static func unclear(
    _ verb: Verb, _ candidates: [AlarmSummary], _ output: AlarmOutput
  ) -> CommandError {
    let shown = candidates.prefix(6).map { summary in
      let when = summary.status.current.map { output.when($0, zone: summary.zone) }
      let state = summary.status.state.rawValue
      return "\(Printable.text(summary.title)) (\(summary.id.short)): \(state)"
        + (when.map { " since \($0)" } ?? "")
    }
    let more = candidates.count > 6 ? "\n      and \(candidates.count - 6) more" : ""
    return CommandError(
      .noSuchAlarm, "\(candidates.count) alarms are \(verb.states). Name one, or use --all.",
      hint: shown.joined(separator: "\n      ") + more)
  }
}
