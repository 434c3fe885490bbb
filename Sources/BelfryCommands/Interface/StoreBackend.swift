import BelfryActions
import BelfryCore
import BelfryInput
import BelfryScheduler
import BelfryStore
import BelfryTerminal
import BelfryUI
import Files
import Glibc
import Synchronization

/// The full screen's access to the store: reads what it shows with the texts of the commands, and performs actions.
///
/// Answers are performed here. Other changes run as commands of their own, with the words that a person would type.
final class StoreBackend: UIBackend {
  private let context: CommandContext
  private let opened = ElapsedTime()
  /// The time at which something on the screen changes by itself.
  private let nextChange = Mutex<Instant?>(nil)
  private let watch = Mutex(Watch())

  /// The observer of the store's path.
  private struct Watch {
    var changed: (@Sendable () -> Void)?
    var observer: StoreObserver?
    /// True once a store was shown.
    var hadStore = false
  }

  init(_ context: CommandContext) {
    var context = context
    context.isQuiet = true
    self.context = context
  }

  /// The context with the present time and settings.
  private var present: CommandContext { context.refreshed(after: opened) }

  private func store(_ context: CommandContext) -> Store? {
    (try? Store.existing(context.storePath, context: context.storeContext)) ?? nil
  }

  private func style(_ columns: Int, _ context: CommandContext) -> Style {
    Style(isColored: true, width: columns, timeFormat: context.style.timeFormat)
  }

  // MARK: Reading

  /// The text of a store without alarms.
  private static let empty = """
    No alarms yet. Press a and type one:
      Rent every month on the 1st at 9am

    The alarms of another device: quit, then belfry clone URL
    """

  func list(filter: String, columns: Int) -> ListContent {
    let context = present
    let now = context.storeContext.now
    let minute = Instant(milliseconds: now.milliseconds / 60_000 * 60_000 + 60_000)
    nextChange.withLock { $0 = minute }
    let civil = context.storeContext.zones.local.civil(at: now)
    var content = ListContent(clock: context.times.time(civil.time))
    observe()
    do {
      guard let store = try Store.existing(context.storePath, context: context.storeContext) else {
        content.placeholder = StoreBackend.empty
        if watch.withLock({ $0.hadStore }) {
          let message = "The store is missing: \(Printable.text(context.storePath))"
          (content.placeholder, content.problems) = (message, [message])
        }
        return content
      }
      watch.withLock { $0.hadStore = true }
      try fill(&content, filter, columns, store, context)
    } catch {
      let message = CommandError(error).message.capitalizedFirst
      (content.placeholder, content.problems) = (message, [message])
    }
    return content
  }

  private func fill(
    _ content: inout ListContent, _ filter: String, _ columns: Int, _ store: Store,
    _ context: CommandContext
  ) throws {
    let (all, problems) = try store.listing()
    let settings = try? context.settings(store)
    content.holdsToStop = settings?.slideToStop ?? false
    content.isStill = settings?.reducedMotion ?? false
    let words = AlarmFilter.readingPeriods(
      filter.split(separator: " ").map(String.init), InputParser(context).context,
      isTitle: store.hasTitle)
    let selector = context.silentSelector(of: store)
    let selected = words.isEmpty ? nil : try? selector.filter(words)
    let isFinished = selected?.terms.contains(.state(.finished)) ?? false
    var listing = all.finished(isFinished)
    if let selected { listing = AlarmListing(selected.selected(of: listing.summaries)) }
    listing = listing.sorted()
    let output = AlarmOutput(store: store, style: style(columns, context))
    content.rows = AlarmTable(output, ids: .of(all.ambiguous)).rows(listing).map(StoreBackend.row)
    content.placeholder =
      words.isEmpty
      ? StoreBackend.empty
      : "No alarm matches '\(Printable.text(filter))'."
    if let next = all.ringingFirst(1).first, let time = next.next?.at {
      let now = context.storeContext.now
      content.next =
        "next \(Printable.text(TextWidth.cut(next.shownTitle, to: 24))) \(Span.until(time.seconds(since: now)))"
      // The daemon reports what rings. Without one, the time does.
      nextChange.withLock { $0 = $0.map { min($0, max(time, now)) } }
    }
    if let problem = CommandWarnings.problem(of: SchedulerState(store)) {
      content.problems.append(problem.message.capitalizedFirst)
    }
    if let time = store.branch.timeAhead {
      content.problems.append(
        "The latest change is dated \(context.times.full(time)): compare the clocks, belfry doctor")
    }
    content.problems += problems.prefix(3).map {
      "\(Printable.text($0.path)) is not valid: see belfry doctor"
    }
  }

