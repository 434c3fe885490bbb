import BelfryCore
import TestSupport
import Testing

@testable import BelfryInput

/// Lists of dates. A date that gets lost in the title would be a missed alarm.
@Suite struct DateListTests {
  private let context = InputContext.monday

  @Test(
    "Weekdays of one week are dates",
    arguments: [
      ("sat and sun this weekend at 10:00", ["2026-11-28", "2026-11-29"]),
      ("this saturday and sunday at 10:00", ["2026-11-28", "2026-11-29"]),
      ("on this sat, sun 10:00", ["2026-11-28", "2026-11-29"]),
      ("sat, sun 10:00 this weekend", ["2026-11-28", "2026-11-29"]),
      ("mon and wed next week 18:00", ["2026-11-30", "2026-12-02"]),
      ("mon, wed, fri this week 18:00", ["2026-11-23", "2026-11-25", "2026-11-27"]),
    ])
  func weekdaysOfOneWeek(_ text: String, _ dates: [String]) throws {
    let schedule = try Input.schedule(text, in: context).schedule(in: context)
    guard case .dates(let days) = schedule.recurrence else {
      Issue.record("\(schedule)")
      return
    }
    #expect(days.map(\.description) == dates)
  }

  @Test(
    "Lists of dates are read with months behind several days, and without separators",
    arguments: [
      "24, 26 november and 1, 3 december 11:15", "24 and 26 november, 1 and 3 december at 11:15",
      "24 nov 26 nov 1 dec 3 dec 11:15", "24 nov, 26 nov, 1 dec and 3 dec 11:15",
      "24 nov, 26 nov and 1, 3 december 11:15",
    ])
  func lists(_ text: String) throws {
    let schedule = try Input.schedule(text, in: context).schedule(in: context)
    let next = Occurrences(schedule, in: .standard)
    var dates: [String] = []
    var last = context.now
    while let occurrence = next.next(after: last) {
      dates.append(occurrence.description)
      last = occurrence
    }
    #expect(
      dates == ["2026-11-24T11:15", "2026-11-26T11:15", "2026-12-01T11:15", "2026-12-03T11:15"])
    let line = try Input.line(["Physio"] + words(text), in: context)
    #expect(line.title == "Physio" && line.schedule == text)
  }

  @Test(
    "Months need no separators",
    arguments: [
      "10 jan apr jul oct", "10th of january april july october", "every 10 jan apr jul oct",
    ])
  func months(_ text: String) throws {
    let schedule = try Input.schedule("\(text) 9:00", in: context).schedule(in: context)
    guard case .annual(let months, [.day(10)], _) = schedule.recurrence else {
      Issue.record("\(schedule)")
      return
    }
    #expect(months == [1, 4, 7, 10])
  }

  @Test(
    "A date in a title without quotes is refused, because it would be lost",
    arguments: [
      "Physio 24 november x 1 december 11:15", "Physio 24, 26 november or 1, 3 december 11:15",
      "Physio 24 november 1 december sunday 11:15", "Physio 24/11 26/11 1/12",
      "Physio november 24 december 1 11:15", "Physio 24, 26 november",
      "Physio 24., 15. monthly 9:00", "Physio 24 24th monthly",
    ])
  func datesInTitles(_ text: String) {
    let line = try? Input.line(words(text), in: context)
    #expect(line == nil || !line!.title.contains("24"), "\(String(describing: line))")
  }

  /// Returns the dates on which an alarm of a line rings; nil if the line is refused.
  private func dates(of line: String) -> [CivilDate]? {
    guard let parts = try? Input.line(words(line), in: context), !parts.schedule.isEmpty,
      let draft = try? Input.schedule(parts.schedule, in: context),
      let schedule = try? draft.schedule(in: context)
    else { return nil }
    let occurrences = Occurrences(schedule, in: .standard)
    var dates: [CivilDate] = []
    var last = context.now
    while dates.count < 10, let occurrence = occurrences.next(after: last) {
      dates.append(occurrence.date)
      last = occurrence
    }
    return dates
  }

  @Test("Each date of a list rings, or the line is refused", arguments: 0..<60)
  func random(_ seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    let today = context.today
    var understood = 0
    for _ in 0..<100 {
      let count = Int.random(in: 2...4, using: &random)
      let days = Set((0..<count).map { _ in Int.random(in: 1...200, using: &random) })
      let dates = days.map { today.adding(days: $0) }.sorted()
      let form = DateForm.allCases.randomElement(using: &random) ?? .dayMonth
      let separators = [", ", " and ", " ", " & ", ",", " or ", "; ", " + ", " / ", ", and "]
      let separator = separators.randomElement(using: &random) ?? ", "
      let last = Bool.random(using: &random) ? separator : " and "
      let texts = form.texts(dates)
      var text = texts.dropLast().joined(separator: separator)
      text += (texts.count > 1 ? last : "") + (texts.last ?? "")
      let prefix = ["", "on ", "the "].randomElement(using: &random) ?? ""
      let time = [" 11:15", " at 11:15", "", " 9am"].randomElement(using: &random) ?? ""
      let line = "Physio \(prefix)\(text)\(time)"
      guard let rings = self.dates(of: line) else { continue }
      understood += 1
      // The same day of several months is a rule of each year.
      let first = Array(rings.prefix(dates.count))
      #expect(first == dates, "\(line)")
    }
    #expect(understood > 20)
  }
}

/// A form in which people write the dates of a list.
private enum DateForm: CaseIterable {
  case dayMonth, monthDay, ordinal, dotted, iso, weekday, sharedMonth

  func texts(_ dates: [CivilDate]) -> [String] {
    let months = [
      "jan", "feb", "march", "april", "may", "june", "july", "aug", "sep", "october", "november",
      "december",
    ]
    func month(_ date: CivilDate) -> String { months[date.month - 1] }
    switch self {
    case .dayMonth: return dates.map { "\($0.day) \(month($0))" }
    case .monthDay: return dates.map { "\(month($0)) \($0.day)" }
    case .ordinal: return dates.map { "\($0.day)th of \(month($0))" }
    case .dotted: return dates.map { "\($0.day).\($0.month)." }
    case .iso: return dates.map(\.description)
    case .weekday: return dates.map { "\($0.weekday.abbreviation) \($0.day) \(month($0))" }
    case .sharedMonth:
      // `24, 26 november`
      return dates.enumerated().map { index, date in
        let next = index + 1 < dates.count ? dates[index + 1] : nil
        return next?.month == date.month ? "\(date.day)" : "\(date.day) \(month(date))"
      }
    }
  }
}
