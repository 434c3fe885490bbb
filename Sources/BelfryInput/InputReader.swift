import BelfryCore

/// A cursor over the words of an input.
///
/// Words are in lower case. Commas and semicolons are words of their own; every kind of dash is `-`.
struct InputReader {
  /// A word of the input.
  struct Token {
    /// The word in lower case.
    let text: String
    /// The word as it was typed.
    let source: String
    /// True if no space separates the word from the one before.
    var isJoined = false
  }

  let context: InputContext
  let tokens: [Token]
  private let progress = Progress()

  /// The progress of all attempts to read an input.
  private final class Progress {
    /// The largest number of words that any attempt understood.
    var furthest = 0
  }
  /// The number of words that were read.
  var position = 0
  /// True after a date such as `3 weeks before 2 february`, which recurs each year with the date beside it.
  var isBesideDayOfYear = false

  init(_ text: String, _ context: InputContext) {
    self.context = context
    tokens = InputReader.tokens(text)
  }

  private static func tokens(_ text: String) -> [Token] {
    var tokens: [Token] = []
    for part in text.split(whereSeparator: \.isWhitespace) {
      let first = tokens.count
      var word = ""
      func append(_ text: String, _ source: String) {
        tokens.append(Token(text: text, source: source, isJoined: tokens.count > first))
      }
      func finish() {
        for (index, word) in elements(of: normalized(word), word).enumerated() {
          if index > 0 { append(",", "/") }
          append(word.text, word.source)
        }
        word = ""
      }
      for character in part {
        if character == "," || character == ";" {
          finish()
          append(",", String(character))
        } else if character != "(", character != ")" {
          word.append(character)
        }
      }
      if word == "+" {
        append(",", word)
        word = ""
      }
      finish()
    }
    return tokens
  }

  /// Returns the elements of a word: those of a list such as `mon/thu`, `8am/8pm` or `mwf`, else the word itself.
  private static func elements(
    of text: String, _ source: String
  ) -> [(text: String, source: String)] {
    if text.isEmpty { return [] }
    if let days = Vocabulary.weekdayLetters(text) { return days.map { ($0, source) } }
    let separator: Character = text.contains("+") ? "+" : "/"
    let parts = text.split(separator: separator, omittingEmptySubsequences: false).map(String.init)
    guard parts.count > 1 else { return [(text, source)] }
    let sources = source.split(separator: separator, omittingEmptySubsequences: false)
      .map(String.init)
    let isTime = { (part: String) in
      part.contains(":") || part.hasSuffix("am") || part.hasSuffix("pm")
    }
    guard
      parts.allSatisfy({ Vocabulary.weekday($0) != nil })
        || parts.allSatisfy({ isTime($0) && (try? ClockText($0)) ?? nil != nil })
    else { return [(text, source)] }
    return zip(parts, sources).map { ($0, $1) }
  }

  /// Returns a word in lower case, with plain dashes, and without the full stop of an abbreviation.
  private static func normalized(_ word: String) -> String {
    var text = word.lowercased().replacing("–", with: "-").replacing("—", with: "-")
      .replacing("−", with: "-").replacing("’", with: "'")
    if text.hasSuffix("."), text.first?.isLetter == true { text.removeLast() }
    return text
  }

  // MARK: Looking

  /// True if no word is left.
  var isAtEnd: Bool { position >= tokens.count }

  /// The next word; empty at the end.
  var word: String { peek(0) }

  /// Returns the word some words ahead; empty behind the end.
  func peek(_ distance: Int) -> String {
    tokens.indices.contains(position + distance) ? tokens[position + distance].text : ""
  }

  /// Returns the words from a position to the present one, as they were typed.
  func source(from start: Int) -> String {
    var text = ""
    for token in tokens[start..<max(start, position)] {
      if !text.isEmpty, token.text != "," { text += " " }
      text += token.source
    }
    return text
  }

