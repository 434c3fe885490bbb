import BelfryCore
import BelfryStore
import Crypto
import Foundation
import Git
import Synchronization
import TestSupport

@testable import BelfryPartners

/// A mailbox in memory. Tests change it as a hostile host can change a real one.
final class MemoryMailbox: Mailbox {
  private let mail = Mutex<[String: [UInt8]]>([:])
  /// The names of mail that is larger than any envelope.
  private let unfit = Mutex<Set<String>>([])
  /// True while the host refuses every removal.
  let refusesRemovals = Mutex(false)
  /// Runs before each exchange of the mailbox.
  let beforeExchange = Mutex<(@Sendable () throws -> Void)?>(nil)

  var all: [String: [UInt8]] { mail.withLock { $0 } }

  func put(_ name: String, _ bytes: [UInt8]) { mail.withLock { $0[name] = bytes } }
  func putUnfit(_ name: String) {
    put(name, [0])
    unfit.withLock { _ = $0.insert(name) }
  }
  func remove(_ name: String) { mail.withLock { $0[name] = nil } }

  func list() async throws -> [String: String] {
    all.mapValues { Repository.blobID($0).description }
  }

  func fetch(_ wanted: [String: String]) async throws -> [String: FetchedMail] {
    let (all, unfit) = (all, unfit.withLock { $0 })
    return wanted.keys.reduce(into: [:]) { result, name in
      result[name] = unfit.contains(name) ? .unfit : all[name].map { .bytes($0) }
    }
  }

  func exchange(put: [String: [UInt8]], remove: [String]) async throws -> MailboxOutcome {
    let before = beforeExchange.withLock { $0 }
    try before?()
    let removed = refusesRemovals.withLock { $0 } ? [] : remove
    mail.withLock { mail in
      for name in removed { mail[name] = nil }
      for (name, bytes) in put where mail[name] == nil { mail[name] = bytes }
    }
    return MailboxOutcome(put: Set(put.keys), removed: Set(removed))
  }
}

/// A user with a store, a clock and a zone.
final class Person {
  let sandbox: Sandbox
  let zone: String
  var now: Instant
  let mailbox: MemoryMailbox
  var settings = Settings(tier: .premium)

  init(_ mailbox: MemoryMailbox, zone: String = "UTC", now: String = Pair.start) throws {
    sandbox = try Sandbox()
    self.mailbox = mailbox
    self.zone = zone
    self.now = Instant(rfc3339: now)!
    _ = try store.set(.tier, to: .word("premium"))
  }

  var store: Store {
    get throws {
      try Store.open(
        sandbox.root + "/store",
        context: StoreContext(
          now: now, zones: ZoneLibrary(variable: zone), deviceName: "laptop", user: geteuid(),
          makeIdentifier: TestIdentifier.make, random: { $0.lowerBound })
      ).store
    }
  }

  var book: PartnerStore { get throws { PartnerStore(try store) } }
  var partner: Partnership { get throws { try book.partners[0] } }

  /// The alarms that are not deleted.
  var alarms: [Alarm] {
    get throws { try store.allAlarms().alarms.filter { !$0.isDeleted } }
  }

  /// Runs a mailbox sync that may fail to reach the mailbox.
  func attempt() async throws -> MailboxSync.Report {
    let mailbox = mailbox
    return try await MailboxSync(
      try store, settings: settings, ways: { "by test" }, mailbox: { _ in mailbox }
    ).run()
  }

  @discardableResult
  func round() async throws -> MailboxSync.Report {
    let report = try await attempt()
    if let failure = report.failures.first { throw failure.error }
    return report
  }

  func change(_ body: (inout Partnership) throws -> Void) throws {
    try book.change { try body(&$0[0]) }
  }

  /// Requests an alarm from the partner.
  @discardableResult
  func ask(
    _ message: String = "Wake up", at: String = "2026-11-22T16:45:00Z",
    repeats: PartnerRequest.Repetition? = nil, id: Identifier? = nil
  ) throws -> PartnerRequest {
    let moment = Instant(rfc3339: at)!
    let request = PartnerRequest(
      id: try id ?? store.context.makeIdentifier(), message: message, at: moment, repeats: repeats,
      expires: moment.adding(seconds: PartnerRequest.lateness))
    try change { partner in
      partner.sent.append(SentRequest(request: request, created: now))
      try partner.post(request, at: now)
    }
    return request
  }

  /// Returns the number of refusals of a kind.
  func faults(_ fault: MailFault) throws -> Int { try partner.mail.faults[fault]?.count ?? 0 }
}

/// Two users who are partners.
struct Pair {
  static let start = "2026-11-22T12:00:00Z"
  let mailbox = MemoryMailbox()
  let chris: Person
  let alex: Person

  init(zones: (String, String) = ("UTC", "UTC"), now: String = Pair.start) async throws {
    chris = try Person(mailbox, zone: zones.0, now: now)
    alex = try Person(mailbox, zone: zones.1, now: now)
    try await Pair.join(chris, alex)
  }

  /// Pairs two users.
  static func join(_ inviter: Person, _ guest: Person) async throws {
    let made = Partnership.inviting(as: "Chris", mailbox: "/mailbox", at: inviter.now)
    try inviter.book.change { $0 = [made] }
    let invitation = try Invitation(made.invitation!.link)
    try guest.book.change {
      $0 = [try Partnership.accepting(invitation, as: "Alex", at: guest.now)]
    }
    try await guest.round()
    try await inviter.round()
    try await guest.round()
    try inviter.change { try $0.confirm(at: inviter.now) }
    try guest.change { try $0.confirm(at: guest.now) }
    try await inviter.round()
    try await guest.round()
    try await inviter.round()
  }

  func pass(to time: String) {
    chris.now = Instant(rfc3339: time)!
    alex.now = chris.now
  }

  /// The names at Alex's address.
  var inbox: [String] {
    get throws {
      let address = try alex.partner.channel!.addresses.inbox
      return mailbox.all.keys.filter { $0.hasPrefix(address) }
    }
  }
}
