import ArgumentParser
import BelfryActions
import BelfryCore
import BelfryDocuments
import BelfryStore
import BelfryTerminal

struct Undo: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "undo",
    abstract: "Undo your last action on this device.",
    discussion: """
      Undo is a new commit and also works after a sync. Repeat it to undo the action before. Automatic changes (an alarm \
      that fired or was missed), actions on other devices and settings of this device are not undone.

        belfry undo                # the latest action
        belfry undo --list         # the latest actions with their numbers
        belfry undo 3              # only the third one
        belfry redo                # take back the undo
      """)

  @Argument(help: "The number of the action in the list (default: 1, the latest).")
  var number: Int?

  @Flag(help: "List your latest actions with their numbers.")
  var list = false

  @Option(help: "The maximum number of listed actions.")
  var count = 10

  @Option(help: "Keep this number of actions and undo the one before them.")
  var skip: Int?

  @OptionGroup var common: CommonOptions
  @ParentCommand var root: Belfry

  func validate() throws {
    if let skip, !(0...10_000).contains(skip) { throw ValidationError("--skip is 0 to 10000.") }
    if let number, !(1...10_000).contains(number) {
      throw ValidationError("The number of an action is 1 to 10000.")
    }
    guard (1...1000).contains(count) else { throw ValidationError("--count is 1 to 1000.") }
    if number != nil, skip != nil || list {
      throw ValidationError("A number cannot be combined with --skip or --list.")
    }
  }

  func run() throws {
    let context = try common.context(root)
    if list { return try show(context.open(.reading), context) }
    let store = try context.open(.writing)
    let undone: Undone
    do {
      undone = try UndoLastAction(skipping: skip ?? number.map { $0 - 1 } ?? 0).perform(in: store)
    } catch let error as StoreError {
      if let number, case .nothingToUndo = error {
        throw CommandError(
          .notPossible, "there is no action \(number).", hint: "See 'belfry undo --list'.")
      }
      throw CommandError(error, context.times)
    }
    try UndoReport(store, context, json: common.json).show(undone, isRedo: false)
  }

  /// Lists the actions.
  private func show(_ store: Store, _ context: CommandContext) throws {
    let actions = try store.history.userActions(count: count)
    if common.json {
      return try Console.write(
        actions.enumerated().map { index, action in
          UserActionDocument(
            number: index + 1, action: action.subject,
            at: context.storeContext.zones.text(action.acted),
            isUndoable: action.isUndoable)
        })
    }
    if actions.isEmpty {
      return Console.line("You have done nothing on this device that is not undone.")
    }
    let width = "\(actions.count)".count
    for (index, action) in actions.enumerated() {
      let number = "\(index + 1)"
      let padding = String(repeating: " ", count: width - number.count)
      let note = action.isUndoable ? "" : " (cannot be undone)"
      let subject = context.times.subject(action.subject, action.occurrence)
      Console.line(
        "\(padding)\(number)  \(context.times.moment(action.acted))  \(Printable.text(subject))\(note)"
      )
    }
  }
}

struct Redo: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "redo",
    abstract: "Take back your last undo on this device.",
    discussion: """
      Redo is a new commit. Repeat it to take back the undo before. After another action there is nothing to redo.

        belfry redo
      """)

  @OptionGroup var common: CommonOptions
  @ParentCommand var root: Belfry

  func run() throws {
    let context = try common.context(root)
    let store = try context.open(.writing)
    let redone: Undone
    do {
      redone = try RedoLastUndo().perform(in: store)
    } catch let error as StoreError {
      throw CommandError(error, context.times)
    }
    try UndoReport(store, context, json: common.json).show(redone, isRedo: true)
  }
}

/// The report about an action that was undone or redone.
private struct UndoReport {
  private let store: Store
  private let output: AlarmOutput
  private let json: Bool

  init(_ store: Store, _ context: CommandContext, json: Bool) {
    self.store = store
    self.json = json
    output = AlarmOutput(store: store, style: context.style)
  }

  func show(_ undone: Undone, isRedo: Bool) throws {
    if json {
      return try Console.write(
        UndoDocument(
          undone: isRedo ? nil : undone.subject, redone: isRedo ? undone.subject : nil,
          alarms: undone.alarms.map { output.document($0, try store.status($0)) },
          settings: undone.settings.map(\.name), calendars: undone.calendars,
          devices: undone.devices.map(\.text)))
    }
    let alarm = undone.alarms.count == 1 ? undone.alarms[0] : nil
    let state = try alarm.map { try self.state($0, undone) } ?? ""
    let subject = output.times.subject(undone.subject, undone.occurrence)
    Console.line("\(isRedo ? "Redid" : "Undid"): \(Printable.text(subject))\(state).")
    for line in changes(undone) { Console.line("  \(line)") }
  }

  /// Returns the values that have changed, each before and after the undo.
  private func changes(_ undone: Undone) -> [String] {
    var lines: [String] = []
    for (before, after) in zip(undone.earlier, undone.alarms) where undone.alarms.count == 1 {
      let difference = AlarmDifference(
        before, after, names: store.deviceNames(), times: output.times)
      lines += difference.values.map(\.text)
    }
    for (setting, values) in zip(undone.settings, undone.values) {
      let standard = Settings()[keyPath: setting.value]
      lines.append(
        "\(setting.name): \(values.before ?? standard) → \(values.after ?? standard)")
    }
    return lines
  }

  /// Returns the state of the alarm, or of the occurrence that the action was about, after the undo.
  private func state(_ alarm: Alarm, _ undone: Undone) throws -> String {
    let status = try store.status(alarm)
    if status.state == .disabled {
      return alarm.isDeleted ? "; the alarm is deleted" : "; it is disabled"
    }
    let phase = (undone.occurrence ?? status.current).map {
      store.timeline(alarm).phase(of: $0, at: store.context.now, status: status)
    }
    return switch phase {
    case .ringing: undone.rangBefore ? "; it rings" : "; it rings again"
    case .snoozed: status.snooze.map { "; it is snoozed until \(output.when($0.until))" } ?? ""
    case .pending: "; it is pending"
    case .missed: "; it counts as missed"
    default: "; \(output.next(alarm, status))"
    }
  }
}
