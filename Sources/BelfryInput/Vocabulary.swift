import BelfryCore

/// The words with a meaning of their own, in lower case.
enum Vocabulary {
  static let months = [
    "january", "february", "march", "april", "may", "june", "july", "august", "september",
    "october", "november", "december",
  ]

  /// Returns the number of a month by its English name or at least three letters of it, or by its name in German, French
  /// or Spanish.
  static func month(_ word: String) -> Int? {
    guard word.count >= 3 else { return nil }
    return months.firstIndex { $0.hasPrefix(word) }.map { $0 + 1 } ?? foreignMonths[word]
  }

  /// Returns a weekday by its English name, its plural, or at least two letters of it, or by its name in German, French
  /// or Spanish.
  static func weekday(_ word: String) -> Weekday? {
    guard word.count >= 2 else { return nil }
    let singular = isPlural(word) ? String(word.dropLast()) : word
    return Weekday.allCases.first { "\($0)".hasPrefix(singular) }
      ?? foreignWeekdays[word].flatMap(Weekday.init(rawValue:))
  }

  /// Returns true for the plural of a weekday: `mondays`, `montags`.
  static func isPlural(_ word: String) -> Bool {
    word.hasSuffix("days") || foreignWeekdays[word] != nil && word.hasSuffix("tags")
  }

  /// The weekdays of `mwf` and other lists of letters; nil for any other word.
  static func weekdayLetters(_ word: String) -> [String]? {
    switch word {
    case "mwf", "m/w/f", "m-w-f": ["mon", "wed", "fri"]
    case "tth", "tuth", "t/th", "tu/th": ["tue", "thu"]
    case "mtwtf", "m/t/w/t/f", "m-f": ["mon", "tue", "wed", "thu", "fri"]
    default: nil
    }
  }

  /// A part of the day, which selects the half of the day of a time: `monday morning at 9`.
  enum PartOfDay {
    case morning, afternoon, evening, night
  }

  /// Returns a part of the day by its name.
  static func partOfDay(_ word: String) -> PartOfDay? {
    switch word {
    case "morning", "mornings": .morning
    case "afternoon", "afternoons": .afternoon
    case "evening", "evenings": .evening
    case "night", "nights": .night
    default: nil
    }
  }

  /// Returns the weekdays of a group: `weekends`.
  static func weekdayGroup(_ word: String) -> [Weekday]? {
    switch word {
    case "weekday", "weekdays": Weekday.allCases.filter { $0 <= .friday }
    case "weekend", "weekends": [.saturday, .sunday]
    default: nil
    }
  }

  private static let numbers = [
    "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven",
    "twelve",
  ]

  /// Returns a positive number in digits or words; `a` and `an` are 1.
  static func number(_ word: String) -> Int? {
    if word == "a" || word == "an" { return 1 }
    if let index = numbers.firstIndex(of: word) { return index + 1 }
    guard word.utf8.allSatisfy({ $0 >= 0x30 && $0 <= 0x39 }), word.utf8.count <= 6 else {
      return nil
    }
    return Int(word)
  }

  private static let ordinals = [
    "first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth",
  ]

  /// Returns the number of an ordinal: `third` and `3rd` are 3.
  static func ordinal(_ word: String) -> Int? {
    if let index = ordinals.firstIndex(of: word) { return index + 1 }
    guard word.utf8.count >= 3, ["st", "nd", "rd", "th"].contains(String(word.suffix(2))) else {
      return nil
    }
    return number(String(word.dropLast(2))).flatMap { word.first?.isNumber == true ? $0 : nil }
  }

  /// A unit of an interval.
  enum Unit: Equatable {
    case minute, hour, day, workday, week, month, quarter, year
  }

  /// Returns a unit by its name or abbreviation.
  static func unit(_ word: String) -> Unit? {
    switch word {
    case "m", "min", "mins", "minute", "minutes": .minute
    case "h", "hr", "hrs", "hour", "hours": .hour
    case "d", "day", "days": .day
    case "workday", "workdays": .workday
    case "w", "wk", "wks", "week", "weeks": .week
    case "mo", "mos", "month", "months": .month
    case "q", "quarter", "quarters": .quarter
    case "y", "yr", "yrs", "year", "years": .year
    default: nil
    }
  }

  // MARK: Other languages and reasons

  /// The names of weekdays in German, French and Spanish that no English word begins with, from CLDR.
  private static let foreignWeekdays: [String: Int] = {
    let names: [[String]] = [
      ["montag", "montags", "lundi", "lunes"], ["dienstag", "dienstags", "di", "mardi", "martes"],
      ["mittwoch", "mi", "mercredi", "miércoles", "miercoles"],
      ["donnerstag", "donnerstags", "do", "jeudi", "jueves"],
      ["freitag", "freitags", "vendredi", "viernes"],
      ["samstag", "samstags", "sonnabend", "samedi", "sábado", "sabado"],
      ["sonntag", "sonntags", "so", "dimanche", "domingo"],
    ]
    return Dictionary(
      uniqueKeysWithValues: names.enumerated().flatMap { day, names in names.map { ($0, day) } })
  }()

