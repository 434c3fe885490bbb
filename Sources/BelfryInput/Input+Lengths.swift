import BelfryCore

extension Input {
  /// Returns true for a length of time or a number of days, weeks, months or years.
  public static func isLength(_ text: String) -> Bool {
    (try? period(text, in: anywhere)) != nil || (try? length(text, in: anywhere)) != nil
  }

  /// The context of values that depend on neither the time nor the zone.
  static let anywhere = InputContext(
    instant: Instant(milliseconds: 0), zone: .utc, calendar: .standard,
    zoneNames: ZoneNames(load: { [] }, rules: { _ in nil }))

  /// Returns the seconds by which a text moves a time: `+30m`, `-1h`, `2 hours later`, `1d earlier`; nil for any other
  /// text.
  public static func shift(_ text: String, in context: InputContext) -> Int64? {
    var (length, sign) = (text.lowercased()[...], Int64(1))
    if length.hasPrefix("+") || length.hasPrefix("-") {
      sign = length.removeFirst() == "-" ? -1 : 1
    } else if length.hasSuffix(" later") {
      length = length.dropLast(6)
    } else if length.hasSuffix(" earlier") {
      (length, sign) = (length.dropLast(8), -1)
    } else {
      return nil
    }
    // A number alone counts minutes elsewhere. Here, it can be an hour, too.
    guard length.contains(where: \.isLetter) else { return nil }
    return (try? self.length(String(length), in: context)).map { sign * $0 }
  }

  /// Returns the two times of day of a text that replaces one by the other: `19:30 to 20:00`; nil for any other text.
  public static func replacement(
    _ text: String, in context: InputContext
  ) -> (old: CivilTime, new: CivilTime)? {
    var words = text.lowercased().split(separator: " ")
    if words.first == "from" { words.removeFirst() }
    let parts = words.split(omittingEmptySubsequences: false) { ["to", "->", "→"].contains($0) }
    guard parts.count == 2, let old = try? time(parts[0].joined(separator: " "), in: context),
      let new = try? time(parts[1].joined(separator: " "), in: context)
    else { return nil }
    return (old, new)
  }

  /// Returns true for a text that changes times of day which an alarm has: `30m later`, `19:30 to 20:00`.
  public static func changesTimes(_ text: String, in context: InputContext) -> Bool {
    shift(text, in: context) != nil || replacement(text, in: context) != nil
  }

  /// Returns the number of seconds in a length of time: `90` (minutes), `20m`, `1h30m`, `10 min`, `2 days`; nil for any
  /// other text, for 0 and for more than 366 days.
  public static func seconds(_ text: String) -> Int64? {
    try? length(text, in: anywhere)
  }

  /// Returns the numbers of seconds in a list such as `30m,1h,90m` or `1 week, 1 day`; nil for any other text.
  public static func seconds(ofList text: String) -> [Int64]? {
    let parts = text.split(separator: ",", omittingEmptySubsequences: false)
    let lengths = parts.compactMap { seconds(String($0)) }
    return lengths.count == parts.count ? lengths : nil
  }

  /// Returns the quiet hours in a text such as `22:00-7:00` or `10pm-7am`; nil for any other text.
  public static func quietHours(_ text: String) -> QuietHours? {
    let times = text.split(separator: "-", omittingEmptySubsequences: false)
      .compactMap { try? time(String($0), in: anywhere) }
    return times.count == 2 ? QuietHours(from: times[0], until: times[1]) : nil
  }

  /// Returns the value of a setting in the form that `Setting.parse` reads; nil if the text is not a permitted value.
  public static func value(of setting: Setting, _ text: String) -> Setting.Value? {
    switch Settings()[keyPath: setting.value] {
    case .seconds: seconds(text).map { .seconds($0) }
    case .plan:
      text.lowercased() == "none"
        ? setting.parse("none")
        : seconds(ofList: text).flatMap { FollowUpPlan($0) }.map { .plan($0) }
    case .weekdays: (try? weekdays(text, in: anywhere)).map { .weekdays(WeekdaySet($0)) }
    case .flag: setting.parse(text.lowercased())
    case .word:
      // `9am` is a time of day, and none of the other words is one.
      setting.parse(text.lowercased())
        ?? (try? time(text, in: anywhere)).flatMap { setting.parse($0.description) }
    }
  }
}
