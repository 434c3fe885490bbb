/// A setting with its name, its permitted values and its scope.
public enum Setting: String, CaseIterable, Sendable {
  /// A setting of the whole store. The raw value is the name and the key in records.
  case tier, snoozeEnabled, snooze, followUps, grace, ringTimeout, fixedZone, skipBreaksStreak,
    workdays, defaultTime, morning, noon, afternoon, evening, night
  /// A setting of one device; see `isLocal`.
  case slideToStop, sound, soundRising, unmuteSound, openScreen, terminalNotices, reducedMotion,
    clock

  /// The name, on the command line and in JSON, such as `snoozeEnabled`.
  public var name: String { rawValue }

  /// Creates the setting that has a name; nil if there is none.
  public init?(named name: String) { self.init(rawValue: name) }

  /// True if the setting applies only to this device and is not synced.
  public var isLocal: Bool {
    switch self {
    case .slideToStop, .sound, .soundRising, .unmuteSound, .openScreen, .terminalNotices,
      .reducedMotion, .clock:
      true
    default: false
    }
  }

  /// The path of the value in `Settings`.
  public var value: WritableKeyPath<Settings, Value> {
    switch self {
    case .tier: \.tierValue
    case .snoozeEnabled: \.[flag: \.snoozeEnabled]
    case .snooze: \.[seconds: \.snooze]
    case .followUps: \.followUpsValue
    case .grace: \.[seconds: \.grace]
    case .ringTimeout: \.[seconds: \.ringTimeout]
    case .fixedZone: \.[flag: \.fixedZone]
    case .skipBreaksStreak: \.[flag: \.skipBreaksStreak]
    case .workdays: \.workdaysValue
    case .defaultTime: \.[time: \.standard, without: "now"]
    case .morning: \.[time: \.morning, without: "none"]
    case .noon: \.noonValue
    case .afternoon: \.[time: \.afternoon, without: "none"]
    case .evening: \.[time: \.evening, without: "none"]
    case .night: \.[time: \.night, without: "none"]
    case .slideToStop: \.[flag: \.slideToStop]
    case .sound: \.soundValue
    case .soundRising: \.[flag: \.soundRising]
    case .unmuteSound: \.[flag: \.unmuteSound]
    case .openScreen: \.[flag: \.openScreen]
    case .terminalNotices: \.[flag: \.terminalNotices]
    case .reducedMotion: \.[flag: \.reducedMotion]
    case .clock: \.clockValue
    }
  }

  /// The value of a setting.
  public enum Value: Hashable, Sendable {
    /// On or off.
    case flag(Bool)
    /// A duration in seconds.
    case seconds(Int64)
    /// The follow-up times.
    case plan(FollowUpPlan)
    /// One or more weekdays.
    case weekdays(WeekdaySet)
    /// A name, such as that of a tier, a sound or a clock, or a time of day such as `09:00`.
    case word(String)
  }

  /// A description of the permitted values, such as `on or off`.
  public var expected: String {
    switch Settings()[keyPath: value] {
    case .flag: "on or off"
    case .seconds: "a length of time up to a year, such as 90s, 10m, 1h or 1d"
    case .plan: "times after the stop, ascending, such as 30m,1h,90m, or none"
    case .weekdays: "one or more weekdays, such as mon,tue,wed,thu,fri"
    case .word:
      switch self {
      case .defaultTime: "a time of day such as 9:00, or now"
      case .noon: "a time of day such as 12:30"
      case .morning, .afternoon, .evening, .night: "a time of day such as 19:00, or none"
      case .tier: "free, plus or premium"
      case .clock: "12h, 24h or auto"
      default: "the name of a sound: see 'belfry sounds'"
      }
    }
  }

  /// Returns the value that a text denotes; nil if it is not a permitted value of the setting.
  public func parse(_ text: String) -> Value? {
    switch Settings()[keyPath: value] {
    case .flag:
      switch text.lowercased() {
      case "on", "true", "yes": .flag(true)
      case "off", "false", "no": .flag(false)
      default: nil
      }
    case .seconds: Span.parse(text).map { .seconds($0) }
    case .plan: FollowUpPlan(text).map { .plan($0) }
    case .weekdays: Setting.weekdays(text).map { .weekdays($0) }
    case .word: admits(.word(text)) ? .word(text) : nil
    }
  }

