import BelfryCore
import TestSupport
import Testing

/// Tests of schedules that count from the latest completion.
@Suite struct CompletionTests {
  private let plus = Settings(tier: .plus)
  private let created = instant("2026-11-01T12:00:00Z")

  /// Returns an alarm at 09:00 UTC, ten days after each completion, first on 2026-11-10.
  private func filter(
    _ period: Period = Period(10, .day), start: String = "2026-11-10",
    completionsAfter: String? = nil, limits: Schedule.Limits = .none
  ) throws -> Alarm {
    let origin = Recurrence.Origin(
      start: date(start), completionsAfter: completionsAfter.map(date))
    return Alarm.created(
      id: Identifier("filteraaaaaaaaaaaaaaaaaaaa")!, title: "Water filter", note: nil,
      schedule: try schedule(.afterDone(period, origin), "09:00", limits: limits),
      zone: .floating, delivery: .init(), at: created, device: laptop)
  }

  private func answered(
    _ alarm: Alarm, _ answer: Answer, of occurrence: String? = nil, at now: String
  ) throws -> Alarm {
    try timeline(alarm).answer(
      answer, to: occurrence.map(civil), at: instant("\(now):00Z"), settings: plus,
      ledger: DeliveryLedger()
    ).alarm
  }

  private func ticked(_ alarm: Alarm, at now: String) -> Evaluation {
    timeline(alarm).evaluate(
      at: instant("\(now):00Z"), settings: plus, ledger: DeliveryLedger())
  }

  private func next(_ alarm: Alarm, after now: String) -> String? {
    timeline(alarm).next(after: instant("\(now):00Z"))?.civil.description
  }

  @Test("The next occurrence is a period after the day of completion, however late")
  func countsFromTheCompletion() throws {
    let alarm = try filter()
    #expect(next(alarm, after: "2026-11-01T12:00") == "2026-11-10T09:00")
    let onTime = try answered(alarm, .done(), at: "2026-11-10T09:05")
    #expect(next(onTime, after: "2026-11-10T09:05") == "2026-11-20T09:00")
    let late = try answered(alarm, .done(), at: "2026-11-13T07:00")
    #expect(next(late, after: "2026-11-13T07:00") == "2026-11-23T09:00")
    let early = try answered(alarm, .done(early: true), at: "2026-11-05T18:00")
    #expect(next(early, after: "2026-11-05T18:00") == "2026-11-15T09:00")
    let before = try answered(
      alarm, .done(at: instant("2026-11-11T20:00:00Z")), at: "2026-11-13T07:00")
    #expect(next(before, after: "2026-11-13T07:00") == "2026-11-21T09:00")
  }

  @Test(
    "A period of months keeps to the end of the month",
    arguments: [
      (Period(1, .month), "2026-01-31", "2026-02-28"),
      (Period(1, .year), "2028-02-29", "2029-02-28"),
      (Period(2, .week), "2026-12-24", "2027-01-07"),
      (Period(13, .month), "2026-12-15", "2028-01-15"),
    ])
  func periods(_ period: Period, _ done: String, _ expected: String) throws {
    #expect(date(done).adding(period) == date(expected))
    #expect(Period(period.description) == period)
  }

  @Test("Until it is done, it recurs every day, and only the latest day rings or is missed")
  func recursDaily() throws {
    let alarm = try filter()
    #expect(next(alarm, after: "2026-11-10T09:00") == "2026-11-11T09:00")
    let evaluation = ticked(alarm, at: "2026-11-17T09:01")
    #expect(evaluation.firings.map(\.occurrence) == [civil("2026-11-17T09:00")])
    #expect(evaluation.transition.events.isEmpty)
    let silent = ticked(alarm, at: "2026-11-17T23:00")
    #expect(silent.transition.events.map(\.occurrence) == [civil("2026-11-17T09:00")])
    #expect(silent.transition.events.map(\.action) == [.missed])
    let again = ticked(silent.transition.alarm, at: "2026-11-18T09:00")
    #expect(again.firings.map(\.occurrence) == [civil("2026-11-18T09:00")])
    let done = try answered(again.transition.alarm, .done(), at: "2026-11-18T09:10")
    let status = timeline(done).status(
      at: instant("2026-11-18T09:11:00Z"), settings: plus, ledger: DeliveryLedger())
    #expect(status.state == .active && status.missed.isEmpty)
    #expect(status.next?.civil == civil("2026-11-28T09:00"))
  }

