import BelfryCore
import BelfryStore
import Foundation
import TestSupport
import Testing

@testable import BelfryPartners

/// The exchange of messages between partners.
@Suite struct PartnerProtocolTests {
  /// Returns the next ringing time of an alarm.
  private func next(_ person: Person) throws -> Instant? {
    let store = try person.store
    guard let alarm = try person.alarms.first else { return nil }
    return store.timeline(alarm).next(after: person.now)?.at
  }

  /// Responds to the only alarm.
  private func answer(_ answer: Answer, _ person: Person) throws {
    let store = try person.store
    let alarm = try #require(try person.alarms.first)
    try store.update(alarm.id) { alarm in
      let transition = try store.timeline(alarm).answer(
        answer, to: nil, at: person.now, settings: person.settings, ledger: DeliveryLedger())
      return (store.change(transition), ())
    }
  }

  private func states(_ person: Person) throws -> [PartnerReceipt.State] {
    try person.partner.sent.flatMap { $0.receipts.map(\.state) }
  }

  @Test("Both partners see the same code, and each has the name and keys of the other")
  func pairing() async throws {
    let pair = try await Pair()
    let (chris, alex) = (try pair.chris.partner, try pair.alex.partner)
    #expect(chris.phase == .active && alex.phase == .active)
    #expect(chris.name == "Alex" && alex.name == "Chris")
    #expect(chris.code == alex.code)
    #expect(chris.code?.count == 7)
    #expect(chris.channel?.addresses.inbox == alex.channel?.addresses.outbox)
    #expect(pair.mailbox.all.isEmpty)
    #expect(chris.validUntil == Instant(rfc3339: "2027-11-22T12:00:00Z"))
  }

