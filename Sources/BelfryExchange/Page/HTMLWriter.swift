import BelfryCore

/// A writer of HTML that is also well-formed XML.
///
/// Names of elements and attributes are literals of the code. Everything else is escaped, so that no text of a user
/// becomes markup:
///
/// ```swift
/// html.element("p", ("class", "note")) { $0.text(alarm.title) }
/// ```
struct HTMLWriter {
  /// The document so far, in UTF-8.
  private(set) var bytes: [UInt8] = []

  /// An attribute: a name and its value.
  typealias Attribute = (name: StaticString, value: String)

  /// Appends markup of the code.
  mutating func markup(_ markup: StaticString) {
    bytes.append(
      contentsOf: UnsafeBufferPointer(start: markup.utf8Start, count: markup.utf8CodeUnitCount))
  }

  /// Appends an element with the content that a closure appends.
  mutating func element(
    _ name: StaticString, _ attributes: Attribute..., content: (inout HTMLWriter) -> Void
  ) {
    open(name, attributes)
    markup(">")
    content(&self)
    markup("</")
    markup(name)
    markup(">")
  }

  /// Appends an element with a text.
  mutating func element(_ name: StaticString, _ attributes: Attribute..., text: String) {
    open(name, attributes)
    markup(">")
    self.text(text)
    markup("</")
    markup(name)
    markup(">")
  }

  /// Appends an element without content.
  mutating func empty(_ name: StaticString, _ attributes: Attribute...) {
    open(name, attributes)
    markup("/>")
  }

  private mutating func open(_ name: StaticString, _ attributes: [Attribute]) {
    markup("<")
    markup(name)
    for attribute in attributes {
      markup(" ")
      markup(attribute.name)
      markup("=\"")
      text(attribute.value)
      markup("\"")
    }
  }

  /// Appends a text, escaped.
  mutating func text(_ text: String) {
    if text.utf8.allSatisfy(HTMLWriter.isPlain) { return bytes.append(contentsOf: text.utf8) }
    bytes.append(contentsOf: HTMLWriter.escaped(text).utf8)
  }

  /// Appends a style sheet, which is not escaped.
  ///
  /// - Precondition: it has no characters with a meaning in markup.
  mutating func style(_ sheet: String) {
    precondition(!sheet.utf8.contains { $0 == UInt8(ascii: "<") || $0 == UInt8(ascii: "&") })
    markup("<style>")
    bytes.append(contentsOf: sheet.utf8)
    markup("</style>")
  }

  private static func isPlain(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "&"), UInt8(ascii: "<"), UInt8(ascii: ">"), UInt8(ascii: "\""),
      UInt8(ascii: "'"):
      false
    default: (0x20..<0x7F).contains(byte)
    }
  }

  /// Returns a text for the content of an element and for an attribute.
  ///
  /// Control characters, bidirectional controls and invisible characters become visible, as on a terminal: `\u{202e}`.
  /// White space becomes a space.
  static func escaped(_ text: String) -> String {
    let scalars = Array(text.unicodeScalars)
    let invisible = Set(AlarmText.invisible(in: scalars))
    var result = ""
    for (index, scalar) in scalars.enumerated() {
      switch scalar {
      case "&": result += "&amp;"
      case "<": result += "&lt;"
      case ">": result += "&gt;"
      case "\"": result += "&quot;"
      case "'": result += "&#39;"
      case "\n", "\r", "\t": result += " "
      case _ where scalar.isHidden || invisible.contains(index) || scalar.value & 0xFFFE == 0xFFFE:
        result += "\\u{\(String(scalar.value, radix: 16))}"
      default: result.unicodeScalars.append(scalar)
      }
    }
    return result
  }
}
