import BelfryCore
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

  @Test("A late alarm waits until the end of the quiet hours, then rings")
  func late() throws {
    let alarm = try alarm("22:59", quiet: hours)
    #expect(rings(alarm, "2026-11-22T22:59:00Z"))
    // A scheduler that is some seconds late does not silence the alarm.
    #expect(rings(alarm, "2026-11-22T22:59:59Z") && rings(alarm, "2026-11-22T23:00:00Z"))
    #expect(!rings(alarm, "2026-11-22T23:00:01Z") && !rings(alarm, "2026-11-23T03:00:00Z"))
    let now = instant("2026-11-23T03:00:00Z")
    let timeline = Timeline(alarm, zone: .utc, at: now, local: .utc)
    let evaluation = timeline.evaluate(at: now, settings: settings, ledger: DeliveryLedger())
    #expect(evaluation.nextWake == instant("2026-11-23T06:00:00Z"))
    #expect(evaluation.transition.events.isEmpty)
    let status = timeline.status(at: now, settings: settings, ledger: DeliveryLedger())
    #expect(status.state == .snoozed && status.snooze?.count == 0)
    #expect(status.nextRinging?.at == instant("2026-11-23T06:00:00Z"))
    #expect(rings(alarm, "2026-11-23T06:00:00Z"))
    #expect(!rings(try self.alarm("17:30", quiet: hours), "2026-11-23T06:00:00Z"))
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

  @Test("A late alarm causes no call in quiet hours")
  func calls() throws {
    var alarm = try alarm("22:50", quiet: hours)
    let number = try PhoneNumber("5551234567")
    alarm.cascade = Cascade(
      Cascade.Plan(
        isOn: true, interval: 120, primary: laptop, targets: [.phone(number, message: nil)]))
    func callouts(_ time: String) -> Int {
      let now = instant(time)
      return Timeline(
        alarm, zone: .utc, at: now,
        deviceContext: DeviceContext(device: server, known: [laptop, server]),
        local: .utc
      ).evaluate(at: now, settings: settings, ledger: DeliveryLedger()).callouts.count
    }
    #expect(callouts("2026-11-22T22:52:00Z") == 1)
    #expect(callouts("2026-11-22T23:30:00Z") == 0)
  }

  @Test("An alarm of the user's own ignores quiet hours")
  func ownAlarms() throws {
    var own = try alarm("23:30", quiet: hours)
    own.partner = nil
    #expect(rings(own, "2026-11-22T23:30:00Z"))
  }
}
