import ArgumentParser
import BelfryCore
import BelfryDocuments
import BelfryScheduler
import BelfryStore
import BelfryTerminal

struct CalendarList: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "list", abstract: "List the calendars: holidays, and followed ones.",
    discussion: """
        belfry calendar list

      With --json, the holiday calendars; those that this device follows: belfry calendar follow --list --json
      """)

  @OptionGroup var common: CommonOptions
  @ParentCommand var parent: CalendarCommand

  func run() throws {
    let context = try common.context(parent.root)
    let store = try context.open(.reading)
    let (all, problems) = store.calendars.all()
    context.warnings.warn(about: problems)
    let calendars = all.filter { !$0.isRemoved }
    if common.json { return try Console.write(calendars.map { HolidayCalendarDocument($0) }) }
    let followed = SubscriptionFolder(store).all()
    if !followed.isEmpty {
      Console.line("Followed on this device:")
      for subscription in followed {
        for line in SubscriptionText.lines(subscription, context.times) {
          Console.line("  \(line)")
        }
      }
      if calendars.isEmpty { return }
      Console.line("Holidays:")
    }
    if calendars.isEmpty {
      Console.line("This device follows no calendars. To follow one: belfry calendar follow URL")
      return Console.line(
        "There are no holiday calendars. Import one: belfry calendar import NAME holidays.ics")
    }
    let width = calendars.map { TextWidth.of($0.name) }.max() ?? 0
    for calendar in calendars {
      let count = calendar.holidays.count
      let padding = String(repeating: " ", count: width - TextWidth.of(calendar.name))
      Console.line(
        "\(followed.isEmpty ? "" : "  ")\(calendar.name)\(padding)  \(count) holiday\(count == 1 ? "" : "s"), \(calendar.shownYears)"
      )
    }
  }
}

struct CalendarShow: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "show", abstract: "List the holidays of a calendar.")

  @Argument(help: "The calendar.", completion: .calendars)
  var name: String

  @Flag(help: "Also list past holidays.")
  var all = false

  @OptionGroup var common: CommonOptions
  @ParentCommand var parent: CalendarCommand

  func run() throws {
    let context = try common.context(parent.root)
    let store = try context.open(.reading)
    let calendar = try CalendarCommand.find(name, in: store)
    if common.json { return try Console.write(HolidayCalendarDocument(calendar)) }
    let today = context.storeContext.zones.local.civil(at: context.storeContext.now).date
    let holidays = calendar.holidays.sorted { $0.key < $1.key }.filter { all || $0.key >= today }
    if holidays.isEmpty {
      return Console.line("\(calendar.name) has no future holidays; see --all.")
    }
    for (date, name) in holidays {
      Console.line("\(context.times.date(date))  \(Printable.text(name))")
    }
  }
}
