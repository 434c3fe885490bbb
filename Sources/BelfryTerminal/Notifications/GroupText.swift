import BelfryCore
import BelfryStore

/// The text of one notification that stands for several alarms.
package struct GroupText {
  private let group: DeliveryGroup
  private let times: TimeText

  package init(_ group: DeliveryGroup, _ times: TimeText) {
    self.group = group
    self.times = times
  }

  /// The maximum number of alarms that the text names.
  private static let maxLines = 8

  /// The first line.
  package var headline: String {
    switch group.first.notification {
    case .followUp: "\(group.count) alarms are not confirmed yet"
    case .advanceWarning: "\(group.count) alarms are due soon"
    default: "\(group.count) alarms ring"
    }
  }

  /// The first alarms with their times, and the number of the others.
  package var body: String {
    let text = NotificationText(times)
    let lines = contents.prefix(GroupText.maxLines).map { "\($0.title), \(text.time(of: $0))" }
    let rest = group.count - lines.count
    return (lines + (rest > 0 ? ["and \(rest) more: \(listCommand)"] : [])).joined(separator: "\n")
  }

  private var contents: [Notification.Content] {
    group.deliveries.lazy.compactMap(\.notification.content)
  }

  /// The command that lists the alarms.
  private var listCommand: String {
    if case .followUp = group.first.notification { "belfry pending" } else { "belfry list" }
  }

  /// The command that answers the notification; nil if it needs no answer.
  private var command: String? {
    switch group.first.notification {
    case .firing: "belfry stop --all   (or: snooze --all)"
    case .followUp: "belfry done ALARM …   (or wait)"
    default: nil
    }
  }

  private var due: Instant { group.first.due }

  /// The notification as hooks and terminals get it.
  package var rendered: RenderedNotification {
    let text = NotificationText(times)
    return RenderedNotification(
      document: json(text).document, variables: variables(text),
      lines: NotificationText.lines(headline, body, command),
      soundsBell: text.soundsBell(group.first.notification))
  }

  /// Returns `{kind, title, headline, body, due, actions, sound?, alarms}`, with the headline as the title and the earliest
  /// time. `alarms` is a list of `{alarm, title, occurrence, note?, zone?, partner?}`.
  private func json(_ text: NotificationText) -> JSON {
    .object(omittingNil: [
      "kind": .string(text.kind(group.first.notification)), "title": .string(headline),
      "headline": .string(headline), "body": .string(body), "due": .string(times.zones.text(due)),
      "actions": .array(group.actions.map { .string($0.rawValue) }),
      "sound": group.sound.map { .string($0) },
      "alarms": .array(
        contents.map { content in
          .object(omittingNil: [
            "alarm": JSON(content.id.alarm), "title": .string(content.title),
            "occurrence": JSON(content.id.occurrence),
            "note": content.note.map { .string($0) }, "zone": content.zoneName.map { .string($0) },
            "partner": content.partner.map { .string($0) },
          ])
        }),
    ])
  }

  /// Returns the same as environment variables, without the list of the alarms.
  private func variables(_ text: NotificationText) -> [String: String] {
    var result = [
      "BELFRY_KIND": text.kind(group.first.notification), "BELFRY_COUNT": "\(group.count)",
      "BELFRY_ALARM": "", "BELFRY_TITLE": headline, "BELFRY_NOTE": "", "BELFRY_OCCURRENCE": "",
      "BELFRY_DUE": times.zones.text(due),
      "BELFRY_WHEN": contents.first.map(text.time(of:)) ?? "", "BELFRY_HEADLINE": headline,
      "BELFRY_BODY": body,
      "BELFRY_ACTIONS": group.actions.map(\.rawValue).joined(separator: " "),
    ]
    if let sound = group.sound { result["BELFRY_SOUND"] = sound }
    return result
  }
}
