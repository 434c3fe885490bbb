import BelfryCore
import BelfryInput
import Foundation
import TestSupport
import Testing

/// Tests of phrases with mistakes in them, and of lines with a title.
@Suite struct TypedPhraseTests {
  private static let context = PhraseTests.context

  /// Returns a phrase with two neighboring letters of a word exchanged; nil if it has no word of four letters.
  private static func misspelled(_ phrase: String, _ generator: inout SeededGenerator) -> String? {
    var words = phrase.split(separator: " ").map(String.init)
    let long = words.indices.filter { index in
      words[index].count >= 4 && words[index].allSatisfy { $0.isASCII && $0.isLetter }
    }
    guard !long.isEmpty else { return nil }
    let index = long[generator.int(0...(long.count - 1))]
    var letters = Array(words[index])
    let position = generator.int(0...(letters.count - 2))
    letters.swapAt(position, position + 1)
    words[index] = String(letters)
    return words.joined(separator: " ")
  }

  private static func next(_ phrase: String) throws -> [CivilDateTime] {
    let schedule = try Input.schedule(phrase, in: context).schedule(in: context)
    return PhraseTests.next(5, of: schedule)
  }

  @Test("A misspelled word never changes a date, and a correction is understood")
  func misspellings() throws {
    var generator = SeededGenerator(seed: 11)
    var (refused, corrected) = (0, 0)
    for row in try PhraseTests.Row.all("accepted.txt") + PhraseTests.Row.all("typed.txt") {
      let dates = try Self.next(row.phrase)
      for _ in 0..<4 {
        guard let phrase = Self.misspelled(row.phrase, &generator), phrase != row.phrase else {
          continue
        }
        do {
          #expect(try Self.next(phrase) == dates, "\(phrase)")
        } catch let error as InputError {
          refused += 1
          guard case .notUnderstood(_, let suggestion?) = error else { continue }
          corrected += 1
          #expect(throws: Never.self, "\(phrase) → \(suggestion)") { try Self.next(suggestion) }
        }
      }
    }
    #expect(refused > 500 && corrected > 300)
  }

