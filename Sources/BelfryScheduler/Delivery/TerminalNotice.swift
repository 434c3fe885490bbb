/// The control sequence of a desktop notification that a terminal is known to understand. The terminal shows the
/// notification on the desktop in front of the user, also over ssh.
///
/// | sequence | terminals |
/// |---|---|
/// | OSC 9 | iTerm2 |
/// | OSC 99 | kitty |
/// | OSC 777 | foot, ghostty, WezTerm, urxvt |
///
/// Another terminal could show the sequence as text, or take it for another command.
enum TerminalNotice: Hashable, Sendable {
  case osc9, osc99, osc777

  /// The maximum number of scalars of a title or text.
  private static let maxLength = 200

  /// Determines the sequence from the environment of the session on a terminal; nil if none is known to work.
  ///
  /// `TERM` names the terminal, also over ssh. A program name alone can be inherited from the terminal in which another
  /// one was started, and does not count if that one has a mark of its own.
  init?(_ environment: [String: String]) {
    let term = environment["TERM"] ?? ""
    func isTerm(_ names: String...) -> Bool {
      names.contains { term == $0 || term.hasPrefix($0 + "-") }
    }
    if isTerm("xterm-kitty") {
      self = .osc99
    } else if isTerm("foot", "xterm-ghostty", "ghostty", "wezterm", "rxvt-unicode") {
      self = .osc777
    } else if term == "xterm-256color",
      environment.keys.allSatisfy({ !TerminalNotice.foreignMarks.contains($0) })
    {
      switch (environment["TERM_PROGRAM"], environment["LC_TERMINAL"]) {
      case ("WezTerm", _), ("ghostty", _): self = .osc777
      // iTerm2 sends this variable over ssh.
      case ("iTerm.app", _), (nil, "iTerm2"): self = .osc9
      default: return nil
      }
    } else {
      return nil
    }
  }

  /// The variables of terminals and multiplexers that do not set `TERM_PROGRAM`.
  private static let foreignMarks: Set<String> = [
    "XTERM_VERSION", "VTE_VERSION", "KONSOLE_VERSION", "TMUX", "STY", "ZELLIJ", "INSIDE_EMACS",
  ]

  /// Returns the sequence of a notification.
  ///
  /// - Parameter lines: The title, and the text.
  func sequence(_ lines: [String]) -> String {
    let texts = lines.map(TerminalNotice.plain).filter { !$0.isEmpty }
    guard let title = texts.first else { return "" }
    let body = texts.dropFirst().joined(separator: " ")
    switch self {
    // The name in front keeps a number in the title from being taken for a command.
    case .osc9:
      return "\u{1B}]9;Belfry: \(title)\(body.isEmpty ? "" : " - \(body)")\u{1B}\\"
    case .osc99:
      let parts = body.isEmpty ? "" : "\u{1B}]99;i=belfry:p=body;\(body)\u{1B}\\"
      return "\u{1B}]99;i=belfry:d=\(body.isEmpty ? 1 : 0);\(title)\u{1B}\\" + parts
    // A semicolon separates the title from the text.
    case .osc777:
      let title = title.replacing(";", with: ",")
      return "\u{1B}]777;notify;\(title);\(body.replacing(";", with: ","))\u{1B}\\"
    }
  }

  /// Returns a line without control characters and repeated spaces, of limited length.
  private static func plain(_ line: String) -> String {
    let kept = line.unicodeScalars.filter { scalar in
      scalar.value >= 0x20 && !(0x7F...0x9F).contains(scalar.value)
    }
    let text = String(String.UnicodeScalarView(kept.prefix(maxLength)))
    // The lines are indented, and have columns.
    return text.drop { $0 == "*" }.split(separator: " ").joined(separator: " ")
  }
}
