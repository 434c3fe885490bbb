import BelfryCore
import Foundation
import Synchronization
import TestSupport
import Testing

@testable import BelfryPartners

/// Rounds of mail that fail halfway, or beside another process.
@Suite struct MailRoundTests {
  @Test("news that were collected are returned although the disk takes nothing afterwards")
  func newsOutliveAFullDisk() async throws {
    let pair = try await Pair()
    try pair.chris.ask()
    try await pair.chris.round()
    // In the place of the temporary file every write fails.
    let obstacle = try pair.alex.book.folder + "/new"
    pair.mailbox.beforeExchange.withLock {
      $0 = {
        try FileManager.default.createDirectory(
          atPath: obstacle, withIntermediateDirectories: true)
      }
    }
    let report = try await pair.alex.attempt()
    #expect(report.news.count == 1)
    #expect(report.failures.count == 1)
    pair.mailbox.beforeExchange.withLock { $0 = nil }
    try FileManager.default.removeItem(atPath: obstacle)
    #expect(try await pair.alex.round().news.isEmpty)
    #expect(try pair.alex.alarms.count == 1)
  }
}
