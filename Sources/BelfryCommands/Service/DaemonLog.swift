import BelfryCore
import BelfryScheduler
import BelfryStore
import BelfryTerminal
import Logging

/// The daemon's log on standard error.
struct DaemonLog {
  private let context: CommandContext
  private let logger: Logger

  /// Creates a log whose lines have the context's time and zone.
  init(_ context: CommandContext) {
    self.context = context
    // The systemd journal adds the time itself.
    let time =
      context.environment["JOURNAL_STREAM"]?.isEmpty == false
      ? nil : context.storeContext.zones.text(context.storeContext.now)
    logger = Logger(label: "belfry") { _ in DaemonLogHandler(time: time) }
  }

  /// Writes the lines of an event.
  func write(_ event: DaemonLogEvent) {
    if case .warned(let warnings) = event {
      for warning in warnings {
        let hints = warning.hints.map { "\n  \(Printable.text($0))" }.joined()
        logger.log(level: .warning, "\(Printable.text(warning.message))\(hints)")
      }
      return
    }
    guard let entry = entry(event) else { return }
    logger.log(level: entry.level, "\(entry.text)")
  }

  /// Returns the level and the text of an event, or nil for one that isn't logged. The text can have several lines.
  private func entry(_ event: DaemonLogEvent) -> (level: Logger.Level, text: String)? {
    switch event {
    case .started(let alarms, let next):
      let when = next.map { "; next wake-up: \(context.storeContext.zones.text($0))" } ?? ""
      return (.info, "watching \(count(alarms))\(when).")
    case .delivered(let group, let outcome):
      switch outcome {
      case .delivered, .ongoing: return (.info, "\(verb(group)) \(name(group)).")
      case .withdrawn: return nil
      case .undelivered(let reasons):
        return (.warning, list("not delivered: \(name(group)):", reasons))
      }
    case .channelFailed(let group, let reasons):
      return (.warning, list("a channel failed: \(name(group)):", reasons))
    case .actionEnded(let notification, let action, let failure):
      let action = "the action \(Printable.text(action.text))"
      return failure.map {
        (.warning, list("\(action) failed: \(name(notification)):", [ActionText.text($0)]))
      } ?? (.info, "ran \(action): \(name(notification)).")
    case .answered(let notifications, let answer, let failure):
      let title = titles(notifications)
      if let failure {
        return (
          .warning, "the answer to \(title) could not be recorded: \(Printable.text(failure))."
        )
      }
      return (.info, "answered: \(title), \(word(answer)).")
    case .answerRefused(let notifications, let answer, let refusal):
      let title = titles(notifications)
      return (
        .warning,
        "refused the answer '\(word(answer))' to \(title): \(reason(refusal)). The notification stays."
      )
    case .answerDelayed(let notifications, let answer, let reason):
      return (
        .warning,
        "carried out '\(word(answer))' for \(titles(notifications)), but could not record it yet: \(Printable.text(reason)). The daemon retries."
      )
    case .failed(let task, let reason):
      let text = Printable.text(reason)
      let clause = text.hasSuffix(".") ? String(text.dropLast()) : text
      return (.warning, "\(name(task)) failed: \(clause). The daemon retries.")
    case .recovered(let task): return (.info, "\(name(task)) works again.")
    case .warned: return nil
    case .reloaded(let alarms): return (.info, "reloaded \(count(alarms)).")
    case .lockUnavailable(let reason):
      return (
        .warning,
        "the store cannot be locked: \(Printable.text(reason)). Belfry cannot detect a second daemon: run only one."
      )
    case .wakeupPipeFailed(let reason):
      return (
        .warning,
        "commands cannot wake the daemon: \(Printable.text(reason)). It watches the store's files instead. See 'belfry doctor'."
      )
    case .clockChanged: return (.info, "the clock was set, or the machine woke from sleep.")
    case .storeUnavailable(let path):
      return (
        .warning,
        "there is no store at \(Printable.text(path)); waiting for it. Known alarms ring from memory."
      )
    case .storeAvailable(let path):
      return (.info, "the store at \(Printable.text(path)) is back.")
    case .storeReplaced(let path, let alarms):
      return (
        .warning,
        "another store is at \(Printable.text(path)) now; changed over to it, watching \(count(alarms))."
      )
    case .remoteWatched(let name): return (.info, "watching the remote \(Printable.text(name)).")
    case .remoteWatchLost(let name):
      return (
        .info,
        "lost the connection to the remote \(Printable.text(name)); syncing at intervals until it is back."
      )
    case .soundInaudible(let state):
      return SoundText.problem(state).map {
        (.warning, "\($0.message)\n  \($0.remedy)")
      }
    case .soundAudible: return (.info, "alarms can be heard again.")
    case .stopped: return (.info, "stopped.")
    }
  }

