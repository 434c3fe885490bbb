import BelfryCore
import Testing

@testable import BelfryScheduler

/// The times of a daemon's syncs.
@Suite struct SyncScheduleTests {
  private let start = Instant(rfc3339: "2026-11-20T09:00:00Z")!

  private func after(_ seconds: Int64) -> Instant { start.adding(seconds: seconds) }

  @Test func syncsAreFrequentWhileAnAlarmRingsAndRareOtherwise() {
    var schedule = SyncSchedule()
    #expect(schedule.next(.quiet, now: start) == start)
    schedule.begin(at: start)
    #expect(schedule.next(.ringing, now: start) == nil)
    schedule.end(at: start, succeeded: true)
    #expect(schedule.next(.ringing, now: start) == after(15))
    #expect(schedule.next(.waiting, now: start) == after(60))
    #expect(schedule.next(.quiet, now: start) == after(600))
  }

  @Test func aSyncFollowsSoonAfterAChangeAndCoversSeveralChanges() {
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

  @Test func aResponseIsSyncedAtOnce() {
    var schedule = SyncSchedule()
    schedule.begin(at: start)
    schedule.end(at: start, succeeded: true)
    schedule.noteChange(at: after(10), isUrgent: true)
    #expect(schedule.next(.quiet, now: after(10)) == after(10))
    // A response that shows only after its commit.
    schedule.begin(at: after(10))
    schedule.noteChange(at: after(11))
    schedule.end(at: after(11), succeeded: true)
    #expect(schedule.next(.quiet, now: after(11)) == after(13))
    schedule.expediteChange(at: after(11))
    #expect(schedule.next(.quiet, now: after(11)) == after(11))
    schedule.discardChange()
    #expect(schedule.next(.quiet, now: after(11)) == after(611))
    schedule.expediteChange(at: after(12))
    #expect(schedule.next(.quiet, now: after(12)) == after(611))
  }

  @Test func anUnreachableRemoteIsRetriedWithIncreasingIntervals() {
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

  @Test func syncsAreFrequentBeforeACascadeStep() {
    var schedule = SyncSchedule()
    schedule.begin(at: start)
    schedule.end(at: start, succeeded: true)
    #expect(schedule.next(.guarding, now: start) == after(120))
    #expect(schedule.next(.cascading, now: start) == after(5))
    // A local change is pushed at once.
    schedule.noteChange(at: after(1))
    #expect(schedule.next(.cascading, now: after(1)) == after(1))
    // An unreachable remote is still retried, because every ring depends on it.
    for _ in 0..<9 {
      schedule.begin(at: start)
      schedule.end(at: start, succeeded: false)
    }
    #expect(schedule.next(.cascading, now: start) == after(5))
    #expect(schedule.isFresh(at: after(15)))
    #expect(!schedule.isFresh(at: after(16)))
    // A step that ended just now, and began before the machine slept.
    schedule.begin(at: start)
    schedule.end(at: after(600), succeeded: true)
    #expect(!schedule.isFresh(at: after(600)))
    schedule.requestNow()
    #expect(schedule.next(.quiet, now: after(616)) == after(616))
  }
}
