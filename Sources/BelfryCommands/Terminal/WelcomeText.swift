import BelfryScheduler
import BelfryTerminal

/// The three lines that are shown once, below the result of a user's first command. The last two are also on a screen
/// without alarms.
enum WelcomeText {
  /// The state of this machine.
  struct Machine: Sendable {
    /// The state of the background service.
    enum Scheduler: Hashable, Sendable {
      /// A service, a timer or cron runs the scheduler.
      case running
      /// The service or a crontab line is installed, but nothing runs it.
      case stopped(remedy: String)
      /// Nothing is installed.
      case absent
    }
    let reach: HookDelivery.Reach
    let scheduler: Scheduler
  }

  /// Returns the lines, with an empty one before them.
  static func text(_ machine: Machine, _ style: Style) -> String {
    "\n"
      + line(
        "Welcome to Belfry.", "To answer an alarm: belfry done. All commands: belfry --help", style)
      + state(of: machine, style)
  }

  /// Returns the lines about the scheduler and the notifications.
  static func state(of machine: Machine, _ style: Style) -> String {
    line("Scheduler:", scheduler(machine.scheduler), style)
      + line("Notifications:", Printable.text(ReachText.text(machine.reach)), style)
  }

  private static func line(_ title: String, _ text: String, _ style: Style) -> String {
    let width = TextWidth.of(title) + 1
    guard let columns = style.width, width + TextWidth.of(text) > columns else {
      return "\(style.paint(title, .bold)) \(text)\n"
    }
    let wrapped = TextWidth.wrapped("\(title) \(text)", to: columns).joined(separator: "\n")
    return style.paint(title, .bold) + wrapped.dropFirst(title.count) + "\n"
  }

  private static func scheduler(_ scheduler: Machine.Scheduler) -> String {
    switch scheduler {
    case .running: "it runs, so alarms ring."
    case .stopped(let remedy):
      "it is installed, but it does not run, so no alarm rings. \(remedy)"
    case .absent: "it does not run yet, so no alarm rings: belfry service install"
    }
  }
}
