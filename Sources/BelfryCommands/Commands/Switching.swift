import ArgumentParser
import BelfryCore
import BelfryStore

struct Enable: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "enable",
    abstract: "Enable alarms; they ring again from now on.")

  @Argument(help: "The alarms, or +tag or a state.", completion: .disabledAlarms)
  var alarms: [String]

  @OptionGroup var motion: MotionOptions
  @OptionGroup var common: CommonOptions
  @ParentCommand var root: Belfry

  func run() throws {
    try Switching(.enabled, common.context(root), json: common.json, isStill: motion.noAnimation)
      .run(alarms)
  }
}

struct Disable: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "disable",
    abstract: "Disable alarms until they are enabled again.")

  @Argument(help: "The alarms, or +tag, a state or due:week.", completion: .enabledAlarms)
  var alarms: [String]

  @OptionGroup var common: CommonOptions
  @ParentCommand var root: Belfry

  func run() throws {
    try Switching(.disabled, common.context(root), json: common.json, isStill: true).run(alarms)
  }
}

/// Enables or disables alarms, in one commit.
private struct Switching {
  private let action: LogEntry.Action
  private let context: CommandContext
  private let json: Bool
  private let isStill: Bool

  /// An alarm after the command.
  private struct Result {
    let alarm: Alarm
    let isChanged: Bool
    /// The open occurrences that disabling cleared.
    let cleared: [CivilDateTime]
  }

  init(_ action: LogEntry.Action, _ context: CommandContext, json: Bool, isStill: Bool) {
    self.action = action
    self.context = context
    self.json = json
    self.isStill = isStill
  }

  /// Switches the alarms that are named, or that match a filter.
  func run(_ words: [String]) throws {
    let store = try context.open(.writing)
    let summaries = try AlarmSelection.listed(words, in: store, context)
    guard !summaries.isEmpty else {
      throw CommandError(
        .noSuchAlarm, "no alarm matches '\(Printable.text(words.joined(separator: " ")))'.",
        hint: "See 'belfry list'.")
    }
    let isBulk =
      try summaries.count > 1
      || !AlarmSelection.split(words, InputParser(context), StoreSession(context), store).filters
        .isEmpty
    let results =
      summaries.count == 1
      ? try store.update(summaries[0].id) { try change([$0], store) }
      : try store.update(summaries.map(\.id)) { try change($0, store) }
    try show(results, isBulk: isBulk, store)
  }

  private func change(
    _ alarms: [Alarm], _ store: Store
  ) throws -> (Store.Change?, [Result]) {
    var results: [Result] = []
    var changes: [Store.Change] = []
    for before in alarms {
      var after = before
      after.enabled = action == .enabled
      let (change, (alarm, fields)) = try AlarmEdit(store).edited(
        before, after, as: action, stating: StatedParts(fields: [.enabled]))
      let cleared = (change?.entries ?? []).filter { $0.action == .cleared }
      results.append(
        Result(
          alarm: alarm, isChanged: !fields.isEmpty, cleared: cleared.compactMap(\.occurrence)))
      changes += [change].compactMap { $0 }
    }
    guard changes.count > 1 else { return (changes.first, results) }
    return (
      Store.Change(
        alarms: changes.flatMap(\.alarms), entries: changes.flatMap(\.entries),
        message: CommitMessage(
          "\(action.label): \(changes.count) alarms", trailers: [("Action", action.rawValue)],
          device: store.device)),
      results
    )
  }

  private func show(_ results: [Result], isBulk: Bool, _ store: Store) throws {
    var documents: [ActionDocument] = []
    let scheduler = action == .enabled ? context.checkScheduler(of: store) : nil
    for result in results.sorted(by: { $0.alarm.title < $1.alarm.title }) {
      let alarm = result.alarm
      let status = try store.status(alarm)
      var output = AlarmOutput(
        store: store, style: context.style,
        batteryWarnings: BatteryWarnings(context, store, alarm, status))
      output.scheduler = scheduler
      if json {
        documents.append(output.document(alarm, status, event: Event(action)))
      } else {
        describe(result, status, output)
        context.show(output.batteryWarnings[alarm.id], isStill: isStill)
      }
    }
    guard json else { return }
    if isBulk { return try Console.write(documents) }
    if let document = documents.first { try Console.write(document) }
  }

  private func describe(_ result: Result, _ status: AlarmStatus, _ output: AlarmOutput) {
    let title = Printable.text(result.alarm.title)
    guard result.isChanged else {
      return Console.line("\(title) is already \(action == .enabled ? "enabled" : "disabled").")
    }
    Console.line(
      action == .enabled
        ? "Enabled \(title): \(output.next(result.alarm, status))." : "Disabled \(title).")
    guard let last = result.cleared.max() else { return }
    let more = result.cleared.count > 1 ? " and \(result.cleared.count - 1) more" : ""
    let when = output.when(last, zone: result.alarm.zone.text)
    Console.line("Cleared its open occurrence \(when)\(more). To undo: belfry undo")
  }
}
