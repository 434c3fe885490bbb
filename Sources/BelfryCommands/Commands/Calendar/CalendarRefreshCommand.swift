import ArgumentParser
import BelfryDocuments
import BelfryScheduler
import BelfryStore
import BelfryTerminal

struct CalendarRefreshCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "refresh", abstract: "Fetch the calendars that this device follows.",
    discussion: """
        belfry calendar refresh              # all of them, now
        belfry calendar refresh team
        belfry calendar refresh team --accept

      --accept deletes the alarms of all vanished events, also if they are most of the calendar's. --restore brings back \
      the alarms that you have deleted.
      """)

  @Argument(help: "The calendars (default: all).", completion: .followedCalendars)
  var names: [String] = []

  @Flag(help: "Delete the alarms of all vanished events.")
  var accept = false

  @Flag(help: "Bring back the deleted alarms of the calendar.")
  var restore = false

  @Flag(help: .hidden)
  var due = false

  @Flag(name: [.customShort("n"), .long], help: "Show what would change; change nothing.")
  var dryRun = false

  @OptionGroup var common: CommonOptions
  @ParentCommand var parent: CalendarCommand

  /// The time to wait for another process that refreshes the same calendar, in milliseconds.
  static let lockTimeout = 60_000

  func validate() throws {
    if accept || restore, names.isEmpty {
      throw ValidationError("--accept and --restore need the name of a calendar.")
    }
    if due, accept || restore || dryRun || !names.isEmpty {
      throw ValidationError("--due has no other arguments.")
    }
  }

  func run() async throws {
    let context = try common.context(parent.root)
    let store = try context.open(.evaluating, welcome: false)
    let subscriptions =
      try names.isEmpty
      ? SubscriptionFolder(store).all() : names.map { try CalendarCommand.followed($0, in: store) }
    var options = CalendarRefresh.Options()
    (options.onlyDue, options.acceptsLoss, options.isDryRun) = (due, accept, dryRun)
    options.restoresDeleted = restore
    options.lockTimeout = due ? 0 : CalendarRefreshCommand.lockTimeout
    let reports = await context.calendarRefresh(store).run(subscriptions, options)
    let output = RefreshOutput(context, isDryRun: dryRun)
    if due { return output.warn(aboutNews: reports, since: subscriptions) }
    for report in reports { output.warn(about: report) }
    if common.json {
      try Console.write(
        reports.map { RefreshDocument($0, zones: context.storeContext.zones) })
    } else {
      for report in reports { output.line(report) }
      if subscriptions.isEmpty {
        Console.line("This device follows no calendars. To follow one: belfry calendar follow URL")
      }
    }
    if let error = output.error(reports) { throw error }
  }
}