  private static func row(_ row: AlarmTable.Row) -> ListRow {
    switch row {
    case .heading(let text): .heading(text)
    case .alarm(let summary, let line):
      .alarm(
        AlarmRow(
          id: summary.id, title: Printable.text(summary.shownTitle), state: summary.state,
          line: line))
    }
  }

  func details(_ id: Identifier, columns: Int) -> [String] {
    let context = present
    guard let store = store(context), let alarm = try? store.alarm(id) else { return [] }
    let style = style(columns, context)
    do {
      let card = try AlarmCard(alarm, in: store, context, style)
      let text = card.text(store.deviceNames(), in: store, later: StoreBackend.laterDates)
      var lines = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
      if lines.last == "" { lines.removeLast() }
      let log = LogText(store, context, style)
      let entries = LogLines(NewestFirst(store.history.log(of: id))).prefix(
        StoreBackend.lastEntries)
      let rows = entries.map { entries in
        let day = log.day(entries).map { context.times.shortDate($0) } ?? ""
        return "  " + style.paint(TextWidth.padded(day, to: 8), .faint)
          + log.row(entries).drop { $0 == " " }
      }
      if !rows.isEmpty { lines += ["", "  " + style.paint("last entries", .faint)] + rows }
      return lines
    } catch {
      return [CommandError(error).message]
    }
  }

  /// The number of dates in the details after the next one.
  private static let laterDates = 4
  /// The number of entries of the log in the details.
  private static let lastEntries = 6

  func page(_ tab: Tab, columns: Int, month: Int) -> [PageLine] {
    switch tab {
    case .alarms: return []
    case .month: return self.month(month, columns).map { PageLine($0) }
    case .history: return history(columns)
    case .stats: return output(["stats"], columns)
    case .devices: return output(["status"], columns)
    case .partners: return output(["partner", "list"], columns)
    case .settings: return output(["settings"], columns)
    }
  }

  private func month(_ offset: Int, _ columns: Int) -> [String] {
    let context = present
    let zones = context.storeContext.zones
    let now = context.storeContext.now
    let today = zones.local.civil(at: now).date
    let months = today.year * 12 + today.month - 1 + offset
    guard (12..<120_000).contains(months) else { return ["Belfry knows the years 1 to 9999."] }
    let first = CivilDate(year: months / 12, month: months % 12 + 1, day: 1)
    let period = CalendarPeriod(.month, containing: first)
    var agenda = AgendaBuilder(period.dates, zone: zones.local, now: now).agenda
    if let store = store(context) {
      let reading = ReadAgenda(period.dates)
      do {
        agenda = try reading.perform(in: store, reading.select(store.overview().summaries))
      } catch {
        return [CommandError(error).message]
      }
    }
    return AgendaText(agenda, context.times, style(columns, context), width: columns).lines(period)
  }

  private func output(_ words: [String], _ columns: Int) -> [PageLine] {
    let result = ChildOfScreen(context, opened).run(words, columns: columns)
    return (result.output + result.error).map { PageLine($0) }
  }

