import ArgumentParser
import BelfryCore
import BelfryStore

struct Undo: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Take back the last thing that you did on this device.",
    discussion: """
      As a new commit, also after a sync; again for the one before it. What happened by itself (an alarm that
      fired, or was missed) and what was done on other devices stays.
      """)

  @OptionGroup var common: CommonOptions
  @ParentCommand var root: Belfry

  func run() throws {
    let context = try common.context(root)
    let store = try context.open()
    let undone = try store.undo()
    let output = AlarmOutput(store: store, style: context.style)
    if common.json {
      return output.print(
        .object([
          "undone": .string(undone.subject),
          "alarms": .array(
            try undone.alarms.map { output.json($0, try store.status($0)) }),
          "settings": .array(undone.settings.map { .string($0.name) }),
        ]))
    }
    let words =
      undone.alarms.isEmpty || undone.alarms.count > 1
      ? "" : try state(undone.alarms[0], store, output)
    Console.line("Undid: \(Printable.text(undone.subject))\(words).")
  }

  /// Where the alarm stands now.
  private func state(_ alarm: Alarm, _ store: Store, _ output: AlarmOutput) throws -> String {
    let status = try store.status(alarm)
    return switch status.state {
    case .ringing: "; it rings again"
    case .snoozed: status.snooze.map { "; it is snoozed until \(output.when($0.until))" } ?? ""
    case .pending: "; it is pending"
    case .missed: "; it counts as missed"
    case .disabled: alarm.isDeleted ? "; the alarm is deleted" : "; it is disabled"
    case .active, .finished: "; \(output.next(alarm, status))"
    }
  }
}
