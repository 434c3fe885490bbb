import BelfryCore

/// A time of day in one word: `9`, `09`, `0900`, `9:30`, `21.30`, `9am`, `9:30pm`.
struct ClockText {
  let hour: Int
  /// The minute; nil for an hour alone.
  let minute: Int?
  /// True for pm, false for am, nil for neither.
  var isAfternoon: Bool?
  /// True if the parts are separated by a full stop, as in a date.
  let hasFullStop: Bool
  /// True if the text is only digits: a number, an hour or a year.
  let isNumber: Bool
  /// True if the hour starts with a zero, which only the 24-hour clock has.
  let hasLeadingZero: Bool
  /// True for `17h30`, which has the hour of the 24-hour clock. Up to `12h`, it may also be a length.
  let hasHourLetter: Bool

  /// Creates the parts of a word; nil if it does not have the form of a time.
  ///
  /// - Throws: `InputError.hasSeconds` for a time with seconds other than 0.
  init?(_ word: String) throws(InputError) {
    var text = word[...]
    isAfternoon = nil
    for (suffix, value) in [("am", false), ("pm", true), ("a.m", false), ("p.m", true)]
    where text.hasSuffix(suffix) || text.hasSuffix(suffix + ".") {
      text = text.dropLast(text.hasSuffix(".") ? suffix.count + 1 : suffix.count)
      isAfternoon = value
      break
    }
    // `17h30`, `17h` and `9:00h`.
    var hasHourLetter = false
    if isAfternoon == nil, let letter = text.firstIndex(of: "h") {
      let (hour, minute) = (text[..<letter], text[text.index(after: letter)...])
      guard !hour.isEmpty, minute.isEmpty || minute.utf8.count == 2 && !hour.contains(":") else {
        return nil
      }
      hasHourLetter = true
      text = hour + (minute.isEmpty ? "" : ":" + minute)
    }
    self.hasHourLetter = hasHourLetter
    guard text.utf8.allSatisfy({ ($0 >= 0x30 && $0 <= 0x39) || $0 == 0x3a || $0 == 0x2e }) else {
      return nil
    }
    hasFullStop = text.contains(".")
    let separator: Character = hasFullStop ? "." : ":"
    let parts = text.split(separator: separator, omittingEmptySubsequences: false)
    guard parts.allSatisfy({ !$0.isEmpty && $0.utf8.count <= 4 }) else { return nil }
    let numbers = parts.compactMap { Int($0) }
    guard numbers.count == parts.count else { return nil }
    isNumber = parts.count == 1 && isAfternoon == nil && !hasHourLetter
    hasLeadingZero = text.hasPrefix("0") && text.utf8.count > 1
    switch (parts.count, text.utf8.count) {
    case (1, 1...2): (hour, minute) = (numbers[0], nil)
    case (1, 3...4): (hour, minute) = (numbers[0] / 100, numbers[0] % 100)
    case (2...3, _)
    where parts[0].utf8.count <= 2 && parts.dropFirst().allSatisfy { $0.count == 2 }:
      if parts.count == 3 {
        guard !hasFullStop else { return nil }
        if numbers[2] != 0 { throw .hasSeconds(word) }
      }
      (hour, minute) = (numbers[0], numbers[1])
    default: return nil
    }
  }

  /// The time of day; nil if there is no such time.
  var time: CivilTime? {
    guard let isAfternoon else { return CivilTime(hour: hour, minute: minute ?? 0) }
    guard (1...12).contains(hour) else { return nil }
    return CivilTime(hour: hour % 12 + (isAfternoon ? 12 : 0), minute: minute ?? 0)
  }
}
