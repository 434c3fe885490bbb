import ArgumentParser
import BelfryActions
import BelfryCore
import BelfryInput
import BelfryStore
import BelfryTerminal

struct Skip: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "skip",
    abstract: "Skip an occurrence.",
    discussion: """
      Skips the occurrence that is ringing, snoozed or pending; otherwise the next one. Asks first, unless the \
      words name the occurrence.

        belfry skip              # the alarm that rings
        belfry skip filter
        belfry skip gym friday                   # the occurrence of that day
        belfry skip pills --count 3
        belfry skip pills --until 2026-12-15     # rings again on that day
      """)

  @OptionGroup var options: AnswerOptions

  @Option(help: "The number of occurrences to skip.")
  var count: Int?

  @Option(help: "Skip all occurrences before this date or time.")
  var until: String?

  @OptionGroup var confirmation: ConfirmationOptions

  @OptionGroup var common: CommonOptions
  @ParentCommand var root: Belfry

  func validate() throws {
    if let count, count < 1 { throw ValidationError("--count is at least 1.") }
    if [count != nil, until != nil, options.occurrence != nil].count(where: { $0 }) > 1 {
      throw ValidationError("--count, --until and --occurrence exclude each other.")
    }
  }

  func run() throws {
    let context = try common.context(root)
    let extent = try self.extent(InputParser(context))
    let answering = try Answering(options, for: .skip, context)
    if confirmation.dryRun { return try preview(answering.preview(.skip(extent)), answering) }
    // Who names the occurrence knows what is skipped.
    let isNamed = answering.occurrence != nil
    if !confirmation.yes, !isNamed { try confirm(answering.preview(.skip(extent)), answering) }
    if answering.isBulk { return try answering.giveAndShow(.skip(extent), json: common.json) }
    guard let change = try answering.give(.skip(extent)).first,
      let event = change.events.last(where: { $0.action == .skipped })
    else { return }
    if common.json {
      return try Console.write(
        answering.output.document(
          change.alarm, change.status, event: event, skipped: change.occurrences(.skipped)))
    }
    for line in answering.messages(change) { Console.line(line) }
    if Style.canAsk { Console.error("To undo: belfry undo") }
  }

  /// Shows what would be skipped.
  private func preview(_ previews: [AlarmChange], _ answering: Answering) throws {
    guard common.json else {
      return Console.line("Would \(Skip.change(answering.output, previews)).")
    }
    let documents = previews.compactMap { preview in
      preview.events.last.map {
        answering.output.document(
          preview.alarm, preview.status, event: $0,
          skipped: answering.isBulk ? nil : preview.occurrences(.skipped))
      }
    }
    try Console.write(documents, asList: answering.isBulk)
  }

  /// Asks for confirmation.
  private func confirm(_ previews: [AlarmChange], _ answering: Answering) throws {
    let change = Skip.change(answering.output, previews)
    let single = answering.isBulk ? nil : previews.first
    try Confirmation(isGiven: confirmation.yes, json: common.json).require(
      single.map { question($0, answering) } ?? "\(change.capitalizedFirst)?", change: change,
      alternative: Skip.hintOnMissed(previews, answering.output))
  }

  /// Returns the change of some previews: `skip Rent on Mon 23 Nov 2026, 09:00; Tea on …`.
  private static func change(_ output: AlarmOutput, _ previews: [AlarmChange]) -> String {
    let parts = previews.map { preview in
      let skipped = preview.occurrences(.skipped)
      let title = Printable.text(preview.alarm.title)
      let zone = preview.alarm.zone.text
      guard let first = skipped.first, let last = skipped.last, skipped.count > 1 else {
        return "\(title) on \(skipped.first.map { output.when($0, zone: zone) } ?? "no date")"
      }
      let dates = "\(output.when(first, zone: zone)) to \(output.when(last, zone: zone))"
      return "\(skipped.count) occurrences of \(title), \(dates)"
    }
    return "skip \(parts.joined(separator: "; "))"
  }

  private func extent(_ parser: InputParser) throws -> Answer.Skip {
    guard let until else { return .count(count ?? 1) }
    return .until(try parser.moment(until, of: "--until").civil(.future, in: parser.context))
  }

  /// Returns the question before a skip: `Skip Rent reminder for Mon 23 Nov 2026? Next occurrence: Fri 27 Nov 2026.`
  private func question(_ preview: AlarmChange, _ answering: Answering) -> String {
    let skipped = preview.occurrences(.skipped)
    let timeline = answering.store.timeline(preview.alarm)
    let next = timeline.next(after: answering.store.context.now)?.time
    // The date alone is unambiguous if there is one occurrence a day.
    let needsTime = preview.alarm.schedule.ringsSeveralTimesADay
    let times = answering.output.times
    func name(_ civil: CivilDateTime) -> String {
      needsTime ? times.full(civil) : times.date(civil.date)
    }
    let title = Printable.text(preview.alarm.title)
    let outlook = next.map { "Next occurrence: \(name($0))." } ?? "There is no later occurrence."
    guard let first = skipped.first, let last = skipped.last, skipped.count > 1 else {
      return "Skip \(title) for \(skipped.first.map(name) ?? "")? \(outlook)"
    }
    return
      "Skip \(skipped.count) occurrences of \(title), \(name(first)) to \(name(last))? \(outlook)"
  }

  /// Returns how to settle the missed occurrences instead of the next one, which a skip means; nil if none was missed.
  private static func hintOnMissed(_ previews: [AlarmChange], _ output: AlarmOutput) -> String? {
    guard previews.count == 1, let change = previews.first, let missed = change.status.missed.last,
      let skipped = change.occurrences(.skipped).first, missed < skipped
    else { return nil }
    return
      "The one of \(output.when(missed, zone: change.alarm.zone.text)) was missed. To close that instead: "
      + "belfry dismiss \(change.alarm.id.short)"
  }
}
