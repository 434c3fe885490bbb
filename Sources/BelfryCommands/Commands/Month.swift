import ArgumentParser
import BelfryCore
import BelfryInput

struct Month: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "month",
    abstract: "Show a calendar of a month, or of several.",
    discussion: """
      Each day has its occurrences, past and future, with their states. Words behind the month select alarms, as in \
      'list'. Disabled alarms are left out; 'belfry month disabled' shows their past.

        belfry month
        belfry month next +home
        belfry month december rent
        belfry month 2026-12 -n 3
        belfry month december 2026 to february
        belfry month -3

      The signs: ✓ done, □ completed automatically, - skipped, x missed, ! ringing, z snoozed, ? pending, = paused. \
      Today is [24].
      """)

  @Argument(
    help: "next, december, 2026-12, or a range; +tag, a state, or text.", completion: .selections)
  var words: [String] = []

  @Option(name: [.customShort("n"), .long], help: "The number of months.")
  var months: Int?

  @Flag(
    name: [.customShort("3"), .customLong("three")],
    help: "Show the month before and after, too.")
  var three = false

  @Flag(name: .shortAndLong, help: "List the days instead of drawing a grid.")
  var list = false

  @OptionGroup var options: AgendaOptions
  @OptionGroup var pager: PagerOptions
  @OptionGroup var common: CommonOptions
  @ParentCommand var root: Belfry

  func validate() throws {
    if let months, !(1...CalendarUnit.month.limit).contains(months) {
      throw ValidationError("--months is 1 to \(CalendarUnit.month.limit).")
    }
    if months != nil, three { throw ValidationError("--three and --months exclude each other.") }
  }

  func run() throws {
    let context = try common.context(root)
    if !common.json { pager.start(context, root) }
    try AgendaCommand(
      unit: .month, kind: .months, words: words, count: months, isSurrounded: three, isList: list,
      width: options.width
    ).run(context, json: common.json)
  }
}
