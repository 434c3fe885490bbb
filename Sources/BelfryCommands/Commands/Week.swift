import ArgumentParser
import BelfryCore
import BelfryInput

struct Week: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "week",
    abstract: "Show a calendar of a week with all occurrences.",
    discussion: """
      Words behind the week select alarms, as in 'list'. The signs are those of 'belfry help month'. The locale determines \
      the first day of a week.

        belfry week
        belfry week next +home
        belfry week 2026-12-14
        belfry week w51 -n 2
        belfry week 14 dec to 4 jan
        belfry week --list
      """)

  @Argument(
    help: "next, a date, w51, or a range; +tag, a state, or text.", completion: .selections)
  var words: [String] = []

  @Option(name: [.customShort("n"), .long], help: "The number of weeks.")
  var weeks: Int?

  @Flag(name: .shortAndLong, help: "List the days instead of drawing a grid.")
  var list = false

  @OptionGroup var options: AgendaOptions
  @OptionGroup var pager: PagerOptions
  @OptionGroup var common: CommonOptions
  @ParentCommand var root: Belfry

  func validate() throws {
    let limit = CalendarUnit.week(.monday).limit
    if let weeks, !(1...limit).contains(weeks) {
      throw ValidationError("--weeks is 1 to \(limit).")
    }
  }

  func run() throws {
    let context = try common.context(root)
    if !common.json { pager.start(context, root) }
    try AgendaCommand(
      unit: .week(context.style.timeFormat.firstWeekday), kind: .weeks, words: words, count: weeks,
      isList: list, width: options.width
    ).run(context, json: common.json)
  }
}
