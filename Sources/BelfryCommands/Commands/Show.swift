import ArgumentParser
import BelfryCore
import BelfryStore
import BelfryTerminal

struct Show: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "show", abstract: "Show all details of an alarm.")

  @Argument(help: "The alarm.", completion: .alarms)
  var alarm: String

  @OptionGroup var common: CommonOptions
  @ParentCommand var root: Belfry

  /// Returns the row with the steps of the cascade, or the command that adds one.
  private func cascadeRows(
    _ alarm: Alarm, _ names: [Identifier: String]
  ) -> [(String, String)] {
    guard let plan = alarm.cascade?.plan, !plan.targets.isEmpty else {
      return [("cascade", "none; to add a step: belfry cascade add \(alarm.id.short)")]
    }
    let list = plan.targets.map { $0.label(names) }.joined(separator: " → ")
    return [("cascade", plan.isOn ? list : "off (\(list))")]
  }

  func run() throws {
    let context = try common.context(root)
    let store = try context.open(.reading)
    let summary = try context.find(self.alarm, in: store)
    guard let alarm = try store.alarm(summary.id) else { throw StoreError.noSuchAlarm(self.alarm) }
    let status = try store.status(alarm)
    let output = AlarmOutput(
      store: store, style: context.style,
      batteryWarnings: BatteryWarnings(context, store, alarm, status))
    let actions = ActionCheck(context, store)
    actions?.warn(about: alarm)
    let scheduler = context.checkScheduler(of: store)
    if common.json {
      return try Console.write(
        output.document(alarm, status, actions: actions, scheduler: scheduler))
    }
    Console.write(output.summary(AlarmSummary(alarm, status: status)))
    var rows = [
      ("identifier", alarm.id.text), ("schedule", output.times.schedule(alarm.schedule)),
      ("zone", alarm.zone.text),
      (
        "delivery",
        alarm.delivery.persistent ? "rings until answered" : "rings until the ring timeout"
      ),
    ]
    if !alarm.tags.isEmpty { rows.insert(("tags", alarm.tags.text), at: 1) }
    if alarm.delivery.strict {
      rows.append(("strict", "rings again until it is done; never completed automatically"))
    }
    if let followUps = alarm.delivery.followUps {
      rows.append(("follow-ups", followUps.description))
    }
    if let sound = alarm.delivery.sound { rows.append(("sound", sound)) }
    if let warnings = alarm.delivery.warnings { rows.append(("warnings", warnings.description)) }
    if let run = alarm.delivery.run { rows.append(("runs", run.text)) }
    if let run = alarm.delivery.runDone { rows.append(("when done", "runs \(run)")) }
    let names = store.deviceNames()
    let devices = alarm.delivery.devices.map { names[$0] ?? $0.short }.sorted()
    rows.append(
      ("rings on", devices.isEmpty ? "every device" : devices.joined(separator: ", ")))
    rows += cascadeRows(alarm, names)
    let upcoming = store.timeline(alarm).upcoming(after: context.storeContext.now).prefix(3)
    for (index, occurrence) in (alarm.enabled ? Array(upcoming) : []).enumerated() {
      rows.append((index == 0 ? "next" : "", output.when(occurrence, zone: alarm.zone.text)))
    }
    rows.append(("file", AlarmRecord.path(alarm.id)))
    Console.line("")
    for (name, value) in rows {
      Console.line(
        "  " + name + String(repeating: " ", count: 12 - name.count) + Printable.text(value))
    }
    if let note = alarm.note {
      Console.line("")
      for line in note.split(separator: "\n", omittingEmptySubsequences: false) {
        Console.line("  " + Printable.text(String(line)))
      }
    }
  }
}
