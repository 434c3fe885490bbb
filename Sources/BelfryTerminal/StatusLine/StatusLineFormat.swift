import BelfryStore

/// The form of a status line that a program expects.
package enum StatusLineFormat: String, CaseIterable, Sendable {
  /// An object of waybar's module `custom`, with `return-type` `json`.
  case waybar
  /// The text of polybar's module `custom/script`.
  case polybar
  /// A block of the i3bar protocol, as i3bar and swaybar read it.
  case i3bar
  /// The same for i3blocks, which drops values of JSON that are no strings (version 1.4), and prints the string `true` as a
  /// boolean.
  case i3blocks
  /// A text for the status line of tmux.
  case tmux
  /// A short text for the prompt of a shell; empty if nothing needs the person.
  case prompt
  /// The text without markup.
  case plain
  /// A document.
  case json

  /// Returns a status line in this form, without a line break; for `json`, its text.
  package func text(_ line: StatusLine) -> String {
    switch self {
    case .waybar: StatusLineFormat.waybar(line).line
    case .polybar: StatusLineFormat.polybar(line.text)
    case .i3bar: StatusLineFormat.block(line, urgent: .bool(true)).line
    case .i3blocks:
      StatusLineFormat.block(line, urgent: .string("true"), StatusLineFormat.i3blocks).line
    case .tmux: StatusLineFormat.tmux(line.text)
    case .prompt: line.prompt
    case .plain, .json: line.text
    }
  }

  /// Returns an object of waybar. Its texts are Pango markup.
  private static func waybar(_ line: StatusLine) -> JSON {
    let problem = line.summary.problem == nil ? [] : [JSON.string("problem")]
    let percentage: Int64 =
      switch line.state {
      case .ringing: 100
      case .missed: 75
      case .pending: 50
      case .snoozed: 25
      case .next, .idle: 0
      }
    return .object([
      "text": .string(markup(line.text)), "alt": .string(line.state.rawValue),
      "tooltip": .string(markup(line.details.joined(separator: "\n"))),
      "class": .array([.string(line.state.rawValue)] + problem),
      "percentage": .integer(percentage),
    ])
  }

  /// Returns a block of the i3bar protocol. Its texts are no markup, whatever the configuration of the block says.
  ///
  /// - Parameter urgent: The value of the key `urgent` while an alarm rings.
  private static func block(
    _ line: StatusLine, urgent: JSON, _ text: (String) -> String = { $0 }
  ) -> JSON {
    var block: [String: JSON] = [
      "name": .string("belfry"), "full_text": .string(text(line.text)),
      "short_text": .string(text(line.prompt)), "markup": .string("none"),
    ]
    if line.state == .ringing { block["urgent"] = urgent }
    let isSilent = line.summary.problem?.isSilencing == true
    switch line.state {
    case .ringing: block["color"] = .string(red)
    case _ where isSilent: block["color"] = .string(red)
    case .missed, .pending: block["color"] = .string(yellow)
    case .snoozed, .next, .idle: break
    }
    return .object(block)
  }

  private static let red = "#ff5555"
  private static let yellow = "#f1c40f"

  /// Returns a text as Pango markup.
  static func markup(_ text: String) -> String {
    text.replacing("&", with: "&amp;").replacing("<", with: "&lt;").replacing(">", with: "&gt;")
  }

  /// Returns a text without the characters that i3blocks 1.4 does not read in JSON: it ends a text at a quote, and doubles
  /// backslashes.
  static func i3blocks(_ text: String) -> String {
    text.replacing("\"", with: "'").replacing("\\", with: "/")
  }

  /// Returns a text in which polybar finds no formatting tag, such as `%{A1:command:}`.
  static func polybar(_ text: String) -> String { text.replacing("%{", with: "% {") }

  /// Returns a text in which tmux finds no style and no command.
  static func tmux(_ text: String) -> String { text.replacing("#", with: "##") }
}
