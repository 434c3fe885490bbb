import BelfryCore
import Testing

@testable import BelfryStore

/// The payload of log entries in records.
@Suite struct LogPayloadTests {
  private static let id = Identifier(high: 1, low: 2)
  private static let earlier = LogPayload.EarlierOccurrences(
    count: 12, first: CivilDateTime("2026-01-01T00:01")!)

  private static func targets() throws -> [CascadeTarget] {
    [
      .device(id), .person(CascadePerson(name: "Jen", device: id, gadget: "iPhone")),
      .person(CascadePerson(name: "Sam")), .phone(try PhoneNumber("+15551234567"), message: nil),
      .phoneTasks,
    ]
  }

  /// One payload of each kind and with each enumeration value.
  static func all() throws -> [LogPayload] {
    let time = CivilTime("09:00")!
    let outcomes: [CallOutcome] = [
      .answered, .busy, .noAnswer, .hookMissing(name: "call", folders: ["/a", "/b"]),
      .failed([.message("no credit"), .exited(status: 3), .timedOut(seconds: 150), .notRun("x")]),
    ]
    let targets = try targets()
    let payloads: [LogPayload] = [
      .schedule(try Schedule(.once(CivilDate("2026-12-24")!), times: [time])),
      .partnerRequest(partner: "Chris"), .partnerRequest(partner: nil),
      .fields([.title, .schedule]), .restoredPart(.every), .restoredPart(.target("person Jen")),
      .restoredPart(.target(CascadeTarget.phoneTasks.key)),
      .cascade(.on), .cascade(.off), .cascade(.moved(from: 3, to: 1)), .replacedDevice(id),
      .deletion(.recalled(partner: "Chris")), .deletion(.partnershipEnded(partner: "Chris")),
      .deletion(.partnerRemoved(partner: "Chris")),
      .snooze(until: Instant(rfc3339: "2026-11-20T21:11:00Z")!),
      .pause(until: CivilDateTime("2026-12-15T00:00")!),
      .pause(from: CivilDateTime("2026-12-01T00:00")!, until: CivilDateTime("2026-12-15T00:00")!),
      .followUp(number: 1, count: 3, isUnanswered: false),
      .followUp(number: 2, count: 3, isUnanswered: true), .skippedByPause(nil),
      .skippedByPause(earlier), .earlier(earlier), .exhaustedCascade, .undelivered,
      .unansweredSteps(3),
      .undone(.done), .undone(.unknown("defused")), .rehearsalRequest,
      .rehearsal(isDelivered: true), .rehearsal(isDelivered: false),
    ]
    return payloads
      + targets.flatMap { [.cascade(.added($0)), .cascade(.removed($0))] }
      + outcomes.map {
        .call(LogPayload.Call(target: targets[3], attempt: 2, outcome: $0, isTest: false))
      }
      + [.call(LogPayload.Call(target: targets[0], attempt: 1, outcome: .busy, isTest: true))]
  }

  private func entry(
    _ payload: LogPayload?, _ action: LogEntry.Action = .edited, extras: [String: String] = [:]
  ) -> LogEntry {
    LogEntry(
      id: LogPayloadTests.id, alarm: LogPayloadTests.id, title: "Rent", action: action,
      at: Instant(seconds: 1_800_000_000), device: LogPayloadTests.id, payload: payload,
      extras: extras)
  }

  private func document(_ members: String) -> [UInt8] {
    let id = LogPayloadTests.id
    let text =
      #"{"format": 1, "id": "\#(id)", "alarm": "\#(id)", "title": "Rent", "at": "2027-01-15T08:00:00Z", "device": "\#(id)", \#(members)}"#
    return (try? JSON(parsing: Array(text.utf8)).document) ?? []
  }

  @Test("Each payload round-trips")
  func roundTrip() throws {
    for payload in try LogPayloadTests.all() {
      let bytes = LogRecord.encode(entry(payload))
      #expect(try LogRecord.decode(bytes) == entry(payload), "\(payload)")
    }
  }

  @Test("Two payloads have the same JSON only if they are equal")
  func distinct() throws {
    let all = try LogPayloadTests.all()
    #expect(Set(all.map { LogPayloadRecord.encode($0).line }).count == all.count)
    #expect(Set(all).count == all.count)
  }

  @Test(
    "A payload of a newer version is preserved byte for byte",
    arguments: [
      #""payload": {"kind": "defused", "wires": ["red", 3, {"x": null}]}"#,
      #""payload": {"kind": "fields", "fields": ["title", "color"]}"#,
      #""payload": {"kind": "cascade", "edit": "doubled", "more": 1}"#,
      #""payload": {"kind": "cascade", "edit": "added", "target": {"robot": "R2"}}"#,
      #""payload": {"kind": "deletion", "reason": "expired"}"#,
      #""payload": {"kind": "restoredPart", "part": "volume"}"#,
      #""payload": {"kind": "schedule", "schedule": {"kind": "lunar", "times": ["09:00"]}}"#,
      #""payload": {"kind": "call", "outcome": "voicemail", "attempt": 1}"#,
    ])
  func unknown(_ payload: String) throws {
    let bytes = document("\"action\": \"edited\", \(payload)")
    let entry = try LogRecord.decode(bytes)
    guard case .unknown? = entry.payload else {
      Issue.record("\(String(describing: entry.payload))")
      return
    }
    #expect(LogRecord.encode(entry) == bytes)
  }

