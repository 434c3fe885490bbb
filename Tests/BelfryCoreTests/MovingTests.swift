import TestSupport
import Testing

@testable import BelfryCore

@Suite struct MovingTests {
  private let plus = Settings(tier: .plus)
  private let before = instant("2026-11-21T12:00:00Z")
  private let monday = civil("2026-11-23T09:00")
  private let tuesday = civil("2026-11-24T15:00")
  private let friday = civil("2026-11-27T09:00")

  /// Returns an alarm on Mondays and Fridays at 09:00 with one occurrence moved.
  private func moved(
    _ alarm: Alarm? = nil, _ occurrence: CivilDateTime? = nil, to time: CivilDateTime? = nil,
    at now: Instant? = nil, device: Identifier = laptop, ledger: DeliveryLedger = DeliveryLedger()
  ) throws -> Alarm {
    try timeline(alarm ?? rent()).moving(
      occurrence ?? monday, to: time ?? tuesday, at: now ?? before, device: device, settings: plus,
      ledger: ledger
    ).alarm
  }

  private func rung(
    _ alarm: Alarm, _ occurrence: CivilDateTime, at due: Instant,
    in ledger: DeliveryLedger = DeliveryLedger()
  ) -> DeliveryLedger {
    var ledger = ledger
    ledger.recordFiring(
      OccurrenceID(alarm: alarm.id, occurrence: occurrence), due: due, at: due)
    return ledger
  }

  private func evaluation(
    _ alarm: Alarm, at now: String, _ ledger: DeliveryLedger = DeliveryLedger()
  ) -> Evaluation {
    timeline(alarm).evaluate(at: instant(now), settings: plus, ledger: ledger)
  }

  private func state(
    _ alarm: Alarm, at now: String, _ ledger: DeliveryLedger = DeliveryLedger()
  ) -> AlarmStatus {
    timeline(alarm).status(at: instant(now), settings: plus, ledger: ledger)
  }

  @Test("A moved occurrence rings at its new time, not at its own, and the others stay")
  func ringsThen() throws {
    let alarm = try moved()
    let upcoming = Array(timeline(alarm).upcoming(after: before).prefix(3))
    #expect(upcoming.map(\.civil) == [monday, friday, civil("2026-11-30T09:00")])
    #expect(upcoming.map(\.time) == [tuesday, friday, civil("2026-11-30T09:00")])
    #expect(evaluation(alarm, at: "2026-11-23T09:00:30Z").firings.isEmpty)
    let then = evaluation(alarm, at: "2026-11-24T15:00:30Z")
    #expect(then.firings.map(\.occurrence) == [monday])
    #expect(then.firings.first?.due == instant("2026-11-24T15:00:00Z"))
    #expect(evaluation(alarm, at: "2026-11-23T09:00:30Z").nextWake == then.firings.first?.due)
  }

