/// The order of texts in merges: by their UTF-8.
///
/// `==` and `<` take two spellings of a character, such as `é` as one or two code points, for equal. A merge that
/// compares them keeps the spelling of its own side, so that two devices get different results.
enum TextOrder {
  /// Returns true if `a` is greater than `b`.
  static func isGreater(_ a: String, than b: String) -> Bool {
    b.utf8.lexicographicallyPrecedes(a.utf8)
  }

  /// Returns true if `a`, compared text by text, is greater than `b`.
  static func isGreater(_ a: [String], than b: [String]) -> Bool {
    b.lexicographicallyPrecedes(a) { isGreater($1, than: $0) }
  }

  /// Returns the greater of two texts.
  static func greater(_ a: String, _ b: String) -> String { isGreater(b, than: a) ? b : a }
}
