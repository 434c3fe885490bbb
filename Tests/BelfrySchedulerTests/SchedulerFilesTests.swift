import BelfryCore
import BelfryStore
import Foundation
import TestSupport
import Testing

@testable import BelfryScheduler

/// The scheduler's files in a store's local state: calls, battery warnings, and the daemon's lock.
@Suite struct SchedulerFilesTests {
  private let sandbox: Sandbox
  private let store: Store
  private let now: Instant
  private let occurrence: OccurrenceID

  init() throws {
    sandbox = try Sandbox()
    now = try #require(Instant(rfc3339: "2026-11-23T05:02:00Z"))
    store = try sandbox.openStore(at: now)
    occurrence = OccurrenceID(
      alarm: try #require(Identifier("rentaaaaaaaaaaaaaaaaaaaaaa")),
      occurrence: try #require(CivilDateTime("2026-11-23T05:00")))
  }

  private var contents: [String] {
    ["", "{", "7", "\u{0}\u{1}", String(repeating: " ", count: 1 << 20) + "{}"]
  }

  private func call(_ subject: Callout.Subject) throws -> Callout.ID {
    Callout.ID(subject, .phone(try PhoneNumber("5551234567"), message: nil))
  }

  @Test("A damaged or oversized file of calls reads as empty, and the next change replaces it")
  func damagedCalls() throws {
    let file = CallProgressFile(store)
    let call = try call(.occurrence(occurrence))
    let progress = CallProgress(attempts: 2, isOver: true, at: now)
    for content in contents {
      try file.save(progress, of: call)
      #expect(file[call] == progress)
      try sandbox.write(content, to: store.localFolder + "/calls.json")
      #expect(file[call] == nil)
    }
  }

  @Test("A call of a rehearsal and a call of an occurrence in the same minute are different calls")
  func rehearsal() throws {
    let file = CallProgressFile(store)
    let rehearsed = try call(.rehearsal(alarm: occurrence.alarm, requested: now))
    let later = try call(
      .rehearsal(alarm: occurrence.alarm, requested: now.adding(seconds: 1)))
    let due = try call(
      .occurrence(
        OccurrenceID(alarm: occurrence.alarm, occurrence: TimeZoneRules.utc.civil(at: now))))
    #expect(Set([rehearsed.text, later.text, due.text]).count == 3)
    try file.save(CallProgress(attempts: 3, isOver: true, at: now), of: rehearsed)
    #expect(file[due] == nil && file[later] == nil)
  }

  @Test("A call is removed from the file after 14 days")
  func age() throws {
    let file = CallProgressFile(store)
    let (old, new) = (
      try call(.rehearsal(alarm: occurrence.alarm, requested: now)),
      try call(.occurrence(occurrence))
    )
    try file.save(CallProgress(at: now.adding(seconds: -14 * 86_400)), of: old)
    #expect(file[old] != nil)
    try file.save(CallProgress(at: now), of: new)
    #expect(file[old] == nil && file[new] != nil)
  }

  @Test("Only one process of a device may place a call")
  func callLock() throws {
    let file = CallProgressFile(store)
    let (call, other) = (
      try call(.occurrence(occurrence)),
      try call(.rehearsal(alarm: occurrence.alarm, requested: now))
    )
    let lock = try #require(try file.lock(call))
    #expect(try file.lock(call) == nil)
    #expect(try file.lock(other) != nil)
    withExtendedLifetime(lock) {}
  }

  @Test("Damaged battery warnings read as none, and the next change replaces them")
  func damagedBatteryWarnings() throws {
    let file = BatteryWarningFile(store)
    let warning = try #require(BatteryWarning(risk: .critical, predicted: 3))
    for content in contents {
      #expect(file.update { $0.note(warning, of: occurrence, at: now) } == nil)
      let history = file.read()
      #expect(history != BatteryWarningHistory())
      #expect(file.update { _ in } == nil && file.read() == history)
      try sandbox.write(content, to: store.localFolder + "/battery-warnings.json")
      #expect(file.read() == BatteryWarningHistory())
    }
  }

  @Test("Battery warnings that two processes record at the same time are all kept")
  func concurrentBatteryWarnings() async throws {
    let warning = try #require(BatteryWarning(risk: .critical, predicted: 3))
    let (store, now, alarm) = (store, now, occurrence.alarm)
    let ids = (0..<40).map {
      OccurrenceID(alarm: alarm, occurrence: CivilDateTime(minuteNumber: 29_600_000 + $0))
    }
    await withTaskGroup { group in
      for id in ids {
        group.addTask {
          _ = BatteryWarningFile(store).update { $0.note(warning, of: id, at: now) }
        }
      }
    }
    let history = BatteryWarningFile(store).read()
    var expected = BatteryWarningHistory()
    for id in ids { expected.note(warning, of: id, at: now) }
    #expect(history == expected)
  }

  @Test("A daemon's lock shows its process, until it is released")
  func daemonLock() throws {
    let daemon = DaemonHandle(store)
    #expect(daemon.process == nil && daemon.state() == .absent)
    let lock = try daemon.lock().get()
    let process = try #require(daemon.process)
    #expect(process == store.context.process)
    lock.setModificationTime(now.adding(seconds: 60))
    #expect(daemon.state() == .running(process: process))
    #expect {
      _ = try daemon.lock()
    } throws: { error in
      if case StoreError.daemonRuns(process) = error { true } else { false }
    }
    // Far after the promised time, and nothing reacts to a poke.
    lock.setModificationTime(now.adding(seconds: -3600))
    #expect(daemon.state() == .unresponsive(process: process))
    withExtendedLifetime(lock) {}
  }
}
