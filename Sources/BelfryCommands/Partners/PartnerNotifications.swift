import BelfryCore
import BelfryPartners
import BelfryScheduler
import BelfryStore
import BelfryTerminal

/// Silent notifications of news from partners, for commands that run without a terminal.
struct PartnerNotifications {
  private let session: PartnerSession

  init(_ session: PartnerSession) {
    self.session = session
  }

  /// The number of news items that get a notification of their own. One notification covers the rest.
  private static let maxCount = 5

  func send(_ news: [PartnerNews]) async {
    let text = PartnerText(session.context)
    let notifications = news.compactMap { text.notification($0) }
    for (headline, body) in notifications.prefix(PartnerNotifications.maxCount) {
      await send(headline, body)
    }
    let more = notifications.count - PartnerNotifications.maxCount
    if more > 0 { await send("\(more) more from your partners", "See them: belfry partner log") }
  }

  private func send(_ headline: String, _ body: String) async {
    let message = Notification.Message(
      id: session.context.storeContext.makeIdentifier(), headline: headline, body: body,
      at: session.now)
    let outcome = await session.context.hooks(registry: HookRegistry.folder(of: session.store))
      .deliver(
        PendingDelivery(due: session.now, notification: .message(message)), snooze: 0)
    // A failure needs no retry, as 'belfry partner log' shows the news.
    guard case .undelivered(let reasons) = outcome else { return }
    CommandDiagnostic.warn("a notification could not be delivered: \(Printable.text(headline)):")
    for reason in reasons { Console.error("  \(Printable.text(reason))") }
  }
}
