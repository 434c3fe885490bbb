import BelfryCore
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
    #expect(evaluation.upkeep == [.rearmed] && evaluation.needsCommit)
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
    #expect(!view(alarm, at: due).isCorrected)
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

  @Test("An occurrence that rang by a clock ahead rings again when it is due")
  func ledger() {
    var ledger = DeliveryLedger()
    let key = DeliveryKey.occurrence(OccurrenceID(alarm: laptop, occurrence: tomorrow), .firing)
    ledger[key] = DeliveryLedger.Entry(
      due: now.adding(seconds: 86_400), at: now.adding(seconds: 86_400))
    #expect(ledger.possible(at: now)[key] == nil)
    #expect(ledger.possible(at: now.adding(seconds: 86_340))[key] != nil)
  }

  @Test("A reopened occurrence overrides any record that was settled less than a day ahead")
  func reopened() throws {
    var wrong = try daily()
    wrong.progress.occurrences[tomorrow] = OccurrenceRecord(
      .missed, since: now.adding(seconds: 40_000))
    let rearmed = try #require(view(wrong, at: now).rearmed(wrong, at: now))
    #expect(rearmed.progress.occurrences[tomorrow] == OccurrenceRecord(.open, revision: 1))
    #expect(Alarm.join(rearmed, wrong).progress == rearmed.progress)
    #expect(view(rearmed, at: now).next(after: now)?.civil == tomorrow)
  }
}
