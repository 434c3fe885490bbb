import BelfryCore
import Testing

@testable import BelfryInput

/// The words of `pause`, and those of advance warnings and of the latest completion.
@Suite struct PauseWordsTests {
  private let context = InputContext.monday

  @Test(
    "A pause has names, a beginning and an end",
    arguments: [
      ("gym until friday", "gym", nil, "friday"), ("until friday gym", "gym", nil, "friday"),
      ("gym until 3 dec 18:00", "gym", nil, "3 dec 18:00"),
      ("gym from thursday until saturday", "gym", "thursday", "saturday"),
      ("+home from thursday to saturday", "+home", "thursday", "saturday"),
      ("from thursday until saturday gym pills", "gym pills", "thursday", "saturday"),
      ("gym thursday until saturday", "gym", "thursday", "saturday"),
      ("gym 24 dec - 2 jan", "gym", "24 dec", "2 jan"),
      ("gym 2w", "gym", nil, "in 2w"), ("2w gym", "gym", nil, "in 2w"),
      ("gym pills for 3 days", "gym pills", nil, "in 3 days"),
      ("gym from thursday for 3 days", "gym", "thursday", "in 3 days"),
      ("gym next week", "gym", "2026-11-30", "2026-12-07"),
      ("this week gym", "gym", nil, "2026-11-30"),
      ("gym this weekend", "gym", "2026-11-28", "2026-11-30"),
      ("gym next month", "gym", "2026-12-01", "2027-01-01"),
      ("gym today", "gym", nil, "2026-11-24"),
      ("go to bed until friday", "go to bed", nil, "friday"),
      ("gym from thursday", "gym", "thursday", nil),
      ("until friday", "", nil, "friday"), ("gym until", "gym until", nil, nil),
      ("gym until frday", "gym", nil, "frday"), ("gym", "gym", nil, nil), ("", "", nil, nil),
    ] as [(String, String, String?, String?)])
  func pauses(_ text: String, _ names: String, _ start: String?, _ end: String?) {
    let expected = Input.WordsWithPause(
      names: names == "gym until" ? ["gym"] : words(names), start: start, end: end)
    #expect(Input.pause(words(text), in: context) == expected)
  }

  @Test(
    "Advance warnings are read beside a schedule",
    arguments: [
      ("monthly on the 1st 9:00 remind me 1 day before", "monthly on the 1st 9:00", [1440]),
      ("daily 9:00, remind a day before", "daily 9:00", [1440]),
      ("15 mar with reminders two weeks and one day before", "15 mar", [20160, 1440]),
      ("15 mar with two reminders 2w, 1d before", "15 mar", [20160, 1440]),
      ("15 mar and a reminder the day before", "15 mar", [1440]),
      ("warn 2h ahead daily 9:00", "daily 9:00", [120]),
      ("15 mar with 2 weeks notice", "15 mar", [20160]),
      ("15 mar, 30 days notice", "15 mar", [43200]),
      ("15 mar with 1 month notice", "15 mar", [43200]),
      ("15 mar, notify me a month ahead", "15 mar", [43200]),
      ("15 mar remind 3 days in advance", "15 mar", [4320]),
      ("15 mar remind me 2 weeks before and 1 day before", "15 mar", [20160, 1440]),
    ])
  func warnings(_ text: String, _ rest: String, _ minutes: [Int64]) {
    let found = Input.warnings(in: words(text))
    #expect(found?.words == words(rest))
    #expect(found?.lengths == minutes.map { $0 * 60 })
  }

  @Test(
    "Other words are no warnings",
    arguments: [
      "daily 9:00", "reminder 15 mar", "remind me 15 mar", "remind before", "remind 3 before",
      "3 days before the 25th", "with notice",
    ])
  func noWarnings(_ text: String) {
    #expect(Input.warnings(in: words(text)) == nil)
  }

  @Test(
    "A rule counts from the latest completion",
    arguments: [
      ("every 3 months after done, last done on 10 october", "2027-01-10"),
      ("3 months after it was last changed on 10 october", "2027-01-10"),
      ("last changed 10 oct, every 3 months after done", "2027-01-10"),
      ("every 3 months, last changed 10 oct", "2027-01-10"),
      ("90 days after done, cleaned last 3 weeks ago", "2027-01-31"),
      ("every 2 weeks last done yesterday", "2026-12-06"),
      ("every 2 weeks last done monday", "2026-12-07"),
    ])
  func lastCompletion(_ text: String, _ first: String) throws {
    let schedule = try Input.schedule("\(text) at 10:00", in: context).schedule(in: context)
    let next = Occurrences(schedule, in: .standard).next(after: context.now)
    #expect(next?.date.description == first)
  }

  @Test("A completion that is to come, or beside a start or weekdays, is refused")
  func refusedCompletions() {
    func error(_ text: String) -> InputError? {
      do throws(InputError) {
        _ = try Input.schedule(text, in: context)
        return nil
      } catch {
        return error
      }
    }
    #expect(
      error("90 days after done, last done 2026-12-10") == .unsupported(.futureCompletion))
    #expect(error("every 2 weeks from 1 dec, last done 10 oct") == .repeated(.start))
    #expect(error("every mon, last done 10 oct") == .severalRules)
    #expect(error("last done 10 oct") == .missing(.rule, after: ""))
    #expect(error("90 days after done, last done 1900-01-01") == .outOfRange("1900-01-01"))
  }
}
