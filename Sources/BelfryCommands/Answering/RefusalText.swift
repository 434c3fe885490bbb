import BelfryCore
import BelfryTerminal

/// The error messages for answers that are not possible.
struct RefusalText {
  private let answer: Answer
  private let alarm: Alarm
  private let output: AlarmOutput

  init(_ answer: Answer, _ alarm: Alarm, _ output: AlarmOutput) {
    self.answer = answer
    self.alarm = alarm
    self.output = output
  }

  private var title: String { Printable.text(alarm.title) }
  private var id: String { alarm.id.short }

  func error(_ error: LifecycleError) -> CommandError {
    switch error {
    case .notPossible(let state, let next): notPossible(state, next: next)
    case .wrongPhase(let civil, let phase): wrongPhase(civil, phase)
    case .oneTime:
      CommandError(
        .notPossible, "\(title) rings only once, so it has no other occurrence.",
        hint: "To delete it: belfry delete \(id)")
    case .nothingBefore(let civil):
      CommandError(
        .notPossible, "\(title) has no occurrence before \(output.times.full(civil)).",
        hint: "See its occurrences: belfry next \(id)")
    case .tooMany:
      CommandError(
        .notPossible, "that would skip more than \(Answer.maxSkips) occurrences.",
        hint: "Disable the alarm instead: belfry disable \(id)")
    case .snoozeIsOff:
      CommandError(
        .notPossible, "snoozing is disabled.",
        hint: "Enable it: belfry settings set snoozeEnabled on")
    case .inTheFuture:
      CommandError(
        .usage, "that time is in the future.", hint: "Give --at a time in the past.")
    }
  }

  private func notPossible(_ state: AlarmStatus.State, next: CivilDateTime?) -> CommandError {
    let reason =
      switch (state, answer) {
      case (.disabled, _): "is disabled"
      case (_, .unskip): "has no skipped occurrence ahead"
      case (_, .dismiss): "has no missed occurrence"
      case (.active, _): "is not ringing"
      case (.paused, _): "is paused"
      case (.finished, _): "is finished"
      case (.pending, _): "is pending, not ringing"
      case (.missed, _): "was missed and no longer rings"
      case (.ringing, _), (.snoozed, _): "is \(state.rawValue)"
      }
    let comes = next.map { "next is \(output.when($0, zone: alarm.zone.text))" }
    let hint =
      switch (state, answer) {
      case (.disabled, _): "Enable it: belfry enable \(id)"
      case (.pending, .stop), (.pending, .snooze), (.missed, .stop), (.missed, .snooze):
        "When it is done: belfry done \(id)"
      case (_, .done) where next != nil:
        "\((comes ?? "").capitalizedFirst). If it is already done: belfry done \(id)\(at) --early"
      default: "\((comes ?? "it has no further occurrence").capitalizedFirst)."
      }
    return CommandError(
      .notPossible, "\(title) \(reason), so there is nothing to \(infinitive).", hint: hint)
  }

  /// The option with the time at which it was done, or an empty text.
  private var at: String {
    guard case .done(let moment?, _) = answer else { return "" }
    return " --at '\(output.times.zones.local.civil(at: moment))'"
  }

  private func wrongPhase(_ civil: CivilDateTime, _ phase: Phase) -> CommandError {
    let when = output.when(civil, zone: alarm.zone.text)
    let hint =
      switch (phase, answer) {
      case (.upcoming, .done): "If it is already done, add --early."
      case (.skippedAhead, _): "Undo the skip: belfry unskip \(id)"
      case (.unknown, _): "See 'belfry show \(id)' and 'belfry log \(id)'."
      default: "See 'belfry log \(id)'."
      }
    return CommandError(
      .notPossible, "\(title): \(when) \(phase.predicate), so there is nothing to \(infinitive).",
      hint: hint)
  }

  /// The verb of the answer.
  private var infinitive: String {
    switch answer {
    case .stop: "stop"
    case .done: "mark as done"
    case .snooze: "snooze"
    case .skip: "skip"
    case .unskip: "unskip"
    case .dismiss: "dismiss"
    }
  }
}
