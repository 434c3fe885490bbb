import BelfryActions
import BelfryCore
import BelfryInput
import BelfryStore
import Testing

@Suite struct ReadAgendaTests {
  private let fixture: ActionFixture

  init() throws { fixture = try ActionFixture() }

  private func entries(
    _ month: String, at now: String, _ words: [String] = []
  ) throws -> [String] {
    let store = fixture.at(now)
    let period = CalendarPeriod(.month, containing: CivilDate("\(month)-01")!)
    let filter =
      try words.isEmpty
      ? nil
      : AlarmFilter(
        words, InputContext(instant: store.context.now, zone: .utc)
      ) { CivilDate($0)! }
    let reading = ReadAgenda(period.dates, filter)
    let selected = reading.select(try store.overview().summaries)
    let agenda = try reading.perform(in: store, selected)
    // The whole log has nothing to add to the part that is read.
    let statistics = store.history.statistics(of: selected, skipBreaksStreak: false)
    #expect(try reading.perform(in: store, statistics) == agenda)
    return agenda.days.flatMap(\.entries).map {
      "\(agenda.alarms[$0.alarm]?.title ?? "") \($0.occurrence) \($0.state)"
    }
  }

  private func answer(_ answer: Answer, _ alarm: Identifier, at now: String) throws {
    _ = try AnswerAlarms(answer, to: [alarm], settings: fixture.settings)
      .perform(in: fixture.at(now))
  }

  @Test("The past comes from the log, whenever an occurrence was answered")
  func past() throws {
    let rent = try fixture.add("Rent", "every tuesday 9am")
    try answer(.done(), rent, at: "2026-11-24T09:05:00Z")
    // Two months ahead of time; the records and the log of November no longer have it in January.
    try answer(.skip(.until(CivilDateTime("2027-01-15T00:00")!)), rent, at: "2026-11-25T09:05:00Z")
    for day in ["01-19", "01-26", "02-02", "02-09", "02-16", "02-23"] {
      try answer(.done(), rent, at: "2027-\(day)T09:05:00Z")
    }
    let now = "2027-02-24T09:05:00Z"
    let alarm = try fixture.at(now).alarm(rent)
    let floor = try #require(alarm?.progress.floor)
    #expect(floor >= CivilDateTime("2027-01-12T09:00")!)
    #expect(try entries("2026-11", at: now) == ["Rent 2026-11-24T09:00 done"])
    #expect(
      try entries("2027-01", at: now) == [
        "Rent 2027-01-05T09:00 skipped", "Rent 2027-01-12T09:00 skipped",
        "Rent 2027-01-19T09:00 done", "Rent 2027-01-26T09:00 done",
      ])
    #expect(try entries("2027-03", at: now).first == "Rent 2027-03-02T09:00 upcoming")
  }

  @Test("Filters select alarms, and disabled ones only appear if they are selected")
  func filters() throws {
    let tea = try fixture.add("Tea", "2026-11-23 9:00", tags: [AlarmTag("home")])
    try fixture.add("Rent", "2026-11-24 9:00")
    #expect(
      try entries("2026-11", at: "2026-11-23T08:30:00Z") == [
        "Tea 2026-11-23T09:00 upcoming", "Rent 2026-11-24T09:00 upcoming",
      ])
    #expect(
      try entries("2026-11", at: "2026-11-23T08:30:00Z", ["+home"]) == [
        "Tea 2026-11-23T09:00 upcoming"
      ])
    #expect(
      try entries("2026-11", at: "2026-11-23T08:30:00Z", ["ren"]) == [
        "Rent 2026-11-24T09:00 upcoming"
      ])
    try answer(.done(), tea, at: "2026-11-23T09:05:00Z")
    #expect(
      try entries("2026-11", at: "2026-11-23T09:30:00Z", ["+home"]) == [
        "Tea 2026-11-23T09:00 done"
      ])
    let daily = try fixture.add("Walk", "daily at 9:10")
    try answer(.done(), daily, at: "2026-11-23T09:11:00Z")
    _ = try EditAlarms.disabling([daily]).perform(in: fixture.at("2026-11-23T09:20:00Z"))
    #expect(
      try entries("2026-11", at: "2026-11-23T09:30:00Z").allSatisfy { !$0.hasPrefix("Walk") })
    #expect(
      try entries("2026-11", at: "2026-11-23T09:30:00Z", ["disabled"]) == [
        "Walk 2026-11-23T09:10 done"
      ])
  }
}
