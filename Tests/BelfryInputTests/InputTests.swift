import BelfryCore
import BelfryInput
import TestSupport
import Testing

/// Tests of times, dates, moments, lengths and zones, with every accepted spelling.
@Suite struct InputTests {
  /// Monday.
  private let context = InputContext.test(CivilDateTime("2026-11-23T10:00")!)

  @Test(
    "Times of day",
    arguments: [
      ("9am", "09:00"), ("9:30pm", "21:30"), ("9", "09:00"), ("09", "09:00"), ("0900", "09:00"),
      ("21.30", "21:30"), ("noon", "12:00"), ("midday", "12:00"), ("midnight", "00:00"),
      ("18:00", "18:00"), ("9 AM", "09:00"), ("9 p.m.", "21:00"), ("12am", "00:00"),
      ("12pm", "12:00"), ("12", "12:00"), ("0", "00:00"), ("23", "23:00"), ("06", "06:00"),
      ("2359", "23:59"), ("9.30pm", "21:30"), ("8 o'clock", "08:00"), ("at 9:00", "09:00"),
      ("7 in the evening", "19:00"), ("09:00:00", "09:00"), ("9:05", "09:05"),
    ])
  func time(_ text: String, _ expected: String) throws {
    #expect(try Input.time(text, in: context).description == expected)
  }

  @Test(
    "Texts that move a time",
    arguments: [
      ("+30m", 1800), ("-1h", -3600), ("2 hours later", 7200), ("1d earlier", -86_400),
      ("+1h30m", 5400), ("30", nil), ("+30", nil), ("later", nil), ("9:00 later", nil),
      ("+home", nil), ("-", nil),
    ] as [(String, Int64?)])
  func shift(_ text: String, _ seconds: Int64?) {
    #expect(Input.shift(text, in: context) == seconds)
  }

