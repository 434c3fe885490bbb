import Foundation
import TestSupport
import Testing

extension Sandbox {
  /// The content of the journal.
  func journal() throws -> Data {
    try Data(contentsOf: URL(filePath: store + "/.git/belfry/journal"))
  }

  /// Marks the latest writes in the journal as not applied, as a process leaves them that is killed.
  ///
  /// The header of the journal is described by `WriteAheadLog`: the words magic, salt, next, applied, end, session and
  /// refused, then a commit and a SHA-256 hash.
  ///
  /// - Parameters:
  ///   - before: The journal before the writes.
  ///   - isRefused: True if the last write failed and could not be rolled back.
  func interruptWrites(since before: Data, isRefused: Bool = false) async throws {
    var bytes = try journal()
    let (salt, applied, end, refused) = (8..<16, 24..<32, 32..<40, 48)
    let hash = 76..<108
    try #require(bytes[salt] == before[salt], "The journal was emptied meanwhile.")
    bytes.replaceSubrange(applied, with: before[end])
    bytes[refused] = isRefused ? 1 : 0
    let header = root + "/header"
    try bytes[..<hash.lowerBound].write(to: URL(filePath: header))
    let digits = Array(try await run("/usr/bin/sha256sum", [header]).out.prefix(64))
    let sum = stride(from: 0, to: digits.count, by: 2).compactMap {
      UInt8(String(digits[$0...($0 + 1)]), radix: 16)
    }
    try #require(sum.count == hash.count)
    bytes.replaceSubrange(hash, with: sum)
    try bytes.write(to: URL(filePath: store + "/.git/belfry/journal"))
  }
}
