import ArgumentParser
import BelfryCore
import BelfryScheduler
import BelfryStore
import BelfryTerminal

struct CalendarCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "calendar", abstract: "Follow calendars, and manage holidays.",
    discussion: """
        belfry calendar follow https://example.org/team.ics
        belfry calendar import de-BE holidays.ics
        belfry add "Rent" --monthly "last workday" --at 09:00
        belfry add "Bins" --weekly tue --every 2 --on-holiday after

      This device makes alarms of the events of the calendars that it follows, and keeps them current: 'follow', \
      'refresh', 'unfollow'. The other commands are about holiday calendars, from which no alarms are made.

      Holiday calendars are synced. Alarms respect the holidays of all of them. 'belfry settings set workdays' names the \
      weekdays on which you work.
      """,
    subcommands: [
      CalendarList.self, CalendarFollow.self, CalendarRefreshCommand.self, CalendarUnfollow.self,
      CalendarImport.self, CalendarShow.self, CalendarRemove.self,
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
      if SubscriptionFolder(store).subscription(name) != nil {
        throw CommandError(
          .noSuchAlarm, "\(Printable.text(name)) is no holiday calendar; this device follows it.",
          hint: "To stop following it: belfry calendar unfollow \(Printable.text(name))")
      }
      let names = calendars.map(\.name).joined(separator: ", ")
      throw CommandError(
        .noSuchAlarm, "there is no calendar '\(Printable.text(name))'.",
        hint: names.isEmpty
          ? "Import one: belfry calendar import NAME holidays.ics" : "The calendars: \(names).")
    }
    return calendar
  }

  /// Returns the calendar with a name that this device follows.
  ///
  /// - Throws: `CommandError` if there is none.
  static func followed(_ name: String, in store: Store) throws -> CalendarSubscription {
    let folder = SubscriptionFolder(store)
    if let subscription = folder.subscription(name) { return subscription }
    let shown = Printable.text(name)
    if store.calendars.all().calendars.contains(where: {
      !$0.isRemoved && $0.name.lowercased() == name.lowercased()
    }) {
      throw CommandError(
        .noSuchAlarm, "\(shown) is a holiday calendar, which is not followed.",
        hint: "To replace its holidays: belfry calendar import \(shown) FILE")
    }
    let names = folder.names.map { Printable.text($0) }.joined(separator: ", ")
    throw CommandError(
      .noSuchAlarm, "this device follows no calendar '\(shown)'.",
      hint: names.isEmpty
        ? "To follow one: belfry calendar follow URL" : "It follows: \(names).")
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
