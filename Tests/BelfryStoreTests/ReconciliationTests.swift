import BelfryCore
import Foundation
import TestSupport
import Testing

@testable import BelfryStore

/// The order of a reconciliation, and the state after a crash between two steps.
@Suite struct ReconciliationTests {
  /// The stages of each scope after the two that every scope has.
  private static let scopes: [(ReconcileScope, [ReconcileStage])] = [
    (.branch, []),
    (.alarms([]), [.alarms]),
    (.settings, [.settings]),
    (.calendars, [.calendars]),
    (.records, [.alarms, .settings, .calendars]),
    (.all, [.alarms, .settings, .calendars, .devices]),
    (.evaluation, [.incomingCommits, .alarms, .settings, .calendars, .timeZone]),
  ]

  @Test(
    "Each scope has its steps in the order of the stages",
    arguments: ReconciliationTests.scopes.indices)
  func order(index: Int) {
    let (scope, expected) = ReconciliationTests.scopes[index]
    let stages = scope.steps.map { type(of: $0).stage }
    #expect(stages == [.interruptedWrite, .movedBranch] + expected)
    #expect(stages == stages.sorted())
  }

  @Test("The stages are in their documented order")
  func stages() {
    #expect(
      ReconcileStage.allCases == [
        .mergeConflicts, .interruptedWrite, .movedBranch, .incomingCommits, .droppedRecords,
        .unusableFiles, .alarms, .settings, .calendars, .devices, .timeZone, .missingRecords,
        .uncommittedRecords, .futureOutcomes, .lostAnswers,
      ])
    #expect(ReconcileStage.allCases == ReconcileStage.allCases.sorted())
  }

  /// A store with an interrupted write of Tea, a branch that lost Milk, and hand edits of Bread, the settings and the
  /// device.
  private func disturbed() async throws -> StoreFixture {
    let fixture = try await StoreFixture("Tea", "Milk", "Bread")
    try fixture.store.set(.grace, to: .seconds(3600))
    _ = try fixture.store.calendars.importing(
      [CivilDate(year: 2026, month: 12, day: 25): "Christmas"], into: "de-BE")
    let tea = try fixture.alarm("Tea")
    let milk = try fixture.alarm("Milk")
    let bread = try fixture.alarm("Bread")
    let start = try fixture.head()
    try await fixture.git("rm", "-q", AlarmRecord.path(milk.id))
    try await fixture.git("commit", "-qm", "Remove Milk")
    try fixture.leaveJournal(
      [AlarmRecord.path(tea.id): fixture.renamed(tea, "Coffee")], head: start)
    try fixture.edit(fixture.file(bread), "\"Bread\"", "\"Rye\"")
    try fixture.edit(fixture.store.path + "/settings.json", "3600", "7200")
    try fixture.edit(
      "\(fixture.store.path)/\(CalendarRecord.path("de-BE"))", "Christmas", "Christmas Day")
    try fixture.edit(
      "\(fixture.store.path)/\(DeviceRecord.path(fixture.store.device))", "laptop", "desk")
    return fixture
  }

  private static let subjects = [
    "Write", "Restore records that another program removed",
    "Edited by hand: Rye", "Edited by hand: settings", "Edited by hand: holidays",
    "Edited by hand: devices",
  ]

  @Test("Everything is recovered in the order of the stages")
  func recovery() async throws {
    let fixture = try await disturbed()
    let head = try fixture.head()
    try fixture.store.write(reconciling: .all) { _ in }
    #expect(try await fixture.subjects(since: head) == ReconciliationTests.subjects)
    #expect(
      try fixture.store.overview().summaries.map(\.title).sorted() == ["Coffee", "Milk", "Rye"])
    #expect(try fixture.store.settings().settings.grace == 7200)
    #expect(
      fixture.store.calendars.all().calendars.map(\.holidays)
        == [[CivilDate(year: 2026, month: 12, day: 25): "Christmas Day"]])
    #expect(fixture.store.devices.own.name == "desk")
    #expect(try await fixture.status().isEmpty)
    #expect(fixture.store.local.readSeen() == (try fixture.head()))
    let settled = try fixture.head()
    try fixture.store.write(reconciling: .all) { _ in }
    #expect(try fixture.head() == settled, "A second reconciliation finds nothing.")
  }

  @Test("A crash after any step leaves the rest to the next write", arguments: 1...6)
  func crash(after count: Int) async throws {
    let fixture = try await disturbed()
    let head = try fixture.head()
    do {
      let writer = try fixture.writer()
      for step in ReconcileScope.all.steps.prefix(count) { try writer.reconcile(step) }
    }
    let subjects = try await fixture.subjects(since: head)
    #expect(subjects == Array(ReconciliationTests.subjects.prefix(count)))
    try fixture.store.write(reconciling: .all) { _ in }
    #expect(try await fixture.subjects(since: head) == ReconciliationTests.subjects)
    #expect(try await fixture.status().isEmpty)
  }

  @Test("A change of one alarm imports only its own hand edit")
  func singleAlarm() async throws {
    let fixture = try await StoreFixture("Tea", "Milk")
    let tea = try fixture.alarm("Tea")
    let milk = try fixture.alarm("Milk")
    try fixture.edit(fixture.file(tea), "\"Tea\"", "\"Coffee\"")
    try fixture.edit(fixture.file(milk), "\"Milk\"", "\"Cream\"")
    let head = try fixture.head()
    try fixture.store.write(reconciling: .alarms([tea.id])) { writer in
      #expect(writer.checkedAlarms == nil, "No scan of all alarms.")
    }
    #expect(try await fixture.subjects(since: head) == ["Edited by hand: Coffee"])
    #expect(try await fixture.status() == " M \(AlarmRecord.path(milk.id))\n")
  }

  @Test("Nothing is written during an operation of the user's git, or with a detached HEAD")
  func unavailableBranch() async throws {
    let fixture = try await StoreFixture("Tea")
    let head = try fixture.head()
    try await fixture.git("checkout", "-q", "--detach")
    let change = try fixture.change("Milk")
    var error = #expect(throws: StoreError.self) { try fixture.store.commit(change) }
    guard case .detachedHead(branch: "main")? = error else {
      Issue.record("\(String(describing: error))")
      return
    }
    try await fixture.git("checkout", "-q", "main")
    try fixture.sandbox.write("\(head)\n", to: fixture.store.path + "/.git/MERGE_HEAD")
    error = #expect(throws: StoreError.self) { try fixture.store.commit(change) }
    guard case .operationInProgress(.merge)? = error else {
      Issue.record("\(String(describing: error))")
      return
    }
    #expect(try fixture.head() == head)
  }

  @Test("A store without changes is not scanned, and its branch doesn't move")
  func settled() async throws {
    let fixture = try await StoreFixture("Tea")
    let head = try fixture.head()
    for (scope, _) in ReconciliationTests.scopes {
      try fixture.store.write(reconciling: scope) { _ in }
    }
    #expect(try fixture.head() == head)
    #expect(fixture.notices.all.isEmpty)
  }
}
