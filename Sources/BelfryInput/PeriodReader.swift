import BelfryCore

/// A direction in which a period is searched that names no year.
enum PeriodDirection {
  /// The latest period that has begun, of any unit: `stats november`.
  case past
  /// The period nearest to today, for a calendar of a unit: `month december`. The unit's name can be left out.
  case calendar(of: CalendarUnit)
}

/// A reader of the words of one period, in the past or for a calendar.
///
/// | words | past | calendar |
/// |---|---|---|
/// | `this month`, `last year` | the whole unit | the unit of the calendar in which it begins |
/// | `next month`, `now`, `next` | | the same |
/// | `week`, `last 30 days` | also `past 6 months` | |
/// | `2026`, `dec 2026`, `2026-12`, `2026-W51` | also `2026-Q4` | those of the calendar's unit |
/// | `december` | the latest that has begun, also `q4` | the nearest |
/// | `12/2026`, `12`, `w51`, `51` | | those of the calendar's unit |
/// | a date | as `date` reads it | the same |
///
/// Two of them with a word such as `to` or `..` between are a range. In the past, the first must not be after the second.
struct PeriodReader<Failure: Error> {
  let direction: PeriodDirection
  let today: CivilDate
  /// Returns the date that words name; nil if they name none.
  private let date: ([String]) throws(Failure) -> CivilDate?

  init(
    _ direction: PeriodDirection, today: CivilDate,
    date: @escaping ([String]) throws(Failure) -> CivilDate?
  ) {
    self.direction = direction
    self.today = today
    self.date = date
  }

  /// Returns the dates that all of some words in lower case name together; nil if they name no period.
  func dates(_ text: String) throws(Failure) -> ClosedRange<CivilDate>? {
    let words = PeriodReader.tokens(text)
    guard let separator = words.firstIndex(where: PeriodReader.isSeparator) else {
      return try point(words).map(resolved)
    }
    let first = words[..<separator].drop { $0 == "from" }
    guard let start = try point(Array(first)),
      let end = try point(Array(words[(separator + 1)...]))
    else { return nil }
    return range(start, end)
  }

  private func point(_ words: [String]) throws(Failure) -> PeriodPoint? {
    if words.isEmpty { return nil }
    if let point = namedPoint(words) { return point }
    guard let date = try date(words) else { return nil }
    return .dates(date...date)
  }

  // MARK: Words

  private static func isSeparator(_ word: String) -> Bool {
    ["to", "until", "till", "through", "-", ".."].contains(word)
  }

  /// Returns the words of a text, with separators as words of their own: `dec-feb`, `2026-12..2027-02`.
  private static func tokens(_ text: String) -> [String] {
    text.replacing("–", with: "-").replacing("..", with: " .. ")
      .split(whereSeparator: \.isWhitespace)
      .flatMap { word -> [String] in
        let parts = word.split(separator: "-", omittingEmptySubsequences: false).map(String.init)
        let isRange =
          parts.count == 2
          && (parts.allSatisfy { Vocabulary.month($0) != nil }
            || parts.allSatisfy { PeriodWords.year($0) != nil })
        return isRange ? [parts[0], "-", parts[1]] : [String(word)]
      }
  }

  // MARK: Dates

  /// Returns the first dates of a point in the years around another date.
  private func candidates(_ point: PeriodPoint, around date: CivilDate) -> [CivilDate] {
    // A year without a 53rd week is followed by one with it within 7 years.
    (-7...7).map { date.year + $0 }.filter { CivilDate.years.contains($0) }
      .compactMap { point.start(in: $0) }
  }

  /// Returns the dates of a point; without a year, those in the direction of the reader.
  private func resolved(_ point: PeriodPoint) -> ClosedRange<CivilDate> {
    if case .dates(let dates) = point { return dates }
    let starts = candidates(point, around: today)
    switch direction {
    case .past:
      return point.unit.dates(around: starts.last { $0 <= today } ?? today)
    case .calendar(let unit):
      // Of two at the same distance, the later one.
      let nearest = starts.min { a, b in
        let (one, two) = (
          abs(unit.distance(from: today, to: a)), abs(unit.distance(from: today, to: b))
        )
        return one == two ? a > b : one < two
      }
      return (nearest ?? today)...(nearest ?? today)
    }
  }

  /// Returns the dates from one point to another; nil if they are in the wrong order. In a calendar, the order of two
  /// dates does not matter, and a point without a year is the one nearest to the other point.
  private func range(_ start: PeriodPoint, _ end: PeriodPoint) -> ClosedRange<CivilDate>? {
    if case .past = direction {
      let (first, last) = (resolved(start).lowerBound, resolved(end).upperBound)
      return first <= last ? first...last : nil
    }
    switch (start, end) {
    case (.dates(let one), .dates(let two)):
      return min(one.lowerBound, two.lowerBound)...max(one.upperBound, two.upperBound)
    case (_, .dates(let two)):
      let first = candidates(start, around: two.lowerBound).last { $0 <= two.upperBound }
      return (first ?? two.lowerBound)...two.upperBound
    default:
      let one = resolved(start)
      let last = candidates(end, around: one.lowerBound).first { $0 >= one.lowerBound }
      return one.lowerBound...max(one.upperBound, last ?? one.upperBound)
    }
  }
}
