import ArgumentParser
import BelfryActions
import BelfryCore
import BelfryDocuments
import BelfryScheduler
import BelfryStore
import BelfryTerminal

/// The edit of the alarms that a command selects: the preview, the question, and the report about several alarms.
struct AlarmEditing {
  let store: Store
  let selection: AlarmSelector.Selection
  private let context: CommandContext
  private let options: ConfirmationOptions
  private let json: Bool

  /// True if the user may have meant several alarms, so that a document is a list.
  var isBulk: Bool { selection.isBulk }

  /// Selects the alarms of some words.
  ///
  /// - Throws: `CommandError` if no alarm is selected, or it is not clear which one.
  init(
    _ words: [String], in store: Store, _ context: CommandContext, _ options: ConfirmationOptions,
    json: Bool
  ) throws {
    self.store = store
    self.context = context
    self.options = options
    self.json = json
    selection = try context.explaining { try context.selector(of: store).selectAny(words) }
  }

  /// Returns the only alarm.
  ///
  /// - Parameter purpose: What several alarms cannot have, such as `a new title`.
  /// - Throws: `CommandError` if several alarms are selected.
  func only(for purpose: String) throws -> AlarmSummary {
    guard selection.summaries.count == 1, let summary = selection.summaries.first else {
      throw CommandError(
        .usage, "\(purpose) needs one alarm, not \(selection.summaries.count).",
        hint: "Name one alarm.")
    }
    return summary
  }

  /// Shows the changes with `--dry-run`; otherwise performs the action in one commit. Asks first on a terminal if it changes
  /// several alarms, and reports them.
  ///
  /// - Parameter scheduler: Returns the state of the scheduler for documents; nil to leave it out.
  /// - Returns: The changes; for a single alarm, the caller reports its own. Nil if nothing was done.
  func run(
    _ action: EditAlarms, scheduler: () -> SchedulerState? = { nil }
  ) throws -> [AlarmChange]? {
    if options.dryRun {
      let previews = try sorted(context.explaining { try action.preview(in: store) })
      if json {
        try write(previews, scheduler())
      } else {
        for line in lines(previews) { Console.line(line) }
        let count = previews.count { !$0.fields.isEmpty }
        Console.line("Would change \(AlarmEditing.count(count)).")
      }
      return nil
    }
    let isAsked = try isBulk && ask(action)
    let changes = try sorted(context.explaining { try action.perform(in: store) })
    guard isBulk else { return changes }
    if json {
      try write(changes, scheduler())
      return changes
    }
    if !isAsked { for line in lines(changes) { Console.line(line) } }
    for change in changes { for line in consequences(of: change) { Console.line(line) } }
    let count = changes.count { !$0.fields.isEmpty }
    Console.line(
      count == 0
        ? "Nothing has changed."
        : "Changed \(AlarmEditing.count(count)). To undo: belfry undo")
    return changes
  }

  /// Shows the changes of several alarms on a terminal, and asks for confirmation. Returns false if there is no question.
  private func ask(_ action: EditAlarms) throws -> Bool {
    guard !options.yes, !json, Style.canAsk || ChildOfScreen.isThisProcess else { return false }
    let previews = try sorted(context.explaining { try action.preview(in: store) })
    let count = previews.count { !$0.fields.isEmpty }
    guard count > 1 else { return false }
    try Confirmation(isGiven: false, json: false).require(
      "Change \(AlarmEditing.count(count))?", details: lines(previews), change: "change alarms")
    return true
  }

  private func sorted(_ changes: [AlarmChange]) -> [AlarmChange] {
    changes.sorted(byTitle: \.alarm.title, id: \.alarm.id)
  }

  /// Writes the selected alarms as documents.
  func writeAlarms() throws {
    let alarms = try store.alarms(selection.summaries)
    let output = AlarmOutput(store: store, style: context.style)
    let documents = selection.summaries.compactMap { summary in
      alarms[summary.id].map { output.document($0, summary.status) }
    }
    if isBulk { return try Console.write(documents) }
    if let document = documents.first { try Console.write(document) }
  }

  /// Writes the alarms of some changes as documents.
  func write(_ changes: [AlarmChange], _ scheduler: SchedulerState? = nil) throws {
    let output = AlarmOutput(store: store, style: context.style)
    let actions = ActionCheck(context, store)
    let documents = changes.map {
      output.document($0.alarm, $0.status, actions: actions, scheduler: scheduler)
    }
    if isBulk { return try Console.write(documents) }
    if let document = documents.first { try Console.write(document) }
  }

  // MARK: Text

  /// Returns the changed values of each alarm: `Rent  note: none → call the bank`, and the alarms that stay the same.
  private func lines(_ changes: [AlarmChange]) -> [String] {
    let names = store.deviceNames()
    var lines: [String] = []
    let changed = changes.filter { !$0.fields.isEmpty }
    let width = changed.map { TextWidth.of(title($0)) }.max() ?? 0
    for change in changed {
      guard let before = change.before else { continue }
      let values = AlarmDifference(before, change.alarm, names: names, times: context.times).values
      for (index, value) in values.enumerated() {
        let name = index == 0 ? title(change) : ""
        let padding = String(repeating: " ", count: max(0, width - TextWidth.of(name)))
        lines.append("\(name)\(padding)  \(value.text)")
      }
    }
    let same = changes.filter { $0.fields.isEmpty }.map(title)
    if !same.isEmpty { lines.append("Unchanged: \(same.joined(separator: ", "))") }
    return lines
  }

  /// Returns what an edit of the schedule has done to single occurrences, in sentences.
  func consequences(of change: AlarmChange) -> [String] {
    let output = AlarmOutput(store: store, style: context.style)
    let name = title(change)
    return change.events.compactMap { event in
      guard let civil = event.occurrence else { return nil }
      let when = output.when(civil, zone: change.alarm.zone.text)
      switch event.action {
      case .stopped: return "\(name) (\(when)) is pending until 'belfry done'."
      case .missed: return "\(name) (\(when)) no longer rings, and counts as missed."
      case .unskipped:
        return "\(name) is no longer skipped on \(when), because its schedule has changed."
      case .moved:
        guard case .move(_, let time) = event.payload else { return nil }
        let later = output.when(time, zone: change.alarm.zone.text)
        return "\(name) of \(when) still rings at its new time: \(later)."
      default: return nil
      }
    }
  }

  private func title(_ change: AlarmChange) -> String {
    Printable.text((change.before ?? change.alarm).title)
  }

  private static func count(_ number: Int) -> String { "\(number) alarm\(number == 1 ? "" : "s")" }
}
