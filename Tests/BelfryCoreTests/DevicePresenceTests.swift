import Testing

@testable import BelfryCore

/// Devices that are online, devices that stand in for others, and the effect of both on ringing.
@Suite struct DevicePresenceTests {
  private let old = Identifier("aldlaptopaaaaaaaaaaaaaaaaa")!
  private let new = Identifier("newlaptopaaaaaaaaaaaaaaaaa")!
  private let other = server

  private func at(_ text: String) -> Instant { instant("2026-11-23T\(text)Z") }

  private func device(
    _ id: Identifier, _ name: String, created: String = "2026-11-01T00:00:00Z",
    copyOf: Identifier? = nil, replaced: [Identifier: Instant] = [:]
  ) -> Device {
    Device(
      id: id, name: name, created: instant(created), copyOf: copyOf, replaced: replaced)
  }

  private func presence(
    _ devices: [Device], seen: [Identifier: Instant] = [:], every: [Identifier: Int64] = [:],
    activity: [Identifier: Instant] = [:], own: Identifier? = nil, at now: Instant
  ) -> DevicePresence {
    DevicePresence(
      own: own ?? new, devices: devices, heartbeats: DeviceHeartbeats(seen: seen, intervals: every),
      activity: activity, at: now)
  }

  @Test func aHeartbeatCountsForThePromisedInterval() {
    let devices = [device(new, "new"), device(old, "old"), device(other, "server")]
    let seen = [old: at("08:00:00"), other: at("08:00:00")]
    let promised = [other: Int64(7200)]
    let early = presence(devices, seen: seen, every: promised, at: at("09:10:00"))
    #expect(early.isAlive(old) && early.isAlive(other))
    let late = presence(devices, seen: seen, every: promised, at: at("12:00:00"))
    #expect(!late.isAlive(old) && late.isAlive(other))
    #expect(late.aliveUntil[other] == at("12:15:00"))
  }

  @Test func withoutAHeartbeatTheLogCountsForADay() {
    let devices = [device(new, "new"), device(other, "server")]
    let activity = [other: at("08:00:00")]
    let next = instant("2026-11-24T07:59:59Z")
    #expect(presence(devices, activity: activity, at: next).isAlive(other))
    #expect(!presence(devices, activity: activity, at: next.adding(seconds: 1)).isAlive(other))
    // A device that has sent a heartbeat is judged by its heartbeats only.
    let silent = presence(
      devices, seen: [other: at("07:00:00")], activity: activity, at: at("12:00:00"))
    #expect(!silent.isAlive(other))
    // A clock that is months ahead is not evidence.
    let ahead = [other: instant("2027-05-01T00:00:00Z")]
    #expect(!presence(devices, activity: ahead, at: at("12:00:00")).isAlive(other))
  }

  @Test func aLaterDeviceOfTheSameNameStandsInForAnOfflineOne() {
    let devices = [
      device(old, "Laptop"), device(new, "laptop", created: "2026-11-23T08:00:00Z"),
    ]
    let silent = presence(devices, seen: [old: at("07:59:00")], at: at("08:01:00"))
    #expect(silent.standIns == [old: new] && !silent.isAlive(old))
    // The older device sends a heartbeat again.
    let back = presence(devices, seen: [old: at("08:30:00")], at: at("08:31:00"))
    #expect(back.standIns.isEmpty && back.isAlive(old))
    // A third device sees the same.
    let elsewhere = presence(
      devices + [device(other, "server")], seen: [old: at("07:59:00"), new: at("08:00:00")],
      own: other, at: at("08:01:00"))
    #expect(elsewhere.standIns == [old: new] && elsewhere.isAlive(new))
  }

