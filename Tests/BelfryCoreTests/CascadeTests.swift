import BelfryCore
import TestSupport
import Testing

private let phone = Identifier("iphoneaaaaaaaaaaaaaaaaaaaa")!
private let watch = Identifier("watchaaaaaaaaaaaaaaaaaaaaa")!
private let speaker = Identifier("homepodaaaaaaaaaaaaaaaaaaa")!
private let tablet = Identifier("ipadaaaaaaaaaaaaaaaaaaaaaa")!
private let people: [(letter: Character, device: Identifier)] = [
  ("P", phone), ("W", watch), ("H", speaker), ("J", tablet), ("x", laptop),
]

/// One timeline: the known signals, and the expected rings.
///
/// Times are minutes and seconds after the alarm's time, `2:30`. A signal is `s` for a snooze of nine minutes or
/// `s20` for one of twenty, or `✕` for the end, followed by `@` and the time, and preceded by the letter of the
/// device: `Ws@3`. The expected value lists the rings in order, `E@8` for the time at which the run is exhausted, `-` for
/// none.
private struct Story: CustomTestStringConvertible, Sendable {
  let name: String
  let list: String
  let signals: String
  var away = ""
  var interval: Int64 = 120
  let expected: String

  init(
    _ name: String, _ list: String, _ signals: String, away: String = "",
    every interval: Int64 = 120, _ expected: String
  ) {
    self.name = name
    self.list = list
    self.signals = signals
    self.away = away
    self.interval = interval
    self.expected = expected
  }

  var testDescription: String { name }
}

@Suite struct CascadeTests {
  private static let due = instant("2026-11-23T05:30:00Z")

  private static func moment(_ text: Substring) -> Instant {
    let isBefore = text.hasPrefix("-")
    let parts = text.drop { $0 == "-" }.split(separator: ":").compactMap { Int64($0) }
    let seconds = parts[0] * 60 + (parts.count > 1 ? parts[1] : 0)
    return due.adding(seconds: isBefore ? -seconds : seconds)
  }

  private static func text(_ moment: Instant) -> String {
    let seconds = moment.seconds(since: due)
    let rest = seconds % 60
    return "\(seconds / 60)" + (rest == 0 ? "" : ":\(rest < 10 ? "0" : "")\(rest)")
  }

  private static func plan(_ list: String, every interval: Int64) -> Cascade.Plan {
    Cascade.Plan(
      isOn: true, interval: interval, primary: phone,
      targets: list.map { letter in
        letter == "C"
          ? .phone(try! PhoneNumber("5551234567"), message: nil)
          : .device(people.first { $0.letter == letter }!.device)
      })
  }

  private static func cascadeRun(_ story: Story, signals: [Substring]) -> CascadeRun {
    let plan = plan(story.list, every: story.interval)
    var snoozes: [CascadeRun.Snooze] = []
    var ended: Instant?
    for signal in signals {
      let parts = signal.split(separator: "@")
      let at = moment(parts[1])
      let device = people.first { $0.letter == parts[0].first }?.device
      let what = parts[0].drop { $0.isUppercase || $0 == "x" }
      if what == "✕" {
        ended = min(ended ?? at, at)
      } else {
        let minutes = Int64(what.dropFirst()) ?? 9
        snoozes.append(
          CascadeRun.Snooze(at: at, until: at.adding(seconds: minutes * 60), by: device))
      }
    }
    let away = Set(
      story.away.compactMap { letter in
        story.list.firstIndex(of: letter).map {
          story.list.distance(from: story.list.startIndex, to: $0) + 1
        }
      })
    return CascadeRun(due: due, plan: plan, snoozes: snoozes, ended: ended, unreachable: away) {
      id in
      plan.step(of: id) ?? (id == phone ? 0 : nil)
    }
  }

  private static func rings(_ cascadeRun: CascadeRun, _ list: String) -> String {
    let letters = ["P"] + list.map(String.init)
    var rings = cascadeRun.turns.map { "\(letters[$0.step])@\(text($0.at))" }
    if let exhausted = cascadeRun.exhausted { rings.append("E@\(text(exhausted))") }
    return rings.isEmpty ? "-" : rings.joined(separator: " ")
  }

