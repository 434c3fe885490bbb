import BelfryCore
import Testing

private let watch = CascadeTarget.device(Identifier("watchaaaaaaaaaaaaaaaaaaaaa")!)
private let tablet = CascadeTarget.device(Identifier("ipadaaaaaaaaaaaaaaaaaaaaaa")!)
private let jen = CascadeTarget.person(CascadePerson(name: "Jen", address: "https://ntfy.sh/jen"))

/// Lists of cascade steps that two devices edit concurrently.
@Suite struct CascadeJoinTests {
  private func at(_ time: String) -> Instant { instant("2026-11-20T\(time)Z") }

  private func edited(
    _ alarm: Alarm, at time: String, by device: Identifier = laptop,
    _ body: (inout Cascade.Plan) -> Void
  ) -> Alarm {
    var result = alarm
    var cascade = alarm.cascade ?? Cascade()
    body(&cascade.plan)
    result.cascade = cascade
    return result.stamped(against: alarm, at: at(time), device: device)
  }

  /// Returns an alarm with targets that laptop edited.
  private func alarm(_ targets: CascadeTarget...) throws -> Alarm {
    edited(try rent(), at: "22:45:00") { plan in
      plan.isOn = true
      plan.primary = laptop
      plan.targets = targets
    }
  }

  private func targets(_ a: Alarm, _ b: Alarm) -> [CascadeTarget] {
    #expect(Alarm.join(a, b) == Alarm.join(b, a))
    return Alarm.join(a, b).cascade?.plan.targets ?? []
  }

  @Test func concurrentAdditionsAreBothKept() throws {
    let base = try alarm()
    let ours = edited(base, at: "23:00:00") { $0.targets.append(watch) }
    let theirs = edited(base, at: "23:00:01", by: server) { $0.targets.append(jen) }
    #expect(Set(targets(ours, theirs)) == [watch, jen])
    // The same applies if each device has created its own list.
    let first = edited(try rent(), at: "23:00:00") { $0.targets = [watch] }
    let second = edited(try rent(), at: "23:00:01", by: server) { $0.targets = [jen] }
    #expect(Set(targets(first, second)) == [watch, jen])
  }

  @Test func aConcurrentRemovalAndAdditionBothApply() throws {
    let base = try alarm(watch, tablet)
    let ours = edited(base, at: "23:00:00") { $0.targets.removeFirst() }
    let theirs = edited(base, at: "23:00:01", by: server) { $0.targets.append(jen) }
    #expect(targets(ours, theirs) == [tablet, jen])
    let off = edited(base, at: "23:00:02", by: server) { $0.isOn = false }
    let joined = Alarm.join(ours, off).cascade?.plan
    #expect(joined?.isOn == false && joined?.targets == [tablet])
  }

  @Test func theLaterEditOfATargetWins() throws {
    let base = try alarm(watch, jen)
    let removed = edited(base, at: "23:00:00") { $0.targets.removeLast() }
    let moved = edited(base, at: "23:00:01", by: server) { $0.targets.reverse() }
    let again = edited(removed, at: "23:00:02") { $0.targets.insert(jen, at: 0) }
    #expect(targets(moved, again) == [jen, watch])
    let later = edited(moved, at: "23:00:03", by: server) { $0.targets.removeAll { $0 == jen } }
    #expect(targets(later, again) == [watch])
  }

