import BelfryCore
import BelfryScheduler
import BelfryStore
import Foundation
import Git
import Synchronization
import TestSupport
import Testing

/// Call attempts on several devices, with a clock that advances while an attempt waits.
@Suite struct CallAttemptTests {
  private static let occurrence = OccurrenceID(
    alarm: Identifier("rentaaaaaaaaaaaaaaaaaaaaaa")!,
    occurrence: CivilDateTime("2026-11-23T05:00")!)

  /// A store and the simulated dependencies of a call attempt.
  private final class Fixture: Sendable {
    private struct State {
      var now = Instant(rfc3339: "2026-11-23T05:02:00Z")!
      var outcomes: [CallOutcome]
      var calls: [Instant] = []
      var records: [String] = []
      /// The end of the period in which the number is called.
      var wanted: Instant
    }
    private let state: Mutex<State>
    let store: Store
    let sandbox: Sandbox

    init(_ outcomes: [CallOutcome], wanted: String = "2026-11-23T06:00:00Z") throws {
      sandbox = try Sandbox()
      let sandbox = sandbox
      state = Mutex(State(outcomes: outcomes, wanted: Instant(rfc3339: wanted)!))
      store = try sandbox.openStore(at: Instant(rfc3339: "2026-11-23T05:02:00Z")!)
    }

    var calls: [Int64] {
      let due = Instant(rfc3339: "2026-11-23T05:02:00Z")!
      return state.withLock { $0.calls.map { $0.seconds(since: due) } }
    }
    var records: [String] { state.withLock { $0.records } }

    var dependencies: CallAttempt.Dependencies {
      CallAttempt.Dependencies(
        now: { self.state.withLock { $0.now } },
        sleep: { seconds in self.state.withLock { $0.now = $0.now.adding(seconds: seconds) } },
        isWanted: { self.state.withLock { $0.now < $0.wanted } },
        call: {
          self.state.withLock { state in
            state.calls.append(state.now)
            state.now = state.now.adding(seconds: 30)
            return state.outcomes.isEmpty
              ? .noAnswer : state.outcomes.removeFirst()
          }
        },
        record: { attempt, outcome in
          self.state.withLock { $0.records.append("\(attempt) \(outcome)") }
        })
    }