  /// Returns the latest commits, grouped by day. Each can be opened as a difference.
  private func history(_ columns: Int) -> [PageLine] {
    guard store(present) != nil else { return [PageLine("Nothing has happened yet.")] }
    let format = ["%h", "%cd", "%an", "%s"].joined(separator: "%x1f")
    let result = ChildOfScreen(context, opened).run(
      [
        "git", "--", "log", "-n", "\(StoreBackend.maxCommits)", "--no-color",
        "--date=format-local:%Y-%m-%d %H:%M", "--format=\(format)",
      ], columns: columns)
    if result.status != 0 { return result.error.map { PageLine($0) } }
    let (style, times) = (style(columns, present), present.times)
    var lines: [PageLine] = []
    var last: String?
    for row in result.output {
      let fields = row.split(separator: "\u{1F}", omittingEmptySubsequences: false).map(String.init)
      guard fields.count == 4 else { continue }
      let (day, clock) = (String(fields[1].prefix(10)), String(fields[1].suffix(5)))
      if day != last {
        lines.append(PageLine(style.paint(CivilDate(day).map { times.date($0) } ?? day, .bold)))
      }
      last = day
      let by = "  \(Printable.text(fields[2]))  \(fields[0])"
      let room = max(8, columns - 9 - TextWidth.of(by))
      let subject = TextWidth.padded(
        TextWidth.cut(Printable.text(fields[3]), to: room), to: room)
      let time = CivilTime(clock).map { times.time($0) } ?? clock
      lines.append(
        PageLine(
          "  \(time)  \(subject)" + style.paint(by, .faint),
          command: [
            "git", "--", "show", "--stat", "-p", "--color=always",
            "--date=format-local:%Y-%m-%d %H:%M", fields[0],
          ]))
    }
    return lines
  }

  /// The number of commits in the history.
  private static let maxCommits = 500

  // MARK: Phrases

  func preview(_ phrase: String, columns: Int) -> [String] {
    let context = present
    var parser = InputParser(context)
    if let calendar = context.workCalendar {
      parser = parser.with(zone: parser.context.zone, calendar: calendar)
    }
    let words = phrase.split(separator: " ").map(String.init)
    let style = style(columns, context)
    do {
      let line = try Input.line(words, in: parser.context)
      if line.title.isEmpty { return [style.paint("Begin with the title.", .faint)] }
      if line.schedule.isEmpty {
        return [
          style.paint(
            "\(Printable.text(line.title)): on which days? every mon at 9am, 24 dec 18:00", .faint)
        ]
      }
      let draft = try Input.schedule(line.schedule, in: parser.context)
      let schedule = try draft.schedule(in: parser.context.with(zoneOf: draft))
      return dates(line, schedule, draft.zone, style, context)
    } catch {
      let failure =
        (error as? InputError).map { InputErrorText($0, phrase, .schedule, nil).commandError }
        ?? CommandError(error)
      return [style.paint(failure.message, .yellow)] + failure.hints.map { style.paint($0, .faint) }
    }
  }

  private func dates(
    _ line: InputLine, _ schedule: Schedule, _ zone: String?, _ style: Style,
    _ context: CommandContext
  ) -> [String] {
    let action = CreateAlarm(title: line.title, zone: zone.map { .named($0) }) { _, _ in schedule }
    let title = Printable.text(line.title) + line.tags.map { " +\(Printable.text($0))" }.joined()
    guard let store = store(context) else {
      return [style.paint(title, .bold) + "  " + context.times.schedule(schedule, zone: zone ?? "")]
    }
    do {
      let change = try action.preview(in: store, settings: try context.settings(store)).change
      let output = AlarmOutput(store: store, style: style)
      let next = store.timeline(change.alarm).upcoming(after: context.storeContext.now).prefix(3)
        .map { output.when($0, zone: change.alarm.zone.text) }
      return [
        style.paint(title, .bold) + "  "
          + context.times.schedule(schedule, zone: change.alarm.zone.text),
        style.paint(next.isEmpty ? "no future date" : next.joined(separator: "; "), .faint),
      ]
    } catch {
      return [style.paint(CommandError(error).message, .yellow)]
    }
  }

  func form(_ id: Identifier) -> [FormField] {
    let context = present
    return store(context).map { EditForm(store: $0, context: context).fields(id) } ?? []
  }

  func preview(edit words: [String], columns: Int) -> [String] {
    let context = present
    guard let store = store(context) else { return [] }
    return EditForm(store: store, context: context).preview(words, style(columns, context))
  }

