import BelfryCore

/// A calendar event of systemd, as in `OnCalendar`: `Mon..Fri *-*-* 09:00:00 Europe/Berlin`.
enum OnCalendarText {
  private static let names = [
    "minutely": "*-*-* *:*:00"
  ]

  /// The parts of an event, each with its text; nil for a part that it lacks.
  private struct Parts {
    var weekdays: String?
    var date: String?
    var time: String?
    var zone: String?
  }

  /// Returns the schedule of an event; nil if the text does not have the form of one.
  ///
  /// A form that a phrase has too, such as `Mon 09:00`, is not one. Only texts with a pattern such as `*-*-01`, `Mon..Fri`
  /// or `*:00` are.
  static func schedule(
    _ text: String, in context: InputContext
  ) throws(InputError) -> ScheduleDraft? {
    let words = (names[text.lowercased()] ?? text).split(whereSeparator: \.isWhitespace).map(
      String.init)
    guard let parts = parts(words), words.contains(where: isPattern) else { return nil }
    var draft = ScheduleDraft()
    if let zone = parts.zone { draft.zone = try context.zoneNames.name(zone) }
    let weekdays = try parts.weekdays.map { text throws(InputError) in try self.weekdays(text) }
    draft.times = try times(parts.time ?? "00:00:00")
    draft.rule = try rule(parts.date ?? "*-*-*", weekdays)
    return draft
  }

  private static func parts(_ words: [String]) -> Parts? {
    var rest = words[...]
    var parts = Parts()
    if let word = rest.first, word.first?.isLetter == true, isWeekdays(word) {
      parts.weekdays = word.lowercased()
      rest.removeFirst()
    }
    if let word = rest.first, !word.contains(":"), word.contains("-") || word.contains("~"),
      word.utf8.allSatisfy({ "0123456789*,-/.~".utf8.contains($0) })
    {
      parts.date = word
      rest.removeFirst()
    }
    if let word = rest.first, word.contains(":"),
      word.utf8.allSatisfy({ "0123456789*,/.:".utf8.contains($0) })
    {
      parts.time = word
      rest.removeFirst()
    }
    if let word = rest.first, word.first?.isLetter == true, rest.count == 1 {
      parts.zone = word
      rest.removeFirst()
    }
    return rest.isEmpty && (parts.weekdays ?? parts.date ?? parts.time) != nil ? parts : nil
  }

  private static func isPattern(_ word: String) -> Bool {
    word.contains("*") || word.contains("~") || word.contains("..")
      || word.contains("/") && word.contains(":")
  }

  private static func isWeekdays(_ word: String) -> Bool {
    word.lowercased().replacing("..", with: ",").split(separator: ",").allSatisfy { name in
      Weekday(String(name)) != nil
    }
  }

  private static func weekdays(_ text: String) throws(InputError) -> [Weekday] {
    var days: Set<Weekday> = []
    for part in text.split(separator: ",") {
      let ends = part.replacing("..", with: " ").split(separator: " ").compactMap {
        Weekday(String($0))
      }
      guard let first = ends.first, let last = ends.last, first <= last else {
        throw .foreign(.onCalendar, reason: "'\(text)' is not a range of weekdays")
      }
      days.formUnion(Weekday.allCases.filter { (first...last).contains($0) })
    }
    return days.sorted()
  }

  // MARK: Times

  private static func times(_ text: String) throws(InputError) -> [CivilTime] {
    let fields = text.split(separator: ":", omittingEmptySubsequences: false)
    guard (2...3).contains(fields.count) else {
      throw .foreign(.onCalendar, reason: "'\(text)' is not a time")
    }
    if fields.count == 3, try values(fields[2], 0...59) != [0] {
      throw .foreign(.onCalendar, reason: "it has seconds")
    }
    let minutes = try values(fields[1], 0...59)
    return try values(fields[0], 0...23).flatMap { hour in
      minutes.compactMap { CivilTime(hour: hour, minute: $0) }
    }
  }

