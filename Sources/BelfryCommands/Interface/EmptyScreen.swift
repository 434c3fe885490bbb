import BelfryTerminal

/// The text of a screen without alarms: the way to begin, and whether alarms will ring.
///
/// Before there is a store, it is the welcome, which need not follow a command later.
struct EmptyScreen {
  private let context: CommandContext
  private let style: Style

  /// - Parameter columns: the width of the list.
  init(_ context: CommandContext, columns: Int) {
    self.context = context
    style = context.screenStyle(columns)
  }

  /// Returns the text.
  ///
  /// - Parameters:
  ///   - isFirst: true for the first frame, which leaves out what takes a moment to find out.
  ///   - hasStore: false if there is no store yet.
  func text(isFirst: Bool, hasStore: Bool) -> String {
    let welcome = hasStore ? [] : [style.paint("Welcome to Belfry.", .bold), ""]
    let beginning =
      [
        "No alarms yet. Press a and type one:",
        "  " + style.paint("Rent every month on the 1st at 9am", .cyan), "",
      ]
      + TextWidth.wrapped(
        "The alarms of another device: quit, then belfry clone URL", to: style.width ?? 80)
    let text = (welcome + beginning).joined(separator: "\n")
    if isFirst { return text }
    let machine = Blocking.run { await Welcome.machine(context) }
    if !hasStore { Welcome.markAsShown(context) }
    return text + "\n\n" + WelcomeText.state(of: machine, style)
  }
}