  @Test func aCopyStandsInForItsOriginalUnderAnyName() {
    let copy = device(new, "desk", created: "2026-11-23T08:00:00Z", copyOf: old)
    #expect(
      presence([device(old, "laptop"), copy], at: at("09:00:00")).standIns == [old: new])
    #expect(
      presence([device(old, "laptop"), device(new, "desk")], at: at("09:00:00")).standIns.isEmpty)
  }

  @Test func aReplacementAppliesUntilTheOldDeviceIsOnlineAgain() {
    let decided = at("08:00:00")
    let devices = [device(old, "laptop"), device(new, "desk", replaced: [old: decided])]
    let gone = presence(devices, seen: [old: at("07:00:00")], at: at("08:10:00"))
    #expect(gone.replacements == [old: new] && gone.returned.isEmpty)
    let back = presence(devices, seen: [old: at("08:05:00")], at: at("08:10:00"))
    #expect(back.replacements.isEmpty && back.returned == [old: new] && back.isAlive(old))
  }

  @Test func aChainOfReplacementsEndsAtTheLastDevice() {
    let devices = [
      device(old, "laptop"), device(other, "laptop 2", replaced: [old: at("07:00:00")]),
      device(new, "laptop 3", replaced: [other: at("08:00:00")]),
    ]
    let presence = presence(devices, at: at("12:00:00"))
    #expect(presence.replacements == [old: new, other: new])
  }

  // MARK: Ringing

  private func timeline(
    _ alarm: Alarm, _ device: Identifier, alive: [Identifier], standIns: Bool = true
  ) -> Timeline {
    var devices = [self.device(old, "laptop"), self.device(other, "server")]
    if standIns { devices.append(self.device(new, "laptop", created: "2026-11-23T08:00:00Z")) }
    let presence = DevicePresence(
      own: device, devices: devices,
      heartbeats: DeviceHeartbeats(
        seen: Dictionary(uniqueKeysWithValues: alive.map { ($0, at("08:59:00")) })),
      at: at("09:00:00"))
    return Timeline(
      alarm, zone: .utc,
      deviceContext: DeviceContext(
        device: device, known: Set(devices.map(\.id)), presence: presence))
  }

  private func alarm(on devices: Set<Identifier>) throws -> Alarm {
    var alarm = try rent(persistent: false)
    alarm.delivery.devices = devices
    return alarm
  }

  private let never = instant("2026-11-30T00:00:00Z")

  @Test func anAlarmWithoutOnlineDevicesRingsOnTheStandIn() throws {
    let alarm = try alarm(on: [old])
    #expect(timeline(alarm, new, alive: []).role == .standIn)
    // Other devices stay silent while the stand-in is online, and ring when it is offline.
    #expect(timeline(alarm, other, alive: [new]).role == nil)
    // Without a stand-in, every device rings.
    var lonely = alarm
    lonely.delivery.devices = [old]
    let silent = instant("2026-11-25T09:00:00Z")
    let presence = DevicePresence(
      own: other, devices: [device(old, "laptop"), device(other, "server")],
      heartbeats: DeviceHeartbeats(seen: [old: at("08:00:00")]), at: silent)
    #expect(
      lonely.role(
        of: other, seenBy: DeviceContext(device: other, known: [old, other], presence: presence),
        plan: nil) == .standIn)
  }

  @Test func anAlarmOfSeveralDevicesRingsOnTheOnlineOne() throws {
    let alarm = try alarm(on: [old, other])
    #expect(timeline(alarm, new, alive: [other]).role == nil)
    #expect(timeline(alarm, other, alive: []).role == .intended)
  }

  @Test func anAlarmRingsOnTheOldDeviceAfterItsReturn() throws {
    let alarm = try alarm(on: [old])
    #expect(timeline(alarm, new, alive: [old]).role == nil)
    #expect(timeline(alarm, old, alive: []).role == .intended)
  }

  @Test func aDeviceThatGoesOfflineWhileItRingsIsCheckedAgain() throws {
    let alarm = try alarm(on: [other])
    let evaluation = timeline(alarm, new, alive: [other])
      .evaluate(at: at("09:00:00"), settings: Settings(), ledger: DeliveryLedger())
    #expect(evaluation.firings.isEmpty)
    // 08:59 and 75 minutes.
    #expect(evaluation.nextWake == at("10:14:00"))
  }

  @Test func aStandInTakesTheStepOfAnOfflineDevice() throws {
    var alarm = try alarm(on: [])
    alarm.cascade = Cascade(
      Cascade.Plan(isOn: true, primary: other, targets: [.device(old), .device(laptop)]))
    let occurrence = civil("2026-11-23T09:00")
    let view = timeline(alarm, new, alive: [other])
    let cascadeRun = try #require(view.cascadeRun(of: occurrence, ledger: DeliveryLedger()))
    #expect(view.ownStep(in: cascadeRun) == 1)
    #expect(!view.ringsHere)
    // After the old device is online again it has its own turn, and the new one rings first: two rings are better than
    // none.
    let back = timeline(alarm, new, alive: [other, old])
    #expect(
      back.ownStep(in: try #require(back.cascadeRun(of: occurrence, ledger: DeliveryLedger()))) == 0
    )
  }

  @Test func aStandInOfTheFirstDeviceRingsFirstEvenIfAStepIsOnline() throws {
    var alarm = try alarm(on: [old])
    alarm.cascade = Cascade(Cascade.Plan(isOn: true, primary: old, targets: [.device(other)]))
    #expect(timeline(alarm, new, alive: [other]).role == .standIn)
  }

  // MARK: Adoption

  @Test func adoptionKeepsThePositionInEveryList() throws {
    var alarm = try alarm(on: [old, other])
    alarm.cascade = Cascade(
      Cascade.Plan(
        isOn: true, primary: other,
        targets: [
          .device(laptop), .person(CascadePerson(name: "Jen", device: old)), .device(new),
        ]))
    let after = try #require(alarm.replacing(old, by: new, at: at("10:00:00")))
    #expect(after.delivery.devices == [new, other])
    #expect(
      after.cascade?.plan.targets == [
        .device(laptop), .person(CascadePerson(name: "Jen", device: new)),
      ])
    #expect(
      after.mergeState.stamps[.cascade]?.device == new
        && after.mergeState.stamps[.delivery]?.device == new)
    #expect(after.replacing(old, by: new, at: at("10:00:00")) == nil)
    // The first device is not a later step.
    alarm.cascade?.plan.primary = new
    let first = try #require(alarm.replacing(old, by: new, at: at("10:00:00")))
    #expect(first.cascade?.plan.targets == [.device(laptop)])
  }

  @Test func adoptionJoinsWithConcurrentEdits() throws {
    let base = try alarm(on: [old])
    let adopted = try #require(base.replacing(old, by: new, at: at("10:00:00")))
    var titled = base
    titled.title = "Other"
    titled.mergeState.stamps[.title] = Stamp(time: at("10:00:01"), device: other)
    let joined = Alarm.join(adopted, titled)
    #expect(joined == Alarm.join(titled, adopted))
    #expect(joined.delivery.devices == [new] && joined.title == "Other")
  }
}
