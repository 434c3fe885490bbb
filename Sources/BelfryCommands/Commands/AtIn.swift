import ArgumentParser
import BelfryCore
import BelfryInput
import BelfryStore
import BelfryTerminal
import Files

struct At: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "at",
    abstract: "Add an alarm that rings once, at a time.",
    discussion: """
        belfry at 16:45 "Call mum"
        belfry at tomorrow 9am Dentist
        belfry at "24 dec 18:00" Presents --persistent
      """)

  @Argument(help: "The date and time, then the title.", completion: .text)
  var words: [String]

  @OptionGroup var options: OneTimeOptions
  @OptionGroup var common: CommonOptions
  @ParentCommand var root: Belfry

  func run() throws {
    let context = try common.context(root)
    try AlarmCreation.requireRoom(context, json: common.json)
    let parser = InputParser(context)
    let tags = words.filter(Input.isTag)
    let words = words.filter { !Input.isTag($0) }
    let parts = words.flatMap { $0.split(separator: " ").map(String.init) }
    let found = try parser.read(parts.joined(separator: " "), .moment, nil) {
      (text, context) throws(InputError) in
      try Input.leadingMoment(text.split(separator: " ").map(String.init), in: context)
    }
    guard let found else {
      if let (title, moment) = titleFirst(parts, parser) {
        return try options.add(moment, title, tags, context, parser, common)
      }
      // The error names the words that are not a time.
      _ = try parser.moment(words.first ?? "", of: nil)
      throw CommandError(.usage, "the time is missing.", hint: "belfry at 16:45 \"Call mum\"")
    }
    var moment = found.moment
    if case .date(let date) = moment, let time = parser.context.dayTimes().standard {
      moment = .civil(CivilDateTime(date, time))
    } else if case .date(let date) = moment {
      throw CommandError(
        .usage, "the time is missing: \(context.times.date(date)), but when?",
        hint: "belfry at \(date) 9am TITLE")
    }
    let title = OneTimeOptions.title(words, after: found.count)
    if let word = title.split(separator: " ").first.map(String.init), Input.beginsRule(word) {
      throw CommandError(
        .usage, "an alarm of 'at' rings once, but '\(Printable.text(word))' repeats it.",
        hint: "For an alarm that repeats: belfry add TITLE \(Printable.text(word)) at TIME")
    }
    try options.add(moment, title, tags, context, parser, common)
  }

  /// Returns the parts of `Dentist tomorrow 9am`; nil if no date with a time ends the words.
  private func titleFirst(
    _ words: [String], _ parser: InputParser
  ) -> (title: String, moment: Moment)? {
    for start in words.indices.dropFirst() {
      let text = words[start...].joined(separator: " ")
      guard let moment = try? Input.moment(text, in: parser.context) else { continue }
      if case .date = moment { return nil }
      return (words[..<start].joined(separator: " "), moment)
    }
    return nil
  }
}

