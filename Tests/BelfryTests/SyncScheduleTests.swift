import BelfryCore
import Testing

@testable import BelfryScheduler

/// When a daemon syncs.
@Suite struct SyncScheduleTests {
  private let start = Instant(rfc3339: "2026-11-20T09:00:00Z")!

  private func after(_ seconds: Int64) -> Instant { start.adding(seconds: seconds) }

  @Test func oftenWhileSomethingRingsAndSeldomOtherwise() {
    var schedule = SyncSchedule()
    #expect(schedule.next(.quiet, now: start) == start)
    schedule.begin(at: start)
    #expect(schedule.next(.ringing, now: start) == nil)
    schedule.end(at: start, succeeded: true)
    #expect(schedule.next(.ringing, now: start) == after(15))
    #expect(schedule.next(.waiting, now: start) == after(60))
    #expect(schedule.next(.quiet, now: start) == after(600))
  }

  @Test func soonAfterAChangeAndSeveralTogether() {
    var schedule = SyncSchedule()
    schedule.begin(at: start)
    schedule.end(at: start, succeeded: true)
    schedule.noteChange(at: after(10))
    schedule.noteChange(at: after(11))
    #expect(schedule.next(.quiet, now: after(11)) == after(12))
    schedule.begin(at: start)
    schedule.end(at: after(13), succeeded: true)
    #expect(schedule.next(.quiet, now: after(13)) == after(613))
  }

  @Test func whoCannotBeReachedIsAskedLessAndLess() {
    var schedule = SyncSchedule()
    var waits: [Int64] = []
    for _ in 0..<9 {
      schedule.begin(at: start)
      schedule.end(at: start, succeeded: false)
      schedule.noteChange(at: start)
      waits.append(schedule.next(.ringing, now: start)!.seconds(since: start))
    }
    #expect(waits == [15, 30, 60, 120, 240, 480, 900, 900, 900])
    schedule.begin(at: start)
    schedule.end(at: start, succeeded: true)
    #expect(schedule.next(.ringing, now: start) == after(15))
  }

  @Test func syncsOftenWhileAStepIsNear() {
    var schedule = SyncSchedule()
    schedule.begin(at: start)
    schedule.end(at: start, succeeded: true)
    #expect(schedule.next(.guarding, now: start) == after(120))
    #expect(schedule.next(.cascading, now: start) == after(5))
    // What has happened here is told at once.
    schedule.noteChange(at: after(1))
    #expect(schedule.next(.cascading, now: after(1)) == after(1))
    // Who cannot be reached is asked on: each ring depends on it.
    for _ in 0..<9 {
      schedule.begin(at: start)
      schedule.end(at: start, succeeded: false)
    }
    #expect(schedule.next(.cascading, now: start) == after(5))
    #expect(schedule.isFresh(at: after(15)))
    #expect(!schedule.isFresh(at: after(16)))
    // One that ended just now, and began before the machine slept.
    schedule.begin(at: start)
    schedule.end(at: after(600), succeeded: true)
    #expect(!schedule.isFresh(at: after(600)))
    schedule.requestNow()
    #expect(schedule.next(.quiet, now: after(616)) == after(616))
  }
}