  private static let stories: [Story] = [
    // No responses.
    Story("no response", "WHJ", "", "P@0 W@2 H@4 J@6 E@8"),
    Story("one step", "W", "", "P@0 W@2 E@4"),
    Story("two steps", "WH", "", "P@0 W@2 H@4 E@6"),
    Story("a call is a step", "WC", "", "P@0 W@2 C@4 E@6"),
    Story("another interval", "WH", "", every: 30, "P@0 W@0:30 H@1 E@1:30"),
    Story("empty list", "", "", "P@0 E@2"),
    // A stop at each step.
    Story("stopped at once", "WHJ", "P✕@0:05", "P@0"),
    Story("stopped on the first", "WHJ", "P✕@1", "P@0"),
    Story("stopped immediately before the first step", "WHJ", "P✕@1:59", "P@0"),
    Story("stopped at the time of the first step", "WHJ", "P✕@2", "P@0"),
    Story("stopped on step 1", "WHJ", "W✕@3", "P@0 W@2"),
    Story("stopped on step 2", "WHJ", "H✕@5", "P@0 W@2 H@4"),
    Story("stopped on step 3", "WHJ", "J✕@7", "P@0 W@2 H@4 J@6"),
    Story("stopped on step 1 while step 2 rings", "WHJ", "W✕@4:30", "P@0 W@2 H@4"),
    Story("stopped on the first while step 2 rings", "WHJ", "P✕@5", "P@0 W@2 H@4"),
    Story("stopped by a device that is in no list", "WHJ", "x✕@3", "P@0 W@2"),
    Story("stopped after the run is exhausted", "WHJ", "J✕@30", "P@0 W@2 H@4 J@6"),
    Story("stopped twice: the first stop counts", "WHJ", "H✕@5 W✕@3", "P@0 W@2"),
    Story("stopped before the due time, by a clock that is 90 s ahead", "WHJ", "P✕@-1:20", "-"),
    // A snooze at each step, then no response.
    Story("snoozed on the first", "WHJ", "Ps@1", "P@0 P@10 W@12 H@14 J@16 E@18"),
    Story("snoozed on step 1", "WHJ", "Ws@3", "P@0 W@2 W@12 H@14 J@16 E@18"),
    Story("snoozed on step 2", "WHJ", "Hs@5", "P@0 W@2 H@4 H@14 J@16 E@18"),
    Story("snoozed on step 3", "WHJ", "Js@7", "P@0 W@2 H@4 J@6 J@16 E@18"),
    Story("snoozed on step 1 while step 2 rings", "WHJ", "Ws@5", "P@0 W@2 H@4 W@14 H@16 J@18 E@20"),
    Story(
      "snoozed on the first while step 1 rings", "WHJ", "Ps@3", "P@0 W@2 P@12 W@14 H@16 J@18 E@20"),
    Story("snoozed by a device that is in no list", "WHJ", "xs@3", "P@0 W@2 W@12 H@14 J@16 E@18"),
    Story("snoozed for twenty minutes", "WH", "Ws20@3", "P@0 W@2 W@23 H@25 E@27"),
    Story("snoozed after the run is exhausted", "WH", "Hs@20", "P@0 W@2 H@4 H@29 E@31"),
    Story(
      "snoozed on the first after a call, so the call is made again", "WC", "Ps@5",
      "P@0 W@2 C@4 P@14 W@16 C@18 E@20"),
    // Repeated snoozes.
    Story("snoozed twice", "WH", "Ws@3 Ws@13", "P@0 W@2 W@12 W@22 H@24 E@26"),
    Story(
      "snoozed five times", "WH", "Ws@3 Ws@12:30 Ws@22 Ws@31:30 Ws@41",
      "P@0 W@2 W@12 W@21:30 W@31 W@40:30 W@50 H@52 E@54"),
    Story(
      "snoozed on step 1, then on step 2", "WHJ", "Ws@3 Hs@15",
      "P@0 W@2 W@12 H@14 H@24 J@26 E@28"),
    Story("snoozed, then stopped in the pause", "WHJ", "Ws@3 W✕@5", "P@0 W@2"),
    Story("snoozed, then stopped on the same device", "WHJ", "Ws@3 W✕@13", "P@0 W@2 W@12"),
    Story(
      "snoozed, then unanswered, stopped on the next device", "WHJ", "Ws@3 H✕@15",
      "P@0 W@2 W@12 H@14"),
    // Signals that arrive late, out of order, or from both sides of a network partition.
    Story(
      "snoozed on both sides: the later end counts", "WHJ", "Ps@3 Ws@4",
      "P@0 W@2 W@13 H@15 J@17 E@19"),
    Story(
      "snoozed on both sides, in the other arrival order", "WHJ", "Ws@4 Ps@3",
      "P@0 W@2 W@13 H@15 J@17 E@19"),
    Story(
      "a shorter snooze within a longer one", "WHJ", "Ps20@3 Ws5@4",
      "P@0 W@2 P@23 W@25 H@27 J@29 E@31"),
    Story(
      "a snooze before the due time, by a clock that is behind", "WH", "Ps@-1:30",
      "P@0 P@7:30 W@9:30 H@11:30 E@13:30"),
    Story("a stop that arrives late overrides a later snooze", "WHJ", "Hs@5 P✕@1", "P@0"),
    Story(
      "a clock 90 s behind snoozes on step 1", "WH", "Ws@2:30", "P@0 W@2 W@11:30 H@13:30 E@15:30"),
    Story("a snooze that has expired when it arrives", "WH", "Ws@3", "P@0 W@2 W@12 H@14 E@16"),
    // Devices that are known to be offline.
    Story("step 1 is offline", "WHJ", "", away: "W", "P@0 W@2 H@2 J@4 E@6"),
    Story("steps 1 and 2 are offline", "WHJ", "", away: "WH", "P@0 W@2 H@2 J@2 E@4"),
    Story("step 2 is offline", "WHJ", "", away: "H", "P@0 W@2 H@4 J@4 E@6"),
    Story("the last is offline", "WHJ", "", away: "J", "P@0 W@2 H@4 J@6 E@8"),
    Story("all are offline", "WHJ", "", away: "WHJ", "P@0 W@2 H@2 J@2 E@4"),
    Story("step 1 is offline, stopped on step 2", "WHJ", "H✕@3", away: "W", "P@0 W@2 H@2"),
    Story(
      "step 1 is offline, snoozed on step 2", "WHJ", "Hs@3", away: "W",
      "P@0 W@2 H@2 H@12 J@14 E@16"),
  ]

