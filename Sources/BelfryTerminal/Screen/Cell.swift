/// A color of a cell.
package enum CellColor: Hashable, Sendable {
  /// The terminal's own foreground or background.
  case standard
  /// A color of the palette: 0 to 15 are the terminal's, the others are fixed.
  case palette(UInt8)
  /// A color of 24 bits.
  case rgb(UInt8, UInt8, UInt8)
}

/// The appearance of a cell.
package struct CellStyle: Hashable, Sendable {
  /// Attributes of the text.
  package struct Attributes: OptionSet, Hashable, Sendable {
    package let rawValue: UInt8
    package init(rawValue: UInt8) { self.rawValue = rawValue }

    package static let bold = Attributes(rawValue: 1)
    package static let faint = Attributes(rawValue: 2)
    package static let italic = Attributes(rawValue: 4)
    package static let underline = Attributes(rawValue: 8)
    package static let reverse = Attributes(rawValue: 16)
  }

  package var foreground: CellColor
  package var background: CellColor
  package var attributes: Attributes

  /// Creates a style, by default that of plain text.
  package init(
    _ foreground: CellColor = .standard, on background: CellColor = .standard,
    _ attributes: Attributes = []
  ) {
    self.foreground = foreground
    self.background = background
    self.attributes = attributes
  }

  package static let plain = CellStyle()
  package static let bold = CellStyle(.standard, .bold)
  package static let faint = CellStyle(.standard, .faint)

  private init(_ foreground: CellColor, _ attributes: Attributes) {
    self.init(foreground, on: .standard, attributes)
  }

  /// Returns the style with one of the colors of text on top of it.
  package func with(_ color: Style.Color) -> CellStyle {
    var style = self
    style.apply(color.rawValue.split(separator: ";").compactMap { Int($0) })
    return style
  }

  /// Returns the style with further attributes.
  package func with(_ attributes: Attributes) -> CellStyle {
    var style = self
    style.attributes.formUnion(attributes)
    return style
  }

  // MARK: Escape sequences

  /// Changes the style as the parameters of `CSI … m` do. Unknown ones are ignored.
  mutating func apply(_ parameters: [Int]) {
    var rest = parameters[...]
    if rest.isEmpty { self = .plain }
    while let code = rest.popFirst() {
      switch code {
      case 0: self = .plain
      case 1: attributes.insert(.bold)
      case 2: attributes.insert(.faint)
      case 3: attributes.insert(.italic)
      case 4: attributes.insert(.underline)
      case 7: attributes.insert(.reverse)
      case 22: attributes.subtract([.bold, .faint])
      case 23: attributes.remove(.italic)
      case 24: attributes.remove(.underline)
      case 27: attributes.remove(.reverse)
      case 30...37: foreground = .palette(UInt8(code - 30))
      case 90...97: foreground = .palette(UInt8(code - 82))
      case 40...47: background = .palette(UInt8(code - 40))
      case 100...107: background = .palette(UInt8(code - 92))
      case 38: foreground = CellStyle.color(&rest) ?? foreground
      case 48: background = CellStyle.color(&rest) ?? background
      case 39: foreground = .standard
      case 49: background = .standard
      default: break
      }
    }
  }

  private static func color(_ rest: inout ArraySlice<Int>) -> CellColor? {
    func byte(_ number: Int?) -> UInt8 { UInt8(clamping: number ?? 0) }
    switch rest.popFirst() {
    case 5: return .palette(byte(rest.popFirst()))
    case 2:
      let (red, green, blue) = (rest.popFirst(), rest.popFirst(), rest.popFirst())
      return .rgb(byte(red), byte(green), byte(blue))
    default: return nil
    }
  }

  /// The parameters of `CSI … m` that give this style to text, whatever was before.
  var parameters: String {
    var parts = ["0"]
    for (attribute, code) in [
      (Attributes.bold, "1"), (.faint, "2"), (.italic, "3"), (.underline, "4"), (.reverse, "7"),
    ] where attributes.contains(attribute) {
      parts.append(code)
    }
    parts += CellStyle.codes(foreground, base: 30) + CellStyle.codes(background, base: 40)
    return parts.joined(separator: ";")
  }

  private static func codes(_ color: CellColor, base: Int) -> [String] {
    switch color {
    case .standard: []
    case .palette(let number) where number < 8: ["\(base + Int(number))"]
    case .palette(let number) where number < 16: ["\(base + 52 + Int(number))"]
    case .palette(let number): ["\(base + 8);5;\(number)"]
    case .rgb(let red, let green, let blue): ["\(base + 8);2;\(red);\(green);\(blue)"]
    }
  }
}

/// One column of a screen.
package struct Cell: Hashable, Sendable {
  /// The character. The second column of a wide one has none.
  package var character: Character?
  package var style: CellStyle
  /// The link that the character belongs to: its number in `Buffer.links`; 0 for none.
  package var link: UInt16 = 0

  /// An empty column.
  package static let blank = Cell(character: " ", style: .plain)
}