  /// The names of months in German, French and Spanish, from CLDR.
  private static let foreignMonths: [String: Int] = {
    let names: [[String]] = [
      ["januar", "jänner", "janvier", "enero"], ["februar", "février", "fevrier", "febrero"],
      ["märz", "maerz", "mrz", "mär", "mars", "marzo"], ["avril", "abril"], ["mai", "mayo"],
      ["juni", "juin", "junio"], ["juli", "juillet", "julio"], ["août", "aout", "agosto"],
      ["septembre", "septiembre"], ["oktober", "okt", "octobre", "octubre"],
      ["novembre", "noviembre"],
      ["dezember", "dez", "décembre", "decembre", "déc", "diciembre", "dic"],
    ]
    return Dictionary(
      uniqueKeysWithValues: names.enumerated().flatMap { month, names in
        names.map { ($0, month + 1) }
      })
  }()

  private static let foreignWords: Set = [
    "jeden", "jede", "jedes", "um", "uhr", "täglich", "morgen", "heute", "übermorgen", "gestern",
    "abends", "morgens", "mittags", "tage", "wochen", "monate", "demain", "aujourd'hui", "chaque",
    "tous", "heures", "jours", "semaines", "mois", "mañana", "hoy", "cada", "las", "días",
    "semanas", "meses",
  ]

  /// Returns true for a frequent word of schedules in German, French or Spanish.
  static func isForeign(_ word: String) -> Bool { foreignWords.contains(word) }

  /// Returns the reason why no schedule has a word; nil if there is no special one.
  static func reason(against word: String) -> InputError.Unsupported? {
    switch word {
    case "sunrise", "sunset", "dawn", "dusk", "twilight", "sunup", "sundown": .sun
    case "moon", "full", "winter", "spring", "autumn", "fall", "summer", "season", "seasons":
      .season
    case "pay", "payday", "paydays", "wages": .payday
    case "if", "unless", "whenever", "while": .condition
    case "birthday", "birthdays", "anniversary", "mothers", "mother's", "fathers", "father's",
      "thanksgiving", "ramadan", "eid", "diwali", "hanukkah", "passover", "feast", "name-day":
      .namedDay
    case "even", "odd": .parity
    case "remind", "reminder", "warn": .reminder
    case "home", "office", "arrive", "leave", "when": .place
    default: nil
    }
  }

  /// Returns words that mean the same as one that is not understood.
  static func synonyms(of word: String) -> [String] {
    switch word {
    case "any", "all", "recurring", "per": ["every"]
    case "day": ["every day"]
    case "week": ["every week"]
    case "month": ["every month"]
    case "year": ["every year"]
    case "hour": ["every hour"]
    case "repeat", "repeats", "repeating": ["every"]
    case "century": ["100 years"]
    case "q1": ["1 jan"]
    case "q2": ["1 apr"]
    case "q3": ["1 jul"]
    case "q4": ["1 oct"]
    case "r/p1d": ["every day"]
    case "r/p1w": ["every week"]
    case "bid": ["twice a day at 9:00 and 21:00"]
    case "tid": ["every day at 8:00, 14:00 and 20:00"]
    case "due:eom": ["end of month"]
    case "due:tomorrow": ["tomorrow"]
    case "due:today": ["today"]
    default: []
    }
  }

  /// The words of schedules that few titles have.
  static let frequent =
    Weekday.allCases.map { "\($0)" } + [
      "every", "daily", "weekly", "monthly", "quarterly", "yearly", "weekdays", "weekends",
      "workday", "workdays", "tomorrow", "until", "except", "fortnightly",
    ]

  /// The words that suggestions can name.
  static let suggestions: [String] =
    months + numbers + ordinals + Weekday.allCases.map { "\($0)" } + [
      "every", "other", "daily", "weekly", "monthly", "quarterly", "yearly", "weekdays", "weekends",
      "workday", "workdays", "today", "tomorrow", "until", "except", "holidays", "starting", "from",
      "times", "after", "before", "noon", "midnight", "minutes", "hours", "days", "weeks", "months",
      "years", "last", "next", "month", "week", "year", "quarter",
    ]
}

extension Vocabulary.PartOfDay {
  /// Returns the time of the part of the day alone; nil if the settings have none.
  func time(_ times: DayTimes) -> CivilTime? {
    switch self {
    case .morning: times.morning
    case .afternoon: times.afternoon
    case .evening: times.evening
    case .night: times.night
    }
  }

  /// Returns the time of a part of the day for one without a half of the day; nil if the part has none.
  func select(_ time: CivilTime) -> CivilTime? {
    let hour = time.hour % 12
    let isAfternoon =
      switch self {
      case .morning: false
      case .afternoon: true
      case .evening: hour != 0
      case .night: hour > 5
      }
    return CivilTime(hour: hour + (isAfternoon ? 12 : 0), minute: time.minute)
  }

  /// Returns true if a time is in the part of the day, generously.
  func contains(_ time: CivilTime) -> Bool {
    switch self {
    case .morning: (1..<12).contains(time.hour)
    case .afternoon: (12..<19).contains(time.hour)
    case .evening: (15...23).contains(time.hour) || time == .midnight
    case .night: time.hour >= 18 || time.hour < 6
    }
  }
}
