import BelfryCore
import Foundation
import Testing

@testable import BelfryStore

/// The time of the latest commit, which says whether this device's clock is behind.
@Suite struct HeadTimeTests {
  private let made = Instant(rfc3339: "2026-11-20T22:41:00Z")
  private let before = "2026-11-20T10:00:00Z"

  @Test("A commit that is ahead of the clock is reported, loose or in a pack")
  func aheadOfTheClock() async throws {
    let fixture = try await StoreFixture("Tea")
    #expect(fixture.store.branch.timeAhead == nil)
    #expect(fixture.reopened(now: before).branch.timeAhead == made)
    try await fixture.git("repack", "-a", "-d", "-q").expectSuccess()
    #expect(fixture.reopened(now: before).branch.timeAhead == made)
    #expect(fixture.reopened().branch.timeAhead == nil)
  }

  @Test("The time of a commit in a pack is read once, and that of the next commit again")
  func notedTime() async throws {
    let fixture = try await StoreFixture("Tea")
    try await fixture.git("repack", "-a", "-d", "-q").expectSuccess()
    let store = fixture.reopened(now: before)
    #expect(store.branch.timeAhead == made)
    // Without the pack, only the note has the time.
    let (packs, away) = (fixture.store.path + "/.git/objects/pack", fixture.sandbox.root + "/pack")
    try FileManager.default.moveItem(atPath: packs, toPath: away)
    #expect(store.branch.timeAhead == made)
    try FileManager.default.moveItem(atPath: away, toPath: packs)
    let later = "2026-11-20T23:00:00Z"
    try await fixture.sandbox.run(
      "/usr/bin/git", ["-C", store.path, "commit", "-q", "--allow-empty", "-m", "Later"],
      environment: ["GIT_COMMITTER_DATE": later]
    ).expectSuccess()
    try await fixture.git("repack", "-a", "-d", "-q").expectSuccess()
    #expect(store.branch.timeAhead == Instant(rfc3339: later))
  }

  @Test("A damaged note is ignored")
  func damagedNote() async throws {
    let fixture = try await StoreFixture("Tea")
    try await fixture.git("repack", "-a", "-d", "-q").expectSuccess()
    let head = try #require(fixture.store.branch.head)
    for note in ["", "x", head, "\(head) x", "\(head) 1 2", "\(String(head.reversed())) 1"] {
      try fixture.sandbox.write(note, to: fixture.store.path + "/.git/belfry/head-time")
      #expect(fixture.reopened(now: before).branch.timeAhead == made, "\(note)")
    }
  }
}
