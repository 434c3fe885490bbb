import BelfryCore
import TestSupport
import Testing

/// Outcomes that a clock recorded while it was ahead: they no longer count after the clock is corrected.
@Suite struct ClockAheadTests {
  private let settings = Settings(tier: .plus)
  private let now = instant("2026-11-22T10:00:00Z")
  private let tomorrow = civil("2026-11-23T09:00")

  private func daily(pause: Pause? = nil) throws -> Alarm {
    var alarm = Alarm.created(
      id: Identifier("pillsaaaaaaaaaaaaaaaaaaaaa")!, title: "Pills", note: nil,
      schedule: try schedule(.daily(.init(start: date("2026-11-20"))), "09:00"), zone: .floating,
      delivery: .init(), at: instant("2026-11-20T12:00:00Z"), device: laptop)
    alarm.pause = pause
    return alarm
  }

  /// Returns the alarm after a tick by a clock that is ahead by a number of seconds.
  private func ticked(_ alarm: Alarm, ahead seconds: Int64) -> Alarm {
    let wrong = now.adding(seconds: seconds)
    return Timeline(alarm, zone: .utc, at: wrong).evaluate(
      at: wrong, settings: settings, ledger: DeliveryLedger()
    ).transition.alarm
  }

  private func view(_ alarm: Alarm, at moment: Instant) -> Timeline {
    Timeline(alarm, zone: .utc, at: moment)
  }

