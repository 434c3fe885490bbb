import BelfryCore
import TestSupport
import Testing

let laptop = Identifier("laptopaaaaaaaaaaaaaaaaaaaa")!
let server = Identifier("serveraaaaaaaaaaaaaaaaaaaa")!

/// Returns an alarm on Mondays and Fridays at 09:00 UTC, created on Friday 2026-11-20 at 22:41.
func rent(persistent: Bool = false) throws -> Alarm {
  Alarm.created(
    id: Identifier("rentaaaaaaaaaaaaaaaaaaaaaa")!, title: "Rent reminder", note: nil,
    schedule: try schedule(.weekly([.monday, .friday], .init(start: date("2026-11-20"))), "09:00"),
    zone: .floating, delivery: .init(persistent: persistent), at: instant("2026-11-20T22:41:00Z"),
    device: laptop)
}

func timeline(_ alarm: Alarm) -> Timeline { Timeline(alarm, zone: .utc) }

@Suite struct LifecycleTests {
  let plus = Settings(tier: .plus)
  let free = Settings()
  let due = instant("2026-11-23T09:00:00Z")
  let monday = civil("2026-11-23T09:00")
  let friday = civil("2026-11-27T09:00")

  private func rung(_ alarm: Alarm, at: Instant? = nil) -> DeliveryLedger {
    var ledger = DeliveryLedger()
    ledger.recordFiring(OccurrenceID(alarm: alarm.id, occurrence: monday), due: due, at: at ?? due)
    return ledger
  }

  @Test(
    "An interval that goes past the year 9999 ends at its end, so that every instant can be encoded"
  )
  func endOfTime() throws {
    let eve = instant("9999-12-30T23:59:00Z")
    #expect(eve.adding(seconds: 86_400) == .distantFuture)
    #expect(eve.adding(seconds: .max) == .distantFuture)
    #expect(Instant(rfc3339: eve.adding(seconds: 366 * 86_400).rfc3339) != nil)
    // A later instant stays unchanged.
    let night = instant("9999-12-31T23:59:00Z")
    #expect(night.adding(seconds: 540) == night)
    #expect(night.adding(seconds: -60) == instant("9999-12-31T23:58:00Z"))
  }

  /// Returns an alarm that rings every minute of the day.
  private func everyMinute(strict: Bool = false) throws -> Alarm {
    let times = (0..<1440).map { CivilTime(hour: $0 / 60, minute: $0 % 60)! }
    return Alarm.created(
      id: Identifier("teaaaaaaaaaaaaaaaaaaaaaaaa")!, title: "Tea", note: nil,
      schedule: try Schedule(.daily(.init(start: date("2026-01-01"))), times: times),
      zone: .floating, delivery: .init(strict: strict), at: instant("2026-01-01T00:00:00Z"),
      device: laptop)
  }

