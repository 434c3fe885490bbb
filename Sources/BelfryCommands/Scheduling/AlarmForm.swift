import BelfryCore
import BelfryInput
import BelfryStore
import BelfryTerminal

/// The form in which `add` and `edit` ask for an alarm on a terminal.
///
/// Each question shows its preset in brackets; Return accepts it. The schedule may be any phrase, so that days and times
/// are asked only if the phrase lacks them. `edit` asks for the schedule as a phrase, with that of the alarm as the preset.
struct AlarmForm {
  /// The answers.
  struct Answers {
    var title: String
    /// The schedule as a phrase; nil if the command line names it.
    var schedule: String?
    var note: String?
    var persistent: Bool?
  }

  private let parser: InputParser
  private let title: String?
  private let note: String?
  /// True if the command line names the schedule.
  private let isComplete: Bool
  /// The error if standard input ends.
  private var unfinished = CommandError(
    .failed, "no alarm was added.", hint: "Answer the questions to add one.")

  init(_ parser: InputParser, title: String?, note: String?, isComplete: Bool) {
    self.parser = parser
    self.title = title
    self.note = note
    self.isComplete = isComplete
  }

  /// Asks the questions.
  ///
  /// - Throws: `CommandError` if standard input ends, or the user declines.
  func fill() throws -> Answers {
    Console.error("A new alarm. Press Return for what is in brackets, Control-C to cancel.")
    var answers = Answers(title: "")
    answers.title = try title ?? ask("Title") { try AlarmText.title($0) }
    if !isComplete {
      answers.schedule = try schedule()
      let draft = try parser.schedule(answers.schedule ?? "")
      show(try draft.schedule(in: parser.context))
    }
    answers.note = try note ?? ask("Note", preset: "none") { $0 == "none" ? "" : $0 }
    answers.persistent = try askWhetherPersistent(preset: false)
    return answers
  }

  private func askWhetherPersistent(preset: Bool) throws -> Bool {
    try ask("Ring until answered? y or n", preset: preset ? "y" : "n") { text in
      guard let answer = ["y": true, "yes": true, "n": false, "no": false][text.lowercased()] else {
        throw CommandError(.usage, "'\(Printable.text(text))' is neither y nor n.")
      }
      return answer
    }
  }

  private func schedule() throws -> String {
    let today = parser.context.today.weekday.abbreviation
    let cycle = try ask(
      "Repeat: once, daily, weekly, monthly, yearly, or a phrase", preset: "weekly"
    ) { text in
      if text.lowercased() != "once" { _ = try parser.schedule(text) }
      return text
    }
    var phrase = cycle
    switch cycle.lowercased() {
    case "once":
      phrase = try ask("Date", preset: "tomorrow") { text in
        _ = try parser.date(text, of: "the date")
        return text
      }
    case "weekly":
      phrase = try ask("Days", preset: today) { text in
        _ = try parser.weekdays(text, of: "the days")
        return "weekly on \(text)"
      }
    case "monthly":
      phrase = try ask("Days of the month", preset: "\(parser.context.today.day)") { text in
        _ = try parser.monthDays(text, of: "the days")
        return "monthly on \(text)"
      }
    case "yearly":
      phrase = try ask("Date", preset: parser.context.today.dayAndMonth) { text in
        _ = try parser.schedule("yearly on \(text)")
        return "yearly on \(text)"
      }
    default: break
    }
    if try parser.schedule(phrase).times == nil, !isDelay(phrase) {
      phrase += try ask("Time", preset: parser.context.standardTime.description) { text in
        _ = try parser.times(text, of: "the time")
        return " at \(text)"
      }
    }
    return phrase
  }

  private func isDelay(_ phrase: String) -> Bool {
    if case .later? = try? parser.schedule(phrase).rule { true } else { false }
  }

  private func show(_ schedule: Schedule) {
    let occurrences = Occurrences(schedule, in: parser.context.calendar)
    Console.error("  \(parser.formatter.schedule(schedule).capitalizedFirst)")
    var civil = parser.context.now
    for _ in 0..<3 {
      guard let next = occurrences.next(after: civil) else { return }
      Console.error("  \(parser.formatter.full(next))")
      civil = next
    }
  }

  /// Returns the answer to a question. Asks again while it is not valid.
  private func ask<Value>(
    _ question: String, preset: String? = nil, _ read: (String) throws -> Value
  ) throws -> Value {
    while true {
      let shown = preset.map { "\(question) [\(Printable.text($0))]:" } ?? "\(question):"
      guard let line = Console.answer(to: shown) else {
        throw unfinished
      }
      let text = String(line.drop { $0 == " " }.reversed().drop { $0 == " " }.reversed())
      do {
        return try read(text.isEmpty ? preset ?? "" : text)
      } catch {
        CommandError(error).report()
      }
    }
  }
}

extension AlarmForm {
  /// Asks for the values of an alarm. Returns the edit with those that the user has changed.
  ///
  /// - Throws: `CommandError` if standard input ends.
  static func fill(
    _ edit: AlarmEdit, of summary: AlarmSummary, in store: Store, _ parser: InputParser
  ) throws -> AlarmEdit {
    guard let alarm = try store.alarm(summary.id) else {
      throw StoreError.noSuchAlarm(summary.title)
    }
    let local = parser.with(zone: store.zone(of: alarm), calendar: store.calendars.workCalendar)
    var form = AlarmForm(local, title: alarm.title, note: alarm.note, isComplete: false)
    form.unfinished = CommandError(.failed, "nothing was changed.", hint: "Answer the questions.")
    Console.error(
      "\(Printable.text(alarm.title)). Press Return to keep what is in brackets, Control-C to cancel."
    )
    var edit = edit
    let title = try form.ask("Title", preset: alarm.title) { try AlarmText.title($0) }
    if title != alarm.title { edit.title = title }
    let phrase = local.formatter.schedule(alarm.schedule)
    let words = try form.ask("Schedule", preset: phrase) { text in
      guard text != phrase else { return [String]() }
      var changed = edit
      changed.words = text.split(separator: " ").map(String.init)
      form.show(try changed.schedule(of: alarm, from: alarm, in: store, parser))
      return changed.words
    }
    edit.words = words
    let none = "none"
    let note = try form.ask("Note; none for none", preset: alarm.note ?? none) { text in
      try AlarmText.note(text == none ? "" : text)
    }
    if note != alarm.note { edit.note = note ?? "" }
    let persistent = try form.askWhetherPersistent(preset: alarm.delivery.persistent)
    if persistent != alarm.delivery.persistent { edit.delivery.persistent = persistent }
    return edit
  }
}
