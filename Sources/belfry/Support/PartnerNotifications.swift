import BelfryCore
import BelfryPartners
import BelfryScheduler
import BelfryStore

/// Tells people who look at no terminal what partners had to say: silently, as nothing of it rings.
struct PartnerNotifications {
  private let place: PartnerSession

  init(_ place: PartnerSession) {
    self.place = place
  }

  /// So many are told of one by one.
  private static let most = 5

  func tell(_ news: [PartnerNews]) async {
    let text = PartnerText(place.context)
    let words = news.compactMap { text.notification($0) }
    for (headline, body) in words.prefix(PartnerNotifications.most) { await tell(headline, body) }
    let more = words.count - PartnerNotifications.most
    if more > 0 { await tell("\(more) more from your partners", "See them: belfry partner log") }
  }

  private func tell(_ headline: String, _ body: String) async {
    let zones = place.context.storeContext.zones
    let notification = Notification(
      .word(body: body), alarm: place.store.device, title: headline, note: nil,
      occurrence: zones.local.civil(at: place.now), due: zones.text(place.now))
    if case .undelivered(let reasons) = await place.context.hooks().deliver(notification, snooze: 0)
    {
      // It stands in the log.
      Console.error("belfry: warning: nobody could be told: \(Printable.text(headline)):")
      for reason in reasons { Console.error("  \(Printable.text(reason))") }
    }
  }
}