  @Test(
    "Occurrences missed in months without a tick are settled at once, the older ones in one log entry"
  )
  func manyMissed() throws {
    let now = instant("2026-01-06T00:00:10Z")
    let evaluation = timeline(try everyMinute()).evaluate(
      at: now, settings: plus, ledger: DeliveryLedger())
    #expect(evaluation.firings.map(\.occurrence) == [civil("2026-01-06T00:00")])
    let events = evaluation.transition.events
    #expect(events.count == 501)
    #expect(events.first?.action == .missed)
    #expect(events.first?.occurrence == civil("2026-01-05T15:39"))
    #expect(
      events.first?.payload
        == .earlier(
          LogPayload.EarlierOccurrences(count: 6698, first: civil("2026-01-01T00:01"))))
    #expect(evaluation.transition.alarm.progress.occurrences.count <= 500)
    // All of them are settled permanently.
    let again = timeline(evaluation.transition.alarm).evaluate(
      at: now, settings: plus, ledger: DeliveryLedger())
    #expect(again.transition.events.isEmpty)
  }

  @Test("A clock ahead by less than a day leaves no floor that silences later occurrences")
  func manyMissedByAClockAhead() throws {
    let wrong = instant("2026-01-02T20:00:10Z")
    let ahead = Timeline(try everyMinute(), zone: .utc, at: wrong)
      .evaluate(at: wrong, settings: plus, ledger: DeliveryLedger())
    #expect(ahead.transition.alarm.progress.floor != nil)
    let now = instant("2026-01-02T00:01:00Z")
    let right = Timeline(ahead.transition.alarm, zone: .utc, at: now)
      .evaluate(at: now, settings: plus, ledger: DeliveryLedger())
    #expect(right.firings.map(\.occurrence) == [civil("2026-01-02T00:01")])
  }

  @Test(
    "A strict alarm keeps its latest thousands of missed occurrences pending, and the log records the others"
  )
  func manyMissedOfAStrictAlarm() throws {
    let now = instant("2026-01-06T00:00:10Z")
    let first = try everyMinute(strict: true)
    let stopped = try timeline(first).answer(
      .stop, at: instant("2026-01-01T00:01:30Z"), settings: plus, ledger: DeliveryLedger()
    ).alarm
    let evaluation = timeline(stopped).evaluate(at: now, settings: plus, ledger: DeliveryLedger())
    let alarm = evaluation.transition.alarm
    #expect((1_900...2_001).contains(alarm.progress.occurrences.count))
    let given = evaluation.transition.events.filter { $0.action == .missed }.prefix(2)
    #expect(given.first?.occurrence == civil("2026-01-01T00:01"))
    guard case .earlier? = given.last?.payload else {
      Issue.record("\(given)")
      return
    }
    // Then each in its own entry.
    var (later, next) = (alarm, now)
    for _ in 0..<50 {
      next = next.adding(seconds: 60)
      later =
        timeline(later).evaluate(at: next, settings: plus, ledger: DeliveryLedger())
        .transition.alarm
    }
    #expect(later.progress.occurrences.count <= 2_001)
    #expect(later.progress.occurrences[civil("2026-01-06T00:00")]?.state == .missed)
  }

  @Test("A pause that ends in the hour that clocks repeat is not evaluated again and again")
  func pauseInTheRepeatedHour() throws {
    var alarm = try rent()
    alarm.pause = Pause(from: civil("2026-10-20T00:00"), until: civil("2026-10-25T02:30"))
    let timeline = Timeline(alarm, zone: try zone("Europe/Berlin"))
    // 02:15 for the second time: 02:30 was half an hour ago for the first time.
    let now = instant("2026-10-25T01:15:00Z")
    let status = timeline.status(at: now, settings: plus, ledger: DeliveryLedger())
    #expect(status.state == .paused && status.validUntil > now)
    let wake = timeline.evaluate(at: now, settings: plus, ledger: DeliveryLedger()).nextWake
    #expect(try #require(wake) > now)
  }

  @Test("A pause of months over an alarm of every minute leaves a small record")
  func manyPaused() throws {
    var alarm = try everyMinute()
    alarm.pause = Pause(from: civil("2026-01-02T00:00"), until: civil("2026-01-06T00:00"))
    var now = instant("2026-01-05T12:00:10Z")
    let paused = timeline(alarm).evaluate(at: now, settings: plus, ledger: DeliveryLedger())
    #expect(paused.transition.alarm.progress.occurrences.count <= 1_000)
    #expect(paused.transition.events.count <= 1_002)
    let again = timeline(paused.transition.alarm).evaluate(
      at: now, settings: plus, ledger: DeliveryLedger())
    guard case .skippedByPause(.some)? = again.transition.events.first?.payload else {
      Issue.record("\(again.transition.events)")
      return
    }
    #expect(again.transition.events.count == 501)
    let third = timeline(again.transition.alarm).evaluate(
      at: now, settings: plus, ledger: DeliveryLedger())
    #expect(third.transition.events.isEmpty)
    // Occurrences that the pause skipped stay skipped after it ends early.
    var resumed = third.transition.alarm
    resumed.pause = nil
    let open = timeline(resumed).evaluate(at: now, settings: plus, ledger: DeliveryLedger())
    #expect(open.firings.isEmpty && open.transition.events.isEmpty)
    now = instant("2026-01-06T00:00:00Z")
    let over = timeline(third.transition.alarm).evaluate(
      at: now, settings: plus, ledger: DeliveryLedger())
    #expect(over.firings.map(\.occurrence) == [civil("2026-01-06T00:00")])
  }

  @Test func anAlarmWaitsUntilItsTime() throws {
    let evaluation = timeline(try rent()).evaluate(
      at: due.adding(seconds: -1), settings: free, ledger: DeliveryLedger())
    #expect(evaluation.firings.isEmpty)
    #expect(evaluation.nextWake == due)
    #expect(evaluation.transition.events.isEmpty)
  }

  @Test func anAlarmRingsOnceAtItsTime() throws {
    let alarm = try rent()
    let evaluation = timeline(alarm).evaluate(at: due, settings: free, ledger: DeliveryLedger())
    #expect(evaluation.firings.first?.occurrence == monday)
    #expect(evaluation.firings.first?.due == due)
    #expect(evaluation.firings.first?.late == false)
    let again = timeline(alarm).evaluate(
      at: due.adding(seconds: 60), settings: free, ledger: rung(alarm))
    #expect(again.firings.isEmpty)
    #expect(again.nextWake == due.adding(seconds: 1800))
  }

  @Test func anAlarmRingsLateWithinTheGraceAndIsMissedBeyondIt() throws {
    let alarm = try rent()
    let late = timeline(alarm).evaluate(
      at: due.adding(seconds: 12 * 3600), settings: free, ledger: DeliveryLedger())
    #expect(late.firings.first?.late == true)
    let missed = timeline(alarm).evaluate(
      at: due.adding(seconds: 12 * 3600 + 1), settings: free, ledger: DeliveryLedger())
    #expect(missed.firings.isEmpty)
    #expect(missed.transition.events == [Event(.missed, monday)])
  }

  @Test func onlyTheLatestOccurrenceRingsAfterDowntime() throws {
    let evaluation = timeline(try rent()).evaluate(
      at: instant("2026-12-04T10:00:00Z"), settings: free, ledger: DeliveryLedger())
    #expect(evaluation.firings.first?.occurrence == civil("2026-12-04T09:00"))
    #expect(
      evaluation.transition.events
        == [monday, friday, civil("2026-11-30T09:00")].map { Event(.missed, $0) })
  }

  @Test func anUnansweredOccurrenceIsMissed() throws {
    let alarm = try rent()
    let later = due.adding(seconds: 1800)
    #expect(
      timeline(alarm).evaluate(at: later, settings: free, ledger: rung(alarm)).transition.events
        == [Event(.missed, monday)])
    let persistent = try rent(persistent: true)
    #expect(
      timeline(persistent).evaluate(at: later, settings: free, ledger: rung(persistent)).transition
        .events.isEmpty)
    #expect(
      timeline(persistent).status(at: later, settings: free, ledger: rung(persistent)).state
        == .ringing)
  }

  @Test("An alarm that has rung goes on ringing where it was due earlier")
  func zoneToTheEast() throws {
    let berlin = try zone("Europe/Berlin")
    for persistent in [false, true] {
      let alarm = try rent(persistent: persistent)
      let timeline = Timeline(alarm, zone: berlin)
      for (minutes, state) in [
        (10, AlarmStatus.State.ringing), (20 * 60, persistent ? .ringing : .missed),
      ] {
        let status = timeline.status(
          at: due.adding(seconds: Int64(minutes) * 60), settings: free, ledger: rung(alarm))
        #expect(status.state == state)
        #expect(!status.isUndelivered)
      }
    }
  }

  @Test func aStopIsDoneOnTheFreeTierAndPendingOnPlus() throws {
    let alarm = try rent()
    let done = try timeline(alarm).answer(.stop, at: due, settings: free, ledger: rung(alarm))
    #expect(done.events == [Event(.done, monday)])
    let pending = try timeline(alarm).answer(.stop, at: due, settings: plus, ledger: rung(alarm))
    #expect(pending.events == [Event(.stopped, monday)])
    let status = timeline(pending.alarm).status(at: due, settings: plus, ledger: rung(alarm))
    #expect(status.state == .pending)
    #expect(
      status.pending == [
        .init(
          occurrence: monday, since: due, followUpsSent: 0, nextFollowUp: due.adding(seconds: 1800))
      ])
    #expect(status.next?.civil == friday)
    let confirmed = try timeline(pending.alarm).answer(
      .done(), at: due.adding(seconds: 600), settings: plus, ledger: rung(alarm))
    #expect(confirmed.events == [Event(.done, monday)])
  }

  @Test func aSnoozedOccurrenceRingsAgainEachTime() throws {
    var alarm = try rent()
    var ledger = rung(alarm)
    var now = due
    for count in 1...3 {
      alarm = try timeline(alarm).answer(
        .snooze(seconds: 540), at: now, settings: free, ledger: ledger
      ).alarm
      let status = timeline(alarm).status(at: now, settings: free, ledger: ledger)
      #expect(status.state == .snoozed)
      #expect(status.snooze?.count == count)
      #expect(
        timeline(alarm).evaluate(at: now.adding(seconds: 539), settings: free, ledger: ledger)
          .firings.isEmpty)
      now = now.adding(seconds: 540)
      let again = timeline(alarm).evaluate(at: now, settings: free, ledger: ledger)
      #expect(again.firings.first?.due == now)
      ledger.recordFiring(OccurrenceID(alarm: alarm.id, occurrence: monday), due: now, at: now)
    }
  }

  @Test("A delivery that was withdrawn is made again if its occurrence rings again")
  func withdrawn() throws {
    let alarm = try rent()
    let key = DeliveryKey.occurrence(
      OccurrenceID(alarm: alarm.id, occurrence: monday), .firing)
    func firings(after minutes: Int64, persistent: Bool = false) throws -> [CivilDateTime] {
      var ledger = DeliveryLedger()
      ledger[key] = DeliveryLedger.Entry(due: due, at: due, state: .withdrawn)
      return timeline(try rent(persistent: persistent)).evaluate(
        at: due.adding(seconds: 60 * minutes), settings: plus, ledger: ledger
      ).firings.map(\.occurrence)
    }
    #expect(try firings(after: 1) == [monday])
    // It was withdrawn because nobody answered in time.
    #expect(try firings(after: 31).isEmpty)
    #expect(try firings(after: 31, persistent: true) == [monday])
  }

  @Test("A firing is wanted as long as its occurrence rings and no later firing of it is due")
  func wantedFiring() throws {
    let alarm = try rent()
    let key = DeliveryKey.occurrence(
      OccurrenceID(alarm: alarm.id, occurrence: monday), .firing)
    func isWanted(_ alarm: Alarm, _ due: Instant, at now: Instant) -> Bool {
      timeline(alarm).wants(
        DeliveryID(key: key, due: due), at: now, settings: plus, ledger: rung(alarm))
    }
    #expect(isWanted(alarm, due, at: due.adding(seconds: 5)))
    #expect(!isWanted(alarm, due, at: due.adding(seconds: -5)))
    let now = due.adding(seconds: 60)
    let stopped = try timeline(alarm).answer(.stop, at: now, settings: plus, ledger: rung(alarm))
    #expect(!isWanted(stopped.alarm, due, at: now))
    let undone = try timeline(stopped.alarm).undoing(
      stopped.alarm, before: alarm, acted: now, at: now.adding(seconds: 5), device: laptop)
    #expect(!isWanted(undone, due, at: now.adding(seconds: 6)))
    #expect(isWanted(undone, now.adding(seconds: 5), at: now.adding(seconds: 6)))
  }

  @Test("The undo of a deletion makes an occurrence that rang ring again")
  func undeleted() throws {
    let alarm = try rent()
    let now = due.adding(seconds: 60)
    let undone = try timeline(alarm.deleted()).undoing(
      alarm.deleted(), before: alarm, acted: now, at: now.adding(seconds: 5), device: laptop)
    let evaluation = timeline(undone).evaluate(
      at: now.adding(seconds: 6), settings: plus, ledger: rung(alarm))
    #expect(evaluation.firings.map(\.due) == [now.adding(seconds: 5)])
  }

  @Test func theNextOccurrenceCompletesAPendingOne() throws {
    let alarm = try timeline(rent()).answer(
      .stop, at: due, settings: plus, ledger: rung(try rent())
    ).alarm
    let evaluation = timeline(alarm).evaluate(
      at: instant("2026-11-27T09:00:00Z"), settings: plus, ledger: DeliveryLedger())
    #expect(evaluation.firings.first?.occurrence == friday)
    #expect(evaluation.transition.events == [Event(.done, monday, auto: true)])
    #expect(evaluation.transition.alarm.progress.occurrences[monday]?.auto == true)
  }

  @Test func aSnoozeUntilAMomentDoesNotEndBeforeIt() {
    let end = instant("2026-11-23T18:00:00Z")
    func snooze(_ now: String) -> Answer? { .snooze(until: end, at: instant(now)) }
    #expect(snooze("2026-11-23T17:00:00Z") == .snooze(seconds: 3600))
    #expect(snooze("2026-11-23T17:00:00.400Z") == .snooze(seconds: 3600))
    #expect(snooze("2026-11-23T17:59:59.900Z") == .snooze(seconds: 1))
    #expect(snooze("2026-11-23T18:00:00Z") == nil && snooze("2026-11-23T18:00:01Z") == nil)
  }

  @Test func aResponseWithoutAnOccurrenceIsRefused() throws {
    let alarm = try rent()
    let refusal = LifecycleError.notPossible(.active, next: monday)
    for answer in [Answer.stop, .done(), .snooze(seconds: 60)] {
      #expect(throws: refusal) {
        try timeline(alarm).answer(
          answer, at: due.adding(seconds: -60), settings: free, ledger: DeliveryLedger())
      }
    }
  }

  @Test(
    "A completion at a given time settles the occurrence that was due nearest to it",
    arguments: [
      ("2026-11-23T10:00:00Z", "2026-11-23T09:00"), ("2026-11-27T08:30:00Z", "2026-11-27T09:00"),
      ("2026-11-27T09:05:00Z", "2026-11-27T09:00"),
    ])
  func nearestCompletion(_ moment: String, _ expected: String) throws {
    let missed = try timeline(rent()).evaluate(
      at: instant("2026-11-24T09:00:00Z"), settings: free, ledger: DeliveryLedger()
    ).transition.alarm
    let ringing = instant("2026-11-27T09:10:00Z")
    let change = try timeline(missed).answer(
      .done(at: instant(moment)), at: ringing, settings: free, ledger: DeliveryLedger())
    #expect(change.events.last?.occurrence == civil(expected))
    let status = timeline(change.alarm).status(
      at: ringing, settings: free, ledger: DeliveryLedger())
    // A completion of Monday must not silence Friday.
    #expect((status.state == .ringing) == (civil(expected) == monday))
  }

  @Test func aSecondDoneIsRefused() throws {
    let done = try timeline(rent()).answer(
      .done(), at: due, settings: free, ledger: DeliveryLedger()
    )
    .alarm
    #expect(throws: LifecycleError.self) {
      try timeline(done).answer(.done(), at: due, settings: free, ledger: DeliveryLedger())
    }
  }

  @Test func disablingClearsAPendingOccurrencePermanently() throws {
    let pending = try timeline(rent()).answer(
      .stop, at: due, settings: plus, ledger: DeliveryLedger()
    )
    .alarm
    var off = pending
    off.enabled = false
    off = off.stamped(against: pending, at: due.adding(seconds: 60), device: laptop)
    #expect(
      timeline(off).status(at: due.adding(seconds: 61), settings: plus, ledger: DeliveryLedger())
        .state
        == .disabled)
    var on = off
    on.enabled = true
    on = on.stamped(against: off, at: due.adding(seconds: 120), device: laptop)
    let status = timeline(on).status(
      at: due.adding(seconds: 121), settings: plus, ledger: DeliveryLedger())
    #expect(status.state == .active)
    #expect(status.next?.civil == friday)
  }

  @Test(
    "An occurrence that rings when its schedule is edited stays unconfirmed",
    arguments: [(true, AlarmStatus.State.pending), (false, .missed)])
  func editWhileRinging(confirms: Bool, state: AlarmStatus.State) throws {
    let before = try rent()
    var after = before
    after.schedule = try schedule(
      .weekly([.monday, .friday], .init(start: date("2026-11-20"))), "11:00")
    let now = due.adding(seconds: 60)
    let settings = confirms ? plus : free
    let status = timeline(before).status(at: now, settings: settings, ledger: rung(before))
    #expect(status.state == .ringing)
    let edited = timeline(after.stamped(against: before, at: now, device: laptop))
      .rescheduled(from: timeline(before), status, at: now, confirms: confirms)
    #expect(edited.events.map(\.action) == [confirms ? .stopped : .missed])
    let kept = timeline(edited.alarm).status(at: now, settings: settings, ledger: rung(before))
    #expect(kept.state == state)
    #expect(kept.current == monday)
    #expect(kept.next?.civil == civil("2026-11-23T11:00"))
  }

  @Test("An occurrence that rings goes on if the edited schedule has it, too")
  func editOfAnotherTimeWhileRinging() throws {
    let before = try rent()
    var after = before
    after.schedule = try schedule(before.schedule.recurrence, "09:00", "20:00")
    let now = due.adding(seconds: 60)
    let status = timeline(before).status(at: now, settings: plus, ledger: rung(before))
    #expect(status.state == .ringing)
    let edited = timeline(after.stamped(against: before, at: now, device: laptop))
      .rescheduled(from: timeline(before), status, at: now, confirms: true)
    #expect(edited.events.isEmpty)
    let kept = timeline(edited.alarm)
    let open = kept.status(at: now, settings: plus, ledger: rung(before))
    #expect(open.state == .ringing && open.current == monday)
    #expect(open.next?.civil == civil("2026-11-23T20:00"))
    // Nobody answers: it is missed as without the edit.
    let late = kept.status(at: due.adding(seconds: 3600), settings: plus, ledger: rung(before))
    #expect(late.state == .missed && late.missed == [monday], "\(late)")
    #expect(
      kept.evaluate(at: now, settings: plus, ledger: rung(before)).firings.isEmpty,
      "it does not ring once more")
    let done = try kept.answer(
      .done(), at: now.adding(seconds: 60), settings: plus, ledger: rung(before))
    #expect(done.events.map(\.occurrence) == [monday])
    // An answer of a device that has not seen the edit is not lost.
    let other = Identifier(high: 2, low: 2)
    let elsewhere = try Timeline(before, zone: timeline(before).zone, device: other).answer(
      .done(), at: now.adding(seconds: 90), settings: plus, ledger: rung(before)
    ).alarm
    let joined = Alarm.join(edited.alarm, elsewhere)
    #expect(
      timeline(joined).status(at: now.adding(seconds: 120), settings: plus, ledger: rung(before))
        .state == .active)
  }

  @Test("An occurrence that a new zone lets ring once more is not pending")
  func zoneEditWhileRinging() throws {
    let before = try rent()
    var after = before
    after.zone = .named("America/New_York")
    let now = due.adding(seconds: 60)
    let status = timeline(before).status(at: now, settings: plus, ledger: rung(before))
    let newYork = try zone("America/New_York")
    let edited = Timeline(
      after.stamped(against: before, at: now, device: laptop), zone: newYork
    ).rescheduled(from: timeline(before), status, at: now, confirms: true)
    #expect(edited.events.isEmpty)
    let kept = Timeline(edited.alarm, zone: newYork)
      .status(at: now, settings: plus, ledger: rung(before))
    #expect(kept.next?.at == instant("2026-11-23T14:00:00Z"))
  }

  @Test func aScheduleEditFiresNothingRetroactively() throws {
    let before = try rent()
    var after = before
    after.schedule = try schedule(.daily(.init(start: date("2026-11-01"))), "08:00")
    after = after.stamped(against: before, at: due, device: laptop)
    #expect(
      timeline(after).evaluate(at: due, settings: free, ledger: DeliveryLedger()).firings.isEmpty)
    #expect(timeline(after).next(after: due)?.civil == civil("2026-11-24T08:00"))
  }

  @Test func aScheduleEditKeepsAPendingOccurrence() throws {
    let pending = try timeline(rent()).answer(
      .stop, at: due, settings: plus, ledger: DeliveryLedger()
    )
    .alarm
    var after = pending
    after.schedule = try schedule(.daily(.init(start: date("2026-11-01"))), "08:00")
    after = after.stamped(against: pending, at: due.adding(seconds: 60), device: laptop)
    #expect(
      timeline(after).status(at: due.adding(seconds: 61), settings: plus, ledger: DeliveryLedger())
        .pending
        .map(\.occurrence) == [monday])
  }

  @Test func aSkipAheadAppliesUnderItsSchedule() throws {
    var alarm = try rent()
    alarm.progress.occurrences[monday] = OccurrenceRecord(
      .skipped, schedule: alarm.mergeState.stamps[.schedule])
    #expect(timeline(alarm).next(after: due.adding(seconds: -60))?.civil == friday)
    alarm.mergeState.stamps[.schedule] = Stamp(time: due.adding(seconds: -30), device: laptop)
    #expect(timeline(alarm).next(after: due.adding(seconds: -20))?.civil == monday)
  }

  @Test func floatingAndFixedAlarmsFireByTheirZones() throws {
    let alarm = try rent()
    let berlin = try zone("Europe/Berlin")
    let tokyo = try zone("Asia/Tokyo")
    // Floating: nine on the wall clock of each device. The occurrence has one name.
    let here = try #require(Timeline(alarm, zone: berlin).next(after: due.adding(seconds: -86_400)))
    let there = try #require(Timeline(alarm, zone: tokyo).next(after: due.adding(seconds: -86_400)))
    #expect(here.civil == monday)
    #expect(there.civil == monday)
    #expect(here.at == instant("2026-11-23T08:00:00Z"))
    #expect(there.at == instant("2026-11-23T00:00:00Z"))
  }

  @Test func aRepeatedTimeFiresOnce() throws {
    let newYork = try zone("America/New_York")
    let alarm = Alarm.created(
      id: laptop, title: "Night", note: nil,
      schedule: try schedule(.daily(.init(start: date("2026-10-01"))), "01:30"), zone: .floating,
      delivery: .init(), at: instant("2026-10-31T12:00:00Z"), device: laptop)
    let night = Timeline(alarm, zone: newYork)
    let first = instant("2026-11-01T05:30:00Z")
    #expect(
      night.evaluate(at: first, settings: free, ledger: DeliveryLedger()).firings.first?.due
        == first
    )
    let done = try night.answer(.done(), at: first, settings: free, ledger: DeliveryLedger()).alarm
    let second = first.adding(seconds: 3600)
    let after = Timeline(done, zone: newYork)
    #expect(after.evaluate(at: second, settings: free, ledger: DeliveryLedger()).firings.isEmpty)
    #expect(after.next(after: second)?.civil == civil("2026-11-02T01:30"))
  }

  @Test func aTimeInAGapFiresRightAfterIt() throws {
    let newYork = try zone("America/New_York")
    let alarm = Alarm.created(
      id: laptop, title: "Night", note: nil,
      schedule: try schedule(.daily(.init(start: date("2026-03-01"))), "02:30", "03:00"),
      zone: .floating, delivery: .init(), at: instant("2026-03-08T00:00:00Z"), device: laptop)
    let night = Timeline(alarm, zone: newYork)
    let evaluation = night.evaluate(
      at: instant("2026-03-08T07:00:00Z"), settings: free, ledger: DeliveryLedger())
    // Both names mean one instant: it fires once, and neither counts as missed.
    #expect(evaluation.firings.first?.occurrence == civil("2026-03-08T03:00"))
    #expect(evaluation.transition.events.isEmpty)
    // There is one advance warning.
    let coming = night.upcoming(after: instant("2026-03-08T01:00:00Z")).prefix(2).map(\.civil)
    #expect(coming == [civil("2026-03-08T03:00"), civil("2026-03-09T02:30")])
  }

  @Test func settledOccurrencesAreRemovedBelowTheFloor() throws {
    var alarm = try rent()
    var now = due
    for _ in 0..<40 {
      alarm = try timeline(alarm).answer(.done(), at: now, settings: free, ledger: DeliveryLedger())
        .alarm
      now = try #require(timeline(alarm).next(after: now)).at
    }
    #expect(alarm.progress.occurrences.count <= 6)
    #expect(alarm.progress.floor != nil)
    #expect(timeline(alarm).next(after: now.adding(seconds: -1))?.at == now)
  }
}

