import BelfryCore
import Foundation
import TestSupport
import Testing

@testable import BelfryStore

/// The alarms that ring next, as `next` reads them.
@Suite struct UpcomingOverviewTests {
  /// Returns the titles of the alarms that ring first by the complete overview.
  private func expected(_ store: Store, _ limit: Int) throws -> [String] {
    try store.overview().summaries
      .compactMap { summary in summary.next.map { (at: $0.at, title: summary.title) } }
      .sorted { $0 < $1 }
      .prefix(limit).map(\.title)
  }

  private func found(_ store: Store, _ limit: Int) throws -> [String] {
    try store.overview(ringingFirst: limit).summaries.map(\.title)
  }

  /// Replaces the time of day in an alarm's file, as an editor would.
  private func edit(
    _ fixture: StoreFixture, _ title: String, from old: String = "08:00", to time: String
  ) throws {
    let folder = fixture.store.path + "/alarms"
    for name in try FileManager.default.contentsOfDirectory(atPath: folder) {
      let text = try fixture.sandbox.read("\(folder)/\(name)")
      guard text.contains("\"\(title)\"") else { continue }
      try fixture.sandbox.write(text.replacing(old, with: time), to: "\(folder)/\(name)")
    }
  }

  @Test func theFirstAlarmsFollowFilesAndIndex() async throws {
    let fixture = try await StoreFixture("Tea", "Milk", "Rye", "Oats")
    for (minute, title) in ["Rye", "Tea", "Oats", "Milk"].enumerated() {
      try edit(fixture, title, to: "08:1\(minute)")
    }
    // First from the files, then from an index that the first read could save.
    for store in [fixture.store, fixture.reopened(), fixture.reopened()] {
      for limit in 1...5 {
        #expect(try found(store, limit) == expected(store, limit), "\(limit)")
      }
    }
    #expect(try found(fixture.store, 2) == ["Rye", "Tea"])
    // An alarm that was edited by hand leaves the place that the index has for it.
    try edit(fixture, "Milk", from: "08:13", to: "07:00")
    #expect(try found(fixture.reopened(), 2) == ["Milk", "Rye"])
    #expect(try found(fixture.reopened(), 4) == ["Milk", "Rye", "Tea", "Oats"])
  }
}
