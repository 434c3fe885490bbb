import ArgumentParser
import BelfryCore
import BelfryStore
import BelfryTerminal

struct CalendarCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "calendar", abstract: "Manage the holidays that schedules respect.",
    discussion: """
        belfry calendar import de-BE holidays.ics
        belfry add "Rent" --monthly "last workday" --at 09:00
        belfry add "Bins" --weekly tue --every 2 --on-holiday after

      The calendars are synced. Alarms respect the holidays of all of them. 'belfry settings set workdays' names the \
      weekdays on which you work.
      """,
    subcommands: [
      CalendarList.self, CalendarImport.self, CalendarShow.self, CalendarRemove.self,
    ],
    defaultSubcommand: CalendarList.self)

  @ParentCommand var root: Belfry

  /// Returns the calendar with a name.
  ///
  /// - Throws: `CommandError` if there is none.
  static func find(_ name: String, in store: Store) throws -> HolidayCalendar {
    let calendars = store.calendars.all().calendars.filter { !$0.isRemoved }
    guard let calendar = calendars.first(where: { $0.name.lowercased() == name.lowercased() })
    else {
      let names = calendars.map(\.name).joined(separator: ", ")
      throw CommandError(
        .noSuchAlarm, "there is no calendar '\(Printable.text(name))'.",
        hint: names.isEmpty
          ? "Import one: belfry calendar import NAME holidays.ics" : "The calendars: \(names).")
    }
    return calendar
  }
}

extension HolidayCalendar {
  /// The years with holidays as text: `2026–2028`, `2026, 2028`.
  var shownYears: String {
    let numbers = years.filter { !$0.value.holidays.isEmpty }.keys.sorted()
    guard let first = numbers.first, let last = numbers.last, numbers.count > 1 else {
      return numbers.first.map(String.init) ?? "none"
    }
    return numbers == Array(first...last)
      ? "\(first)–\(last)" : numbers.map(String.init).joined(separator: ", ")
  }
}
