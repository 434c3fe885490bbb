import ArgumentParser

struct Dismiss: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Take note of what was missed: it is no longer shown.")

  @OptionGroup var options: AnswerOptions
  @OptionGroup var common: CommonOptions
  @ParentCommand var root: Belfry

  func run() throws {
    try Answering(options, common.context(root)).giveAndTell(.dismiss, json: common.json)
  }
}
