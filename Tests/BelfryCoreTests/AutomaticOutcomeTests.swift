import TestSupport
import Testing

@testable import BelfryCore

/// Outcomes that the clock of one device decided, while another device had edited the alarm or a person had answered.
@Suite struct AutomaticOutcomeTests {
  private let settings = Settings(tier: .plus)
  private let due = instant("2026-11-23T09:00:00Z")
  private let today = civil("2026-11-23T09:00")

  private func daily(_ change: (inout Alarm) -> Void = { _ in }) throws -> Alarm {
    var alarm = Alarm.created(
      id: Identifier("pillsaaaaaaaaaaaaaaaaaaaaa")!, title: "Pills", note: nil,
      schedule: try schedule(.daily(.init(start: date("2026-11-20"))), "09:00"), zone: .floating,
      delivery: .init(), at: instant("2026-11-22T12:00:00Z"), device: laptop)
    change(&alarm)
    return alarm
  }

  private func view(
    _ alarm: Alarm, at now: Instant, stamps: [Setting: Stamp]? = [:], on device: Identifier = laptop
  ) -> Timeline {
    Timeline(
      alarm, zone: .utc, at: now, settings: stamps.map { StampedSettings(settings, stamps: $0) },
      device: device)
  }

  private func edited(
    _ alarm: Alarm, at time: Instant, by device: Identifier, _ change: (inout Alarm) -> Void
  ) -> Alarm {
    var result = alarm
    change(&result)
    return result.stamped(against: alarm, at: time, device: device)
  }

  private func ticked(
    _ alarm: Alarm, at now: Instant, _ ledger: DeliveryLedger = DeliveryLedger(),
    settings: Settings? = nil, stamps: [Setting: Stamp]? = [:]
  ) -> Alarm {
    view(alarm, at: now, stamps: stamps).evaluate(
      at: now, settings: settings ?? self.settings, ledger: ledger
    ).transition.alarm
  }

  private func rung(at time: Instant? = nil) -> DeliveryLedger {
    var ledger = DeliveryLedger()
    ledger.recordFiring(
      OccurrenceID(alarm: Identifier("pillsaaaaaaaaaaaaaaaaaaaaa")!, occurrence: today), due: due,
      at: time ?? due)
    return ledger
  }

  private func joined(_ a: Alarm, _ b: Alarm) -> Alarm {
    let result = Alarm.join(a, b)
    #expect(result == Alarm.join(b, a))
    return result
  }

  private var pause: Pause {
    Pause(from: civil("2026-11-23T08:00"), until: civil("2026-11-26T00:00"))
  }

  // MARK: Skipped in a pause

