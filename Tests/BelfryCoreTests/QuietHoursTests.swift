import BelfryCore
import TestSupport
import Testing

private let request = Identifier("requestaaaaaaaaaaaaaaaaaaa")!

/// Ringing of a partner's alarms in quiet hours.
@Suite struct QuietRingingTests {
  private let settings = Settings(tier: .premium)
  private let hours = QuietHours("23:00-06:00")!

  /// Returns an alarm that a partner sent at noon for a time of that day, in UTC.
  private func alarm(_ time: String, quiet: QuietHours?) throws -> Alarm {
    let at = instant("2026-11-22T\(time):00Z")
    return try PartnerRequest(
      id: request, message: "Look", at: at, expires: at.adding(seconds: 600)
    ).alarm(
      id: Identifier("partneralarmaaaaaaaaaaaaaa")!,
      from: PartnerOrigin(name: "Chris", partnership: request, request: request, quiet: quiet),
      here: .utc, at: instant("2026-11-22T12:00:00Z"), device: laptop)
  }

  private func rings(_ alarm: Alarm, _ time: String, local: TimeZoneRules = .utc) -> Bool {
    let now = instant(time)
    return !Timeline(alarm, zone: .utc, at: now, local: local)
      .evaluate(at: now, settings: settings, ledger: DeliveryLedger()).firings.isEmpty
  }

