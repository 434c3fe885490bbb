import ArgumentParser
import BelfryActions
import BelfryCore
import BelfryInput
import BelfryStore
import BelfryTerminal

struct Move: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "move",
    abstract: "Move one occurrence to another time.",
    discussion: """
      Moves the occurrence that is ringing, pending or missed; otherwise the next one.
      The rest of the schedule stays. A date alone keeps the time of day.

        belfry move bins tomorrow 15:00
        belfry move gym friday                   # at its usual time
        belfry move gym 1h later
        belfry move gym from wednesday to thursday 19:00
        belfry move gym back                     # to its own time
      """)

  @Argument(help: "The alarms, then the new time or 'back'.", completion: .selections)
  var words: [String] = []

  @Option(help: "The occurrence: a date, or 2026-11-23T09:00 (default: the current or next one).")
  var occurrence: String?

  @OptionGroup var time: TimeOption
  @OptionGroup var common: CommonOptions
  @ParentCommand var root: Belfry

  func validate() throws {
    if words.isEmpty { throw ValidationError("Name the alarm and its new time.") }
  }

  func run() throws {
    let context = try common.context(root)
    let parser = InputParser(context)
    // The name before the time takes the place of all.
    let typed = time.when.map { text in
      Array(self.words.prefix(1)) + text.split(separator: " ").map(String.init)
    }
    var words = MoveWords(typed ?? self.words, parser.context)
    if occurrence != nil, words.occurrence != nil {
      throw CommandError(
        .usage, "--occurrence and 'from' both name the occurrence.", hint: "Use one of them.")
    }
    // Errors in the words are reported before the first command creates a store.
    if words.newTime.isEmpty {
      throw CommandError(
        .usage,
        "'\(Printable.text(time.when ?? self.words.joined(separator: " ")))' has no new time.",
        hint:
          "Write it behind the alarm: belfry move \(Printable.text(self.words[0])) tomorrow 15:00")
    }
    if occurrence == nil {
      words.takeDay(parser.context) { context.existing?.hasTitle($0) ?? false }
    }
    if let when = time.when { try words.take(self.words, before: when) }
    // A weekday beside an occurrence is one of its week, so that the time of day now does not matter.
    let today = parser.context.zone.instant(of: CivilDateTime(parser.context.today, .midnight))
    _ = try words.time(occurrence ?? words.occurrence == nil ? parser : parser.at(today))
    let store = try context.open(.writing)
    let isMeant = (occurrence ?? words.occurrence).map { parser.having($0, in: store) }
    let selection = try context.explaining {
      try context.selector(of: store).select(words.alarms, all: false, for: .skip, where: isMeant)
    }
    var (civil, local): (CivilDateTime?, InputParser) = (nil, parser)
    if !selection.isBulk, let alarm = try store.alarm(selection.ids[0]) {
      let timeline = store.timeline(alarm)
      local = parser.with(zone: timeline.zone, calendar: timeline.calendar)
      civil = try (occurrence ?? words.occurrence).map {
        try parser.occurrence(
          $0, of: timeline, option: occurrence == nil ? "from" : "--occurrence")
      }
      // `from 13 dec to monday` is the Monday after that date.
      if let civil, words.startsWithWeekday(parser.context), civil.date > parser.context.today {
        local = local.at(timeline.zone.instant(of: CivilDateTime(civil.date, .midnight)))
      }
    } else if occurrence ?? words.occurrence != nil {
      throw CommandError(
        .usage, "an occurrence needs one alarm.", hint: "Name the alarm of the occurrence.")
    }
    let action = MoveOccurrences(
      selection.ids, occurrence: civil, to: try words.time(local),
      settings: try context.settings(store))
    let changes = try context.explaining { try action.perform(in: store) }
    let output = AlarmOutput(store: store, style: context.style)
    if common.json {
      return try Console.write(
        changes.compactMap { change in
          change.events.last.map { output.document(change.alarm, change.status, event: $0) }
        }, asList: selection.isBulk)
    }
    for change in changes {
      for line in AnswerText(output).messages(change) { Console.line(line) }
      if let line = outlook(change, store, output) { Console.line(line) }
    }
  }

  /// Returns the next occurrence other than the moved one, in a sentence; nil if there is none.
  private func outlook(_ change: AlarmChange, _ store: Store, _ output: AlarmOutput) -> String? {
    guard let civil = change.events.last?.occurrence else { return nil }
    let timeline = store.timeline(change.alarm)
    let upcoming = timeline.upcoming(after: store.context.now).prefix(2).first { $0.civil != civil }
    guard let other = upcoming else { return nil }
    let when = output.when(other, zone: change.alarm.shownZone)
    return other.at > timeline.occurrence(civil).at ? "Then: \(when)." : "Before it: \(when)."
  }
}

