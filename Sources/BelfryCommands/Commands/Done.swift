import ArgumentParser
import BelfryCore
import BelfryStore

struct Done: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "done",
    abstract: "Mark an occurrence as done.",
    discussion: """
      Applies to the occurrence that is ringing, snoozed, pending or missed.

        belfry done rent
        belfry done rent --at 08:15        # done earlier: at the last 08:15
        belfry done rent --early           # mark the next occurrence as done ahead of time
      """)

  @OptionGroup var options: AnswerOptions

  @Option(
    help: "The time it was done: 08:15, 2026-11-23T08:15 or 2026-11-23T08:15:00Z (default: now).")
  var at: String?

  @Flag(help: "If nothing is open, mark the next occurrence.")
  var early = false

  @OptionGroup var common: CommonOptions
  @ParentCommand var root: Belfry

  func run() throws {
    let context = try common.context(root)
    let moment = try at.map { try past($0, context.storeContext) }
    let answering = try Answering(options, context)
    if let at, let moment, CivilTime(at) != nil, !isToday(moment, context.storeContext) {
      // A time of day later than now is more likely a mistake than a time of yesterday, unless the alarm rang before.
      let preview = try answering.preview(.done(at: moment, early: early))
      let zone = answering.store.timeline(preview.alarm).zone
      if let occurrence = preview.events.last?.occurrence, moment < zone.instant(of: occurrence) {
        throw CommandError(
          .usage, "--at: \(at) is still to come today.",
          hint: "For yesterday, include the date: 2026-11-23T08:15.")
      }
    }
    try answering.giveAndShow(.done(at: moment, early: early), json: common.json)
  }

  private func isToday(_ moment: Instant, _ context: StoreContext) -> Bool {
    let local = context.zones.local
    return local.civil(at: moment).date == local.civil(at: context.now).date
  }

  /// Returns the time in the past that the text gives; a time of day is its latest occurrence.
  ///
  /// - Throws: `CommandError` if the text is not a time.
  private func past(_ text: String, _ context: StoreContext) throws -> Instant {
    if let instant = MomentText.instant(text) { return instant }
    let local = context.zones.local
    if let civil = CivilDateTime(text) { return local.instant(of: civil) }
    guard let time = CivilTime(text) else {
      throw CommandError(
        .usage, "--at: '\(Printable.text(text))' is not a time.",
        hint: "Write it as 08:15, 2026-11-23T08:15 or 2026-11-23T08:15:00Z.")
    }
    let today = local.civil(at: context.now).date
    let instant = local.instant(of: CivilDateTime(today, time))
    return instant <= context.now
      ? instant : local.instant(of: CivilDateTime(today.adding(days: -1), time))
  }
}