  /// Returns the values of a component: `*`, `1,15`, `1..5`, `0/15`.
  private static func values(
    _ text: Substring, _ range: ClosedRange<Int>
  ) throws(InputError) -> [Int] {
    var values: Set<Int> = []
    for part in text.split(separator: ",", omittingEmptySubsequences: false) {
      let stepped = part.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
      var bounds = range
      if stepped[0] != "*" {
        let ends = stepped[0].replacing("..", with: " ").split(
          separator: " ", omittingEmptySubsequences: false
        ).map { Int($0) }
        guard let first = ends.first ?? nil, let last = ends.last ?? nil, ends.count <= 2,
          first <= last, range.contains(first), range.contains(last)
        else { throw .foreign(.onCalendar, reason: "'\(text)' is not one of its values") }
        bounds = first...(ends.count == 1 && stepped.count == 2 ? range.upperBound : last)
      }
      let step = stepped.count == 2 ? Int(stepped[1]) ?? 0 : 1
      guard step >= 1 else { throw .foreign(.onCalendar, reason: "'\(text)' has no valid step") }
      values.formUnion(stride(from: bounds.lowerBound, through: bounds.upperBound, by: step))
    }
    return values.sorted()
  }

  // MARK: Dates

  private static func rule(
    _ text: String, _ weekdays: [Weekday]?
  ) throws(InputError) -> ScheduleDraft.Rule {
    let isFromEnd = text.contains("~")
    let fields = text.replacing("~", with: "-").split(
      separator: "-", omittingEmptySubsequences: false)
    guard (2...3).contains(fields.count) else {
      throw .foreign(.onCalendar, reason: "'\(text)' is not a date")
    }
    let year = fields.count == 3 ? fields[0] : "*"
    let months = try values(fields[fields.count - 2], 1...12)
    let dayText = fields[fields.count - 1]
    let days = try isFromEnd ? daysFromEnd(dayText) : values(dayText, 1...31)
    guard year == "*" else { return try once(year, months, days, weekdays, isFromEnd, text) }
    let someMonths = months.count == 12 ? nil : months
    if isFromEnd {
      let monthDays: [Recurrence.MonthDay]
      if let weekdays {
        // The last Monday is the one of the last seven days.
        guard days == Array(1...7) else {
          throw .foreign(.onCalendar, reason: "it combines days of the month with weekdays")
        }
        monthDays = weekdays.map { .weekday(-1, $0) }
      } else {
        monthDays = days.map { .fromEnd($0) }
      }
      return someMonths.map { .annual($0, monthDays, 1) } ?? .monthly(monthDays, 1)
    }
    let selection = DaySelection(
      months: someMonths, days: dayText == "*" ? nil : days,
      weekdays: weekdays.flatMap { $0.count == 7 ? nil : $0 })
    return try selection.rule(of: .onCalendar)
  }

  /// Returns days counted from the end of the month. A step leads towards the last day, 1: `3/2` is 3 and 1.
  private static func daysFromEnd(_ text: Substring) throws(InputError) -> [Int] {
    var days: Set<Int> = []
    for part in text.split(separator: ",", omittingEmptySubsequences: false) {
      let stepped = part.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
      guard stepped.count == 2, let first = Int(stepped[0]) else {
        days.formUnion(try values(part, 1...31))
        continue
      }
      guard (1...31).contains(first), let step = Int(stepped[1]), step >= 1 else {
        throw .foreign(.onCalendar, reason: "'\(text)' is not one of its values")
      }
      days.formUnion(stride(from: first, through: 1, by: -step))
    }
    return days.sorted()
  }

  private static func once(
    _ year: Substring, _ months: [Int], _ days: [Int], _ weekdays: [Weekday]?, _ isFromEnd: Bool,
    _ text: String
  ) throws(InputError) -> ScheduleDraft.Rule {
    guard let year = Int(year), CivilDate.years.contains(year), months.count == 1, days.count == 1
    else { throw .foreign(.onCalendar, reason: "it is limited to some years") }
    let length = CivilDate.length(ofMonth: months[0], year: year)
    let day = isFromEnd ? length - days[0] + 1 : days[0]
    guard (1...length).contains(day) else { throw .noSuchDate(text) }
    let date = CivilDate(year: year, month: months[0], day: day)
    if let weekdays, !weekdays.contains(date.weekday) {
      throw .foreign(.onCalendar, reason: "its date is not on its weekday")
    }
    return .once(date)
  }
}