  @Test func onlyAMovedTargetGetsANewPosition() throws {
    let base = try alarm(watch, tablet, jen)
    let moved = edited(base, at: "23:00:00", by: server) { $0.targets = [jen, watch, tablet] }
    let before = try #require(base.cascade?.registers)
    let after = try #require(moved.cascade?.registers)
    #expect(after.filter { before[$0.key] != $0.value }.map(\.key) == [.target(jen.key)])
    // This holds for many moves: where no room is left, all targets get new positions.
    var alarm = base
    for turn in 0..<100 {
      let now = at("23:01:00").adding(seconds: Int64(turn))
      var next = alarm
      next.cascade?.plan.targets.swapAt(1, 2)
      alarm = next.stamped(against: alarm, at: now, device: laptop)
      #expect(
        alarm.cascade?.plan.targets
          == (turn % 2 == 0 ? [watch, jen, tablet] : [watch, tablet, jen]))
    }
  }

  @Test func undoingAnEditKeepsTheEditsOfOthers() throws {
    let base = try alarm(watch)
    let ours = edited(base, at: "23:00:00") { plan in
      plan.targets = [tablet]
      plan.interval = 60
    }
    let theirs = edited(base, at: "23:00:01", by: server) { $0.targets.append(jen) }
    let joined = Alarm.join(ours, theirs)
    let undone = try timeline(joined).undoing(
      ours, before: base, acted: at("23:00:00"), at: at("23:02:00"), device: laptop)
    #expect(undone.cascade?.plan.targets == [watch, jen])
    #expect(undone.cascade?.plan.interval == Cascade.interval)
    #expect(Alarm.join(undone, joined).cascade == undone.cascade)
    // A later edit by another device is not undone.
    let since = edited(joined, at: "23:01:00", by: server) { $0.interval = 90 }
    #expect(throws: UndoError.changedSince(.field(.cascade))) {
      try timeline(since).undoing(
        ours, before: base, acted: at("23:00:00"), at: at("23:02:00"), device: laptop)
    }
  }

  @Test func theFirstDeviceRingsAtTheAlarmsTimeEvenIfItIsAlsoAStep() throws {
    let base = try alarm(watch)
    let ours = edited(base, at: "23:00:00") { $0.targets.append(tablet) }
    let theirs = edited(base, at: "23:00:01", by: server) { $0.primary = tablet.device }
    let joined = Alarm.join(ours, theirs)
    #expect(joined.cascade?.plan.targets == [watch])
    let device = try #require(tablet.device)
    let deviceContext = DeviceContext(device: device, known: [device, try #require(watch.device)])
    let due = instant("2026-11-27T09:00:00Z")
    let evaluation = Timeline(joined, zone: .utc, deviceContext: deviceContext).evaluate(
      at: due, settings: Settings(tier: .premium), ledger: DeliveryLedger())
    #expect(evaluation.firings.map(\.due) == [due])
    // The entry is kept, and applies again after another device becomes the first device.
    let back = edited(joined, at: "23:01:00") { $0.primary = laptop }
    #expect(back.cascade?.plan.targets == [watch, tablet])
  }

  @Test func aStepThatIsTheOnlyNamedDeviceRingsAtTheAlarmsTime() throws {
    var alarm = edited(try alarm(watch), at: "23:00:00") { $0.primary = nil }
    let device = try #require(watch.device)
    alarm.delivery.devices = [device]
    let due = instant("2026-11-27T09:00:00Z")
    let evaluation = Timeline(
      alarm, zone: .utc, deviceContext: DeviceContext(device: device, known: [device, laptop])
    ).evaluate(at: due, settings: Settings(tier: .premium), ledger: DeliveryLedger())
    #expect(evaluation.firings.map(\.due) == [due])
  }

  @Test func undoingAResponseToAnExpiredSnoozeRingsNow() throws {
    let settings = Settings(tier: .premium)
    let (due, ledger) = (instant("2026-11-23T09:00:00Z"), DeliveryLedger())
    let alarm = try rent()
    let snoozed = try timeline(alarm).answer(
      .snooze(seconds: 540), at: due.adding(seconds: 300), settings: settings, ledger: ledger
    ).alarm
    let stopped = try timeline(snoozed).answer(
      .stop, at: due.adding(seconds: 360), settings: settings, ledger: ledger
    ).alarm
    let now = due.adding(seconds: 2_400)
    let undone = try timeline(stopped).undoing(
      stopped, before: snoozed, acted: due.adding(seconds: 360), at: now, device: laptop)
    let evaluation = timeline(undone).evaluate(at: now, settings: settings, ledger: ledger)
    // The follow-up of 09:36 has been delivered, so only a later firing is delivered.
    #expect(evaluation.firings.map(\.due) == [now])
  }

  @Test func peopleWithDifferentMessagesAreDifferent() {
    func cascade(_ person: CascadePerson) -> Cascade {
      Cascade(Cascade.Plan(targets: [.person(person)]))
    }
    let one = cascade(CascadePerson(name: "Jen", address: "x y"))
    let two = cascade(CascadePerson(name: "Jen", address: "x", gadget: "y"))
    #expect(Cascade.join(one, two) == Cascade.join(two, one))
  }

  @Test(arguments: [Int64.min, Int64.max, 0])
  func everyPositionFitsARecord(_ position: Int64) throws {
    let cascade = Cascade(
      Cascade.Plan(targets: [watch, jen]), positions: [watch.key: position, jen.key: position])
    #expect(cascade.plan.targets == [watch, jen])
  }

  @Test func undoingTheFirstAdditionKeepsTheCascadeForTheAdditionsOfOthers() throws {
    let base = try rent()
    let ours = edited(base, at: "23:00:00") { plan in
      plan.isOn = true
      plan.primary = laptop
      plan.targets = [watch]
    }
    let both = edited(ours, at: "23:01:00", by: server) { $0.targets.append(jen) }
    let undone = try timeline(both).undoing(
      ours, before: base, acted: at("23:00:00"), at: at("23:02:00"), device: laptop)
    #expect(undone.cascade?.plan == Cascade.Plan(isOn: true, primary: laptop, targets: [jen]))
    let alone = try timeline(ours).undoing(
      ours, before: base, acted: at("23:00:00"), at: at("23:02:00"), device: laptop)
    #expect(alone.cascade?.plan == Cascade.Plan())
  }

  @Test func ringingFollowsTheListsOfBothSides() throws {
    let base = try alarm(watch)
    let ours = edited(base, at: "23:00:00") { $0.targets.append(tablet) }
    let theirs = edited(base, at: "23:05:00", by: server) { $0.targets.append(jen) }
    let joined = Alarm.join(ours, theirs)
    // The occurrence is due between the two edits: ours was in effect, theirs was not.
    #expect(joined.cascadePlan(at: at("23:03:00"))?.targets == [watch, tablet])
    #expect(joined.cascadePlan(at: at("22:59:00"))?.targets == [watch])
    #expect(Set(joined.cascadePlan(at: at("23:06:00"))?.targets ?? []) == [watch, tablet, jen])
  }

  @Test func anEditWithoutAStampOverridesOnlyTheFieldsThatItChanged() throws {
    let base = try alarm(watch)
    var byHand = base
    byHand.cascade = Cascade(
      Cascade.Plan(isOn: true, primary: laptop, targets: [tablet]),
      stamps: (base.cascade?.registers ?? [:]).compactMapValues(\.stamp)
        .filter { $0.key != .target(watch.key) })
    let theirs = edited(base, at: "23:00:00", by: server) { $0.targets.append(jen) }
    let descendant = byHand.stamped(asDescendantOf: base)
    #expect(descendant == byHand.stamped(asDescendantOf: base))
    #expect(Set(targets(descendant, theirs)) == [tablet, jen])
  }
}
