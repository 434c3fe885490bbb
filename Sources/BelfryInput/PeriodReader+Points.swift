import BelfryCore

/// The words of one end of a period, without dates.
extension PeriodReader {
  /// Returns the point that words name; nil if they name none.
  func namedPoint(_ words: [String]) -> PeriodPoint? {
    latest(words) ?? relative(words) ?? week(words) ?? quarter(words) ?? month(words)
      ?? year(words)
  }

  /// Returns true if periods of a unit are read: all in the past, those of the calendar's unit otherwise.
  private func reads(_ kind: CalendarUnit) -> Bool {
    switch direction {
    case .past: true
    case .calendar(of: .month): kind == .month || kind == .year
    case .calendar(let unit): kind == unit || kind.isWeek && unit.isWeek
    }
  }

  /// True in a calendar, whose unit says what a number is.
  private var readsNumbers: Bool {
    if case .calendar = direction { return true }
    return false
  }

  /// Returns the dates of a unit in the past, and its first date for a calendar, which shows units of its own.
  private func dates(_ unit: CalendarUnit, _ distance: Int = 0, from date: CivilDate) -> PeriodPoint
  {
    let dates = unit.dates(distance, from: date)
    if case .past = direction { return .dates(dates) }
    return .dates(dates.lowerBound...dates.lowerBound)
  }

  // MARK: From today on

  /// Reads `this week`, `last quarter` and in the past `week`; in a calendar also `next month` and `next`.
  private func relative(_ words: [String]) -> PeriodPoint? {
    guard let word = words.first, words.count <= 2 else { return nil }
    let named = words.count == 2 ? PeriodWords.unit(words[1]) : nil
    if words.count == 2, named == nil { return nil }
    switch direction {
    case .past:
      if words.count == 1 {
        guard let unit = PeriodWords.unit(word), unit != .day else { return nil }
        return dates(unit, from: today)
      }
      guard let named, let distance = PeriodWords.distance(word), distance <= 0 else { return nil }
      return dates(named, distance, from: today)
    case .calendar(let own):
      guard let distance = PeriodWords.distance(word) else { return nil }
      // Alone, these words are rather a part of a title.
      if named == nil, ["current", "past"].contains(word) { return nil }
      guard let named else { return dates(own, distance, from: today) }
      if named == .day || named == .quarter { return nil }
      return dates(own.isWeek && named.isWeek ? own : named, distance, from: today)
    }
  }

  /// Reads `last 30 days` in the past: the days of a number of units up to today.
  private func latest(_ words: [String]) -> PeriodPoint? {
    guard case .past = direction, words.count == 3, PeriodWords.distance(words[0]) == -1,
      let count = Vocabulary.number(words[1]), (1...10_000).contains(count),
      let unit = PeriodWords.unit(words[2], isPlural: true)
    else { return nil }
    let start: CivilDate
    switch unit {
    case .day: start = today.adding(days: 1 - count)
    case .week: start = today.adding(days: 1 - 7 * count)
    case .month, .quarter, .year:
      let months = count * (unit == .month ? 1 : unit == .quarter ? 3 : 12)
      guard months < today.year * 12 else { return nil }
      let month = CalendarUnit.month.start(-months, from: today)
      let length = CivilDate.length(ofMonth: month.month, year: month.year)
      // The day after that of the same number: 28 Dec for a year up to 27 Dec.
      start = month.adding(days: min(today.day, length))
    }
    return .dates(start...today)
  }

  // MARK: Of a year

  /// Reads `2026`.
  private func year(_ words: [String]) -> PeriodPoint? {
    guard reads(.year), words.count == 1, let year = year(words[0]) else { return nil }
    return .dates(CalendarUnit.year.dates(around: CivilDate(year: year, month: 1, day: 1)))
  }

  private func year(_ word: String) -> Int? {
    guard let year = PeriodWords.year(word) else { return nil }
    // In words that also name alarms, other numbers are rather a part of a title.
    return readsNumbers || (1900...9998).contains(year) ? year : nil
  }

  /// Reads `q4`, `q4 2026` and `2026-q4`.
  private func quarter(_ words: [String]) -> PeriodPoint? {
    guard reads(.quarter) else { return nil }
    let parts = words.count == 1 ? PeriodWords.parts(words[0], at: "-") : words
    return point(parts, PeriodWords.quarter)
  }

  /// Reads `december`, `dec 2026`, `2026 dec` and `2026-12`; in a calendar also `12/2026`, `12 2026` and `12`.
  private func month(_ words: [String]) -> PeriodPoint? {
    guard reads(.month) else { return nil }
    var parts = words
    var isNumber = readsNumbers
    if words.count == 1, let separator = words[0].first(where: { "-/.".contains($0) }) {
      parts = PeriodWords.parts(words[0], at: separator)
      // As in records: `2026-12`.
      if separator == "-", parts.map(\.utf8.count) == [4, 2] { isNumber = true }
    }
    return point(parts) { PeriodWords.month($0, isNumber: isNumber) }
  }

  /// Reads `2026-w51`; in a calendar also `w51` and `51`.
  private func week(_ words: [String]) -> PeriodPoint? {
    guard reads(.isoWeek), words.count == 1 else { return nil }
    let parts = words[0].split(separator: "w", omittingEmptySubsequences: false).map(String.init)
    guard let number = parts.last.flatMap(PeriodWords.digits), (1...53).contains(number) else {
      return nil
    }
    if parts.count == 1 {
      return readsNumbers && words[0].utf8.count <= 2 ? .week(number) : nil
    }
    guard parts.count == 2 else { return nil }
    if parts[0].isEmpty { return readsNumbers ? .week(number) : nil }
    let year = parts[0].hasSuffix("-") ? String(parts[0].dropLast()) : parts[0]
    guard let year = self.year(year), let start = PeriodPoint.week(number).start(in: year) else {
      return nil
    }
    return dates(.isoWeek, from: start)
  }

  /// Returns the point of one word, or of one with its year before or after it.
  ///
  /// - Parameter read: Returns the point of a word without a year.
  private func point(_ words: [String], _ read: (String) -> PeriodPoint?) -> PeriodPoint? {
    if words.count == 1 { return read(words[0]) }
    guard words.count == 2 else { return nil }
    for (word, year) in [(words[0], words[1]), (words[1], words[0])] {
      if let point = read(word), let year = self.year(year), let start = point.start(in: year) {
        return dates(point.unit, from: start)
      }
    }
    return nil
  }
}
