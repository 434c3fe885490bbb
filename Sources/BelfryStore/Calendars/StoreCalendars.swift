import BelfryCore
import Files
import Glibc
import Synchronization

/// The holiday calendars of a store.
public struct StoreCalendars: StorePart {
  let store: Store

  /// Returns the calendars, those that were removed included, and the records that are not valid. In place of such a
  /// record, the last valid version counts.
  public func all() -> (calendars: [HolidayCalendar], problems: [RecordProblem]) {
    var calendars: [HolidayCalendar] = []
    var problems: [RecordProblem] = []
    for file in DurableFile.names(in: "\(path)/\(CalendarRecord.folder)").sorted() {
      let record = "\(CalendarRecord.folder)/\(file)"
      guard case .calendar(let name)? = RecordPath(record) else {
        problems.append(
          RecordProblem(
            path: record, kind: .invalid(RecordError("no record has this name"), lastGood: false)))
        continue
      }
      do throws(RecordError) {
        if let calendar = try readFile(name) { calendars.append(calendar) }
      } catch {
        let good = lastGood(name)
        if let good { calendars.append(good) }
        problems.append(
          RecordProblem(path: record, kind: .invalid(error, lastGood: good != nil)))
      }
    }
    return (calendars, problems)
  }

  /// Returns the name of a holiday, from the first calendar that has it; nil if the date is none.
  public func name(of holiday: CivilDate) -> String? {
    all().calendars.lazy.compactMap { $0.holidays[holiday] }.first
  }

  /// Returns the calendar with a name, or nil if the file is missing.
  ///
  /// - Throws: `RecordError` if the file is not valid.
  private func readFile(_ name: String) throws(RecordError) -> HolidayCalendar? {
    let file = "\(path)/\(CalendarRecord.path(name))"
    let bytes: [UInt8]?
    do throws(FileError) {
      bytes = try DurableFile.read(file, limit: CalendarRecord.largest)?.bytes
    } catch {
      throw RecordError(Store.reason(error, limit: CalendarRecord.largest))
    }
    guard let bytes else { return nil }
    return try CalendarRecord.decode(bytes, name: name)
  }

  private func lastGood(_ name: String) -> HolidayCalendar? {
    guard let repository = try? repository(),
      let good = try? store.lastGoodVersion(of: CalendarRecord.path(name), repository)
    else { return nil }
    return try? CalendarRecord.decode(good.bytes, name: name)
  }

  /// The working days and holidays, for the schedules that depend on them. Cached until a file changes, and while the
  /// store is not available.
  public var workCalendar: WorkCalendar {
    if access("\(path)/.git", F_OK) != 0, let known = store.workCalendarCache.latest {
      return known
    }
    return currentCalendar
  }

  private var currentCalendar: WorkCalendar {
    let signatures = [SettingsFile.signature(of: store), CalendarRecord.signature(of: store)]
    return store.workCalendarCache.value(for: signatures) {
      let workdays = (try? store.settings().settings.workdays) ?? WorkCalendar.defaultWorkdays
      return WorkCalendar(workdays: workdays, all().calendars)
    }
  }

  // MARK: Writing

  /// Imports holidays into a calendar, as one commit. The years that they contain are replaced.
  ///
  /// - Returns: The calendar, and true if its holidays changed.
  public func importing(
    _ holidays: [CivilDate: String], into name: String
  ) throws -> (calendar: HolidayCalendar, isChanged: Bool) {
    try change(name, "Import the holidays \(name)") {
      $0.importing(holidays, at: context.now, device: device)
    }
  }

  /// Removes the holidays of a calendar, as one commit.
  ///
  /// - Returns: The calendar, and true if its holidays changed.
  public func removing(
    _ name: String
  ) throws -> (calendar: HolidayCalendar, isChanged: Bool) {
    try change(name, "Remove the holidays \(name)") {
      $0.removed(at: context.now, device: device)
    }
  }

  private func change(
    _ name: String, _ subject: String, _ body: (HolidayCalendar) -> HolidayCalendar
  ) throws -> (calendar: HolidayCalendar, isChanged: Bool) {
    try store.write(reconciling: .calendars) { writer in
      let path = RecordPath.calendar(name)
      let before =
        try writer.read(CalendarRecord.self, at: path).value(at: path)
        ?? HolidayCalendar(name: name)
      let after = body(before)
      if after == before { return (before, false) }
      var files: [String: [UInt8]?] = [path.text: CalendarRecord.encode(after)]
      if Store.earlierAttributes == (try store.attributesInWorkTree()) {
        files[Store.attributesPath] = Store.attributes
      }
      try writer.commit(
        files,
        message: CommitMessage(
          subject, trailers: [("Action", CommitMessage.calendar)], device: device))
      let isChanged = after.years.mapValues(\.holidays) != before.years.mapValues(\.holidays)
      return (after, isChanged)
    }
  }
}

/// A cache of the working days and holidays, which are the same for all alarms of a store.
final class WorkCalendarCache: Sendable {
  private let known = Mutex<(key: [String?], calendar: WorkCalendar)?>(nil)

  /// The calendar that was computed last; nil if there is none.
  var latest: WorkCalendar? { known.withLock { $0?.calendar } }

  /// Returns the calendar that was computed for a key, or computes it.
  func value(for key: [String?], _ compute: () -> WorkCalendar) -> WorkCalendar {
    known.withLock { known in
      if let known, known.key == key { return known.calendar }
      let calendar = compute()
      known = (key, calendar)
      return calendar
    }
  }
}

extension Store {
  /// The holiday calendars.
  public var calendars: StoreCalendars { StoreCalendars(store: self) }

  /// Returns the working days and holidays for an alarm. They are read only if its schedule depends on them.
  func workCalendar(of alarm: Alarm) -> WorkCalendar {
    alarm.schedule.usesCalendar ? calendars.workCalendar : .standard
  }
}
