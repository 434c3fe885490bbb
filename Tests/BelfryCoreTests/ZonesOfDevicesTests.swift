import BelfryCore
import TestSupport
import Testing

/// A floating alarm on devices in different time zones: each rings by its own wall clock, and none settles an
/// occurrence that is not due yet on another device.
@Suite struct ZonesOfDevicesTests {
  private let settings = Settings(tier: .plus)
  private let first = civil("2026-11-23T09:00")
  private let second = civil("2026-11-24T09:00")

  private func daily(persistent: Bool = false, pause: Pause? = nil) throws -> Alarm {
    var alarm = Alarm.created(
      id: Identifier("pillsaaaaaaaaaaaaaaaaaaaaa")!, title: "Pills", note: nil,
      schedule: try schedule(.daily(.init(start: date("2026-11-23"))), "09:00"), zone: .floating,
      delivery: .init(persistent: persistent), at: instant("2026-11-20T12:00:00Z"), device: laptop)
    alarm.pause = pause
    return alarm
  }

  /// UTC+14: 09:00 is 19:00 of the day before in UTC.
  private func ahead(_ alarm: Alarm) throws -> Timeline {
    Timeline(
      alarm, zone: try zone("Pacific/Kiritimati"), otherZones: [try zone("Pacific/Pago_Pago")])
  }

  /// UTC-11: 09:00 is 20:00 in UTC, 25 hours later.
  private func behind(_ alarm: Alarm) throws -> Timeline {
    Timeline(
      alarm, zone: try zone("Pacific/Pago_Pago"), otherZones: [try zone("Pacific/Kiritimati")])
  }

  private let cameAhead = instant("2026-11-22T19:00:00Z")
  private let cameBehind = instant("2026-11-23T20:00:00Z")

  private func rung(
    _ alarm: Alarm, _ occurrence: CivilDateTime, at moment: Instant
  ) -> DeliveryLedger {
    var ledger = DeliveryLedger()
    ledger.recordFiring(
      OccurrenceID(alarm: alarm.id, occurrence: occurrence), due: moment, at: moment)
    return ledger
  }

  @Test("An occurrence is recorded as missed after its ringing has ended in every zone")
  func missedLast() throws {
    let alarm = try daily()
    let ledger = rung(alarm, first, at: cameAhead)
    // Its ringing has ended here without a response: it is shown as missed, and not recorded.
    let ended = cameAhead.adding(seconds: 1800)
    let early = try ahead(alarm).evaluate(at: ended, settings: settings, ledger: ledger)
    #expect(early.transition.events.isEmpty && early.firings.isEmpty)
    let status = try ahead(alarm).status(at: ended, settings: settings, ledger: ledger)
    #expect(status.state == .missed && status.missed == [first])
    #expect(early.nextWake.map { $0 <= cameBehind.adding(seconds: 1800) } == true)
    // The next occurrence is due here before the first is due there.
    let next = instant("2026-11-23T19:00:00Z")
    let superseded = try ahead(alarm).evaluate(at: next, settings: settings, ledger: ledger)
    #expect(superseded.transition.events.isEmpty)
    #expect(superseded.firings.map(\.occurrence) == [second])
    let both = try ahead(alarm).status(at: next, settings: settings, ledger: ledger)
    #expect(both.state == .ringing && both.missed == [first])
    // It is settled after the second is due in every zone.
    let everywhere = instant("2026-11-24T20:00:00Z")
    let late = try ahead(alarm).evaluate(
      at: everywhere, settings: settings, ledger: rung(alarm, second, at: next))
    #expect(late.transition.events.first == Event(.missed, first))
  }

  @Test("An occurrence is recorded as missed at once if all devices are in one zone")
  func missedAtOnce() throws {
    let alarm = try daily()
    let view = Timeline(alarm, zone: try zone("Pacific/Kiritimati"))
    let evaluation = view.evaluate(
      at: cameAhead.adding(seconds: 1800), settings: settings,
      ledger: rung(alarm, first, at: cameAhead))
    #expect(evaluation.transition.events == [Event(.missed, first)])
  }

