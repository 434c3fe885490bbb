import BelfryCore
import BelfryStore
import Foundation
import TestSupport
import Testing

@testable import BelfryPartners

/// The limits of a receiver.
@Suite struct ReceiverLimitTests {
  @Test(
    "A request for 22:59 that arrives at 03:00 is refused, even if the sender's software sets no expiry"
  )
  func lateInQuietHours() async throws {
    let pair = try await Pair()
    let at = Instant(rfc3339: "2026-11-22T22:59:00Z")!
    for expires in [at.adding(seconds: 43_200), Instant(rfc3339: "2099-01-01T00:00:00Z")!] {
      let request = PartnerRequest(
        id: try pair.chris.store.context.makeIdentifier(), message: "Look", at: at, expires: expires
      )
      try pair.chris.change { partner in
        partner.sent.append(SentRequest(request: request, created: pair.chris.now))
        try partner.post(request, at: pair.chris.now)
      }
    }
    try await pair.chris.round()
    pair.pass(to: "2026-11-23T03:00:00Z")
    for person in [pair.alex, pair.chris] { try await person.round() }
    #expect(try pair.alex.alarms.isEmpty)
    #expect(
      try pair.chris.partner.sent.map { $0.standing?.detail }
        == Array(repeating: "their quiet hours, 23:00-06:00", count: 2))
  }

  @Test("Quiet hours are stored in the alarm, and follow the limits")
  func quietHoursOfAlarms() async throws {
    let pair = try await Pair()
    try pair.chris.ask()
    for person in [pair.chris, pair.alex] { try await person.round() }
    #expect(try pair.alex.alarm.partner?.quiet == .standard)
    let other = QuietHours("16:00-17:00")
    let store = try pair.alex.store
    #expect(try QuietHoursUpdate(store, to: other).apply(to: [pair.alex.alarm.id]) == 1)
    #expect(try QuietHoursUpdate(store, to: other).apply(to: [pair.alex.alarm.id]) == 0)
    #expect(try pair.alex.alarm.partner?.quiet == other)
    pair.pass(to: "2026-11-22T16:45:00Z")
    let later = try pair.alex.store
    let evaluation = later.timeline(try pair.alex.alarm).evaluate(
      at: pair.alex.now, settings: pair.alex.settings, ledger: DeliveryLedger())
    #expect(evaluation.firings.isEmpty)
    #expect(evaluation.nextWake == Instant(rfc3339: "2026-11-22T17:00:00Z"))
    // The partner gets no report of it.
    for person in [pair.alex, pair.chris] { try await person.round() }
    #expect(try pair.chris.partner.sent[0].receipts.map(\.state) == [.scheduled])
  }

  @Test("A request with 96 rings in a day is refused, and so are several with as many together")
  func ringsOfADay() async throws {
    let pair = try await Pair()
    func ask(_ times: [CivilTime]) throws {
      let schedule = try Schedule(
        .daily(Recurrence.Cadence(start: CivilDate("2026-11-23")!)), times: times)
      let at = TimeZoneRules.utc.instant(
        of: CivilDateTime(CivilDate("2026-11-23")!, schedule.times[0]))
      try pair.chris.ask(
        at: at.rfc3339, repeats: PartnerRequest.Repetition(schedule: schedule, zone: "UTC"))
    }
    try pair.alex.change { $0.limits.quiet = nil }
    try ask((0..<96).map { CivilTime(hour: $0 / 4, minute: $0 % 4 * 15)! })
    for person in [pair.chris, pair.alex] { try await person.round() }
    #expect(try pair.alex.alarms.isEmpty)
    for hour in [7, 8] {
      try ask((0..<12).map { CivilTime(hour: hour, minute: $0 * 5)! })
      for person in [pair.chris, pair.alex] { try await person.round() }
      #expect(try pair.alex.alarms.count == 1)
    }
    try ask((0..<8).map { CivilTime(hour: 9, minute: $0 * 5)! })
    for person in [pair.chris, pair.alex, pair.chris] { try await person.round() }
    #expect(try pair.alex.alarms.count == 2)
    #expect(
      try pair.chris.partner.sent.map(\.state) == [.refused, .scheduled, .refused, .scheduled])
  }

  @Test("Replies and messages of a muted partner are not shown")
  func aMutedReply() async throws {
    let pair = try await Pair()
    let request = try pair.chris.ask()
    for person in [pair.chris, pair.alex, pair.chris] { try await person.round() }
    try pair.chris.change { $0.limits.isMuted = true }
    try pair.alex.change { partner in
      try partner.reply("Hello?", to: request.id, at: pair.alex.now)
      // As modified software would.
      try partner.seal(
        .receipts([
          PartnerReceipt(.withdrawn, of: request.id, at: pair.alex.now, detail: "Hello!")
        ]), at: pair.alex.now)
    }
    try await pair.alex.round()
    let report = try await pair.chris.round()
    let sent = try pair.chris.partner.sent[0]
    #expect(!sent.receipts.contains { $0.state == .reply || $0.detail == "Hello!" })
    #expect(sent.state == .withdrawn)
    #expect(report.news.count == 1)
    let inbox = try #require(try pair.chris.partner.channel).addresses.inbox
    #expect(!pair.mailbox.all.keys.contains { $0.hasPrefix(inbox) })
  }

  @Test(
    "A message of a thousand characters is sent, however many bytes it takes",
    arguments: ["❤️", "👨‍👩‍👧‍👦", "x"])
  func longMessages(_ character: String) async throws {
    let pair = try await Pair()
    try pair.alex.change { $0.limits.longest = 1000 }
    let message = String(repeating: character, count: 1000)
    try pair.chris.ask(message)
    for person in [pair.chris, pair.alex] { try await person.round() }
    #expect(try pair.alex.alarm.note == message)
  }

  // MARK: Several devices of the receiver

  /// Copies what a sync of the store brings from one device to another.
  private func syncShared(from source: Person, to target: Person) throws {
    try target.store.setSharedValues(source.store.sharedValues("partner-"), subject: "Sync")
  }

  @Test(
    "The limits of a partner, and the end of the partnership, hold on all devices with the keys")
  func sharedLimits() async throws {
    let pair = try await Pair()
    let desk = try pair.secondDevice()
    try pair.alex.change { partner in
      partner.limits.isMuted = true
      partner.limits.perDay = 3
    }
    try syncShared(from: pair.alex, to: desk)
    #expect(try desk.partner.limits == pair.alex.partner.limits)
    try pair.chris.ask()
    for person in [pair.chris, desk, pair.chris] { try await person.round() }
    #expect(try desk.alarms.isEmpty)
    #expect(try pair.chris.partner.sent[0].standing?.detail == "you are muted")
    // The other way round.
    try desk.change { $0.limits.isMuted = false }
    try syncShared(from: desk, to: pair.alex)
    #expect(try pair.alex.partner.limits.isMuted == false)
    #expect(try pair.alex.partner.limits.perDay == 3)
    // Only devices with the keys can read the value.
    let value = try #require(pair.alex.store.sharedValues("partner-").values.first)
    #expect(!value.line.contains("perDay"))
    #expect(SharedPartnerState(value, with: try pair.alex.partner) != nil)
    #expect(SharedPartnerState(value, with: try pair.chris.partner) == nil)
    try pair.alex.change { try $0.end(at: pair.alex.now) }
    try syncShared(from: pair.alex, to: desk)
    #expect(try desk.partner.phase == .ended)
    try desk.change { _ in }
    let file = try #require(
      try FileManager.default.contentsOfDirectory(atPath: desk.book.folder)
        .first { $0.hasSuffix(".json") })
    let text = try String(contentsOfFile: desk.book.folder + "/" + file, encoding: .utf8)
    #expect(!text.contains("\"key\""))
  }

  @Test("A shared value that this device cannot open leaves the limits as they are")
  func damagedSharedLimits() async throws {
    let pair = try await Pair()
    try pair.alex.change { $0.limits.perDay = 3 }
    let key = try #require(pair.alex.store.sharedValues("partner-").keys.first)
    for value: JSON in ["", "AAAA", 5, .string(String(repeating: "A", count: 200))] {
      try pair.alex.store.setSharedValues([key: value], subject: "Damage")
      #expect(try pair.alex.partner.limits.perDay == 3)
    }
    // The next change replaces it.
    try pair.alex.change { $0.limits.perDay = 4 }
    let state = SharedPartnerState(
      try pair.alex.store.sharedValues("partner-")[key], with: try pair.alex.partner)
    #expect(state?.limits.perDay == 4)
  }

  @Test("Limits that an earlier version has set are shared at the next change")
  func earlierLimits() async throws {
    let pair = try await Pair()
    try pair.alex.change { $0.limits.perDay = 3 }
    let key = try #require(pair.alex.store.sharedValues("partner-").keys.first)
    let desk = try pair.secondDevice()
    #expect(try desk.store.sharedValues("partner-").isEmpty)
    try await desk.round()
    #expect(
      SharedPartnerState(try desk.store.sharedValues("partner-")[key], with: try desk.partner)?
        .limits.perDay == 3)
  }
}
