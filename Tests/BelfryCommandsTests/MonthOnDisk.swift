import BelfryCore
import BelfryStore
import Glibc
import Synchronization
import TestSupport
import Testing

@testable import BelfryCommands
@testable import BelfryScheduler

/// A month of ticks and random responses in a real store, which is opened again for each step.
@Suite struct MonthOnDisk {
  @Test func theLogAgreesWithTheRecords() async throws {
    let sandbox = try Sandbox()
    let path = sandbox.root + "/store"
    var random = SeededGenerator(seed: 7)
    let start = try #require(Instant(rfc3339: "2026-11-20T22:41:00Z"))
    var now = start
    let numbers = Atomic<UInt64>(0)
    func open() throws -> Store {
      try Store.open(
        path,
        context: StoreContext(
          now: now, zones: ZoneLibrary(variable: "Europe/Berlin"), deviceName: "laptop",
          user: geteuid(),
          makeIdentifier: {
            Identifier(high: 7, low: numbers.add(1, ordering: .relaxed).newValue)
          }, random: { $0.lowerBound })
      ).store
    }
    let store = try open()
    try store.set(.tier, to: .word("plus"))
    for (index, time) in ["07:00", "09:15", "18:30", "22:00"].enumerated() {
      let recurrence: Recurrence =
        index % 2 == 0
        ? .daily(.init(start: CivilDate(year: 2026, month: 11, day: 1)))
        : .weekly([.monday, .thursday], .init(start: CivilDate(year: 2026, month: 11, day: 1)))
      let alarm = Alarm.created(
        id: store.context.makeIdentifier(), title: "Alarm \(index)", note: nil,
        schedule: try Schedule(recurrence, times: [CivilTime(time)!]), zone: .floating,
        delivery: .init(strict: index == 3), at: now, device: store.device)
      try store.add(
        Store.Change(
          alarms: [alarm], entries: store.entries([Event(.created)], of: alarm),
          message: CommitMessage(Event(.created), of: alarm, device: store.device)))
    }
    let alarms = try store.overview().summaries.map(\.id).sorted()
    #expect(alarms.count == 4)

    // The hook's own folder: the delivery succeeds, without a response.
    try sandbox.write("#!/bin/sh\n", to: sandbox.hooks + "/notify", mode: 0o755)
    try sandbox.write("#!/bin/sh\n", to: sandbox.hooks + "/follow-up", mode: 0o755)
    let delivery = HookDelivery(
      own: sandbox.hooks, shipped: [],
      times: { .utc })
    while now < start.adding(seconds: 30 * 86_400) {
      let report = try await Tick(
        open(), delivery: delivery,
        ledger: SharedLedger(owner: .thisProcess, timeout: .seconds(120))
      ).run()
      #expect(report.failures.isEmpty)
      #expect(report.problems.isEmpty)
      let next = report.nextWake ?? now.adding(seconds: 86_400)
      now = now.adding(seconds: Int64(random.int(30...900)))
      try act(&random, open(), alarms)
      if next > now { now = next }
    }
    try await check(open(), alarms, sandbox, path)
  }

  private func act(_ random: inout SeededGenerator, _ store: Store, _ alarms: [Identifier]) throws {
    let settings = try store.settings().settings
    for id in alarms where random.one(in: 2) {
      let answer = random.pick([
        Answer.stop, .stop, .done(), .snooze(seconds: 600), .skip(), .dismiss, .unskip(),
      ])
      try store.update(id) { alarm in
        let transition = try? store.timeline(alarm).answer(
          answer, at: store.context.now, settings: settings, ledger: store.ledger.read())
        return (transition.flatMap(store.change), ())
      }
    }
    if random.one(in: 8) {
      do {
        _ = try store.history.undo()
      } catch let error as StoreError {
        switch error {
        case .nothingToUndo, .notUndone, .settingChangedSince, .calendarChangedSince: break
        default: throw error
        }
      }
      // The undone change may have been the tier.
      try store.set(.tier, to: .word("plus"))
    }
  }

  private func check(
    _ store: Store, _ alarms: [Identifier], _ sandbox: Sandbox, _ path: String
  ) async throws {
    let entries = Dictionary(grouping: store.history.log(), by: \.alarm)
    for id in alarms {
      let alarm = try #require(try store.alarm(id))
      let view = store.timeline(alarm)
      let story = Statistics(entries[id] ?? [])
      for (civil, record) in alarm.progress.occurrences {
        let expected: Statistics.Outcome? =
          switch view.record(of: civil)?.state {
          case .done: record.auto ? .autoCompleted : .done
          case .skipped: .skipped
          case .missed: .missed
          case .open, .snoozed, .pending, nil: nil
          }
        #expect(story.outcomes[civil] == expected, "\(civil) \(record)")
      }
      #expect(story.outcomes.count > 4)
      let asked = Dictionary(
        grouping: (entries[id] ?? []).filter { $0.action == .reminded }, by: \.occurrence)
      #expect(asked.values.allSatisfy { $0.count <= 3 })
    }
    #expect(try await sandbox.git("status", "--porcelain", in: path).out.isEmpty)
    #expect(try await sandbox.git("fsck", "--strict", in: path).status == 0)
    // Each commit that names an occurrence names its alarm and its action.
    let messages = try await sandbox.git("log", "--format=%B%x00", in: path).out
    for message in messages.split(separator: "\0") where message.contains("\nOccurrence: ") {
      #expect(message.contains("\nAlarm: ") && message.contains("\nAction: "))
    }
  }
}
