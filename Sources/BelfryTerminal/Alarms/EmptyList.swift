/// The text of a list without alarms.
package struct EmptyList {
  private let style: Style

  package init(_ style: Style) { self.style = style }

  /// The commands to start with: an alarm that comes back, one that rings once, and the test of a schedule.
  private static let commands = [
    #"belfry add "Pay rent" every friday 9am"#, #"belfry at tomorrow 9am "Call mum""#,
    "belfry when last day of the month 5pm",
  ]

  private static let bell = [
    #"      _      "#,
    #"    .' '.    "#,
    #"   /     \   "#,
    #"  |       |  "#,
    #" _|_______|_ "#,
    #"     (_)     "#,
  ]

  /// The text: a picture and commands on a terminal, only the commands elsewhere.
  package var text: String {
    let title = style.paint("No alarms yet.", .bold) + " Add one:"
    let commands = EmptyList.commands
    guard style.isTerminal else {
      return "No alarms yet. Add one:\n\n" + commands.map { "  \($0)\n" }.joined()
        + "\nMore: belfry help add\n"
    }
    let lines = ["", title, ""] + commands.map { style.paint($0, .cyan) }
    let widest = commands.map(\.utf8.count).max() ?? 0
    guard let columns = style.width, columns >= EmptyList.bellWidth + widest + 2 else {
      return EmptyList.bell.map { style.paint($0, .yellow) + "\n" }.joined()
        + lines.map { $0 + "\n" }.joined()
    }
    return zip(EmptyList.bell, lines).map { picture, line in
      style.paint(picture, .yellow) + "  \(line)\n"
    }.joined()
  }

  private static let bellWidth = 13
}
