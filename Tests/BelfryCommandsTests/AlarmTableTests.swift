import BelfryCore
import BelfryStore
import Testing

@testable import BelfryCommands
@testable import BelfryTerminal

/// The table of alarms: its groups, its columns and its size.
@Suite struct AlarmTableTests {
  private static let now = Instant(seconds: 1_795_426_200)

  private func table(width: Int?) -> AlarmTable {
    AlarmTable(
      AlarmOutput(
        now: Self.now, zones: ZoneLibrary(variable: "Europe/Berlin"),
        style: Style(isColored: false, width: width)))
  }

  private func summary(
    _ number: Int, title: String, hours: Int64?, state: AlarmStatus.State = .active
  ) -> AlarmSummary {
    let next = hours.map { hours in
      let at = Self.now.adding(seconds: hours * 3600)
      let civil = ZoneLibrary(variable: "Europe/Berlin").local.civil(at: at)
      return Timeline.Occurrence(civil: civil, at: at)
    }
    return AlarmSummary(
      id: Identifier(high: 0, low: UInt64(number)), title: title, note: nil, badge: "daily",
      rule: AlarmSummary.Rule(
        .daily(.init(start: CivilDate(dayNumber: 20_000))), times: [.midnight]),
      zone: "floating", isDeleted: false, status: AlarmStatus(state: state, next: next))
  }

  @Test("The group follows from the date on this device's wall clock")
  func groups() {
    // It is Mon 23 Nov 2026, 10:30 in Berlin.
    let table = table(width: nil)
    let expected: [(Int64, AlarmTable.Group)] = [
      (0, .today), (13, .today), (14, .tomorrow), (37, .tomorrow), (38, .week), (157, .week),
      (158, .later), (9000, .later),
    ]
    for (hours, group) in expected {
      #expect(table.group(summary(1, title: "A", hours: hours).status) == group, "\(hours)")
      let paused = summary(1, title: "A", hours: hours, state: .paused)
      #expect(table.group(paused.status) == group)
    }
    for state in [AlarmStatus.State.ringing, .snoozed, .missed, .pending] {
      #expect(table.group(AlarmStatus(state: state)) == .now)
    }
    #expect(table.group(AlarmStatus(state: .disabled)) == .disabled)
    #expect(table.group(AlarmStatus(state: .finished)) == .finished)
  }

