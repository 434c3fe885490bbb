import BelfryCore
import Foundation
import Synchronization
import Testing

@testable import BelfryCommands
@testable import BelfryTerminal
@testable import BelfryUI

/// The pages of the full screen as they are read from a store. `BELFRY_RECORD=1` records them.
@Suite struct PageSnapshotTests {
  @Test("Every page of a store is as recorded, in every size")
  func pages() async throws {
    let fixture = try await PageFixture()
    for size in [Size(60, 20), Size(80, 24), Size(160, 50)] {
      var screen = try fixture.screen(size)
      var text = try await "== alarms\n" + fixture.lines(screen)
      try screen.press("enter")
      text += try await "== details\n" + fixture.lines(screen)
      try screen.press("esc", "e")
      text += try await "== form\n" + fixture.lines(screen)
      try screen.press("esc")
      for tab in Tab.allCases.dropFirst() {
        try screen.press("\(tab.rawValue + 1)")
        text += try await "== \(tab.title.lowercased())\n" + fixture.lines(screen)
      }
      let file = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .appendingPathComponent("Snapshots/pages-\(size.columns)x\(size.rows).txt")
      if ProcessInfo.processInfo.environment["BELFRY_RECORD"] != nil {
        try text.write(to: file, atomically: true, encoding: .utf8)
      }
      #expect(try String(contentsOf: file, encoding: .utf8) == text)
    }
  }

  @Test("Statistics are read once, and again in the background after a change")
  func statistics() async throws {
    let fixture = try await PageFixture()
    let cache = StatisticsCache()
    let source = try fixture.source(80, cache)
    let summaries = try source.store.overview().summaries.filter { $0.title == "Pills" }
    let reports = Mutex(0)
    func done(waits: Bool) -> Int? {
      cache.statistics(
        of: summaries, in: source.store, skipBreaksStreak: false, waits: waits,
        changed: { reports.withLock { $0 += 1 } }
      ).first?.responses.count { $0.outcome == .done }
    }
    // Without waiting, they are not known at first.
    #expect(done(waits: false) == nil)
    while reports.withLock({ $0 }) == 0 { try await Task.sleep(for: .milliseconds(5)) }
    #expect(done(waits: false) == 3)
    try await fixture.sandbox.belfry("done", "pills", now: "2026-11-23T08:31:00Z").expectSuccess()
    #expect(done(waits: true) == 3)
    cache.invalidate()
    // The earlier ones are shown until the others are read.
    #expect(done(waits: true) == 3)
    while reports.withLock({ $0 }) == 1 { try await Task.sleep(for: .milliseconds(5)) }
    #expect(done(waits: true) == 4)
    #expect(reports.withLock { $0 } == 2)
  }

  @Test("The health of the device is found out in the background, and not again at once")
  func health() async throws {
    let fixture = try await PageFixture()
    let health = DeviceHealth()
    let reports = Mutex(0)
    func findings() -> DeviceHealth.Findings? {
      health.findings(fixture.context, changed: { reports.withLock { $0 += 1 } })
    }
    #expect(findings() == nil)
    while reports.withLock({ $0 }) == 0 { try await Task.sleep(for: .milliseconds(5)) }
    #expect(findings() != nil)
    try await Task.sleep(for: .milliseconds(50))
    #expect(reports.withLock { $0 } == 1)
  }
}