@Suite struct StampTests {
  @Test func aStampIsLaterThanEverySeenStampUnderAnyClock() {
    let now = instant("2026-11-20T22:41:00Z")
    let ahead = Stamp(time: now.adding(seconds: 100), counter: 9999, device: server)
    var last = ahead
    for _ in 0..<3 {
      let next = Stamp.next(after: last, now: now, device: laptop)
      #expect(next > last)
      #expect(next.description > last.description)
      last = next
    }
    #expect(Stamp.next(after: nil, now: now, device: laptop).time == now)
  }

  @Test func stampsRoundTrip() {
    let stamp = Stamp(time: instant("2026-11-20T22:41:00.007Z"), counter: 12, device: laptop)
    #expect(stamp.description == "2026-11-20T22:41:00.007Z-0012-\(laptop)")
    #expect(Stamp(stamp.description) == stamp)
    #expect(Stamp("2026-11-20T22:41:00Z-0012-\(laptop)") == nil)
  }
}

@Suite struct AlarmTextTests {
  @Test func titlesAreTrimmed() throws {
    #expect(try AlarmText.title("  Rent \n") == "Rent")
    #expect(try AlarmText.title("💊") == "💊")
  }

  @Test(arguments: ["", "   ", "\u{200B}", "\u{FE0F}", "\u{0301}", "\u{2060}\u{00AD}"])
  func titlesWithoutVisibleCharactersAreRefused(_ text: String) {
    #expect(throws: AlarmTextError.titleEmpty) { try AlarmText.title(text) }
  }