  @Test("An occurrence that was recorded as missed before it is due here rings here")
  func missedElsewhere() throws {
    var alarm = try daily()
    alarm.progress.occurrences[first] = OccurrenceRecord(
      .missed, since: cameAhead.adding(seconds: 1800), dismissed: true)
    let view = try behind(alarm)
    let before = cameBehind.adding(seconds: -60)
    #expect(view.next(after: before)?.civil == first)
    #expect(view.status(at: before, settings: settings, ledger: DeliveryLedger()).missed.isEmpty)
    let evaluation = view.evaluate(at: cameBehind, settings: settings, ledger: DeliveryLedger())
    #expect(evaluation.firings.map(\.occurrence) == [first])
    // A response here overrides the early record, in any order of the join.
    let stopped = try view.answer(
      .stop, at: cameBehind, settings: settings, ledger: rung(alarm, first, at: cameBehind)
    ).alarm
    let joined = Alarm.join(alarm, stopped)
    #expect(joined == Alarm.join(stopped, alarm))
    #expect(try ahead(joined).record(of: first)?.state == .pending)
  }

  @Test(
    "A response where the occurrence has rung counts where it is not due yet",
    arguments: [true, false])
  func answered(stops: Bool) throws {
    let alarm = try daily()
    let answered = try ahead(alarm).answer(
      stops ? .stop : .done(), at: cameAhead, settings: settings,
      ledger: rung(alarm, first, at: cameAhead)
    ).alarm
    let evaluation = try behind(answered).evaluate(
      at: cameBehind, settings: settings, ledger: DeliveryLedger())
    #expect(evaluation.firings.isEmpty)
    // It has no advance warning there either.
    #expect(try behind(answered).next(after: cameBehind.adding(seconds: -60))?.civil == second)
  }

