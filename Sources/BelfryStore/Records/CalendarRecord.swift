import BelfryCore

/// The record `calendars/<name>.json`: the holidays of one calendar.
///
/// ```
/// {"format": 1, "name": "de-BE", "years": {"2026": {"holidays": {"12-25": "Christmas Day"}, "stamp": …}}}
/// ```
///
/// Each year merges by its stamp. Unknown keys of the record are preserved.
public enum CalendarRecord: TrackedRecord {
  /// The folder of the records.
  public static let folder = "calendars"
  /// The maximum size of a record in bytes. A larger file is rejected unread.
  public static let largest = 1 << 20

  /// Returns the path of a calendar's record within the store.
  public static func path(_ name: String) -> String { "\(folder)/\(name).json" }

  /// Parses a record.
  ///
  /// - Throws: `RecordError` if the record is not valid.
  public static func decode(_ bytes: [UInt8], name: String) throws(RecordError) -> HolidayCalendar {
    var reader = try RecordReader(bytes)
    guard try reader.required("name", \.string, "a string") == name else {
      throw reader.error("'name' is not the file's name", at: "name")
    }
    var calendar = HolidayCalendar(name: name)
    if var years = try reader.nested("years") {
      for key in years.keys {
        guard let number = Int(key), key.utf8.count == 4, CivilDate.years.contains(number) else {
          throw years.error("'years' names '\(key)', which is not a year", at: key)
        }
        guard var year = try years.nested(key) else { continue }
        calendar.years[number] = try decode(&year, of: key)
      }
    }
    guard calendar.years.count <= HolidayCalendar.maxYears else {
      throw reader.error("'years' has more than \(HolidayCalendar.maxYears) years")
    }
    calendar.extras = reader.remaining()
    return calendar
  }

  static let stage = ReconcileStage.calendars
  static let name = "holidays"
  static let action = CommitMessage.calendar
  static let location = folder
  static func committedSignature(_ local: LocalState) -> LocalFile<String?> { local.calendars }

  static func decode(
    _ bytes: [UInt8], at path: RecordPath, now: Instant
  ) throws(RecordError) -> HolidayCalendar {
    guard case .calendar(let name) = path else { throw .wrongPath }
    return try decode(bytes, name: name)
  }

  private static func decode(
    _ reader: inout RecordReader, of year: String
  ) throws(RecordError) -> HolidayCalendar.Year {
    var holidays: [CivilDate: String] = [:]
    if var dates = try reader.nested("holidays") {
      for key in dates.keys {
        guard let date = CivilDate("\(year)-\(key)") else {
          throw dates.error("'\(key)' is not a month and day of \(year)", at: key)
        }
        holidays[date] = try dates.required(key, holidayName, "a name without control characters")
      }
    }
    guard holidays.count <= HolidayCalendar.maxHolidays else {
      throw reader.error("\(year) has more than \(HolidayCalendar.maxHolidays) holidays")
    }
    return HolidayCalendar.Year(
      holidays, stamp: try reader.optional("stamp", \.stamp, "a stamp"))
  }

  private static func holidayName(_ json: JSON) -> String? {
    plainText(json).flatMap { $0.count <= HolidayCalendar.longestHolidayName ? $0 : nil }
  }

  /// Returns the canonical document of a calendar.
  public static func encode(_ calendar: HolidayCalendar) -> [UInt8] {
    let years = calendar.years.map { number, year in
      (String(CivilDate(year: number, month: 1, day: 1).description.prefix(4)), encode(year))
    }
    return JSON.object(omittingNil: [
      "format": .integer(RecordFormat.current), "name": .string(calendar.name),
      "years": .object(Dictionary(uniqueKeysWithValues: years)),
    ]).adding(calendar.extras).document
  }

  private static func encode(_ year: HolidayCalendar.Year) -> JSON {
    .object(omittingNil: [
      "holidays": .object(
        Dictionary(
          uniqueKeysWithValues: year.holidays.map {
            (String($0.key.description.dropFirst(5)), .string($0.value))
          })),
      "stamp": year.stamp.map { JSON($0) },
    ])
  }
}
