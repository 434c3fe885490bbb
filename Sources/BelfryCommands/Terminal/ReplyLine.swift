import BelfryCore
import BelfryPartners
import BelfryTerminal

/// The line of the firing screen on which the user types a reply to a partner.
struct ReplyLine {
  /// The end of the input.
  enum Ending: Equatable {
    /// The user sends the text.
    case sent(String)
    /// The user cancels the input.
    case canceled
  }

  private var text = ""

  /// The line as shown.
  var shown: String { "Reply: \(text)_   [Enter] send   [Esc] cancel" }

  /// Handles a key. Returns the end of the input; nil while it goes on.
  mutating func handle(_ event: KeyReader.Event) -> Ending? {
    switch event {
    // Ctrl-C, and Ctrl-D for the end of input.
    case .escape, .key("\u{3}", _), .key("\u{4}", _): return .canceled
    case .key("\r", .press), .key("\n", .press): return text.isEmpty ? .canceled : .sent(text)
    case .key("\u{7F}", .press), .key("\u{8}", .press): if !text.isEmpty { text.removeLast() }
    case .key(let character, .press):
      guard !character.unicodeScalars.contains(where: AlarmText.isControl),
        text.count < PartnerReceipt.longestDetail
      else { return nil }
      text.append(character)
    case .key, .keyboardFlags, .attributes: break
    }
    return nil
  }
}
