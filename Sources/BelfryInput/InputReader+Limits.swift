import BelfryCore

extension InputReader {
  /// Returns the window of an interval, `9 to 17` or `9-17`; nil for none.
  ///
  /// - Parameter isMarked: `from` or `between` precedes it.
  mutating func timeRange(
    isMarked: Bool
  ) throws(InputError) -> (CivilTime, CivilTime)? {
    let start = position
    if let (from, to) = try joinedRange() { return (from, to) }
    // `from 25 dec` has no time of day.
    let from = isMarked ? (try? time(.any)) ?? nil : try time(.distinct)
    guard let from else {
      position = start
      return nil
    }
    // `9am until 30 june` is not a window.
    let separators = isMarked ? ["to", "-", "until", "till", "and", "through"] : ["to", "-"]
    guard accept(anyOf: separators), let to = try? time(isMarked ? .any : .distinct),
      // `from 14:00 until 4 dec`
      Vocabulary.month(word) == nil
    else {
      position = start
      return nil
    }
    return try window(from, to)
  }

  private mutating func joinedRange() throws(InputError) -> (CivilTime, CivilTime)? {
    let parts = word.split(separator: "-", omittingEmptySubsequences: false).map(String.init)
    guard parts.count == 2, !parts[0].isEmpty, !parts[1].isEmpty else { return nil }
    var first = InputReader(parts[0], context)
    var last = InputReader(parts[1], context)
    // `12-24` is not a window, because there is no 24:00.
    guard let from = try? first.time(.any), first.isAtEnd, let to = try? last.time(.any),
      last.isAtEnd
    else { return nil }
    advance()
    return try window(from, to)
  }

  private func window(
    _ from: TimeReading, _ to: TimeReading
  ) throws(InputError) -> (CivilTime, CivilTime) {
    // `9 to 5` is 9:00 to 17:00.
    if to.lacksHalf, to.time <= from.time, let other = to.otherHalf, other > from.time {
      return (from.time, other)
    }
    if to.isBareHour, to.time <= from.time { throw to.ambiguity }
    // `6 to 10pm` may begin at 18:00.
    if from.isBareHour, to.source.hasHalf, let other = from.otherHalf, other > from.time,
      other < to.time
    {
      throw from.ambiguity
    }
    return (from.time, to.time)
  }

  /// Returns the error for `10-12 9am`, whose range may be a date; nil if it cannot be one.
  func dateOfWindow(_ window: (from: CivilTime, to: CivilTime)) -> InputError? {
    guard window.from.minute == 0, window.to.minute == 0 else { return nil }
    let (first, second) = (window.from.hour, window.to.hour)
    let readings = [
      DateText.dayAndMonth(day: first, month: second),
      DateText.dayAndMonth(day: second, month: first),
    ].compactMap { $0 }
    return readings.isEmpty ? nil : .ambiguous("\(first)-\(second)", readings: readings)
  }

  /// Returns the latest possible occurrence of a schedule that ends on a date. A month or a year includes its last day.
  ///
  /// - Parameter hasTimes: The schedule has its times of day already, so that a time behind the date is part of the end.
  mutating func end(hasTimes: Bool = false) throws(InputError) -> CivilDateTime {
    if let moment = civilDateTime() { return moment }
    let date: CivilDate
    if let month = Vocabulary.month(word), Vocabulary.ordinal(peek(1)) == nil,
      peek(1).utf8.count > 2 || Vocabulary.number(peek(1)) == nil
    {
      advance()
      _ = accept(",")
      date = end(ofMonth: month)
    } else if let year = year() {
      date = endOfMonth(12, year: year)
    } else if let reading = try self.date() {
      date = resolved(reading)
    } else {
      throw missing(.date)
    }
    if hasTimes, let reading = try attempt({ (reader) throws(InputError) in try reader.endTime() })
    {
      return CivilDateTime(date, reading.time)
    }
    return Schedule.Limits.end(of: date)
  }

