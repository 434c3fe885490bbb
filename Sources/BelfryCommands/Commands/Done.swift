import ArgumentParser
import BelfryCore
import BelfryInput
import BelfryStore
import BelfryTerminal

struct Done: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "done",
    abstract: "Mark an occurrence as done.",
    discussion: """
      Applies to the occurrence that is ringing, snoozed, pending or missed.

        belfry done rent
        belfry done                    # the alarm that rings, or the only pending one
        belfry done +morning           # all open alarms with the tag
        belfry done rent --at 08:15    # done earlier: at the last 08:15
        belfry done gym yesterday      # the occurrence of yesterday
        belfry done rent --early       # the next occurrence, ahead of time
      """)

  @OptionGroup var options: AnswerOptions

  @Option(
    help: "When it was done: 8:15, \"yesterday 8:15\", \"20 min ago\", \"3 nov\" (default: now).")
  var at: String?

  @Flag(help: "If nothing is open, mark the next occurrence.")
  var early = false

  @OptionGroup var common: CommonOptions
  @ParentCommand var root: Belfry

  func run() throws {
    let context = try common.context(root)
    let parser = InputParser(context)
    var (at, options) = (at, options)
    if at == nil, let given = try timed(context) { (options, at) = (given.options, given.words) }
    let named = try at.map { try parser.moment($0, .past, of: "--at") }
    var moment = named?.instant(.past, in: parser.context)
    let answering = try Answering(
      options, for: .done, context, direction: early ? .future : .past)
    if case .date(let date)? = named {
      moment = try time(on: date, answering, context.storeContext)
    }
    if let at, case .time? = named, let moment, !isToday(moment, context.storeContext) {
      // A time of day later than now is more likely a mistake than a time of yesterday, unless the alarm rang before.
      for preview in try answering.preview(.done(at: moment, early: early)) {
        let timeline = answering.store.timeline(preview.alarm)
        if let occurrence = preview.events.last?.occurrence,
          moment < timeline.occurrence(occurrence).at
        {
          throw CommandError(
            .usage, "--at: \(Printable.text(at)) is still to come today.",
            hint: "For yesterday, write 'yesterday \(Printable.text(at))'.")
        }
      }
    }
    try answering.giveAndShow(.done(at: moment, early: early), json: common.json)
  }

  /// Returns the options and the time of `done gym at 8:15` or `done gym 20 min ago`; nil without a time.
  private func timed(
    _ context: CommandContext
  ) throws -> (options: AnswerOptions, words: String)? {
    let input = InputParser(context).context
    func isTime(_ words: String) -> Bool {
      switch try? Input.moment(words, .past, in: input) {
      case nil, .date?: false
      default: true
      }
    }
    // `on 10 october` is a completion, and `10 october` rather an occurrence.
    func isDate(_ words: String) -> Bool {
      guard words.lowercased().hasPrefix("on "),
        case .date? = try? Input.moment(words, .past, in: input)
      else { return false }
      return true
    }
    let given = options.separating(nil, isTime) ?? options.separating(nil, isDate)
    // Without a time, the alarms are not looked up twice.
    guard let given else { return nil }
    let whole = options.alarms.joined(separator: " ")
    if let store = context.existing, store.hasTitle(whole) { return nil }
    let marked = given.words.lowercased()
    if marked.hasPrefix("at ") || marked.hasPrefix("on ") || marked.hasSuffix(" ago") {
      return given
    }
    do {
      _ = try Answering(options, for: .done, context)
      return nil
    } catch {
      return CommandError.missingAlarm(error).flatMap { options.separating($0, isTime) }
    }
  }

  /// Returns the time of a completion of which only the date is known: the time of day at which the occurrence was due,
  /// or noon for several; at the latest now.
  private func time(
    on date: CivilDate, _ answering: Answering, _ context: StoreContext
  ) throws -> Instant {
    let noon = context.zones.local.instant(of: CivilDateTime(date, .noon))
    // A later date is refused as any other time in the future.
    if date > context.zones.local.civil(at: context.now).date { return noon }
    let due = try answering.preview(.done(at: min(noon, context.now), early: early))
      .compactMap { preview in
        preview.events.last?.occurrence.map { civil in
          let timeline = answering.store.timeline(preview.alarm)
          return timeline.zone.instant(
            of: CivilDateTime(date, timeline.occurrence(civil).time.time))
        }
      }
    return min(due.count == 1 ? due[0] : noon, context.now)
  }

  private func isToday(_ moment: Instant, _ context: StoreContext) -> Bool {
    let local = context.zones.local
    return local.civil(at: moment).date == local.civil(at: context.now).date
  }
}
