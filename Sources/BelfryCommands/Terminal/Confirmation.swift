import BelfryTerminal

/// The confirmation of a change that takes something away: `--yes`, or the user's answer on a terminal.
struct Confirmation {
  /// The value of `--yes`.
  let isGiven: Bool
  /// True if a script reads the output, so that nobody can be asked.
  let json: Bool

  /// Returns if the change is confirmed.
  ///
  /// - Parameters:
  ///   - question: The question, which names the alarm, the date and the consequences.
  ///   - details: Lines before the question.
  ///   - change: The change as the end of "this would …".
  ///   - alternative: What the user may have meant instead, in sentences; nil for nothing else.
  /// - Throws: `CommandError` if the user declines, or cannot be asked.
  func require(
    _ question: String, details: [String] = [], change: String, alternative: String? = nil
  ) throws {
    if isGiven { return }
    guard Style.canAsk, !json else {
      throw CommandError(
        .usage, "this would \(change).",
        hint: (["To do it without a question, add --yes."] + [alternative].compactMap { $0 })
          .joined(separator: "\n")
      ).needingTerminal()
    }
    for line in details + [alternative].compactMap({ $0 }) { Console.error("  \(line)") }
    Console.prompt(question)
    guard Console.confirmed() else {
      throw CommandError(.failed, "nothing was changed.", hint: "To confirm, answer y.")
    }
  }
}
