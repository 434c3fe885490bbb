/// Durations as text.
public enum Span {
  /// Returns the time until an event for display: `in 12 min`, `in 10 h 5 min`, `in 3 days`. From a week on, days are rounded to
  /// the nearest: nobody calls 8 days and 23 hours 8 days.
  public static func until(_ seconds: Int64) -> String {
    let isLong = seconds >= 7 * 86_400
    return seconds < 60
      ? "in less than a minute" : "in \(length(isLong ? seconds + 43_200 : seconds))"
  }

  /// Returns the time until an event for a display that is drawn at each minute, in whole minutes, rounded up: at 8:48, an
  /// alarm at 9:00 rings `in 12 min`.
  public static func countdown(_ seconds: Int64) -> String {
    "in \(length((max(1, seconds) + 59) / 60 * 60))"
  }

  /// Returns a duration for display, rounded down: `12 min`, `10 h 5 min`, `2 days 3 h`, `12 days`.
  public static func length(_ seconds: Int64) -> String {
    let minutes = seconds / 60
    let hours = minutes / 60
    let days = hours / 24
    func unit(_ count: Int64, _ name: String) -> String {
      "\(count) \(name)\(count == 1 ? "" : "s")"
    }
    switch seconds {
    case ..<60: return "\(seconds) s"
    case ..<3600: return "\(minutes) min"
    case ..<86_400: return minutes % 60 == 0 ? "\(hours) h" : "\(hours) h \(minutes % 60) min"
    case ..<(7 * 86_400):
      return hours % 24 == 0 ? unit(days, "day") : "\(unit(days, "day")) \(hours % 24) h"
    default: return unit(days, "day")
    }
  }

  /// Returns a duration for display, exact to the second: `1 min 30 s`, `9 min`, `1 h 30 min`.
  public static func exact(_ seconds: Int64) -> String {
    guard seconds >= 60 else { return length(seconds) }
    let parts = [
      (seconds / 86_400, seconds / 86_400 == 1 ? "day" : "days"), (seconds / 3600 % 24, "h"),
      (seconds / 60 % 60, "min"), (seconds % 60, "s"),
    ]
    return parts.filter { $0.0 > 0 }.map { "\($0.0) \($0.1)" }.joined(separator: " ")
  }

  /// Returns the time since an event for display: `just now`, `12 min ago`, `3 days ago`.
  public static func ago(_ seconds: Int64) -> String {
    seconds < 60 ? "just now" : "\(length(seconds)) ago"
  }

  private static let units: [(letter: Character, seconds: Int64)] = [
    ("w", 604_800), ("d", 86_400), ("h", 3600), ("m", 60), ("s", 1),
  ]

  /// Returns the number of seconds in a text such as `90s`, `10m`, `1h`, `1d` or `1w`; nil for any other text, for 0
  /// and for more than 366 days.
  public static func parse(_ text: String) -> Int64? {
    guard let last = text.last, let unit = units.first(where: { $0.letter == last })?.seconds,
      text.dropLast().allSatisfy({ $0.isASCII && $0.isNumber }), let count = Int64(text.dropLast()),
      count > 0, count <= 366 * 86_400 / unit
    else { return nil }
    return count * unit
  }

  /// Returns the numbers of seconds in a text such as `30m,1h,90m`; nil for any other text.
  static func list(_ text: String) -> [Int64]? {
    var seconds: [Int64] = []
    for word in text.split(separator: ",", omittingEmptySubsequences: false) {
      guard let span = Span.parse(word.filter { $0 != " " }) else { return nil }
      seconds.append(span)
    }
    return seconds
  }

  /// Returns a duration as text that `parse` reads, in the largest unit without a remainder: `90m`, `1h`.
  public static func code(_ seconds: Int64) -> String {
    let unit = units.first { seconds % $0.seconds == 0 } ?? ("s", 1)
    return "\(seconds / unit.seconds)\(unit.letter)"
  }
}
