import BelfryCore
import BelfryScheduler
import BelfryStore

/// The check that a schedule with a treatment of holidays knows any.
struct HolidayCheck {
  private let calendar: WorkCalendar

  init(_ store: Store) { calendar = store.calendars.workCalendar }

  /// Warns if a schedule treats holidays, but no calendar with holidays is imported.
  func warn(about schedule: Schedule) {
    guard schedule.limits.onHoliday != nil, calendar.holidays.isEmpty else { return }
    // `every workday` does not name holidays.
    if case .weekly(let days, _) = schedule.recurrence, WeekdaySet(days) == calendar.workdays {
      return
    }
    CommandDiagnostic.warn(
      "no holidays are known, so the alarm rings on them.",
      hints: ["Import some: belfry calendar import NAME holidays.ics"])
  }
}