  func completions(_ line: String) -> [String] {
    let words = line.split(separator: " ", omittingEmptySubsequences: false).map(String.init)
    guard let last = words.last, !line.isEmpty else { return [] }
    let known: [String]
    if words.count == 1 {
      known = Belfry.configuration.groupedSubcommands.flatMap(\.subcommands)
        .filter { $0.configuration.shouldDisplay }.compactMap { $0._commandName }
    } else {
      let summaries = store(present).flatMap { try? $0.overview().summaries } ?? []
      known = summaries.map { ShellWord.quoted($0.title) }
    }
    return Array(
      known.filter { $0.lowercased().hasPrefix(last.lowercased()) }.sorted().prefix(
        StoreBackend.maxCompletions))
  }

  private static let maxCompletions = 12

  // MARK: Actions

  func answer(_ answer: UIAnswer, _ ids: [Identifier]) -> UIEvent.Outcome {
    let context = present
    do {
      let store = try context.open(.writing, welcome: false)
      let settings = try context.settings(store)
      let answering = Answering(
        ids, nil, isBulk: ids.count > 1, in: store, settings: settings, context)
      let given: Answer =
        switch answer {
        case .done: .done()
        case .stop: .stop
        case .snooze: .snooze(seconds: settings.snooze)
        case .skip: .skip()
        }
      let changes = try answering.give(given)
      context.runDoneActions(after: changes)
      if changes.count > 1 {
        return .init(lines: ["\(answer.rawValue.capitalizedFirst): \(changes.count) alarms."])
      }
      return .init(lines: changes.flatMap(answering.messages))
    } catch {
      return failure(error)
    }
  }

  private func failure(_ error: any Error) -> UIEvent.Outcome {
    let error = CommandError(error)
    return .init(lines: ["\(error.message.capitalizedFirst) \(error.hint ?? "")"], isError: true)
  }

  func run(_ words: [String], columns: Int) -> UIEvent.Outcome {
    let result = ChildOfScreen(context, opened).run(words, columns: columns)
    if result.status == ChildOfScreen.needsTerminal { return .init(terminalCommand: words) }
    let title = words.joined(separator: " ")
    // Warnings, and messages about files that were written, are on standard error.
    let lines = result.output + result.error
    return .init(
      title: title, lines: lines.isEmpty ? ["\(title): done."] : lines,
      isError: result.status != 0)
  }

  func runOnTerminal(_ words: [String]) -> UIEvent.Outcome? {
    let isScreen = words.first == "ring"
    let status = ChildOfScreen(context, opened).runOnTerminal(words, waitsAfterwards: !isScreen)
    guard status != 0, isScreen else { return nil }
    return .init(lines: ["Nothing rings."], isError: true)
  }

  func editFile(_ id: Identifier) -> UIEvent.Outcome? {
    let path = "\(context.storePath)/\(AlarmRecord.path(id))"
    let editor = context.environment["VISUAL"] ?? context.environment["EDITOR"] ?? "vi"
    ChildOfScreen(context, opened).edit(path, with: editor)
    // A command imports the edit, and reports a record that is not valid.
    let result = ChildOfScreen(context, opened).run(["show", id.text], columns: 200)
    return result.error.isEmpty ? nil : .init(title: "edit", lines: result.error, isError: true)
  }

  // MARK: Changes

  func watch(_ changed: @escaping @Sendable () -> Void) { watch.withLock { $0.changed = changed } }

  /// Observes the store's path before the first reading, so that no change is missed.
  private func observe() {
    let (changed, isObserved) = watch.withLock { ($0.changed, $0.observer != nil) }
    guard let changed, !isObserved else { return }
    let observer = try? StoreObserver(
      path: context.storePath, now: { CommandEnvironment.systemNow },
      open: { [context, opened] in
        let context = context.present(after: opened)
        return (try? Store.existing(context.storePath, context: context.storeContext)) ?? nil
      }, changed: changed)
    watch.withLock { $0.observer = observer }
  }

  func untilChange() -> Int {
    guard let next = nextChange.withLock({ $0 }) else { return 60_000 }
    let now = context.present(after: opened).storeContext.now
    return Int(max(50, min(60_000, next.milliseconds - now.milliseconds + 5)))
  }
}