  /// Returns the weekdays of `mon,fri`; nil for any other text.
  private static func weekdays(_ text: String) -> WeekdaySet? {
    let words = text.split(separator: ",", omittingEmptySubsequences: false)
    let days = words.compactMap { Weekday($0.filter { $0 != " " }) }
    return days.count == words.count && !days.isEmpty ? WeekdaySet(days) : nil
  }

  /// Returns true if the setting permits a value.
  public func admits(_ value: Value) -> Bool {
    switch (value, Settings()[keyPath: self.value]) {
    case (.flag, .flag), (.plan, .plan): true
    case (.weekdays(let days), .weekdays): !days.isEmpty
    case (.seconds(let seconds), .seconds): (1...31_622_400).contains(seconds)
    case (.word(let word), .word):
      switch self {
      case .tier: Settings.Tier(rawValue: word) != nil
      case .clock: Settings.Clock(rawValue: word) != nil
      case .defaultTime: word == "now" || CivilTime(word) != nil
      case .noon: CivilTime(word) != nil
      case .morning, .afternoon, .evening, .night: word == "none" || CivilTime(word) != nil
      default: Setting.isSoundName(word)
      }
    default: false
    }
  }

  private static func isSoundName(_ word: String) -> Bool {
    (1...64).contains(word.utf8.count)
      && word.utf8.allSatisfy {
        $0 == UInt8(ascii: "-") || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains($0)
          || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0)
      }
  }
}

extension Setting.Value: CustomStringConvertible {
  /// The value in the form that `Setting.parse` reads: `on`, `9m`, `30m,1h,90m`, `bell`.
  public var description: String {
    switch self {
    case .flag(let flag): flag ? "on" : "off"
    case .seconds(let seconds): Span.code(seconds)
    case .plan(let plan): plan.description
    case .weekdays(let days): days.days.map(\.abbreviation).joined(separator: ",")
    case .word(let word): word
    }
  }
}

extension Settings {
  fileprivate var tierValue: Setting.Value {
    get { .word(tier.rawValue) }
    set { if case .word(let word) = newValue, let tier = Tier(rawValue: word) { self.tier = tier } }
  }

  fileprivate var soundValue: Setting.Value {
    get { .word(sound) }
    set { if case .word(let word) = newValue { sound = word } }
  }

  fileprivate var clockValue: Setting.Value {
    get { .word(clock.rawValue) }
    set {
      if case .word(let word) = newValue, let clock = Clock(rawValue: word) { self.clock = clock }
    }
  }

  fileprivate var followUpsValue: Setting.Value {
    get { .plan(followUps) }
    set { if case .plan(let plan) = newValue { followUps = plan } }
  }

  fileprivate var workdaysValue: Setting.Value {
    get { .weekdays(workdays) }
    set { if case .weekdays(let days) = newValue { workdays = days } }
  }

  fileprivate var noonValue: Setting.Value {
    get { .word(dayTimes.noon.description) }
    set {
      if case .word(let word) = newValue, let time = CivilTime(word) { dayTimes.noon = time }
    }
  }

  fileprivate subscript(
    time path: WritableKeyPath<DayTimes, CivilTime?>, without none: String
  ) -> Setting.Value {
    get { .word(dayTimes[keyPath: path]?.description ?? none) }
    set { if case .word(let word) = newValue { dayTimes[keyPath: path] = CivilTime(word) } }
  }

  fileprivate subscript(flag path: WritableKeyPath<Settings, Bool>) -> Setting.Value {
    get { .flag(self[keyPath: path]) }
    set { if case .flag(let flag) = newValue { self[keyPath: path] = flag } }
  }

  fileprivate subscript(seconds path: WritableKeyPath<Settings, Int64>) -> Setting.Value {
    get { .seconds(self[keyPath: path]) }
    set { if case .seconds(let seconds) = newValue { self[keyPath: path] = seconds } }
  }
}
