import BelfryCore
import Foundation
import Synchronization
import TestSupport
import Testing

@testable import BelfryPartners

/// Mailbox syncs that fail halfway or run beside another process.
@Suite struct MailboxSyncTests {
  @Test("Collected notices are returned even if the disk is full afterwards")
  func newsOutliveAFullDisk() async throws {
    let pair = try await Pair()
    try pair.chris.ask()
    try await pair.chris.round()
    // A folder in the place of the temporary file makes every write fail.
    let obstacle = try pair.alex.book.folder + "/new"
    pair.mailbox.beforeExchange.withLock {
      $0 = {
        try FileManager.default.createDirectory(
          atPath: obstacle, withIntermediateDirectories: true)
      }
    }
    let report = try await pair.alex.attempt()
    #expect(!report.news.isEmpty)
    #expect(report.failures.count == 1)
    pair.mailbox.beforeExchange.withLock { $0 = nil }
    try FileManager.default.removeItem(atPath: obstacle)
    #expect(try await pair.alex.round().news.isEmpty)
    #expect(try pair.alex.alarms.count == 1)
  }

  @Test("The mail of a former partner stays recorded until the mailbox has removed it")
  func leftovers() async throws {
    let pair = try await Pair()
    let request = try pair.chris.ask()
    try await pair.chris.round()
    try pair.chris.change { try $0.end(at: pair.chris.now) }
    let names = try pair.chris.partner.mail.leftovers
    let name = try #require(names.first { $0.hasSuffix(request.id.text) })
    pair.mailbox.refusesRemovals.withLock { $0 = true }
    try await pair.chris.round()
    #expect(pair.mailbox.all[name] != nil)
    #expect(try pair.chris.partner.mail.leftovers.contains(name))
    pair.mailbox.refusesRemovals.withLock { $0 = false }
    // Another process adds a name after the listing.
    let book = try pair.chris.book
    pair.mailbox.put("another/name", [1])
    pair.mailbox.beforeExchange.withLock {
      $0 = { _ = try book.change { partners in partners[0].mail.leftovers.insert("another/name") } }
    }
    try await pair.chris.round()
    pair.mailbox.beforeExchange.withLock { $0 = nil }
    #expect(pair.mailbox.all[name] == nil)
    #expect(try pair.chris.partner.mail.leftovers == ["another/name"])
    try await pair.chris.round()
    #expect(pair.mailbox.all["another/name"] == nil)
    #expect(try pair.chris.partner.mail.leftovers.isEmpty)
  }

  @Test("A request that cannot be sent in time is reported once")
  func unsentRequest() async throws {
    let pair = try await Pair()
    let request = try pair.chris.ask()
    pair.mailbox.beforeExchange.withLock { $0 = { throw CocoaError(.fileReadUnknown) } }
    func news() async throws -> [PartnerNews.Event] {
      try await pair.chris.attempt().news.map(\.event)
    }
    #expect(try await news().isEmpty)
    pair.pass(to: "2026-11-24T12:00:00Z")
    #expect(try await news() == [.unsent(request)])
    #expect(try await news().isEmpty)
  }

  // MARK: A mailbox that was lost

  private func empty(_ mailbox: MemoryMailbox) {
    for name in mailbox.all.keys { mailbox.remove(name) }
  }

  private func isResent(_ report: MailboxSync.Report) -> Bool {
    report.news.contains { if case .resent = $0.event { true } else { false } }
  }

  @Test("A request that was lost with the mailbox is sent again")
  func lostRequest() async throws {
    let pair = try await Pair()
    try pair.chris.ask()
    try await pair.chris.round()
    #expect(try await !isResent(pair.chris.round()))
    empty(pair.mailbox)
    #expect(try await isResent(pair.chris.round()))
    #expect(try await !isResent(pair.chris.round()))
    for person in [pair.alex, pair.chris] { try await person.round() }
    #expect(try pair.alex.alarms.count == 1)
    #expect(try pair.chris.partner.sent[0].state == .scheduled)
  }

  @Test("If the receipt was lost with the mailbox, the alarm stays, and the receipt is sent again")
  func lostReceipt() async throws {
    let pair = try await Pair()
    try pair.chris.ask()
    for person in [pair.chris, pair.alex] { try await person.round() }
    empty(pair.mailbox)
    #expect(try await isResent(pair.chris.round()))
    for person in [pair.alex, pair.chris, pair.alex] { try await person.round() }
    #expect(try pair.alex.alarms.count == 1)
    #expect(try pair.chris.partner.sent[0].state == .scheduled)
    #expect(try await !isResent(pair.chris.round()))
  }

  @Test("Receipts that were lost with the mailbox are sent again")
  func lostReceipts() async throws {
    let pair = try await Pair()
    try pair.chris.ask()
    for person in [pair.chris, pair.alex, pair.chris] { try await person.round() }
    pair.pass(to: "2026-11-22T16:45:30Z")
    try pair.alex.ring()
    try await pair.alex.round()
    empty(pair.mailbox)
    for person in [pair.alex, pair.chris] { try await person.round() }
    #expect(try pair.chris.partner.sent[0].state == .rung)
    #expect(try pair.chris.partner.sent[0].receipts.count == 2)
  }

  @Test("A request that is lost again and again, or after its time, is reported as lost")
  func finallyLost() async throws {
    let pair = try await Pair()
    try pair.chris.ask()
    try await pair.chris.round()
    var reports: [MailboxSync.Report] = []
    for _ in 0..<5 {
      empty(pair.mailbox)
      reports.append(try await pair.chris.round())
    }
    #expect(reports.map(isResent) == [true, true, true, false, false])
    #expect(
      reports.map { $0.news.contains { if case .lost = $0.event { true } else { false } } }
        == [false, false, false, true, false])
    #expect(try pair.chris.partner.sent[0].isLost)
    try pair.chris.ask(at: "2026-11-22T17:00:00Z")
    try await pair.chris.round()
    empty(pair.mailbox)
    pair.pass(to: "2026-11-22T18:00:00Z")
    #expect(try await !isResent(pair.chris.round()))
    #expect(try pair.chris.partner.sent[1].isLost)
  }
}
