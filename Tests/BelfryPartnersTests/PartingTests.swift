import BelfryCore
import BelfryStore
import Foundation
import TestSupport
import Testing

@testable import BelfryPartners

/// What becomes of alarms when partners part.
@Suite struct PartingTests {
  @Test("a sender who parts takes along what is still to ring, with a notice; undo restores it")
  func aSenderParts() async throws {
    let pair = try await Pair()
    try pair.chris.ask("first")
    try pair.chris.ask("second", at: "2026-11-22T17:45:00Z")
    for person in [pair.chris, pair.alex, pair.chris] { try await person.round() }
    #expect(try pair.alex.alarms.count == 2)
    pair.pass(to: "2026-11-22T12:10:00Z")
    try pair.chris.change { try $0.end(at: pair.chris.now) }
    try await pair.chris.round()
    let report = try await pair.alex.round()
    #expect(report.news == [PartnerNews(partner: "Chris", event: .unpaired(cancelled: 2))])
    #expect(try pair.alex.alarms.isEmpty)
    #expect(try pair.alex.partner.received.allSatisfy(\.isOver))
    let undone = try pair.alex.store.history.undo()
    #expect(undone.subject == "Deleted: 2 alarms")
    #expect(Set(try pair.alex.alarms.map(\.note)) == ["first", "second"])
    // They stay: nobody deletes them again.
    try await pair.alex.round()
    #expect(try pair.alex.alarms.count == 2)
  }

  @Test("the same two under new keys: nothing is cancelled")
  func rePaired() async throws {
    let pair = try await Pair()
    try pair.chris.ask()
    for person in [pair.chris, pair.alex] { try await person.round() }
    try pair.chris.change {
      try $0.end(at: pair.chris.now, successor: Identifier(high: 7, low: 7))
    }
    for person in [pair.chris, pair.alex] { try await person.round() }
    #expect(try pair.alex.alarms.count == 1)
  }
}
