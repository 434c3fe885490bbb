import BelfryCore
import Glibc

/// The value of `--color`: whether output is colored.
package enum ColorChoice: String, CaseIterable, Sendable {
  /// On a terminal, unless `NO_COLOR` or `TERM=dumb` is set.
  case auto
  case always
  case never
}

/// The form of text for people: colors, the width of the terminal, and the form of times.
package struct Style: Sendable {
  package let isColored: Bool
  /// True if standard output is a terminal.
  package let isTerminal: Bool
  /// The width in columns; nil if standard output is not a terminal and `COLUMNS` is not set.
  package let width: Int?
  /// The form of times and dates.
  package let timeFormat: TimeFormat
  /// True to mark web addresses as links.
  package var hasLinks = false

  /// Detects the capabilities of the terminal on standard output. `NO_COLOR` and `TERM=dumb` disable colors. `COLUMNS`
  /// is the width of other output.
  ///
  /// - Parameters:
  ///   - clock: the setting of the clock.
  ///   - color: the choice of colors; `always` and `never` also override the environment.
  package init(
    _ environment: [String: String], clock: Settings.Clock = .auto, color: ColorChoice = .auto
  ) {
    timeFormat = TimeFormat(environment: environment, clock: clock)
    isTerminal = isatty(STDOUT_FILENO) == 1
    let isAllowed = Style.allowsColor(
      noColor: environment["NO_COLOR"] ?? "", terminal: environment["TERM"] ?? "")
    isColored = color == .always || color == .auto && isTerminal && isAllowed
    width =
      Style.width(STDOUT_FILENO)
      ?? environment["COLUMNS"].flatMap { Int($0) }.flatMap { $0 >= Style.leastWidth ? $0 : nil }
  }

  /// The least value of `COLUMNS` that is a width.
  private static let leastWidth = 20

  /// Returns true if the values of `NO_COLOR` and `TERM` allow colors on a terminal.
  static func allowsColor(noColor: String, terminal: String) -> Bool {
    noColor.isEmpty && !isDumb(terminal)
  }

  /// Returns true if a terminal cannot move its cursor, by its `TERM`.
  package static func isDumb(_ terminal: String?) -> Bool {
    ["", "dumb"].contains(terminal ?? "")
  }

  /// Returns the width of a terminal in columns, or nil if the descriptor is not a terminal.
  package static func width(_ descriptor: Int32) -> Int? { size(descriptor)?.columns }

  /// Returns the size of a terminal, or nil if the descriptor is not a terminal.
  package static func size(_ descriptor: Int32) -> (columns: Int, rows: Int)? {
    guard isatty(descriptor) == 1 else { return nil }
    var size = winsize()
    guard ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0 else { return (80, 24) }
    return (size.ws_col > 0 ? Int(size.ws_col) : 80, size.ws_row > 0 ? Int(size.ws_row) : 24)
  }

  package init(isColored: Bool, width: Int?, timeFormat: TimeFormat = TimeFormat()) {
    self.timeFormat = timeFormat
    self.isColored = isColored
    isTerminal = width != nil
    self.width = width
  }

  /// Returns the same form for another width.
  package func with(width: Int) -> Style {
    var style = Style(isColored: isColored, width: width, timeFormat: timeFormat)
    style.hasLinks = hasLinks
    return style
  }

  package enum Color: String {
    case plain = "0"
    case bold = "1"
    case faint = "2"
    case red = "1;31"
    case plainRed = "31"
    // Readable on black and on white. The blue of many terminals is too dark on black.
    case orange = "38;5;166"
    case green = "32"
    case yellow = "33"
    case blue = "38;5;32"
    case magenta = "35"
    case brightMagenta = "1;95"
    case cyan = "36"
  }

  /// Returns text in a color, if the terminal has colors.
  package func paint(_ text: String, _ color: Color) -> String {
    isColored ? "\(start(color))\(text)\(reset)" : text
  }

  /// Returns the sequence that starts a color, which `reset` ends; an empty text if the terminal has no colors.
  package func start(_ color: Color) -> String { isColored ? "\u{1B}[\(color.rawValue)m" : "" }

  /// The sequence that restores the terminal's default colors.
  package var reset: String { isColored ? "\u{1B}[0m" : "" }

  /// Returns a line cut to the width of the terminal. Returns it unchanged if there is no terminal.
  package func fit(_ text: String, indent: Int = 0) -> String {
    guard let width else { return text }
    return TextWidth.cut(text, to: max(8, width - indent))
  }

  /// True if standard input and standard error are terminals, so that the user can be asked.
  package static var canAsk: Bool { isatty(STDIN_FILENO) == 1 && isatty(STDERR_FILENO) == 1 }
}
