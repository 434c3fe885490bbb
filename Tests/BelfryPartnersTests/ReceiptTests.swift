import BelfryCore
import BelfryStore
import Foundation
import TestSupport
import Testing

@testable import BelfryPartners

/// The receipts that a sender gets for a request, and the facts that receipts omit.
@Suite struct ReceiptTests {
  private let due = CivilDateTime("2026-11-22T16:45")!

  // MARK: Receipts

  @Test("An acknowledgment stays if the receiver's second device reports a ring later")
  func gotItStays() async throws {
    let pair = try await Pair()
    let desk = try pair.secondDevice()
    try pair.chris.ask()
    for person in [pair.chris, pair.alex, desk] { try await person.round() }
    pair.pass(to: "2026-11-22T16:45:30Z")
    try pair.alex.ring()
    try pair.alex.answer(.done(at: nil, early: false))
    for person in [pair.alex, pair.chris] { try await person.round() }
    #expect(try pair.chris.partner.sent[0].state == .acknowledged)
    // The other device received nothing, continued to ring, and was stopped by another person.
    desk.now = Instant(rfc3339: "2026-11-22T16:47:00Z")!
    try desk.ring()
    try desk.answer(.stop)
    try await desk.round()
    pair.pass(to: "2026-11-22T16:48:00Z")
    let report = try await pair.chris.round()
    let sent = try pair.chris.partner.sent[0]
    #expect(sent.receipts.last?.state == .stopped)
    #expect(sent.state == .acknowledged && sent.isOver)
    #expect(report.news.isEmpty, "\(report.news)")
  }

  @Test("An undone response is reported, and the next one counts")
  func takenBack() async throws {
    let pair = try await Pair()
    try pair.chris.ask()
    for person in [pair.chris, pair.alex] { try await person.round() }
    pair.pass(to: "2026-11-22T16:46:00Z")
    try pair.alex.ring()
    try pair.alex.answer(.done(at: nil, early: false))
    for person in [pair.alex, pair.chris] { try await person.round() }
    pair.pass(to: "2026-11-22T16:47:00Z")
    _ = try pair.alex.store.history.undo()
    for person in [pair.alex, pair.chris] { try await person.round() }
    #expect(try pair.chris.partner.sent[0].standing?.detail == "the response was undone")
    pair.pass(to: "2026-11-22T16:48:00Z")
    try pair.alex.answer(.stop)
    for person in [pair.alex, pair.chris] { try await person.round() }
    #expect(try pair.chris.partner.sent[0].state == .stopped)
  }

