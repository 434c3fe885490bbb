import BelfryStore

/// A line with values of a document: `{title}\t{schedule.kind}`.
///
/// `\t`, `\n` and `\\` are a tab, a line break and a backslash; `{{` and `}}` are braces. An absent value is empty, and
/// the elements of an array are separated by commas.
package struct DocumentFormat: Sendable {
  /// The reason that a text is not a format.
  package enum Failure: Error, Equatable {
    /// A brace at the beginning of the text has no counterpart.
    case unbalanced(String)
    /// No document has the key.
    case unknownKey(String)
  }

  private enum Part {
    case text(String)
    case key([String])
  }

  private let parts: [Part]

  /// Parses a format.
  ///
  /// - Throws: `Failure` if a brace has no counterpart, or a key is unknown.
  package init(_ text: String, _ keys: DocumentKeys) throws(Failure) {
    var (parts, literal, rest): ([Part], String, Substring) = ([], "", text[...])
    while let character = rest.first {
      let pair = rest.prefix(2)
      if let replacement = DocumentFormat.pairs[String(pair)] {
        literal += replacement
        rest = rest.dropFirst(2)
      } else if character == "{" {
        guard let end = rest.firstIndex(of: "}") else { throw .unbalanced(String(rest)) }
        let key = String(rest[rest.index(after: rest.startIndex)..<end])
        let path = key.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
        guard keys.contains(path) else { throw .unknownKey(key) }
        parts += [.text(literal), .key(path)]
        literal = ""
        rest = rest[rest.index(after: end)...]
      } else if character == "}" {
        throw .unbalanced(String(rest))
      } else {
        literal.append(character)
        rest = rest.dropFirst()
      }
    }
    self.parts = parts + [.text(literal)]
  }

  private static let pairs = ["\\t": "\t", "\\n": "\n", "\\\\": "\\", "{{": "{", "}}": "}"]

  /// Returns the line of a document, without a line break at its end.
  ///
  /// - Parameter printable: Makes a value safe for a terminal. Its line breaks and tabs are escaped before.
  package func line(_ document: JSON, _ printable: (String) -> String) -> String {
    var line = ""
    for part in parts {
      switch part {
      case .text(let text): line += text
      case .key(let path):
        let text = DocumentFormat.text(DocumentFormat.value(at: path[...], in: document))
        line += printable(text.replacing("\n", with: "\\n").replacing("\t", with: "\\t"))
      }
    }
    return line
  }

  /// Returns the value of a key; null if it is absent. The key of an array's elements has the array of their values.
  private static func value(at path: ArraySlice<String>, in json: JSON) -> JSON {
    guard let key = path.first else { return json }
    switch json {
    case .object(let members):
      return members[key].map { value(at: path.dropFirst(), in: $0) } ?? .null
    case .array(let elements):
      if let index = Int(key) {
        guard elements.indices.contains(index) else { return .null }
        return value(at: path.dropFirst(), in: elements[index])
      }
      return .array(elements.map { value(at: path, in: $0) }.filter { $0 != .null })
    default: return .null
    }
  }

  private static func text(_ json: JSON) -> String {
    switch json {
    case .null: ""
    case .string(let text): text
    case .array(let elements): elements.map(text).joined(separator: ",")
    case .bool, .integer, .real, .object: json.line
    }
  }
}
