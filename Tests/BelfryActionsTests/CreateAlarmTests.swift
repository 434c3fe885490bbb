import BelfryActions
import BelfryCore
import BelfryStore
import Testing

@Suite struct CreateAlarmTests {
  private let fixture: ActionFixture

  init() throws { fixture = try ActionFixture() }

  @Test("A preview of a new alarm has its next occurrence, and adds nothing")
  func preview() throws {
    let action = fixture.creation("Tea", "daily at 9:00")
    let preview = try action.preview(in: fixture.store, settings: fixture.settings)
    #expect(preview.change.status.next?.civil == CivilDateTime("2026-11-23T09:00"))
    #expect(try fixture.store.overview().summaries.isEmpty)
    let created = try action.perform(in: fixture.store, settings: fixture.settings)
    #expect(created.twin == nil)
    #expect(try fixture.store.alarm(created.change.alarm.id)?.title == "Tea")
  }

  @Test("A second alarm with the same title and schedule is reported")
  func twin() throws {
    let tea = try fixture.add("Tea")
    func twin(_ title: String, _ schedule: String) throws -> Identifier? {
      try fixture.creation(title, schedule)
        .preview(in: fixture.store, settings: fixture.settings).twin?.id
    }
    #expect(try twin("Tea", "daily at 9:00") == tea)
    #expect(try twin("Tea", "daily at 10:00") == nil)
    #expect(try twin("Coffee", "daily at 9:00") == nil)
  }

  @Test("A preview reports the limit of the tier and a schedule in the past")
  func impossible() throws {
    #expect(throws: ActionError.self) {
      try fixture.creation("Tea", "1 jan 2026 9:00")
        .preview(in: fixture.store, settings: fixture.settings)
    }
    _ = try ChangeSetting(.tier, to: .word("free")).perform(in: fixture.store)
    try fixture.add("Tea")
    try fixture.add("Pills")
    #expect(throws: StoreError.self) {
      try fixture.creation("Rent", "daily at 9:00")
        .preview(in: fixture.store, settings: Settings())
    }
  }

  @Test("A preview of a setting and of an undo changes nothing")
  func settingsAndUndo() async throws {
    let tea = try fixture.add("Tea")
    let store = fixture.at("2026-11-23T09:01:00Z")
    _ = try AnswerAlarms(.stop, to: [tea], settings: fixture.settings).perform(in: store)
    let before = try await fixture.head
    let free = ChangeSetting(.tier, to: .word("free"))
    #expect(try free.preview(in: store).completed.map(\.alarm.id) == [tea])
    let undo = UndoLastAction()
    #expect(try undo.preview(in: store).subject == "Stopped: Tea (2026-11-23 09:00)")
    #expect(try await fixture.head == before)
    #expect(try undo.perform(in: store).alarms.map(\.id) == [tea])
    #expect(try store.alarm(tea).map { try store.status($0).state } == .ringing)
  }

  @Test("The commit that deletes several alarms of a partner names the reason")
  func partnerDeletion() async throws {
    let ids = [try fixture.add("Tea"), try fixture.add("Pills")]
    _ = try DeleteAlarms(ofPartner: ids, reason: .partnerRemoved(partner: "Chris"), isFinal: true)
      .perform(in: fixture.store)
    let message = try await fixture.sandbox.git(
      "log", "-1", "--format=%B", in: fixture.sandbox.store
    ).out
    #expect(message.hasPrefix("Deleted: 2 alarms\n"))
    for trailer in ["Action: deleted", "Reason: partnerRemoved", "Partner: Chris", "Final: true"] {
      #expect(message.contains(trailer + "\n"), "\(message)")
    }
  }

  @Test("Deleting finished alarms spares those that were edited since")
  func deletion() throws {
    let done = try fixture.add("Dentist", "23 nov 9:00")
    let tea = try fixture.add("Tea")
    let store = fixture.at("2026-11-23T09:01:00Z")
    _ = try AnswerAlarms(.done(), to: [done], settings: fixture.settings).perform(in: store)
    let deleted = try DeleteAlarms(finishedOf: [done, tea]).perform(in: store)
    #expect(deleted.map(\.alarm.id) == [done])
    #expect(throws: StoreError.self) { try DeleteAlarms([done]).perform(in: store) }
  }
}
