/// Web addresses in a text as links: a terminal opens the whole address, also one that its line cuts.
enum Hyperlinks {
  private static let schemes = ["https://", "http://"]
  /// The greatest length of an address. Terminals ignore longer ones.
  private static let maxLength = 2000

  /// Returns the sequence (OSC 8) that begins a link; without an address, the one that ends it.
  static func sequence(_ address: String) -> String { "\u{1B}]8;;\(address)\u{1B}\\" }

  /// Returns the lines of a wrapped text with its addresses as links.
  ///
  /// - Parameters:
  ///   - lines: The text as lines, without the spaces between them.
  ///   - text: The text.
  static func marked(_ lines: [String], of text: String) -> [String] {
    let addresses = ranges(in: text)
    if addresses.isEmpty { return lines }
    var place = text.startIndex
    return lines.map { line in
      guard let start = text[place...].range(ofText: line) else { return line }
      place = start.upperBound
      var marked = ""
      var copied = start.lowerBound
      for address in addresses where address.overlaps(start) {
        let part = address.clamped(to: start)
        marked += text[copied..<part.lowerBound]
        marked += sequence(String(text[address])) + text[part] + sequence("")
        copied = part.upperBound
      }
      return marked + text[copied..<start.upperBound]
    }
  }

  /// Returns the places of the addresses in a text.
  private static func ranges(in text: String) -> [Range<String.Index>] {
    var ranges: [Range<String.Index>] = []
    var place = text.startIndex
    while place < text.endIndex {
      let rest = text[place...]
      guard let scheme = schemes.first(where: rest.hasPrefix) else {
        place = text.index(after: place)
        continue
      }
      // A full stop or a bracket behind an address belongs to the sentence.
      let end = rest.firstIndex { !isPart($0) } ?? text.endIndex
      var address = text[place..<end]
      while let last = address.last, ".,;:!?)]'".contains(last) { address.removeLast() }
      if address.count > scheme.count, address.utf8.count <= maxLength {
        ranges.append(place..<address.endIndex)
      }
      place = max(end, text.index(after: place))
    }
    return ranges
  }

  private static func isPart(_ character: Character) -> Bool {
    guard let value = character.asciiValue else { return false }
    return value > 0x20 && value < 0x7F && !"<>\"\\^`{|}".contains(character)
  }
}

extension Substring {
  /// Returns the place of the first occurrence of a text; nil if there is none.
  fileprivate func range(ofText text: String) -> Range<Index>? {
    var place = startIndex
    while place < endIndex {
      if self[place...].hasPrefix(text) { return place..<index(place, offsetBy: text.count) }
      place = index(after: place)
    }
    return nil
  }
}