  @Test("Devices ring in the expected order", arguments: stories)
  fileprivate func timeline(_ story: Story) {
    let signals = story.signals.split(separator: " ")
    let cascadeRun = CascadeTests.cascadeRun(story, signals: signals)
    #expect(CascadeTests.rings(cascadeRun, story.list) == story.expected)
    // The order in which signals arrive has no effect.
    let turned = CascadeTests.cascadeRun(story, signals: signals.reversed())
    #expect(turned == cascadeRun)
  }

  @Test func theTableHasManyTimelines() {
    #expect(CascadeTests.stories.count >= 40)
    #expect(Set(CascadeTests.stories.map(\.name)).count == CascadeTests.stories.count)
  }

  @Test("A run that is snoozed on step 1 and then unanswered has the expected state at each time")
  func standings() {
    let story = Story("", "WHJ", "Ws@3", "")
    let cascadeRun = CascadeTests.cascadeRun(story, signals: ["Ws@3"])
    func standing(_ at: Substring) -> CascadeRun.State {
      cascadeRun.state(at: CascadeTests.moment(at))
    }
    #expect(standing("-1") == .ahead)
    #expect(standing("3") == .paused(until: CascadeTests.moment("12")))
    #expect(standing("11:59") == .paused(until: CascadeTests.moment("12")))
    #expect(standing("12") == .ringing([1]))
    #expect(standing("14") == .ringing([1, 2]))
    #expect(standing("17:59") == .ringing([1, 2, 3]))
    #expect(standing("18") == .exhausted)
    #expect(
      CascadeTests.cascadeRun(story, signals: ["W✕@13"]).state(at: CascadeTests.moment("14"))
        == .resolved)
  }

  /// For any signals: no device rings after a stop or before its turn, and every device rings if there is no stop.
  @Test(
    "Random signals cause no ring after a stop or before a turn",
    arguments: 0..<300 as Range<UInt64>)
  func laws(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    let list = String("WHJ".prefix(random.int(1...3)))
    let signals = (0..<random.int(0...5)).map { _ -> Substring in
      let who = random.pick(["P", "W", "H", "J", "x"])
      let what = random.pick(["s", "s1", "s20", "s", "✕"])
      return "\(who)\(random.one(in: 4) ? what : "s")@\(random.int(0...40)):\(random.int(10...59))"
    }
    let away = random.one(in: 2) ? "" : "W"
    let cascadeRun = CascadeTests.cascadeRun(
      Story("", list, "", away: away, ""), signals: signals)
    #expect(
      cascadeRun
        == CascadeTests.cascadeRun(Story("", list, "", away: away, ""), signals: signals.shuffled())
    )
    if let ended = cascadeRun.ended {
      #expect(cascadeRun.turns.allSatisfy { $0.at < ended })
    } else {
      #expect(Set(cascadeRun.turns.map(\.step)) == Set(0...list.count), "\(signals)")
      #expect(cascadeRun.turns.first == CascadeRun.Turn(step: 0, at: CascadeTests.due))
    }
    #expect(
      cascadeRun.turns.map(\.at) == cascadeRun.turns.map(\.at).sorted(),
      "\(signals) \(cascadeRun.turns)")
    // The first rings of the devices follow the order of the list.
    var firsts: [Int] = []
    for turn in cascadeRun.turns where !firsts.contains(turn.step) { firsts.append(turn.step) }
    #expect(firsts == firsts.sorted())
  }
}

/// The cascade on the devices: each evaluates the same alarm record.
@Suite struct CascadingTests {
  private let settings = Settings(tier: .plus)
  private let devices: Set = [phone, watch, speaker]

  private func alarm(persistent: Bool = false, strict: Bool = false) throws -> Alarm {
    var alarm = try rent(persistent: persistent)
    alarm.delivery.strict = strict
    alarm.cascade = Cascade(
      Cascade.Plan(isOn: true, primary: phone, targets: [.device(watch), .device(speaker)]))
    return alarm
  }

  private func timeline(_ alarm: Alarm, _ device: Identifier, away: Set<Identifier> = [])
    -> Timeline
  {
    Timeline(
      alarm, zone: .utc,
      deviceContext: DeviceContext(device: device, known: devices, unreachable: away))
  }

