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
      """)

  @Option(help: "Keep this number of actions and undo the one before them.")
  var skip = 0

  @OptionGroup var common: CommonOptions
  @ParentCommand var root: Belfry

  func validate() throws {
    if !(0...10_000).contains(skip) { throw ValidationError("--skip is 0 to 10000.") }
  }

  func run() throws {
    let context = try common.context(root)
    let store = try context.open(.writing)
    let undone: Undone
    do {
      undone = try UndoLastAction(skipping: skip).perform(in: store)
    } catch let error as StoreError {
      throw CommandError(error, context.times)
    }
    let output = AlarmOutput(store: store, style: context.style)
    if common.json {
      return try Console.write(
        UndoDocument(
          undone: undone.subject,
          alarms: undone.alarms.map { output.document($0, try store.status($0)) },
          settings: undone.settings.map(\.name), calendars: undone.calendars,
          devices: undone.devices.map(\.text)))
    }
    let alarm = undone.alarms.count == 1 ? undone.alarms[0] : nil
    let state = try alarm.map { try self.state($0, undone, store, output) } ?? ""
    Console.line("Undid: \(Printable.text(undone.subject))\(state).")
    for line in changes(undone, store) { Console.line("  \(line)") }
  }

  /// Returns the values that have changed, each before and after the undo.
  private func changes(_ undone: Undone, _ store: Store) -> [String] {
    var lines: [String] = []
    for (before, after) in zip(undone.earlier, undone.alarms) where undone.alarms.count == 1 {
      let today = store.timeline(after).zone.civil(at: store.context.now).date
      let values = [
        ("title", before.title, after.title),
        (
          "schedule", before.schedule.summary(today: today), after.schedule.summary(today: today)
        ),
        ("note", before.note ?? "none", after.note ?? "none"),
        ("zone", before.zone.text, after.zone.text),
      ]
      for (name, old, new) in values where old != new {
        lines.append("\(name): \(Printable.text(old)) → \(Printable.text(new))")
      }
    }
    for (setting, values) in zip(undone.settings, undone.values) {
      let standard = Settings()[keyPath: setting.value]
      lines.append(
        "\(setting.name): \(values.before ?? standard) → \(values.after ?? standard)")
    }
    return lines
  }

  /// Returns the state of the alarm, or of the occurrence that the action was about, after the undo.
  private func state(
    _ alarm: Alarm, _ undone: Undone, _ store: Store, _ output: AlarmOutput
  ) throws -> String {
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