  @Test("An action of a newer version, and an unknown member of a known payload, are preserved")
  func unknownParts() throws {
    let bytes = document(
      #""action": "defused", "payload": {"kind": "snooze", "until": "2027-01-15T09:00:00Z", "by": {"x": 1}}"#
    )
    let entry = try LogRecord.decode(bytes)
    #expect(entry.action == .unknown("defused"))
    #expect(entry.payload == .snooze(until: Instant(rfc3339: "2027-01-15T09:00:00Z")!))
    #expect(entry.extras == ["payload/by": #"{"x":1}"#])
    #expect(LogRecord.encode(entry) == bytes)
  }

  @Test("Every known action has its own name")
  func actions() {
    for action in LogEntry.Action.allCases {
      #expect(LogEntry.Action(rawValue: action.rawValue) == action)
      if case .unknown = action { Issue.record("\(action)") }
    }
    #expect(Set(LogEntry.Action.allCases.map(\.rawValue)).count == 22)
  }

  @Test(
    "A known kind with a wrong value is invalid",
    arguments: [
      #""action": "edited", "payload": "title""#, #""action": "edited", "payload": {}"#,
      #""action": "edited", "payload": {"kind": 1}"#,
      #""action": "edited", "payload": {"kind": "fields", "fields": "title"}"#,
      #""action": "edited", "payload": {"kind": "fields"}"#,
      #""action": "edited", "payload": {"kind": "snooze", "until": "tomorrow"}"#,
      #""action": "edited", "payload": {"kind": "earlier", "count": -1, "first": "2026-01-01T00:01"}"#,
      #""action": "edited", "payload": {"kind": "partnerRequest", "partner": "a\u001bb"}"#,
      #""action": "edited", "payload": {"kind": "cascade", "edit": "added", "target": {"phone": "110"}}"#,
      #""action": """#, #""action": "a b""#, #""action": 1"#,
    ])
  func invalid(_ members: String) {
    let bytes = document(members)
    #expect(!bytes.isEmpty)
    #expect(throws: RecordError.self) { try LogRecord.decode(bytes) }
  }

  @Test("Of two versions of an entry the same one wins on each side")
  func join() throws {
    let entries = try LogPayloadTests.all().map { entry($0) }
    for (one, two) in zip(entries, entries.dropFirst()) {
      #expect(LogEntry.join(one, two) == LogEntry.join(two, one))
    }
  }

  @Test("A hook's text loses its control characters before it is recorded")
  func hookText() throws {
    let call = LogPayload.Call(
      target: .phone(try PhoneNumber("+15551234567"), message: "Room 412"), attempt: 1,
      outcome: .failed([.message("no\u{1B}[2J credit")]), isTest: false)
    #expect(call.outcome == .failed([.message("no[2J credit")]))
    #expect(call.target == .phone(try PhoneNumber("+15551234567"), message: nil))
    #expect(try LogRecord.decode(LogRecord.encode(entry(.call(call)))) == entry(.call(call)))
  }

  @Test("The commit of an event has its facts as trailers and its text in the subject")
  func commit() throws {
    let schedule = try Schedule(
      .once(CivilDate("2026-12-24")!), times: [CivilTime("09:00")!])
    let alarm = Alarm.created(
      id: LogPayloadTests.id, title: "Rent", note: nil, schedule: schedule, zone: .floating,
      delivery: Alarm.Delivery(), at: Instant(seconds: 0), device: LogPayloadTests.id)
    let message = CommitMessage(
      Event(.edited, payload: .fields([.title, .note])), of: alarm, device: LogPayloadTests.id)
    let id = LogPayloadTests.id
    #expect(
      message.text
        == "Edited: Rent\n\nAlarm: \(id)\nAction: edited\nFields: title, note\nDevice: \(id)\n")
    for payload in try LogPayloadTests.all() {
      let event = Event(.done, CivilDateTime("2026-12-01T09:00"), payload: payload)
      let message = CommitMessage(event, of: alarm, device: id)
      #expect(message.subject == "Done: Rent (2026-12-01 09:00)")
      let trailers = CommitMessage.trailers(of: message.text)
      #expect(trailers["Device"] == id.text && trailers["Action"] == "done", "\(payload)")
      #expect(trailers["Alarm"] == id.text && trailers["Occurrence"] == "2026-12-01T09:00")
    }
  }
}