  private func at(_ time: String) -> Instant { instant("2026-11-23T\(time)Z") }
  private let occurrence = civil("2026-11-23T09:00")

  /// Simulates a daemon on one device for some minutes, and returns the times at which it rings.
  private func rings(
    _ alarm: inout Alarm, _ device: Identifier, from: String, to: String,
    ledger: inout DeliveryLedger, away: Set<Identifier> = []
  ) -> [String] {
    var (now, result) = (at(from), [String]())
    while now <= at(to) {
      let evaluation = timeline(alarm, device, away: away)
        .evaluate(at: now, settings: settings, ledger: ledger)
      alarm = evaluation.transition.alarm
      for firing in evaluation.firings {
        result.append("\(now)".dropFirst(11).prefix(8) + " step \(firing.step)")
        ledger.recordFiring(
          OccurrenceID(alarm: alarm.id, occurrence: firing.occurrence), due: firing.due, at: now)
      }
      guard let wake = evaluation.nextWake else { break }
      now = max(wake, now.adding(seconds: 1))
    }
    return result
  }

  @Test func eachDeviceRingsAtItsTurn() throws {
    for (device, expected) in [
      (phone, "09:00:00 step 0"), (watch, "09:02:00 step 1"), (speaker, "09:04:00 step 2"),
    ] {
      var (alarm, ledger) = (try alarm(), DeliveryLedger())
      #expect(
        rings(&alarm, device, from: "08:00:00", to: "09:20:00", ledger: &ledger) == [expected])
    }
  }

  @Test func aDeviceInNoListRingsWithTheFirstUnlessOthersAreNamed() throws {
    var (alarm, ledger) = (try alarm(), DeliveryLedger())
    #expect(timeline(alarm, laptop).ringsHere)
    #expect(
      rings(&alarm, laptop, from: "08:00:00", to: "09:20:00", ledger: &ledger)
        == ["09:00:00 step 0"])
    var named = try self.alarm()
    named.delivery.devices = [phone]
    var none = DeliveryLedger()
    #expect(rings(&named, laptop, from: "08:00:00", to: "09:20:00", ledger: &none) == [])
  }

  @Test func theHomeDeviceRingsIfThereIsNoFirstDevice() throws {
    var alarm = try alarm()
    // An edit has named a later step as the only device that rings.
    alarm.delivery.devices = [watch]
    func ringsFirst(_ device: Identifier) -> Bool {
      let deviceContext = DeviceContext(device: device, known: devices)
      return alarm.role(of: device, seenBy: deviceContext, plan: alarm.cascade?.plan) != nil
    }
    #expect(ringsFirst(phone) && !ringsFirst(watch))
    alarm.cascade?.plan.primary = nil
    #expect(ringsFirst(watch))
  }

  @Test func aStopMakesTheOccurrencePendingAndEndsTheRinging() throws {
    var (alarm, ledger) = (try alarm(), DeliveryLedger())
    #expect(rings(&alarm, watch, from: "08:00:00", to: "09:03:00", ledger: &ledger).count == 1)
    alarm = try timeline(alarm, watch)
      .answer(.stop, at: at("09:03:00"), settings: settings, ledger: ledger).alarm
    #expect(alarm.progress.occurrences[occurrence]?.state == .pending)
    #expect(alarm.progress.occurrences[occurrence]?.by == watch)
    var none = DeliveryLedger()
    #expect(rings(&alarm, speaker, from: "09:03:00", to: "09:20:00", ledger: &none) == [])
    // Follow-ups go to the first device and to the device that stopped the alarm, and to no other.
    func asks(_ device: Identifier) -> Bool {
      !timeline(alarm, device).evaluate(
        at: at("09:34:00"), settings: settings, ledger: DeliveryLedger()
      ).followUps.isEmpty
    }
    #expect(asks(phone) && asks(watch) && !asks(speaker))
  }

  @Test("A follow-up goes to the owner's devices, not to another person who stopped the alarm")
  func followUpsGoToTheOwner() throws {
    var alarm = try alarm()
    alarm.cascade = Cascade(
      Cascade.Plan(
        isOn: true, primary: phone,
        targets: [
          .device(watch), .person(CascadePerson(name: "Jen", device: tablet)), .device(speaker),
        ]))
    let known: Set = [phone, watch, speaker, tablet]
    func asking(stoppedOn stopper: Identifier, _ owners: [Identifier: String] = [:]) throws -> Set<
      Identifier
    > {
      func timeline(_ alarm: Alarm, _ device: Identifier) -> Timeline {
        var deviceContext = DeviceContext(device: device, known: known)
        deviceContext.owners = owners
        return Timeline(alarm, zone: .utc, deviceContext: deviceContext)
      }
      let stopped = try timeline(alarm, stopper)
        .answer(.stop, at: at("09:03:00"), settings: settings, ledger: DeliveryLedger()).alarm
      return known.filter { device in
        !timeline(stopped, device).evaluate(
          at: at("09:34:00"), settings: settings, ledger: DeliveryLedger()
        ).followUps.isEmpty
      }
    }
    // Follow-ups go to the first device and to the device on which the owner stopped the alarm.
    #expect(try asking(stoppedOn: watch) == [phone, watch])
    // Another person has stopped it: all of the owner's devices ask, because the first device may be off.
    #expect(try asking(stoppedOn: tablet) == [phone, watch, speaker])
    // A device that the list names can still belong to another person.
    let owners = [phone: "Chris", watch: "chris", speaker: "Sam"]
    #expect(try asking(stoppedOn: speaker, owners) == [phone, watch])
    #expect(try asking(stoppedOn: tablet, owners) == [phone, watch])
    #expect(try asking(stoppedOn: watch, owners) == [phone, watch])
  }

  @Test("A strict alarm that its owner stopped on a step rings again on that step's device")
  func strictAlarmsRingAgainWhereTheyWereStopped() throws {
    let stopped = try timeline(alarm(strict: true), watch)
      .answer(.stop, at: at("09:03:00"), settings: settings, ledger: DeliveryLedger()).alarm
    func ringing(_ device: Identifier) -> [CivilDateTime] {
      timeline(stopped, device)
        .evaluate(at: at("09:34:00"), settings: settings, ledger: DeliveryLedger())
        .firings.map(\.occurrence)
    }
    #expect(ringing(phone) == [occurrence])
    #expect(ringing(watch) == [occurrence])
    #expect(ringing(speaker).isEmpty)
  }

  @Test func aStopIsDoneOnTheFreeTier() throws {
    var (alarm, ledger) = (try alarm(), DeliveryLedger())
    _ = rings(&alarm, phone, from: "08:00:00", to: "09:01:00", ledger: &ledger)
    let free = Settings(tier: .free)
    alarm = try timeline(alarm, phone)
      .answer(.stop, at: at("09:01:00"), settings: free, ledger: ledger).alarm
    #expect(alarm.progress.occurrences[occurrence]?.state == .done)
    #expect(
      timeline(alarm, watch).cascadeRun(of: occurrence, ledger: DeliveryLedger())?.state(
        at: at("09:05:00")) == .resolved)
  }

  @Test func aSnoozeSilencesAllDevicesAndTheSameDeviceRingsAgain() throws {
    var (alarm, ledger) = (try alarm(), DeliveryLedger())
    #expect(rings(&alarm, watch, from: "08:00:00", to: "09:03:00", ledger: &ledger).count == 1)
    alarm = try timeline(alarm, watch)
      .answer(.snooze(seconds: 540), at: at("09:03:00"), settings: settings, ledger: ledger).alarm
    var own = ledger
    var copy = alarm
    #expect(
      rings(&copy, watch, from: "09:03:01", to: "09:20:00", ledger: &own) == ["09:12:00 step 1"])
    var (others, second) = (DeliveryLedger(), alarm)
    #expect(
      rings(&second, speaker, from: "09:03:01", to: "09:20:00", ledger: &others)
        == ["09:14:00 step 2"])
    // The first device's turn is over.
    var (first, third) = (DeliveryLedger(), alarm)
    first.recordFiring(
      OccurrenceID(alarm: alarm.id, occurrence: occurrence), due: at("09:00:00"), at: at("09:00:00")
    )
    #expect(rings(&third, phone, from: "09:03:01", to: "09:20:00", ledger: &first) == [])
  }

  @Test func anExhaustedRunIsRecordedAndLaterMissed() throws {
    var (alarm, ledger) = (try alarm(), DeliveryLedger())
    var events: [Event] = []
    var now = at("08:59:00")
    while now < at("10:00:00") {
      let evaluation = timeline(alarm, phone).evaluate(
        at: now, settings: settings, ledger: ledger)
      alarm = evaluation.transition.alarm
      events += evaluation.transition.events
      for firing in evaluation.firings {
        ledger.recordFiring(
          OccurrenceID(alarm: alarm.id, occurrence: firing.occurrence), due: firing.due, at: now)
      }
      guard let wake = evaluation.nextWake, wake < at("10:00:00") else { break }
      now = max(wake, now.adding(seconds: 1))
      if events.contains(where: { $0.action == .exhausted }), events.count == 1 {
        #expect(now >= at("09:06:00"))
      }
    }
    #expect(events.map(\.action) == [.exhausted, .missed])
    #expect(events.first?.payload == .unansweredSteps(2))
    #expect(events.last?.payload == .exhaustedCascade)
  }

  @Test func aMissAtTheFirstDeviceDoesNotSilenceTheOthers() throws {
    // The ring timeout is shorter than the list.
    let short = Settings(tier: .plus, ringTimeout: 60)
    var (alarm, ledger) = (try alarm(), DeliveryLedger())
    ledger.recordFiring(
      OccurrenceID(alarm: alarm.id, occurrence: occurrence), due: at("09:00:00"), at: at("09:00:00")
    )
    let evaluation = timeline(alarm, phone)
      .evaluate(at: at("09:03:00"), settings: short, ledger: ledger)
    alarm = evaluation.transition.alarm
    #expect(evaluation.transition.events.isEmpty)
    #expect(
      timeline(alarm, speaker).evaluate(
        at: at("09:04:00"), settings: short, ledger: DeliveryLedger()
      )
      .firings.map(\.step) == [2])
  }

  @Test func aDeviceThatWakesDuringTheRunRingsAtOnce() throws {
    var (alarm, ledger) = (try alarm(), DeliveryLedger())
    #expect(
      rings(&alarm, watch, from: "09:05:30", to: "09:20:00", ledger: &ledger)
        == ["09:05:30 step 1"])
  }

  @Test func aTurnThatBeganEarlyContinues() throws {
    var (alarm, ledger) = (try alarm(), DeliveryLedger())
    // The watch is known to be offline, so the speaker rings instead.
    #expect(
      rings(&alarm, speaker, from: "08:00:00", to: "09:03:00", ledger: &ledger, away: [watch])
        == ["09:02:00 step 2"])
    // The watch is online again.
    #expect(timeline(alarm, speaker).hasTurn(at: occurrence, at("09:03:00"), ledger))
    #expect(rings(&alarm, speaker, from: "09:03:01", to: "09:20:00", ledger: &ledger) == [])
  }

  @Test func aRunUsesTheListFromItsDueTime() throws {
    var before = try alarm()
    before.mergeState.stamps[.cascade] = Stamp(time: at("08:00:00"), device: phone)
    var edited = before
    edited.cascade?.plan.targets = [.device(speaker)]
    let after = edited.stamped(against: before, at: at("09:01:00"), device: phone)
    var (alarm, ledger) = (after, DeliveryLedger())
    #expect(
      rings(&alarm, speaker, from: "09:01:00", to: "09:20:00", ledger: &ledger)
        == ["09:04:00 step 2"])
    // The next run uses the new list.
    #expect(alarm.cascadePlan(at: instant("2026-11-27T09:00:00Z"))?.targets == [.device(speaker)])
    // A run continues after the cascade is switched off.
    var off = before
    off.cascade?.plan.isOn = false
    let switched = off.stamped(against: before, at: at("09:01:00"), device: phone)
    #expect(switched.cascadePlan(at: at("09:00:00")) != nil)
    #expect(switched.cascadePlan(at: at("09:30:00")) == nil)
  }

  @Test func callsAreDueAtTheirTurnAndNotAfterAStop() throws {
    var alarm = try alarm()
    let number = CascadeTarget.phone(try PhoneNumber("5551234567"), message: nil)
    alarm.cascade?.plan.targets = [.device(watch), number]
    func callouts(_ alarm: Alarm, _ time: String) -> [CascadeTarget] {
      timeline(alarm, speaker).evaluate(at: at(time), settings: settings, ledger: DeliveryLedger())
        .callouts.map(\.target)
    }
    #expect(callouts(alarm, "09:03:59") == [])
    #expect(callouts(alarm, "09:04:00") == [number])
    let stopped = try timeline(alarm, watch)
      .answer(.stop, at: at("09:03:00"), settings: settings, ledger: DeliveryLedger()).alarm
    #expect(callouts(stopped, "09:04:00") == [])
    let snoozed = try timeline(alarm, watch)
      .answer(
        .snooze(seconds: 540), at: at("09:03:00"), settings: settings, ledger: DeliveryLedger()
      )
      .alarm
    #expect(callouts(snoozed, "09:13:59") == [])
    #expect(callouts(snoozed, "09:14:00") == [number])
  }

  @Test("After each snooze, the calls are calls of their own, so that they are made again")
  func callsAfterASnooze() throws {
    var alarm = try alarm()
    alarm.cascade?.plan.targets = [.phone(try PhoneNumber("5551234567"), message: nil)]
    func callout(_ time: String) throws -> Callout.ID {
      let evaluation = timeline(alarm, phone)
        .evaluate(at: at(time), settings: settings, ledger: DeliveryLedger())
      return try #require(evaluation.callouts.first).id
    }
    func snooze(_ time: String) throws {
      alarm = try timeline(alarm, phone)
        .answer(
          .snooze(seconds: 540), at: at(time), settings: settings, ledger: DeliveryLedger()
        ).alarm
    }
    let first = try callout("09:02:00")
    #expect(first.subject == .occurrence(OccurrenceID(alarm: alarm.id, occurrence: occurrence)))
    try snooze("09:03:00")
    let second = try callout("09:14:00")
    #expect(try callout("09:15:00") == second)
    try snooze("09:16:00")
    let third = try callout("09:27:00")
    #expect(Set([first.text, second.text, third.text]).count == 3)
  }

  @Test func aRehearsalRingsOnAllTargetsAtOnceAndNowhereElse() throws {
    var alarm = try alarm()
    alarm.progress.rehearsal = at("07:00:00")
    func rehearses(_ device: Identifier, _ time: String = "07:00:05") -> Bool {
      timeline(alarm, device).evaluate(at: at(time), settings: settings, ledger: DeliveryLedger())
        .rehearsal != nil
    }
    #expect(rehearses(phone) && rehearses(watch) && rehearses(speaker))
    #expect(!rehearses(watch, "07:15:00"))
    var delivered = DeliveryLedger()
    delivered[.rehearsal(alarm: alarm.id, requested: at("07:00:00"))] =
      DeliveryLedger.Entry(due: at("07:00:00"), at: at("07:00:05"))
    #expect(
      timeline(alarm, watch).evaluate(at: at("07:00:10"), settings: settings, ledger: delivered)
        .rehearsal == nil)
  }

  @Test func onlyADeviceWhoseHeartbeatCouldHaveArrivedIsOffline() {
    let signs = DeviceHeartbeats(
      fetched: at("09:00:00"), seen: [watch: at("08:58:00"), speaker: at("08:30:00")])
    #expect(signs.unreachable([watch, speaker, tablet], at: at("09:01:00")) == [speaker, tablet])
    // The remote has not responded since.
    #expect(signs.unreachable([watch, speaker], at: at("09:10:00")) == [])
    #expect(DeviceHeartbeats().unreachable([watch], at: at("09:00:00")) == [])
    // A heartbeat from a clock that is 90 s ahead does not count as a heartbeat from the future.
    let ahead = DeviceHeartbeats(fetched: at("09:00:00"), seen: [watch: at("09:01:30")])
    #expect(ahead.unreachable([watch], at: at("09:00:30")) == [])
    #expect(signs.isAlive(speaker, at: at("09:30:00")))
    #expect(!signs.isAlive(speaker, at: at("09:50:00")))
  }
}

