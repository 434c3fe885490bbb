import ArgumentParser
import BelfryActions
import BelfryCore
import BelfryScheduler
import BelfryStore
import BelfryTerminal

/// The command with which the daemon and `belfry attend` record the answer to a notification of several alarms, in one
/// commit.
///
/// Standard input has a line with an identifier and an occurrence for each alarm. Alarms that were answered meanwhile or
/// are gone are left out.
struct RecordAnswer: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: AnswerRecorder.bulkCommand,
    abstract: "Record the answer to a notification of several alarms.", shouldDisplay: false)

  enum Verb: String, ExpressibleByArgument { case stop, snooze }

  @Argument var verb: Verb

  @Option(help: "The length of a snooze, in seconds.")
  var seconds: Int64?

  @Option(help: "The store's folder.")
  var store: String?

  @ParentCommand var root: Belfry

  /// The maximum size of standard input, in bytes.
  private static let limit = 64 << 20

  func run() throws {
    let context = try CommandContext(store: self.store ?? root.store)
    let store = try context.open(.writing)
    let settings = try context.settings(store)
    let answer: Answer =
      switch verb {
      case .stop: .stop
      case .snooze: .snooze(seconds: seconds ?? settings.snooze)
      }
    let input = try InputFile.read("-", limit: RecordAnswer.limit)
    let occurrences = try RecordAnswer.occurrences(String(decoding: input, as: UTF8.self))
    let changes = try AnswerAlarms(
      answer, toPossible: occurrences, settings: settings, at: context.answerTime
    ).perform(in: store)
    DoneAction(context).run(changes)
  }

  private static func occurrences(_ text: String) throws -> [OccurrenceID] {
    try text.split(separator: "\n").map { line in
      let words = line.split(separator: " ")
      guard words.count == 2, let alarm = Identifier(words[0]),
        let occurrence = CivilDateTime(String(words[1]))
      else {
        throw CommandError(
          .usage, "'\(Printable.text(String(line)))' is not an alarm and an occurrence.",
          hint: "Write lines such as: ID 2026-11-23T09:00.")
      }
      return OccurrenceID(alarm: alarm, occurrence: occurrence)
    }
  }
}
