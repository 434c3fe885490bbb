import ArgumentParser
import BelfryCore
import BelfryInput
import BelfryStore
import BelfryTerminal

struct Snooze: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "snooze",
    abstract: "Silence a ringing alarm, which rings again later.",
    discussion: """
      Name the alarms, then a length of time, or "until" and a time. The default is the setting snooze (9 minutes).

        belfry snooze            # the alarm that rings
        belfry snooze rent 1h
        belfry snooze rent until 18:00
        belfry snooze --all 20m
      """)

  @Argument(help: "The alarms, then the length or 'until' and a time.", completion: .selections)
  var words: [String] = []

  @Flag(help: "All ringing alarms.")
  var all = false

  @Option(
    help: "The occurrence: a date, or 2026-11-23T09:00 (default: the current one).")
  var occurrence: String?

  @OptionGroup var time: TimeOption
  @OptionGroup var common: CommonOptions
  @ParentCommand var root: Belfry

  func run() throws {
    let context = try common.context(root)
    let parser = InputParser(context)
    let (names, snooze) =
      try time.when.map { (words, try SnoozeWords([], parser).answer($0)) }
      ?? SnoozeWords(words, parser).read()
    let options = AnswerOptions(names, all: all, occurrence: occurrence)
    let answering: Answering
    do {
      answering = try Answering(options, for: .snooze, context)
    } catch {
      // The last word is more likely a wrong length than an alarm.
      if let name = CommandError.missingAlarm(error), snooze == nil, name == names.last,
        names.count > 1
      {
        _ = try parser.length(name, of: nil)
      }
      throw error
    }
    try answering.giveAndShow(
      snooze ?? .snooze(seconds: answering.settings.snooze), json: common.json)
  }
}

/// The arguments of `snooze`: names of alarms, then a length or the end.
private struct SnoozeWords {
  private let words: [String]
  private let parser: InputParser

  init(_ words: [String], _ parser: InputParser) {
    self.words = words.flatMap { word in
      // `snooze rent "until 18:00"`
      word.hasPrefix("until ") ? word.split(separator: " ").map(String.init) : [word]
    }
    self.parser = parser
  }

  /// Returns the names and the answer; nil for the default length.
  ///
  /// - Throws: `CommandError` if the end is not a time in the future.
  func read() throws -> (names: [String], snooze: Answer?) {
    if let index = words.firstIndex(where: { SnoozeWords.ends.contains($0.lowercased()) }) {
      var text = words[(index + 1)...].joined(separator: " ")
      var names = Array(words[..<index])
      if names.isEmpty, index == 0, words.count > 2 {
        // `snooze until 18:00 rent`
        let rest = Array(words[1...])
        if let found = try? Input.leadingMoment(rest, in: parser.context), found.count < rest.count
        {
          text = rest[..<found.count].joined(separator: " ")
          names = Array(rest[found.count...])
        }
      }
      return (names, try self.until(text))
    }
    // The longest end of the words that is a length.
    for start in words.indices {
      let text = words[start...].joined(separator: " ")
      if let seconds = try? Input.length(text, in: parser.context) {
        try refuseClock(text, seconds)
        return (Array(words[..<start]), .snooze(seconds: seconds))
      }
    }
    // `snooze 20m rent`
    for end in words.indices.dropFirst().reversed() {
      let text = words[..<end].joined(separator: " ")
      if text.contains(where: \.isLetter), let seconds = try? Input.length(text, in: parser.context)
      {
        return (Array(words[end...]), .snooze(seconds: seconds))
      }
    }
    return (words, nil)
  }

  /// Returns the answer of a text that is only the length or the end: `20m`, `until 18:00`, `tomorrow 9am`.
  ///
  /// - Throws: `CommandError` if the text is neither.
  func answer(_ text: String) throws -> Answer {
    let words = text.split(separator: " ").map(String.init)
    if let first = words.first?.lowercased(), words.count > 1 {
      if SnoozeWords.ends.contains(first) || ["to", "at"].contains(first) {
        return try until(words.dropFirst().joined(separator: " "))
      }
    }
    if let seconds = try? Input.length(text, in: parser.context) {
      try refuseClock(text, seconds)
      return .snooze(seconds: seconds)
    }
    return try until(text)
  }

  /// Returns the answer that ends at a moment.
  private func until(_ text: String) throws -> Answer {
    let end = try parser.moment(text, of: "until").instant(.future, in: parser.context)
    guard let snooze = Answer.snooze(until: end, at: parser.context.instant) else {
      throw CommandError(
        .usage, "'\(Printable.text(text))' has passed.", hint: "Name a time in the future.")
    }
    return snooze
  }

  /// Refuses `19:15`, which is a time of day for some people, and a length for others.
  private func refuseClock(_ text: String, _ seconds: Int64) throws {
    guard text.contains(":"), (try? Input.time(text, in: parser.context)) != nil else { return }
    let length = Span.length(seconds).filter { $0 != " " }
    throw CommandError(
      .usage, "'\(Printable.text(text))' can mean until \(Printable.text(text)), or for \(length).",
      hint: "Write 'until \(Printable.text(text))' or '\(length)'.")
  }

  /// The words before an end.
  private static let ends: Set = ["until", "till", "til", "'til"]
}