@Suite struct PhoneNumberTests {
  @Test(
    "A phone number is read in common notations and shown in groups",
    arguments: [
      ("5551234567", "+15551234567", "(555) 123-4567"),
      ("(555) 123-4567", "+15551234567", "(555) 123-4567"),
      ("555.123.4567", "+15551234567", "(555) 123-4567"),
      ("1 555 123 4567", "+15551234567", "(555) 123-4567"),
      ("+1-555-123-4567", "+15551234567", "(555) 123-4567"),
      ("+44 20 7946 0958", "+442079460958", "+44 207 946 0958"),
      ("+44 (0)20 7946 0958", "+442079460958", "+44 207 946 0958"),
      ("+39 06 6982", "+39066982", "+39 066 982"),
      ("0044 20 7946 0958", "+442079460958", "+44 207 946 0958"),
      ("+49 30 901820", "+4930901820", "+49 309 01 820"),
      ("+33 6 12 34 56 78", "+33612345678", "+33 612 345 678"),
      ("+352 27 12 34 56", "+35227123456", "+352 271 23 456"),
      ("+7 495 123-45-67", "+74951234567", "+7 495 123 4567"),
      ("+81/3/1234/5678", "+81312345678", "+81 312 345 678"),
    ])
  func acceptedNumbers(_ text: String, _ e164: String, _ shown: String) throws {
    let number = try PhoneNumber(text)
    #expect(number.e164 == e164)
    #expect(number.shown == shown)
    #expect(try PhoneNumber(number.shown) == number)
    #expect(try PhoneNumber(number.e164) == number)
  }