    func run(callers: [Identifier]? = nil, claiming: Bool = false) async throws {
      let target = CascadeTarget.phone(try PhoneNumber("5551234567"), message: nil)
      let callout = Callout(
        .occurrence(CallAttemptTests.occurrence), target,
        due: Instant(rfc3339: "2026-11-23T05:02:00Z")!)
      let attempt = try #require(
        CallAttempt(
          store, callout, callers: callers ?? [store.device],
          leases: claiming ? try store.callClaims(callout.id) : nil, dependencies))
      try await attempt.run()
    }
  }

  @Test func anAnsweredNumberIsCalledOnce() async throws {
    let fixture = try Fixture([.answered])
    try await fixture.run()
    #expect(fixture.calls == [0])
    // A process that starts later does not call again either.
    try await fixture.run()
    #expect(fixture.calls == [0])
  }

  @Test func anUnansweredNumberIsCalledThreeTimes() async throws {
    let fixture = try Fixture([])
    try await fixture.run()
    #expect(fixture.calls == [0, 90, 180])
    #expect(fixture.records.count == 3)
    try await fixture.run()
    #expect(fixture.calls.count == 3)
  }

  @Test func aNumberIsNotCalledAfterAStop() async throws {
    let fixture = try Fixture([], wanted: "2026-11-23T05:03:00Z")
    try await fixture.run()
    #expect(fixture.calls == [0])
    let never = try Fixture([], wanted: "2026-11-23T05:01:00Z")
    try await never.run()
    #expect(never.calls == [])
  }

  @Test("Each of two devices that cannot sync makes its own attempts")
  func apart() async throws {
    let other = Identifier("serveraaaaaaaaaaaaaaaaaaaa")!
    let first = try Fixture([])
    try await first.run(callers: [first.store.device, other])
    #expect(first.calls == [0, 180])
    let second = try Fixture([])
    try await second.run(callers: [other, second.store.device])
    #expect(second.calls == [90])
  }

  @Test(
    "A number is called if the remote can be read, but refuses every claim",
    arguments: ["hooks/pre-receive", "refs/belfry/calls"])
  func refusedClaims(_ obstacle: String) async throws {
    let fixture = try Fixture([.answered])
    let remote = fixture.sandbox.root + "/remote.git"
    _ = try await fixture.sandbox.git(
      "init", "-q", "--bare", "-b", "main", remote, in: fixture.sandbox.root)
    try fixture.store.sync.addRemote(Remote(name: "origin", url: remote))
    if obstacle.hasPrefix("refs") {
      // A file in the place of the folder of claims, which git reports like a race.
      try FileManager.default.createDirectory(
        atPath: remote + "/refs/belfry", withIntermediateDirectories: true)
      try fixture.sandbox.write("", to: "\(remote)/\(obstacle)")
    } else {
      try fixture.sandbox.write("#!/bin/sh\nexit 1\n", to: "\(remote)/\(obstacle)", mode: 0o755)
    }
    try await fixture.run(claiming: true)
    #expect(fixture.calls.count == 1)
  }

  @Test(
    "Attempts whose call does not go out are retried with back-off and do not count",
    arguments: [false, true])
  func failedAttempts(isClaiming: Bool) async throws {
    let failed = CallOutcome.failed([.exited(status: 1)])
    let fixture = try Fixture([failed, failed, failed, failed, .answered])
    if isClaiming {
      let remote = fixture.sandbox.root + "/remote.git"
      _ = try await fixture.sandbox.git(
        "init", "-q", "--bare", "-b", "main", remote, in: fixture.sandbox.root)
      try fixture.store.sync.addRemote(Remote(name: "origin", url: remote))
    }
    try await fixture.run(claiming: isClaiming)
    #expect(fixture.calls == [0, 45, 105, 195, 345])
    #expect(fixture.records.map { $0.prefix(2) } == ["1 ", "2 ", "3 ", "4 ", "5 "])
    // A process that starts later does not call again.
    try await fixture.run(claiming: isClaiming)
    #expect(fixture.calls.count == 5)
  }

  @Test("A call that went out counts, also after a failed one")
  func countedCalls() async throws {
    let fixture = try Fixture([.failed([.exited(status: 1)]), .busy])
    try await fixture.run()
    #expect(fixture.calls == [0, 45, 90, 180])
  }

  @Test(
    "If the user's own hook and the shipped one fail, the outcome has the failure of the user's own"
  )
  func ownHook() async throws {
    let sandbox = try Sandbox()
    func write(_ folder: String, _ script: String) throws -> String {
      _ = try sandbox.script("\(folder)/call", script + "\n")
      return "\(sandbox.root)/\(folder)"
    }
    let own = try write("own", "echo 'no credit' >&2; exit 1")
    let failing = try write("failing", "echo 'no provider is set up' >&2; exit 1")
    let working = try write("working", "echo busy")
    let call = BelfryCore.Notification.Call(
      .phone(try PhoneNumber("5551234567"), message: nil), subject: nil, source: "laptop",
      isTest: true)
    func outcome(_ folders: [String]) async -> CallOutcome {
      await CallHook(folders: folders, variables: [:]).run(call, message: "Wake up.")
    }
    #expect(await outcome([own, failing]) == .failed([.message("no credit")]))
    #expect(await outcome([own, working]) == .busy)
    #expect(await outcome([failing]) == .failed([.message("no provider is set up")]))
  }

  @Test("An attempt whose process died counts")
  func died() async throws {
    let fixture = try Fixture([])
    let call = Callout.ID(
      .occurrence(CallAttemptTests.occurrence), .phone(try PhoneNumber("5551234567"), message: nil))
    try CallProgressFile(fixture.store).save(
      CallProgress(attempts: 2, at: fixture.store.context.now), of: call)
    try await fixture.run()
    #expect(fixture.calls.count == 1)
  }
}
