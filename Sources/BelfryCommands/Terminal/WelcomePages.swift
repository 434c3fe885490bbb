import BelfryScheduler
import BelfryTerminal

/// The three pages that are shown before a user's first command.
enum WelcomePages {
  static let count = 3

  /// The state of this machine, for the third page.
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

  /// Returns a page.
  ///
  /// - Parameter number: the number of the page, from 1.
  static func page(_ number: Int, machine: Machine, _ style: Style) -> String {
    switch number {
    case 1:
      sheet(
        "(o)", .yellow, "Never Forget What Matters",
        [
          "Belfry keeps alarms for long-term obligations: rent, medication, filters, certificates, taxes.",
          "Stop is not Done: on the tier plus, a stopped alarm asks again until you confirm it. Each alarm is a file in your own git repository.",
        ], style)
    case 2:
      sheet(
        "[#]", .yellow, "Weekly, Monthly, Annually",
        [
          "Alarms for any cycle: every Friday, the last day of the month, 15 March, every 90 days.",
          "An alarm on the 31st rings on the last day of shorter months. You can skip one occurrence without losing the alarm.",
        ], style)
    default:
      sheet("<!>", .green, "Stay Notified", notifications(machine), style)
    }
  }

  private static func notifications(_ machine: Machine) -> [String] {
    let reach =
      ReachText.isReachable(machine.reach)
      ? "Notifications work on this device: \(ReachText.text(machine.reach))."
      : "Notifications do not work on this device yet: \(ReachText.text(machine.reach))"
    let scheduler =
      switch machine.scheduler {
      case .running: "The scheduler runs, so alarms ring."
      case .stopped(let remedy):
        "The scheduler is installed, but it does not run, so no alarm rings. \(remedy)"
      case .absent:
        "The scheduler does not run yet, so no alarm rings. Type i to install it now, or later: belfry service install"
      }
    return [Printable.text(reach), scheduler]
  }

  private static func sheet(
    _ icon: String, _ color: Style.Color, _ title: String, _ paragraphs: [String], _ style: Style
  ) -> String {
    let columns = min(style.width ?? 80, 72)
    var text = style.paint(String(repeating: "─", count: columns), .faint) + "\n\n"
    text += "  " + style.paint(icon, color) + "  " + style.paint(title, .bold) + "\n"
    for paragraph in paragraphs {
      text += "\n"
      for line in TextWidth.wrapped(paragraph, to: columns - 4) { text += "  \(line)\n" }
    }
    return text + "\n"
  }

  /// Returns the line with the keys that a page accepts.
  static func keys(_ number: Int, machine: Machine, _ style: Style) -> String {
    if number < count { return "  [Enter] continue (\(number) of \(count)) " }
    let install = machine.scheduler == .absent ? ["[i] install the service"] : []
    let keys = ["[Enter] get started"] + install + ["[t] test notification", "[s] skip for now"]
    let line = "  " + keys.joined(separator: "   ") + " "
    return TextWidth.of(line) <= style.width ?? 80
      ? line : keys.map { "  \($0)" }.joined(separator: "\n") + " "
  }
}