  @Test func titlesHaveAtMost200Characters() throws {
    #expect(try AlarmText.title(String(repeating: "ä", count: 200)).count == 200)
    #expect(throws: AlarmTextError.titleTooLong(201)) {
      try AlarmText.title(String(repeating: "x", count: 201))
    }
  }

  @Test(arguments: ["a\u{1B}[31mb", "a\u{07}b", "a\nb", "a\u{9B}b", "a\u{7F}b"])
  func controlCharactersAreRefused(_ text: String) {
    #expect(throws: AlarmTextError.self) { try AlarmText.title(text) }
  }

  @Test func notesCanHaveLinesAndTabs() throws {
    #expect(try AlarmText.note("one\n\ttwo") == "one\n\ttwo")
    #expect(try AlarmText.note("  ") == nil)
    #expect(throws: AlarmTextError.noteControl("\u{1B}")) { try AlarmText.note("a\u{1B}b") }
    #expect(throws: AlarmTextError.noteTooLong(2001)) {
      try AlarmText.note(String(repeating: "x", count: 2001))
    }
  }
}

/// Pauses, advance warnings, and the devices that ring.
@Suite struct PauseTests {
  private let settings = Settings(tier: .plus)

  private func daily(_ pause: Pause? = nil, warnings: WarningPlan? = nil) throws -> Alarm {
    let id = Identifier(high: 1, low: 1)
    var alarm = Alarm.created(
      id: id, title: "Pills", note: nil,
      schedule: try Schedule(
        .daily(.init(start: CivilDate(year: 2026, month: 11, day: 1))),
        times: [CivilTime("09:00")!]),
      zone: .floating, delivery: .init(warnings: warnings),
      at: Instant(rfc3339: "2026-11-20T08:00:00Z")!, device: id)
    alarm.pause = pause
    return alarm
  }

