/// The rule of a time zone after its last transition: a POSIX TZ string such as `CET-1CEST,M3.5.0,M10.5.0/3`, with the
/// extension of RFC 9636 (hours from -167 to 167).
struct PosixRule: Sendable, Equatable {
  /// A change to or from summer time.
  private struct Change: Equatable {
    enum Day: Equatable {
      /// Day 1…365 of a year, without counting 29 February.
      case julian(Int)
      /// Day 0…365 of a year, counting 29 February.
      case ofYear(Int)
      /// Week 1…5 (5: the last) and weekday (0: Sunday) of a month.
      case ofMonth(month: Int, week: Int, weekday: Int)
    }
    var day: Day
    /// The time of the change in seconds after local midnight.
    var time: Int64

    /// Returns the time of the change in a year, in seconds since the epoch on the local clock before the change.
    func local(in year: Int) -> Int64 {
      let date: CivilDate
      switch day {
      case .julian(let number):
        let leap = CivilDate.length(ofMonth: 2, year: year) == 29
        date = CivilDate(year: year, month: 1, day: 1)
          .adding(days: number - 1 + (leap && number >= 60 ? 1 : 0))
      case .ofYear(let number):
        date = CivilDate(year: year, month: 1, day: 1).adding(days: number)
      case .ofMonth(let month, let week, let weekday):
        let wanted = (weekday + 6) % 7
        let first = CivilDate(year: year, month: month, day: 1)
        var offset = (wanted - first.weekday.rawValue + 7) % 7 + (week - 1) * 7
        if offset >= CivilDate.length(ofMonth: month, year: year) { offset -= 7 }
        date = first.adding(days: offset)
      }
      return Int64(date.dayNumber) * 86_400 + time
    }
  }

  /// The offset of standard time in seconds east of UTC.
  private var standard: Int64
  private var summer: (offset: Int64, start: Change, end: Change)?

  static func == (a: PosixRule, b: PosixRule) -> Bool {
    a.standard == b.standard && a.summer?.offset == b.summer?.offset
      && a.summer?.start == b.summer?.start && a.summer?.end == b.summer?.end
  }

  /// Returns the offset in seconds east of UTC at a time in seconds since the epoch.
  func offset(at seconds: Int64) -> Int {
    guard let summer else { return Int(standard) }
    let day = CivilDate(dayNumber: Int((seconds + standard).floorDivided(by: 86_400)))
    let start = summer.start.local(in: day.year) - standard
    let end = summer.end.local(in: day.year) - summer.offset
    // In the southern hemisphere, summer time includes the end of the year.
    let isSummer =
      start < end ? seconds >= start && seconds < end : seconds >= start || seconds < end
    return Int(isSummer ? summer.offset : standard)
  }

  /// Creates a rule from a POSIX TZ string; nil if the string is not valid.
  init?(_ text: String) {
    var parser = Parser(bytes: Array(text.utf8))
    guard parser.name(), let offset = parser.clock(hours: 167) else { return nil }
    standard = -offset
    if parser.atEnd { return }
    guard parser.name() else { return nil }
    var summerOffset = standard + 3600
    if !parser.peek(UInt8(ascii: ",")) {
      guard let given = parser.clock(hours: 167) else { return nil }
      summerOffset = -given
    }
    guard parser.take(UInt8(ascii: ",")), let start = parser.change(),
      parser.take(UInt8(ascii: ",")), let end = parser.change(), parser.atEnd
    else { return nil }
    summer = (summerOffset, start, end)
  }

  private struct Parser {
    let bytes: [UInt8]
    var index = 0

    init(bytes: [UInt8]) {
      self.bytes = bytes
    }

    var atEnd: Bool { index == bytes.count }
    func peek(_ byte: UInt8) -> Bool { index < bytes.count && bytes[index] == byte }

    mutating func take(_ byte: UInt8) -> Bool {
      guard peek(byte) else { return false }
      index += 1
      return true
    }

    /// Reads an abbreviation: letters, or anything between `<` and `>`. Returns false if there is none.
    mutating func name() -> Bool {
      let start = index
      if take(UInt8(ascii: "<")) {
        while !atEnd, !peek(UInt8(ascii: ">")) { index += 1 }
        return take(UInt8(ascii: ">"))
      }
      while !atEnd, bytes[index] | 0x20 >= UInt8(ascii: "a"),
        bytes[index] | 0x20 <= UInt8(ascii: "z")
      {
        index += 1
      }
      return index > start
    }

    mutating func number() -> Int? {
      let digits = bytes[index...].prefix { isDigit($0) }
      index += digits.count
      return decimal(digits)
    }

    /// Reads `[+-]h[h[h]][:mm[:ss]]`. Returns the time in seconds; nil if there is none.
    mutating func clock(hours limit: Int) -> Int64? {
      let negative = take(UInt8(ascii: "-"))
      if !negative { _ = take(UInt8(ascii: "+")) }
      guard let hours = number(), hours <= limit else { return nil }
      var seconds = Int64(hours) * 3600
      for unit: Int64 in [60, 1] where take(UInt8(ascii: ":")) {
        guard let value = number(), value < 60 else { return nil }
        seconds += Int64(value) * unit
      }
      return negative ? -seconds : seconds
    }

    mutating func change() -> Change? {
      var day: Change.Day
      if take(UInt8(ascii: "M")) {
        guard let month = number(), (1...12).contains(month), take(UInt8(ascii: ".")),
          let week = number(), (1...5).contains(week), take(UInt8(ascii: ".")),
          let weekday = number(), (0...6).contains(weekday)
        else { return nil }
        day = .ofMonth(month: month, week: week, weekday: weekday)
      } else if take(UInt8(ascii: "J")) {
        guard let number = number(), (1...365).contains(number) else { return nil }
        day = .julian(number)
      } else {
        guard let number = number(), (0...365).contains(number) else { return nil }
        day = .ofYear(number)
      }
      var time: Int64 = 7200
      if take(UInt8(ascii: "/")) {
        guard let given = clock(hours: 167) else { return nil }
        time = given
      }
      return Change(day: day, time: time)
    }
  }
}
