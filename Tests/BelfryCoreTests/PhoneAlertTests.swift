import TestSupport
import Testing

@testable import BelfryCore

/// The times at which the task of an occurrence sounds on a phone: the rows of the table of `Timeline.phoneAlert`.
@Suite struct PhoneAlertTests {
  private let settings = Settings(tier: .plus)
  private let monday = civil("2026-11-23T09:00")
  private let sunday = instant("2026-11-22T20:00:00Z")
  private let watch = CascadeTarget.device(Identifier("watchaaaaaaaaaaaaaaaaaaaaa")!)

  private func at(_ time: String) -> Instant { instant("2026-11-23T\(time)Z") }

  /// Returns an alarm on Mondays and Fridays at 09:00; with targets, they follow each other every two minutes.
  private func alarm(_ targets: CascadeTarget..., isOn: Bool = true) throws -> Alarm {
    var alarm = try rent()
    if !targets.isEmpty {
      alarm.cascade = Cascade(Cascade.Plan(isOn: isOn, primary: laptop, targets: targets))
    }
    return alarm
  }

  private func alert(
    _ alarm: Alarm, _ occurrence: CivilDateTime? = nil, at now: Instant? = nil
  ) -> Instant? {
    timeline(alarm).phoneAlert(of: occurrence ?? monday, at: now ?? sunday, settings: settings)
  }

  private func answered(
    _ alarm: Alarm, _ answer: Answer, at now: Instant, device: Identifier? = nil
  ) throws -> Alarm {
    var ledger = DeliveryLedger()
    ledger.recordFiring(
      OccurrenceID(alarm: alarm.id, occurrence: monday), due: at("09:00:00"), at: at("09:00:00"))
    return try Timeline(
      alarm, zone: .utc,
      deviceContext: device.map { DeviceContext(device: $0, known: [laptop, watch.device!]) },
      device: device
    ).answer(answer, at: now, settings: settings, ledger: ledger).alarm
  }

  @Test("The task sounds at the due time, also while the occurrence rings")
  func due() throws {
    let alarm = try alarm()
    #expect(alert(alarm) == at("09:00:00"))
    #expect(alert(alarm, at: at("09:10:00")) == at("09:00:00"))
    #expect(alert(alarm, civil("2026-11-27T09:00")) == instant("2026-11-27T09:00:00Z"))
    // A cascade without the step, or one that is off, changes nothing.
    #expect(alert(try self.alarm(watch)) == at("09:00:00"))
    #expect(alert(try self.alarm(watch, .phoneTasks, isOn: false)) == at("09:00:00"))
  }

  @Test("A moved occurrence sounds at its new time, and as a step after it")
  func moved() throws {
    for (targets, delay) in [([], 0), ([watch, .phoneTasks], 240)] as [([CascadeTarget], Int64)] {
      var alarm = try alarm()
      if !targets.isEmpty { alarm.cascade = Cascade(Cascade.Plan(isOn: true, targets: targets)) }
      let moved = try timeline(alarm).moving(
        monday, to: civil("2026-11-24T15:00"), at: sunday, device: laptop, settings: settings,
        ledger: DeliveryLedger()
      ).alarm
      let due = instant("2026-11-24T15:00:00Z")
      #expect(alert(moved) == due.adding(seconds: delay))
    }
  }

  @Test("As a step of the cascade, the task sounds at the turn of that step")
  func step() throws {
    #expect(alert(try alarm(.phoneTasks)) == at("09:02:00"))
    #expect(alert(try alarm(watch, .phoneTasks)) == at("09:04:00"))
    #expect(alert(try alarm(watch, .phoneTasks), at: at("09:10:00")) == at("09:04:00"))
  }

  @Test("The turn does not depend on what a device knows of the others")
  func offlineDevices() throws {
    let alarm = try alarm(watch, .phoneTasks)
    let devices: Set = [laptop, watch.device!]
    for away in [[], devices] as [Set<Identifier>] {
      let timeline = Timeline(
        alarm, zone: .utc,
        deviceContext: DeviceContext(device: laptop, known: devices, unreachable: away))
      #expect(timeline.phoneAlert(of: monday, at: sunday, settings: settings) == at("09:04:00"))
    }
  }

  @Test("A snoozed occurrence sounds at the end of the snooze")
  func snoozed() throws {
    let snoozed = try answered(alarm(), .snooze(seconds: 540), at: at("09:05:00"))
    #expect(alert(snoozed, at: at("09:06:00")) == at("09:14:00"))
    #expect(alert(snoozed, at: at("09:20:00")) == at("09:14:00"))
  }

  @Test("A snoozed occurrence sounds at the turn of its step after the snooze, if it has one")
  func snoozedCascade() throws {
    // Snoozed on the first device, whose step rings again, then the others.
    let first = try answered(
      alarm(watch, .phoneTasks), .snooze(seconds: 540), at: at("09:05:00"), device: laptop)
    #expect(alert(first, at: at("09:06:00")) == at("09:18:00"))
    // Snoozed by a person whose device is unknown: the latest step, which is that of the tasks.
    let latest = try answered(
      alarm(watch, .phoneTasks), .snooze(seconds: 540), at: at("09:05:00"))
    #expect(alert(latest, at: at("09:06:00")) == at("09:14:00"))
    // Snoozed on a later step: the cascade goes on there.
    let later = try answered(
      alarm(.phoneTasks, watch), .snooze(seconds: 540), at: at("09:05:00"),
      device: watch.device)
    #expect(alert(later, at: at("09:06:00")) == nil)
  }

