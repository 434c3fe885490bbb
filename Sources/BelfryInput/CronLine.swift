import BelfryCore

/// The five time fields of a crontab line, or one of its names such as `@daily`.
///
/// Cron has no days that clamp to the end of a month: its day 31 leaves out shorter months.
enum CronLine {
  private static let names = [
    "@hourly": "0 * * * *", "@daily": "0 0 * * *", "@midnight": "0 0 * * *",
    "@weekly": "0 0 * * 0", "@monthly": "0 0 1 * *", "@yearly": "0 0 1 1 *",
    "@annually": "0 0 1 1 *",
  ]

  /// Returns the schedule of a line; nil if the text does not have the form of one.
  static func schedule(_ text: String) throws(InputError) -> ScheduleDraft? {
    let line = text.lowercased()
    let words = (names[line] ?? line).split(whereSeparator: \.isWhitespace).map(String.init)
    try refuseVariants(words)
    // `mon wed fri sun 8am` has words where a line of cron has numbers.
    guard words.count == 5, words.allSatisfy(isField),
      !words[..<3].contains(where: { $0.contains(where: \.isLetter) })
    else { return nil }
    let minutes = try field(words[0], 0...59)
    let hours = try field(words[1], 0...23)
    let days = try field(words[2], 1...31)
    let months = try field(words[3], 1...12, names: Vocabulary.months.map { String($0.prefix(3)) })
    let weekdays = try field(
      words[4], 0...7, names: ["sun"] + Weekday.allCases.dropLast().map(\.abbreviation))
    var draft = ScheduleDraft()
    draft.times = hours.flatMap { hour in minutes.compactMap { CivilTime(hour: hour, minute: $0) } }
    // As in cron, a day field that starts with `*` does not restrict the days.
    let anyDay = words[2].hasPrefix("*")
    let anyWeekday = words[4].hasPrefix("*")
    if !anyDay, !anyWeekday {
      throw .foreign(.cron, reason: "it fires on days of the month and also on weekdays")
    }
    if anyDay != ["*", "*/1"].contains(words[2]) || anyWeekday != ["*", "*/1"].contains(words[4]) {
      throw .foreign(.cron, reason: "it counts days with a step")
    }
    let selection = DaySelection(
      months: months.count == 12 ? nil : months, days: anyDay ? nil : days,
      weekdays: anyWeekday ? nil : Set(weekdays.map { CronLine.weekday($0) }).sorted())
    draft.rule = try selection.rule(of: .cron)
    return draft
  }

  /// Throws an error for lines that only some versions of cron read: with seconds, a zone, `L`, `#` or a command.
  private static func refuseVariants(_ words: [String]) throws(InputError) {
    if let zone = words.first, zone.hasPrefix("cron_tz=") || zone.hasPrefix("tz=") {
      throw .foreign(.cron, reason: "it names a time zone, which is the option --zone")
    }
    let fields = words.prefix { word in
      word.contains("*") || word.first?.isNumber == true && !word.hasSuffix(",")
        || ["?", "l", "lw"].contains(word) || word.contains("#")
    }
    guard fields.count >= 5, words.contains(where: { $0.hasPrefix("*") || $0 == "?" }) else {
      return
    }
    if fields.contains(where: { $0.contains("l") || $0.contains("#") || $0 == "?" }) {
      throw .foreign(
        .cron, reason: "it has L, # or ?; write 'last day of the month' or '2nd mon of the month'")
    }
    if fields.count == 6 {
      throw .foreign(.cron, reason: "it has six fields, and Belfry reads five, without seconds")
    }
    if words.count > 5, fields.count == 5 {
      throw .foreign(.cron, reason: "a command follows its five fields")
    }
  }

  private static func weekday(_ number: Int) -> Weekday {
    Weekday(rawValue: (number + 6) % 7) ?? .sunday
  }

  private static func isField(_ word: String) -> Bool {
    let isSymbolic = word.utf8.allSatisfy { byte in
      (byte >= 0x30 && byte <= 0x39) || "*,-/".utf8.contains(byte)
        || (byte >= 0x61 && byte <= 0x7a)
    }
    let parts = word.split { ",-/*".contains($0) }
    // `8, 12, 4 and 8pm` is a list of times.
    return isSymbolic && !word.hasSuffix(",")
      && parts.allSatisfy { $0.allSatisfy(\.isNumber) || $0.count == 3 }
      && (word.contains("*") || parts.contains { $0.count <= 3 })
  }

