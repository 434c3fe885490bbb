import BelfryCore
import BelfryStore

/// The occurrences of a period by day: the document of `month`, `week` and `year`.
package struct AgendaDocument: JSONDocument {
  /// The first date, such as `2026-12-01`.
  let from: String
  /// The last date.
  let to: String
  /// The date of the present time.
  let today: String
  /// The days, each with its occurrences.
  let days: [Day]
  /// The number of occurrences by state.
  let counts: [String: Int]

  /// A day of the period.
  package struct Day: Encodable {
    /// The date.
    let date: String
    /// The names of the holidays; absent for none.
    let holidays: [String]?
    /// The ids of the alarms that are paused on the day; absent for none.
    let paused: [String]?
    /// The occurrences, in the order of their times.
    let entries: [Entry]
  }

  /// An occurrence.
  package struct Entry: Encodable {
    /// The id of the alarm.
    let alarm: String
    /// The title of the alarm.
    let title: String
    /// The tags of the alarm, sorted; absent for none.
    let tags: [String]?
    /// The occurrence.
    let occurrence: String
    /// The time of the occurrence.
    let at: String
    /// The state.
    let state: String
  }

  package init(_ agenda: Agenda, zones: ZoneLibrary) {
    from = agenda.days.first?.date.description ?? ""
    to = agenda.days.last?.date.description ?? ""
    today = agenda.today.description
    counts = Dictionary(uniqueKeysWithValues: agenda.counts.map { ($0.key.rawValue, $0.value) })
    days = agenda.days.map { day in
      Day(
        date: day.date.description, holidays: day.holidays.isEmpty ? nil : day.holidays,
        paused: day.paused.isEmpty ? nil : day.paused.map(\.text),
        entries: day.entries.map { Entry($0, agenda.alarms[$0.alarm], zones: zones) })
    }
  }
}

extension AgendaDocument.Entry {
  fileprivate init(_ entry: Agenda.Entry, _ subject: Agenda.Subject?, zones: ZoneLibrary) {
    let tags = subject?.tags.map(\.text) ?? []
    self.init(
      alarm: entry.alarm.text, title: subject?.title ?? "", tags: tags.isEmpty ? nil : tags,
      occurrence: entry.occurrence.description, at: zones.text(entry.at),
      state: entry.state.rawValue)
  }
}
