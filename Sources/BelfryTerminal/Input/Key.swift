/// A key of the keyboard, with the modifiers that were held.
package struct Key: Hashable, Sendable {
  /// The key itself.
  package enum Code: Hashable, Sendable {
    case character(Character)
    case enter, escape, tab, backTab, backspace, delete, insert
    case up, down, left, right, home, end, pageUp, pageDown
    case function(Int)
  }

  package var code: Code
  /// True if Ctrl was held.
  package var isControl: Bool
  /// True if Alt was held.
  package var isAlt: Bool

  package init(_ code: Code, control: Bool = false, alt: Bool = false) {
    self.code = code
    isControl = control
    isAlt = alt
  }

  package init(_ character: Character, control: Bool = false) {
    self.init(.character(character), control: control)
  }

  /// The character; nil for other keys, and with Ctrl or Alt.
  package var plain: Character? {
    if case .character(let character) = code, !isControl, !isAlt { character } else { nil }
  }

  /// True for the keys that close a screen without text: q, Escape, Ctrl-C, and Ctrl-D for the end of input. Escape and
  /// another one of them in quick succession arrive as that key with Alt.
  package var closes: Bool {
    var key = self
    key.isAlt = false
    return [Key("q"), Key(.escape), Key("c", control: true), Key("d", control: true)].contains(key)
  }

  /// The name as people write it, which `init(named:)` reads: `d`, `ctrl-r`, `space`, `enter`.
  package var name: String {
    (isControl ? "ctrl-" : "") + (isAlt ? "alt-" : "") + Key.name(of: code)
  }

  /// Reads a name; nil if there is no such key.
  package init?(named text: String) {
    var rest = text[...]
    var (control, alt) = (false, false)
    while true {
      if rest.hasPrefix("ctrl-"), rest.count > 5 {
        (rest, control) = (rest.dropFirst(5), true)
      } else if rest.hasPrefix("alt-"), rest.count > 4 {
        (rest, alt) = (rest.dropFirst(4), true)
      } else {
        break
      }
    }
    if let code = Key.named.first(where: { $0.name == rest })?.code {
      self.init(code, control: control, alt: alt)
    } else if rest.count > 1, rest.first == "f", let number = Int(rest.dropFirst()),
      (1...12).contains(number)
    {
      self.init(.function(number), control: control, alt: alt)
    } else if rest.count == 1, let character = rest.first, !character.isWhitespace {
      self.init(.character(character), control: control, alt: alt)
    } else {
      return nil
    }
  }

  private static let named: [(name: String, code: Code)] = [
    ("space", .character(" ")), ("enter", .enter), ("esc", .escape), ("tab", .tab),
    ("shift-tab", .backTab), ("backspace", .backspace), ("delete", .delete), ("insert", .insert),
    ("up", .up), ("down", .down), ("left", .left), ("right", .right), ("home", .home),
    ("end", .end), ("pageup", .pageUp), ("pagedown", .pageDown),
  ]

  private static func name(of code: Code) -> String {
    if let known = named.first(where: { $0.code == code }) { return known.name }
    switch code {
    case .character(let character): return String(character)
    case .function(let number): return "f\(number)"
    default: return ""
    }
  }
}

/// Something that a terminal reports.
package enum InputEvent: Hashable, Sendable {
  /// A key was pressed. On a terminal that does not report repeats, a held key is pressed again and again.
  case key(Key)
  /// A held key repeats, on a terminal that reports it.
  case repeated(Key)
  /// A key was released, on a terminal that reports it.
  case released(Key)
  /// A button of the mouse was pressed in a cell.
  case click(column: Int, row: Int)
  /// The wheel was turned: the number of steps, negative for up.
  case wheel(Int, column: Int, row: Int)
  /// Text was pasted.
  case paste(String)
  /// The reply of a terminal with the Kitty keyboard protocol: its flags.
  case keyboardFlags(Int)
  /// The reply to the query of the device attributes, which every terminal sends.
  case attributes
}