  @Test("An alarm that is due in the quiet hours rings when they end")
  func dueInQuietHours() throws {
    let alarm = try alarm("23:30", quiet: hours)
    #expect(!rings(alarm, "2026-11-22T23:30:00Z") && !rings(alarm, "2026-11-23T05:59:59Z"))
    let now = instant("2026-11-23T03:00:00Z")
    let timeline = Timeline(alarm, zone: .utc, at: now, local: .utc)
    let evaluation = timeline.evaluate(at: now, settings: settings, ledger: DeliveryLedger())
    #expect(evaluation.nextWake == instant("2026-11-23T06:00:00Z"))
    #expect(evaluation.transition.events.isEmpty)
    let status = timeline.status(at: now, settings: settings, ledger: DeliveryLedger())
    #expect(status.state == .snoozed && status.snooze?.count == 0)
    #expect(status.nextRinging?.at == instant("2026-11-23T06:00:00Z"))
    let end = instant("2026-11-23T06:00:00Z")
    let firing = try #require(
      Timeline(alarm, zone: .utc, at: end, local: .utc)
        .evaluate(at: end, settings: settings, ledger: DeliveryLedger()).firings.first)
    #expect(firing.due == end && firing.late)
  }

  @Test("An alarm that rang before the quiet hours rings in them, but a device that was off waits")
  func dueBeforeQuietHours() throws {
    let alarm = try alarm("22:55", quiet: hours)
    #expect(rings(alarm, "2026-11-22T22:59:00Z"))
    #expect(!rings(alarm, "2026-11-22T23:10:00Z") && !rings(alarm, "2026-11-23T05:59:00Z"))
    #expect(rings(alarm, "2026-11-23T06:00:00Z"))
    // A cache must not keep a state that depends on the deliveries of this device.
    let held = instant("2026-11-22T23:10:00Z")
    let waits = Timeline(alarm, zone: .utc, at: held, local: .utc)
      .status(at: held, settings: settings, ledger: DeliveryLedger())
    #expect(waits.state == .snoozed && waits.validUntil == held)
    // The grace period counts from their end.
    let short = Settings(tier: .premium, grace: 3600)
    let wake = instant("2026-11-23T06:30:00Z")
    let late = Timeline(alarm, zone: .utc, at: wake, local: .utc)
      .evaluate(at: wake, settings: short, ledger: DeliveryLedger())
    #expect(late.firings.count == 1)
    // After a restart, the earlier delivery is due again.
    let (due, now) = (instant("2026-11-22T22:55:00Z"), instant("2026-11-22T23:10:00Z"))
    var ledger = DeliveryLedger()
    ledger.recordFiring(
      OccurrenceID(alarm: alarm.id, occurrence: civil("2026-11-22T22:55")), due: due, at: due)
    let status = Timeline(alarm, zone: .utc, at: now, local: .utc)
      .status(at: now, settings: settings, ledger: ledger)
    #expect(status.state == .ringing && status.snooze == nil)
  }

  @Test(
    "The grace period counts from the end of the quiet hours, or from the time they were changed")
  func grace() throws {
    // Fourteen quiet hours are longer than the grace period of twelve hours.
    let long = QuietHours("16:00-06:00")!
    let alarm = try alarm("17:00", quiet: long)
    #expect(!rings(alarm, "2026-11-23T05:59:00Z"))
    #expect(rings(alarm, "2026-11-23T06:00:00Z") && rings(alarm, "2026-11-23T17:59:00Z"))
    #expect(!rings(alarm, "2026-11-23T18:00:01Z"))
    var released = alarm
    released.partner?.quiet = nil
    #expect(!rings(released, "2026-11-23T05:30:00Z"))
    released.mergeState.stamps[.partner] = Stamp.next(
      after: alarm.latestStamp, now: instant("2026-11-23T05:30:00Z"), device: laptop)
    #expect(rings(released, "2026-11-23T05:30:00Z"))
  }

  @Test("A persistent alarm that waited once rings through the next quiet hours")
  func nextQuietHours() throws {
    let at = instant("2026-11-22T23:30:00Z")
    let alarm = try PartnerRequest(
      id: request, message: "Look", at: at, persistent: true, expires: at.adding(seconds: 600)
    ).alarm(
      id: Identifier("partneralarmaaaaaaaaaaaaaa")!,
      from: PartnerOrigin(name: "Chris", partnership: request, request: request, quiet: hours),
      here: .utc, at: instant("2026-11-22T12:00:00Z"), device: laptop)
    let (end, now) = (instant("2026-11-23T06:00:00Z"), instant("2026-11-23T23:30:00Z"))
    var ledger = DeliveryLedger()
    ledger.recordFiring(
      OccurrenceID(alarm: alarm.id, occurrence: civil("2026-11-22T23:30")), due: end, at: end)
    let status = Timeline(alarm, zone: .utc, at: now, local: .utc)
      .status(at: now, settings: settings, ledger: ledger)
    #expect(status.state == .ringing)
  }

  @Test("New quiet hours do not silence an alarm that rings")
  func newQuietHours() throws {
    let alarm = try alarm("13:30", quiet: QuietHours("13:00-14:00"))
    let (due, now) = (instant("2026-11-22T13:30:00Z"), instant("2026-11-22T13:40:00Z"))
    var ledger = DeliveryLedger()
    ledger.recordFiring(
      OccurrenceID(alarm: alarm.id, occurrence: civil("2026-11-22T13:30")), due: due, at: due)
    let status = Timeline(alarm, zone: .utc, at: now, local: .utc)
      .status(at: now, settings: settings, ledger: ledger)
    #expect(status.state == .ringing)
  }

  @Test("Quiet hours and time zone of the ringing time apply, also if they changed later")
  func laterLimits() throws {
    #expect(rings(try alarm("13:30", quiet: nil), "2026-11-22T13:30:00Z"))
    let quiet = QuietHours("13:00-14:00")
    #expect(!rings(try alarm("13:30", quiet: quiet), "2026-11-22T13:30:00Z"))
    // 22:30 in UTC is 23:30 in Berlin.
    let berlin = try zone("Europe/Berlin")
    let alarm = try alarm("22:30", quiet: hours)
    #expect(rings(alarm, "2026-11-22T22:30:00Z"))
    #expect(!rings(alarm, "2026-11-22T22:30:00Z", local: berlin))
  }

  @Test("A response or edit of the receiver rings in quiet hours")
  func theReceiversOwn() throws {
    let alarm = try alarm("22:55", quiet: hours)
    var ledger = DeliveryLedger()
    let due = instant("2026-11-22T22:55:00Z")
    ledger.recordFiring(
      OccurrenceID(alarm: alarm.id, occurrence: civil("2026-11-22T22:55")), due: due, at: due)
    let view = Timeline(alarm, zone: .utc, local: .utc)
    let snoozed = try view.answer(
      .snooze(seconds: 600), at: due.adding(seconds: 10), settings: settings, ledger: ledger)
    #expect(rings(snoozed.alarm, "2026-11-22T23:05:10Z"))
    var edited = alarm
    edited.schedule = try Schedule(.once(date("2026-11-22")), times: [CivilTime("23:30")!])
    edited = edited.stamped(against: alarm, at: due.adding(seconds: -600), device: laptop)
    #expect(rings(edited, "2026-11-22T23:30:00Z"))
  }

  /// Returns an alarm that calls a number after two minutes, as this device sees it at a time.
  private func cascade(_ due: String, at now: Instant) throws -> Timeline {
    var alarm = try alarm(due, quiet: hours)
    let number = try PhoneNumber("5551234567")
    alarm.cascade = Cascade(
      Cascade.Plan(
        isOn: true, interval: 120, primary: laptop, targets: [.phone(number, message: nil)]))
    return Timeline(
      alarm, zone: .utc, at: now,
      deviceContext: DeviceContext(device: server, known: [laptop, server]), local: .utc)
  }

  @Test("A cascade that began before the quiet hours goes on in them")
  func cascadeGoesOn() throws {
    let now = instant("2026-11-22T23:01:00Z")
    let timeline = try cascade("22:59", at: now)
    let evaluation = timeline.evaluate(at: now, settings: settings, ledger: DeliveryLedger())
    #expect(evaluation.callouts.count == 1)
    let status = timeline.status(at: now, settings: settings, ledger: DeliveryLedger())
    #expect(status.state == .ringing)
  }

  @Test("The cascade of an alarm that is due in the quiet hours begins when they end")
  func cascadeWaits() throws {
    func callouts(_ time: String) throws -> Int {
      let now = instant(time)
      return try cascade("23:30", at: now)
        .evaluate(at: now, settings: settings, ledger: DeliveryLedger()).callouts.count
    }
    #expect(try callouts("2026-11-22T23:40:00Z") == 0)
    #expect(try callouts("2026-11-23T06:01:00Z") == 0)
    #expect(try callouts("2026-11-23T06:02:00Z") == 1)
    let now = instant("2026-11-23T03:00:00Z")
    let timeline = try cascade("23:30", at: now)
    #expect(
      timeline.status(at: now, settings: settings, ledger: DeliveryLedger()).state == .snoozed)
    let run = try #require(
      timeline.cascadeRun(of: civil("2026-11-22T23:30"), ledger: DeliveryLedger()))
    #expect(run.due == instant("2026-11-23T06:00:00Z"))
  }

  @Test("A snooze after the quiet hours does not move the cascade back before them")
  func snoozedCascade() throws {
    let end = instant("2026-11-23T06:00:00Z")
    let now = end.adding(seconds: 60)
    let snoozed = try cascade("23:30", at: now).answer(
      .snooze(seconds: 600), at: now, settings: settings, ledger: DeliveryLedger()
    ).alarm
    let timeline = Timeline(
      snoozed, zone: .utc, at: now,
      deviceContext: DeviceContext(device: server, known: [laptop, server]), local: .utc)
    let run = try #require(
      timeline.cascadeRun(of: civil("2026-11-22T23:30"), ledger: DeliveryLedger()))
    #expect(run.due == end)
    #expect(run.next(of: 1, after: now)?.at == end.adding(seconds: 60 + 600 + 120))
  }

  @Test("An alarm of the user's own ignores quiet hours")
  func ownAlarms() throws {
    var own = try alarm("23:30", quiet: hours)
    own.partner = nil
    #expect(rings(own, "2026-11-22T23:30:00Z"))
  }
}