  private mutating func endTime() throws(InputError) -> TimeReading? {
    let isMarked = accept("at", "@")
    return try time(isMarked ? .any : .distinct)
  }

  /// Returns a date that a schedule leaves out. A weekday alone is not a date.
  mutating func exceptionDate() throws(InputError) -> DateReading? {
    let start = position
    guard let date = try date() else { return nil }
    if case .weekday(_, afterToday: false) = date, tokens[start].text != "this" {
      position = start
      return nil
    }
    return date
  }

  /// Returns true if the next words are a date or a weekday that a schedule can leave out.
  func isException() throws(InputError) -> Bool {
    var reader = self
    if ["holidays", "holiday"].contains(reader.word) { return true }
    if try reader.exceptionDate() != nil {
      // A time may follow in the next clause, but not a second rule.
      return true
    }
    return try reader.weekdays() != nil
  }

  /// Returns a time zone: `berlin time`, `in new york`, `Europe/Berlin`, `zone utc`; nil for none.
  ///
  /// - Parameter allowsCity: A city alone at the end of the input is a zone, too.
  mutating func zone(allowsCity: Bool) throws(InputError) -> String? {
    let start = position
    let isNamed = accept("zone", "timezone", "time zone")
    let isIn = !isNamed && accept("in")
    if let zone = try abbreviatedZone() { return zone }
    // The name may have up to three words.
    for count in stride(from: 3, through: 1, by: -1) where position + count <= tokens.count {
      let name = tokens[position..<position + count].map(\.source).joined(separator: " ")
      let isMarked = isNamed || isIn || InputReader.isZoneName(name) || peek(count) == "time"
      let isCity =
        allowsCity && position + count == tokens.count && name.count > 3
        && name.first?.isLetter == true && !name.contains("/")
      guard isMarked || isCity,
        tokens[position..<position + count].allSatisfy({ $0.text != "time" }),
        let zone = try? context.zoneNames.name(name)
      else { continue }
      advance(count)
      _ = accept("time")
      return zone
    }
    guard isNamed || peek(1) == "time" || InputReader.isZoneName(word) else {
      position = start
      return nil
    }
    guard !isAtEnd else { throw missing(.zone) }
    return try context.zoneNames.name(tokens[position].source)
  }

  /// Returns true for a name such as `Europe/Berlin`, with or without a mistake in it.
  private static func isZoneName(_ name: String) -> Bool {
    guard let region = name.split(separator: "/").first, name.contains("/") else { return false }
    return [
      "africa", "america", "antarctica", "arctic", "asia", "atlantic", "australia", "europe",
      "indian", "pacific", "etc", "us",
    ].contains(region.lowercased())
  }

  /// Reads `UTC`.
  ///
  /// - Throws: `InputError.unknownZone` for an abbreviation that several zones have, such as `EST`, with a zone.
  private mutating func abbreviatedZone() throws(InputError) -> String? {
    if accept("utc", "gmt") {
      _ = accept("time")
      return try context.zoneNames.name("UTC")
    }
    let city: String? =
      switch word {
      case "et", "est", "edt": "America/New_York"
      case "ct", "cst", "cdt": "America/Chicago"
      case "mt", "mst", "mdt": "America/Denver"
      case "pt", "pst", "pdt": "America/Los_Angeles"
      case "cet", "cest", "mez", "mesz": "Europe/Berlin"
      case "bst": "Europe/London"
      case "ist": "Asia/Kolkata"
      case "jst": "Asia/Tokyo"
      case "aest", "aedt": "Australia/Sydney"
      default: nil
      }
    if let city { throw .unknownZone(tokens[position].source, suggestions: [city]) }
    if (word.hasPrefix("gmt") || word.hasPrefix("utc")) && word.count > 3 {
      let source = tokens[position].source
      _ = try context.zoneNames.name(source)
      throw .unknownZone(source, suggestions: [])
    }
    return nil
  }
}