  @Test(
    "A screen shows the time until what rings within an hour, in whole minutes, and the table does not"
  )
  func countdowns() {
    func table(seconds: Int64, hasCountdowns: Bool) -> AlarmTable {
      AlarmTable(
        AlarmOutput(
          now: Self.now.adding(seconds: 3600 - seconds),
          zones: ZoneLibrary(variable: "Europe/Berlin"), style: Style(isColored: false, width: 60)),
        hasCountdowns: hasCountdowns)
    }
    // The second row is not a plain one.
    let alarms = AlarmListing([
      summary(1, title: "Rent", hours: 1), summary(2, title: "Größe", hours: 1, state: .paused),
    ])
    for (seconds, text) in [
      (3599, "in 1 h"), (720, "in 12 min"), (661, "in 12 min"), (660, "in 11 min"), (1, "in 1 min"),
    ] as [(Int64, String)] {
      let lines = table(seconds: seconds, hasCountdowns: true).text(alarms).split(separator: "\n")
      #expect(lines.count { $0.contains(text) } == 2, "\(seconds): \(lines)")
      #expect(
        !table(seconds: seconds, hasCountdowns: false).text(alarms).contains(text), "\(seconds)")
    }
    #expect(!table(seconds: 3600, hasCountdowns: true).text(alarms).contains("in 1 h"))
  }

  @Test("The most urgent alarms are first, then the next ones; disabled ones are last")
  func order() {
    let alarms = [
      summary(1, title: "disabled", hours: nil, state: .disabled),
      summary(2, title: "later", hours: 300), summary(3, title: "b", hours: 2),
      summary(4, title: "a", hours: 2), summary(5, title: "paused", hours: 30, state: .paused),
      summary(6, title: "pending", hours: 5, state: .pending),
      summary(7, title: "ringing", hours: 900, state: .ringing),
    ]
    #expect(
      AlarmListing(alarms).sorted().summaries.map(\.title) == [
        "ringing", "pending", "a", "b", "paused", "later", "disabled",
      ])
  }

  @Test("150 alarms have a line each and six headings", arguments: [nil, 60, 80, 120, 200])
  func size(_ width: Int?) {
    let titles = ["Rent", "薬を飲む 💊", "A title that is much longer than most titles are"]
    let alarms = (0..<150).map { number in
      summary(
        number, title: "\(titles[number % 3]) \(number)",
        hours: number < 5 ? nil : Int64(number - 9) * 2,
        state: number < 5 ? .disabled : number < 10 ? .ringing : .active)
    }
    let lines = table(width: width).text(AlarmListing(alarms).sorted()).split(separator: "\n")
    #expect(lines.count == 156)
    #expect(lines.count { !$0.hasPrefix(" ") } == 6)
    #expect(lines.first == "Now (5)" && lines.contains("Disabled (5)"))
    guard let width else { return }
    #expect(lines.allSatisfy { TextWidth.of(String($0)) <= width })
    // The column of the next occurrence begins at the same place in each line.
    let places = lines.filter { $0.contains(" tomorrow 1") }.map { line in
      TextWidth.of(
        String(line[..<(line.firstRange(of: "tomorrow 1")?.lowerBound ?? line.endIndex)]))
    }
    #expect(places.count > 2 && Set(places).count == 1, "\(places)")
  }

  @Test("A narrow table shows as many whole badges as fit")
  func badges() {
    let columns = TextColumns(
      [.init(limit: 10), .init(limit: 40)], natural: [5, 30], [.init(1, to: 10)],
      Style(isColored: false, width: 24))
    var text = ""
    let badges = TextColumns.Cell("cascade, partner Alex, next", shorter: ["cascade …", "x …"])
    columns.append([.init("Title"), badges], to: &text)
    columns.append([.init("A longer title"), .init("b")], to: &text)
    columns.append([.init(), .init("b")], to: &text)
    #expect(text == "  Title  cascade …\n  A lo…  b\n         b\n")
  }

  @Test("A remark that calls for attention moves the rest of its row as far as that has room")
  func urgentRemarks() {
    func lines(_ width: Int, _ color: Style.Color) -> [String] {
      var rows = TextRows(columns: 4, remarks: 1)
      for (title, remark, when, schedule) in [
        ("Water plants", "2 missed, +garden", "since 09:00", "daily"),
        ("Water all plants", "", "Mon 09:00", "Mon, Wed, Fri 09:00, 18:00"),
      ] {
        rows.append(TextColumns.Cell(title))
        rows.append(TextColumns.Cell(remark, color, shorter: remark.isEmpty ? [] : ["2 missed"]))
        rows.append(TextColumns.Cell(when))
        rows.append(TextColumns.Cell(schedule))
      }
      let columns = TextColumns(
        [64, 0, 24, 60].map { TextColumns.Column(limit: $0) },
        natural: [rows.remarkedWidth] + rows.widths.dropFirst(), essential: rows.widths,
        [], Style(isColored: false, width: width))
      var bytes: [UInt8] = []
      for row in 0..<rows.count { columns.append(rows, row, to: &bytes) }
      return String(decoding: bytes, as: UTF8.self).split(separator: "\n").map(String.init)
    }
    #expect(lines(44, .red)[0] == "  Water plants  2 missed  since 09:00  daily")
    #expect(lines(44, .red)[1] == "  Water all plants  Mon 09:00    Mon, Wed, …")
    // No room for the shortest text, or no need to move: the columns stay.
    #expect(lines(43, .red)[0] == "  Water plants  …   since 09:00  daily")
    #expect(lines(44, .faint)[0] == "  Water plants  …   since 09:00  daily")
    #expect(lines(53, .red)[0] == "  Water plants  2 missed, +garden  since 09:00  daily")
  }

  @Test("The card of a ringing alarm shows its older pending occurrences")
  func olderPending() throws {
    let civils = try ["2026-11-16T09:00", "2026-11-20T09:00", "2026-11-23T09:00"].map {
      try #require(CivilDateTime($0))
    }
    let status = AlarmStatus(
      state: .ringing, current: civils[2],
      pending: civils.map { .init(occurrence: $0, since: Self.now) })
    let alarm = summary(1, title: "Rent", hours: nil)
    let card = AlarmOutput(
      now: Self.now, zones: ZoneLibrary(variable: "UTC"),
      style: Style(isColored: false, width: nil)
    ).summary(
      AlarmSummary(
        id: alarm.id, title: "Rent", note: nil, badge: "daily", rule: alarm.rule, zone: "floating",
        isDeleted: false, status: status))
    #expect(card.contains("RINGING since Mon 23 Nov 2026, 09:00"))
    #expect(card.contains("  Pending: Fri 20 Nov 2026, 09:00 and 1 more\n"), "\(card)")
  }
}
