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
    guard let bytes = try content(name) else { return nil }
    return try CalendarRecord.decode(bytes, name: name)
  }

  private func content(_ name: String) throws(RecordError) -> [UInt8]? {
    do throws(FileError) {
      return try DurableFile.read(
        "\(path)/\(CalendarRecord.path(name))", limit: CalendarRecord.largest)?.bytes
    } catch {
      throw RecordError(Store.reason(error, limit: CalendarRecord.largest))
    }
  }

  private func lastGood(_ name: String) -> HolidayCalendar? {
    guard let repository = try? repository(),
      let good = try? store.lastGoodVersion(of: CalendarRecord.path(name), repository)
    else { return nil }
    return try? CalendarRecord.decode(good.bytes, name: name)
  }

  /// Returns the calendar with a name for a change, as the reconciliation left it (see `StoreWriter.readAlarm(_:)`), or
  /// nil if the file is missing.
  ///
  /// - Throws: `StoreError.badRecord`; `GitError`.
  func read(_ name: String, _ writer: StoreWriter) throws -> HolidayCalendar? {
    let path = CalendarRecord.path(name)
    do {
      guard let bytes = try content(name) else { return nil }
      let calendar = try CalendarRecord.decode(bytes, name: name)
      let reconciled = try writer.reconciledVersion(of: path, saved: bytes)
      return reconciled.flatMap { try? CalendarRecord.decode($0, name: name) } ?? calendar
    } catch let error as RecordError {
      throw StoreError.badRecord(path: path, error)
    }
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
    store.workCalendarCache.value(for: "\(store.settingsSignature ?? "-") \(signature)") {
      let workdays = (try? store.settings().settings.workdays) ?? WorkCalendar.defaultWorkdays
      return WorkCalendar(workdays: workdays, all().calendars)
    }
  }

  /// A text that changes with the records.
  var signature: String {
    let folder = "\(path)/\(CalendarRecord.folder)"
    return DurableFile.names(in: folder).sorted().map { name in
      var status = stat()
      guard lstat("\(folder)/\(name)", &status) == 0 else { return name }
      let file = FileSignature(status)
      return "\(name) \(file.size) \(file.modified) \(file.changed) \(file.inode)"
    }.joined(separator: " ")
  }

  /// True if the records are unchanged since the last commit.
  var areSettled: Bool {
    signature == local.calendars.read() ?? ""
  }

  /// Saves the signature that the records had when they agreed with the branch.
  func settle(_ signature: String) throws { try local.calendars.replace(with: signature) }

  /// Makes the next reconciliation compare the records with the branch.
  func unsettle() throws { try local.calendars.replace(with: "changed") }

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
      let path = CalendarRecord.path(name)
      let before = try read(name, writer) ?? HolidayCalendar(name: name)
      let after = body(before)
      if after == before { return (before, false) }
      var files: [String: [UInt8]?] = [path: CalendarRecord.encode(after)]
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
  private let known = Mutex<(key: String, calendar: WorkCalendar)?>(nil)

  /// The calendar that was computed last; nil if there is none.
  var latest: WorkCalendar? { known.withLock { $0?.calendar } }

  /// Returns the calendar that was computed for a key, or computes it.
  func value(for key: String, _ compute: () -> WorkCalendar) -> WorkCalendar {
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
