/// The name of an action: an executable of the user's in `~/.config/belfry/actions` that an alarm runs.
///
/// Records contain only names, so that nothing that is synced is ever executed. A name is one path component with 1 to
/// 64 characters, and starts with neither a period nor a hyphen.
public struct ActionName: Hashable, Sendable, CustomStringConvertible {
  /// The name.
  public let text: String

  /// The maximum length of a name, in characters (grapheme clusters).
  public static let maxLength = 64
  /// The maximum length of a file's name on Linux, in bytes.
  private static let maxBytes = 255

  /// Creates a name; nil if the text is not the name of an action.
  public init?(_ text: String) {
    guard let first = text.unicodeScalars.first, first != ".", first != "-",
      text.count <= ActionName.maxLength, text.utf8.count <= ActionName.maxBytes,
      !text.unicodeScalars.contains(where: { $0 == "/" || $0.isHidden || $0.value == 0 }),
      first.properties.isWhitespace == false,
      text.unicodeScalars.last?.properties.isWhitespace == false
    else { return nil }
    self.text = text
  }

  /// The name.
  public var description: String { text }
}
