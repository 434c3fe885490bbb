import BelfryCore
import Files
import Foundation
import Git
import Glibc
import TestSupport
import Testing

@testable import BelfryStore

/// The files of the local state, and their locked changes.
@Suite struct LocalFileTests {
  private let sandbox: Sandbox
  private let local: LocalState
  private let now: Instant

  init() throws {
    sandbox = try Sandbox()
    local = LocalState(gitDirectory: sandbox.root)
    now = try #require(Instant(rfc3339: "2026-11-20T22:41:00Z"))
    try DurableFile.makeFolder(local.folder)
  }

  private func identifiers(_ count: Int) -> [Identifier] {
    (0..<count).map { Identifier(high: 1, low: UInt64($0)) }
  }

  @Test("Concurrent changes of many threads are all kept")
  func threads() throws {
    let ids = identifiers(160)
    let (local, now) = (local, now)
    DispatchQueue.concurrentPerform(iterations: 8) { thread in
      for number in 0..<20 {
        #expect(throws: Never.self) {
          try local.heartbeats.update(holder: "a test", timeout: 60_000) {
            $0.seen[ids[thread * 20 + number]] = now
          }
        }
      }
    }
    #expect(Set(local.heartbeats.read().seen.keys) == Set(ids))
    #expect(names == ["alive.json", "alive.lock"])
  }

  @Test("A change waits for a process that holds the lock")
  func processes() async throws {
    let sandbox = sandbox
    let held = sandbox.root + "/held"
    let id = identifiers(1)[0]
    let text = "{\"has\": {}, \"seen\": {\"\(id)\": \"2026-11-20T22:40:00Z\"}}"
    // The other process replaces the file as late as possible before it releases the lock.
    async let other = sandbox.run(
      "/usr/bin/flock",
      [
        local.folder + "/alive.lock", "/bin/sh", "-c",
        "touch '\(held)'; sleep 0.3; printf '%s' '\(text)' > '\(local.folder)/alive.json'",
      ])
    #expect(try await sandbox.waitForFile(held))
    try local.heartbeats.update(holder: "a test", timeout: 60_000) { $0.fetched = now }
    #expect(try await other.status == 0)
    let heartbeats = local.heartbeats.read()
    #expect(heartbeats.seen.keys.sorted() == [id])
    #expect(heartbeats.fetched == now)
  }

  @Test func anUnavailableRequiredLockIsAnErrorAndChangesNothing() throws {
    let file = LocalFile<Instant?>(
      path: local.folder + "/time", format: .instant,
      exclusion: .lock(local.folder + "/time.lock", required: true), isDurable: true)
    let lock = try FileLock(local.folder + "/time.lock", holder: "another process", timeout: 0)
    #expect {
      try file.update(holder: "a test", timeout: 0) { $0 = now }
    } throws: { error in
      if case StoreError.locked(by: "another process") = error { true } else { false }
    }
    withExtendedLifetime(lock) {}
    #expect(names == ["time.lock"])
  }

  @Test func aChangeIsMadeWithoutAnOptionalLock() throws {
    let lock = try FileLock(local.folder + "/alive.lock", holder: "another process", timeout: 0)
    try local.heartbeats.update(holder: "a test", timeout: 0) { $0.fetched = now }
    withExtendedLifetime(lock) {}
    #expect(local.heartbeats.read().fetched == now)
    #expect(names == ["alive.json", "alive.lock"])
  }

  @Test func anUnchangedValueIsNotWritten() throws {
    try local.heartbeats.update(holder: "a test") { _ in }
    #expect(names == ["alive.lock"])
    try local.heartbeats.update(holder: "a test") { $0.fetched = now }
    let before = try #require(try DurableFile.read(local.heartbeats.path)).status
    try local.heartbeats.update(holder: "a test") { $0.fetched = now }
    let after = try #require(try DurableFile.read(local.heartbeats.path)).status
    #expect(FileSignature(before) == FileSignature(after))
  }

  @Test func aFailedChangeLeavesTheFile() throws {
    struct Failure: Error {}
    try local.heartbeats.update(holder: "a test") { $0.fetched = now }
    #expect(throws: Failure.self) {
      try local.heartbeats.update(holder: "a test") { heartbeats in
        heartbeats.fetched = nil
        throw Failure()
      }
    }
    #expect(local.heartbeats.read().fetched == now)
  }

  @Test func aFileThatCannotBeReplacedIsAnError() throws {
    try FileManager.default.createDirectory(
      atPath: local.heartbeats.path, withIntermediateDirectories: false)
    #expect(local.heartbeats.read() == DeviceHeartbeats())
    #expect(throws: FileError("write", local.heartbeats.path, number: EISDIR)) {
      try local.heartbeats.update(holder: "a test") { $0.fetched = now }
    }
    #expect(names == ["alive.json", "alive.lock"])
  }

  @Test(
    "A missing, damaged or oversized file, or one that is not a regular file, reads as empty, and the next change replaces it"
  )
  func damage() throws {
    let id = identifiers(1)[0]
    func change() throws {
      try local.ledger.update(holder: "a test") {
        $0.recordFiring(
          OccurrenceID(alarm: id, occurrence: CivilDateTime(minuteNumber: 29_600_000)), due: now,
          at: now)
      }
      try local.heartbeats.update(holder: "a test") { $0.fetched = now }
    }
    try change()
    let (ledger, heartbeats) = (local.ledger.read(), local.heartbeats.read())
    #expect(ledger.entries.count == 1 && heartbeats.fetched == now)
    let tooLarge = String(repeating: " ", count: 1 << 20) + "{}"
    for content in ["", "{", "7", "\u{0}\u{1}", tooLarge] {
      for path in [local.ledger.path, local.heartbeats.path] {
        try sandbox.write(content, to: path)
      }
      #expect(local.ledger.read() == DeliveryLedger())
      #expect(local.heartbeats.read() == DeviceHeartbeats())
      try change()
      #expect(local.ledger.read() == ledger)
      #expect(local.heartbeats.read() == heartbeats)
    }
  }

  @Test func everyFileRoundTrips() throws {
    let ids = identifiers(3)
    let heartbeats = DeviceHeartbeats(
      fetched: now, unreachableSince: now.adding(seconds: 1), seen: [ids[0]: now],
      reportedHeads: [ids[1]: "abc"],
      sent: now.adding(seconds: 2), sentHead: "def", intervals: [ids[2]: 1800],
      exchanges: [now, now.adding(seconds: 100)])
    try local.heartbeats.replace(with: heartbeats)
    #expect(local.heartbeats.read() == heartbeats)
    let commit = Repository.blobID([1])
    #expect(local.readSeen() == nil)
    local.noteSeen(commit)
    #expect(local.readSeen() == commit)
    #expect(local.last(.tick) == nil)
    local.note(.tick, at: now)
    #expect(local.last(.tick) == now)
    #expect(local.last(.sync) == nil)
    try local.settings.replace(with: "1 2 3 4")
    #expect(local.settings.read() == "1 2 3 4")
    var ledger = DeliveryLedger()
    let id = OccurrenceID(alarm: ids[0], occurrence: CivilDateTime(minuteNumber: 29_600_000))
    let keys: [DeliveryKey] = [
      .occurrence(id, .firing), .occurrence(id, .followUp(2)), .occurrence(id, .advanceWarning),
      .rehearsal(alarm: ids[0], requested: now),
    ]
    for (number, key) in keys.enumerated() {
      ledger[key] = DeliveryLedger.Entry(
        due: now, at: now.adding(seconds: 3), attempts: number + 1, state: .claimed,
        owner: "1 2", isLogged: number == 0)
    }
    try local.ledger.replace(with: ledger, holder: "a test")
    #expect(local.ledger.read() == ledger)
  }

  @Test("Merge decisions that two processes record at once are both kept")
  func decisionNotes() {
    let (local, now) = (local, now)
    DispatchQueue.concurrentPerform(iterations: 8) { thread in
      for number in 0..<5 {
        let decision = MergeDecision(
          alarm: nil, title: "\(thread) \(number)", subject: .setting("snooze"), keptText: "",
          discardedText: "",
          keptStamp: nil, discardedStamp: nil, isFirstKept: true, rule: .laterEdit)
        DecisionNotes(local).add([
          DecisionNotes.Note(decision: decision, at: now, discarded: [], base: nil)
        ])
      }
    }
    #expect(Set(DecisionNotes(local).all().map(\.decision.title)).count == 40)
  }

  /// The names of the local state's files.
  private var names: [String] { DurableFile.names(in: local.folder).sorted() }
}