  @Test("Rings of several devices are reported once, and again after a snooze")
  func ringsAreToldOnce() async throws {
    let pair = try await Pair()
    try pair.chris.ask()
    for person in [pair.chris, pair.alex] { try await person.round() }
    for time in ["16:45:01", "16:47:01", "16:49:01"] {
      pair.pass(to: "2026-11-22T\(time)Z")
      try pair.alex.ring()
    }
    pair.pass(to: "2026-11-22T16:50:00Z")
    try pair.alex.answer(.snooze(seconds: 540))
    pair.pass(to: "2026-11-22T16:59:00Z")
    try pair.alex.ring()
    for person in [pair.alex, pair.chris] { try await person.round() }
    #expect(
      try pair.chris.partner.sent[0].receipts.map(\.state) == [.scheduled, .rung, .snoozed, .rung])
  }

  @Test("A miss is reported with the fact that no device rang, until one reports its ring")
  func silentMiss() async throws {
    let pair = try await Pair()
    let desk = try pair.secondDevice()
    try pair.chris.ask()
    for person in [pair.chris, pair.alex, desk] { try await person.round() }
    desk.now = Instant(rfc3339: "2026-11-22T16:45:00Z")!
    try desk.ring()
    pair.pass(to: "2026-11-23T05:00:00Z")
    try pair.alex.store.commit(Event(.missed, due), of: pair.alex.alarm)
    for person in [pair.alex, pair.chris] { try await person.round() }
    #expect(try pair.chris.partner.sent[0].standing?.detail == "did not ring")
    for person in [desk, pair.chris] { try await person.round() }
    let standing = try #require(try pair.chris.partner.sent[0].standing)
    #expect(standing.state == .missed && standing.detail == nil)
  }

  @Test("A miss after a ring is reported without a reason")
  func missAfterRing() async throws {
    let pair = try await Pair()
    try pair.chris.ask()
    for person in [pair.chris, pair.alex] { try await person.round() }
    pair.pass(to: "2026-11-22T16:45:00Z")
    try pair.alex.ring()
    pair.pass(to: "2026-11-22T17:15:00Z")
    try pair.alex.store.commit(Event(.missed, due), of: pair.alex.alarm)
    for person in [pair.alex, pair.chris] { try await person.round() }
    let standing = try #require(try pair.chris.partner.sent[0].standing)
    #expect(standing.state == .missed && standing.detail == nil)
  }

  @Test("Receipts for requests of two devices of the sender reach both")
  func twoSendingDevices() async throws {
    let pair = try await Pair()
    let other = try Person(pair.mailbox)
    let keys = try #require(PartnerStore.imported(PartnerStore.exported([try pair.chris.partner])))
    try other.book.change { $0 = keys }
    try pair.chris.ask("One")
    try other.ask("Two")
    for person in [pair.chris, other] { try await person.round() }
    // One message has the receipts for both requests.
    for person in [pair.alex, other, pair.alex, pair.chris] { try await person.round() }
    #expect(try other.partner.sent.map(\.state) == [.scheduled])
    #expect(try pair.chris.partner.sent.map(\.state) == [.scheduled])
    let address = try pair.chris.partner.channel!.addresses.inbox
    func waiting() -> Bool { pair.mailbox.all.keys.contains { $0.hasPrefix("\(address)/") } }
    #expect(waiting())
    pair.pass(to: "2026-12-24T12:00:00Z")
    try await pair.chris.round()
    #expect(!waiting())
  }

  // MARK: Private data

  @Test("The receiver's cascade targets and devices stay private, and a changed time is reported")
  func privateEdits() async throws {
    let pair = try await Pair()
    try pair.chris.ask()
    for person in [pair.chris, pair.alex] { try await person.round() }
    let device = try pair.alex.store.device
    pair.pass(to: "2026-11-22T12:10:00Z")
    try pair.alex.edit(
      .cascade(.added(.phone(try PhoneNumber("+49 30 123456"), message: "Mom's phone")))
    ) { alarm in
      alarm.cascade = Cascade(
        Cascade.Plan(isOn: true, interval: 120, primary: device, targets: []))
    }
    pair.pass(to: "2026-11-22T12:11:00Z")
    try pair.alex.edit(.fields([.delivery])) { $0.delivery.devices = [device] }
    for person in [pair.alex, pair.chris] { try await person.round() }
    #expect(try pair.chris.partner.sent[0].receipts.map(\.state) == [.scheduled])
    pair.pass(to: "2026-11-22T12:12:00Z")
    try pair.alex.edit(.fields([.note, .schedule])) { alarm in
      alarm.note = "Wake up, +49 30 123456"
      alarm.schedule =
        (try? Schedule(alarm.schedule.recurrence, times: [CivilTime("17:00")!]))
        ?? alarm.schedule
    }
    for person in [pair.alex, pair.chris] { try await person.round() }
    let receipts = try pair.chris.partner.sent[0].receipts
    #expect(receipts.map(\.state) == [.scheduled, .changed])
    #expect(receipts.last?.detail == "changed: the time and the text")
  }

  @Test("For each action in the log, a receipt has only the facts of the consent, in fixed words")
  func theAllowList() throws {
    var alarm = try PartnerRequest(
      id: Identifier(high: 1, low: 1), message: "Look",
      at: Instant(rfc3339: "2026-11-22T16:45:00Z")!,
      expires: Instant(rfc3339: "2026-11-22T17:00:00Z")!
    ).alarm(
      id: Identifier(high: 2, low: 2),
      from: PartnerOrigin(
        name: "Chris", partnership: Identifier(high: 3, low: 3),
        request: Identifier(high: 1, low: 1)),
      here: .utc, at: Instant(rfc3339: Pair.start)!, device: Identifier(high: 4, low: 4))
    alarm.mergeState.stamps[.schedule] = alarm.mergeState.stamps[.title]
    let report = AlarmReport(alarm, zone: .utc)
    var told: [LogEntry.Action: String] = [:]
    for action in LogEntry.Action.allCases {
      // An instant that differs from the stamp of every field.
      let entry = LogEntry(
        id: Identifier(high: 5, low: 5), alarm: alarm.id, title: "Secret", occurrence: due,
        action: action, at: Instant(rfc3339: "2026-11-22T16:45:10Z")!,
        device: Identifier(high: 6, low: 6), payload: .partnerRequest(partner: "Secret"))
      guard let event = report.event(entry, isUnheard: false) else { continue }
      told[action] = "\(event.state): \(event.detail ?? "-")"
      #expect(event.due == Instant(rfc3339: "2026-11-22T16:45:00Z"))
    }
    #expect(
      told == [
        .fired: "rung: -", .snoozed: "snoozed: -", .stopped: "stopped: -",
        .done: "acknowledged: -", .missed: "missed: -", .skipped: "skipped: -",
        .undone: "changed: the response was undone",
        .unskipped: "changed: no longer skipped", .paused: "changed: paused",
        .resumed: "changed: resumed", .moved: "changed: changed: time",
      ])
  }
}