/// The arguments of `move`: names of alarms, perhaps an occurrence behind `from`, then the new time, perhaps behind `to`.
private struct MoveWords {
  private(set) var alarms: [String]
  /// The occurrence behind `from`.
  private(set) var occurrence: String?
  private(set) var newTime: String
  /// True if the new time is behind `to`.
  private var isBehindTo = false

  /// Separates the words. The new time is the longest end that is one.
  init(_ words: [String], _ context: InputContext) {
    let words = words.flatMap { word in
      // `move bins "to tomorrow 15:00"`
      word.hasPrefix("to ") ? word.split(separator: " ").map(String.init) : [word]
    }
    let folded = words.map { $0.lowercased() }
    (alarms, newTime) = (words, "")
    if let to = folded.lastIndex(of: "to"), to > 0, to < words.count - 1 {
      alarms = Array(words[..<to])
      newTime = words[(to + 1)...].joined(separator: " ")
      isBehindTo = true
    } else {
      for start in words.indices {
        let text = words[start...].joined(separator: " ")
        guard MoveWords.isTime(text, context) else { continue }
        alarms = Array(words[..<start])
        newTime = text
        break
      }
    }
    if let from = alarms.lastIndex(where: { $0.lowercased() == "from" }), from > 0,
      from < alarms.count - 1
    {
      occurrence = alarms[(from + 1)...].joined(separator: " ")
      alarms = Array(alarms[..<from])
    }
  }

  /// Takes the day of the occurrence from the end of the names, as in `move gym wednesday to thursday`.
  ///
  /// - Parameter isTitle: Returns true for the title of an alarm.
  mutating func takeDay(_ context: InputContext, isTitle: (String) -> Bool) {
    guard occurrence == nil, isBehindTo, !isTitle(alarms.joined(separator: " ")) else { return }
    for start in alarms.indices.dropFirst() {
      let text = alarms[start...].joined(separator: " ")
      guard (try? Input.date(text, in: context)) != nil else { continue }
      (occurrence, alarms) = (text, Array(alarms[..<start]))
      return
    }
  }

  /// Takes the names of all alarms, if the text of the time had no other words in it.
  mutating func take(_ names: [String], before text: String) throws {
    guard alarms == Array(names.prefix(1)) else {
      let others = alarms.dropFirst().joined(separator: " ")
      throw CommandError(
        .usage, "'\(Printable.text(others))' in '\(Printable.text(text))' is not understood.",
        hint: "Write only the new time, such as 'tomorrow 15:00'.")
    }
    alarms = names
  }

  /// Returns true if the new time begins with a weekday.
  func startsWithWeekday(_ context: InputContext) -> Bool {
    let first = newTime.lowercased().split(separator: " ").first { !["on", "next"].contains($0) }
    guard let word = first?.split(separator: ",").first else { return false }
    return (try? Input.weekdays(String(word), in: context))?.count == 1
  }

  private static func isTime(_ text: String, _ context: InputContext) -> Bool {
    if text.lowercased() == "back" || Input.shift(text, in: context) != nil { return true }
    do throws(InputError) {
      _ = try Input.moment(text, in: context)
      return true
    } catch {
      // `move gym 7`: the person has to choose.
      if case .ambiguous = error { return true }
      return false
    }
  }

  /// Returns the new time.
  ///
  /// - Throws: `CommandError` if it is not understood.
  func time(_ parser: InputParser) throws -> MoveOccurrences.Time {
    if newTime.lowercased() == "back" { return .back }
    if let seconds = Input.shift(newTime, in: parser.context) { return .shift(seconds) }
    return .moment(try parser.moment(newTime, of: nil))
  }
}
