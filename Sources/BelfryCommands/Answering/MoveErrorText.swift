import BelfryCore
import BelfryTerminal

/// The error messages for moves that are not possible.
struct MoveErrorText {
  private let alarm: Alarm
  private let output: AlarmOutput

  init(_ alarm: Alarm, _ output: AlarmOutput) {
    self.alarm = alarm
    self.output = output
  }

  private var title: String { Printable.text(alarm.title) }
  private var id: String { alarm.id.short }

  func error(_ error: MoveError) -> CommandError {
    switch error {
    case .notPossible(.disabled):
      CommandError(
        .notPossible, "\(title) is disabled, so there is nothing to move.",
        hint: "Enable it: belfry enable \(id)")
    case .notPossible:
      CommandError(
        .notPossible, "\(title) has no further occurrence to move.",
        hint: "Give it another time: belfry edit \(id) --once …")
    case .wrongPhase(let civil, let phase): wrongPhase(civil, phase)
    case .past(let time):
      CommandError(
        .usage, "\(when(time)) has passed.",
        hint: "Name a time in the future. If it is already done: belfry done \(id)")
    case .taken(let time):
      CommandError(
        .notPossible, "another occurrence of \(title) rings on \(when(time)).",
        hint: "Choose another minute, or skip this one: belfry skip \(id)")
    case .paused(let until):
      CommandError(
        .notPossible, "\(title) is paused until \(output.times.end(until, zone: zone)).",
        hint: "Choose a later time, or end the pause: belfry resume \(id)")
    case .unchanged(let time):
      CommandError(
        .notPossible, "\(title) rings on \(when(time)) already, so there is nothing to move.",
        hint: "Name another time.")
    }
  }

  private func wrongPhase(_ civil: CivilDateTime, _ phase: Phase) -> CommandError {
    CommandError(
      .notPossible, "\(title): \(when(civil)) \(phase.predicate), so it cannot be moved.",
      hint: "See its occurrences: belfry next \(id)")
  }

  private var zone: String { alarm.shownZone }

  private func when(_ civil: CivilDateTime) -> String { output.when(civil, zone: zone) }
}
