import BelfryActions
import BelfryCore
import BelfryExchange
import BelfryStore
import Foundation
import TestSupport
import Testing

@testable import BelfryPhone

/// Random actions of a person on both sides, with runs that end at any step as by a crash.
@Suite struct PhoneInterleavingTests {
  /// The end of a run by a crash.
  private struct Crash: Error {}

  /// One history.
  private struct History {
    let world: PhoneFixture
    var random: SeededGenerator
    var alarms: [Identifier] = []
    /// The occurrences that the person has settled on the phone, with the number of times.
    var settled: [OccurrenceID: Int] = [:]
    /// The occurrences whose tasks the phone has completed and that Belfry had not settled.
    var owed: Set<OccurrenceID> = []
    var touched: Set<Identifier> = []
    var story: [String] = []

    init(seed: UInt64) async throws {
      world = try await PhoneFixture()
      random = SeededGenerator(seed: seed)
      let schedules = [
        "daily at 9:00", "daily at 9:00 and 21:00", "weekly on tuesday at 9:00", "3 dec 14:00",
      ]
      for number in 0..<random.int(1...3) {
        alarms.append(try world.add("Alarm \(number)", random.pick(schedules)))
      }
      try await world.run()
    }

    /// Runs, and crashes at a random step if the generator says so.
    mutating func run() async throws {
      var sync = world.sync()
      let crashes = random.one(in: 2)
      let step = random.pick(PhoneSync.Step.allCases)
      let count = random.int(1...3)
      if crashes {
        let reached = Counter()
        sync.didReach = { if $0 == step, reached.next() == count { throw Crash() } }
      }
      do {
        _ = try await sync.run()
        story.append("run")
      } catch is Crash {
        story.append("crash at \(step) \(count)")
      }
    }

    /// Returns the occurrences whose tasks are in the folder and open.
    func open() -> [OccurrenceID] {
      world.names.compactMap { TaskProperty.identity(fileName: $0) }
        .filter { (try? world.reading($0))?.status == .open }
    }

    mutating func usePhone() throws {
      let open = open()
      if open.isEmpty { return }
      let id = random.pick(Array(open.prefix(6)))
      touched.insert(id.alarm)
      let phase = try? world.phase(id)
      switch random.int(0...5) {
      case 0, 1:
        try world.complete(id)
        settled[id, default: 0] += 1
        let isEnabled = (try? world.store.alarm(id.alarm))?.enabled == true
        if isEnabled, phase == .upcoming || phase == .ringing { owed.insert(id) }
        story.append("phone completes \(id.occurrence)")
      case 2:
        try world.delete(id)
        settled[id, default: 0] += 1
        story.append("phone deletes \(id.occurrence)")
      case 3:
        try world.edit(id) { $0.set("STATUS", "CANCELLED") }
        settled[id, default: 0] += 1
        story.append("phone cancels \(id.occurrence)")
      case 4:
        try world.edit(id) { $0.set("SUMMARY", "Title \(random.int(0...99))") }
        story.append("phone renames \(id.occurrence)")
      default:
        let now = world.now
        try world.edit(id) { task in
          task.set("X-MOZ-LASTACK", CalendarTime.utc(now))
          if random.one(in: 2) {
            task.set("X-MOZ-SNOOZE-TIME", CalendarTime.utc(now.adding(seconds: 600)))
          }
        }
        story.append("phone acknowledges \(id.occurrence)")
      }
    }

    mutating func useBelfry() async throws {
      let id = random.pick(open() + [occurrence(alarms[0], "2026-12-01T09:00")])
      switch random.int(0...5) {
      case 0: try world.answer(.done(early: true), id)
      case 1: try world.answer(.skip(), id)
      case 2: try world.answer(.stop, id)
      case 3:
        _ = try? EditAlarms.renaming([random.pick(alarms)], to: "Name \(random.int(0...9))")
          .perform(in: world.store)
      case 4: try world.answer(.snooze(seconds: 540), id)
      default:
        let alarm = random.pick(alarms)
        let edit = random.one(in: 2) ? EditAlarms.disabling([alarm]) : .enabling([alarm])
        // An answer to a disabled alarm is refused, and its occurrences may be open again later.
        owed = owed.filter { $0.alarm != alarm }
        _ = try? edit.perform(in: world.store)
      }
      story.append("belfry \(id.occurrence)")
    }

    mutating func play() async throws {
      for _ in 0..<random.int(6...14) {
        switch random.int(0...9) {
        case 0...3: try usePhone()
        case 4, 5: try await useBelfry()
        case 6: world.advance(minutes: Int64(random.int(1...900)))
        default: try await run()
        }
      }
    }
  }

  @Test(
    "Both sides agree after any history with crashes, and no answer is lost, doubled or invented")
  func interleavings() async throws {
    for seed in UInt64(1)...Self.count {
      var history = try await History(seed: seed)
      try await history.play()
      let (world, story) = (history.world, history.story)
      let comment = Comment(rawValue: "seed \(seed): \(story.joined(separator: ", "))")
      _ = try await world.run()
      _ = try await world.run(.skip)
      #expect(try await world.run().isUnchanged, comment)
      try check(history, comment)
    }
  }

  /// The number of histories: `BELFRY_INTERLEAVINGS`, or a few.
  private static let count =
    ProcessInfo.processInfo.environment["BELFRY_INTERLEAVINGS"].flatMap { UInt64($0) } ?? 150

  private func check(_ history: History, _ comment: Comment) throws {
    let world = history.world
    let projection = Projection(world.store, PhoneOptions(), settings: world.settings)
    let tasks = try world.store.allAlarms().alarms.flatMap { projection.tasks(of: $0) }
    for task in tasks {
      let reading = try world.reading(task.id)
      #expect(reading.revision == task.revision, comment)
      #expect(reading.status == .open, comment)
      #expect(reading.title == task.title, comment)
    }
    let open = history.open()
    #expect(Set(open) == Set(tasks.map(\.id)), comment)
    #expect(!FileManager.default.subpaths(atPath: world.folder)!.contains { $0.hasSuffix(".tmp") })
    var answers: [OccurrenceID: Int] = [:]
    for entry in world.store.history.log(of: nil, since: CivilDate("2026-01-01")!) {
      if entry.via != nil { #expect(history.touched.contains(entry.alarm), comment) }
      guard entry.via != nil, let civil = entry.occurrence,
        entry.action == .done || entry.action == .skipped, !entry.auto
      else { continue }
      answers[OccurrenceID(alarm: entry.alarm, occurrence: civil), default: 0] += 1
    }
    for (id, count) in answers {
      #expect(count <= history.settled[id] ?? 0, "\(id) is answered \(count) times; \(comment)")
    }
    for id in history.owed where try world.store.alarm(id.alarm)?.enabled == true {
      // Somebody has settled it: the phone, or Belfry before the phone's answer came.
      #expect(!tasks.contains { $0.id == id && answers[id] == nil }, "\(id) is lost; \(comment)")
    }
  }
}

/// A number that counts.
private final class Counter: @unchecked Sendable {
  // Sound: one run calls it from one thread at a time.
  private var number = 0

  func next() -> Int {
    number += 1
    return number
  }
}
