import BelfryCore

/// The sign, color and name of a state in calendars. The sign alone distinguishes the states.
package struct AgendaMark: Sendable {
  /// The sign, which has one column.
  package let sign: String
  /// The color.
  package let color: PaletteColor?
  /// The name.
  package let name: String

  /// The mark of an upcoming occurrence in a calendar that shows no titles.
  package static let upcomingSign = "•"

  package init(_ state: Agenda.State) {
    (sign, color, name) =
      switch state {
      case .done: ("✓", .green, "done")
      case .autoCompleted: ("□", .teal, "automatic")
      case .skipped: ("-", .brown, "skipped")
      case .missed: ("x", .alert, "missed")
      case .ringing: ("!", .alert, "ringing")
      case .snoozed: ("z", .brown, "snoozed")
      case .pending: ("?", .magenta, "pending")
      case .paused: ("=", .faint, "paused")
      case .upcoming: (" ", nil, "upcoming")
      }
  }
}

/// A color that is legible on dark and on light terminals: its contrast with black and with white is at least 4.
package struct PaletteColor: Hashable, Sendable {
  /// The parameters of the sequence that starts the color.
  let parameters: String

  private init(_ parameters: String) { self.parameters = parameters }
  private init(_ number: Int) { parameters = "38;5;\(number)" }

  package static let green = PaletteColor(28)
  package static let teal = PaletteColor(30)
  package static let brown = PaletteColor(130)
  package static let magenta = PaletteColor(163)
  /// Red in bold.
  package static let alert = PaletteColor("1;38;5;160")
  package static let bold = PaletteColor("1")
  package static let faint = PaletteColor("2")

  /// The colors of tags.
  private static let tags = [27, 130, 30, 163, 64, 97, 132, 63, 31, 133].map { PaletteColor($0) }

  /// Returns the color of a tag, which is the same on every device.
  package static func of(_ tag: AlarmTag) -> PaletteColor {
    // FNV-1a, because Swift's hashes differ in each process.
    let hash = tag.text.utf8.reduce(UInt32(2_166_136_261)) { ($0 ^ UInt32($1)) &* 16_777_619 }
    return tags[Int((hash >> 19) % UInt32(tags.count))]
  }
}

extension Style {
  /// Returns text in a color, if the terminal has colors.
  package func paint(_ text: String, _ color: PaletteColor?) -> String {
    guard isColored, let color, text.contains(where: { $0 != " " }) else { return text }
    return "\u{1B}[\(color.parameters)m\(text)\(reset)"
  }
}
