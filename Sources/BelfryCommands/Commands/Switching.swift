import ArgumentParser
import BelfryActions
import BelfryCore
import BelfryDocuments
import BelfryStore
import BelfryTerminal

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
    try Switching(
      isEnabling: true, common.context(root), json: common.json, isStill: motion.noAnimation
    )
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
    try Switching(isEnabling: false, common.context(root), json: common.json, isStill: true).run(
      alarms)
  }
}

/// Enables or disables alarms, and prints the result.
private struct Switching {
  private let isEnabling: Bool
  private let context: CommandContext
  private let json: Bool
  private let isStill: Bool

  init(isEnabling: Bool, _ context: CommandContext, json: Bool, isStill: Bool) {
    self.isEnabling = isEnabling
    self.context = context
    self.json = json
    self.isStill = isStill
  }

  /// Switches the alarms that are named, or that match a filter.
  func run(_ words: [String]) throws {
    let store = try context.open(.writing)
    let selection = try context.explaining { try context.selector(of: store).selectAny(words) }
    let action = isEnabling ? EditAlarms.enabling(selection.ids) : .disabling(selection.ids)
    let changes = try context.explaining { try action.perform(in: store) }
    try show(changes, isBulk: selection.isBulk, store)
  }

  private func show(_ changes: [AlarmChange], isBulk: Bool, _ store: Store) throws {
    var documents: [ActionDocument] = []
    let scheduler = isEnabling ? context.checkScheduler(of: store) : nil
    for change in changes.sorted(by: { $0.alarm.title < $1.alarm.title }) {
      let output = AlarmOutput(
        store: store, style: context.style,
        batteryWarnings: BatteryWarnings(context, store, change.alarm, change.status))
      if json {
        documents.append(
          output.document(
            change.alarm, change.status, event: Event(isEnabling ? .enabled : .disabled),
            scheduler: scheduler))
      } else {
        describe(change, output)
        context.show(output.batteryWarnings[change.alarm.id], isStill: isStill)
      }
    }
    if json { try Console.write(documents, asList: isBulk) }
  }

  private func describe(_ change: AlarmChange, _ output: AlarmOutput) {
    let title = Printable.text(change.alarm.title)
    if change.fields.isEmpty {
      return Console.line("\(title) is already \(isEnabling ? "enabled" : "disabled").")
    }
    Console.line(
      isEnabling
        ? "Enabled \(title): \(output.next(change.alarm, change.status))." : "Disabled \(title).")
    let cleared = change.occurrences(.cleared)
    guard let last = cleared.max() else { return }
    let more = cleared.count > 1 ? " and \(cleared.count - 1) more" : ""
    let when = output.when(last, zone: change.alarm.zone.text)
    Console.line("Cleared its open occurrence \(when)\(more). To undo: belfry undo")
  }
}
