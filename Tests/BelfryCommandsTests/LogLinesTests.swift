import BelfryCore
import BelfryStore
import Testing

@testable import BelfryCommands
@testable import BelfryTerminal

/// The order of log entries, and the lines that combine them.
@Suite struct LogLinesTests {
  private let laptop = Identifier(high: 1, low: 1)
  private let server = Identifier(high: 2, low: 2)
  private static let monday = CivilDateTime("2026-11-23T09:00")

  private func entry(
    _ action: LogEntry.Action, _ at: String, alarm: UInt64 = 1, title: String = "Rent",
    occurrence: CivilDateTime? = Self.monday, device: Identifier? = nil, auto: Bool = false,
    payload: LogPayload? = nil
  ) -> LogEntry {
    LogEntry(
      id: Identifier(high: 9, low: 9), alarm: Identifier(high: 5, low: alarm), title: title,
      occurrence: occurrence, action: action, at: Instant(rfc3339: at) ?? .distantFuture,
      device: device ?? laptop, auto: auto, payload: payload)
  }

  private func lines(_ entries: [LogEntry]) -> [String] {
    let text = LogText(names: [laptop: "laptop", server: "server"], times: .utc)
    return LogLines(NewestFirst(entries)).map { text.row($0) }
  }

  @Test("Entries of one timestamp are in the reverse order of an alarm's life")
  func order() {
    let at = "2026-11-23T09:00:00Z"
    let friday = CivilDateTime("2026-11-20T09:00")
    let entries = [
      entry(.fired, at), entry(.created, at, occurrence: nil), entry(.done, at),
      entry(.done, at, occurrence: friday, auto: true), entry(.stopped, at),
      entry(.undone, at), entry(.edited, at, occurrence: nil),
    ]
    let expected: [LogEntry.Action] = [
      .undone, .done, .stopped, .fired, .done, .edited, .created,
    ]
    for shift in entries.indices {
      let shuffled = Array(entries[shift...] + entries[..<shift])
      #expect(NewestFirst(shuffled).map(\.action) == expected)
    }
    // Different timestamps stay in their order.
    let later = [entry(.created, "2026-11-24T09:00:00Z"), entry(.done, at)]
    #expect(NewestFirst(later).map(\.action) == [.created, .done])
  }

  @Test("The reports of several devices about one occurrence are one line")
  func reports() {
    let result = lines([
      entry(.done, "2026-11-23T09:05:00Z"),
      entry(.missed, "2026-11-23T09:04:00Z", alarm: 2, title: "Tea", device: server),
      entry(.fired, "2026-11-23T09:00:01Z", device: server),
      entry(.missed, "2026-11-23T09:00:01Z", alarm: 2, title: "Tea"),
      entry(.fired, "2026-11-23T09:00:00Z"),
    ])
    #expect(
      result == [
        "  09:05  Done       Rent (09:00)  laptop",
        "  09:04  Missed     Tea (09:00)  laptop, server",
        "  09:00  Fired      Rent (09:00)  laptop, server",
      ])
  }

  @Test("A device that reports twice, and reports more than a day apart, have lines of their own")
  func separateReports() {
    let again = lines([
      entry(.fired, "2026-11-23T09:09:00Z", device: server),
      entry(.fired, "2026-11-23T09:09:00Z"),
      entry(.fired, "2026-11-23T09:00:00Z", device: server),
      entry(.fired, "2026-11-23T09:00:00Z"),
    ])
    #expect(
      again == [
        "  09:09  Fired      Rent (09:00)  laptop, server",
        "  09:00  Fired      Rent (09:00)  laptop, server",
      ])
    let late = lines([
      entry(.missed, "2026-11-25T09:00:00Z", device: server),
      entry(.edited, "2026-11-24T08:00:00Z", occurrence: nil, payload: .fields([.title])),
      entry(.missed, "2026-11-23T09:30:00Z"),
    ])
    #expect(late.count == 3)
    // An automatic completion is no report of a user's.
    #expect(
      lines([
        entry(.done, "2026-11-23T10:00:00Z", device: server, auto: true),
        entry(.done, "2026-11-23T09:30:00Z"),
      ]).first == "  10:00  Completed  Rent (09:00), automatically  server")
  }

  @Test("An action on several alarms or occurrences is one line")
  func bulkActions() {
    let at = "2026-11-23T09:00:00Z"
    let until = LogPayload.pause(until: CivilDateTime("2027-01-04T08:00") ?? Self.until)
    let paused = (1...6).map {
      entry(.paused, at, alarm: $0, title: "Alarm \(7 - $0)", occurrence: nil, payload: until)
    }
    #expect(
      lines(paused) == [
        "  09:00  Paused     6 alarms: Alarm 1, Alarm 2, Alarm 3 and 3 more, until 4 Jan 2027 08:00  laptop"
      ])
    let skipped = ["2026-11-30T09:00", "2026-11-27T09:00"].map {
      entry(.skipped, at, occurrence: CivilDateTime($0))
    }
    #expect(
      lines(skipped) == [
        "  09:00  Skipped    Rent (27 Nov 09:00; 30 Nov 09:00)  laptop"
      ])
    // Firings at one moment are separate events.
    #expect(
      lines([entry(.fired, at), entry(.fired, at, alarm: 2, title: "Tea")]).count == 2)
    // Actions with different facts are listed without them.
    let created = [("Tea", 16), ("Rent", 9)].map { title, hour in
      entry(
        .created, at, alarm: UInt64(hour), title: title, occurrence: nil,
        payload: .fields(hour == 9 ? [.title] : [.note]))
    }
    #expect(lines(created) == ["  09:00  Created    2 alarms: Rent, Tea  laptop"])
  }

  private static let until = CivilDateTime(minuteNumber: 0)
}