  @Test("A floor that a clock ahead has raised in one zone silences no other zone")
  func floorInAnotherZone() throws {
    // Eight days ahead in Kiritimati, UTC+14: the floor is in the past there after the clock is corrected.
    let kiritimati = try zone("Pacific/Kiritimati")
    var alarm = try daily()
    alarm.progress.floor = civil("2026-11-22T09:00")
    alarm.progress.occurrences = [
      civil("2026-11-29T09:00"): OccurrenceRecord(.missed, since: now.adding(seconds: 8 * 86_400))
    ]
    let corrected = Timeline(alarm, zone: kiritimati, at: now).evaluate(
      at: now, settings: settings, ledger: DeliveryLedger()
    ).transition.alarm
    // In Pago Pago, UTC-11, the occurrence comes ten hours later.
    let due = instant("2026-11-22T20:00:00Z")
    let there = Timeline(corrected, zone: try zone("Pacific/Pago_Pago"), at: due)
    #expect(
      there.evaluate(at: due, settings: settings, ledger: DeliveryLedger()).firings.map(\.due) == [
        due
      ])
  }

  @Test("Each day of a month rings after a clock was a month ahead", arguments: [false, true])
  func rings(isRecorded: Bool) throws {
    var alarm = ticked(ticked(try daily(), ahead: 20 * 86_400), ahead: 30 * 86_400)
    // Most of the settled occurrences are removed below the floor.
    #expect(alarm.progress.floor.map { $0 > tomorrow } == true)
    let seen = view(alarm, at: now)
    let status = seen.status(at: now, settings: settings, ledger: DeliveryLedger())
    #expect(status.next?.civil == tomorrow)
    #expect(!status.missed.contains { $0 >= tomorrow })
    #expect(status.validUntil == now)
    let evaluation = seen.evaluate(at: now, settings: settings, ledger: DeliveryLedger())
    #expect(evaluation.corrections == [.rearmed] && evaluation.needsCommit)
    if isRecorded {
      let corrected = evaluation.transition.alarm
      // The correction overrides the wrong record in every join.
      #expect(Alarm.join(alarm, corrected).progress == corrected.progress)
      #expect(view(corrected, at: now).rearmed(corrected, at: now) == nil)
      alarm = corrected
    }
    for day in 0..<35 {
      let due = instant("2026-11-23T09:00:00Z").adding(seconds: Int64(day) * 86_400)
      let evaluation = view(alarm, at: due).evaluate(
        at: due, settings: settings, ledger: DeliveryLedger())
      #expect(evaluation.firings.map(\.due) == [due], "day \(day)")
      if isRecorded { alarm = evaluation.transition.alarm }
    }
  }

  @Test(
    "An occurrence that a clock less than a day ahead has settled rings",
    arguments: [
      "2026-11-23T09:30:00Z", "2026-11-23T21:00:00Z", "2026-11-23T08:00:00Z",
    ])
  func hours(since: String) throws {
    var alarm = try daily()
    alarm.progress.occurrences[tomorrow] = OccurrenceRecord(.missed, since: instant(since))
    let due = instant("2026-11-23T09:00:00Z")
    let evaluation = view(alarm, at: due).evaluate(
      at: due, settings: settings, ledger: DeliveryLedger())
    #expect(evaluation.firings.map(\.occurrence) == [tomorrow])
  }

  @Test("An occurrence that a clock ahead has skipped in a pause rings if the pause ends early")
  func paused() throws {
    let pause = Pause(from: civil("2026-11-22T00:00"), until: civil("2026-12-24T00:00"))
    for ahead: Int64 in [30 * 86_400, 86_400 - 600] {
      let skipped = ticked(try daily(pause: pause), ahead: ahead)
      #expect(skipped.progress.occurrences[tomorrow]?.state == .skipped)
      let resumed = view(skipped, at: now).paused(
        nil, at: now, settings: settings, ledger: DeliveryLedger()
      ).alarm
      #expect(view(resumed, at: now).next(after: now)?.civil == tomorrow, "\(ahead) s")
    }
  }

  @Test(
    "A response by a clock ahead stays for due occurrences only")
  func answered() throws {
    let wrong = now.adding(seconds: 30 * 86_400)
    let alarm = try view(ticked(try daily(), ahead: 30 * 86_400), at: wrong).answer(
      .done(), at: wrong, settings: settings, ledger: DeliveryLedger()
    ).alarm
    let ahead = civil("2026-12-22T09:00")
    #expect(alarm.progress.occurrences[ahead]?.state == .done)
    #expect(view(alarm, at: now).record(of: ahead) == nil)
    var today = try daily()
    today.progress.occurrences[civil("2026-11-22T09:00")] = OccurrenceRecord(.done, since: wrong)
    #expect(view(today, at: now).record(of: civil("2026-11-22T09:00"))?.state == .done)
  }

  /// Returns the alarm after it was marked as done, by a clock that is three hours ahead, when it rang too early.
  private func doneTooEarly(_ alarm: Alarm) throws -> Alarm {
    let wrong = instant("2026-11-23T09:01:00Z")
    var ledger = DeliveryLedger()
    ledger.recordFiring(
      OccurrenceID(alarm: alarm.id, occurrence: tomorrow), due: wrong.adding(seconds: -60),
      at: wrong.adding(seconds: -60))
    return try Timeline(alarm, zone: .utc, at: wrong, device: laptop).answer(
      .done(), at: wrong, settings: settings, ledger: ledger
    ).alarm
  }

  @Test(
    "An occurrence that was answered by a clock ahead rings when it is due, and its answer is kept",
    arguments: [laptop, server])
  func doubted(device: Identifier) throws {
    let done = try doneTooEarly(try daily())
    func view(_ alarm: Alarm, _ moment: Instant) -> Timeline {
      Timeline(alarm, zone: .utc, at: moment, device: device)
    }
    let early = instant("2026-11-23T06:02:00Z")
    let evaluation = view(done, early).evaluate(
      at: early, settings: settings, ledger: DeliveryLedger())
    #expect(evaluation.corrections == [.rearmed])
    let doubted = evaluation.transition.alarm
    #expect(view(doubted, early).rearmed(doubted, at: early) == nil)
    // Another device, which is not sure that the first one's clock is right, keeps the answer.
    let elsewhere = Timeline(
      Alarm.join(done, doubted), zone: .utc, at: instant("2026-11-23T09:02:00Z"),
      device: Identifier("desktopaaaaaaaaaaaaaaaaaaa")!)
    #expect(elsewhere.record(of: tomorrow)?.state == .done)
    // The answer was given a minute after the due time, which a tick at that time does not see.
    let due = instant("2026-11-23T09:00:00Z")
    let rings = view(doubted, due).evaluate(
      at: due, settings: settings, ledger: DeliveryLedger())
    #expect(rings.firings.map(\.occurrence) == [tomorrow])
    var ledger = DeliveryLedger()
    ledger.recordFiring(
      OccurrenceID(alarm: done.id, occurrence: tomorrow), due: due, at: due)
    let later = due.adding(seconds: 1700)
    #expect(
      view(doubted, later).status(at: later, settings: settings, ledger: ledger).state == .ringing)
    // Nobody has answered again: the first answer counts, and nothing is missed.
    let end = due.adding(seconds: 1801)
    let ended = view(doubted, end).evaluate(at: end, settings: settings, ledger: ledger)
    #expect(ended.transition.events.isEmpty && ended.corrections == [.answerAccepted])
    let after = view(ended.transition.alarm, end)
    #expect(after.record(of: tomorrow)?.state == .done)
    #expect(after.status(at: end, settings: settings, ledger: ledger).state == .active)
    #expect(
      !after.evaluate(at: end, settings: settings, ledger: ledger).needsCommit)
  }

  @Test("A stop replaces an earlier answer by a clock ahead, on every device")
  func answeredAgain() throws {
    let done = try doneTooEarly(try daily())
    let early = instant("2026-11-23T06:02:00Z")
    let doubted = Timeline(done, zone: .utc, at: early, device: server).evaluate(
      at: early, settings: settings, ledger: DeliveryLedger()
    ).transition.alarm
    let due = instant("2026-11-23T09:00:00Z")
    var ledger = DeliveryLedger()
    ledger.recordFiring(OccurrenceID(alarm: done.id, occurrence: tomorrow), due: due, at: due)
    let now = due.adding(seconds: 30)
    let stopped = try Timeline(doubted, zone: .utc, at: now, device: server).answer(
      .stop, at: now, settings: settings, ledger: ledger
    ).alarm
    for alarm in [stopped, Alarm.join(done, stopped), Alarm.join(stopped, doubted)] {
      for device in [laptop, server] {
        let seen = Timeline(alarm, zone: .utc, at: now.adding(seconds: 3600), device: device)
        #expect(seen.record(of: tomorrow)?.state == .pending)
      }
    }
  }

  @Test("An occurrence that rang by a clock ahead rings again when it is due")
  func ledger() {
    var ledger = DeliveryLedger()
    let key = DeliveryKey.occurrence(OccurrenceID(alarm: laptop, occurrence: tomorrow), .firing)
    ledger[key] = DeliveryLedger.Entry(
      due: now.adding(seconds: 86_400), at: now.adding(seconds: 86_400))
    #expect(ledger.possible(at: now)[key] == nil)
    #expect(ledger.possible(at: now.adding(seconds: 86_340))[key] != nil)
  }

  @Test(
    "A correction removes what a clock ahead has settled, and no answer of another device",
    arguments: [180, 3 * 3600, 40_000, 9 * 86_400] as [Int64])
  func correction(ahead: Int64) throws {
    let today = civil("2026-11-22T09:00")
    var wrong = try daily()
    wrong.progress.occurrences[tomorrow] = OccurrenceRecord(
      .missed, since: now.adding(seconds: ahead))
    let rearmed = try #require(view(wrong, at: now).rearmed(wrong, at: now))
    #expect(rearmed.progress.occurrences[tomorrow] == nil)
    #expect(Alarm.join(rearmed, wrong).progress == rearmed.progress)
    #expect(view(rearmed, at: now).next(after: now)?.civil == tomorrow)
    // Another device marks an occurrence as done, and skips the next one, without knowing the correction.
    var ledger = DeliveryLedger()
    ledger.recordFiring(
      OccurrenceID(alarm: wrong.id, occurrence: today), due: now.adding(seconds: -3600),
      at: now.adding(seconds: -3600))
    let there = Timeline(wrong, zone: .utc, at: now, device: server)
    let done = try there.answer(
      .done(), to: today, at: now, settings: Settings(tier: .plus, ringTimeout: 7200),
      ledger: ledger
    ).alarm
    let skipped = try Timeline(done, zone: .utc, at: now, device: server).answer(
      .skip(), at: now, settings: settings, ledger: ledger
    ).alarm
    let joined = Alarm.join(rearmed, skipped)
    #expect(joined == Alarm.join(skipped, rearmed))
    #expect(view(joined, at: now).record(of: today)?.state == .done)
    #expect(view(joined, at: now).record(of: tomorrow)?.state == .skipped)
    #expect(joined.progress.occurrences[tomorrow]?.automatic == [:])
  }

  @Test(
    "A completion by a clock that is days or years ahead postpones no period",
    arguments: [2, 30, 40 * 366] as [Int64], [Answer.done(early: true), .skip()])
  func completion(daysAhead: Int64, answer: Answer) throws {
    var alarm = try daily()
    let period = Period(4, .day)
    alarm.schedule = try schedule(
      .afterDone(period, .init(start: date("2026-11-23"))), "09:00")
    let wrong = now.adding(seconds: daysAhead * Instant.day)
    let answered = try view(alarm, at: wrong).answer(
      answer, at: wrong, settings: settings, ledger: DeliveryLedger()
    ).alarm
    let next = try #require(view(answered, at: now).next(after: now))
    #expect(next.civil <= civil("2026-11-27T09:00"), "\(daysAhead) days")

    // Afterwards the period counts from the next answer.
    let due = next.at.adding(seconds: 60)
    let done = try view(answered, at: due).answer(
      .done(), at: due, settings: settings, ledger: DeliveryLedger()
    ).alarm
    let later = try #require(view(done, at: due).next(after: due))
    #expect(later.civil.date == next.civil.date.adding(period))
  }

  @Test(
    "An edit by a clock that is ahead silences no occurrence on any device",
    arguments: [121, 3 * 3600, 86_400 - 60, 40 * 86_400] as [Int64])
  func armed(ahead: Int64) throws {
    let before = try daily()
    let wrong = now.adding(seconds: ahead)
    for change in [
      { $0.schedule = try schedule(.daily(.init(start: date("2026-11-20"))), "10:30") },
      { $0.enabled = false }, { $0.zone = .named("Etc/UTC") },
    ] as [(inout Alarm) throws -> Void] {
      var edited = before
      try change(&edited)
      edited = edited.stamped(against: before, at: wrong, device: laptop)
      if !edited.enabled {
        var enabled = edited
        enabled.enabled = true
        edited = enabled.stamped(against: edited, at: wrong.adding(seconds: 1), device: laptop)
      }
      #expect(edited.progress.armed >= wrong)
      // The correction wins over the edited record elsewhere, too.
      let corrected = view(edited, at: now).evaluate(
        at: now, settings: settings, ledger: DeliveryLedger()
      ).transition.alarm
      #expect(corrected.progress.armed <= now)
      let joined = Alarm.join(edited, corrected)
      for alarm in [edited, joined] {
        let next = view(alarm, at: now).next(after: now)
        #expect(next.map { $0.at <= now.adding(seconds: 86_400) } == true, "\(ahead) s")
      }
    }
  }

  @Test("A stamp by a clock that is ahead does not win over later edits")
  func stamps() throws {
    let before = try daily()
    func edited(_ alarm: Alarm, _ title: String, at time: Instant, _ device: Identifier) -> Alarm {
      var edited = alarm
      edited.title = title
      return edited.stamped(against: alarm, at: time, device: device)
    }
    let wrong = edited(before, "Wrong", at: now.adding(seconds: 3 * 3600), laptop)
    let next = edited(wrong, "Next", at: now, server)
    #expect(Alarm.join(wrong, next).title == "Next")
    // From then on, true time decides.
    let one = edited(next, "One", at: now.adding(seconds: 60), laptop)
    let two = edited(next, "Two", at: now.adding(seconds: 120), server)
    #expect(Alarm.join(one, two).title == "Two")
    #expect(two.mergeState.stamps[.title]?.time == now.adding(seconds: 120))
  }

  @Test("A snooze whose end a clock ahead has set does not silence the occurrence until then")
  func snoozed() throws {
    let due = instant("2026-11-22T09:00:00Z")
    let today = civil("2026-11-22T09:00")
    var alarm = try daily()
    let wrong = due.adding(seconds: 3 * 3600)
    alarm.progress.occurrences[today] = OccurrenceRecord(
      .snoozed, since: wrong, until: wrong.adding(seconds: 540))
    let at = due.adding(seconds: 300)
    let evaluation = view(alarm, at: at).evaluate(
      at: at, settings: settings, ledger: DeliveryLedger())
    #expect(evaluation.firings.map(\.occurrence) == [today])
  }
}
