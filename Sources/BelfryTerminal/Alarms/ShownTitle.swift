import BelfryCore
import BelfryStore

/// The title of an alarm in lists. All alarms of a partner have the same title, so their message follows it.
package enum ShownTitle {
  /// The maximum length of a message behind a title, in characters.
  private static let maxLength = 60

  /// Returns the title of an alarm.
  ///
  /// - Parameters:
  ///   - title: the alarm's title.
  ///   - note: the alarm's note.
  ///   - partner: the name of the partner who has set the alarm; nil for the store's own alarms.
  package static func text(_ title: String, note: String?, partner: String?) -> String {
    guard partner != nil, let note, !note.isEmpty else { return title }
    let message = note.replacing("\n", with: " ")
    let isLong = message.count > maxLength
    return "\(title): \(isLong ? message.prefix(maxLength - 1) + "…" : message[...])"
  }
}

extension Alarm {
  /// The title in lists.
  package var shownTitle: String { ShownTitle.text(title, note: note, partner: partner?.name) }
}

extension Agenda.Subject {
  /// The title in lists.
  package var shownTitle: String { ShownTitle.text(title, note: note, partner: partner) }
}

extension AlarmSummary {
  /// The title in lists.
  package var shownTitle: String { ShownTitle.text(title, note: note, partner: partner) }
}

extension Notification.Content {
  /// The title in lists.
  package var shownTitle: String { ShownTitle.text(title, note: note, partner: partner) }
}
