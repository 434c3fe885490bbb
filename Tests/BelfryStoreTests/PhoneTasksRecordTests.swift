import BelfryCore
import TestSupport
import Testing

@testable import BelfryStore

/// The step of the tasks on a phone in records.
@Suite struct PhoneTasksRecordTests {
  private let id = Identifier("rentaaaaaaaaaaaaaaaaaaaaaa")!
  private let laptop = Identifier("laptopaaaaaaaaaaaaaaaaaaaa")!
  private let server = Identifier("serveraaaaaaaaaaaaaaaaaaaa")!
  private let now = Instant(rfc3339: "2026-11-20T22:41:00Z")!

  private func decode(_ text: String) throws -> Alarm {
    try AlarmRecord.decode(Array(text.utf8), id: id, now: now)
  }

  private func written(_ alarm: Alarm) -> String {
    String(decoding: AlarmRecord.encode(alarm), as: UTF8.self)
  }

  /// Returns a record with the members of a cascade.
  private func record(_ cascade: String) -> String {
    """
    {"format": 1, "id": "\(id)", "title": "Rent", "cascade": {\(cascade)},
     "schedule": {"kind": "daily", "start": "2026-11-20", "times": ["09:00"]}}
    """
  }

  private func targets(_ cascade: String) throws -> [CascadeTarget] {
    try decode(record(cascade)).cascade?.plan.targets ?? []
  }

  /// Returns an alarm whose cascade has targets, edited at a time.
  private func edited(
    _ alarm: Alarm, at seconds: Int64, by device: Identifier? = nil,
    _ body: (inout Cascade.Plan) -> Void
  ) -> Alarm {
    var result = alarm
    var cascade = alarm.cascade ?? Cascade()
    body(&cascade.plan)
    result.cascade = cascade
    return result.stamped(
      against: alarm, at: now.adding(seconds: seconds), device: device ?? laptop)
  }

  private func base() throws -> Alarm {
    edited(try decode(record("")), at: 0) { plan in
      plan.isOn = true
      plan.targets = [.device(server)]
    }
  }

  @Test("The step round-trips at each place, also in earlier versions of the cascade")
  func roundTrip() throws {
    let phone = CascadeTarget.phone(try PhoneNumber("+15551234567"), message: nil)
    for place in 0...2 {
      var targets = [CascadeTarget.device(server), phone]
      targets.insert(.phoneTasks, at: place)
      let first = edited(try base(), at: 60) { $0.targets = targets }
      let second = edited(first, at: 240) { $0.interval = 30 }
      for alarm in [first, second] {
        let text = written(alarm)
        #expect(try decode(text) == alarm)
        #expect(try decode(text).cascade?.plan.targets == targets)
      }
      // An occurrence that is due before the second edit continues with all of its steps.
      let plan = second.cascade?.plan(at: now.adding(seconds: 120))
      #expect(plan?.interval == Cascade.interval && plan?.targets == targets)
      let removed = edited(first, at: 240) { $0.targets.removeAll { $0 == .phoneTasks } }
      #expect(try decode(written(removed)) == removed)
      #expect(removed.cascade?.plan.usesPhoneTasks == false)
    }
  }

