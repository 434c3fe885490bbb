/// A line of text that is being typed.
package struct LineEditor: Hashable, Sendable {
  /// The characters.
  package private(set) var characters: [Character]
  /// The place of the cursor: the number of characters before it.
  package private(set) var cursor: Int

  /// The greatest length, in characters.
  private let limit: Int

  /// Creates a line with the cursor behind its text.
  package init(_ text: String = "", limit: Int = 4096) {
    self.limit = limit
    characters = Array(text.filter { !$0.isNewline })
    cursor = characters.count
  }

  /// The text.
  package var text: String { String(characters) }

  /// Inserts text at the cursor. Line ends become spaces.
  package mutating func insert(_ text: String) {
    let new = text.map { $0.isNewline || $0 == "\t" ? " " : $0 }
      .prefix(max(0, limit - characters.count))
    characters.insert(contentsOf: new, at: cursor)
    cursor += new.count
  }

  /// Handles a key as shells do. Returns true if it has changed the text or the cursor.
  package mutating func handle(_ key: Key) -> Bool {
    let before = self
    switch (key.code, key.isControl, key.isAlt) {
    case (.character(let character), false, false): insert(String(character))
    case (.backspace, _, false): delete(from: cursor - 1)
    case (.backspace, _, true), (.character("w"), true, _): delete(from: wordStart)
    case (.delete, true, _), (.delete, _, true), (.character("d"), false, true):
      characters.removeSubrange(cursor..<wordEnd)
    case (.delete, _, _), (.character("d"), true, _):
      if cursor < characters.count { characters.remove(at: cursor) }
    case (.character("u"), true, _): delete(from: 0)
    case (.character("k"), true, _): characters.removeSubrange(cursor...)
    case (.left, false, false), (.character("b"), true, _): cursor = max(0, cursor - 1)
    case (.right, false, false), (.character("f"), true, _):
      cursor = min(characters.count, cursor + 1)
    case (.left, _, _), (.character("b"), _, true): cursor = wordStart
    case (.right, _, _), (.character("f"), _, true): cursor = wordEnd
    case (.home, _, _), (.character("a"), true, _): cursor = 0
    case (.end, _, _), (.character("e"), true, _): cursor = characters.count
    default: return false
    }
    return self != before
  }

  private mutating func delete(from start: Int) {
    let start = max(0, start)
    characters.removeSubrange(start..<cursor)
    cursor = start
  }

  private var wordStart: Int {
    var place = cursor
    while place > 0, characters[place - 1].isWhitespace { place -= 1 }
    while place > 0, !characters[place - 1].isWhitespace { place -= 1 }
    return place
  }

  private var wordEnd: Int {
    var place = cursor
    while place < characters.count, characters[place].isWhitespace { place += 1 }
    while place < characters.count, !characters[place].isWhitespace { place += 1 }
    return place
  }
}