  @Test("A pending occurrence is done automatically after the next one is due in every zone")
  func pending() throws {
    let alarm = try daily()
    let stopped = try ahead(alarm).answer(
      .stop, at: cameAhead, settings: settings, ledger: rung(alarm, first, at: cameAhead)
    ).alarm
    func events(_ moment: String) throws -> [Event] {
      try ahead(stopped).evaluate(
        at: instant(moment), settings: settings, ledger: DeliveryLedger()
      ).transition.events
    }
    #expect(try events("2026-11-23T19:00:00Z").isEmpty)
    #expect(
      try events("2026-11-24T20:00:00Z").contains(Event(.done, first, auto: true)))
  }

  @Test("A follow-up is sent where the occurrence has rung, and not where it is not due yet")
  func followUps() throws {
    let alarm = try daily()
    let ledger = rung(alarm, first, at: cameAhead)
    let stopped = try ahead(alarm).answer(
      .stop, at: cameAhead, settings: settings, ledger: ledger
    ).alarm
    let later = cameAhead.adding(seconds: 1800)
    let here = try ahead(stopped).evaluate(at: later, settings: settings, ledger: ledger)
    #expect(here.followUps.map(\.occurrence) == [first])
    let there = try behind(stopped).evaluate(
      at: later, settings: settings, ledger: DeliveryLedger())
    #expect(there.followUps.isEmpty)
    #expect(
      try behind(stopped).evaluate(at: cameBehind, settings: settings, ledger: DeliveryLedger())
        .followUps.map(\.occurrence) == [first])
  }

  @Test("A snooze elsewhere neither rings early here nor ends a ringing occurrence here")
  func snoozedElsewhere() throws {
    var alarm = try daily()
    alarm.progress.armed = instant("2026-11-19T12:00:00Z")
    alarm.schedule = try schedule(.daily(.init(start: date("2026-11-22"))), "09:00")
    let snoozed = try ahead(alarm).answer(
      .snooze(seconds: 540), to: first, at: cameAhead, settings: settings,
      ledger: rung(alarm, first, at: cameAhead)
    ).alarm
    // The occurrence of the day before rings here, an hour after the first was due there.
    let yesterday = instant("2026-11-22T20:00:00Z")
    let evaluation = try behind(snoozed).evaluate(
      at: yesterday, settings: settings, ledger: DeliveryLedger())
    #expect(evaluation.firings.map(\.occurrence) == [civil("2026-11-22T09:00")])
    #expect(evaluation.transition.events.isEmpty)
    // The snoozed occurrence rings here at its own time.
    let own = try behind(snoozed).evaluate(
      at: cameBehind, settings: settings,
      ledger: rung(snoozed, civil("2026-11-22T09:00"), at: yesterday))
    #expect(own.firings.map(\.occurrence) == [first] && own.firings.first?.due == cameBehind)
  }

  @Test("A device that travels west in a snooze rings at the end of the snooze")
  func snoozedAndTraveled() throws {
    let alarm = try daily()
    let ledger = rung(alarm, first, at: cameAhead)
    let snoozed = try ahead(alarm).answer(
      .snooze(seconds: 3600), at: cameAhead, settings: settings, ledger: ledger
    ).alarm
    let end = cameAhead.adding(seconds: 3600)
    let evaluation = try behind(snoozed).evaluate(at: end, settings: settings, ledger: ledger)
    #expect(evaluation.firings.map(\.due) == [end])
  }

  @Test("An occurrence in a pause is skipped after it is due in every zone")
  func paused() throws {
    let pause = Pause(from: civil("2026-11-22T12:00"), until: civil("2026-11-23T12:00"))
    let alarm = try daily(pause: pause)
    let early = try ahead(alarm).evaluate(
      at: cameAhead, settings: settings, ledger: DeliveryLedger())
    #expect(early.transition.events.isEmpty && early.firings.isEmpty)
    #expect(early.nextWake.map { $0 <= cameBehind } == true)
    let late = try ahead(alarm).evaluate(
      at: cameBehind, settings: settings, ledger: DeliveryLedger())
    #expect(late.transition.events.map(\.action) == [.skipped])
    // The pause ends early after the occurrence was due in one zone: it is skipped there, and rings where it was not due.
    let ended = try ahead(alarm).paused(
      nil, at: cameAhead.adding(seconds: 60), settings: settings, ledger: DeliveryLedger()
    ).alarm
    #expect(
      try ahead(ended).evaluate(
        at: cameAhead.adding(seconds: 120), settings: settings, ledger: DeliveryLedger()
      ).firings.isEmpty)
    #expect(
      try behind(ended).evaluate(at: cameBehind, settings: settings, ledger: DeliveryLedger())
        .firings.map(\.occurrence) == [first])
  }

  @Test("A persistent alarm that rings in the last zone is not ended by another device")
  func persistent() throws {
    let alarm = try daily(persistent: true)
    let now = cameBehind.adding(seconds: 7200)
    let elsewhere = try ahead(alarm).evaluate(
      at: now, settings: settings, ledger: rung(alarm, second, at: now)
    ).transition.alarm
    let here = try behind(elsewhere).status(
      at: now, settings: settings, ledger: rung(alarm, first, at: cameBehind))
    #expect(here.state == .ringing && here.current == first)
  }

  /// Returns an alarm with a miss, recorded at a time by a device in Kiritimati that knew of no other zone.
  private func missed(_ alarm: Alarm, at time: Instant) throws -> Alarm {
    let alone = Timeline(
      alarm, zone: try zone("Pacific/Kiritimati"), at: time, settings: StampedSettings(settings))
    let evaluation = alone.evaluate(at: time, settings: settings, ledger: DeliveryLedger())
    try #require(evaluation.transition.events.contains(Event(.missed, first)))
    return evaluation.transition.alarm
  }

  private func behind(
    _ alarm: Alarm, at now: Instant, _ settings: Settings? = nil, stamps: [Setting: Stamp] = [:]
  ) throws -> Timeline {
    Timeline(
      alarm, zone: try zone("Pacific/Pago_Pago"), at: now,
      settings: StampedSettings(settings ?? self.settings, stamps: stamps))
  }

  @Test(
    "An occurrence that another device has recorded as missed just after it is due here rings here",
    arguments: [true, false])
  func missedTooEarly(isPersistent: Bool) throws {
    let alarm = try missed(daily(persistent: isPersistent), at: cameBehind.adding(seconds: 299))
    let now = cameBehind.adding(seconds: 300)
    let ledger = rung(alarm, first, at: cameBehind)
    let view = try behind(alarm, at: now)
    // It goes on ringing here; and it begins to ring on a device that arrives here.
    #expect(view.status(at: now, settings: settings, ledger: ledger).state == .ringing)
    let arrived = view.evaluate(at: now, settings: settings, ledger: DeliveryLedger())
    #expect(arrived.firings.map(\.occurrence) == [first])
    // This device's own miss counts.
    let end = cameBehind.adding(seconds: isPersistent ? 24 * 3600 : 1800)
    let ended = try behind(alarm, at: end).evaluate(at: end, settings: settings, ledger: ledger)
    #expect(ended.transition.events.first == Event(.missed, first))
    let later = end.adding(seconds: 60)
    #expect(
      try behind(ended.transition.alarm, at: later).record(of: first)?.state == .missed)
  }

  @Test("A miss counts here that another device has recorded when this device would have done so")
  func missedInTime() throws {
    for (isPersistent, length) in [(true, settings.grace), (false, settings.ringTimeout)] {
      let end = cameBehind.adding(seconds: length)
      let alarm = try missed(daily(persistent: isPersistent), at: end)
      #expect(try behind(alarm, at: end).record(of: first)?.state == .missed)
    }
  }

  @Test("A change of a definition or a setting after a miss elsewhere does not let it ring again")
  func changedAfterAMiss() throws {
    let end = cameBehind.adding(seconds: settings.ringTimeout)
    let now = end.adding(seconds: 60)
    let alarm = try missed(daily(), at: end)
    var persistent = alarm
    persistent.delivery.persistent = true
    persistent = persistent.stamped(against: alarm, at: now, device: laptop)
    #expect(try behind(persistent, at: now).record(of: first)?.state == .missed)
    let stamps = [Setting.ringTimeout: Stamp(time: now, device: laptop)]
    let longer = Settings(tier: .plus, ringTimeout: 7200)
    #expect(try behind(alarm, at: now, longer, stamps: stamps).record(of: first)?.state == .missed)
  }
}