  @Test("An occurrence that rings, is snoozed, pending or missed is silent until its new time")
  func openOnes() throws {
    let alarm = try rent()
    let ledger = rung(alarm, monday, at: instant("2026-11-23T09:00:00Z"))
    func answered(_ answer: Answer) throws -> Alarm {
      try timeline(alarm).answer(
        answer, at: instant("2026-11-23T09:05:00Z"), settings: plus, ledger: ledger
      ).alarm
    }
    let missed = evaluation(alarm, at: "2026-11-23T10:00:00Z", ledger).transition.alarm
    #expect(timeline(missed).record(of: monday)?.state == .missed)
    let now = instant("2026-11-23T10:00:00Z")
    for (open, at) in [
      (alarm, instant("2026-11-23T09:01:00Z")), (try answered(.snooze(seconds: 7200)), now),
      (try answered(.stop), now), (missed, now),
    ] {
      let alarm = try moved(open, at: at, ledger: ledger)
      let status = timeline(alarm).status(at: at, settings: plus, ledger: ledger)
      #expect(status.state == .active, "\(status)")
      #expect(status.next?.civil == monday)
      #expect(status.pending.isEmpty && status.missed.isEmpty)
      #expect(evaluation(alarm, at: "2026-11-23T10:40:00Z", ledger).followUps.isEmpty)
      #expect(
        evaluation(alarm, at: "2026-11-24T15:00:30Z", ledger).firings.map(\.occurrence) == [monday])
    }
  }

  @Test("The answers to a moved occurrence count for its own time, and its follow-ups begin again")
  func answers() throws {
    let first = rung(try rent(), monday, at: instant("2026-11-23T09:00:00Z"))
    let stopped = try timeline(rent()).answer(
      .stop, at: instant("2026-11-23T09:05:00Z"), settings: plus, ledger: first
    ).alarm
    let asked = try #require(
      evaluation(stopped, at: "2026-11-23T09:36:00Z", first).followUps.first)
    let reminded = try #require(timeline(stopped).reminded(asked)).alarm
    let alarm = try moved(reminded, at: instant("2026-11-23T09:40:00Z"), ledger: first)
    let ledger = rung(alarm, monday, at: instant("2026-11-24T15:00:00Z"), in: first)
    let again = try timeline(alarm).answer(
      .stop, at: instant("2026-11-24T15:01:00Z"), settings: plus, ledger: ledger
    ).alarm
    #expect(state(again, at: "2026-11-24T15:02:00Z", ledger).state == .pending)
    #expect(
      evaluation(again, at: "2026-11-24T15:31:30Z", ledger).followUps.map(\.number) == [1])
    let done = try timeline(again).answer(
      .done(), at: instant("2026-11-24T16:00:00Z"), settings: plus, ledger: ledger)
    #expect(done.events.map(\.occurrence) == [monday])
    #expect(state(done.alarm, at: "2026-11-24T16:00:00Z", ledger).next?.civil == friday)
  }

  @Test("A moved occurrence can be done early, skipped, and moved again or back")
  func ahead() throws {
    let alarm = try moved()
    let now = instant("2026-11-23T12:00:00Z")
    func answered(_ answer: Answer) throws -> Alarm {
      try timeline(alarm).answer(answer, at: now, settings: plus, ledger: DeliveryLedger()).alarm
    }
    for alarm in [try answered(.done(early: true)), try answered(.skip())] {
      #expect(timeline(alarm).next(after: now)?.civil == friday)
      #expect(evaluation(alarm, at: "2026-11-24T15:00:30Z").firings.isEmpty)
    }
    // A move is the latest word.
    let unskipped = try moved(try answered(.skip()), to: civil("2026-11-25T10:00"), at: now)
    #expect(timeline(unskipped).next(after: now)?.time == civil("2026-11-25T10:00"))
    let back = try moved(alarm, to: monday, at: before.adding(seconds: 60))
    #expect(timeline(back).next(after: before)?.movedTo == nil)
    #expect(evaluation(back, at: "2026-11-23T09:00:30Z").firings.map(\.occurrence) == [monday])
  }

  @Test("A move is refused if the occurrence is done, or the time has passed, is taken or paused")
  func refusals() throws {
    func refusal(
      _ alarm: Alarm, _ occurrence: CivilDateTime, to time: String, at now: String
    ) -> MoveError? {
      do throws(MoveError) {
        _ = try timeline(alarm).moving(
          occurrence, to: civil(time), at: instant(now), device: laptop, settings: plus,
          ledger: DeliveryLedger())
        return nil
      } catch { return error }
    }
    let alarm = try rent()
    let morning = "2026-11-22T08:00:00Z"
    #expect(
      refusal(alarm, monday, to: "2026-11-21T09:00", at: morning)
        == .past(civil("2026-11-21T09:00")))
    #expect(refusal(alarm, monday, to: "2026-11-27T09:00", at: morning) == .taken(friday))
    #expect(refusal(alarm, monday, to: "2026-11-23T09:00", at: morning) == .unchanged(monday))
    #expect(
      refusal(alarm, tuesday, to: "2026-11-25T09:00", at: morning)
        == .wrongPhase(tuesday, .unknown))
    #expect(refusal(try moved(), friday, to: "2026-11-24T15:00", at: morning) == .taken(tuesday))
    // Its own time is free again.
    #expect(refusal(try moved(), friday, to: "2026-11-23T09:00", at: morning) == nil)
    var paused = alarm
    paused.pause = Pause(from: civil("2026-11-24T00:00"), until: civil("2026-11-26T00:00"))
    #expect(
      refusal(paused, monday, to: "2026-11-25T09:00", at: morning)
        == .paused(until: civil("2026-11-26T00:00")))
    let done = try timeline(alarm).answer(
      .done(early: true), at: before, settings: plus, ledger: DeliveryLedger()
    ).alarm
    #expect(
      refusal(done, monday, to: "2026-11-24T09:00", at: morning) == .wrongPhase(monday, .done))
    var off = alarm
    off.enabled = false
    #expect(
      refusal(off, monday, to: "2026-11-24T09:00", at: morning) == .notPossible(.disabled))
  }

  @Test("A moved occurrence waits behind later ones, and they supersede each other in that order")
  func order() throws {
    let late = try moved(to: civil("2026-11-28T15:00"))
    // Friday rings before, stays pending, and is completed when Monday's rings on Saturday.
    let ledger = rung(late, friday, at: instant("2026-11-27T09:00:00Z"))
    let stopped = try timeline(late).answer(
      .stop, at: instant("2026-11-27T09:05:00Z"), settings: plus, ledger: ledger
    ).alarm
    #expect(state(stopped, at: "2026-11-27T09:06:00Z", ledger).next?.civil == monday)
    let saturday = evaluation(stopped, at: "2026-11-28T15:00:30Z", ledger)
    #expect(saturday.firings.map(\.occurrence) == [monday])
    #expect(saturday.transition.events.map(\.occurrence) == [friday])
    #expect(saturday.transition.events.map(\.action) == [.done])
    // Unanswered, it is missed when the next one rings.
    let after = timeline(saturday.transition.alarm).evaluate(
      at: instant("2026-11-30T09:00:10Z"), settings: plus, ledger: ledger)
    #expect(after.transition.events.map(\.occurrence) == [monday])
    #expect(after.transition.events.map(\.action) == [.missed])
  }

  @Test("The settled past never settles a moved occurrence, however late it rings")
  func beyondTheFloor() throws {
    let far = civil("2027-03-01T12:00")
    var alarm = try moved(to: far)
    for week in 0..<13 {
      let now = instant("2026-11-27T09:00:10Z").adding(seconds: Int64(week) * 7 * 86_400)
      for hours in [0, 72] {
        let view = timeline(alarm)
        let at = now.adding(seconds: Int64(hours) * 3600)
        alarm = view.evaluate(at: at, settings: plus, ledger: DeliveryLedger()).transition.alarm
        if let done = try? timeline(alarm).answer(
          .done(), at: at, settings: plus, ledger: DeliveryLedger())
        {
          alarm = done.alarm
        }
      }
    }
    #expect(evaluation(alarm, at: "2027-03-01T12:00:10Z").firings.map(\.occurrence) == [monday])
    // A device that did not know of the move has passed it, and dropped its record.
    var unaware = try rent()
    unaware.progress.floor = civil("2027-02-26T09:00")
    let joined = Alarm.join(try moved(to: far), unaware)
    #expect(evaluation(joined, at: "2027-03-01T12:00:10Z").firings.map(\.occurrence) == [monday])
    // What was done stays done there.
    let done = try timeline(alarm).answer(
      .done(), at: instant("2027-03-01T12:05:00Z"), settings: plus, ledger: DeliveryLedger()
    ).alarm
    let again = Alarm.join(done, joined)
    #expect(evaluation(again, at: "2027-03-01T12:06:00Z").firings.isEmpty)
  }

  @Test("Moves leave the record weeks after their occurrences are settled")
  func retention() throws {
    var alarm = try moved()
    var now = instant("2026-11-24T15:00:10Z")
    for _ in 0..<40 {
      for answer in [Answer.done()] {
        alarm =
          timeline(alarm).evaluate(at: now, settings: plus, ledger: DeliveryLedger())
          .transition.alarm
        if let next = try? timeline(alarm).answer(
          answer, at: now, settings: plus, ledger: DeliveryLedger())
        {
          alarm = next.alarm
        }
      }
      now = now.adding(seconds: 2 * 86_400)
    }
    #expect(alarm.progress.moves.isEmpty)
    #expect(alarm.progress.occurrences[monday] == nil)
  }

  // MARK: Devices that do not know of each other

  @Test("Of two moves the later counts, on both devices alike")
  func twoMoves() throws {
    let base = try rent()
    let one = try moved(base, to: tuesday, at: before, device: laptop)
    let two = try moved(
      base, to: civil("2026-11-25T10:00"), at: before.adding(seconds: 60), device: server)
    #expect(Alarm.join(one, two) == Alarm.join(two, one))
    #expect(timeline(Alarm.join(one, two)).next(after: before)?.time == civil("2026-11-25T10:00"))
  }

  @Test("A skip, a stop or a miss that did not know of the move does not silence the new time")
  func unawareAnswers() throws {
    let base = try rent()
    let move = try moved(base)
    let ledger = rung(base, monday, at: instant("2026-11-23T09:00:00Z"))
    func answered(_ answer: Answer, at now: String) throws -> Alarm {
      try timeline(base).answer(answer, at: instant(now), settings: plus, ledger: ledger).alarm
    }
    let missed = evaluation(base, at: "2026-11-23T11:00:00Z", ledger).transition.alarm
    for other in [
      try answered(.skip(), at: "2026-11-22T10:00:00Z"),
      try answered(.skip(), at: "2026-11-23T09:05:00Z"),
      try answered(.stop, at: "2026-11-23T09:05:00Z"),
      try answered(.snooze(seconds: 600), at: "2026-11-23T09:05:00Z"), missed,
    ] {
      let joined = Alarm.join(move, other)
      #expect(joined == Alarm.join(other, move))
      #expect(
        evaluation(joined, at: "2026-11-24T15:00:30Z", ledger).firings.map(\.occurrence) == [monday]
      )
    }
    // What is done needs no ring.
    let done = Alarm.join(move, try answered(.done(), at: "2026-11-23T09:05:00Z"))
    #expect(evaluation(done, at: "2026-11-24T15:00:30Z", ledger).firings.isEmpty)
    // A skip with the knowledge of the move counts.
    let skipped = try timeline(move).answer(
      .skip(), at: before.adding(seconds: 60), settings: plus, ledger: DeliveryLedger()
    ).alarm
    #expect(
      evaluation(Alarm.join(skipped, base), at: "2026-11-24T15:00:30Z").firings.isEmpty)
  }

  @Test("An edit of the schedule that leaves the occurrence out ends its move; others keep it")
  func editedSchedule() throws {
    let alarm = try moved()
    func edited(_ recurrence: Recurrence, _ time: String, until: String? = nil) throws -> Alarm {
      var after = alarm
      after.schedule = try schedule(
        recurrence, time, limits: .init(until: until.map { civil($0) }))
      return after.stamped(against: alarm, at: before.adding(seconds: 60), device: laptop)
    }
    let weekly = Recurrence.weekly([.monday, .friday], .init(start: date("2026-11-20")))
    let later = try edited(weekly, "10:00")
    #expect(timeline(later).next(after: before)?.time == civil("2026-11-23T10:00"))
    let ending = try edited(weekly, "09:00", until: "2027-01-01T00:00")
    #expect(timeline(ending).next(after: before)?.time == tuesday)
  }

  // MARK: Undo

  @Test("The undo of a move gives an occurrence its time, its answer and its miss back")
  func undo() throws {
    let alarm = try rent()
    let ledger = rung(alarm, monday, at: instant("2026-11-23T09:00:00Z"))
    let stopped = try timeline(alarm).answer(
      .stop, at: instant("2026-11-23T09:05:00Z"), settings: plus, ledger: ledger
    ).alarm
    let missed = evaluation(alarm, at: "2026-11-23T10:00:00Z", ledger).transition.alarm
    let skipped = try timeline(alarm).answer(
      .skip(), at: before, settings: plus, ledger: DeliveryLedger()
    ).alarm
    let late = instant("2026-11-23T10:10:00Z")
    for (earlier, now) in [
      (alarm, before.adding(seconds: 60)), (skipped, before.adding(seconds: 60)), (stopped, late),
      (missed, late),
    ] {
      let after = try moved(earlier, at: now, ledger: ledger)
      let restored = try timeline(after).undoing(
        after, before: earlier, acted: now, at: now.adding(seconds: 30), device: laptop)
      let view = timeline(restored)
      #expect(view.record(of: monday)?.state == timeline(earlier).record(of: monday)?.state)
      #expect(view.occurrence(monday).movedTo == nil)
      // And again.
      let redone = try view.undoing(
        restored, before: after, acted: now.adding(seconds: 30), at: now.adding(seconds: 60),
        device: laptop)
      #expect(timeline(redone).next(after: now)?.time == tuesday)
    }
  }

  @Test("A move cannot be undone after a later one of the same occurrence")
  func undoAfterAnother() throws {
    let base = try rent()
    let one = try moved(base)
    let two = try moved(one, to: civil("2026-11-25T10:00"), at: before.adding(seconds: 60))
    #expect(throws: UndoError.self) {
      try timeline(two).undoing(
        one, before: base, acted: before, at: before.adding(seconds: 90), device: laptop)
    }
  }

  // MARK: Other rules

  @Test("The cascade of a moved occurrence runs from its new time, and makes its calls again")
  func cascade() throws {
    let number = CascadeTarget.phone(try PhoneNumber("5551234567"), message: nil)
    var alarm = try rent()
    alarm.cascade = Cascade(
      Cascade.Plan(isOn: true, interval: 120, primary: laptop, targets: [number]), stamps: [:])
    let ledger = rung(alarm, monday, at: instant("2026-11-23T09:00:00Z"))
    func callouts(_ alarm: Alarm, _ now: String) -> [Callout.ID] {
      evaluation(alarm, at: now, ledger).callouts.map(\.id)
    }
    let first = try #require(callouts(alarm, "2026-11-23T09:03:00Z").first)
    let moved = try self.moved(alarm, at: instant("2026-11-23T09:04:00Z"), ledger: ledger)
    #expect(callouts(moved, "2026-11-23T09:05:00Z").isEmpty)
    #expect(callouts(moved, "2026-11-24T15:01:00Z").isEmpty)
    let second = try #require(callouts(moved, "2026-11-24T15:03:00Z").first)
    #expect(first != second)
  }

  @Test("A floating move rings on each device by its own clock, and is settled after the last one")
  func zones() throws {
    let alarm = try moved()
    let (ahead, behind) = (try zone("Pacific/Kiritimati"), try zone("Pacific/Pago_Pago"))
    let here = Timeline(alarm, zone: ahead, otherZones: [behind])
    // 15:00 at UTC+14, and at UTC-11.
    let (first, last) = (instant("2026-11-24T01:00:00Z"), instant("2026-11-25T02:00:00Z"))
    let ledger = rung(alarm, monday, at: first)
    #expect(here.occurrence(monday).at == first)
    let early = here.evaluate(at: first.adding(seconds: 7200), settings: plus, ledger: ledger)
    #expect(early.transition.events.isEmpty)
    let late = here.evaluate(at: last.adding(seconds: 1801), settings: plus, ledger: ledger)
    #expect(late.transition.events.map(\.action) == [.missed])
    // A stop where it is due earlier counts here, although it is before the time here.
    let stopped = try here.answer(
      .stop, at: first.adding(seconds: 60), settings: plus, ledger: ledger
    ).alarm
    let there = Timeline(stopped, zone: behind, otherZones: [ahead])
    #expect(there.record(of: monday)?.state == .pending)
  }

  @Test("A move to an hour that a clock change leaves out rings at its end")
  func clockChange() throws {
    let berlin = try zone("Europe/Berlin")
    var alarm = try rent()
    alarm.progress.moves[monday] = OccurrenceMove(to: civil("2027-03-28T02:30"), stamp: nil)
    #expect(
      Timeline(alarm, zone: berlin).occurrence(monday).at == instant("2027-03-28T01:00:00Z"))
  }

  @Test("A pause covers the new time of an occurrence, not its own")
  func pause() throws {
    var alarm = try moved()
    alarm.pause = Pause(from: civil("2026-11-23T00:00"), until: civil("2026-11-24T00:00"))
    #expect(timeline(alarm).next(after: before)?.civil == monday)
    alarm.pause = Pause(from: civil("2026-11-24T00:00"), until: civil("2026-11-25T00:00"))
    #expect(timeline(alarm).next(after: before)?.civil == friday)
    #expect(
      evaluation(alarm, at: "2026-11-24T15:00:30Z").transition.events.map(\.occurrence) == [monday])
  }

  @Test("Until it rings, a moved occurrence stands for the daily ones of a schedule by completion")
  func followsCompletion() throws {
    var alarm = try rent()
    alarm.schedule = try schedule(
      .afterDone(Period(90, .day), .init(start: date("2026-11-23"))), "09:00")
    let later = try moved(alarm, to: civil("2026-11-25T15:00"))
    let times = timeline(later).upcoming(after: before).prefix(1).map(\.time)
    #expect(times == [civil("2026-11-25T15:00")])
    #expect(evaluation(later, at: "2026-11-24T09:00:30Z").firings.isEmpty)
    // Missed, it recurs every day.
    let ledger = rung(later, monday, at: instant("2026-11-25T15:00:00Z"))
    let missed = evaluation(later, at: "2026-11-25T23:00:00Z", ledger).transition.alarm
    #expect(
      timeline(missed).next(after: instant("2026-11-25T23:00:00Z"))?.time
        == civil("2026-11-26T09:00"))
    // Moved ahead, too.
    let earlier = try moved(alarm, to: civil("2026-11-21T15:00"))
    let day = instant("2026-11-21T15:00:00Z")
    let unanswered = evaluation(
      earlier, at: "2026-11-21T23:00:00Z", rung(earlier, monday, at: day)
    ).transition.alarm
    #expect(timeline(unanswered).next(after: day)?.time == civil("2026-11-22T09:00"))
    let done = try timeline(later).answer(
      .done(), at: instant("2026-11-25T15:05:00Z"), settings: plus, ledger: ledger
    ).alarm
    #expect(
      timeline(done).next(after: instant("2026-11-25T15:05:00Z"))?.time
        == civil("2027-02-23T09:00"))
  }

  @Test("The delay of a moved occurrence counts from its new time")
  func statistics() throws {
    let alarm = try rent()
    let entries = [
      Event(.moved, monday, payload: .move(from: monday, to: tuesday)), Event(.done, monday),
    ].enumerated().map { index, event in
      LogEntry(
        event, of: alarm, id: Identifier(high: 7, low: UInt64(index)),
        at: index == 0 ? before : instant("2026-11-24T15:10:00Z"), device: laptop)
    }
    #expect(Statistics(entries).lateness { TimeZoneRules.utc.instant(of: $0) } == [600])
    let undone = LogEntry(
      Event(.undone, monday, payload: .undone(.moved), undoes: entries[0].id), of: alarm,
      id: Identifier(high: 7, low: 9), at: before.adding(seconds: 30), device: laptop)
    #expect(Statistics(entries + [undone]).movedTo.isEmpty)
  }

  // MARK: Against the definition

  @Test(
    "10,000 random schedules with moves agree with a check of each single day", arguments: 0..<100)
  func oracle(block: Int) throws {
    var compared = 0
    for number in 0..<100 {
      var random = SeededGenerator(seed: UInt64(block * 100 + number))
      guard let schedule = try? Schedule.random(&random) else { continue }
      let calendar = WorkCalendar.random(&random)
      let start = CivilDate(dayNumber: random.int(20_000...21_600))
      let range = start..<start.adding(days: 60)
      let own = DayByDay(schedule, calendar).occurrences(in: range)
      var alarm = Alarm.created(
        id: Identifier(high: 9, low: 9), title: "Random", note: nil, schedule: schedule,
        zone: .floating, delivery: .init(), at: instant("2024-01-01T00:00:00Z"), device: laptop)
      var expected = own.map { (time: $0, civil: $0) }
      for _ in 0..<random.int(1...6) where !own.isEmpty {
        let civil = random.pick(own)
        let shift = random.pick([random.int(-3000...3000), random.int(-40_000...40_000)])
        let time = CivilDateTime(minuteNumber: civil.minuteNumber + shift)
        alarm.progress.moves[civil] = OccurrenceMove(
          to: time == civil ? nil : time,
          stamp: Stamp(time: instant("2024-01-02T00:00:00Z"), device: laptop))
        expected.removeAll { $0.civil == civil }
        expected.append((time, civil))
      }
      // A move of what is no occurrence changes nothing.
      let none = CivilDateTime(
        minuteNumber: (own.first ?? CivilDateTime(start, .midnight)).minuteNumber - 1)
      if !own.contains(none), !Occurrences(schedule, in: calendar).contains(none) {
        alarm.progress.moves[none] = OccurrenceMove(to: own.last ?? none, stamp: nil)
      }
      expected.sort { ($0.time, $0.civil) < ($1.time, $1.civil) }
      let (first, end) = (
        CivilDateTime(start, .midnight), CivilDateTime(range.upperBound, .midnight)
      )
      let wanted = expected.filter { $0.time >= first && $0.time < end }
      let view = Timeline(alarm, zone: .utc, calendar: calendar)
      // Those outside of the range are not in the expectation, so that moves into it are none.
      let from = TimeZoneRules.utc.instant(of: first).adding(seconds: -1)
      let to = TimeZoneRules.utc.instant(of: end)
      let upcoming = view.upcoming(after: from).prefix { $0.at < to }.map { $0 }
      #expect(upcoming.map(\.time) == wanted.map(\.time), "seed \(block * 100 + number)")
      #expect(upcoming.map(\.civil) == wanted.map(\.civil), "seed \(block * 100 + number)")
      let due = view.due(at: to.adding(seconds: -1)).prefix { $0.at > from }
      #expect(
        due.map(\.civil) == wanted.map(\.civil).reversed(), "seed \(block * 100 + number)")
      compared += wanted.count
    }
    #expect(compared > 200)
  }
}
