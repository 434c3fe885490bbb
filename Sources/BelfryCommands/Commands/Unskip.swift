import ArgumentParser
import BelfryCore
import BelfryTerminal

struct Unskip: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "unskip",
    abstract: "Restore the first skipped future occurrence, or all.")

  @Argument(help: "The alarm.", completion: .skippedAlarms)
  var alarm: String

  @Option(help: "The occurrence: a date, or 2026-11-23T09:00 (default: the first one).")
  var occurrence: String?

  @Flag(help: "Restore all skipped future occurrences.")
  var all = false

  @OptionGroup var common: CommonOptions
  @ParentCommand var root: Belfry

  func run() throws {
    let options = AnswerOptions([alarm], occurrence: occurrence)
    let answering = try Answering(options, for: .unskip, common.context(root))
    guard let change = try answering.give(.unskip(all: all)).first, let event = change.events.last
    else { return }
    let output = answering.output
    if common.json {
      return try Console.write(output.document(change.alarm, change.status, event: event))
    }
    Console.line(
      "Unskipped \(Printable.text(change.alarm.title)): \(output.next(change.alarm, change.status))."
    )
  }
}
