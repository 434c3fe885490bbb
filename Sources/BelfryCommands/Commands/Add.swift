import ArgumentParser
import BelfryCore
import BelfryInput
import BelfryStore
import BelfryTerminal
import Files

struct Add: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "add",
    abstract: "Add an alarm.",
    discussion: """
      The words after the title are the schedule. Without a time, the alarm rings at the current time of day. Without \
      a schedule, a form asks for it on a terminal. To try a schedule: belfry when "every other tue 7pm"

        belfry add "Rent" every last workday at 9am --note "Pay landlord"
        belfry add "Take pills" every day at 9:00 and 21:00 --persistent
        belfry add "Bins" every other tuesday 7pm except 2026-12-29
        belfry add "Dentist" 24 dec 18:00
        belfry add "Water filter" 90 days after done at 18:00 --tag home
        belfry add "Team call" every mon 10am berlin time
        belfry add "Passport" --annual 03-01 --at 10:00 --warn 30d,7d --on laptop
      """)

  @Argument(help: "The title, at most 200 characters.", completion: .text)
  var title: String?

  @Argument(help: "The schedule, such as: every other tue 7pm", completion: .text)
  var phrase: [String] = []

  @OptionGroup var schedule: ScheduleOptions
  @OptionGroup var delivery: DeliveryOptions

  @Option(help: "A note, at most 2,000 characters.")
  var note: String?

  @OptionGroup var tagging: TagOptions
  @OptionGroup var motion: MotionOptions
  @OptionGroup var common: CommonOptions
  @ParentCommand var root: Belfry

  func run() throws {
    let context = try common.context(root)
    try AlarmCreation.requireRoom(context, json: common.json)
    let parser = InputParser(context)
    var words = phrase
    var title = title
    var note = note
    var persistent: Bool?
    if title == nil || (words.isEmpty && !schedule.namesDates) {
      guard Style.canAsk, !common.json else {
        // Another error comes first.
        _ = try title.map { try AlarmText.title($0) }
        _ = try schedule.zone(parser)
        _ = try schedule.at.map { try parser.times($0, of: "--at") }
        throw missing
      }
      let answers = try AlarmForm(parser, title: title, note: note, isComplete: namesSchedule)
        .fill()
      title = answers.title
      note = answers.note
      if let schedule = answers.schedule { words = [schedule] }
      persistent = answers.persistent
    }
    guard let title else { throw missing }
    let draft: ScheduleDraft?
    do {
      draft = try schedule.phrase(words, parser)
    } catch let error as CommandError {
      throw error.with(hints: titleHint(title, words, parser).map { [$0] } ?? error.hints)
    }
    let tags = try tagging.changed([])
    var delivery = delivery
    if let persistent { delivery.persistent = delivery.persistent ?? persistent }
    let options = schedule
    try AlarmCreation(
      title: title, note: note, tags: tags, zone: try options.zone(parser, phrase: draft),
      delivery: delivery,
      isStill: motion.noAnimation, json: common.json,
      schedule: { try options.schedule(.init(parser: $0, phrase: words)) }
    ).run(context, parser)
  }

  private var namesSchedule: Bool { !phrase.isEmpty || schedule.namesDates }

  private var missing: CommandError {
    let shown = Printable.text(title ?? "Rent")
    return CommandError(
      .usage,
      title == nil
        ? "the title and the schedule are missing." : "\(shown) has no schedule: on which days?",
      hint: """
        Write it after the title: belfry add \(ShellWord.quoted(shown)) every mon,fri at 9am, or daily at 8:00, \
        or 24 dec 18:00, or last workday 9am.
        """)
  }

  /// Returns the hint to quote the title if the schedule starts later: `belfry add Pay rent every mon`.
  private func titleHint(_ title: String, _ words: [String], _ parser: InputParser) -> String? {
    // `every tuesdy 9am` is a schedule with an error, not a part of a title.
    guard let first = words.first, !Input.startsSchedule(first) else { return nil }
    for start in words.indices.dropFirst() {
      let rest = words[start...].joined(separator: " ")
      guard (try? Input.schedule(rest, in: parser.context)) != nil else { continue }
      let whole = ([title] + words[..<start]).joined(separator: " ")
      return "Quote a title of several words: belfry add \(ShellWord.quoted(whole)) \(rest)"
    }
    return nil
  }
}

extension ScheduleOptions {
  /// True if an option names the dates of the schedule.
  var namesDates: Bool { schedule != nil || !givenCycles.isEmpty }
}