/// Cascades across time zones: all devices use the zone of the first device.
@Suite struct CascadeZoneTests {
  private let settings = Settings(tier: .plus)
  private let now = instant("2026-11-22T20:00:00Z")

  private func cascadeRun(zone: String?) throws -> Alarm {
    var alarm = try rent()
    alarm.cascade = Cascade(Cascade.Plan(isOn: true, primary: laptop, targets: [.device(server)]))
    alarm.cascadeZone = zone
    return alarm
  }

  private func evaluation(
    _ alarm: Alarm, on device: Identifier, in zone: String?
  ) -> Evaluation {
    Timeline(
      alarm, zone: .utc,
      deviceContext: DeviceContext(device: device, known: [laptop, server], zoneName: zone)
    ).evaluate(at: now, settings: settings, ledger: DeliveryLedger())
  }

  @Test(
    "The first device records its zone, and again after it has traveled",
    arguments: [
      nil, "America/New_York",
    ])
  func recorded(before: String?) throws {
    let evaluation = evaluation(
      try cascadeRun(zone: before), on: laptop, in: "America/Los_Angeles")
    #expect(evaluation.needsCommit && evaluation.transition.events.isEmpty)
    #expect(evaluation.corrections == [.cascadeZone("America/Los_Angeles")])
    let alarm = evaluation.transition.alarm
    #expect(alarm.cascadeZone == "America/Los_Angeles")
    #expect(alarm.mergeState.stamps[.cascadeZone]?.device == laptop)
    // After it is recorded, nothing is left to do.
    #expect(
      !self.evaluation(alarm, on: laptop, in: "America/Los_Angeles").needsCommit)
  }

  @Test("No other device records its zone, nor does the first device of an alarm with its own zone")
  func notRecorded() throws {
    #expect(
      !evaluation(try cascadeRun(zone: "America/Los_Angeles"), on: server, in: "UTC").needsCommit)
    var named = try cascadeRun(zone: nil)
    named.zone = .named("Europe/Berlin")
    #expect(!evaluation(named, on: laptop, in: "UTC").needsCommit)
    var off = try cascadeRun(zone: nil)
    off.cascade?.plan.isOn = false
    #expect(!evaluation(off, on: laptop, in: "UTC").needsCommit)
  }

  @Test("The zone applies to ringing occurrences when the cascade is switched off, and no longer")
  func aftermath() throws {
    let before = try cascadeRun(zone: "America/Los_Angeles")
    #expect(before.cascadeZone(at: now) == "America/Los_Angeles")
    var off = before
    off.cascade?.plan.isOn = false
    off = off.stamped(against: before, at: now, device: server)
    #expect(off.cascadeZone(at: now.adding(seconds: 3600)) == "America/Los_Angeles")
    #expect(off.cascadeZone(at: now.adding(seconds: 90_000)) == nil)
  }

  @Test("Recording a zone does not restore a deleted alarm")
  func deleted() throws {
    let alarm = try cascadeRun(zone: nil)
    let recorded = evaluation(alarm, on: laptop, in: "Europe/Berlin").transition.alarm
    #expect(Alarm.join(alarm.deleted(), recorded).isDeleted)
  }

  @Test("A pause that begins while a cascade rings silences all its devices")
  func pausedWhileRinging() throws {
    let alarm = try cascadeRun(zone: "UTC")
    let due = instant("2026-11-23T09:00:00Z")
    let at = due.adding(seconds: 60)
    func view(_ alarm: Alarm, _ device: Identifier) -> Timeline {
      Timeline(
        alarm, zone: .utc, deviceContext: DeviceContext(device: device, known: [laptop, server]))
    }
    var ledger = DeliveryLedger()
    ledger.recordFiring(
      OccurrenceID(alarm: alarm.id, occurrence: civil("2026-11-23T09:00")), due: due, at: due)
    let pause = Pause(from: civil("2026-11-23T09:01"), until: civil("2026-11-30T00:00"))
    let transition = view(alarm, laptop).paused(
      pause, at: at, settings: settings, ledger: ledger)
    #expect(transition.events.map(\.action) == [.skipped, .paused])
    for (device, notes) in [(laptop, ledger), (server, DeliveryLedger())] {
      for seconds: Int64 in [60, 120, 240, 1800] {
        let moment = due.adding(seconds: seconds)
        let evaluation = view(transition.alarm, device).evaluate(
          at: moment, settings: settings, ledger: notes)
        #expect(evaluation.firings.isEmpty && evaluation.callouts.isEmpty)
        let status = view(transition.alarm, device).status(
          at: moment, settings: settings, ledger: notes)
        #expect(status.state == .paused)
      }
    }
  }

  @Test("A pause ends a cascade that is snoozed, and one whose steps have not begun")
  func pausedInASnooze() throws {
    let alarm = try cascadeRun(zone: "UTC")
    let due = instant("2026-11-23T09:00:00Z")
    func view(_ alarm: Alarm, _ device: Identifier) -> Timeline {
      Timeline(
        alarm, zone: .utc, deviceContext: DeviceContext(device: device, known: [laptop, server]))
    }
    let snoozed = try view(alarm, laptop).answer(
      .snooze(seconds: 540), at: due, settings: settings, ledger: DeliveryLedger()
    ).alarm
    let pause = Pause(from: civil("2026-11-23T09:01"), until: civil("2026-11-30T00:00"))
    let paused = view(snoozed, server).paused(
      pause, at: due.adding(seconds: 60), settings: settings, ledger: DeliveryLedger()
    ).alarm
    for device in [laptop, server] {
      let evaluation = view(paused, device).evaluate(
        at: due.adding(seconds: 900), settings: settings, ledger: DeliveryLedger())
      #expect(evaluation.firings.isEmpty)
    }
  }
}
