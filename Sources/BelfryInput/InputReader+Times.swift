import BelfryCore

/// A time of day that was read, and its form.
struct TimeReading {
  let time: CivilTime
  /// True for an hour from 1 to 12 without minutes, am or pm, which may mean the morning or the afternoon.
  var isBareHour: Bool
  /// True for any time of the 12-hour clock without am or pm: `5`, `5:30`, `quarter to 6`.
  var lacksHalf = false
  /// True for a time after midnight of the coming night: `tonight at 1`.
  var isAfterMidnight = false
  /// The words as they were typed.
  let source: String

  /// Returns the same reading with another time.
  func with(_ time: CivilTime) -> TimeReading {
    TimeReading(time: time, isBareHour: false, source: source)
  }

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
      return TimeReading(time: context.dayTimes().noon, isBareHour: false, source: "noon")
    }
    if accept("midnight") {
      return TimeReading(
        time: .midnight, isBareHour: false, isAfterMidnight: isTonight, source: "midnight")
    }
    if let reading = try spokenTime() { return reading }
    var parts = try ClockText(word)
    if parts == nil { parts = try spelledHour(form) }
    guard var clock = parts else { return nil }
    // `2h` may be a length.
    if clock.hasHourLetter, !word.contains(":"), form == .distinct, clock.hour <= 12 { return nil }
    // Three digits are an hour and minutes only behind `at`.
    if clock.isNumber, word.utf8.count == 3, form == .distinct { return nil }
    let following = peek(1)
    var isOClock = false
    var isHourOf24 = clock.hasHourLetter
    if clock.isAfternoon == nil {
      let half = following.replacing(".", with: "")
      if half == "am" || half == "pm" {
        clock.isAfternoon = half == "pm"
        advance()
      } else if ["o'clock", "oclock"].contains(following) {
        isOClock = true
        advance()
      } else if following == "uhr" {
        isOClock = true
        isHourOf24 = true
        advance()
      } else if ["noon", "midnight"].contains(following), clock.hour == 12, clock.minute == nil {
        clock.isAfternoon = following == "noon"
        advance()
      }
    }
    advance()
    partOfDay(&clock)
    let isAfterMidnight = isTonight && clock.isAfternoon == nil && isNight(clock)
    if isAfterMidnight {
      clock.isAfternoon = false
    } else if isThisEvening, clock.isAfternoon == nil, (1...11).contains(clock.hour) {
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
      if hasOtherTime(than: start) {
        position = start
        return nil
      }
      throw .ambiguous(source, readings: [time.description, date])
    }
    // `2029` alone may be the year.
    if form == .distinct, isNumber, tokens.count == 1,
      (2000..<2100).contains(Int(tokens[start].text) ?? 0)
    {
      throw .numberAlone(source)
    }
    let lacksHalf =
      clock.isAfternoon == nil && !clock.hasLeadingZero && !isHourOf24
      && (1...12).contains(clock.hour) && (clock.minute == nil || clock.hour < 10)
    return TimeReading(
      time: time, isBareHour: lacksHalf && clock.minute == nil, lacksHalf: lacksHalf,
      isAfterMidnight: isAfterMidnight, source: source)
  }

  /// Returns the hour of `nine`, which follows `at` or stands before `am`, `pm` or `o'clock`.
  private func spelledHour(_ form: TimeForm) throws(InputError) -> ClockText? {
    let isMarked = ["am", "pm", "a.m.", "p.m.", "o'clock", "oclock"].contains(peek(1))
    guard form == .any || isMarked, word != "a", word != "an", word.first?.isLetter == true,
      let number = Vocabulary.number(word)
    else { return nil }
    return try ClockText(String(number))
  }

  /// Reads `half past 7`, `quarter to 6`, `10 past 5`.
  private mutating func spokenTime() throws(InputError) -> TimeReading? {
    try refuseHalf()
    return try attempt { (reader) throws(InputError) -> TimeReading? in
      let start = reader.position
      let minutes: Int
      if reader.accept("half past", "half-past") {
        minutes = 30
      } else if reader.accept("quarter past", "a quarter past") {
        minutes = 15
      } else if reader.accept("quarter to", "a quarter to") {
        minutes = -15
      } else if let number = Vocabulary.number(reader.word), (1...29).contains(number),
        reader.word != "a", ["past", "to"].contains(reader.peek(1)),
        [5, 10, 20, 25].contains(number)
      {
        minutes = reader.peek(1) == "past" ? number : -number
        reader.advance(2)
      } else {
        return nil
      }
      guard let hour = try reader.time(.any), hour.time.minute == 0,
        case let sum = hour.time.hour * 60 + minutes,
        // `quarter to 1` is 12:45.
        case let minute = hour.lacksHalf && sum < 60 ? sum + 720 : (sum + 1440) % 1440,
        let time = CivilTime(hour: minute / 60, minute: minute % 60)
      else { return nil }
      return TimeReading(
        time: time, isBareHour: hour.isBareHour, lacksHalf: hour.lacksHalf,
        source: reader.source(from: start))
    }
  }

  /// Throws an error for `half nine`, which is 9:30 in Britain, and 8:30 in other languages.
  private func refuseHalf() throws(InputError) {
    guard word == "half", let hour = Vocabulary.number(peek(1)), (1...12).contains(hour),
      peek(1) != "a", peek(1) != "an", Vocabulary.unit(peek(2)) == nil
    else { return }
    var reader = self
    reader.advance(2)
    throw .ambiguous(
      reader.source(from: position),
      readings: ["half past \(hour)", "half past \((hour + 10) % 12 + 1)"])
  }

  /// True if the input has another time that is no date.
  private func hasOtherTime(than start: Int) -> Bool {
    tokens.indices.contains { index in
      guard index != start, let clock = try? ClockText(tokens[index].text) else { return false }
      return !clock.hasFullStop && !clock.isNumber
    }
  }

  /// True if the input is about the coming night.
  private var isTonight: Bool { tokens.contains { $0.text == "tonight" } }

  /// Returns true for an hour that is night after midnight in `tonight at 1`.
  private func isNight(_ clock: ClockText) -> Bool {
    clock.hour == 12 || clock.hour < 5 && (clock.minute != nil || clock.hour > 0)
  }

  /// True if the input is about this evening, so that `9` is 21:00.
  var isThisEvening: Bool {
    isTonight
      || zip(tokens, tokens.dropFirst()).contains { $0.text == "this" && $1.text == "evening" }
  }

  /// The time of `tonight` and `this evening` alone; nil if the settings have none.
  var timeOfThisEvening: CivilTime? {
    let times = context.dayTimes()
    return isTonight ? times.night ?? times.evening : times.evening
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
    let is24Hours = readings.contains { !$0.lacksHalf && $0.time.hour > 12 && !$0.source.hasHalf }
    if is24Hours {
      for index in readings.indices {
        (readings[index].isBareHour, readings[index].lacksHalf) = (false, false)
      }
    }
    readings = InputReader.ascending(readings)
    // `8 and 8` are both halves of the day.
    if readings.count == 2, readings[0].isBareHour, readings[0].time == readings[1].time,
      let other = readings[1].otherHalf
    {
      return [readings[0].with(readings[0].time), readings[1].with(other)]
    }
    return readings
  }

  /// Returns the times of `8, 12, 4 and 8pm` with 4 in the half of the day in which it follows 12.
  private static func ascending(_ readings: [TimeReading]) -> [TimeReading] {
    guard readings.count > 2, readings.contains(where: \.source.hasHalf) else { return readings }
    var result = readings
    for index in readings.indices.dropFirst() where result[index].lacksHalf {
      let previous = result[index - 1].time
      if result[index].time > previous { continue }
      guard let other = result[index].otherHalf, other > previous else { return readings }
      result[index] = result[index].with(other)
    }
    return zip(result, result.dropFirst()).allSatisfy { $0.time < $1.time } ? result : readings
  }

  /// Throws an error for a small number alone, which may mean the morning or the afternoon.
  static func checkHalves(_ readings: [TimeReading]) throws(InputError) {
    for reading in readings where reading.isBareHour {
      if (1...InputReader.lastAmbiguousHour).contains(reading.time.hour) { throw reading.ambiguity }
    }
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

extension String {
  /// True for a text with am or pm, which says nothing about the clock of other times.
  var hasHalf: Bool {
    let text = lowercased().replacing(".", with: "")
    return text.hasSuffix("am") || text.hasSuffix("pm")
  }
}
