import ArgumentParser
import BelfryActions
import BelfryCore
import BelfryDocuments
import BelfryScheduler
import BelfryStore
import BelfryTerminal
import Git

struct List: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "list",
    abstract: "List the alarms, those that need a response first.",
    discussion: """
      Each alarm has one line: its state, title, badges, next occurrence and schedule. Times are this device's local times, \
      except in a schedule that names another time zone. An id follows a title that several alarms have.

      Finished alarms, which have no further occurrence and need no answer, are left out. Words select alarms: a tag, a \
      state, the time when they ring next, or parts of titles or notes.

        belfry list +home pending
        belfry list due:week
        belfry list rent pills         # both
        belfry list --format '{title}\\t{next}'
      """)

  @Argument(
    help: "+tag, a state, today, this week, december, due:DATE, or text.", completion: .selections)
  var words: [String] = []

  @Flag(help: "List only the finished alarms.")
  var finished = false

  @Flag(help: "Show a card with all details of each alarm.")
  var cards = false

  @Flag(help: "List only alarms that ring next at the same minute as another.")
  var clashes = false

  @Flag(help: "Show the id of each alarm.")
  var ids = false

  /// True if `belfry` alone was typed, on a terminal that cannot show the full screen.
  @Flag(help: .hidden)
  var start = false

  @OptionGroup var formatting: FormatOptions
  @OptionGroup var pager: PagerOptions
  @OptionGroup var motion: MotionOptions
  @OptionGroup var common: CommonOptions
  @ParentCommand var root: Belfry

  func run() throws {
    let format = try formatting.parsed(json: common.json, DocumentKeys(AlarmDocument.self))
    var context = try common.context(root)
    context.isQuiet = common.json || format != nil
    guard let store = try words.isEmpty ? context.openIfAny() : context.open(.reading) else {
      if common.json { return try Console.write([AlarmDocument]()) }
      if format != nil { return }
      return Console.write(EmptyList(context.style).text)
    }
    pager.start(context, root)
    let scheduler = context.checkScheduler(of: store)
    context.checkSound(of: store)
    let all = try context.listing(store)
    let words = AlarmFilter.readingPeriods(
      words, InputParser(context).context, isTitle: store.hasTitle)
    let filter = try context.explaining { try context.selector(of: store).filter(words) }
    // A filter for finished alarms lists them, too.
    let finished = finished || filter.terms.contains(.state(.finished))
    let shown = select(all.finished(finished), filter)
    let output = AlarmOutput(
      store: store, style: context.style,
      batteryWarnings: BatteryWarnings(context, store, shown))
    SilentDeviceWarning.print(store)
    context.warnings.warn(aboutPartnersOf: store)
    if common.json || format != nil {
      let documents = try documents(
        shown.sorted().summaries, store, output, ActionCheck(context, store), scheduler)
      return try format?.write(documents) ?? Console.write(documents)
    }
    if shown.isEmpty {
      if clashes { return Console.line("No two alarms ring next at the same minute.") }
      if words.isEmpty {
        return Console.write(
          all.isEmpty ? EmptyList(context.style).text : output.empty(finished: finished))
      }
      let text = words.joined(separator: " ")
      Console.line("No alarm matches '\(Printable.text(URLMask.masked(text)))'.")
      if let tags = ActionErrorText.tags(words, all) {
        Console.error("hint: for the tag, use 'belfry list \(tags)'.")
      } else if let nearest = context.selector(of: store).nearest(to: text), !nearest.isFinished {
        Console.error("hint: \(ActionErrorText.suggestion(nearest))")
      }
      return
    }
    if cards { return writeCards(shown.sorted().summaries, output) }
    let table = AlarmTable(output, ids: ids ? .all : .of(all.ambiguous))
    for part in table.parts(shown.sorted()) { Console.write(part) }
    if let worst = output.batteryWarnings.worst {
      Console.write(BatteryWarningText(worst, context.style).text)
    }
    if start { writeNextSteps(isUrgent: table.isUrgent(shown.sorted()), context.style) }
  }

  /// Writes a line with the commands that a user most likely types next.
  private func writeNextSteps(isUrgent: Bool, _ style: Style) {
    let steps =
      isUrgent
      ? "To answer: belfry done ALARM. Full screen: belfry ring. Help: belfry --help"
      : "To add one: belfry add TITLE WHEN. Details: belfry show ALARM. Help: belfry --help"
    let lines = TextWidth.wrapped(steps, to: style.width ?? 80)
    Console.write("\n" + lines.map { style.paint($0, .faint) + "\n" }.joined())
  }

  /// Returns the alarms that match the words and options.
  private func select(_ alarms: AlarmListing, _ filter: AlarmFilter) -> AlarmListing {
    // Without a condition, most alarms need not be decoded.
    if words.isEmpty, !clashes { return alarms }
    let matching = filter.selected(of: alarms.summaries)
    for word in filter.unmatched(in: matching) {
      CommandDiagnostic.warn("no alarm matches '\(Printable.text(word))'.")
    }
    return AlarmListing(clashes ? List.clashing(matching) : matching)
  }

  private func documents(
    _ summaries: [AlarmSummary], _ store: Store, _ output: AlarmOutput,
    _ actions: ActionCheck?, _ scheduler: SchedulerState
  ) throws -> [AlarmDocument] {
    let alarms = try store.alarms(summaries)
    return summaries.compactMap { summary in
      alarms[summary.id].map {
        output.document($0, summary.status, actions: actions, scheduler: scheduler)
      }
    }
  }

  private func writeCards(_ summaries: [AlarmSummary], _ output: AlarmOutput) {
    let parts = Chunks.map(summaries.count) { range in
      var text = ""
      for index in range {
        if index > 0 { text += "\n" }
        output.append(summaries[index], to: &text)
      }
      return [text]
    }
    for part in parts { Console.write(part) }
  }

  /// Returns the alarms whose next occurrence is at the same time as that of another.
  private static func clashing(_ summaries: [AlarmSummary]) -> [AlarmSummary] {
    let counts = Dictionary(grouping: summaries.compactMap { $0.next?.at }) { $0 }
    return summaries.filter { summary in
      summary.next.flatMap { counts[$0.at]?.count }.map { $0 > 1 } ?? false
    }
  }
}
