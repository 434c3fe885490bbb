import BelfryActions
import BelfryCore
import BelfryStore
import Testing

@Suite struct AnswerAlarmsTests {
  private let fixture: ActionFixture

  init() throws { fixture = try ActionFixture() }

  @Test(
    "A preview of an answer records nothing and has its result",
    arguments: [
      (.stop, "Tea: stopped 2026-11-23T09:00, next 2026-11-24T09:00"),
      (.done(), "Tea: done 2026-11-23T09:00, next 2026-11-24T09:00"),
      (.snooze(seconds: 600), "Tea: snoozed 2026-11-23T09:00, next 2026-11-24T09:00"),
      (
        .skip(.count(2)),
        "Tea: skipped 2026-11-23T09:00, skipped 2026-11-24T09:00, next 2026-11-25T09:00"
      ),
    ] as [(Answer, String)])
  func preview(answer: Answer, expected: String) async throws {
    let tea = try fixture.add("Tea")
    let action = AnswerAlarms(answer, to: [tea], settings: fixture.settings)
    let changes = try await fixture.expectSame(
      action, in: fixture.at("2026-11-23T09:01:00Z"), ActionFixture.text)
    #expect(ActionFixture.text(changes) == expected)
  }

  @Test("An answer to several alarms is one commit, or none if one of them cannot be answered")
  func several() async throws {
    let ids = [try fixture.add("Tea"), try fixture.add("Pills")]
    let later = try fixture.add("Rent", "monthly on 1 at 9:00")
    let store = fixture.at("2026-11-23T09:01:00Z")
    let before = try await fixture.head
    #expect(throws: ActionError.self) {
      try AnswerAlarms(.stop, to: ids + [later], settings: fixture.settings).perform(in: store)
    }
    #expect(try await fixture.head == before)
    let changes = try AnswerAlarms(.stop, to: ids, settings: fixture.settings).perform(in: store)
    #expect(changes.count == 2)
    #expect(try await fixture.subject == "Stopped: 2 alarms")
  }

  @Test("Occurrences of a notification that were answered or deleted meanwhile are left out")
  func possible() async throws {
    let (tea, pills, rent) = (
      try fixture.add("Tea"), try fixture.add("Pills"), try fixture.add("Rent")
    )
    let store = fixture.at("2026-11-23T09:01:00Z")
    _ = try AnswerAlarms(.done(), to: [tea], settings: fixture.settings).perform(in: store)
    _ = try DeleteAlarms([rent]).perform(in: store)
    let due = CivilDateTime("2026-11-23T09:00")!
    let changes = try AnswerAlarms(
      .stop, toPossible: [tea, pills, rent].map { OccurrenceID(alarm: $0, occurrence: due) },
      settings: fixture.settings
    ).perform(in: store)
    #expect(ActionFixture.text(changes) == "Pills: stopped 2026-11-23T09:00, next 2026-11-24T09:00")
    let again = AnswerAlarms(
      .stop, toPossible: [OccurrenceID(alarm: tea, occurrence: due)], settings: fixture.settings)
    #expect(try again.perform(in: store).isEmpty)
  }

  @Test("An answer that was given earlier is recorded with its time")
  func earlier() throws {
    let tea = try fixture.add("Tea")
    let given = Instant(rfc3339: "2026-11-23T09:02:00Z")!
    let store = fixture.at("2026-11-23T09:30:00Z")
    let change = try #require(
      AnswerAlarms(.stop, to: tea, occurrence: nil, settings: fixture.settings, at: given)
        .perform(in: store).first)
    #expect(change.alarm.progress.occurrences[CivilDateTime("2026-11-23T09:00")!]?.since == given)
    #expect(store.history.log(of: tea).first { $0.action == .stopped }?.at == given)
  }

  @Test("A refused answer names the alarm and the reason")
  func refused() throws {
    let tea = try fixture.add("Tea")
    do {
      _ = try AnswerAlarms(.stop, to: [tea], settings: fixture.settings).preview(in: fixture.store)
      Issue.record("The answer was accepted.")
    } catch ActionError.refused(.stop, let alarm, .notPossible(.active, let next)) {
      #expect(alarm.id == tea)
      #expect(next == CivilDateTime("2026-11-23T09:00"))
    }
  }
}
