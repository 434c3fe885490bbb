import ArgumentParser
import BelfryCore
import BelfryInput

struct Year: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "year",
    abstract: "Show a mark for each day of a year, and counts.",
    discussion: """
      Each day has the sign of its most urgent occurrence: x missed, ! ringing, z snoozed, ? pending, then • : # by the \
      number of upcoming ones, □ completed automatically, - skipped, ✓ done, = paused. The number before a week is the \
      date of its first day.

        belfry year
        belfry year 2027
        belfry year last pills
        belfry year 2026 to 2028 +home
      """)

  @Argument(help: "next, 2027, or a range; +tag, a state, or text.", completion: .selections)
  var words: [String] = []

  @Option(name: [.customShort("n"), .long], help: "The number of years.")
  var years: Int?

  @OptionGroup var options: AgendaOptions
  @OptionGroup var pager: PagerOptions
  @OptionGroup var common: CommonOptions
  @ParentCommand var root: Belfry

  func validate() throws {
    if let years, !(1...CalendarUnit.year.limit).contains(years) {
      throw ValidationError("--years is 1 to \(CalendarUnit.year.limit).")
    }
  }

  func run() throws {
    let context = try common.context(root)
    if !common.json { pager.start(context, root) }
    try AgendaCommand(
      unit: .year, kind: .years, words: words, count: years, width: options.width
    ).run(context, json: common.json)
  }
}