  @Test(
    "Each reading of an ambiguous text is understood, and in its place unless another word is not")
  func readings() throws {
    for row in try PhraseTests.Row.all("refused.txt") {
      do throws(InputError) {
        _ = try Input.schedule(row.phrase, in: Self.context)
      } catch {
        guard case .ambiguous(let words, let readings) = error else { continue }
        for reading in readings {
          let phrase = row.phrase.replacingOccurrences(
            of: words, with: reading, options: .caseInsensitive)
          do throws(InputError) {
            _ = try Input.schedule(phrase, in: Self.context)
          } catch {
            // Such as `tea` in `21.10 tea`.
            guard case .notUnderstood(let word, _) = error, !reading.contains(word) else {
              Issue.record("\(row.phrase) → \(phrase): \(error)")
              continue
            }
            #expect(throws: Never.self, "\(reading)") {
              try Input.schedule(reading, in: Self.context)
            }
          }
        }
      }
    }
  }

  @Test(
    "A line has a title and a schedule in any order, and tags",
    arguments: [
      ("call the vet in 2 weeks at 9am +family", "call the vet", "in 2 weeks at 9am", "family"),
      (
        "Payroll every other friday 9am from 13 nov", "Payroll",
        "every other friday 9am from 13 nov", ""
      ),
      ("every day at 9 pills", "pills", "every day at 9", ""),
      ("tomorrow 18:00 Dentist #health", "Dentist", "tomorrow 18:00", "health"),
      ("Buy milk", "Buy milk", "", ""), ("Meet Bob at 5", "Meet Bob", "at 5", ""),
      ("Parents evening 8 dec 2026 19:00", "Parents evening", "8 dec 2026 19:00", ""),
      ("Visit Paris tomorrow 10:00", "Visit Paris", "tomorrow 10:00", ""),
      ("Call every mon 10am New York", "Call", "every mon 10am New York", ""),
      ("Rent 2 every mon 9am", "Rent 2", "every mon 9am", ""),
      ("+home +kids bins mondays 7pm", "bins", "mondays 7pm", "home kids"),
      ("Trip a week from friday 10am", "Trip", "a week from friday 10am", ""),
      ("Book a hotel in New York friday 8pm", "Book a hotel in New York", "friday 8pm", ""),
      ("Evening gym mon wed fri 9am", "Evening gym", "mon wed fri 9am", ""),
      ("Sports day 12 june 9am", "Sports day", "12 june 9am", ""),
      ("Book of the month 1 dec 9am", "Book of the month", "1 dec 9am", ""),
      ("Chapter two mondays 9am", "Chapter two", "mondays 9am", ""),
      ("Plants alternate mondays 8:00", "Plants", "alternate mondays 8:00", ""),
      ("Check the time zone", "Check the time zone", "", ""),
      // What stands before the title belongs to the schedule.
      ("mondays call mum at 6pm", "call mum", "mondays at 6pm", ""),
      ("every monday call mum at 6pm", "call mum", "every monday at 6pm", ""),
      ("tomorrow call mum at 9 +family", "call mum", "tomorrow at 9", "family"),
      ("weekdays stand-up at 9:45", "stand-up", "weekdays at 9:45", ""),
      ("mon and thu water plants 7pm", "water plants", "mon and thu 7pm", ""),
      ("on friday bins at 19:00", "bins", "on friday at 19:00", ""),
      ("24 dec, call gran 11:00", "call gran", "24 dec, 11:00", ""),
      ("9am call mum tomorrow", "call mum", "9am tomorrow", ""),
      ("in 3 days vet at 9", "vet", "in 3 days at 9", ""),
      ("1st of every month rent 9am", "rent", "1st of every month 9am", ""),
      ("Every other day run 7am", "run", "Every other day 7am", ""),
      ("last workday close the books 17:00", "close the books", "last workday 17:00", ""),
      ("tue bins every other week 7pm", "tue bins", "tue every other week 7pm", ""),
      ("every tue 7pm training may to september", "training", "every tue 7pm may to september", ""),
      ("daily at 9 vitamin b 12", "vitamin b 12", "daily at 9", ""),
      ("Christmas eve dinner at 18:00", "dinner", "Christmas eve at 18:00", ""),
      // An adjective is the title's, too.
      ("Weekly report at 9:45", "Weekly report", "Weekly at 9:45", ""),
      ("daily pills 8am and 8pm", "daily pills", "daily 8am and 8pm", ""),
      ("Monday meeting at 10", "Monday meeting", "Monday at 10", ""),
      ("Sunday roast for six 6pm", "Sunday roast for six", "Sunday 6pm", ""),
      ("yearly checkup 3 mar 9am", "yearly checkup", "yearly 3 mar 9am", ""),
      // Both are no schedule together.
      ("Monthly report fri 9am", "Monthly report", "fri 9am", ""),
      ("2 pills tomorrow", "2 pills", "tomorrow", ""),
      ("biweekly call on thu 9am", "biweekly call", "biweekly on thu 9am", ""),
      ("2 weeks holiday fri 9am", "2 weeks holiday", "fri 9am", ""),
      ("Sun cream at 9", "Sun cream", "at 9", ""), ("Next steps at 9", "Next steps", "at 9", ""),
      ("On call rota fri 9am", "On call rota", "fri 9am", ""),
      // `only` and `once` confirm a schedule.
      (
        "medicine for two weeks only, daily at noon", "medicine",
        "for two weeks only, daily at noon", ""
      ),
      ("Dentist 14 january at 10:15 once", "Dentist", "14 january at 10:15 once", ""),
      ("water plants only mondays 9am", "water plants", "only mondays 9am", ""),
      ("call mum only on sundays at 5pm", "call mum", "only on sundays at 5pm", ""),
      ("bins on alternate tuesdays 7pm", "bins", "on alternate tuesdays 7pm", ""),
      ("filter 3 months after the last change", "filter", "3 months after the last change", ""),
      (
        "quarterly VAT 10 of jan,apr,jul,oct 9am", "quarterly VAT", "10 of jan,apr,jul,oct 9am", ""
      ),
      // A colon between the schedule and the title
      ("in 20 minutes: take the bread out", "take the bread out", "in 20 minutes", ""),
      ("in an hour: call", "call", "in an hour", ""),
      ("bread in 20 minutes once", "bread", "in 20 minutes once", ""),
      ("once, in 20 minutes: bread", "bread", "once, in 20 minutes", ""),
      ("tomorrow: call the bank at 9", "call the bank", "tomorrow at 9", ""),
      ("tomorrow : call the bank at 9 +work", "call the bank", "tomorrow at 9", "work"),
      ("every monday 9am: bins out", "bins out", "every monday 9am", ""),
      ("on 14 January at 10:15: dentist", "dentist", "on 14 January at 10:15", ""),
      (
        "last workday of the month: backup check", "backup check", "last workday of the month", ""
      ),
      ("quarterly on the 10th: VAT 9am", "VAT", "quarterly on the 10th 9am", ""),
      ("monday: meeting at 10", "meeting", "monday at 10", ""),
      ("9am every day: vitamin b 12", "vitamin b 12", "9am every day", ""),
      ("29 february: birthday", "birthday", "29 february", ""),
      ("Monday: review tomorrow 9am", "Monday: review", "tomorrow 9am", ""),
      ("Ubuntu: update every monday 9am", "Ubuntu: update", "every monday 9am", ""),
      ("Weekly: monday 9am", "", "Weekly monday 9am", ""),
      // Signs between the title and the schedule
      ("filters, 1 dec 9am", "filters", "1 dec 9am", ""),
      ("Rent: 1 dec 9am", "Rent", "1 dec 9am", ""),
      ("Rent - 1 dec 9am", "Rent", "1 dec 9am", ""),
      ("every day at 9 - pills", "pills", "every day at 9", ""),
      // A schedule without a title
      ("daily 9am", "", "daily 9am", ""), ("every day at 9", "", "every day at 9", ""),
      ("tomorrow at 9", "", "tomorrow at 9", ""),
    ])
  func line(_ text: String, _ title: String, _ schedule: String, _ tags: String) throws {
    let line = try Input.line(text.split(separator: " ").map(String.init), in: Self.context)
    #expect(line.title == title && line.schedule == schedule, "\(line)")
    #expect(line.tags.joined(separator: " ") == tags)
  }

  @Test(
    "A line is refused if a word of its title may belong to the schedule",
    arguments: [
      "Rent evry mon at 9", "Rent every foo monday", "Gym tuesdy 9am friday", "Call mum mondy 9am",
      "Tax return by 31 july", "Books last day of the year 9am",
      "Trip per month 9am",
      "Check the smoke detector twice a year 9am", "Recycling odd thursdays 7pm",
      "Trip tuesday-thursday-saturday 9am", "Trip seven thirty am every day",
      "Trip twenty past four on tuesdays", "Trip biennially 1 may 9am",
      "tomorrow: call mum evry week", "every mon from 28 call mum dec 9am",
      "last day of work party at 5pm",
      "Trip am 24.12. um 18:00", "Trip jeden montag 8:00", "Good Friday fish 26 march 9am",
    ])
  func unclearLine(_ text: String) {
    #expect(throws: InputError.self) {
      try Input.line(text.split(separator: " ").map(String.init), in: Self.context)
    }
  }

  @Test(arguments: [
    "every 2 years in May car inspection", "car inspection every 2 years in may, starting 2027",
  ])
  func missingDay(_ text: String) {
    let error = #expect(throws: InputError.self) {
      try Input.line(text.split(separator: " ").map(String.init), in: Self.context)
    }
    #expect(error == .missing(.day, after: "may"))
  }

  @Test(
    "A title behind a colon leaves each schedule as it is, and so does one in front",
    arguments: [true, false])
  func titleOfEachPhrase(isBehind: Bool) throws {
    for row in try ["accepted.txt", "typed.txt"].flatMap(PhraseTests.Row.all) {
      guard let schedule = try? Input.schedule(row.phrase, in: Self.context) else { continue }
      let text = isBehind ? "\(row.phrase): Foo bar" : "Foo bar: \(row.phrase)"
      do throws(InputError) {
        let line = try Input.line(text.split(separator: " ").map(String.init), in: Self.context)
        let read = try Input.schedule(line.schedule, in: Self.context)
        #expect(line.title == "Foo bar" && read == schedule, "\(text): \(line)")
      } catch {
        Issue.record("\(text): \(error)")
      }
    }
  }

  /// The date of a start must not be lost.
  @Test(arguments: ["from 4 jan 8am", "starts monday 4 jan 8am", "since 1 nov 9am", "from monday"])
  func startWithoutARule(_ phrase: String) throws {
    let draft = try Input.schedule(phrase, in: Self.context)
    #expect(throws: InputError.missing(.rule, after: "")) {
      try draft.schedule(in: Self.context)
    }
  }

  /// The words that are left while somebody types or deletes a phrase.
  @Test func eachPartOfAPhraseIsReadOrRefused() throws {
    let files = ["accepted.txt", "typed.txt", "refused.txt"]
    for row in try files.flatMap(PhraseTests.Row.all) {
      let words = row.phrase.split(separator: " ")
      for start in words.indices {
        for end in words.indices where end >= start {
          _ = try? Input.schedule(words[start...end].joined(separator: " "), in: Self.context)
        }
      }
    }
  }

  /// Words of schedules and of titles in any order, as nobody types them.
  @Test func randomWordsAreReadOrRefusedQuickly() {
    let words = [
      "every", "other", "mon", "tue,thu", "weekdays", "1st", "24", "dec", "last", "workday", "of",
      "the",
      "month", "at", "9", "17:30", "5pm", "from", "to", "until", "june", "for", "2", "weeks",
      "except",
      "holidays", "in", "20m", "1,5", "hours", "tonight", "morning", "noon", "midnight", "3/4",
      "10-12",
      "berlin", "time", "UTC", "after", "done", "half", "past", "easter", "next", "this", "twice",
      "a", "day",
      "+home", "x10", ":30", "mwf", "2029", "pills", "🎂", "évry",
    ]
    var generator = SeededGenerator(seed: 5)
    let start = clock()
    let count = 5_000
    for _ in 0..<count {
      let phrase = (0..<generator.int(1...9)).map { _ in words[generator.int(0...(words.count - 1))]
      }
      _ = try? Input.schedule(phrase.joined(separator: " "), in: Self.context)
        .schedule(in: Self.context)
    }
    let seconds = Double(clock() - start) / Double(CLOCKS_PER_SEC)
    #expect(seconds < Double(count) * 0.01, "10 ms of CPU time for each phrase at most")
  }
}