  /// Returns a line, followed by an indented line for each reason.
  private func list(_ line: String, _ reasons: [String]) -> String {
    ([line] + reasons.map { "  \(Printable.text($0))" }).joined(separator: "\n")
  }

  private func count(_ alarms: Int) -> String { "\(alarms) alarm\(alarms == 1 ? "" : "s")" }

  /// Returns the notification's headline, with its alarm and occurrence if it has them.
  private func name(_ notification: Notification) -> String {
    let headline = NotificationText(context.times).headline(notification)
    let id = notification.content.map { " (\($0.id.alarm.short), \($0.id.occurrence))" }
    return Printable.text(headline) + (id ?? "")
  }

  /// Returns the notification's name; of several, their number and the identifiers of their alarms.
  private func name(_ group: DeliveryGroup) -> String {
    if group.others.isEmpty { return name(group.first.notification) }
    let alarms = group.deliveries.compactMap { $0.key.alarm?.short }
    return "\(count(group.count)) in one notification (\(alarms.joined(separator: ", ")))"
  }

  /// Returns the title of a notification, or the number of several.
  private func titles(_ notifications: [Notification]) -> String {
    notifications.count == 1 ? Printable.text(notifications[0].title) : count(notifications.count)
  }

  /// Returns the reason why an answer was refused, without a period.
  private func reason(_ refusal: AnswerRefusal) -> String {
    switch refusal {
    case .notAFollowUp: return "only a follow-up can be asked again"
    case .command(let message):
      let text = Printable.text(message)
      return text.hasSuffix(".") ? String(text.dropLast()) : text
    case .notPossible(let error):
      switch error {
      case .snoozeIsOff: return "snoozing is disabled"
      case .oneTime: return "it rings only once, so it has no other occurrence"
      case .notPossible(let state, _): return "the alarm is \(state.rawValue)"
      case .wrongPhase(_, let phase): return "the occurrence is \(word(phase))"
      case .nothingBefore, .tooMany, .inTheFuture: return "it is not possible"
      }
    }
  }

  private func name(_ task: DaemonTask) -> String {
    switch task {
    case .settlement: "belfry tick"
    case .sync: "belfry sync"
    case .partnerSync: "belfry partner sync"
    case .phoneSync: "belfry phone sync"
    case .calendars: "belfry calendar refresh"
    case .call(let alarm): "calling for \(alarm.short)"
    case .ledger: "recording deliveries"
    case .batterySample: "recording the battery level"
    case .batteryHistory: "recording battery warnings"
    case .wakeTimer: "waking the machine"
    }
  }

  private func verb(_ group: DeliveryGroup) -> String {
    if !group.others.isEmpty {
      switch group.first.notification {
      case .followUp: return "sent follow-ups:"
      case .advanceWarning: return "sent advance warnings:"
      default: return "rang:"
      }
    }
    return verb(group.first.notification)
  }

  private func verb(_ notification: Notification) -> String {
    switch notification {
    case .firing(_, let firing):
      firing.step.map { "rang as cascade step \($0.number):" }
        ?? (firing.isLate ? "rang late:" : "rang:")
    case .followUp: "sent a follow-up:"
    case .advanceWarning: "sent an advance warning:"
    case .missedSummary: "sent a missed summary:"
    case .batteryWarning: "sent a battery warning:"
    case .rehearsal: "rang as a test:"
    case .message: "sent a message:"
    }
  }

  private func word(_ phase: Phase) -> String {
    switch phase {
    case .skippedAhead: "skipped"
    case .autoCompleted: "completed"
    case .unknown: "too long ago"
    case .upcoming, .ringing, .snoozed, .pending, .missed, .skipped, .done: phase.rawValue
    }
  }

  private func word(_ answer: DeliveredAnswer) -> String {
    switch answer {
    case .remind: "remind"
    case .answer(.stop): "stop"
    case .answer(.snooze): "snooze"
    case .answer(.skip): "skip"
    case .answer: "done"
    }
  }
}
