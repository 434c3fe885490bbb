/// Text with escape sequences for colors.
package enum StyledText {
  /// Returns a text without its escape sequences.
  package static func plain(_ text: String) -> String {
    var result = ""
    var rest = text[...]
    while let character = rest.popFirst() {
      guard character == "\u{1B}" else {
        result.append(character)
        continue
      }
      let end = rest.firstIndex { $0.isLetter } ?? rest.endIndex
      rest = end == rest.endIndex ? rest[end...] : rest[rest.index(after: end)...]
    }
    return result
  }

  /// Returns the lines of a text that ends with a line break.
  package static func lines(of text: String) -> [String] {
    var lines = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
    if lines.last == "" { lines.removeLast() }
    return lines
  }
}
