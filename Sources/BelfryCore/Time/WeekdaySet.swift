/// A set of weekdays. Its elements are in the order of a week that starts on Monday.
public struct WeekdaySet: Hashable, Sendable {
  /// The weekdays as bits. The lowest is Monday.
  private var bits: UInt8 = 0

  /// Creates a set of weekdays.
  public init(_ days: some Sequence<Weekday>) {
    for day in days { insert(day) }
  }

  /// Adds a weekday.
  public mutating func insert(_ day: Weekday) { bits |= 1 << UInt8(day.rawValue) }

  /// Returns true if the set has a weekday.
  public func contains(_ day: Weekday) -> Bool { bits & 1 << UInt8(day.rawValue) != 0 }

  /// The number of weekdays.
  public var count: Int { bits.nonzeroBitCount }

  /// True if there is no weekday.
  public var isEmpty: Bool { bits == 0 }

  /// The weekdays, from Monday on.
  public var days: [Weekday] { Weekday.allCases.filter(contains) }
}

extension WeekdaySet: ExpressibleByArrayLiteral {
  /// Creates a set of weekdays.
  public init(arrayLiteral days: Weekday...) { self.init(days) }
}
