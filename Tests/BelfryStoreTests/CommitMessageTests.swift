import BelfryCore
import TestSupport
import Testing

@testable import BelfryStore

/// The subjects of commits, as `git log` shows them.
@Suite struct CommitMessageTests {
  @Test("An action that no user took is named, and marked as automatic")
  func automatic() async throws {
    let fixture = try await StoreFixture("Tea")
    let tea = try fixture.alarm("Tea")
    let civil = try #require(CivilDateTime("2026-12-01T09:00"))
    func subject(_ action: LogEntry.Action, auto: Bool) -> String {
      CommitMessage(Event(action, civil, auto: auto), of: tea, device: fixture.store.device).subject
    }
    #expect(subject(.done, auto: false) == "Done: Tea (2026-12-01 09:00)")
    #expect(subject(.done, auto: true) == "Completed automatically: Tea (2026-12-01 09:00)")
    #expect(subject(.skipped, auto: true) == "Skipped automatically: Tea (2026-12-01 09:00)")
  }
}
