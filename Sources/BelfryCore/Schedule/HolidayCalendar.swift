/// A calendar of holidays, which is synced so that every device computes the same occurrences.
///
/// Each year is a last-writer-wins register: an import replaces the years that it contains.
public struct HolidayCalendar: Hashable, Stamped {
  /// The name, such as `de-BE`.
  public let name: String
  /// The years that were imported. A removed calendar has years without holidays.
  public var years: [Int: Year]
  /// The unknown keys of the record as canonical JSON, which are preserved.
  public var extras: [String: String]

  /// The holidays of one year.
  public struct Year: Hashable, Sendable {
    /// The names of the holidays by date.
    public var holidays: [CivilDate: String]
    /// The stamp of the last import or edit; nil for a year that was written by hand.
    public var stamp: Stamp?

    /// Creates a year.
    public init(_ holidays: [CivilDate: String], stamp: Stamp? = nil) {
      self.holidays = holidays
      self.stamp = stamp
    }

    /// The holidays as text, for comparison.
    var text: String {
      holidays.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }.joined(separator: "\n")
    }
  }

  /// Creates a calendar.
  public init(
    name: String, years: [Int: Year] = [:], extras: [String: String] = [:]
  ) {
    self.name = name
    self.years = years
    self.extras = extras
  }

  /// The maximum number of years in a calendar.
  public static let maxYears = 100
  /// The maximum number of holidays in a year.
  public static let maxHolidays = 366
  /// The maximum length of the name of a holiday, in characters.
  public static let longestHolidayName = 200

  /// Returns true if a text can be the name of a calendar: 1 to 64 letters and digits, `-` and `_`.
  public static func isName(_ text: some StringProtocol) -> Bool {
    (1...64).contains(text.utf8.count)
      && text.utf8.allSatisfy { byte in
        (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
          || isDigit(byte) || byte == UInt8(ascii: "-") || byte == UInt8(ascii: "_")
      }
  }

  /// The names of all holidays by date.
  public var holidays: [CivilDate: String] {
    years.values.reduce(into: [:]) { $0.merge($1.holidays) { $1 } }
  }

  /// True if the calendar was removed.
  public var isRemoved: Bool { years.values.allSatisfy(\.holidays.isEmpty) }

  /// The latest stamp of a year; nil if none has one.
  public var latestStamp: Stamp? { years.values.compactMap(\.stamp).max() }

  /// Returns the calendar with the years of some holidays replaced, as an edit at `now`. Years that stay the same are
  /// stamped, too.
  public func importing(
    _ holidays: [CivilDate: String], at now: Instant, device: Identifier
  ) -> HolidayCalendar {
    var result = self
    let stamp = Stamp.next(after: latestStamp, now: now, device: device)
    for (year, dates) in Dictionary(grouping: holidays, by: \.key.year) {
      result.years[year] = Year(
        Dictionary(uniqueKeysWithValues: dates.map { ($0.key, $0.value) }), stamp: stamp)
    }
    return result
  }

  /// Returns the calendar without holidays, as an edit at `now`.
  public func removed(at now: Instant, device: Identifier) -> HolidayCalendar {
    var result = self
    let stamp = Stamp.next(after: latestStamp, now: now, device: device)
    result.years = years.mapValues { _ in Year([:], stamp: stamp) }
    return result
  }

  /// Returns the calendar with one earlier change undone, as an edit at `now`; nil if a later change affects the same
  /// year.
  ///
  /// - Parameters:
  ///   - after: the calendar after the change.
  ///   - before: the calendar before the change.
  public func undoing(
    _ after: HolidayCalendar, before: HolidayCalendar, at now: Instant, device: Identifier
  ) -> HolidayCalendar? {
    var result = self
    let stamp = Stamp.next(after: latestStamp, now: now, device: device)
    for (number, year) in after.years where year.holidays != before.years[number]?.holidays ?? [:] {
      guard years[number]?.holidays == year.holidays else { return nil }
      result.years[number] = Year(before.years[number]?.holidays ?? [:], stamp: stamp)
    }
    return result
  }

  /// Returns the value with stamps on the parts that were edited by hand since an earlier version. See `Stamped`.
  public func stamped(
    against earlier: HolidayCalendar?, at now: Instant, device: Identifier,
    after latest: Stamp? = nil
  ) -> HolidayCalendar {
    var result = self
    let stamp = Stamp.next(
      after: [latestStamp, earlier?.latestStamp, latest].compactMap { $0 }.max(), now: now,
      device: device)
    for year in yearsEditedByHand(since: earlier) { result.years[year]?.stamp = stamp }
    return result
  }

  /// Returns the years that were edited by hand since an earlier version, by the same rule as an alarm's fields.
  public func yearsEditedByHand(since earlier: HolidayCalendar?) -> [Int] {
    years.filter { number, year in
      guard let stamp = year.stamp else { return true }
      guard let known = earlier?.years[number] else { return false }
      return stamp == known.stamp && year.holidays != known.holidays
    }.map(\.key).sorted()
  }

  /// Returns true if a part was edited by hand since an earlier version. See `Stamped`.
  public func isEditedByHand(since earlier: HolidayCalendar?) -> Bool {
    !yearsEditedByHand(since: earlier).isEmpty
  }

  /// Joins two versions of a calendar, year by year: the later stamp wins, a year without a stamp is older than any with
  /// one, and between equal stamps the greater text wins.
  public static func join(_ a: HolidayCalendar, _ b: HolidayCalendar) -> HolidayCalendar {
    let result = joined(a, b)
    assert(result.isEquivalent(to: joined(b, a)), "the join is commutative")
    assert(joined(result, a) == result, "the join is absorbing")
    return result
  }

  /// Returns true if the years of two versions have the same texts and stamps. Debug builds check it.
  private func isEquivalent(to other: HolidayCalendar) -> Bool {
    years.mapValues(\.text) == other.years.mapValues(\.text)
      && years.mapValues(\.stamp) == other.years.mapValues(\.stamp) && extras == other.extras
  }

  private static func joined(_ a: HolidayCalendar, _ b: HolidayCalendar) -> HolidayCalendar {
    var result = a
    for (number, year) in b.years {
      let wins =
        switch (a.years[number]?.stamp, year.stamp) {
        case (let ours?, let theirs?) where ours != theirs: theirs > ours
        case (nil, _?): true
        case (_?, nil): false
        default: a.years[number].map { TextOrder.isGreater(year.text, than: $0.text) } ?? true
        }
      if wins { result.years[number] = year }
    }
    result.extras.merge(b.extras, uniquingKeysWith: TextOrder.greater)
    return result
  }
}

extension WorkCalendar {
  /// Creates the calendar of a store with the holidays of all its calendars.
  public init(workdays: WeekdaySet, _ calendars: some Sequence<HolidayCalendar>) {
    self.init(workdays: workdays, holidays: Set(calendars.flatMap(\.holidays.keys)))
  }
}
