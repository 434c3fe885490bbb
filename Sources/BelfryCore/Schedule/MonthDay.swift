extension Recurrence {
  /// A day of a month, by its number, its weekday, or as a working day, counted from the start or the end of the month.
  ///
  /// | case | text | day |
  /// |---|---|---|
  /// | `.day(15)` | `15` | the 15th; in a shorter month, its last day |
  /// | `.fromEnd(1)` | `last` | the last day |
  /// | `.fromEnd(3)` | `last-2` | the second day before the last |
  /// | `.weekday(1, .monday)` | `first mon` | the first Monday |
  /// | `.weekday(-2, .friday)` | `last-1 fri` | the second-to-last Friday |
  /// | `.workday(3)` | `third workday` | the third working day |
  /// | `.workday(-1)` | `last workday` | the last working day |
  ///
  /// A month without such a weekday or working day, such as one with four Fridays for `fifth fri`, has no such day.
  public enum MonthDay: Hashable, Sendable {
    /// The day with a number, 1…31. A month that lacks it has its last day instead.
    case day(Int)
    /// The n-th day from the end, 1…31. A month that lacks it has its first day instead.
    case fromEnd(Int)
    /// The n-th date of a weekday from the start, 1…5, or from the end, -1…-5.
    case weekday(Int, Weekday)
    /// The n-th working day from the start, 1…23, or from the end, -1…-23.
    case workday(Int)

    /// The last day.
    public static let last = MonthDay.fromEnd(1)

    /// The maximum number of dates of one weekday in a month.
    public static let maxWeekdays = 5
    /// The maximum number of working days in a month, of which two a week are free.
    public static let maxWorkdays = 23

    /// True if the day depends on the store's working days and holidays.
    var usesCalendar: Bool {
      if case .workday = self { true } else { false }
    }

    /// True if a month can have the day.
    public var isValid: Bool { (try? validate()) != nil }

    /// Throws a `ScheduleError` if a number is out of range.
    func validate() throws(ScheduleError) {
      let (number, limit) =
        switch self {
        case .day(let number), .fromEnd(let number): (number, 31)
        case .weekday(let ordinal, _): (abs(ordinal), MonthDay.maxWeekdays)
        case .workday(let ordinal): (abs(ordinal), MonthDay.maxWorkdays)
        }
      if !(1...limit).contains(number) { throw .dayOutOfRange(number) }
    }

    /// Returns the date in a month; nil if the month has none.
    ///
    /// - Parameters:
    ///   - first: The first day of the month.
    ///   - length: The number of days in the month.
    func date(
      inMonth first: CivilDate, length: Int, _ calendar: WorkCalendar
    ) -> CivilDate? {
      switch self {
      case .day(let number): return first.adding(days: min(number, length) - 1)
      case .fromEnd(let number): return first.adding(days: max(length - number, 0))
      case .weekday(let ordinal, let weekday):
        let toFirst = (weekday.rawValue - first.weekday.rawValue + 7) % 7
        let count = (length - 1 - toFirst) / 7 + 1
        let index = ordinal > 0 ? ordinal - 1 : count + ordinal
        return (0..<count).contains(index) ? first.adding(days: toFirst + index * 7) : nil
      case .workday(let ordinal):
        guard abs(ordinal) <= calendar.workdays.count * MonthDay.maxWeekdays else { return nil }
        let days = (0..<length).lazy.map(first.adding(days:)).filter(calendar.isWorkday)
        return ordinal > 0
          ? days.dropFirst(ordinal - 1).first { _ in true }
          : Array(days).dropLast(-ordinal - 1).last
      }
    }
  }
}

extension Recurrence.MonthDay: Comparable {
  /// The order in texts and records: by kind, from the start before from the end, then by number and weekday.
  private var rank: (Int, Int, Int) {
    func place(_ ordinal: Int) -> Int { ordinal > 0 ? ordinal : 100 + ordinal }
    return switch self {
    case .day(let number): (0, number, 0)
    case .fromEnd(let number): (1, -number, 0)
    case .weekday(let ordinal, let weekday): (2, place(ordinal), weekday.rawValue)
    case .workday(let ordinal): (3, place(ordinal), 0)
    }
  }

  /// Returns true if `a` precedes `b` in the order of texts and records.
  public static func < (a: Self, b: Self) -> Bool { a.rank < b.rank }
}

extension Recurrence.MonthDay: CustomStringConvertible {
  /// The ordinal numbers in words, from the first on.
  public static let ordinals = ["first", "second", "third", "fourth", "fifth"]
  private static let lastName = "last"
  private static let workdayName = "workday"

  /// The day as text that `init(_:)` reads.
  public var description: String {
    func place(_ ordinal: Int) -> String {
      switch ordinal {
      case 1...Self.ordinals.count: Self.ordinals[ordinal - 1]
      case 0...: EnglishNumber.ordinal(ordinal)
      default: Self.fromEnd(-ordinal).description
      }
    }
    return switch self {
    case .day(let number): "\(number)"
    case .fromEnd(1): Self.lastName
    case .fromEnd(let number): "\(Self.lastName)-\(number - 1)"
    case .weekday(let ordinal, let weekday): "\(place(ordinal)) \(weekday.abbreviation)"
    case .workday(let ordinal): "\(place(ordinal)) \(Self.workdayName)"
    }
  }

  /// Creates a day from text such as `15`, `last-2` or `first mon`; nil for any other text.
  public init?(_ text: String) {
    let words = text.lowercased().split(separator: " ").map(String.init)
    guard let first = words.first, words.count <= 2 else { return nil }
    let number: Int? =
      if let index = Self.ordinals.firstIndex(of: first) {
        index + 1
      } else if first == Self.lastName {
        -1
      } else if first.hasPrefix("\(Self.lastName)-"), let count = decimal(first.utf8.dropFirst(5)) {
        -1 - count
      } else {
        EnglishNumber.value(first)
      }
    guard let number, number != 0 else { return nil }
    let day: Self
    if words.count == 1 {
      // `first` alone is not a day of the month, but `1` is.
      guard number < 0 || !Self.ordinals.contains(first) else { return nil }
      day = number > 0 ? .day(number) : .fromEnd(-number)
    } else if words[1] == Self.workdayName {
      day = .workday(number)
    } else if let weekday = Weekday(words[1]) {
      day = .weekday(number, weekday)
    } else {
      return nil
    }
    guard day.isValid else { return nil }
    self = day
  }
}

/// Ordinal numbers in English.
public enum EnglishNumber {
  /// Returns an ordinal number in digits: `1st`, `22nd`, `13th`.
  public static func ordinal(_ number: Int) -> String {
    let suffix =
      switch (number % 10, number % 100) {
      case (_, 11...13): "th"
      case (1, _): "st"
      case (2, _): "nd"
      case (3, _): "rd"
      default: "th"
      }
    return "\(number)\(suffix)"
  }

  /// Returns the number that digits denote, with or without an ordinal suffix; nil for any other text.
  static func value(_ text: String) -> Int? {
    let digits = text.utf8.prefix(while: isDigit)
    guard let number = decimal(digits) else { return nil }
    let rest = text.dropFirst(digits.count)
    return rest.isEmpty || text == ordinal(number) ? number : nil
  }
}