struct In: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "in",
    abstract: "Add an alarm that rings once, after a time.",
    discussion: """
        belfry in 20m Tea
        belfry in 1h30m "Take the bread out"
        belfry in 3 days "Water the plants"
      """)

  @Argument(help: "The length of time, then the title.", completion: .text)
  var words: [String]

  @OptionGroup var options: OneTimeOptions
  @OptionGroup var common: CommonOptions
  @ParentCommand var root: Belfry

  func run() throws {
    let context = try common.context(root)
    try AlarmCreation.requireRoom(context, json: common.json)
    let parser = InputParser(context)
    let tags = words.filter(Input.isTag)
    let words = words.filter { !Input.isTag($0) }
    let parts = words.flatMap { $0.split(separator: " ").map(String.init) }
    // `in 2 weeks at 9am call vet`
    if let found = try? Input.leadingMoment(["in"] + parts, in: parser.context),
      case .civil = found.moment
    {
      return try options.add(
        found.moment, OneTimeOptions.title(words, after: found.count - 1), tags, context, parser,
        common)
    }
    for count in stride(from: min(parts.count, Self.maxWords), through: 1, by: -1) {
      let text = parts[..<count].joined(separator: " ")
      // A number alone would be minutes, but `belfry in 3 Tea` is more likely a mistake.
      guard !text.allSatisfy(\.isNumber), let moment = moment(after: text, parser.context) else {
        continue
      }
      let title = OneTimeOptions.title(words, after: count)
      try refuseTime(behind: title, text, parser)
      return try options.add(moment, title, tags, context, parser, common)
    }
    // `in Tea 20m`
    for start in parts.indices.dropFirst() {
      let text = parts[start...].drop { $0 == "in" }.joined(separator: " ")
      guard text.contains(where: \.isLetter), let moment = moment(after: text, parser.context)
      else { continue }
      let title = parts[..<start].joined(separator: " ")
      return try options.add(moment, title, tags, context, parser, common)
    }
    let text = words.first ?? ""
    let isNumber = !text.isEmpty && text.allSatisfy(\.isNumber)
    if !isNumber { _ = try parser.length(text, of: nil) }
    throw CommandError(
      .usage, "'\(Printable.text(text))' has no unit.",
      hint: "Write minutes or hours: belfry in \(text)m TITLE")
  }

  /// Returns the moment after a length of time; nil for any other text.
  private func moment(after text: String, _ context: InputContext) -> Moment? {
    // Whole days keep the time of day across a clock change.
    if let period = try? Input.period(text, in: context) {
      return .civil(CivilDateTime(context.now.date.adding(period), context.now.time))
    }
    return (try? Input.length(text, in: context)).map { .delay($0) }
  }

  /// Throws an error for `in 6 weeks Haircut 10am`, whose time would become a part of the title.
  private func refuseTime(behind title: String, _ length: String, _ parser: InputParser) throws {
    let words = title.split(separator: " ").map(String.init)
    guard words.count > 1, let last = words.last, last.contains(where: \.isNumber),
      !last.allSatisfy(\.isNumber), (try? Input.time(last, in: parser.context)) != nil
    else { return }
    let rest = words.dropLast().joined(separator: " ")
    throw CommandError(
      .usage, "the time \(Printable.text(last)) stands behind the title.",
      hint:
        "Write it before: belfry in \(length) at \(Printable.text(last)) \(ShellWord.quoted(Printable.text(rest)))"
    )
  }

  private static let maxWords = 6
}

/// The options of a one-time alarm, and its creation.
struct OneTimeOptions: ParsableArguments {
  @OptionGroup var delivery: DeliveryOptions
  @OptionGroup var tagging: TagOptions

  @Option(help: "A note, at most 2,000 characters.")
  var note: String?

  @OptionGroup var motion: MotionOptions

  /// Returns the title: the arguments behind a number of words, which may be parts of the first arguments.
  static func title(_ arguments: [String], after count: Int) -> String {
    var left = count
    var rest: [String] = []
    for argument in arguments {
      let words = argument.split(separator: " ")
      if left >= words.count {
        left -= words.count
      } else if left > 0 {
        rest.append(words.dropFirst(left).joined(separator: " "))
        left = 0
      } else {
        rest.append(argument)
      }
    }
    return rest.joined(separator: " ")
  }

  /// Adds the alarm.
  ///
  /// - Parameter tags: the words that are tags, such as `+home`.
  func add(
    _ moment: Moment, _ title: String, _ tags: [String], _ context: CommandContext,
    _ parser: InputParser,
    _ common: CommonOptions
  ) throws {
    guard !title.isEmpty else {
      let example =
        switch moment {
        case .delay: "belfry in 20m Tea"
        default: "belfry at 16:45 Tea"
        }
      throw CommandError(
        .usage, "the title is missing.", hint: "Write it after the time: \(example)")
    }
    let civil = moment.civil(.future, in: parser.context)
    var tagging = tagging
    tagging.tag += tags.map { String($0.dropFirst()) }
    try AlarmCreation(
      title: title, note: note, tags: try tagging.changed([]), delivery: delivery,
      isStill: motion.noAnimation, json: common.json,
      schedule: { _ in try Schedule(.once(civil.date), times: [civil.time]) }
    ).run(context, parser)
  }
}
