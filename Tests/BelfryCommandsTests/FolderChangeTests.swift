import Foundation
import TestSupport
import Testing

@testable import BelfryScheduler
@testable import BelfryStore

/// The daemon's answers to the question which files have changed.
@Suite struct FolderChangeTests {
  private let sandbox: Sandbox
  private let folder: FolderIdentity

  init() throws {
    sandbox = try Sandbox()
    folder = try FolderChangeTests.identity(sandbox.root)
  }

  private static func identity(_ path: String) throws -> FolderIdentity {
    var status = stat()
    try #require(stat(path, &status) == 0)
    return FolderIdentity(status)
  }

  private func question(_ token: FolderChangeToken?) throws -> FolderChanges.Question {
    try #require(
      FolderChanges.Question(FolderChanges.Question(folder: folder, token: token).bytes))
  }

  @Test func changesSinceAMoment() throws {
    var log = FolderChangeLog()
    #expect(log.answer(try question(nil)) == nil)
    log.begin(folder)
    let first = try #require(log.answer(try question(nil)))
    #expect(first.names == nil)
    #expect(log.answer(try question(first.token))?.names == [])
    log.record("a.json")
    log.record("b.json")
    let second = try #require(log.answer(try question(first.token)))
    #expect(second.names == ["a.json", "b.json"])
    log.record("a.json")
    #expect(log.answer(try question(second.token))?.names == ["a.json"])
    #expect(log.answer(try question(first.token))?.names == ["a.json", "b.json"])
    let later = FolderChangeToken(epoch: first.token.epoch, number: 4)
    #expect(log.answer(try question(later))?.names == nil)
    log.begin(folder)
    #expect(log.answer(try question(second.token))?.names == nil)
    log.begin(try FolderChangeTests.identity("/"))
    #expect(log.answer(try question(nil)) == nil)
  }

  @Test func tooManyChangesAreNotKnown() throws {
    var log = FolderChangeLog()
    log.begin(folder)
    let start = try #require(log.answer(try question(nil))).token
    for number in 0..<900 { log.record("\(number).json") }
    let middle = try #require(log.answer(try question(start)))
    #expect(middle.names?.count == 900)
    for number in 0..<5_000 { log.record("\(number % 500).json") }
    #expect(log.answer(try question(start))?.names == nil)
    let end = try #require(log.answer(try question(nil))).token
    log.record("x.json")
    #expect(log.answer(try question(end))?.names == ["x.json"])
  }

  @Test("A socket is asked in a folder of any length, and without a server the answer is nil")
  func socket() throws {
    let long = sandbox.root + "/" + String(repeating: "long", count: 40)
    try FileManager.default.createDirectory(atPath: long, withIntermediateDirectories: true)
    #expect(FolderChanges.ask(long, of: folder, since: nil) == nil)
    let server = try #require(FolderChangeServer(long))
    var log = FolderChangeLog()
    log.begin(folder)
    log.record("a.json")
    let known = log
    func ask(_ token: FolderChangeToken?) throws -> FolderChanges {
      let answering = BackgroundJob {
        var waiting = pollfd(fd: server.descriptor, events: Int16(POLLIN), revents: 0)
        _ = poll(&waiting, 1, 60_000)
        server.answer(known.answer)
      }
      defer { answering.wait() }
      // A busy machine can take longer than the usual timeout.
      return try #require(FolderChanges.ask(long, of: folder, since: token, timeout: 60_000))
    }
    let present = try ask(nil)
    #expect(present.names == nil && present.token.number == 1)
    let since = FolderChangeToken(epoch: present.token.epoch, number: 0)
    #expect(try ask(since).names == ["a.json"])
    close(server.descriptor)
    // The file of the socket is still there.
    #expect(FolderChanges.ask(long, of: folder, since: since) == nil)
  }
}
