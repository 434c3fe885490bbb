import ArgumentParser

struct Stop: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "stop",
    abstract: "Silence a ringing or snoozed alarm.",
    discussion: """
      On the tiers plus and premium, a stopped occurrence is pending: follow-ups ask about it until it is done.
      On the free tier, stopping an occurrence marks it as done.

        belfry stop              # the alarm that rings
        belfry stop tea pills
        belfry stop --all
      """)

  @OptionGroup var options: AnswerOptions
  @OptionGroup var common: CommonOptions
  @ParentCommand var root: Belfry

  func run() throws {
    try Answering(options, for: .stop, common.context(root)).giveAndShow(.stop, json: common.json)
  }
}
