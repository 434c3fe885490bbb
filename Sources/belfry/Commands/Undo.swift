import ArgumentParser
import BelfryCore
import BelfryStore

struct Undo: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Take back the last thing that you did on this device.",
    discussion: """
      As a new commit, also after a sync; again for the one before it. What happened by itself (an alarm that
      fired, or was missed) and what was done on other devices stays, and so do the settings of this device.
      """)

  @Option(help: "Leave so many of the last things as they are, and take back the one before.")
  var skip = 0

  @OptionGroup var common: CommonOptions
  @ParentCommand var root: Belfry

  func validate() throws {
    if !(0...10_000).contains(skip) { throw ValidationError("--skip is 0 to 10000.") }
  }

  func run() throws {
    let context = try common.context(root)
    let store = try context.open()
    let undone = try store.undo(skipping: skip)
    let output = AlarmOutput(store: store, style: context.style)
    if common.json {
      return output.print(
        .object([
          "undone": .string(undone.subject),
          "alarms": .array(
            try undone.alarms.map { output.json($0, try store.status($0)) }),
          "settings": .array(undone.settings.map { .string($0.name) }),
          "devices": .array(undone.devices.map { JSON($0) }),
        ]))
    }
    let alarm = undone.alarms.count == 1 ? undone.alarms[0] : nil
    let words = try alarm.map { try state($0, undone, store, output) } ?? ""
    Console.line("Undid: \(Printable.text(undone.subject))\(words).")
  }

  /// Where the alarm, or the occurrence that it was about, stands now.
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
