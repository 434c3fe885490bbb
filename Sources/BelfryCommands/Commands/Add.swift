import ArgumentParser
import BelfryCore
import BelfryInput
import BelfryStore
import BelfryTerminal
import Files

struct Add: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "add",
    abstract: "Add an alarm.",
    discussion: """
      The words after the title are the schedule. Without a time, the alarm rings at the current time of day. Without \
      a schedule, a form asks for it on a terminal. To try a schedule: belfry when "every other tue 7pm"

        belfry add "Rent" every last workday at 9am --note "Pay landlord"
        belfry add "Take pills" every day at 9:00 and 21:00 --persistent
        belfry add "Bins" every other tuesday 7pm except 2026-12-29
        belfry add "Dentist" 24 dec 18:00
        belfry add "Water filter" 90 days after done at 18:00 --tag home
        belfry add "Team call" every mon 10am berlin time
        belfry add "Passport" --annual 03-01 --at 10:00 --warn 30d,7d --on laptop
      """)

  @Argument(help: "The title, at most 200 characters.", completion: .text)
  var title: String?

  @Argument(help: "The schedule, such as: every other tue 7pm", completion: .text)
  var phrase: [String] = []

  @OptionGroup var schedule: ScheduleOptions
  @OptionGroup var delivery: DeliveryOptions

  @Option(help: "A note, at most 2,000 characters.")
  var note: String?

  @OptionGroup var tagging: TagOptions
  @OptionGroup var motion: MotionOptions
  @OptionGroup var common: CommonOptions
  @ParentCommand var root: Belfry

  mutating func validate() throws {
    var (schedule, delivery, phrase) = (schedule, delivery, phrase)
    try delivery.moveDates(to: &schedule)
    delivery.takeUnit(from: &phrase)
    if let title, phrase.isEmpty, title.contains(" ") {
      // The whole line in one argument.
      var words = [title]
      delivery.takeWarnings(from: &words)
      self.title = words.joined(separator: " ")
    } else {
      delivery.takeWarnings(from: &phrase)
    }
    (self.schedule, self.delivery, self.phrase) = (schedule, delivery, phrase)
  }

  func run() throws {
    let context = try common.context(root)
    try AlarmCreation.requireRoom(context, json: common.json)
    let parser = InputParser(context)
    let asks = Style.canAsk && !common.json
    let line = try line(parser)
    if asks, isUnfinished(line), let screen = FormScreen(context) {
      let words = Belfry.withoutRootOptions(Array(CommandLine.arguments.dropFirst())).dropFirst()
      try screen.add(Array(words))
      return Welcome.prepare(context)
    }
    try creation(of: line, parser, asks: asks).run(context, parser)
  }

  /// True if the title or the schedule is missing.
  private func isUnfinished(_ line: InputLine) -> Bool {
    line.title.isEmpty || (line.schedule.isEmpty && !schedule.namesDates)
  }

  /// Returns the creation of the alarm that the arguments describe.
  ///
  /// - Throws: `CommandError` also if something is missing.
  func creation(_ parser: InputParser) throws -> AlarmCreation {
    try creation(of: line(parser), parser, asks: false)
  }

  /// - Parameter asks: True to ask on the terminal for what is missing. Otherwise that is an error.
  private func creation(
    of line: InputLine, _ parser: InputParser, asks: Bool
  ) throws -> AlarmCreation {
    var words = line.schedule.isEmpty ? [] : [line.schedule]
    var title = line.title.isEmpty ? nil : line.title
    var note = note
    var persistent: Bool?
    if isUnfinished(line) {
      guard asks else {
        // Another error comes first.
        _ = try title.map { try AlarmText.title($0) }
        _ = try schedule.zone(parser)
        _ = try schedule.at.map { try parser.times($0, of: "--at") }
        throw missing(title, schedule: words.first)
      }
      let isComplete = !words.isEmpty || schedule.namesDates
      let answers = try AlarmForm(parser, title: title, note: note, isComplete: isComplete).fill()
      title = answers.title
      note = answers.note
      if let schedule = answers.schedule { words = [schedule] }
      persistent = answers.persistent
    }
    guard let title else { throw missing(nil, schedule: words.first) }
    let draft = try schedule.phrase(words, parser)
    var tagging = tagging
    tagging.tag += line.tags
    let tags = try tagging.changed([])
    var delivery = delivery
    if let persistent { delivery.persistent = delivery.persistent ?? persistent }
    let options = schedule
    return try AlarmCreation(
      title: title, note: note, tags: tags, zone: options.zone(parser, phrase: draft),
      delivery: delivery, wholeDayInterval: draft?.wholeDayInterval,
      lacksTime: options.lacksTime(draft),
      isStill: motion.noAnimation, json: common.json,
      schedule: { try options.schedule(.init(parser: $0, phrase: words)) })
  }

  /// - Parameter schedule: the words of the schedule; nil if that is missing.
  private func missing(_ title: String?, schedule: String?) -> CommandError {
    if title == nil, let schedule = schedule.map(Printable.text) {
      return CommandError(
        .usage, "'\(schedule)' has no title: what is to be done then?",
        hint: "Write it first: belfry add 'Call mum' \(schedule)."
      ).needingTerminal()
    }
    let shown = Printable.text(title ?? "Rent")
    return CommandError(
      .usage,
      title == nil
        ? "the title and the schedule are missing." : "\(shown) has no schedule: on which days?",
      hint: """
        Write it after the title: belfry add \(ShellWord.quoted(shown)) every mon,fri at 9am, or daily at 8:00, \
        or 24 dec 18:00, or last workday 9am.
        """
    ).needingTerminal()
  }

  /// Returns what to do about a word that is not understood; nil for the usual examples.
  private func hint(about word: String, in text: String) -> String? {
    let words = Set(text.lowercased().split(separator: " ").map(String.init))
    if !words.isDisjoint(with: ["notice", "remind", "reminder", "warn", "warning", "ahead"]) {
      return
        "A warning before the time has a length: 'remind me 2 weeks before', or belfry add 'Car insurance' 30 nov 9am --warn 2w"
    }
    if ["by", "within"].contains(word.lowercased()) {
      return
        "Belfry rings on a day, not by one: leave out '\(Printable.text(word))'. To warn before it: --warn 2w"
    }
    // The title has its quotes already.
    if title?.contains(" ") == true, !phrase.isEmpty { return nil }
    return
      "Put the title into quotes, and only the schedule behind it: belfry add 'Call the vet' tomorrow 9am."
  }

  /// Returns the title, the schedule and the tags of the arguments.
  ///
  /// The first argument is the title if the others are a schedule, or wrong. Otherwise the line decides: see `Input.line`.
  private func line(_ parser: InputParser) throws -> InputLine {
    guard let title else { return InputLine(title: "", schedule: "", tags: []) }
    let tags = phrase.filter(Input.isTag).map { String($0.dropFirst()) }
    let words = phrase.filter { !Input.isTag($0) }
    // An option names the schedule, so that all words are the title's.
    if schedule.namesDates {
      return InputLine(title: title, schedule: words.joined(separator: " "), tags: tags)
    }
    // `monday: bins at 19:00`, without quotes
    if !title.contains(" "),
      let line = try? Input.lineBehindColon([title] + words, in: parser.context)
    {
      return InputLine(title: line.title, schedule: line.schedule, tags: tags)
    }
    let given = InputLine(
      title: words.isEmpty ? title : Input.withoutSigns([title]),
      schedule: words.joined(separator: " "), tags: tags)
    let startsSchedule = Input.startsSchedule(title) && !title.contains(" ")
    if words.first.map(InputParser.isRule) == true { return given }
    if Input.isScheduleAlone([title] + words, in: parser.context) {
      return InputLine(title: "", schedule: ([title] + words).joined(separator: " "), tags: tags)
    }
    var mistake: InputError?
    if let first = words.first, !startsSchedule, !Input.startsWithPartOfDay(first) {
      do throws(InputError) {
        _ = try Input.schedule(given.schedule, in: parser.context)
        return given
      } catch {
        if !error.isMisreading { return given }
        mistake = error
      }
    }
    let parts = ([title] + words).flatMap { $0.split(separator: " ").map(String.init) }
    let line: InputLine
    do throws(InputError) {
      line = try Input.line(parts, in: parser.context)
    } catch {
      // A quoted title stays whole, so that the mistake is behind it.
      let isQuoted = title.contains(" ") && !words.isEmpty
      let text = isQuoted ? given.schedule : parts.joined(separator: " ")
      let error = isQuoted ? mistake ?? error : error
      let failure = InputErrorText(error, text, .schedule, nil).commandError
      guard case .notUnderstood(let word, suggestion: nil) = error,
        let hint = hint(about: isQuoted ? words.first ?? word : word, in: text)
      else { throw failure }
      throw failure.with(hints: [hint])
    }
    if line.title.isEmpty { return line.schedule.isEmpty ? given : line }
    // The words behind a quoted title are the schedule's.
    if title.contains(" "), !words.isEmpty, line.title != title, let mistake {
      throw InputErrorText(mistake, given.schedule, .schedule, nil).commandError
    }
    // A quoted title stays whole.
    if title.contains(" "), !words.isEmpty, !line.title.hasPrefix(title) { return given }
    return InputLine(title: line.title, schedule: line.schedule, tags: tags + line.tags)
  }
}

extension ScheduleOptions {
  /// True if an option names the dates of the schedule.
  var namesDates: Bool { schedule != nil || !givenCycles.isEmpty }
}
