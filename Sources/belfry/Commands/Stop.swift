import ArgumentParser

struct Stop: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Silence what rings.",
    discussion: """
      On the tiers plus and premium a stopped occurrence stays pending, and asks again, until it is done.
      On the free tier stopping it is doing it.
      """)

  @OptionGroup var options: AnswerOptions
  @OptionGroup var common: CommonOptions
  @ParentCommand var root: Belfry

  func run() throws {
    try Answering(options, common.context(root)).giveAndTell(.stop, json: common.json)
  }
}
