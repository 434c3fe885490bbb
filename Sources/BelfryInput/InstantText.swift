import BelfryCore

/// A parser of moments with an offset from UTC.
public enum InstantText {
  /// Returns the moment that a text in RFC 3339 format names, or nil for any other text.
  ///
  /// Also accepts forms of ISO 8601: without seconds (`2026-12-24T16:45Z`), with a space instead of the `T`, with an
  /// offset without its colon or its minutes (`+0200`, `+02`).
  public static func instant(_ text: String) -> Instant? {
    var rest = text.replacing(" ", with: "T")[...]
    guard rest.utf8.count >= 17, rest.utf8.allSatisfy({ $0 < 0x80 }) else { return nil }
    var result = String(rest.prefix(16))
    rest = rest.dropFirst(16)
    if rest.first == ":" {
      let seconds = rest.prefix { !"Zz+-".contains($0) }
      result += seconds
      rest = rest.dropFirst(seconds.count)
    } else {
      result += ":00"
    }
    if let sign = rest.first, sign == "+" || sign == "-" {
      let digits = rest.dropFirst().filter { $0 != ":" }
      guard rest.dropFirst().allSatisfy({ $0.isNumber || $0 == ":" }) else { return nil }
      switch digits.count {
      case 2: rest = "\(sign)\(digits):00"
      case 4: rest = "\(sign)\(digits.prefix(2)):\(digits.suffix(2))"
      default: return nil
      }
    }
    return Instant(rfc3339: result + rest)
  }
}