  /// Returns the values of a field, in ascending order.
  private static func field(
    _ text: String, _ range: ClosedRange<Int>, names: [String] = []
  ) throws(InputError) -> [Int] {
    func value(_ word: Substring) throws(InputError) -> Int {
      if let index = names.firstIndex(of: String(word)) { return index + (range.lowerBound) }
      guard let number = Int(word), range.contains(number) else {
        throw .foreign(.cron, reason: "'\(text)' is not one of its values")
      }
      return number
    }
    var values: Set<Int> = []
    for part in text.split(separator: ",", omittingEmptySubsequences: false) {
      let stepped = part.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
      var bounds = range
      if stepped[0] != "*" {
        let ends = stepped[0].split(separator: "-", maxSplits: 1, omittingEmptySubsequences: false)
        let first = try value(ends[0])
        let last =
          ends.count == 2 ? try value(ends[1]) : stepped.count == 2 ? range.upperBound : first
        guard first <= last else {
          throw .foreign(.cron, reason: "'\(text)' ends before it starts")
        }
        bounds = first...last
      }
      let step = stepped.count == 2 ? Int(stepped[1]) ?? 0 : 1
      guard step >= 1 else { throw .foreign(.cron, reason: "'\(text)' has no valid step") }
      values.formUnion(stride(from: bounds.lowerBound, through: bounds.upperBound, by: step))
    }
    return values.sorted()
  }
}

/// The days that another program selects by month, day of the month and weekday, without clamping.
struct DaySelection {
  /// The months; nil for all.
  let months: [Int]?
  /// The days of the month, each of which only exists in months that have it; nil for all.
  let days: [Int]?
  /// The weekdays; nil for all.
  let weekdays: [Weekday]?

  /// Returns the rule for the days.
  ///
  /// - Throws: `InputError.foreign` if no rule has the same days.
  func rule(of format: InputError.Format) throws(InputError) -> ScheduleDraft.Rule {
    switch (days, weekdays) {
    case (nil, nil):
      guard let months else { return .daily(1) }
      // The days 29 to 31 are counted from the end, because some months lack them.
      return .annual(months, (1...28).map { .day($0) } + (1...3).map { .fromEnd($0) }, 1)
    case (nil, let weekdays?):
      guard let months else { return .weekly(weekdays, 1) }
      let all = (1...Recurrence.MonthDay.maxWeekdays).flatMap { ordinal in
        weekdays.map { Recurrence.MonthDay.weekday(ordinal, $0) }
      }
      return .annual(months, all, 1)
    case (let days?, nil): return try rule(days, format)
    case (let days?, let weekdays?):
      guard let first = days.first, first % 7 == 1, first <= 22, days == Array(first...(first + 6))
      else {
        throw .foreign(format, reason: "it combines days of the month with weekdays")
      }
      let ordinals = weekdays.map { Recurrence.MonthDay.weekday(first / 7 + 1, $0) }
      guard let months else { return .monthly(ordinals, 1) }
      return .annual(months, ordinals, 1)
    }
  }

  private func rule(
    _ days: [Int], _ format: InputError.Format
  ) throws(InputError) -> ScheduleDraft.Rule {
    if days.contains(29), months?.contains(2) ?? true {
      throw .foreign(format, reason: "it fires on 29 February, and leaves out common years")
    }
    // A day that some months lack would be their last day in Belfry.
    let sets = Set(
      days.map { day in
        (months ?? Array(1...12)).filter { CivilDate.length(ofMonth: $0, year: 2001) >= day }
      })
    guard sets.count == 1, let common = sets.first, !common.isEmpty else {
      throw .foreign(format, reason: "it leaves out the months that lack one of its days")
    }
    let monthDays = days.map { Recurrence.MonthDay.day($0) }
    return common.count == 12 ? .monthly(monthDays, 1) : .annual(common, monthDays, 1)
  }
}