  @Test("A skip in a pause that had ended elsewhere does not count")
  func resumed() throws {
    let paused = try daily { $0.pause = pause }
    let skipped = ticked(paused, at: due)
    #expect(view(skipped, at: due).record(of: today)?.state == .skipped)
    let resumed = edited(paused, at: due.adding(seconds: -1800), by: server) { $0.pause = nil }
    let both = joined(skipped, resumed)
    let now = due.adding(seconds: 120)
    #expect(view(both, at: now).record(of: today) == nil)
    let evaluation = view(both, at: now).evaluate(
      at: now, settings: settings, ledger: DeliveryLedger())
    #expect(evaluation.firings.map(\.occurrence) == [today])
    #expect(
      view(both, at: now).status(at: now, settings: settings, ledger: rung()).state == .ringing)
  }

  @Test(
    "An answer counts, although another device has skipped the occurrence in a pause",
    arguments: [Answer.stop, .snooze(seconds: 540), .done(), .skip()])
  func answered(_ answer: Answer) throws {
    let paused = try daily { $0.pause = pause }
    let resumed = edited(paused, at: due.adding(seconds: -1800), by: server) { $0.pause = nil }
    let answered = try view(resumed, at: due.adding(seconds: 60), on: server).answer(
      answer, at: due.adding(seconds: 60), settings: settings, ledger: rung()
    ).alarm
    let both = joined(ticked(paused, at: due), answered)
    let known = view(answered, at: due.adding(seconds: 90)).record(of: today)
    #expect(view(both, at: due.adding(seconds: 90)).record(of: today) == known)
    #expect(known?.auto == false)
  }

  @Test("A skip counts if the person who resumed the alarm had seen it")
  func seenSkip() throws {
    let skipped = ticked(try daily { $0.pause = pause }, at: due)
    let now = due.adding(seconds: 600)
    let resumed = view(skipped, at: now).paused(
      nil, at: now, settings: settings, ledger: DeliveryLedger()
    ).alarm.stamped(against: skipped, at: now, device: server)
    #expect(view(resumed, at: now).record(of: today)?.state == .skipped)
    #expect(view(joined(skipped, resumed), at: now).record(of: today)?.state == .skipped)
  }

  // MARK: Missed

  @Test("A miss of an alarm that another device had made persistent does not count")
  func persistent() throws {
    let alarm = try daily()
    let missed = ticked(alarm, at: due.adding(seconds: 3600), rung())
    #expect(view(missed, at: due.adding(seconds: 3600)).record(of: today)?.state == .missed)
    let persistent = edited(alarm, at: due.adding(seconds: -1800), by: server) {
      $0.delivery.persistent = true
    }
    let both = joined(missed, persistent)
    let now = due.adding(seconds: 3700)
    #expect(view(both, at: now).record(of: today) == nil)
    // The device that had stopped rings again; one that still rings goes on.
    let again = view(both, at: now).evaluate(at: now, settings: settings, ledger: rung())
    #expect(again.firings.map(\.due) == [due.adding(seconds: 3600)])
    var ringing = rung()
    let key = DeliveryKey.occurrence(OccurrenceID(alarm: both.id, occurrence: today), .firing)
    ringing[key]?.owner = "daemon"
    let goesOn = view(both, at: now).evaluate(at: now, settings: settings, ledger: ringing)
    #expect(goesOn.firings.isEmpty)
    #expect(
      view(both, at: now).status(at: now, settings: settings, ledger: ringing).state == .ringing)
  }

  @Test("A miss after a ring timeout that another device had extended does not count")
  func timeout() throws {
    let alarm = try daily()
    let missed = ticked(alarm, at: due.adding(seconds: 3600), rung())
    let now = due.adding(seconds: 3700)
    let earlier = [Setting.ringTimeout: Stamp(time: due.adding(seconds: -1800), device: server)]
    #expect(view(missed, at: now, stamps: earlier).record(of: today) == nil)
    // An edit after the miss changes nothing about it.
    let later = [Setting.ringTimeout: Stamp(time: due.adding(seconds: 3650), device: server)]
    #expect(view(missed, at: now, stamps: later).record(of: today)?.state == .missed)
    // Other settings do not lead to a miss.
    let other = [Setting.snooze: Stamp(time: due.adding(seconds: -1800), device: server)]
    #expect(view(missed, at: now, stamps: other).record(of: today)?.state == .missed)
  }

  @Test("An edit after a miss does not let the occurrence ring again, on any device")
  func laterEdits() throws {
    let missed = ticked(try daily(), at: due.adding(seconds: 3600), rung())
    let one = edited(missed, at: due.adding(seconds: 4000), by: laptop) {
      $0.delivery.persistent = true
    }
    let two = edited(missed, at: due.adding(seconds: 4000), by: server) {
      $0.cascade = Cascade(Cascade.Plan(isOn: true))
    }
    for alarm in [one, two, joined(one, two)] {
      let now = due.adding(seconds: 4100)
      #expect(view(alarm, at: now).record(of: today)?.state == .missed)
    }
  }

  // MARK: Completed by the next occurrence

  @Test("A completion by the next occurrence does not count if the alarm had become strict")
  func strict() throws {
    let tomorrow = due.adding(seconds: 86_400)
    let stopped = try view(daily(), at: due).answer(
      .stop, at: due, settings: settings, ledger: rung()
    ).alarm
    let completed = ticked(stopped, at: tomorrow)
    #expect(view(completed, at: tomorrow).record(of: today)?.auto == true)
    // The completion wins over the stop that it followed.
    #expect(joined(stopped, completed) == completed)
    let strict = edited(stopped, at: due.adding(seconds: 600), by: server) {
      $0.delivery.strict = true
    }
    let both = joined(completed, strict)
    #expect(view(both, at: tomorrow).record(of: today)?.state == .pending)
    #expect(view(both, at: tomorrow).occurrences(in: .pending) == [today])
  }

  @Test("A completion on the free tier does not count if the tier had changed")
  func tier() throws {
    let stopped = try view(daily(), at: due).answer(
      .stop, at: due, settings: settings, ledger: rung()
    ).alarm
    let now = due.adding(seconds: 600)
    let completed = ticked(stopped, at: now, rung(), settings: Settings())
    #expect(view(completed, at: now).record(of: today)?.state == .done)
    let stamps = [Setting.tier: Stamp(time: due.adding(seconds: 60), device: server)]
    #expect(view(completed, at: now, stamps: stamps).record(of: today)?.state == .pending)
  }

  @Test("A miss that ended a snooze does not end a later snooze of another device")
  func laterSnooze() throws {
    let snoozed = try view(daily(), at: due).answer(
      .snooze(seconds: 540), at: due, settings: settings, ledger: rung()
    ).alarm
    let tomorrow = due.adding(seconds: 86_400)
    let missed = ticked(snoozed, at: tomorrow)
    #expect(view(missed, at: tomorrow).record(of: today)?.state == .missed)
    #expect(joined(snoozed, missed) == missed)
    let again = try view(snoozed, at: due.adding(seconds: 600), on: server).answer(
      .snooze(seconds: 90_000), at: due.adding(seconds: 600), settings: settings, ledger: rung()
    ).alarm
    #expect(view(joined(missed, again), at: tomorrow).record(of: today)?.state == .snoozed)
  }

  // MARK: Earlier versions

  @Test("An outcome without a basis counts, but not above an answer")
  func earlierVersion() throws {
    var alarm = try daily()
    alarm.progress.occurrences[today] = OccurrenceRecord(.skipped, since: due, auto: true)
    #expect(view(alarm, at: due).record(of: today)?.state == .skipped)
    let answered = try view(daily(), at: due, on: server).answer(
      .snooze(seconds: 540), at: due, settings: settings, ledger: rung()
    ).alarm
    #expect(view(joined(alarm, answered), at: due).record(of: today)?.state == .snoozed)
  }

  // MARK: Undo

  @Test("An undo takes back its own answer only", arguments: [-30, 30] as [Int64])
  func undone(offset: Int64) throws {
    let alarm = try daily()
    let at = due.adding(seconds: 60)
    let mine = try view(alarm, at: at, on: laptop).answer(
      .done(), at: at, settings: settings, ledger: rung()
    ).alarm
    let undone = try view(mine, at: at.adding(seconds: 20), on: laptop).undoing(
      mine, before: alarm, acted: at, at: at.adding(seconds: 20), device: laptop)
    let now = due.adding(seconds: 300)
    #expect(view(undone, at: now).record(of: today) == nil)
    #expect(joined(undone, mine) == undone)
    let other = at.adding(seconds: offset)
    for answer in [Answer.done(), .skip(), .stop, .snooze(seconds: 9000)] {
      let theirs = try view(alarm, at: other, on: server).answer(
        answer, at: other, settings: settings, ledger: rung()
      ).alarm
      let state = view(theirs, at: now).record(of: today)?.state
      #expect(view(joined(undone, theirs), at: now).record(of: today)?.state == state)
      // In any order of the syncs.
      #expect(joined(joined(mine, theirs), undone) == joined(mine, joined(theirs, undone)))
      // After a sync, too: the answer of the other device stays.
      let both = joined(mine, theirs)
      guard view(both, at: now).record(of: today)?.state == .done else { continue }
      let after = try view(both, at: now, on: laptop).undoing(
        mine, before: alarm, acted: at, at: now, device: laptop)
      #expect(view(after, at: now).record(of: today)?.state == state)
    }
  }

  @Test("Actions can be undone one after the other")
  func undoneInTurn() throws {
    let alarm = try daily()
    var versions = [alarm]
    for (index, answer) in [Answer.snooze(seconds: 60), .stop, .done()].enumerated() {
      let now = due.adding(seconds: Int64(60 * index + 60))
      versions.append(
        try view(versions[index], at: now).answer(
          answer, to: today, at: now, settings: settings, ledger: rung()
        ).alarm)
    }
    var current = versions[3]
    for (index, state) in [
      (2, OccurrenceRecord.State.pending), (1, .snoozed), (0, nil),
    ] as [(Int, OccurrenceRecord.State?)] {
      let now = due.adding(seconds: Int64(600 - 60 * index))
      current = try view(current, at: now).undoing(
        versions[index + 1], before: versions[index], acted: due, at: now, device: laptop)
      #expect(view(current, at: now).record(of: today)?.state == state)
      // Copies of the undone answers do not come back.
      for version in versions { #expect(joined(current, version) == current) }
    }
  }

  // MARK: Every order

  @Test("An occurrence that two devices have snoozed apart is missed once")
  func snoozedApart() throws {
    let alarm = try daily()
    func snoozed(_ seconds: Int64, by device: Identifier) throws -> Alarm {
      let now = due.adding(seconds: 60)
      return try view(alarm, at: now, on: device).answer(
        .snooze(seconds: seconds), at: now, settings: settings, ledger: rung()
      ).alarm
    }
    let both = joined(try snoozed(10_000, by: laptop), try snoozed(600, by: server))
    let later = due.adding(seconds: 86_400 - 60)
    let evaluation = view(both, at: later).evaluate(
      at: later, settings: settings, ledger: DeliveryLedger())
    #expect(evaluation.transition.events.map(\.action) == [.missed])
    for device in [laptop, server] {
      let again = view(evaluation.transition.alarm, at: later, on: device)
      #expect(again.record(of: today)?.state == .missed)
      #expect(
        !again.evaluate(at: later, settings: settings, ledger: DeliveryLedger()).needsCommit)
    }
  }

  /// Three devices edit, tick and answer apart. Whatever the order in which they sync, they agree, and no outcome of a
  /// clock overrides an answer.
  @Test(arguments: 0..<400 as Range<UInt64>)
  func everyOrder(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let devices = [laptop, server, Identifier("phoneaaaaaaaaaaaaaaaaaaaaa")!]
    var start = try daily()
    if random.one(in: 2) { start.pause = pause }
    var versions = [start, start, start]
    var now = due.adding(seconds: -3600)
    var answers: [Alarm] = []
    for _ in 0..<random.int(3...14) {
      now = now.adding(seconds: Int64(random.int(60...3000)))
      let index = random.int(0...2)
      let (alarm, device) = (versions[index], devices[index])
      let ledger = now > due && random.one(in: 2) ? rung() : DeliveryLedger()
      switch random.int(0...7) {
      case 0: versions[index] = edited(alarm, at: now, by: device) { $0.pause = nil }
      case 1: versions[index] = edited(alarm, at: now, by: device) { $0.pause = pause }
      case 2:
        versions[index] = edited(alarm, at: now, by: device) { $0.delivery.persistent.toggle() }
      case 3:
        let answer = random.pick([Answer.stop, .done(), .snooze(seconds: 600), .skip(), .dismiss])
        if let after = try? view(alarm, at: now, on: device).answer(
          answer, at: now, settings: settings, ledger: ledger
        ).alarm {
          answers.append(after)
          versions[index] = after
        }
      case 4:
        let other = random.int(0...2)
        versions[index] = Alarm.join(alarm, versions[other])
      default: versions[index] = ticked(alarm, at: now, ledger)
      }
      // A device that merges an earlier version of its own changes nothing.
      #expect(
        Alarm.join(alarm, versions[index]) == versions[index], "absorbing, seed \(seed)")
    }
    let (a, b, c) = (versions[0], versions[1], versions[2])
    let all = Alarm.join(Alarm.join(a, b), c)
    #expect(all == Alarm.join(a, Alarm.join(b, c)), "seed \(seed)")
    #expect(all == Alarm.join(Alarm.join(c, a), b), "seed \(seed)")
    #expect(all == Alarm.join(Alarm.join(b, c), Alarm.join(a, c)), "seed \(seed)")
    // What the clock decided stands only under the joined definition, and under no answer.
    if let record = view(all, at: now).record(of: today),
      let (state, outcome) = record.automatic.first
    {
      #expect(
        view(all, at: now).unseenEdits(state, outcome, of: today).isEmpty, "seed \(seed)")
    }
    let settled = answers.filter { answer in
      let given = answer.progress.occurrences[today]?.answer
      return given == .done || given == .skipped
    }
    if !settled.isEmpty {
      let record = view(all, at: now).record(of: today)
      #expect(record?.auto == false && record?.state.isSettled == true, "seed \(seed)")
    }
  }
}
