import ArgumentParser
import BelfryCore
import BelfryStore

struct Enable: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "enable",
    abstract: "Enable an alarm; it rings again from now on.")

  @Argument(help: "The alarm.", completion: .disabledAlarms)
  var alarm: String

  @OptionGroup var motion: MotionOptions
  @OptionGroup var common: CommonOptions
  @ParentCommand var root: Belfry

  func run() throws {
    try setEnabled(
      true, alarm, common.context(root), json: common.json, isStill: motion.noAnimation)
  }
}

struct Disable: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "disable",
    abstract: "Disable an alarm until it is enabled again.")

  @Argument(help: "The alarm.", completion: .enabledAlarms)
  var alarm: String

  @OptionGroup var common: CommonOptions
  @ParentCommand var root: Belfry

  func run() throws {
    try setEnabled(false, alarm, common.context(root), json: common.json, isStill: true)
  }
}

private func setEnabled(
  _ enabled: Bool, _ name: String, _ context: CommandContext, json: Bool, isStill: Bool
) throws {
  let store = try context.open(.writing)
  let summary = try context.find(name, in: store)
  var cleared: [CivilDateTime] = []
  let (alarm, fields) = try store.update(summary.id) { before in
    var after = before
    after.enabled = enabled
    let (change, result) = try AlarmEdit(store).edited(
      before, after, as: enabled ? .enabled : .disabled)
    cleared = (change?.entries ?? []).filter { $0.action == .cleared }.compactMap(\.occurrence)
    return (change, result)
  }
  let status = try store.status(alarm)
  var output = AlarmOutput(
    store: store, style: context.style,
    batteryWarnings: BatteryWarnings(context, store, alarm, status))
  if enabled { output.scheduler = context.checkScheduler(of: store) }
  if json {
    return try Console.write(
      output.document(alarm, status, event: Event(enabled ? .enabled : .disabled)))
  }
  let title = Printable.text(alarm.title)
  if fields.isEmpty {
    Console.line("\(title) is already \(enabled ? "enabled" : "disabled").")
  } else {
    Console.line(
      enabled ? "Enabled \(title): \(output.next(alarm, status))." : "Disabled \(title).")
    if let last = cleared.max() {
      let more = cleared.count > 1 ? " and \(cleared.count - 1) more" : ""
      Console.line(
        "Cleared its open occurrence \(output.when(last, zone: alarm.zone.text))\(more). To undo: belfry undo"
      )
    }
  }
  context.show(output.batteryWarnings[alarm.id], isStill: isStill)
}
