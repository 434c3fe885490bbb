import ArgumentParser
import BelfryCore

struct Snooze: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "snooze",
    abstract: "Silence a ringing alarm, which rings again later.",
    discussion: """
      The length is a time such as 10m, 1h, 1d or 1w. The default is the setting snooze (9 minutes).

        belfry snooze rent 1h
      """)

  @OptionGroup var options: AnswerOptions

  @Argument(help: "The length of the snooze (default: snooze).")
  var length: String?

  @OptionGroup var common: CommonOptions
  @ParentCommand var root: Belfry

  func run() throws {
    let seconds = try length.map { text in
      guard let seconds = Span.parse(text) else {
        throw CommandError(
          .usage, "'\(Printable.text(text))' is not a length of time.",
          hint: "Write it as 90s, 10m, 1h, 1d or 1w, up to a year.")
      }
      return seconds
    }
    let answering = try Answering(options, common.context(root))
    try answering.giveAndShow(
      .snooze(seconds: seconds ?? answering.settings.snooze), json: common.json)
  }
}
