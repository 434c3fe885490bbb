import BelfryCore
import BelfryStore
import Foundation
import TestSupport
import Testing

@testable import BelfryPartners

/// The alarms of partners after the partnership ends.
@Suite struct PartingTests {
  @Test(
    "After a sender has ended the partnership, the upcoming alarms stay, with a notice"
  )
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
    #expect(report.news == [PartnerNews(partner: "Chris", event: .unpaired(remaining: 2))])
    #expect(Set(try pair.alex.alarms.map(\.note)) == ["first", "second"])
    // Nothing is reported about them any more.
    #expect(try pair.alex.partner.received.allSatisfy(\.isOver))
    try await pair.alex.round()
    #expect(try pair.alex.alarms.count == 2)
  }

  @Test("Pairing the same two users again under new keys cancels nothing")
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