  @Test("It is a member of its own, and no target in the list, which earlier versions would reject")
  func form() throws {
    let alarm = edited(try base(), at: 60) { $0.targets.append(.phoneTasks) }
    let json = try JSON(parsing: Array(written(edited(alarm, at: 240) { $0.interval = 30 }).utf8))
    let cascade = try #require(json["cascade"])
    #expect(cascade["targets"]?.array?.map { $0["device"]?.string } == [server.text])
    #expect(cascade["phoneTasks"]?["order"] == 2_000_000)
    #expect(
      cascade["phoneTasks"]?["edited"] == "2026-11-20T22:42:00.000Z-0000-laptopaaaaaaaaaaaaaaaaaaaa"
    )
    let earlier = try #require(cascade["earlier"]?.array?.last)
    #expect(earlier["phoneTasks"] == nil && earlier["targets"]?.array?.count == 1)
    // Earlier versions bring an unknown member back, so it stays after a removal.
    let removed = edited(alarm, at: 300) { $0.targets.removeAll { $0 == .phoneTasks } }
    let gone = try #require(try JSON(parsing: Array(written(removed).utf8))["cascade"])
    #expect(gone["phoneTasks"]?["removed"] == true && gone["removed"] == nil)
  }

  @Test("By hand, `phoneTasks` needs neither stamp nor order")
  func handwritten() throws {
    let device = #"{"device": "\#(server)"}"#
    #expect(try targets(#""phoneTasks": true"#) == [.phoneTasks])
    #expect(
      try targets(#""targets": [\#(device)], "phoneTasks": true"#) == [
        .device(server), .phoneTasks,
      ])
    let placed = #""targets": [{"device": "\#(server)", "order": 5}], "phoneTasks": 4"#
    #expect(try targets(placed) == [.phoneTasks, .device(server)])
    let stamp = "2026-11-20T22:41:00.000Z-0000-laptopaaaaaaaaaaaaaaaaaaaa"
    #expect(try targets(#""phoneTasks": {"edited": "\#(stamp)", "removed": true}"#) == [])
    for wrong in [
      #""phoneTasks": false"#, #""phoneTasks": {}"#, #""phoneTasks": {"edited": 3}"#,
      #""phoneTasks": {"edited": "\#(stamp)", "order": "first"}"#,
      #""phoneTasks": {"edited": "\#(stamp)", "removed": 1}"#,
      #""targets": [{"phoneTasks": true}]"#,
    ] {
      #expect(throws: RecordError.self, "\(wrong)") { try decode(record(wrong)) }
    }
  }

  /// An earlier version joins the member as an unknown key. This version knows no key `phoneWorks` either.
  @Test(
    "Earlier versions keep the step, and join it to the same bytes as this version",
    arguments: [1, 2, 3, 4])
  func earlierVersions(_ edit: Int) throws {
    func change(_ plan: inout Cascade.Plan) {
      switch edit {
      case 1: plan.targets.swapAt(0, 1)
      case 2: plan.targets.insert(.person(CascadePerson(name: "Jen", address: "x")), at: 0)
      case 3: plan.targets.removeAll { $0 == .phoneTasks }
      default: plan.interval = 30
      }
    }
    let with = edited(try base(), at: 60) { $0.targets.append(.phoneTasks) }
    let ours = edited(with, at: 120) { change(&$0) }
    let theirs = edited(with, at: 180, by: server) { $0.targets.swapAt(0, 1) }
    func unknown(_ alarm: Alarm) throws -> Alarm {
      try decode(written(alarm).replacing("\"phoneTasks\"", with: "\"phoneWorks\""))
    }
    for (a, b) in [(ours, theirs), (theirs, ours), (ours, with), (with, ours)] {
      let joined = Alarm.join(try unknown(a), try unknown(b))
      let text = written(joined).replacing("\"phoneWorks\"", with: "\"phoneTasks\"")
      #expect(text == written(Alarm.join(a, b)), "\(edit)")
      #expect(try decode(text) == Alarm.join(a, b), "\(edit)")
    }
    // An edit there keeps it.
    let elsewhere = edited(try unknown(ours), at: 240) { $0.isOn = false }
    let text = written(elsewhere).replacing("\"phoneWorks\"", with: "\"phoneTasks\"")
    #expect(try decode(text).cascade?.plan.targets == ours.cascade?.plan.targets)
  }

  @Test("Concurrent edits of the step and of others are all kept")
  func concurrentEdits() throws {
    let with = edited(try base(), at: 60) { $0.targets.append(.phoneTasks) }
    let added = edited(with, at: 120) {
      $0.targets.append(.person(CascadePerson(name: "Jen", address: "x")))
    }
    let removed = edited(with, at: 130, by: server) { $0.targets.removeFirst() }
    let joined = Alarm.join(added, removed)
    #expect(joined.cascade?.plan.targets.map(\.key) == ["phone tasks", "person Jen"])
    let gone = edited(with, at: 140, by: server) { $0.targets.removeAll { $0 == .phoneTasks } }
    #expect(Alarm.join(added, gone).cascade?.plan.usesPhoneTasks == false)
    #expect(try decode(written(Alarm.join(added, gone))).cascade?.plan.usesPhoneTasks == false)
  }
}
