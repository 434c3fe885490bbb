import BelfryCore
import BelfryStore
import Testing

@testable import BelfryScheduler

/// Deliveries and outcomes that one process sends to another.
@Suite struct NotificationCodingTests {
  private static let now = Instant(rfc3339: "2026-11-23T09:00:00Z")!
  private static let id = OccurrenceID(
    alarm: Identifier("dbbjx53dsdxuce4rkkujxmt7fb")!,
    occurrence: CivilDateTime("2026-11-23T09:00")!)
  private static let content = Notification.Content(
    id: id, title: "Rent", note: "Landlord\n\"quoted\"", zoneName: "Europe/Berlin", at: now,
    sound: "bell", partner: "Alex")
  private static let plain = Notification.Content(id: id, title: "", at: now)

  private static let notifications: [Notification] = {
    let uncertainties: [Notification.Uncertainty?] = [
      nil, .noRemote, .neverSynced, .remoteUnreachable(since: now), .notSynced(since: now),
    ]
    let item = Notification.MissedSummary.Item(
      id: id, title: "Rent", due: now, payload: .exhaustedCascade)
    return uncertainties.map { uncertainty in
      .firing(
        content,
        Notification.Firing(
          isLate: true,
          step: Notification.CascadeStep(
            number: 2, firstDevice: uncertainty == nil ? nil : "laptop", uncertainty: uncertainty),
          actions: [.stop, .done, .snooze, .skip], run: ActionName("light")))
    } + [
      .firing(plain, Notification.Firing(isLate: false)),
      .followUp(
        content,
        FollowUp(occurrence: id.occurrence, since: now, number: 2, count: 3, due: now)),
      .advanceWarning(content), .rehearsal(plain, requested: now),
      .batteryWarning(content, BatteryWarning(risk: .critical, predicted: 3)!, others: 2),
      .batteryWarning(
        content, BatteryWarning(risk: .warning, predicted: 12, isAssumed: true)!, others: 0),
      .missedSummary(Notification.MissedSummary([item, item], at: now)!),
      .message(Notification.Message(id: id.alarm, headline: "Hello", body: "", at: now)),
    ]
  }()

  @Test(arguments: notifications) func roundTrip(_ notification: Notification) throws {
    let pending = PendingDelivery(
      due: NotificationCodingTests.now, notification: notification, mayBeAnswered: true)
    let line = pending.json.line
    #expect(PendingDelivery(json: try JSON(parsing: Array(line.utf8))) == pending)
  }

  @Test(arguments: [
    DeliveryOutcome.delivered(nil), .delivered(.remind), .delivered(.answer(.stop)),
    .delivered(.answer(.done())), .delivered(.answer(.skip())),
    .delivered(.answer(.snooze(seconds: 540))), .ongoing(owner: "boot-1-2"), .withdrawn,
    .undelivered(["a\nb", "c"]),
  ])
  func outcomeRoundTrip(_ outcome: DeliveryOutcome) throws {
    #expect(DeliveryOutcome(json: try JSON(parsing: Array(outcome.json.line.utf8))) == outcome)
  }

  @Test func incompleteMessagesAreRefused() throws {
    for text in [
      "{}", #"{"due":"2026-11-23T09:00:00Z"}"#,
      #"{"due":"2026-11-23T09:00:00Z","notification":{"kind":"firing"}}"#,
      #"{"due":"2026-11-23T09:00:00Z","notification":{"kind":"other","alarm":"dbbjx53dsdxuce4rkkujxmt7fb","occurrence":"2026-11-23T09:00","title":"","at":"2026-11-23T09:00:00Z"}}"#,
    ] {
      #expect(PendingDelivery(json: try JSON(parsing: Array(text.utf8))) == nil)
    }
  }
}
