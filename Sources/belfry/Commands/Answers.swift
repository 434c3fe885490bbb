import ArgumentParser
import BelfryCore
import BelfryStore

struct Stop: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Silence what rings.",
    discussion: """
      On the tiers plus and premium a stopped occurrence stays pending, and asks again, until it is done.
      On the free tier stopping it is doing it.
      """)

  @OptionGroup var options: AnswerOptions
  @OptionGroup var common: CommonOptions
  @ParentCommand var root: Belfry

  func run() throws {
    try tell(.stop, Answering(options, common.context(root)), json: common.json)
  }
}

struct Done: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Say that it is done: what rings, is snoozed, pending or missed.",
    discussion: """
        belfry done rent
        belfry done rent --at 08:15        # it was done earlier: the last 08:15, or 2026-11-23T08:15
        belfry done rent --early           # the coming one is done ahead
      """)

  @OptionGroup var options: AnswerOptions

  @Option(help: "When it was done: 08:15, 2026-11-23T08:15, or an instant (default: now).")
  var at: String?

  @Flag(help: "When nothing is open: the coming occurrence.")
  var early = false

  @OptionGroup var common: CommonOptions
  @ParentCommand var root: Belfry

  func run() throws {
    let context = try common.context(root)
    let moment = try at.map { try past($0, context.storeContext) }
    let answering = try Answering(options, context)
    if let at, let moment, CivilTime(at) != nil {
      // A time of day that is still to come today is rather a slip than one of yesterday, unless it rang then.
      let preview = try answering.preview(.done(at: moment, early: early))
      let zone = answering.store.timeline(preview.alarm).zone
      if let occurrence = preview.events.last?.occurrence, moment < zone.instant(of: occurrence),
        moment < context.storeContext.now.adding(seconds: -6 * 3600)
      {
        throw CommandError(
          .usage, "--at: the last \(at) was before it rang.",
          hint: "Name the day as well: 2026-11-23T08:15.")
      }
    }
    try tell(.done(at: moment, early: early), answering, json: common.json)
  }

  /// A moment as people write one of the past: a time of day is the latest such.
  private func past(_ text: String, _ context: StoreContext) throws -> Instant {
    if let instant = Instant(rfc3339: text) { return instant }
    let local = context.zones.local
    if let civil = CivilDateTime(text) { return local.instant(of: civil) }
    guard let time = CivilTime(text) else {
      throw CommandError(
        .usage, "--at: '\(Printable.text(text))' is not a moment.",
        hint: "Write it as 08:15, 2026-11-23T08:15 or 2026-11-23T08:15:00Z.")
    }
    let today = local.civil(at: context.now).date
    let instant = local.instant(of: CivilDateTime(today, time))
    return instant <= context.now
      ? instant : local.instant(of: CivilDateTime(today.adding(days: -1), time))
  }
}

struct Snooze: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Let what rings ring again later.",
    discussion: """
      How long: 10m, 1h, 1d, 1w; without it the settings' own, 9 minutes at first.

        belfry snooze rent 1h
      """)

  @OptionGroup var options: AnswerOptions

  @Argument(help: "How long.")
  var length: String?

  @OptionGroup var common: CommonOptions
  @ParentCommand var root: Belfry

  func run() throws {
    let seconds = try length.map { text in
      guard let seconds = Span.parse(text) else {
        throw CommandError(
          .usage, "'\(Printable.text(text))' is not a length of time.",
          hint: "Write it as 90s, 10m, 1h, 1d or 1w, up to a year.")
      }
      return seconds
    }
    let answering = try Answering(options, common.context(root))
    try tell(
      .snooze(seconds: seconds ?? answering.settings.snooze), answering, json: common.json)
  }
}

struct Dismiss: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Take note of what was missed: it is no longer shown.")

  @OptionGroup var options: AnswerOptions
  @OptionGroup var common: CommonOptions
  @ParentCommand var root: Belfry

  func run() throws {
    try tell(.dismiss, Answering(options, common.context(root)), json: common.json)
  }
}

/// Gives an answer, and says what came of it.
private func tell(_ answer: Answer, _ answering: Answering, json: Bool) throws {
  let (transition, status) = try answering.give(answer)
  guard let event = transition.events.last else { return }
  if json {
    let output = answering.output
    return output.print(output.json(transition.alarm, status, event: event))
  }
  for line in answering.words(transition, status) { Console.line(line) }
}
