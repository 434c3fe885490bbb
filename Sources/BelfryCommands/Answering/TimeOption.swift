import ArgumentParser

/// The option with the time of a command that otherwise reads it from its words.
struct TimeOption: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "The time, so that all words name alarms.", valueName: "time"))
  var when: String?
}