  @Test(
    "A completion on the day before its period does not silence the day on which the period ends")
  func earlyCompletions() throws {
    let alarm = try filter()
    // Ten days before the first date, which is the next one again.
    let first = try answered(
      try filter(start: "2026-11-11"), .done(early: true), at: "2026-11-01T18:00")
    #expect(next(first, after: "2026-11-01T18:00") == "2026-11-11T09:00")
    #expect(ticked(first, at: "2026-11-11T09:00").firings.count == 1)
    let again = try answered(first, .done(), at: "2026-11-11T09:10")
    #expect(next(again, after: "2026-11-11T09:10") == "2026-11-21T09:00")
    // Twice on one day, and after a skip.
    let done = try answered(alarm, .done(), at: "2026-11-10T09:05")
    let twice = try answered(done, .done(early: true), at: "2026-11-10T09:10")
    #expect(next(twice, after: "2026-11-10T09:10") == "2026-11-30T09:00")
    let skipped = try answered(alarm, .skip(), at: "2026-11-05T10:00")
    let both = try answered(skipped, .done(early: true), at: "2026-11-05T11:00")
    #expect(next(both, after: "2026-11-05T11:00") == "2026-11-30T09:00")
  }

  @Test("A completion long ago does not cause a row of missed occurrences")
  func oldCompletion() throws {
    let done = try answered(
      try filter(Period(3, .day)), .done(at: instant("2026-11-02T20:00:00Z")),
      at: "2026-11-20T12:00")
    let evaluation = ticked(done, at: "2026-11-20T12:01")
    #expect(evaluation.firings.map(\.occurrence) == [civil("2026-11-20T09:00")])
    #expect(evaluation.transition.events.isEmpty)
  }

  @Test("A skip starts the next period, from the day of the occurrence if that is later")
  func skips() throws {
    let alarm = try filter()
    let due = try answered(alarm, .skip(), at: "2026-11-12T10:00")
    #expect(next(due, after: "2026-11-12T10:00") == "2026-11-22T09:00")
    let ahead = try answered(alarm, .skip(), at: "2026-11-05T10:00")
    #expect(next(ahead, after: "2026-11-05T10:00") == "2026-11-20T09:00")
    let three = try answered(alarm, .skip(.count(3)), at: "2026-11-05T10:00")
    #expect(next(three, after: "2026-11-05T10:00") == "2026-12-10T09:00")
    let until = try answered(
      alarm, .skip(.until(civil("2026-12-01T00:00"))), at: "2026-11-05T10:00")
    #expect(next(until, after: "2026-11-05T10:00") == "2026-12-10T09:00")
    // The first one rings first; those that were skipped after it stay skipped.
    let first = try answered(three, .unskip(), at: "2026-11-06T10:00")
    #expect(next(first, after: "2026-11-06T10:00") == "2026-11-10T09:00")
    #expect(ticked(first, at: "2026-11-10T09:00").firings.count == 1)
    let done = try answered(first, .done(), at: "2026-11-10T09:30")
    #expect(next(done, after: "2026-11-10T09:30") == "2026-12-10T09:00")
    let all = try answered(three, .unskip(all: true), at: "2026-11-06T10:00")
    #expect(next(all, after: "2026-11-06T10:00") == "2026-11-10T09:00")
    #expect(next(all, after: "2026-11-10T09:00") == "2026-11-11T09:00")
  }

