import BelfryActions
import BelfryCore
import BelfryStore
import Testing

@Suite struct EditAlarmsTests {
  private let fixture: ActionFixture

  init() throws { fixture = try ActionFixture() }

  @Test("An edit of several alarms is one commit that names the fields of each")
  func severalAlarms() async throws {
    let ids = [try fixture.add("Tea"), try fixture.add("Pills")]
    let action = EditAlarms(
      ids, stating: { _ in StatedParts(fields: [.note]) }, edit: { $0.note = "After breakfast" })
    let changes = try await fixture.expectSame(action, in: fixture.store, ActionFixture.text)
    #expect(changes.allSatisfy { $0.fields == [.note] })
    #expect(try await fixture.subject == "Edited: 2 alarms")
  }

  @Test("If one of several alarms cannot be edited, none is, and the error names it")
  func oneFails() async throws {
    let ids = [try fixture.add("Tea"), try fixture.add("Pills")]
    let before = try await fixture.head
    let full = Set(try (0..<AlarmTag.maxCount).map { try AlarmTag("t\($0)") })
    _ = try EditAlarms.tagging([ids[1]], .replace(full)).perform(in: fixture.store)
    let edited = try await fixture.head
    #expect(edited != before)
    let action = EditAlarms.tagging(ids, .change(adding: [try AlarmTag("kids")], removing: []))
    do {
      _ = try action.perform(in: fixture.store)
      Issue.record("It was edited.")
    } catch ActionError.failed(let alarm, let cause) {
      #expect(alarm.title == "Pills" && cause is TagEditError)
    }
    #expect(try await fixture.head == edited)
  }

  @Test("A rename, notes and tags are edits, and the commit names the fields")
  func values() async throws {
    let ids = [try fixture.add("Tea"), try fixture.add("Pills")]
    _ = try EditAlarms.noting(ids, "At noon").perform(in: fixture.store)
    let body = try await fixture.sandbox.git(
      "log", "-1", "--format=%B", in: fixture.sandbox.store)
    #expect(body.out.contains("Action: edited\nFields: note\n"), "\(body.out)")
    _ = try EditAlarms.renaming([ids[0]], to: "Green tea").perform(in: fixture.store)
    let tags: Set = [try AlarmTag("kids")]
    _ = try EditAlarms.tagging(ids, .change(adding: tags, removing: [])).perform(in: fixture.store)
    let alarm = try #require(try fixture.store.alarm(ids[0]))
    #expect(alarm.title == "Green tea" && alarm.note == "At noon" && alarm.tags == tags)
    _ = try EditAlarms.noting(ids, nil).perform(in: fixture.store)
    #expect(try fixture.store.alarm(ids[1])?.note == nil)
  }

  @Test("A value that was set again is stamped, and an edit of nothing records nothing")
  func stated() async throws {
    let tea = try fixture.add("Tea")
    let before = try await fixture.head
    let nothing = EditAlarms([tea], stating: { _ in StatedParts() }, edit: { _ in })
    #expect(try nothing.perform(in: fixture.store).first?.events.isEmpty == true)
    #expect(try await fixture.head == before)
    let earlier = try #require(try fixture.store.alarm(tea)?.mergeState.stamps[.title])
    let again = EditAlarms(
      [tea], stating: { _ in StatedParts(fields: [.title]) }, edit: { $0.title = "Tea" })
    let change = try #require(try again.perform(in: fixture.store).first)
    #expect(change.fields.isEmpty)
    #expect(try #require(change.alarm.mergeState.stamps[.title]) > earlier)
  }

  @Test("A schedule in the past is refused, and nothing is recorded")
  func past() async throws {
    let tea = try fixture.add("Tea")
    let before = try await fixture.head
    let action = EditAlarms(
      [tea], stating: { _ in StatedParts() },
      edit: { $0.schedule = try Schedule(.once(CivilDate("2026-01-01")!), times: [.midnight]) })
    #expect(throws: ActionError.self) { try action.preview(in: fixture.store) }
    #expect(throws: ActionError.self) { try action.perform(in: fixture.store) }
    #expect(try await fixture.head == before)
  }

  @Test("Disabling clears what is open, and enabling starts from now")
  func switching() throws {
    let tea = try fixture.add("Tea")
    let store = fixture.at("2026-11-23T09:01:00Z")
    let disabled = try EditAlarms.disabling([tea]).perform(in: store)
    #expect(
      ActionFixture.text(disabled) == "Tea: cleared 2026-11-23T09:00, disabled")
    let enabled = try EditAlarms.enabling([tea]).perform(in: store)
    #expect(ActionFixture.text(enabled) == "Tea: enabled, next 2026-11-24T09:00")
  }

  @Test("A new step of a cascade makes this device the first one")
  func cascade() throws {
    let tea = try fixture.add("Tea")
    let phone = CascadeTarget.phone(try PhoneNumber("+15551234567"), message: nil)
    let action = EditAlarms.cascade(
      of: tea, .added(phone.loggable), stating: [], in: fixture.store
    ) { plan in
      plan.isOn = true
      plan.targets.append(phone)
    }
    let change = try #require(try action.perform(in: fixture.store).first)
    #expect(change.alarm.cascade?.plan.primary == fixture.store.device)
    #expect(change.alarm.cascade?.plan.targets == [phone])
    #expect(throws: ActionError.self) {
      // It rings in an hour; a test could be taken for the alarm.
      try RehearseCascade(of: tea).perform(in: fixture.at("2026-11-23T08:59:30Z"))
    }
    #expect(
      try RehearseCascade(of: tea).perform(in: fixture.store)?.events.map(\.action) == [.rehearsed])
  }

  @Test("A pause leaves out alarms that would never ring, and longer pauses if it should")
  func pause() async throws {
    let tea = try fixture.add("Tea")
    let once = try fixture.add("Dentist", "24 dec 18:00")
    let (short, long) = (CivilDateTime("2026-12-01T00:00")!, CivilDateTime("2026-12-31T00:00")!)
    func pause(_ ids: [Identifier], _ end: CivilDateTime, keepingLonger: Bool = false)
      -> PauseAlarms
    {
      .pausing(
        ids, until: end, isNamed: ids.count == 1, keepingLonger: keepingLonger,
        settings: fixture.settings)
    }
    let result = try await fixture.expectSame(pause([tea, once], long), in: fixture.store) {
      ActionFixture.text($0.changes)
    }
    #expect(result.unpausable.map(\.id) == [once])
    #expect(ActionFixture.text(result.changes) == "Tea: paused, next 2026-12-31T09:00")
    #expect(throws: ActionError.self) { try pause([once], long).perform(in: fixture.store) }
    #expect(throws: ActionError.self) {
      try pause([tea], CivilDateTime("2026-11-22T00:00")!).perform(in: fixture.store)
    }
    #expect(
      try pause([tea], short, keepingLonger: true).perform(in: fixture.store).changes.isEmpty)
    let resumed = try PauseAlarms.resuming(
      [tea], isNamed: true, onlyPaused: false, settings: fixture.settings
    ).perform(in: fixture.store)
    #expect(ActionFixture.text(resumed.changes) == "Tea: resumed, next 2026-11-23T09:00")
  }
}
