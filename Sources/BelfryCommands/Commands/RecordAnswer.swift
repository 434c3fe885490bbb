import ArgumentParser
import BelfryActions
import BelfryCore
import BelfryScheduler
import BelfryStore
import BelfryTerminal

/// The command with which the daemon and `belfry attend` record the answer to a notification, in one commit.
///
/// Standard input has a line with an identifier and an occurrence for each alarm. Of several alarms, those that were
/// answered meanwhile or are gone are left out. For a single one, that is an error.
struct RecordAnswer: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: ChildCommand.recordAnswerName,
    abstract: "Record the answer to a notification.", shouldDisplay: false)

  @Argument var verb: AnswerVerb

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
    let answer = ChildCommand.answer(verb, seconds: seconds ?? settings.snooze)
    let input = try InputFile.read("-", limit: RecordAnswer.limit)
    let occurrences = try RecordAnswer.occurrences(String(decoding: input, as: UTF8.self))
    let action =
      if let only = occurrences.first, occurrences.count == 1 {
        AnswerAlarms(
          answer, to: only.alarm, occurrence: only.occurrence, settings: settings,
          at: context.answerTime)
      } else {
        AnswerAlarms(
          answer, toPossible: occurrences, settings: settings, at: context.answerTime)
      }
    context.runDoneActions(after: try context.explaining { try action.perform(in: store) })
  }

  private static func occurrences(_ text: String) throws -> [OccurrenceID] {
    try text.split(separator: "\n").map { line in
      guard let occurrence = ChildCommand.occurrence(line) else {
        throw CommandError(
          .usage, "'\(Printable.text(String(line)))' is not an alarm and an occurrence.",
          hint: "Write lines such as: ID 2026-11-23T09:00.")
      }
      return occurrence
    }
  }
}

extension AnswerVerb: ExpressibleByArgument {}
