import Testing

@testable import BelfryCore

/// Many notifications that are due together share one.
@Suite struct DeliveryGroupTests {
  private static let due = Instant(rfc3339: "2026-11-23T09:00:00Z")!

  private static func content(_ number: Int, sound: String? = nil) -> Notification.Content {
    let letters = Array("abcdefghijklmnop")
    let alarm = Identifier(
      "dbbjx53dsdxuce4rkkujxmt7\(letters[number / 16])\(letters[number % 16])")!
    let id = OccurrenceID(alarm: alarm, occurrence: CivilDateTime("2026-11-23T09:00")!)
    return Notification.Content(id: id, title: "Alarm \(number + 10)", at: due, sound: sound)
  }

  private static func firing(
    _ number: Int, sound: String? = nil,
    actions: [Notification.Action] = [.stop, .done, .snooze, .skip]
  ) -> PendingDelivery {
    PendingDelivery(
      due: due,
      notification: .firing(
        content(number, sound: sound), Notification.Firing(isLate: false, actions: actions)))
  }

  private static func followUp(_ number: Int) -> PendingDelivery {
    let followUp = FollowUp(
      occurrence: CivilDateTime("2026-11-23T09:00")!, since: due, number: 1 + number % 3, count: 3,
      due: due)
    return PendingDelivery(due: due, notification: .followUp(content(number), followUp))
  }

  private static func firings(_ count: Int) -> [PendingDelivery] { (0..<count).map { firing($0) } }

  @Test func upToTenAreShownOneByOne() {
    let ten = DeliveryGroupTests.firings(10)
    #expect(DeliveryGroup.groups(of: ten) == ten.map { DeliveryGroup($0) })
    let eleven = DeliveryGroupTests.firings(11)
    #expect(DeliveryGroup.groups(of: eleven) == [DeliveryGroup(eleven)])
  }

  @Test func kindsAreNotMixed() {
    let firings = DeliveryGroupTests.firings(11)
    let followUps = (0..<12).map(DeliveryGroupTests.followUp)
    let rehearsals = (0..<11).map {
      PendingDelivery(
        due: DeliveryGroupTests.due,
        notification: .rehearsal(
          DeliveryGroupTests.content($0), requested: DeliveryGroupTests.due))
    }
    let groups = DeliveryGroup.groups(of: [rehearsals[0]] + followUps + firings + rehearsals[1...])
    #expect(
      groups == [DeliveryGroup(rehearsals[0]), DeliveryGroup(followUps), DeliveryGroup(firings)]
        + rehearsals[1...].map { DeliveryGroup($0) })
  }

  @Test func severalAlarmsAreSilencedButNotConfirmed() throws {
    #expect(DeliveryGroup(DeliveryGroupTests.firing(0)).actions == [.stop, .done, .snooze, .skip])
    #expect(DeliveryGroup(DeliveryGroupTests.firings(11))?.actions == [.stop, .snooze])
    #expect(DeliveryGroup((0..<11).map(DeliveryGroupTests.followUp))?.actions == [.remind])
    let strict = DeliveryGroupTests.firings(10) + [DeliveryGroupTests.firing(10, actions: [.stop])]
    #expect(DeliveryGroup(strict)?.actions == [.stop])
  }

  @Test func theFirstOwnSoundIsPlayed() {
    let plain = DeliveryGroupTests.firings(10)
    #expect(DeliveryGroup(plain)?.sound == nil)
    #expect(
      DeliveryGroup(plain + [DeliveryGroupTests.firing(11, sound: "chime")])?.sound == "chime")
  }

  @Test func aPartOfAGroupKeepsItsOrder() throws {
    let all = DeliveryGroupTests.firings(11)
    let group = try #require(DeliveryGroup(all))
    let wanted = Set([all[3].id, all[7].id])
    #expect(group.only(wanted.contains) == DeliveryGroup([all[3], all[7]]))
    #expect(group.only { _ in false } == nil)
    #expect(DeliveryGroup([]) == nil)
  }

  @Test func theEngineHandsOutGroupsAndRecordsEachDelivery() {
    let all = DeliveryGroupTests.firings(12)
    var engine = DeliveryEngine(owner: "me")
    #expect(engine.evaluated(all) == all)
    // Another process has got the last one.
    let granted = Array(all.dropLast())
    let groups = engine.claimed(all, granted: Set(granted.map(\.id)))
    #expect(groups == [DeliveryGroup(granted)!])
    // The user stops all before the channel reports anything else.
    for pending in granted {
      _ = engine.handle(.finished(pending.id, .delivered(.answer(.stop))))
      _ = engine.handle(.ended(pending.id))
    }
    let recorded = engine.handle(.recordingDue)
    #expect(
      recorded == [
        .record(
          DeliveryEngine.Recording(
            outcomes: granted.map {
              DeliveryEngine.RecordedOutcome($0, .delivered(.answer(.stop)))
            })),
        .respond(granted, .answer(.stop)),
      ])
    #expect(engine.phases.isEmpty)
  }
}
