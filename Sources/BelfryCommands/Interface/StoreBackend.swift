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
  private let statistics = StatisticsCache()
  private let health = DeviceHealth()
  /// True to show the time until what rings soon. Lines that are read aloud do not change each minute.
  private let hasCountdowns: Bool

  /// The observer of the store's path.
  private struct Watch {
    var changed: (@Sendable () -> Void)?
    var observer: StoreObserver?
    /// True from the start of the observation on.
    var isObserved = false
    /// True once the list was read.
    var hasRead = false
    /// True once a store was shown.
    var hadStore = false
  }

  init(_ context: CommandContext, hasCountdowns: Bool = true) {
    self.hasCountdowns = hasCountdowns
    var context = context
    context.isQuiet = true
    self.context = context
  }

  /// The context with the present time and settings.
  private var present: CommandContext { context.refreshed(after: opened) }

  private func store(_ context: CommandContext) -> Store? {
    (try? Store.existing(context.storePath, context: context.storeContext)) ?? nil
  }

  // MARK: Reading

  func list(filter: String, columns: Int) -> ListContent {
    let context = present
    let now = context.storeContext.now
    let minute = Instant(milliseconds: now.milliseconds / 60_000 * 60_000 + 60_000)
    nextChange.withLock { $0 = minute }
    let civil = context.storeContext.zones.local.civil(at: now)
    var content = ListContent(clock: context.times.time(civil.time))
    // The first frame does not wait for the observer, nor for what can be told a moment later.
    defer { observe() }
    do {
      let store = try Store.existing(context.storePath, context: context.storeContext)
      let (isFirst, hadStore) = watch.withLock { watch in
        defer { (watch.hasRead, watch.hadStore) = (true, watch.hadStore || store != nil) }
        return (!watch.hasRead, watch.hadStore)
      }
      guard let store else {
        if hadStore {
          let message = "The store is missing: \(Printable.text(context.storePath))"
          (content.placeholder, content.problems) = (message, [message])
        } else {
          content.placeholder = EmptyScreen(context, columns: columns)
            .text(isFirst: isFirst, hasStore: false)
        }
        return content
      }
      try fill(&content, filter, columns, store, context, isFirst: isFirst)
    } catch {
      let message = CommandError(error).message.capitalizedFirst
      (content.placeholder, content.problems) = (message, [message])
    }
    return content
  }

  /// - Parameter isFirst: True for the first list, which leaves out what takes long.
  private func fill(
    _ content: inout ListContent, _ filter: String, _ columns: Int, _ store: Store,
    _ context: CommandContext, isFirst: Bool
  ) throws {
    let (all, problems) = try store.listing()
    let settings = try? context.settings(store)
    content.holdsToStop = settings?.slideToStop ?? false
    content.isStill = settings?.reducedMotion ?? false
    content.ringing = all.ringing.summaries.map {
      RingingAlarm(
        id: $0.id, title: Printable.text($0.shownTitle), isDelivered: !$0.status.isUndelivered)
    }
    let words = AlarmFilter.readingPeriods(
      filter.split(separator: " ").map(String.init), InputParser(context).context,
      isTitle: store.hasTitle)
    let selector = context.silentSelector(of: store)
    let selected: AlarmFilter?
    do {
      selected = words.isEmpty ? nil : try context.explaining { try selector.filter(words) }
    } catch {
      let error = CommandError(error)
      content.placeholder = ([error.message] + error.hints).joined(separator: "\n")
      return
    }
    let isFinished = selected?.terms.contains(.state(.finished)) ?? false
    var listing = all.finished(isFinished)
    if let selected { listing = AlarmListing(selected.selected(of: listing.summaries)) }
    var ambiguous: Set<Identifier> = []
    Chunks.both(of: all.count) {
      listing = listing.sorted()
    } and: {
      ambiguous = all.ambiguous
    }
    let output = AlarmOutput(store: store, style: context.screenStyle(columns))
    let table = AlarmTable(output, ids: .of(ambiguous), hasCountdowns: hasCountdowns)
    content.rows = table.rows(listing)
    if !words.isEmpty {
      content.placeholder = "No alarm matches '\(Printable.text(filter))'."
      if listing.isEmpty, let tags = ActionErrorText.tags(words, all) {
        content.placeholder += "\nFor the tag: \(tags)"
      }
    } else if content.rows.isEmpty {
      content.placeholder = EmptyScreen(context, columns: columns)
        .text(isFirst: isFirst, hasStore: true)
    }
    if let next = all.ringingFirst(1).first, let time = next.next?.at {
      let now = context.storeContext.now
      let seconds = time.seconds(since: now)
      let wait = AlarmTable.countdown(seconds) ?? Span.until(seconds)
      content.next =
        "next \(Printable.text(TextWidth.cut(next.shownTitle, to: 24))) \(wait)"
      // The daemon reports what rings. Without one, the time does.
      nextChange.withLock { $0 = $0.map { min($0, max(time, now)) } }
    }
    if let problem = CommandWarnings.problem(of: SchedulerState(store)) {
      content.problems.append(problem.message.capitalizedFirst)
    }
    if !isFirst, let time = store.branch.timeAhead {
      content.problems.append(
        "The latest change is dated \(context.times.full(time)): compare the clocks, belfry doctor")
    }
    content.problems += problems.prefix(3).map {
      "\(Printable.text($0.path)) is not valid: see belfry doctor"
    }
  }

  func details(_ id: Identifier, columns: Int) -> [String] {
    let context = present
    guard let store = store(context), let alarm = try? store.alarm(id) else { return [] }
    do {
      return try DetailsPage(alarm, source(store, context, columns)).lines()
    } catch {
      return [CommandError(error).message]
    }
  }

  func page(_ tab: Tab, _ size: Size, month: Int) -> [PageLine] {
    let context = present
    let columns = size.columns
    let store = store(context)
    if tab == .month {
      return MonthPage(context, store, context.screenStyle(columns), size).lines(month)
    }
    guard let store else { return [PageLine("There is no store yet. The first alarm makes one.")] }
    let source = source(store, context, columns)
    do {
      switch tab {
      case .alarms, .month: return []
      case .history: return try HistoryPage(source).lines()
      case .stats: return try StatsPage(source).lines()
      case .devices: return try DevicesPage(source, findings(context)).lines()
      case .partners: return try PartnersPage(source).lines()
      case .settings: return SettingsPage(source).lines(findings(context))
      }
    } catch {
      return [PageLine(CommandError(error).message)]
    }
  }

  private func source(_ store: Store, _ context: CommandContext, _ columns: Int) -> PageSource {
    PageSource(
      store: store, context: context, columns: columns, statistics: statistics,
      changed: changed)
  }

  /// Returns the channels, the sound and the battery; nil before they are known. New findings are reported as a change.
  private func findings(_ context: CommandContext) -> DeviceHealth.Findings? {
    health.findings(context, changed: changed)
  }

  /// Reports a change of something that was read in the background.
  private var changed: @Sendable () -> Void {
    { [weak self] in self?.watch.withLock { $0.changed }?() }
  }

  // MARK: Phrases

  func preview(_ phrase: String, columns: Int) -> [String] {
    let context = present
    return AddPreview(context: context, store: store(context), style: context.screenStyle(columns))
      .lines(phrase)
  }

  func form(_ id: Identifier) -> [FormField] {
    let context = present
    return store(context).map { EditForm(store: $0, context: context).fields(id) } ?? []
  }

  func preview(edit words: [String], columns: Int) -> [String] {
    let context = present
    guard let store = store(context) else { return [] }
    return EditForm(store: store, context: context).preview(words, context.screenStyle(columns))
  }

  func completions(_ line: String) -> [String] {
    CommandLineCompletion(line, context: present)?.completions ?? []
  }

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
      return failure(error, isBulk: ids.count > 1)
    }
  }

  private func failure(_ error: any Error, isBulk: Bool) -> UIEvent.Outcome {
    let error = CommandError(error)
    let others = isBulk ? ["None of the marked alarms was changed."] : []
    let reason = ([error.message.capitalizedFirst] + error.hints).joined(separator: " ")
    return .init(lines: [reason] + others, isError: true)
  }

  func run(_ words: [String], columns: Int) -> UIEvent.Outcome {
    let result = ChildOfScreen(context, opened).run(words, columns: columns)
    if result.status == ChildOfScreen.needsTerminal { return .init(terminalCommand: words) }
    let title = words.joined(separator: " ")
    let named = naming(words)
    // Warnings, and messages about files that were written, are on standard error.
    let lines = (result.output + result.error).map(named)
    return .init(
      title: title, lines: lines.isEmpty ? ["\(title): done."] : lines,
      isError: result.status != 0)
  }

  /// Returns a function that replaces the identifiers among some words by titles: nobody types those that the keys give to
  /// a command.
  private func naming(_ words: [String]) -> (String) -> String {
    let ids = words.filter { Identifier($0) != nil }
    guard !ids.isEmpty, let store = store(present) else { return { $0 } }
    let titles = ids.compactMap { text in
      Identifier(text).flatMap { try? store.alarm($0) }.map { (text, ShellWord.quoted($0.title)) }
    }
    return { line in titles.reduce(line) { $0.replacing($1.0, with: $1.1) } }
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

  /// Observes the store's path, if nothing does. The list is read once more when changes are seen.
  private func observe() {
    let changed = watch.withLock { watch in
      let changed = watch.isObserved ? nil : watch.changed
      if changed != nil { watch.isObserved = true }
      return changed
    }
    guard let changed else { return }
    BackgroundThread.start { [weak self, context, opened, statistics] in
      let observer = try? StoreObserver(
        path: context.storePath, now: { CommandEnvironment.systemNow },
        open: {
          let context = context.present(after: opened)
          return (try? Store.existing(context.storePath, context: context.storeContext)) ?? nil
        },
        changed: {
          statistics.invalidate()
          changed()
        })
      self?.watch.withLock { ($0.observer, $0.isObserved) = (observer, observer != nil) }
      // Without an observer, another reading would try again at once.
      if observer != nil { changed() }
    }
  }

  func untilChange() -> Int {
    guard let next = nextChange.withLock({ $0 }) else { return 60_000 }
    let now = context.present(after: opened).storeContext.now
    return Int(max(50, min(60_000, next.milliseconds - now.milliseconds + 5)))
  }
}
