import BelfryCore
import BelfryStore
import Testing

@testable import BelfryCommands
@testable import BelfryTerminal

/// The text of each payload of a log entry.
@Suite struct LogTextTests {
  private let laptop = Identifier(high: 1, low: 1)
  private let watch = Identifier(high: 2, low: 2)

  private var text: LogText {
    LogText(names: [laptop: "laptop", watch: "Watch"], times: .utc)
  }

  private func entry(_ payload: LogPayload?, _ action: LogEntry.Action = .edited) -> LogEntry {
    LogEntry(
      id: Identifier(high: 3, low: 3), alarm: Identifier(high: 4, low: 4), title: "Rent",
      occurrence: CivilDateTime("2026-12-01T09:00"), action: action,
      at: Instant(rfc3339: "2026-12-01T09:01:00Z")!, device: laptop, payload: payload)
  }

  private func words(_ payload: LogPayload) -> String? { text.text(entry(payload)) }

  private func call(_ outcome: CallOutcome, isTest: Bool = false) throws -> LogPayload {
    .call(
      LogPayload.Call(
        target: .phone(try PhoneNumber("+15551234567"), message: nil), attempt: 2,
        outcome: outcome, isTest: isTest))
  }

  @Test func payloadsOfAlarmsHaveTexts() throws {
    let schedule = try Schedule(
      .once(CivilDate("2026-12-24")!), times: [CivilTime("18:00")!])
    #expect(words(.schedule(schedule)) == "once 24 Dec 18:00")
    #expect(words(.partnerRequest(partner: "Chris")) == "requested by Chris")
    #expect(words(.partnerRequest(partner: nil)) == "requested by a partner")
    #expect(words(.fields([.title, .schedule])) == "title, schedule")
    #expect(words(.restoredPart(.every)) == "cascade.every")
    #expect(
      words(.replacedDevice(watch))
        == "device: laptop (\(laptop.short)) replaces \(watch.short)")
    #expect(words(.deletion(.recalled(partner: "Chris"))) == "recalled by Chris")
    #expect(
      words(.deletion(.partnershipEnded(partner: "Chris")))
        == "the partnership with Chris has ended")
    #expect(
      words(.deletion(.partnerRemoved(partner: "Chris")))
        == "the partnership with Chris was ended here")
    #expect(
      words(.pause(until: CivilDateTime("2026-12-15T00:00")!))
        == "until 15 Dec 00:00")
  }

  @Test func payloadsOfOccurrencesHaveTexts() {
    let earlier = LogPayload.EarlierOccurrences(
      count: 6698, first: CivilDateTime("2026-01-01T00:01")!)
    #expect(
      words(.snooze(until: Instant(rfc3339: "2026-12-01T21:11:00Z")!)) == "until 21:11")
    #expect(
      words(.snooze(until: Instant(rfc3339: "2026-12-02T09:11:00Z")!))
        == "until 2 Dec 09:11")
    #expect(words(.followUp(number: 1, count: 3, isUnanswered: false)) == "1 of 3")
    #expect(words(.followUp(number: 3, count: 3, isUnanswered: true)) == "3 of 3, unanswered")
    #expect(words(.skippedByPause(nil)) == "paused")
    #expect(
      words(.skippedByPause(earlier))
        == "paused, and 6698 before it, the first on Thu 1 Jan 2026, 00:01")
    #expect(words(.earlier(earlier)) == "and 6698 before it, the first on Thu 1 Jan 2026, 00:01")
    #expect(words(.undone(.done)) == "done")
  }

  @Test func payloadsOfCascadesHaveTexts() throws {
    #expect(words(.cascade(.on)) == "cascade: on")
    #expect(words(.cascade(.off)) == "cascade: off")
    #expect(words(.cascade(.added(.device(watch)))) == "cascade: Watch added")
    #expect(
      words(.cascade(.removed(.person(CascadePerson(name: "Jen", device: watch)))))
        == "cascade: Jen's Watch removed")
    #expect(words(.cascade(.moved(from: 3, to: 1))) == "cascade: 3 moved to 1")
    #expect(words(.exhaustedCascade) == "the whole cascade was unanswered")
    #expect(words(.undelivered) == "no channel could deliver it")
    #expect(words(.unansweredSteps(1)) == "the only step of the cascade was unanswered")
    #expect(words(.unansweredSteps(3)) == "all 3 steps of the cascade were unanswered")
    #expect(words(.rehearsalRequest) == "requested")
    #expect(words(.rehearsal(isDelivered: true)) == "rang on laptop")
    #expect(words(.rehearsal(isDelivered: false)) == "was not delivered on laptop")
  }

  @Test func payloadsOfCallsHaveTexts() throws {
    let outcomes: [(CallOutcome, String)] = [
      (.answered, "answered"), (.busy, "the line was busy"), (.noAnswer, "there was no answer"),
      (.hookMissing(name: "call", folders: ["/a", "/b"]), "there is no hook 'call' in /a, /b"),
      (
        .failed([.message("no credit"), .exited(status: 3), .timedOut(seconds: 150), .notRun("x")]),
        "no credit; the hook exited with status 3; the hook timed out after 150 s; x"
      ),
    ]
    for (outcome, reason) in outcomes {
      #expect(words(try call(outcome)) == "(555) 123-4567: \(reason), try 2")
    }
    #expect(
      words(try call(.busy, isTest: true))
        == "(555) 123-4567: the line was busy, try 2 (a test)")
  }

  @Test func anEntryOfANewerVersionHasAText() throws {
    let payload = LogPayload.unknown(#"{"kind":"defused","wire":"red\u001b"}"#)
    let line = text.row([entry(payload, .unknown("defused"))])
    #expect(
      line
        == #"  09:01  Defused    Rent (09:00), {"kind":"defused","wire":"red\u001b"}  laptop"#
    )
    let json = text.json(entry(payload, .unknown("defused")))
    #expect(json["payload"]?["wire"]?.string == "red\u{1B}")
    #expect(json["action"]?.string == "defused")
  }

  @Test func anEntryHasALineAndJSON() throws {
    let entry = entry(.fields([.title]))
    #expect(
      text.row([entry])
        == "  09:01  Edited     Rent (09:00): title  laptop")
    #expect(text.text(self.entry(nil)) == nil)
    #expect(text.json(entry)["payload"]?["fields"]?.array == ["title"])
    #expect(text.json(entry)["detail"] == nil)
  }
}
