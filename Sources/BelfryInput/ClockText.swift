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
    guard text.utf8.allSatisfy({ ($0 >= 0x30 && $0 <= 0x39) || $0 == 0x3a || $0 == 0x2e }) else {
      return nil
    }
    hasFullStop = text.contains(".")
    let separator: Character = hasFullStop ? "." : ":"
    let parts = text.split(separator: separator, omittingEmptySubsequences: false)
    guard parts.allSatisfy({ !$0.isEmpty && $0.utf8.count <= 4 }) else { return nil }
    let numbers = parts.compactMap { Int($0) }
    guard numbers.count == parts.count else { return nil }
    isNumber = parts.count == 1 && isAfternoon == nil
    hasLeadingZero = text.hasPrefix("0") && text.utf8.count > 1
    switch (parts.count, text.utf8.count) {
    case (1, 1...2): (hour, minute) = (numbers[0], nil)
    case (1, 4): (hour, minute) = (numbers[0] / 100, numbers[0] % 100)
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

/// A time of day that was read, and its form.
struct TimeReading {
  let time: CivilTime
  /// True for an hour from 1 to 12 without minutes, am or pm, which may mean the morning or the afternoon.
  let isBareHour: Bool
  /// The words as they were typed.
  let source: String

  /// The same hour in the other half of the day.
  var otherHalf: CivilTime? {
    CivilTime(hour: (time.hour + 12) % 24, minute: time.minute)
  }

  /// The error that asks for the half of the day.
  var ambiguity: InputError {
    .ambiguous(source, readings: [time, otherHalf].compactMap { $0?.description }.sorted())
  }
}

extension InputReader {
  /// The form of the times that are accepted.
  enum TimeForm {
    /// Any time, for a value that is nothing but times, or after `at`.
    case any
    /// A time that is not a number: `9am`, `09:00` and `0900`, but not `9`. A text that is also a date is ambiguous.
    case distinct
  }

  /// Returns a time of day, or nil if the next words are none.
  mutating func time(_ form: TimeForm) throws(InputError) -> TimeReading? {
    let start = position
    if accept("noon", "midday") {
      return TimeReading(time: .noon, isBareHour: false, source: "noon")
    }
    if accept("midnight") {
      return TimeReading(time: .midnight, isBareHour: false, source: "midnight")
    }
    guard var clock = try ClockText(word) else { return nil }
    let following = peek(1)
    var isOClock = false
    if clock.isAfternoon == nil {
      let half = following.replacing(".", with: "")
      if half == "am" || half == "pm" {
        clock.isAfternoon = half == "pm"
        advance()
      } else if ["o'clock", "oclock"].contains(following) {
        isOClock = true
        advance()
      }
    }
    advance()
    partOfDay(&clock)
    if isThisEvening, clock.isAfternoon == nil, (1...11).contains(clock.hour) {
      clock.isAfternoon = true
    }
    let isNumber = clock.isNumber && clock.isAfternoon == nil && !isOClock
    if form == .distinct, isNumber, clock.minute == nil {
      position = start
      return nil
    }
    let source = source(from: start)
    guard let time = clock.time else {
      // `24.12` is a date, and `90` a number.
      if clock.hasFullStop || isNumber, form == .distinct {
        position = start
        return nil
      }
      throw .noSuchTime(source)
    }
    if form == .distinct, clock.hasFullStop, clock.isAfternoon == nil,
      let date = DateText.dayAndMonth(day: clock.hour, month: clock.minute ?? 0)
    {
      throw .ambiguous(source, readings: [time.description, date])
    }
    return TimeReading(
      time: time,
      isBareHour: clock.isAfternoon == nil && clock.minute == nil && !clock.hasLeadingZero
        && (1...12).contains(clock.hour),
      source: source)
  }

  /// True if the input is about this evening, so that `9` is 21:00.
  private var isThisEvening: Bool {
    tokens.contains { $0.text == "tonight" }
      || zip(tokens, tokens.dropFirst()).contains { $0.text == "this" && $1.text == "evening" }
  }

  /// Reads `in the evening` and the like behind a time.
  private mutating func partOfDay(_ clock: inout ClockText) {
    if accept("in the morning") {
      clock.isAfternoon = clock.isAfternoon ?? false
    } else if accept("in the afternoon", "in the evening") {
      if clock.hour < 12 { clock.isAfternoon = true }
    } else if accept("at night") {
      // Night is from 6 pm to 5 am.
      if clock.isAfternoon == nil, clock.hour <= 12 {
        clock.isAfternoon = (6...11).contains(clock.hour)
      }
    }
  }

  /// Returns the times of a list such as `9am, 12 and 17:00`, or nil if there is none.
  ///
  /// - Throws: `InputError.ambiguous` for a small number that may mean the morning or the afternoon.
  mutating func times(_ form: TimeForm) throws(InputError) -> [TimeReading]? {
    guard let first = try time(form) else { return nil }
    var readings = [first]
    while true {
      let next: TimeReading? = try attempt { (reader) throws(InputError) in
        // `8am 8pm` needs no separator.
        let isSeparated = reader.acceptSeparator()
        let isClear = reader.word.contains(":") || reader.word.hasSuffix("m")
        guard isSeparated || isClear && reader.word.first?.isNumber == true else { return nil }
        let isAfterAt = reader.accept("at")
        if !isAfterAt, reader.isCountOrDate { return nil }
        return try reader.time(isAfterAt ? .any : form)
      }
      guard let next else { break }
      readings.append(next)
    }
    // A time such as 18:00 in the same list shows the 24-hour clock.
    let is24Hours = readings.contains { !$0.isBareHour && $0.time.hour > 12 }
    for reading in readings where reading.isBareHour && !is24Hours {
      if (1...InputReader.lastAmbiguousHour).contains(reading.time.hour) { throw reading.ambiguity }
    }
    return readings
  }

  /// True if the next word is a number with a noun, and no time of day: `6 times`, `4 dec`, `42 days after done`.
  private var isCountOrDate: Bool {
    guard Vocabulary.number(word) != nil else { return false }
    let noun = peek(1)
    return ["times", "time", "occurrences", "occurrence", "of"].contains(noun)
      || Vocabulary.unit(noun) != nil || Vocabulary.month(noun) != nil
  }

  /// The last hour that, as a number alone, may mean the morning or the afternoon. From 7 to 12 it is the hour of the
  /// 24-hour clock.
  static let lastAmbiguousHour = 6
}

extension CivilTime {
  static let noon = CivilTime(hour: 12, minute: 0) ?? .midnight
}