  private func instant(_ text: String) -> Instant { Instant(rfc3339: text)! }
  private func civil(_ text: String) -> CivilDateTime { CivilDateTime(text)! }
  private func timeline(_ alarm: Alarm, here: Bool = true) -> Timeline {
    var alarm = alarm
    if !here { alarm.delivery.devices = [laptop] }
    return Timeline(
      alarm, zone: .utc,
      deviceContext: DeviceContext(device: here ? laptop : server, known: [laptop, server]))
  }

  private var vacation: Pause {
    Pause(from: civil("2026-11-21T00:00"), until: civil("2026-11-24T00:00"))
  }

  @Test func occurrencesDueInAPauseAreSkippedAndLogged() throws {
    let view = timeline(try daily(vacation))
    let now = instant("2026-11-23T12:00:00Z")
    #expect(view.next(after: instant("2026-11-21T00:00:00Z"))?.civil == civil("2026-11-24T09:00"))
    let status = view.status(at: now, settings: settings, ledger: DeliveryLedger())
    #expect(status.pausedUntil == civil("2026-11-24T00:00"))
    // One device has to log it.
    #expect(status.validUntil == now)
    let evaluation = view.evaluate(at: now, settings: settings, ledger: DeliveryLedger())
    #expect(evaluation.firings.isEmpty)
    let skipped = evaluation.transition.events.filter { $0.action == .skipped }
    #expect(skipped.compactMap(\.occurrence) == [21, 22, 23].map { civil("2026-11-\($0)T09:00") })
    // A second evaluation finds nothing more.
    let again = timeline(evaluation.transition.alarm)
      .evaluate(at: now, settings: settings, ledger: DeliveryLedger())
    #expect(again.transition.events.filter { $0.action == .skipped }.isEmpty)
    // The next wake-up is each of them, and the end of the pause.
    #expect(
      view.evaluate(
        at: instant("2026-11-21T10:00:00Z"), settings: settings, ledger: DeliveryLedger()
      )
      .nextWake == instant("2026-11-22T09:00:00Z"))
  }

  @Test func anAlarmReturnsAfterAPause() throws {
    let now = instant("2026-11-24T09:00:00Z")
    let evaluation = timeline(try daily(vacation))
      .evaluate(at: now, settings: settings, ledger: DeliveryLedger())
    #expect(evaluation.firings.map(\.occurrence) == [civil("2026-11-24T09:00")])
    // An unpaused occurrence without a response was missed.
    let missed = evaluation.transition.events.filter { $0.action == .missed }
    #expect(missed.compactMap(\.occurrence) == [civil("2026-11-20T09:00")])
  }

  @Test func aPauseThatEndsEarlySkipsTheOccurrencesThatWereDue() throws {
    let now = instant("2026-11-22T12:00:00Z")
    let transition = timeline(try daily(vacation)).paused(
      nil, at: now, settings: settings, ledger: DeliveryLedger())
    #expect(transition.alarm.pause == nil)
    #expect(transition.events.map(\.action) == [.skipped, .skipped, .resumed])
    let after = timeline(transition.alarm)
    #expect(after.next(after: now)?.civil == civil("2026-11-23T09:00"))
    let status = after.status(at: now, settings: settings, ledger: DeliveryLedger())
    #expect(status.missed == [civil("2026-11-20T09:00")])
  }

  @Test func aPauseStartsAfterTheOccurrenceThatRingsInItsMinute() throws {
    let alarm = try daily()
    let now = instant("2026-11-23T09:00:30Z")
    let pause = Pause(from: civil("2026-11-23T09:00"), until: civil("2026-11-25T00:00"))
    let paused = timeline(alarm).paused(
      pause, at: now, settings: Settings(), ledger: DeliveryLedger()
    ).alarm
    #expect(paused.pause == Pause(from: civil("2026-11-23T09:01"), until: pause.until))
    let evaluation = timeline(paused).evaluate(
      at: now, settings: Settings(), ledger: DeliveryLedger())
    #expect(evaluation.firings.map(\.occurrence) == [civil("2026-11-23T09:00")])
    #expect(timeline(paused).next(after: now)?.civil == civil("2026-11-25T09:00"))
  }

  @Test func ringingAndPendingOccurrencesContinueInAPause() throws {
    let alarm = try daily()
    let due = instant("2026-11-20T09:00:00Z")
    let pending = try timeline(alarm).answer(
      .stop, at: due, settings: settings, ledger: DeliveryLedger())
    let paused = timeline(pending.alarm).paused(
      Pause(from: civil("2026-11-20T09:10"), until: civil("2026-11-24T00:00")),
      at: due.adding(seconds: 600), settings: settings, ledger: DeliveryLedger())
    let status = timeline(paused.alarm).status(
      at: due.adding(seconds: 700), settings: settings, ledger: DeliveryLedger())
    #expect(status.state == .pending)
    #expect(status.pausedUntil != nil)
  }

  @Test func onlyTheLatestAdvanceWarningIsSent() throws {
    let plan = try #require(WarningPlan("1h,2h,10m"))
    #expect(plan.description == "2h,1h,10m")
    let view = timeline(try daily(warnings: plan))
    func warning(_ text: String, _ ledger: DeliveryLedger = DeliveryLedger()) -> Instant? {
      view.evaluate(at: instant(text), settings: settings, ledger: ledger).warnings.first?.due
    }
    // The warnings of 20 November were due before the alarm was created, except the last.
    #expect(warning("2026-11-20T08:30:00Z") == nil)
    #expect(warning("2026-11-20T08:50:00Z") == instant("2026-11-20T08:50:00Z"))
    #expect(warning("2026-11-21T08:20:00Z") == instant("2026-11-21T08:00:00Z"))
    var delivered = DeliveryLedger()
    let id = OccurrenceID(alarm: view.alarm.id, occurrence: civil("2026-11-21T09:00"))
    delivered[.occurrence(id, .advanceWarning)] = DeliveryLedger.Entry(
      due: instant("2026-11-21T08:00:00Z"), at: instant("2026-11-21T08:20:00Z"))
    #expect(warning("2026-11-21T08:20:00Z", delivered) == nil)
    #expect(warning("2026-11-21T08:50:00Z", delivered) == instant("2026-11-21T08:50:00Z"))
    let next = view.evaluate(
      at: instant("2026-11-21T08:20:00Z"), settings: settings, ledger: delivered
    ).nextWake
    #expect(next == instant("2026-11-21T08:50:00Z"))
  }

  @Test(arguments: ["", "0s", "30s", "1d,1d", "2y", "x", "1d,", "-1d"])
  func invalidWarningPlansAreRefused(_ text: String) {
    #expect(WarningPlan(text) == nil)
  }

  @Test func anAlarmDoesNotRingOnADeviceThatItDoesNotName() throws {
    let now = instant("2026-11-20T09:00:00Z")
    let elsewhere = timeline(try daily(), here: false)
    let evaluation = elsewhere.evaluate(at: now, settings: settings, ledger: DeliveryLedger())
    #expect(evaluation.firings.isEmpty)
    // The occurrence is still ringing, and a response is possible.
    #expect(
      elsewhere.status(at: now, settings: settings, ledger: DeliveryLedger()).state == .ringing)
    #expect(
      try elsewhere.answer(.done(), at: now, settings: settings, ledger: DeliveryLedger()).events
        .last?
        .action == .done)
    // The end of its ringing is scheduled and reported.
    #expect(evaluation.nextWake == now.adding(seconds: settings.grace))
    let (one, two, gone) = (
      Identifier(high: 0, low: 1), Identifier(high: 0, low: 2), Identifier(high: 0, low: 3)
    )
    let delivery = Alarm.Delivery(devices: [one])
    #expect(delivery.rings(on: one, known: [one, two]))
    #expect(!delivery.rings(on: two, known: [one, two]))
    // A false alarm is better than a missed alarm.
    #expect(Alarm.Delivery(devices: [gone]).rings(on: two, known: [one, two]))
  }
}
