import BelfryScheduler

/// The three pages that greet a person whose first command it is.
enum WelcomePages {
  static let count = 3

  /// What the third page knows of this machine.
  struct Machine: Sendable {
    let reach: HookDelivery.Reach
    /// Whether a service, a timer or a crontab looks at the clock.
    let isTicking: Bool
  }

  /// - Parameter number: from 1.
  static func page(_ number: Int, machine: Machine, _ style: Style) -> String {
    switch number {
    case 1:
      sheet(
        "(o)", .yellow, "Never Forget What Matters",
        [
          "Belfry keeps the alarms of your long-term obligations: rent, medication, filters, certificates, taxes.",
          "Stop is not done: on the tier plus, what you stop asks again until you confirm it. Each alarm is a file in a git repository of yours.",
        ], style)
    case 2:
      sheet(
        "[#]", .yellow, "Weekly, Monthly, Annually",
        [
          "Alarms for cycles that calendars forget: every Friday, the last day of the month, 15 March, every 90 days.",
          "A month without a 31st has its last day instead. One occurrence can be skipped without losing the alarm.",
        ], style)
    default:
      sheet("<!>", .green, "Stay Notified", notifications(machine), style)
    }
  }

  private static func notifications(_ machine: Machine) -> [String] {
    let reach =
      switch machine.reach {
      case .reachable(let words, _): "You can be reached here: \(words)."
      case .unreachable(let words): "You cannot be reached here yet: \(words)"
      }
    let clock =
      machine.isTicking
      ? "Something looks at the clock, so alarms ring: good."
      : "Nothing looks at the clock yet, so nothing rings. This sees to it: belfry service install"
    return [Printable.text(reach), clock]
  }

  private static func sheet(
    _ icon: String, _ colour: Style.Colour, _ title: String, _ paragraphs: [String], _ style: Style
  ) -> String {
    let columns = min(style.width ?? 80, 72)
    var text = style.paint(String(repeating: "─", count: columns), .faint) + "\n\n"
    text += "  " + style.paint(icon, colour) + "  " + style.paint(title, .bold) + "\n"
    for paragraph in paragraphs {
      text += "\n"
      for line in TextWidth.wrapped(paragraph, to: columns - 4) { text += "  \(line)\n" }
    }
    return text + "\n"
  }

  /// What can be answered to a page.
  static func keys(_ number: Int, _ style: Style) -> String {
    if number < count { return "  [Enter] continue (\(number) of \(count)) " }
    let keys = ["[Enter] get started", "[t] show a test notification", "[s] skip for now"]
    let line = "  " + keys.joined(separator: "   ") + " "
    return TextWidth.of(line) <= style.width ?? 80
      ? line : keys.map { "  \($0)" }.joined(separator: "\n") + " "
  }
}