  @Test(arguments: [
    ("", PhoneNumber.Failure.tooShort), ("12", .tooShort), ("555-1234", .countryMissing),
    ("0301234567", .countryMissing), ("1551234567", .badArea), ("+1 155 123 4567", .badArea),
    ("+1 555 123 456", .tooShort), ("+1 555 123 45678", .tooLong), ("911", .emergency),
    ("112", .emergency), ("555-CALL-NOW", .character("C")), ("5551234567 x12", .character("x")),
    ("+999 123456789", .unknownCountry), ("+0 123456789", .unknownCountry),
    ("+44 1234 5678 9012 345", .tooLong), ("٥٥٥١٢٣٤٥٦٧", .character("٥")), ("+49 12", .tooShort),
    ("+44 020 7946 0958", .trunkPrefix),
  ])
  func refusedNumbers(_ text: String, _ failure: PhoneNumber.Failure) {
    #expect(throws: failure) { try PhoneNumber(text) }
  }
}

@Suite struct CallElectionTests {
  private let due = instant("2026-11-23T09:00:00Z")

  @Test func eachCallAttemptBelongsToOneDeviceAndEachDeviceHasOne() {
    for callers in 1...5 {
      let tries = (0..<callers).map { CallElection(rank: $0, callers: callers, due: due).own }
      #expect(tries.flatMap { $0 }.sorted() == Array(1...max(callers, 3)))
      #expect(tries.allSatisfy { !$0.isEmpty })
    }
    #expect(CallElection(rank: 0, callers: 0, due: due).own == [])
  }