  @Test("A pending occurrence sounds at its next follow-up, until none is left")
  func pending() throws {
    for alarm in [try alarm(), try alarm(.phoneTasks)] {
      var stopped = try answered(alarm, .stop, at: at("09:05:00"))
      #expect(alert(stopped, at: at("09:06:00")) == at("09:35:00"))
      // One that is overdue was not sent anywhere yet.
      #expect(alert(stopped, at: at("09:50:00")) == at("09:35:00"))
      stopped.progress.occurrences[monday]?.followUps = 1
      #expect(alert(stopped, at: at("09:50:00")) == at("10:05:00"))
      stopped.progress.occurrences[monday]?.followUps = 3
      #expect(alert(stopped, at: at("11:00:00")) == nil)
    }
    // The next occurrence completes a pending one.
    var often = try alarm()
    often.schedule = try schedule(.daily(.init(start: date("2026-11-20"))), "09:00")
    often.delivery.followUps = FollowUpPlan([2 * 86_400])
    let stopped = try answered(often, .stop, at: at("09:05:00"))
    #expect(alert(stopped, at: at("09:06:00")) == nil)
  }

  @Test("A reopened occurrence sounds when it was reopened, and as a step after that")
  func reopened() throws {
    for (alarm, expected) in [(try alarm(), "09:30:00"), (try alarm(.phoneTasks), "09:32:00")] {
      var reopened = try answered(alarm, .done(), at: at("09:05:00"))
      let undo = at("09:30:00")
      reopened.progress.occurrences[monday] =
        reopened.progress.occurrences[monday]?.reopened(since: undo)
      #expect(alert(reopened, at: at("09:31:00")) == at(expected))
    }
  }

  @Test("What is answered, missed, skipped or paused does not sound, nor does a disabled alarm")
  func silent() throws {
    for alarm in [try alarm(), try alarm(.phoneTasks)] {
      for answer in [Answer.done(), .skip()] {
        #expect(alert(try answered(alarm, answer, at: at("09:05:00"))) == nil)
      }
      var missed = alarm
      missed.progress.occurrences[monday] = OccurrenceRecord(.missed, since: at("10:00:00"))
      #expect(alert(missed, at: at("11:00:00")) == nil)
      var paused = alarm
      paused.pause = Pause(from: civil("2026-11-23T00:00"), until: civil("2026-11-24T00:00"))
      #expect(alert(paused) == nil)
      #expect(alert(paused, civil("2026-11-27T09:00")) != nil)
      var disabled = alarm
      disabled.enabled = false
      #expect(alert(disabled) == nil)
      // An edit of the schedule at 10:00 arms the alarm again.
      var edited = alarm
      edited.progress.armed = at("10:00:00")
      #expect(alert(edited, at: at("10:01:00")) == nil)
    }
  }

  @Test("Of a partner's alarm in the quiet hours, the task sounds at their end")
  func quietHours() throws {
    let request = Identifier("requestaaaaaaaaaaaaaaaaaaa")!
    let sent = instant("2026-11-22T23:30:00Z")
    var alarm = try PartnerRequest(
      id: request, message: "Look", at: sent, expires: sent.adding(seconds: 600)
    ).alarm(
      id: Identifier("partneralarmaaaaaaaaaaaaaa")!,
      from: PartnerOrigin(
        name: "Chris", partnership: request, request: request, quiet: QuietHours("23:00-06:00")!),
      here: .utc, at: instant("2026-11-22T12:00:00Z"), device: laptop)
    func alert() -> Instant? {
      Timeline(alarm, zone: .utc, local: .utc)
        .phoneAlert(of: civil("2026-11-22T23:30"), at: sunday, settings: settings)
    }
    #expect(alert() == at("06:00:00"))
    alarm.cascade = Cascade(Cascade.Plan(isOn: true, targets: [.phoneTasks]))
    #expect(alert() == at("06:02:00"))
  }

  @Test("The warnings of an open occurrence are those before it that were not due at the last edit")
  func warnings() throws {
    var alarm = try alarm()
    #expect(timeline(alarm).phoneWarnings(of: monday).isEmpty)
    // The alarm was created on Friday at 22:41.
    alarm.delivery.warnings = WarningPlan("7d,2d,1h")
    #expect(
      timeline(alarm).phoneWarnings(of: monday)
        == [instant("2026-11-21T09:00:00Z"), at("08:00:00")])
    let moved = try timeline(alarm).moving(
      monday, to: civil("2026-11-24T15:00"), at: sunday, device: laptop, settings: settings,
      ledger: DeliveryLedger()
    ).alarm
    #expect(
      timeline(moved).phoneWarnings(of: monday).last == instant("2026-11-24T14:00:00Z"))
    #expect(
      timeline(try answered(alarm, .stop, at: at("09:05:00"))).phoneWarnings(of: monday).isEmpty)
    alarm.enabled = false
    #expect(timeline(alarm).phoneWarnings(of: monday).isEmpty)
  }
}