  /// The words that are left, as they were typed.
  var rest: String {
    var reader = self
    reader.position = tokens.count
    return reader.source(from: position)
  }

  // MARK: Reading

  /// Moves past some words.
  mutating func advance(_ count: Int = 1) {
    position += count
    progress.furthest = max(progress.furthest, position)
  }

  /// Moves past one of several texts, each with one or more words. Returns false if none is next.
  mutating func accept(_ texts: String...) -> Bool { accept(anyOf: texts) }

  /// Moves past one of several texts, each with one or more words. Returns false if none is next.
  mutating func accept(anyOf texts: [String]) -> Bool {
    for text in texts {
      let words = text.split(separator: " ")
      if words.indices.allSatisfy({ peek($0) == words[$0] }) {
        advance(words.count)
        return true
      }
    }
    return false
  }

  /// Moves past the words between the elements of a list.
  mutating func acceptSeparator() -> Bool {
    let start = position
    _ = accept(",")
    _ = accept("and", "&")
    return position > start
  }

  /// True if one of the words is `if` or `unless`.
  var hasCondition: Bool { tokens.contains { Vocabulary.reason(against: $0.text) == .condition } }

  /// True behind `,` or `and`, also with `on` between.
  var followsSeparator: Bool {
    let isOn = position > 0 && tokens[position - 1].text == "on"
    let before = position - (isOn ? 2 : 1)
    return before >= 0 && [",", "and", "&"].contains(tokens[before].text)
  }

  /// Returns what a function reads. If it reads nothing, the position does not change.
  mutating func attempt<Value>(
    _ read: (inout InputReader) throws(InputError) -> Value?
  ) throws(InputError) -> Value? {
    var reader = self
    guard let value = try read(&reader) else { return nil }
    self = reader
    return value
  }

  /// Returns the elements of a list that a function reads, or nil if there is none. Separators are commas and `and`.
  mutating func list<Element>(
    _ read: (inout InputReader) throws(InputError) -> Element?
  ) throws(InputError) -> [Element]? {
    guard let first = try attempt(read) else { return nil }
    var elements = [first]
    while true {
      let next: Element? = try attempt { (reader) throws(InputError) in
        reader.acceptSeparator() ? try read(&reader) : nil
      }
      guard let next else { return elements }
      elements.append(next)
    }
  }

  // MARK: Errors

  /// The error for the first word that no attempt understood.
  var notUnderstood: InputError {
    guard !isAtEnd else { return .empty }
    var furthest = max(position, progress.furthest)
    // In `of the mont`, the article is not what is wrong.
    if furthest + 1 < tokens.count, ["the", "a", "an"].contains(tokens[furthest].text) {
      furthest += 1
    }
    let token = tokens[furthest < tokens.count ? furthest : position]
    if Vocabulary.partOfDay(token.text) != nil { return .unsupported(.partOfDay) }
    if let reason = tokens.lazy.compactMap({ Vocabulary.reason(against: $0.text) }).first {
      return .unsupported(reason)
    }
    if let foreign = tokens.first(where: { Vocabulary.isForeign($0.text) }) {
      return .foreignWord(foreign.source)
    }
    let nearest = EditDistance.nearest(to: token.text, in: Vocabulary.suggestions)
    return .notUnderstood(token.source, suggestion: nearest == token.text ? nil : nearest)
  }

  /// Throws the error for the next word unless the input is at its end.
  func finish() throws(InputError) {
    if !isAtEnd { throw notUnderstood }
  }

  /// The error for something that must follow the words just read.
  func missing(_ part: InputError.Part) -> InputError {
    if isPartOfDay { return .unsupported(.partOfDay) }
    return isAtEnd
      ? .missing(part, after: position > 0 ? tokens[position - 1].source : "") : notUnderstood
  }

  /// True if the next word is a part of the day without a fixed time: `morning`.
  var isPartOfDay: Bool { Vocabulary.partOfDay(word) != nil }
}