  @Test func aDeviceWithoutSyncCallsInItsOwnSlot() {
    let second = CallElection(rank: 1, callers: 2, due: due)
    #expect(second.move(at: due, leases: nil, tried: 0) == .wait(until: due.adding(seconds: 90)))
    #expect(second.move(at: due.adding(seconds: 90), leases: nil, tried: 0) == .call)
    #expect(second.move(at: due.adding(seconds: 91), leases: nil, tried: 1) == .over)
  }

  @Test("The last of many devices calls soon, with and without the remote")
  func theLastOfManyDevicesCalls() {
    let last = CallElection(rank: 11, callers: 12, due: due)
    let (claim, call) = (due.adding(seconds: 30), due.adding(seconds: 270))
    #expect(last.move(at: due, leases: [], tried: 0) == .wait(until: claim))
    #expect(last.move(at: claim, leases: [], tried: 0) == .claim(term: 1))
    #expect(last.move(at: due, leases: nil, tried: 0) == .wait(until: call))
    #expect(last.move(at: call, leases: nil, tried: 0) == .call)
    // It is the only one that is online: it makes every attempt.
    let unanswered = [1, 2].map { CallElection.Claim(term: $0, seen: due, outcome: .failed) }
    #expect(
      last.move(at: due.adding(seconds: 60), leases: unanswered, tried: 2) == .claim(term: 3))
  }

  @Test func aDeviceWithSyncWaitsForTheOthers() {
    let first = CallElection(rank: 0, callers: 3, due: due)
    let second = CallElection(rank: 1, callers: 3, due: due)
    #expect(first.move(at: due, leases: [], tried: 0) == .claim(term: 1))
    #expect(second.move(at: due, leases: [], tried: 0) == .wait(until: due.adding(seconds: 10)))
    let claimed = [
      CallElection.Claim(term: 1, seen: due, outcome: nil)
    ]
    #expect(
      second.move(at: due.adding(seconds: 60), leases: claimed, tried: 0)
        == .wait(until: due.adding(seconds: 180)))
    // The device with the claim is gone.
    #expect(
      second.move(at: due.adding(seconds: 180), leases: claimed, tried: 0) == .claim(term: 2))
    let failed = [CallElection.Claim(term: 1, seen: due, outcome: .failed)]
    #expect(second.move(at: due.adding(seconds: 15), leases: failed, tried: 0) == .claim(term: 2))
    let answered = [CallElection.Claim(term: 1, seen: due, outcome: .answered)]
    #expect(second.move(at: due.adding(seconds: 60), leases: answered, tried: 0) == .over)
    let used = (1...3).map { CallElection.Claim(term: $0, seen: due, outcome: .failed) }
    #expect(second.move(at: due.adding(seconds: 60), leases: used, tried: 0) == .over)
  }

  @Test("After a failed attempt, every other device tries before the same one again")
  func takingTurns() {
    func next(_ rank: Int, after term: Int, own: Bool = false) -> CallElection.Move {
      let claim = CallElection.Claim(term: term, seen: due, outcome: .unplaced, isOwn: own)
      return CallElection(rank: rank, callers: 3, due: due)
        .move(at: due, leases: [claim], tried: 0)
    }
    func wait(_ seconds: Int64) -> CallElection.Move { .wait(until: due.adding(seconds: seconds)) }
    #expect(next(1, after: 1) == wait(15))
    #expect(next(2, after: 1) == wait(25))
    #expect(next(0, after: 1, own: true) == wait(45))
    #expect(next(2, after: 2) == wait(15))
    #expect(next(0, after: 2) == wait(25))
  }

  @Test("Attempts whose call did not go out have no limit, but a back-off")
  func failedAttempts() {
    let only = CallElection(rank: 0, callers: 1, due: due)
    let claims = (1...9).map { CallElection.Claim(term: $0, seen: due, outcome: .unplaced) }
    let now = due.adding(seconds: 60)
    #expect(only.move(at: now, leases: claims, tried: 0) == .claim(term: 10))
    let later = now.adding(seconds: 600)
    #expect(only.move(at: now, leases: claims, tried: 0, retryAt: later) == .wait(until: later))
    #expect(only.move(at: now, leases: nil, tried: 0, retryAt: later) == .wait(until: later))
    #expect(only.move(at: due, leases: nil, tried: 0, retryAt: later.adding(seconds: 1)) == .call)
    #expect(
      (1...8).map(CallElection.backoff) == [15, 30, 60, 120, 240, 480, 600, 600])
  }

  @Test func theOrderOfTheListHasPriority() throws {
    let plan = Cascade.Plan(
      isOn: true, primary: phone, targets: [.device(speaker), .device(watch)])
    #expect(
      CallElection.callers(of: plan, able: [watch, phone, laptop, speaker])
        == [speaker, watch, phone, laptop])
    #expect(CallElection.callers(of: plan, able: [laptop]) == [laptop])
  }
}
