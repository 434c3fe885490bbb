import BelfryCore

/// The form of times and dates in text for people: the clock, the order of a date's parts, and the first weekday.
package struct TimeFormat: Hashable, Sendable {
  /// A clock of 12 or 24 hours.
  package enum Clock: Hashable, Sendable {
    case twelveHour, twentyFourHour
  }

  /// The order of the parts of a date.
  package enum DateOrder: Hashable, Sendable {
    /// `Mon 23 Nov 2026`
    case dayMonthYear
    /// `Mon, Nov 23, 2026`
    case monthDayYear
    /// `Mon 2026-11-23`
    case yearMonthDay
  }

  /// The clock.
  package var clock = Clock.twentyFourHour
  /// The order of the parts of a date.
  package var order = DateOrder.dayMonthYear
  /// The first day of a week in calendars and lists of weekdays.
  package var firstWeekday = Weekday.monday

  /// Creates the format of a locale and of the setting `clock`.
  ///
  /// - Parameters:
  ///   - environment: the environment variables. The first of `LC_ALL`, `LC_TIME` and `LANG` that is not empty names
  ///     the locale.
  ///   - clock: the value of the setting; `auto` for the clock of the locale.
  package init(environment: [String: String], clock: Settings.Clock = .auto) {
    let locale = ["LC_ALL", "LC_TIME", "LANG"].lazy.compactMap { environment[$0] }
      .first { !$0.isEmpty }
    self.init(locale: locale ?? "")
    switch clock {
    case .auto: break
    case .twelveHour: self.clock = .twelveHour
    case .twentyFourHour: self.clock = .twentyFourHour
    }
  }

  /// Creates the format of a locale such as `en_US.UTF-8`. A locale without a territory, such as `C`, has the default
  /// format.
  package init(locale: String) {
    let name = locale.prefix { $0 != "." && $0 != "@" }.split(separator: "_")
    guard name.count == 2, let language = name.first, let territory = name.last else { return }
    if LocaleTable.startsOnSunday.contains(territory) { firstWeekday = .sunday }
    if LocaleTable.startsOnSaturday.contains(territory) { firstWeekday = .saturday }
    // French uses 24 hours also where other languages of the territory do not.
    if LocaleTable.twelveHours.contains(territory), language != "fr" { clock = .twelveHour }
    if LocaleTable.yearFirst.contains(language)
      || LocaleTable.yearFirstLocales.contains("\(language)_\(territory)")
    {
      order = .yearMonthDay
    } else if LocaleTable.monthFirst.contains(territory) {
      order = .monthDayYear
    }
  }

  package init() {}
}

/// The conventions of territories and languages, after the Unicode CLDR.
///
/// The table works without installed locales, which minimal systems and containers lack.
private enum LocaleTable {
  /// The territories whose weeks start on Sunday.
  static let startsOnSunday = territories(
    """
    AG AS BD BR BS BT BW BZ CA CO DM DO ET GT GU HK HN ID IL IN JM JP KE KH KR LA MH MM MO MT MX MZ NI NP PA PE PH PK
    PR PT PY SA SG SV TH TT TW UM US VE VI WS YE ZA ZW
    """)
  /// The territories whose weeks start on Saturday.
  static let startsOnSaturday = territories("AF BH DJ DZ EG IQ IR JO KW LY OM QA SD SY")
  /// The territories with a clock of 12 hours.
  static let twelveHours = territories(
    """
    AE AG AS AU BB BD BH BM BS BT CA CO CY DM DO EG ET FJ FM GD GH GM GR GU GY HK IN IQ JM JO KI KN KP KR KW KY LB LC
    LR LY MH MO MP MW MY NA NZ OM PA PG PH PK PR PS PW QA SA SB SD SG SL SS SV SY SZ TC TO TT TW UM US VC VE VG VI VU
    WS YE ZM
    """)
  /// The territories that write the month before the day.
  static let monthFirst = territories("AS FM GU MH MP PH PR PW UM US VI")
  /// The languages that write the year first.
  static let yearFirst: Set<Substring> = ["hu", "ja", "ko", "lt", "mn", "sv", "zh"]
  /// The locales that write the year first, unlike others of the language. `en_DK` stands for ISO 8601.
  static let yearFirstLocales: Set<String> = ["en_CA", "en_DK", "en_SE", "fr_CA"]

  private static func territories(_ list: String) -> Set<Substring> {
    Set(list.split { $0 == " " || $0 == "\n" })
  }
}
