import ArgumentParser
import BelfryCore

struct Unskip: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Let what was skipped ahead come again: the first, or all.")

  @OptionGroup var options: AnswerOptions

  @Flag(help: "All that are skipped ahead.")
  var all = false

  @OptionGroup var common: CommonOptions
  @ParentCommand var root: Belfry

  func run() throws {
    let answering = try Answering(options, common.context(root))
    let (transition, status) = try answering.give(.unskip(all: all))
    guard let event = transition.events.last else { return }
    let output = answering.output
    if common.json { return output.print(output.json(transition.alarm, status, event: event)) }
    Console.line(
      "Unskipped \(Printable.text(transition.alarm.title)): \(output.next(transition.alarm, status))."
    )
  }
}
