import ArgumentParser
import BelfryCore
import BelfryDocuments
import BelfryStore
import BelfryTerminal

struct CalendarRemove: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "remove", abstract: "Remove a holiday calendar on all devices.")

  @Argument(help: "The calendar.", completion: .calendars)
  var name: String

  @OptionGroup var confirmation: ConfirmationOptions

  @OptionGroup var common: CommonOptions
  @ParentCommand var parent: CalendarCommand

  func run() throws {
    let context = try common.context(parent.root)
    let store = try context.open(.writing)
    let calendar = try CalendarCommand.find(name, in: store)
    let dependent = try store.allAlarms().alarms.count { !$0.isDeleted && $0.schedule.usesCalendar }
    let consequence =
      dependent == 0
      ? "No alarm depends on holidays."
      : "\(dependent) alarm\(dependent == 1 ? "" : "s") will ring on its \(calendar.holidays.count) holidays like on other days."
    if confirmation.dryRun {
      if common.json { return try Console.write(HolidayCalendarDocument(calendar)) }
      return Console.line("Would remove \(calendar.name). \(consequence)")
    }
    if !confirmation.yes {
      guard Style.canAsk else {
        throw CommandError(
          .usage, "removing \(calendar.name) needs a confirmation. \(consequence)",
          hint: "Add --yes."
        ).needingTerminal()
      }
      Console.prompt("Remove \(calendar.name)? \(consequence)")
      guard Console.confirmed() else {
        throw CommandError(.failed, "nothing was removed.", hint: "Answer y to remove it.")
      }
    }
    let removed = try store.calendars.removing(calendar.name).calendar
    if common.json { return try Console.write(HolidayCalendarDocument(removed)) }
    Console.line("Removed \(calendar.name). \(consequence)")
  }
}
