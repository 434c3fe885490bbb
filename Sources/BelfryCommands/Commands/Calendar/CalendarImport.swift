import ArgumentParser
import BelfryCore
import BelfryDocuments
import BelfryExchange
import BelfryScheduler
import BelfryStore
import BelfryTerminal

struct CalendarImport: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "import", abstract: "Import holidays from an iCalendar file.",
    discussion: """
        belfry calendar import de-BE holidays.ics
        curl -s https://example.org/holidays.ics | belfry calendar import school -

      The years that the file contains replace those of the calendar; other years stay.
      """)

  @Argument(help: "The name of the calendar: letters, digits, - and _.", completion: .text)
  var name: String

  @Argument(help: "The file, or - for standard input.", completion: .file())
  var file: String?

  @Flag(name: [.customShort("n"), .long], help: "Show what would be imported; change nothing.")
  var dryRun = false

  @OptionGroup var common: CommonOptions
  @ParentCommand var parent: CalendarCommand

  func run() throws {
    guard let file else {
      throw CommandError(
        .usage, "the name of the calendar or the file is missing.",
        hint: "Name the calendar, then the file: belfry calendar import de holidays.ics")
    }
    guard HolidayCalendar.isName(name) else {
      throw CommandError(
        .usage, "'\(Printable.text(name))' is not a name for a calendar.",
        hint: "Use letters, digits, - and _, such as de-BE.")
    }
    let context = try common.context(parent.root)
    let bytes = try InputFile.read(file, limit: CalendarDocument.largest)
    guard CalendarDocument.matches(bytes) else {
      throw CommandError(
        .failed, "\(Printable.text(file)) is not an iCalendar file.",
        hint: "Import a file that begins with BEGIN:VCALENDAR.")
    }
    let today = context.storeContext.zones.local.civil(at: context.storeContext.now).date
    let (holidays, leftOut) = try HolidayDocument().read(bytes, today: today)
    for remark in leftOut {
      CommandDiagnostic.warn(
        "left out: \(Printable.text(remark.title)): \(Printable.text(remark.reason)).")
    }
    let imported = HolidayCalendar(name: name).importing(
      holidays, at: context.storeContext.now, device: Identifier(high: 0, low: 0))
    guard !holidays.isEmpty else {
      throw CommandError(
        .failed, "\(Printable.text(file)) contains no holidays.",
        hint: "The calendar was not changed.")
    }
    guard imported.years.count <= HolidayCalendar.maxYears else {
      throw CommandError(
        .failed, "\(Printable.text(file)) contains more than \(HolidayCalendar.maxYears) years.",
        hint: "The calendar was not changed.")
    }
    let summary =
      "\(holidays.count) holiday\(holidays.count == 1 ? "" : "s") of \(imported.shownYears)"
    if dryRun {
      if common.json { return try Console.write(HolidayCalendarDocument(imported)) }
      return Console.line("Would import \(summary) into \(name).")
    }
    let (calendar, isChanged) = try context.open(.creating, welcome: false).calendars.importing(
      holidays, into: name)
    if common.json { return try Console.write(HolidayCalendarDocument(calendar)) }
    Console.line(
      isChanged
        ? "Imported \(summary) into \(name)."
        : "\(name) already has these \(summary); nothing changed.")
  }
}
