/// The times of day that a user means by words, and by a schedule without a time.
public struct DayTimes: Hashable, Sendable {
  /// The time of schedules that name none; nil for the time at which they are typed.
  public var standard: CivilTime?
  /// The time of `morning`; nil if the word alone is no time.
  public var morning: CivilTime?
  /// The time of `noon`.
  public var noon: CivilTime
  /// The time of `afternoon`; nil if the word alone is no time.
  public var afternoon: CivilTime?
  /// The time of `evening` and of the end of a day; nil if the words alone are no time.
  public var evening: CivilTime?
  /// The time of `night`; nil if the word alone is no time.
  public var night: CivilTime?

  /// Creates times. Without arguments, they are those of a new store.
  public init(
    standard: CivilTime? = nil, morning: CivilTime? = nil, noon: CivilTime = .noon,
    afternoon: CivilTime? = nil, evening: CivilTime? = nil, night: CivilTime? = nil
  ) {
    self.standard = standard
    self.morning = morning
    self.noon = noon
    self.afternoon = afternoon
    self.evening = evening
    self.night = night
  }
}