  @Test(
    "Lists of times",
    arguments: [
      ("9,12,17", "09:00 12:00 17:00"), ("9am and 9pm", "09:00 21:00"), ("6,18", "06:00 18:00"),
      ("9:00, 12:00 and 17:00", "09:00 12:00 17:00"), ("8am;8pm", "08:00 20:00"),
      ("09:00-17:00/4h", "09:00 13:00 17:00"), ("9-11/1h, 18:00", "09:00 10:00 11:00 18:00"),
      ("9am-10am/20m", "09:00 09:20 09:40 10:00"), ("/8h", "00:00 08:00 16:00"),
    ])
  func times(_ text: String, _ expected: String) throws {
    #expect(
      try Input.times(text, in: context).map(\.description).joined(separator: " ") == expected)
  }

  @Test(
    "Weekdays",
    arguments: [
      ("mon", "mon"), ("mo,fr", "mon fri"), ("mon-fri", "mon tue wed thu fri"),
      ("Monday, Friday", "mon fri"), ("weekdays", "mon tue wed thu fri"), ("weekends", "sat sun"),
      ("mondays and thursdays", "mon thu"), ("sat-mon", "sat sun mon"), ("tues", "tue"),
      ("workdays", "mon tue wed thu fri"), ("mon to wed", "mon tue wed"), ("mon wed", "mon wed"),
    ])
  func weekdays(_ text: String, _ expected: String) throws {
    #expect(
      try Input.weekdays(text, in: context).map(\.abbreviation).joined(separator: " ") == expected)
  }

  @Test(
    "Dates",
    arguments: [
      ("today", "2026-11-23"), ("tomorrow", "2026-11-24"), ("yesterday", "2026-11-22"),
      ("friday", "2026-11-27"), ("mon", "2026-11-23"), ("next mon", "2026-11-30"),
      ("next fri", "2026-11-27"), ("24 Dec", "2026-12-24"), ("Dec 24", "2026-12-24"),
      ("24.12.", "2026-12-24"), ("24.12", "2026-12-24"), ("24.12.2026", "2026-12-24"),
      ("2026-12-24", "2026-12-24"), ("2026/12/24", "2026-12-24"), ("24/12", "2026-12-24"),
      ("12/24", "2026-12-24"), ("24/12/2027", "2027-12-24"), ("in 3 days", "2026-11-26"),
      ("in 2 weeks", "2026-12-07"), ("in a month", "2026-12-23"), ("in 1y", "2027-11-23"),
      ("1 Nov", "2027-11-01"), ("23 nov", "2026-11-23"), ("24th of december", "2026-12-24"),
      ("december 24th, 2027", "2027-12-24"), ("the 1st", "2026-12-01"), ("29 feb", "2028-02-29"),
      ("end of month", "2026-11-30"), ("the day after tomorrow", "2026-11-25"),
      ("20261224", "2026-12-24"), ("Thu 24 Dec", "2026-12-24"), ("next week", "2026-11-30"),
      ("3 days from now", "2026-11-26"), ("on friday", "2026-11-27"),
    ])
  func date(_ text: String, _ expected: String) throws {
    #expect(try Input.date(text, in: context).description == expected)
  }

  @Test(
    "Moments",
    arguments: [
      ("tomorrow 18:00", "2026-11-24T18:00"), ("18:00", "2026-11-23T18:00"),
      ("09:00", "2026-11-24T09:00"), ("in 20m", "2026-11-23T10:20"),
      ("fri 9am", "2026-11-27T09:00"),
      ("9am on fri", "2026-11-27T09:00"), ("tomorrow", "2026-11-24T00:00"),
      ("24 dec at 18:00", "2026-12-24T18:00"), ("2026-12-24T18:00", "2026-12-24T18:00"),
      ("2026-12-24 18:00", "2026-12-24T18:00"), ("in 1h30m", "2026-11-23T11:30"),
      ("2026-12-24T18:00:00+01:00", "2026-12-24T17:00"), ("11", "2026-11-23T11:00"),
      ("tonight at 8", "2026-11-23T20:00"), ("in 3 days", "2026-11-26T00:00"),
      ("noon", "2026-11-23T12:00"), ("1800", "2026-11-23T18:00"),
    ])
  func moment(_ text: String, _ expected: String) throws {
    let moment = try Input.moment(text, in: context)
    #expect(moment.civil(.future, in: context).description == expected)
    #expect(
      moment.instant(.future, in: context)
        == TimeZoneRules.utc.instant(of: CivilDateTime(expected)!))
  }

  @Test(
    "Values of settings",
    arguments: [
      (Setting.snooze, "10 min", "10m"), (.snooze, "90", "90m"), (.snooze, "90s", "90s"),
      (.grace, "half a day", "12h"), (.grace, "1d 12h", "36h"), (.ringTimeout, "1h30", "90m"),
      (.ringTimeout, "0", nil), (.followUps, "30 min, 1h, 90", "30m,1h,90m"),
      (.followUps, "none", "none"), (.followUps, "None", "none"), (.followUps, "1h,30m", nil),
      (.workdays, "mon-fri", "mon,tue,wed,thu,fri"),
      (.workdays, "Sunday - Thursday", "mon,tue,wed,thu,sun"),
      (.workdays, "sun-thu", "mon,tue,wed,thu,sun"), (.workdays, "mo,di", "mon,tue"),
      (.snoozeEnabled, "ON", "on"), (.tier, "Plus", "plus"), (.clock, "12H", "12h"),
      (.clock, "13h", nil),
    ] as [(Setting, String, String?)])
  func setting(_ setting: Setting, _ text: String, _ expected: String?) {
    #expect(Input.value(of: setting, text)?.description == expected)
  }

  @Test(
    "Quiet hours",
    arguments: [
      ("22:00-07:00", "22:00-07:00"), ("10pm-7am", "22:00-07:00"), ("23 - 8", "23:00-08:00"),
      ("22:00", nil), ("22:00-22:00", nil), ("late-early", nil),
    ] as [(String, String?)])
  func quietHours(_ text: String, _ expected: String?) {
    #expect(Input.quietHours(text)?.description == expected)
  }

  @Test(
    "Moments in the past",
    arguments: [
      ("9:00", "2026-11-23T09:00"), ("18:00", "2026-11-22T18:00"), ("9", "2026-11-23T09:00"),
      ("yesterday 18:00", "2026-11-22T18:00"), ("20 min ago", "2026-11-23T09:40"),
      ("2h ago", "2026-11-23T08:00"), ("1 october 18:00", "2026-10-01T18:00"),
      ("fri 9am", "2026-11-20T09:00"), ("24 dec 9am", "2025-12-24T09:00"),
      ("29 feb 9am", "2024-02-29T09:00"),
    ])
  func past(_ text: String, _ expected: String) throws {
    let moment = try Input.moment(text, .past, in: context)
    #expect(moment.civil(.past, in: context).description == expected)
  }

  @Test("A number that may be the morning or the evening is ambiguous")
  func halfOfDay() throws {
    #expect(throws: InputError.ambiguous("7", readings: ["07:00", "19:00"])) {
      try Input.moment("7", in: context)
    }
    #expect(throws: InputError.ambiguous("7", readings: ["07:00", "19:00"])) {
      try Input.moment("at 7", in: context)
    }
    let evening = InputContext.test(CivilDateTime("2026-11-23T21:00")!)
    #expect(throws: InputError.ambiguous("8", readings: ["08:00", "20:00"])) {
      try Input.moment("8", .past, in: evening)
    }
    let early = InputContext.test(CivilDateTime("2026-11-23T05:00")!)
    #expect(try Input.moment("7", in: early) == .time(CivilTime("07:00")!))
  }

  @Test(
    "Lengths",
    arguments: [
      ("90", 5400), ("20m", 1200), ("1h30m", 5400), ("10 min", 600), ("2 days", 172_800),
      ("90s", 90), ("1w", 604_800), ("1h30", 5400), ("1 hour 30 minutes", 5400), ("1.5h", 5400),
      ("an hour", 3600), ("half an hour", 1800), ("two hours", 7200), ("1d", 86_400),
      ("1 day and 2 hours", 93_600), ("45 seconds", 45), ("for 20m", 1200), ("1,5", 0),
    ])
  func length(_ text: String, _ expected: Int64) throws {
    if expected == 0 {
      #expect(throws: InputError.self) { try Input.length(text, in: context) }
    } else {
      #expect(try Input.length(text, in: context) == expected)
    }
  }

  @Test("Lengths of zero and of more than a year are out of range")
  func lengthLimits() {
    for text in ["0m", "367d", "99999h", "53w"] {
      #expect(throws: InputError.outOfRange(text)) { try Input.length(text, in: context) }
    }
  }

  @Test(
    "Periods",
    arguments: [
      ("90d", "90d"), ("90 days", "90d"), ("2w", "2w"), ("6mo", "6mo"), ("6 months", "6mo"),
      ("1y", "1y"), ("a year", "1y"), ("a quarter", "3mo"), ("a fortnight", "2w"),
    ])
  func period(_ text: String, _ expected: String) throws {
    #expect(try Input.period(text, in: context).description == expected)
  }

  @Test(
    "Zones",
    arguments: [
      ("berlin", "Europe/Berlin"), ("Berlin", "Europe/Berlin"), ("EUROPE/BERLIN", "Europe/Berlin"),
      ("new york", "America/New_York"), ("New_York", "America/New_York"), ("utc", "UTC"),
      ("tokyo", "Asia/Tokyo"),
    ])
  func zone(_ text: String, _ expected: String) throws {
    #expect(try Input.zone(text, in: context) == expected)
  }

  @Test("An unknown zone has suggestions")
  func unknownZone() {
    #expect(throws: InputError.unknownZone("berln", suggestions: ["Europe/Berlin"])) {
      try Input.zone("berln", in: context)
    }
    #expect(
      throws: InputError.unknownZone("kol", suggestions: ["Asia/Kolkata"])
    ) { try Input.zone("kol", in: context) }
    #expect(throws: InputError.unknownZone("x", suggestions: [])) {
      try Input.zone("x", in: context)
    }
  }

  @Test(
    "The longest start of some words that is a moment",
    arguments: [
      ("16:45 Call mum", "2026-11-23T16:45", 1), ("tomorrow 9am Call mum", "2026-11-24T09:00", 2),
      ("9am tomorrow Tea", "2026-11-24T09:00", 2), ("24 dec 18:00 Presents", "2026-12-24T18:00", 3),
      ("fri at 9 Bins", "2026-11-27T09:00", 3),
    ])
  func leadingMoment(_ text: String, _ expected: String, _ count: Int) throws {
    let words = text.split(separator: " ").map(String.init)
    let found = try Input.leadingMoment(words, in: context)
    #expect(found?.moment.civil(.future, in: context).description == expected)
    #expect(found?.count == count)
  }

  @Test("No text makes the parser trap or run for long")
  func randomTexts() {
    var random = SeededGenerator(seed: 7)
    let words = [
      "every", "2nd", "fri", "of", "the", "month", "9am", "9", "at", ",", "and", "until", "except",
      "24", "dec", "12-24", "3/4", "last", "workday", "to", "-", "from", "in", "20m", "a", "an",
      "times", "for", "10", "next", "on", "not", "holidays", "berlin", "time", "0", "*", "*/5",
      "2026-12-24", "99999999999999999999", "mon-fri", "last-2", "-", "é", "🎉", "daily", "after",
      "done", "quarter", "year", "half", "hour", "0900", "9.30", "..", "~", ":", "RRULE:",
    ]
    for sample in RandomSamples.seeds(4_000) {
      // Some texts are longer and longer, so that a parser that tries all combinations of words exceeds the limit soon.
      let longest = sample.isMultiple(of: 8) ? min(60, 8 + Int(sample) / 80) : 7
      let text = (0..<random.int(1...longest)).map { _ in random.pick(words) }
        .joined(separator: " ")
      let began = TestMachine.threadTime
      let draft = try? Input.schedule(text, in: context)
      if let schedule = try? draft?.schedule(in: context) {
        _ = Occurrences(schedule, in: .standard).next(after: context.now)
      }
      _ = try? Input.moment(text, in: context)
      _ = try? Input.length(text, in: context)
      _ = try? Input.date(text, in: context)
      let time = TestMachine.threadTime - began
      #expect(time < 10, "\(text)")
      if time >= 10 { break }
    }
  }
}
