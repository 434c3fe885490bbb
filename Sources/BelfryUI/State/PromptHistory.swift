import BelfryTerminal

/// The lines that were typed at the prompts of a screen, the latest ones first, so that they can be typed again.
package struct PromptHistory: Hashable, Sendable {
  private var lines: [String: [String]] = [:]

  /// The greatest number of lines for each kind of prompt.
  private static let limit = 100

  /// Adds a line. An equal earlier one is forgotten.
  mutating func add(_ line: String, to purpose: UIState.Prompt.Purpose) {
    if line.isEmpty { return }
    let earlier = lines[PromptHistory.kind(purpose), default: []].filter { $0 != line }
    lines[PromptHistory.kind(purpose)] = Array(([line] + earlier).prefix(PromptHistory.limit))
  }

  /// Returns the lines of the prompts of a kind.
  func lines(of purpose: UIState.Prompt.Purpose) -> [String] {
    lines[PromptHistory.kind(purpose), default: []]
  }

  /// Returns what prompts with common lines have in common: the durations of snoozes are of use for every alarm.
  private static func kind(_ purpose: UIState.Prompt.Purpose) -> String {
    switch purpose {
    case .filter: "/"
    case .add: "add"
    case .command: ":"
    case .words(_, let verb, _): verb
    }
  }
}

extension UIState.Prompt {
  /// Shows an earlier line, or goes back to the one that was being typed. Returns false if there is no further one.
  mutating func recall(_ steps: Int, from history: PromptHistory) -> Bool {
    let lines = history.lines(of: purpose)
    let place = recalled + steps
    guard place >= 0, place <= lines.count else { return false }
    if recalled == 0 { draft = editor.text }
    recalled = place
    editor = LineEditor(place == 0 ? draft : lines[place - 1])
    return true
  }
}