  @Test("A request is accepted, rings, and is acknowledged, and the sender gets a receipt for each")
  func aRequest() async throws {
    let pair = try await Pair()
    let request = try pair.chris.ask("Wake up from your nap ❤️")
    #expect(try pair.chris.partner.sent[0].isPosted == false)
    try await pair.chris.round()
    #expect(try pair.chris.partner.sent[0].isPosted)
    let report = try await pair.alex.round()
    #expect(report.news == [PartnerNews(partner: "Chris", event: .scheduled(request))])
    let alarm = try #require(try pair.alex.alarms.first)
    #expect(alarm.title == "From Chris")
    #expect(alarm.note == "Wake up from your nap ❤️")
    #expect(alarm.partner?.request == request.id)
    #expect(try next(pair.alex) == request.at)
    try await pair.chris.round()
    #expect(try pair.chris.partner.sent[0].receipts.first?.detail == "by test")
    pair.pass(to: "2026-11-22T16:46:00Z")
    let store = try pair.alex.store
    try store.commit(Event(.fired, CivilDateTime("2026-11-22T16:45")!), of: alarm)
    try answer(.stop, pair.alex)
    pair.pass(to: "2026-11-22T16:47:00Z")
    try answer(.done(at: nil, early: false), pair.alex)
    try pair.alex.change { try $0.reply("Up!", to: request.id, at: pair.alex.now) }
    try await pair.alex.round()
    try await pair.chris.round()
    #expect(
      try states(pair.chris).filter { $0 != .reply } == [
        .scheduled, .rung, .stopped, .acknowledged,
      ]
    )
    #expect(try pair.chris.partner.sent[0].receipts.last { $0.state == .reply }?.detail == "Up!")
    // The mailbox is empty, and no receipt is reported twice.
    try await pair.alex.round()
    #expect(pair.mailbox.all.isEmpty)
    #expect(try await pair.chris.round().news.isEmpty)
  }

  @Test("A request sent in UTC+2 and received in UTC-5 rings at its instant")
  func zonesApart() async throws {
    let pair = try await Pair(
      zones: ("Europe/Athens", "America/New_York"), now: "2026-11-06T12:00:00Z")
    try pair.alex.change { $0.limits.quiet = nil }
    try pair.chris.ask(at: "2026-11-06T16:45:00+02:00")
    try await pair.chris.round()
    try await pair.alex.round()
    let alarm = try #require(try pair.alex.alarms.first)
    #expect(try next(pair.alex) == Instant(rfc3339: "2026-11-06T14:45:00Z"))
    // The receiver sees it in local time.
    #expect(alarm.zone == .named("America/New_York"))
    #expect(alarm.schedule.times == [CivilTime("09:45")!])
  }

  @Test(
    "A request for a repeated hour rings in the right one of the two",
    arguments: [
      "2026-11-01T05:30:00Z", "2026-11-01T06:30:00Z",
    ])
  func theHourThatComesTwice(_ moment: String) async throws {
    let pair = try await Pair(zones: ("UTC", "America/New_York"), now: "2026-11-01T03:00:00Z")
    try pair.alex.change { $0.limits.quiet = nil }
    try pair.chris.ask(at: moment)
    try await pair.chris.round()
    try await pair.alex.round()
    #expect(try next(pair.alex) == Instant(rfc3339: moment))
  }

  @Test("A weekly request keeps its wall time through a clock change in its zone")
  func weeklyThroughAChange() async throws {
    let pair = try await Pair(
      zones: ("Europe/Berlin", "America/New_York"), now: "2026-10-20T12:00:00Z")
    let schedule = try Schedule(
      .weekly([.saturday], Recurrence.Cadence(start: CivilDate("2026-10-20")!)),
      times: [CivilTime("18:00")!])
    try pair.chris.ask(
      at: "2026-10-24T16:00:00Z",
      repeats: PartnerRequest.Repetition(schedule: schedule, zone: "Europe/Berlin"))
    try await pair.chris.round()
    try await pair.alex.round()
    let alarm = try #require(try pair.alex.alarms.first)
    let moments = try pair.alex.store.timeline(alarm).upcoming(after: pair.alex.now).prefix(3)
      .map(\.at.rfc3339)
    // Daylight saving time ends in Berlin on 25 October, in New York on 1 November.
    #expect(
      Array(moments) == ["2026-10-24T16:00:00Z", "2026-10-31T17:00:00Z", "2026-11-07T17:00:00Z"])
  }

  @Test(
    "A request beyond a limit is refused, with the reason",
    arguments: [
      ("2026-11-22T23:30:00Z", "short", "their quiet hours, 23:00-06:00"),
      ("2026-11-23T05:59:00Z", "short", "their quiet hours, 23:00-06:00"),
      ("2026-12-24T12:00:00Z", "short", "more than 31 days ahead"),
      ("2026-11-22T16:45:00Z", "a message that is far too long", "longer than 20 characters"),
    ])
  func limits(_ at: String, _ message: String, _ reason: String) async throws {
    let pair = try await Pair()
    try pair.alex.change { $0.limits.longest = 20 }
    try pair.chris.ask(message, at: at)
    try await pair.chris.round()
    try await pair.alex.round()
    try await pair.chris.round()
    #expect(try pair.alex.alarms.isEmpty)
    let receipt = try #require(try pair.chris.partner.sent[0].receipts.last)
    #expect(receipt.state == .refused)
    #expect(receipt.detail == reason)
  }

  @Test("A request is refused while muted or below the tier, and accepted after unmuting")
  func mutedAndTier() async throws {
    let pair = try await Pair()
    try pair.alex.change { $0.limits.isMuted = true }
    try pair.chris.ask("one")
    try await pair.chris.round()
    try await pair.alex.round()
    try pair.alex.change { $0.limits.isMuted = false }
    pair.alex.settings = Settings(tier: .plus)
    try pair.chris.ask("two")
    try await pair.chris.round()
    try await pair.alex.round()
    pair.alex.settings = Settings(tier: .premium)
    try pair.chris.ask("three")
    try await pair.chris.round()
    try await pair.alex.round()
    try await pair.chris.round()
    #expect(
      try pair.chris.partner.sent.map { $0.receipts.last?.detail }
        == ["you are muted", "their tier does not include partners", "by test"])
    #expect(try pair.alex.alarms.map(\.note) == ["three"])
  }

  @Test("A late request rings at once before its expiry, and is expired after it")
  func late() async throws {
    let pair = try await Pair()
    try pair.chris.ask("nap")
    try await pair.chris.round()
    pair.pass(to: "2026-11-22T16:50:00Z")
    try await pair.alex.round()
    let alarm = try #require(try pair.alex.alarms.first)
    let status = try pair.alex.store.timeline(alarm).status(
      at: pair.alex.now, settings: pair.alex.settings, ledger: DeliveryLedger())
    #expect(status.state == .ringing)

    let other = try await Pair()
    try other.chris.ask("nap")
    try await other.chris.round()
    other.pass(to: "2026-11-22T16:55:00Z")
    try await other.alex.round()
    try await other.chris.round()
    #expect(try other.alex.alarms.isEmpty)
    #expect(try states(other.chris) == [.expired])
  }

  @Test("A recall applies before and after its request arrives, and not after it rang")
  func recalls() async throws {
    let pair = try await Pair()
    let first = try pair.chris.ask("first")
    try pair.chris.change { try $0.recall(first.id, at: pair.chris.now) }
    try await pair.chris.round()
    try await pair.alex.round()
    #expect(try pair.alex.alarms.isEmpty)
    let second = try pair.chris.ask("second")
    try await pair.chris.round()
    try await pair.alex.round()
    #expect(try pair.alex.alarms.count == 1)
    try pair.chris.change { try $0.recall(second.id, at: pair.chris.now) }
    try await pair.chris.round()
    let report = try await pair.alex.round()
    #expect(report.news == [PartnerNews(partner: "Chris", event: .recalled(second))])
    #expect(try pair.alex.alarms.isEmpty)
    try await pair.chris.round()
    #expect(try pair.chris.partner.sent.map(\.state) == [.recalled, .recalled])
  }

  @Test("A recall that arrives before its request prevents the alarm")
  func aRecallThatComesFirst() async throws {
    let pair = try await Pair()
    let request = try pair.chris.ask("late")
    try await pair.chris.round()
    let name = try #require(try pair.inbox.first)
    let bytes = try #require(pair.mailbox.all[name])
    pair.mailbox.remove(name)
    try pair.chris.change { try $0.recall(request.id, at: pair.chris.now) }
    try await pair.chris.round()
    try await pair.alex.round()
    pair.mailbox.put(name, bytes)
    try await pair.alex.round()
    #expect(try pair.alex.alarms.isEmpty)
  }

  @Test(
    "Ending a partnership deletes the keys, notifies the other side, and refuses a request sent at the same time"
  )
  func parting() async throws {
    let pair = try await Pair()
    try pair.chris.ask("before")
    try await pair.chris.round()
    try await pair.alex.round()
    try await pair.chris.round()
    try pair.chris.ask("crossing")
    try await pair.chris.round()
    try pair.alex.change { try $0.end(at: pair.alex.now) }
    try await pair.alex.round()
    #expect(try pair.alex.partner.handshake.privateKey == nil)
    #expect(try pair.alex.partner.handshake.secret == [])
    let report = try await pair.chris.round()
    #expect(report.news.contains(PartnerNews(partner: "Alex", event: .unpaired(remaining: 0))))
    #expect(try pair.chris.partner.phase == .ended)
    #expect(try pair.chris.partner.handshake.privateKey == nil)
    #expect(try pair.chris.partner.sent.map(\.state) == [.withdrawn, .refused])
    try await pair.alex.round()
    #expect(try pair.alex.alarms.map(\.note) == ["before"])
    try await pair.chris.round()
    #expect(pair.mailbox.all.isEmpty)
  }

  @Test("Several devices of one user get the same alarm, and each receipt is reported once")
  func severalDevices() async throws {
    let pair = try await Pair()
    let desk = try Person(pair.mailbox)
    let keys = try #require(PartnerStore.imported(PartnerStore.exported([try pair.alex.partner])))
    try desk.book.change { $0 = keys }
    try pair.chris.ask("nap")
    try await pair.chris.round()
    try await pair.alex.round()
    try await desk.round()
    let (here, there) = (
      try #require(try pair.alex.alarms.first), try #require(try desk.alarms.first)
    )
    #expect(here.id == there.id)
    #expect(Alarm.join(here, there).partner == here.partner)
    try await pair.chris.round()
    #expect(try states(pair.chris).allSatisfy { $0 == .scheduled })
    #expect(try pair.chris.partner.mail.faults.isEmpty)
    // Another device still has the mail that the mailbox lost.
    #expect(try desk.partner.received.count == 1)
  }

  @Test("Each of several partners has separate addresses, limits and names")
  func severalPartners() async throws {
    let pair = try await Pair()
    let carol = try Person(pair.mailbox)
    let made = Partnership.inviting(as: "Carol", mailbox: "/mailbox", at: carol.now)
    try carol.book.change { $0 = [made] }
    let invitation = try Invitation(try #require(made.invitation).link)
    try pair.alex.book.change {
      $0.append(try Partnership.accepting(invitation, as: "Alex", at: pair.alex.now))
    }
    for person in [pair.alex, carol, pair.alex] { try await person.round() }
    try carol.change { try $0.confirm(at: carol.now) }
    try pair.alex.book.change { partners in
      for index in partners.indices { try partners[index].confirm(at: pair.alex.now) }
    }
    for person in [carol, pair.alex, carol] { try await person.round() }
    try pair.alex.book.change { partners in
      for index in partners.indices where partners[index].name == "Carol" {
        partners[index].limits.isMuted = true
      }
    }
    try pair.chris.ask("from one")
    try carol.ask("from the other")
    for person in [pair.chris, carol, pair.alex, carol, pair.chris] { try await person.round() }
    #expect(try pair.alex.alarms.map(\.title) == ["From Chris"])
    #expect(try states(carol) == [.refused])
    #expect(try states(pair.chris) == [.scheduled])
    #expect(try pair.alex.book.partners.map(\.name) == ["Carol", "Chris"])
  }

  @Test("A weekly request that arrives after its first time is accepted, and rings the next time")
  func aWeeklyOneThatComesLate() async throws {
    let pair = try await Pair()
    let schedule = try Schedule(
      .weekly([.sunday], Recurrence.Cadence(start: CivilDate("2026-11-22")!)),
      times: [CivilTime("16:45")!])
    let at = Instant(rfc3339: "2026-11-22T16:45:00Z")!
    let request = PartnerRequest(
      id: try pair.chris.store.context.makeIdentifier(), message: "Bins", at: at,
      repeats: PartnerRequest.Repetition(schedule: schedule, zone: "UTC"),
      expires: at.adding(seconds: PartnerRequest.latenessRepeated))
    try pair.chris.change { try $0.post(request, at: pair.chris.now) }
    try await pair.chris.round()
    pair.pass(to: "2026-11-25T08:00:00Z")
    try await pair.alex.round()
    let alarm = try #require(try pair.alex.alarms.first)
    let status = try pair.alex.store.timeline(alarm).status(
      at: pair.alex.now, settings: pair.alex.settings, ledger: DeliveryLedger())
    #expect(status.state == .active)
    #expect(status.next?.at == Instant(rfc3339: "2026-11-29T16:45:00Z"))
  }

  @Test(
    "Disabling, deleting and restoring are reported to the sender, who can still recall the request"
  )
  func changedByTheReceiver() async throws {
    let pair = try await Pair()
    let request = try pair.chris.ask("nap")
    try await pair.chris.round()
    try await pair.alex.round()
    let id = try #require(try pair.alex.alarms.first?.id)
    func change(_ body: (inout Alarm) -> Void) async throws {
      let store = try pair.alex.store
      try store.update(id, includingDeleted: true) { before in
        var after = before
        body(&after)
        after = after.stamped(against: before, at: pair.alex.now, device: store.device)
        return (
          Store.Change(
            alarms: [after], entries: [], message: CommitMessage("Change", device: nil)), ()
        )
      }
      pair.pass(to: pair.alex.now.adding(seconds: 60).rfc3339)
      try await pair.alex.round()
      try await pair.chris.round()
    }
    try await change { $0.enabled = false }
    try await change { $0.enabled = true }
    try await change { $0 = $0.deleted() }
    try await change { $0.mergeState.deletion = nil }
    let receipts = try pair.chris.partner.sent[0].receipts
    #expect(
      receipts.map(\.state) == [.scheduled, .withdrawn, .scheduled, .withdrawn, .scheduled])
    #expect(
      receipts.dropFirst().map(\.detail) == [
        "disabled on their device", "restored on their device", "deleted on their device",
        "restored on their device",
      ])
    #expect(!(try pair.chris.partner.sent[0].isOver))
    try pair.chris.change { try $0.recall(request.id, at: pair.chris.now) }
    try await pair.chris.round()
    try await pair.alex.round()
    #expect(try pair.alex.alarms.isEmpty)
  }

  @Test(
    "A clock that is years behind loses no request: it is accepted after the clock is corrected")
  func aClockYearsBehind() async throws {
    let pair = try await Pair()
    try pair.chris.ask("nap")
    try await pair.chris.round()
    pair.alex.now = Instant(rfc3339: "1970-01-01T00:05:00Z")!
    try await pair.alex.round()
    #expect(try pair.alex.alarms.isEmpty)
    #expect(try pair.alex.partner.mail.faults.isEmpty)
    pair.alex.now = Instant(rfc3339: "2026-11-22T12:05:00Z")!
    try await pair.alex.round()
    #expect(try pair.alex.alarms.count == 1)
  }

  @Test("A replay without any record of it leaves its alarm unchanged")
  func aReplayThatNobodyRemembers() async throws {
    let pair = try await Pair()
    try pair.chris.ask("nap")
    try await pair.chris.round()
    let name = try #require(try pair.inbox.first)
    let bytes = try #require(pair.mailbox.all[name])
    try await pair.alex.round()
    try answer(.done(at: nil, early: true), pair.alex)
    let before = try pair.alex.alarms
    // As after the partner store was restored from a backup.
    try pair.alex.change { partner in
      (partner.mail.seen, partner.received) = ([:], [])
    }
    pair.mailbox.put(name, bytes)
    try await pair.alex.round()
    #expect(try pair.alex.alarms == before)
    #expect(try next(pair.alex) == nil)
  }

  @Test("A sync that dies after the alarm was added adds it once")
  func aRoundThatDies() async throws {
    let pair = try await Pair()
    try pair.chris.ask("nap")
    try await pair.chris.round()
    let before = try pair.alex.partner
    try await pair.alex.round()
    // As if nothing had been recorded.
    try pair.alex.book.change { $0 = [before] }
    try await pair.alex.round()
    #expect(try pair.alex.alarms.count == 1)
    #expect(try pair.alex.partner.received.count == 1)
  }

  @Test("An invitation round-trips, and other texts are not invitations")
  func links() throws {
    let made = Partnership.inviting(
      as: "Zoë & Ünal/é", mailbox: "ssh://you@host:2222/srv/a b%20c.git",
      at: Instant(rfc3339: Pair.start)!)
    let invitation = try #require(made.invitation)
    // A mailbox URL with a space is not a remote, one without is.
    #expect(throws: Invitation.Malformed.self) { try Invitation(invitation.link) }
    let other = try #require(
      Partnership.inviting(
        as: "Zoë & Ünal/é", mailbox: "you@host:mail.git", at: Instant(rfc3339: Pair.start)!
      ).invitation)
    let read = try Invitation(other.link)
    #expect(read == other)
    #expect(read.name == "Zoë & Ünal/é")
    let link = other.link
    for bad in [
      "", "belfry://pair?", "https://example.org", String(link.dropLast(link.count / 2)),
      link + "&k=x", link.replacing("v=1", with: "v=2"), link.replacing("&s=", with: "&s=AAAA"),
      link.replacing("&m=", with: "&m=ext::sh"), link.replacing("&n=", with: "&n=%1B"),
    ] {
      #expect(throws: Invitation.Malformed.self) { try Invitation(bad) }
    }
  }

  @Test("The partner store round-trips")
  func theBook() async throws {
    let pair = try await Pair()
    try pair.chris.ask("nap")
    try await pair.chris.round()
    try await pair.alex.round()
    try await pair.chris.round()
    for partner in [try pair.chris.partner, try pair.alex.partner] {
      let bytes = PartnershipRecord.encode(partner)
      let read = try #require(PartnershipRecord.decode(bytes))
      #expect(PartnershipRecord.encode(read) == bytes)
    }
  }
}
