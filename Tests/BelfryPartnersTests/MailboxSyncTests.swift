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
}
