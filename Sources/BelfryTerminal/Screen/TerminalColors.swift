/// The colors that a terminal can show.
package enum TerminalColors: Sendable {
  case none, palette16, palette256, rgb

  /// Finds out the colors from `COLORTERM` and `TERM`.
  ///
  /// - Parameter isColored: False if the person wants no colors.
  package init(_ environment: [String: String], isColored: Bool) {
    let terminal = environment["TERM"] ?? ""
    let modern = ["xterm-kitty", "alacritty", "foot", "xterm-ghostty", "ghostty", "wezterm"]
    if !isColored {
      self = .none
    } else if ["truecolor", "24bit"].contains(environment["COLORTERM"] ?? "")
      || modern.contains(where: terminal.hasPrefix)
    {
      self = .rgb
    } else {
      self = terminal.contains("256color") || terminal.contains("direct") ? .palette256 : .palette16
    }
  }

  /// True if the terminal shows links, or ignores their sequences: terminals with few colors, such as that of Linux
  /// itself, may show the sequences as text.
  var hasLinks: Bool { self == .rgb || self == .palette256 }

  /// Returns a style with the nearest colors that the terminal has.
  func reduced(_ style: CellStyle) -> CellStyle {
    var style = style
    style.foreground =
      style.background == .standard ? readable(style.foreground) : reduced(style.foreground)
    style.background = reduced(style.background)
    return style
  }

  /// Returns the nearest color that is readable on a dark and on a light background: of 16, none that is gray or bright.
  private func readable(_ color: CellColor) -> CellColor {
    let nearest = reduced(color)
    guard self == .palette16, nearest != color, case .palette(let number) = nearest else {
      return nearest
    }
    let isGray = number % 8 == 0 || number % 8 == 7
    return isGray ? .standard : .palette(number % 8)
  }

  private func reduced(_ color: CellColor) -> CellColor {
    switch (self, color) {
    case (.none, _): return .standard
    case (.rgb, _), (_, .standard): return color
    case (.palette256, .rgb(let red, let green, let blue)):
      func level(_ value: UInt8) -> UInt8 { UInt8((Int(value) * 5 + 127) / 255) }
      return .palette(16 + 36 * level(red) + 6 * level(green) + level(blue))
    case (.palette256, .palette): return color
    case (.palette16, .palette(let number)):
      return number < 16 ? color : TerminalColors.basic(number)
    case (.palette16, .rgb(let red, let green, let blue)):
      return TerminalColors.basic(Int(red), Int(green), Int(blue))
    }
  }

  /// Returns the nearest of the 16 colors for one of the color cube or of the gray ramp.
  private static func basic(_ number: UInt8) -> CellColor {
    if number >= 232 {
      let gray = 8 + 10 * (Int(number) - 232)
      return basic(gray, gray, gray)
    }
    let index = Int(number) - 16
    func value(_ level: Int) -> Int { level == 0 ? 0 : 55 + 40 * level }
    return basic(value(index / 36), value(index / 6 % 6), value(index % 6))
  }

  private static func basic(_ red: Int, _ green: Int, _ blue: Int) -> CellColor {
    let most = max(red, green, blue)
    if most < 48 { return .palette(0) }
    var number = 0
    for (bit, value) in [red, green, blue].enumerated() where value * 2 > most {
      number |= 1 << bit
    }
    return .palette(UInt8(number + (most > 200 ? 8 : 0)))
  }
}
