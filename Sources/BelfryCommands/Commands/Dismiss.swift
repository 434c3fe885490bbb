import ArgumentParser

struct Dismiss: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "dismiss",
    abstract: "Dismiss the missed occurrences of an alarm.")

  @OptionGroup var options: AnswerOptions
  @OptionGroup var common: CommonOptions
  @ParentCommand var root: Belfry

  func run() throws {
    try Answering(options, for: .dismiss, common.context(root)).giveAndShow(
      .dismiss, json: common.json)
  }
}