  @Test("A later day than the next cannot be answered, because the days before would be lost")
  func laterDays() throws {
    let alarm = try filter()
    #expect(throws: LifecycleError.wrongPhase(civil("2026-11-15T09:00"), .unknown)) {
      try answered(alarm, .skip(), of: "2026-11-15T09:00", at: "2026-11-05T10:00")
    }
    let named = try answered(alarm, .skip(), of: "2026-11-10T09:00", at: "2026-11-05T10:00")
    #expect(next(named, after: "2026-11-05T10:00") == "2026-11-20T09:00")
  }

  @Test("A stopped occurrence stays pending until it is done, which also settles the earlier ones")
  func pending() throws {
    let stopped = try answered(try filter(), .stop, at: "2026-11-10T09:01")
    let rings = ticked(stopped, at: "2026-11-11T09:00")
    #expect(rings.firings.map(\.occurrence) == [civil("2026-11-11T09:00")])
    #expect(rings.transition.events.isEmpty)
    let again = try answered(rings.transition.alarm, .stop, at: "2026-11-11T09:01")
    let view = timeline(again)
    #expect(view.occurrences(in: .pending).count == 2)
    let done = try answered(again, .done(), at: "2026-11-11T12:00")
    #expect(timeline(done).occurrences(in: .pending).isEmpty)
    let later = ticked(done, at: "2026-11-13T09:00")
    #expect(later.firings.isEmpty && later.followUps.isEmpty && later.transition.events.isEmpty)
    #expect(next(done, after: "2026-11-11T12:00") == "2026-11-21T09:00")
  }

  @Test("Undo of a completion brings the daily occurrences back")
  func undo() throws {
    let alarm = try answered(try filter(), .stop, at: "2026-11-10T09:01")
    let done = try answered(alarm, .done(), at: "2026-11-10T10:00")
    let undone = try timeline(done).undoing(
      done, before: alarm, acted: instant("2026-11-10T10:00:00Z"),
      at: instant("2026-11-10T10:05:00Z"), device: laptop)
    #expect(timeline(undone).occurrences(in: .pending) == [civil("2026-11-10T09:00")])
    #expect(next(undone, after: "2026-11-10T10:05") == "2026-11-11T09:00")
    // An undone completion does not return with an older version.
    #expect(next(Alarm.join(undone, done), after: "2026-11-10T10:05") == "2026-11-11T09:00")
  }

  @Test("Two devices that complete it offline agree on one next occurrence")
  func offline() throws {
    let alarm = try filter()
    let one = try answered(alarm, .done(), at: "2026-11-10T09:10")
    let other = try answered(
      ticked(alarm, at: "2026-11-12T08:00").transition.alarm, .done(), at: "2026-11-12T09:30")
    let joined = Alarm.join(one, other)
    #expect(joined == Alarm.join(other, one))
    #expect(next(joined, after: "2026-11-12T10:00") == "2026-11-22T09:00")
    #expect(ticked(joined, at: "2026-11-12T10:00").firings.isEmpty)
    // Of two completions of one occurrence, the earlier one counts: an early alarm is better than a late one.
    let same = try answered(alarm, .done(), of: "2026-11-10T09:00", at: "2026-11-10T21:00")
    #expect(next(Alarm.join(one, same), after: "2026-11-12T10:00") == "2026-11-20T09:00")
  }

  @Test("A device that reopens an occurrence while another one skips ahead still rings")
  func reopenedBeforeASkip() throws {
    let skipped = try answered(try filter(), .skip(), at: "2026-11-05T10:00")
    let reopened = try answered(skipped, .unskip(), at: "2026-11-06T10:00")
    let further = try answered(skipped, .skip(), at: "2026-11-06T10:00")
    let joined = Alarm.join(reopened, further)
    #expect(next(joined, after: "2026-11-07T10:00") == "2026-11-10T09:00")
    #expect(ticked(joined, at: "2026-11-10T09:00").firings.count == 1)
  }

  @Test("The latest completion survives the removal of old records")
  func compaction() throws {
    var alarm = try filter(Period(60, .day))
    alarm = try answered(alarm, .done(), at: "2026-11-10T09:10")
    for day in 0..<6 {
      // Completions at other times of the same period.
      let now = instant("2027-01-09T09:05:00Z").adding(seconds: Int64(day) * 60 * 86_400)
      let result = timeline(alarm).evaluate(at: now, settings: plus, ledger: DeliveryLedger())
      alarm = try timeline(result.transition.alarm).answer(
        .done(), at: now, settings: plus, ledger: DeliveryLedger()
      ).alarm
      let later = now.adding(seconds: 50 * 86_400)
      alarm =
        timeline(alarm).evaluate(at: later, settings: plus, ledger: DeliveryLedger())
        .transition.alarm
    }
    // Missed days push the completion out of the record.
    var now = instant("2028-01-05T09:05:00Z")
    for _ in 0..<30 {
      alarm =
        timeline(alarm).evaluate(at: now, settings: plus, ledger: DeliveryLedger()).transition.alarm
      now = now.adding(seconds: 43_200)
    }
    #expect(alarm.progress.floor != nil)
    #expect(alarm.progress.completed != nil)
    let next = try #require(timeline(alarm).next(after: now))
    #expect(next.at.seconds(since: now) <= 86_400)
  }

  @Test("A new start counts instead of the earlier completions")
  func newStart() throws {
    let done = try answered(try filter(), .done(), at: "2026-11-10T09:10")
    var edited = done
    edited.schedule = try filter(start: "2026-11-12", completionsAfter: "2026-11-10").schedule
    edited = edited.stamped(against: done, at: instant("2026-11-11T12:00:00Z"), device: laptop)
    #expect(next(edited, after: "2026-11-11T12:00") == "2026-11-12T09:00")
    let again = try answered(edited, .done(), at: "2026-11-12T10:00")
    #expect(next(again, after: "2026-11-12T10:00") == "2026-11-22T09:00")
  }

  @Test("A pause delays it to the first day after")
  func pause() throws {
    var alarm = try filter()
    alarm.pause = Pause(from: civil("2026-11-08T00:00"), until: civil("2026-11-15T00:00"))
    #expect(next(alarm, after: "2026-11-09T00:00") == "2026-11-15T09:00")
    let evaluation = ticked(alarm, at: "2026-11-15T09:00")
    #expect(evaluation.firings.map(\.occurrence) == [civil("2026-11-15T09:00")])
  }

  @Test("An end and exceptions apply to the days that follow from completions")
  func limits() throws {
    let limits = Schedule.Limits(
      until: Schedule.Limits.end(of: date("2026-11-21")), exceptions: [date("2026-11-20")])
    let done = try answered(try filter(limits: limits), .done(), at: "2026-11-10T09:10")
    #expect(next(done, after: "2026-11-10T10:00") == "2026-11-21T09:00")
    #expect(next(done, after: "2026-11-21T09:00") == nil)
  }

  @Test("A completion by a clock that was ahead does not postpone the next occurrence")
  func clockAhead() throws {
    let ahead = try answered(try filter(), .done(), at: "2029-11-10T09:10")
    let now = instant("2026-11-12T08:00:00Z")
    let view = Timeline(ahead, zone: .utc, at: now)
    #expect(view.next(after: now).map { $0.at.seconds(since: now) <= 11 * 86_400 } == true)
  }

  @Test("A completion in a future year, as in a damaged record, does not silence the alarm")
  func futureCompletion() throws {
    let now = instant("2026-11-12T08:00:00Z")
    var alarm = try answered(try filter(), .done(), at: "2026-11-10T09:10")
    alarm.progress.occurrences[civil("2026-11-10T09:00")]?.answerCompleted = date("9999-12-31")
    alarm.progress.completed = date("9999-12-30")
    let next = try #require(Timeline(alarm, zone: .utc, at: now).next(after: now))
    #expect(next.civil == civil("2026-11-22T09:00"))
  }

  /// Three devices that tick, answer and sync at random.
  @Test(
    "After a sync, all devices agree, and the alarm rings within a period of the latest completion",
    arguments: 0..<200 as Range<UInt64>)
  func devices(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let period = Period(random.int(1...12), .day)
    var alarms = [Alarm](repeating: try filter(period), count: 3)
    var ledgers = [DeliveryLedger](repeating: DeliveryLedger(), count: 3)
    var now = created
    for _ in 0..<150 {
      now = now.adding(seconds: Int64(random.int(600...50_000)))
      let index = random.int(0...2)
      let view = Timeline(alarms[index], zone: .utc, at: now)
      let evaluation = view.evaluate(at: now, settings: plus, ledger: ledgers[index])
      alarms[index] = evaluation.transition.alarm
      for firing in evaluation.firings {
        // Nothing rings before the period has passed that this device knows of.
        let known = alarms[index].completed(in: .utc, at: nil)
        if let known, alarms[index].progress.occurrences[firing.occurrence]?.revision ?? 0 == 0 {
          #expect(firing.occurrence.date >= known.adding(period), "seed \(seed)")
        }
        ledgers[index].recordFiring(
          OccurrenceID(alarm: alarms[index].id, occurrence: firing.occurrence), due: firing.due,
          at: now)
      }
      let answers: [Answer] = [
        .stop, .done(), .done(early: true), .skip(), .skip(.count(2)), .unskip(),
        .snooze(seconds: 600), .dismiss,
      ]
      let answer = random.pick(answers)
      if random.one(in: 3),
        let transition = try? Timeline(alarms[index], zone: .utc, at: now).answer(
          answer, at: now, settings: plus, ledger: ledgers[index])
      {
        alarms[index] = transition.alarm
      }
      if random.one(in: 3) {
        let (a, b) = (random.int(0...2), random.int(0...2))
        let joined = Alarm.join(alarms[a], alarms[b])
        #expect(joined == Alarm.join(alarms[b], alarms[a]), "seed \(seed)")
        alarms[a] = joined
        alarms[b] = joined
      }
      for alarm in alarms {
        let view = Timeline(alarm, zone: .utc, at: now)
        let next = try #require(view.next(after: now), "seed \(seed)")
        // An occurrence that was reopened rings before those that were skipped after it.
        let isReopened = alarm.progress.occurrences.values.contains {
          $0.state == .open && $0.revision > 0
        }
        if isReopened { continue }
        let today = TimeZoneRules.utc.civil(at: now).date
        let base = max(alarm.completed(in: .utc, at: nil) ?? date("2026-11-10"), today)
        #expect(
          next.civil.date <= base.adding(period).adding(days: 1),
          "seed \(seed): \(alarm.progress.occurrences)")
      }
    }
    let joined = Alarm.join(Alarm.join(alarms[0], alarms[1]), alarms[2])
    #expect(joined == Alarm.join(alarms[2], Alarm.join(alarms[1], alarms[0])), "seed \(seed)")
  }
}
