import BelfryCore
import BelfryStore

/// The text of notifications, for hooks, terminals and the log.
package struct NotificationText {
  private let times: TimeText
  package var zones: ZoneLibrary { times.zones }

  package init(_ times: TimeText) { self.times = times }

  /// Returns the notification of a group as hooks and terminals get it.
  package func render(_ group: DeliveryGroup) -> RenderedNotification {
    group.others.isEmpty ? render(group.first.notification) : GroupText(group, times).rendered
  }

  /// Returns a notification as hooks and terminals get it.
  package func render(_ notification: Notification) -> RenderedNotification {
    RenderedNotification(
      document: json(notification).document, variables: variables(notification),
      lines: NotificationText.lines(
        headline(notification), body(notification), command(notification)),
      soundsBell: soundsBell(notification))
  }

  // MARK: Text

  /// Returns the first line: the title, or the question whether the occurrence was done.
  package func headline(_ notification: Notification) -> String {
    switch notification {
    case .firing(let content, _), .advanceWarning(let content): content.title
    case .followUp(let content, _):
      content.partner == nil ? FollowUp.question(content.title) : "Done? \(content.shownTitle)"
    case .missedSummary(let summary):
      NotificationText.headline(summary)
    case .batteryWarning(_, let warning, _): warning.headline
    case .message(let message): message.headline
    case .rehearsal(let content, _): "Test: \(content.title)"
    }
  }

  /// Returns the first line of a missed summary. One alarm can have several missed occurrences.
  private static func headline(_ summary: Notification.MissedSummary) -> String {
    let alarms = Set(summary.items.map(\.id.alarm)).count
    let count = summary.items.count
    if alarms == 1 {
      return "Missed\(count == 1 ? "" : " \(count) times"): \(summary.first.title)"
    }
    return "\(alarms) alarms were missed" + (count > alarms ? ", \(count) times in all" : "")
  }

  /// The maximum number of occurrences in a missed summary.
  private static let maxMissedLines = 8

  /// Returns the text below the headline.
  package func body(_ notification: Notification) -> String {
    switch notification {
    case .firing(let content, let firing):
      let step = firing.step.map { "\(text($0))\n" } ?? ""
      let time = time(of: content)
      return step + (firing.isLate && firing.step == nil ? "Was due \(time)." : time)
        + (content.note.map { "\n\($0)" } ?? "")
    case .followUp(let content, let followUp):
      return "Stopped, not confirmed yet: \(time(of: content))."
        + (followUp.isLast ? "\nThis is the last reminder; it stays pending until it is done." : "")
    case .advanceWarning(let content):
      return "Due \(time(of: content))." + (content.note.map { "\n\($0)" } ?? "")
    case .rehearsal:
      return "This is a test of the cascade. Nothing is due, and no response is needed."
    case .message(let message): return message.body
    case .batteryWarning(let content, let warning, let others):
      let more = others == 0 ? "" : ", and \(others) more"
      return
        "\(warning.action)\n\(warning.title): \(content.title), \(time(of: content))\(more)."
        + (warning.note.map { " \($0)" } ?? "")
    case .missedSummary(let summary): return body(summary)
    }
  }

  private func body(_ summary: Notification.MissedSummary) -> String {
    guard !summary.others.isEmpty else {
      return "Was due \(times.full(summary.first.time))."
        + (MissedText.text(summary.first.payload, times).map {
          "\n\($0.prefix(1).uppercased() + $0.dropFirst())."
        } ?? "")
    }
    let lines = summary.items.prefix(NotificationText.maxMissedLines).map { item in
      "\(item.title), \(times.full(item.time))"
        + (MissedText.text(item.payload, times).map { ": \($0)" } ?? "")
    }
    let rest = summary.items.count - lines.count
    return (lines + (rest > 0 ? ["and \(rest) more: belfry list"] : [])).joined(separator: "\n")
  }

  /// Returns the occurrence in words, with its zone if that is not the device's own.
  package func time(of content: Notification.Content) -> String {
    times.full(content.time) + (content.zoneName.map { " \($0)" } ?? "")
  }

  private func text(_ step: Notification.CascadeStep) -> String {
    let reason = step.uncertainty.map { " That is not certain: \(text($0))." } ?? ""
    return "Cascade step \(step.number): not stopped on \(firstDevice(step)).\(reason)"
  }

  /// Returns the name of the device that rang at the alarm's time.
  package func firstDevice(_ step: Notification.CascadeStep) -> String {
    step.firstDevice ?? "the first device"
  }

  /// Returns the reason why the answers on other devices are unknown, as a clause.
  package func text(_ uncertainty: Notification.Uncertainty) -> String {
    return switch uncertainty {
    case .noRemote: "this store has no remote"
    case .neverSynced: "this device has never synced"
    case .remoteUnreachable(let since): "the remote cannot be reached since \(times.clock(since))"
    case .notSynced(let since): "this device has not synced since \(times.clock(since))"
    }
  }

  /// Returns the command that answers a notification; nil if it needs no answer.
  private func command(_ notification: Notification) -> String? {
    switch notification {
    case .firing(let content, let firing):
      let others = firing.actions.filter { $0 != .stop }.map(\.rawValue).joined(separator: ", ")
      let reply = content.partner == nil ? "" : ", partner reply"
      return "belfry ring   (or: belfry stop \(content.id.alarm.short), or: \(others)\(reply))"
    case .followUp(let content, _): return "belfry done \(content.id.alarm.short)   (or wait)"
    case .missedSummary(let summary):
      return summary.others.isEmpty
        ? "belfry done \(summary.first.id.alarm.short)   (or: dismiss)" : "belfry list"
    case .advanceWarning, .batteryWarning, .rehearsal, .message: return nil
    }
  }

  /// Returns true if a terminal sounds its bell for a notification.
  package func soundsBell(_ notification: Notification) -> Bool {
    switch notification {
    case .firing, .followUp, .missedSummary, .rehearsal: true
    case .advanceWarning, .message: false
    case .batteryWarning(_, let warning, _): warning.risk == .critical
    }
  }

  /// Returns the lines for a terminal, without control characters.
  package static func lines(_ headline: String, _ body: String, _ command: String?) -> [String] {
    func plain(_ text: String) -> String {
      String(String.UnicodeScalarView(text.unicodeScalars.filter { !$0.isHidden }))
    }
    let body = body.split(separator: "\n").map { "   " + plain(String($0)) }
    return ["** " + plain(headline)] + body + [command.map { "   \($0)" }].compactMap { $0 }
  }

  // MARK: Calls

  /// Returns the text to speak or send.
  package static func message(_ call: Notification.Call) -> String {
    let kind = call.isTest ? "a test of an automated backup alarm" : "an automated backup alarm"
    let due = call.subject.map { subject in
      "\(subject.title)\(subject.time.map { ", due at \($0.time)" } ?? "")."
    }
    let sentences = [
      "This is \(kind) from \(call.source).", due ?? "Nothing is due.", call.note ?? "",
    ]
    return sentences.filter { !$0.isEmpty }.joined(separator: " ")
  }

  /// Returns the name of a device with its owner, such as `Chris's laptop`; without an owner, the name alone.
  package static func source(_ device: Device?) -> String {
    guard let device else { return "another device" }
    guard let owner = device.owner, !device.name.lowercased().hasPrefix(owner.lowercased()) else {
      return device.name
    }
    return "\(owner)'s \(device.name)"
  }

  // MARK: Hooks

  /// Returns the word for the kind of a notification.
  package func kind(_ notification: Notification) -> String {
    switch notification {
    case .firing: "firing"
    case .followUp: "follow-up"
    case .advanceWarning: "warning"
    case .missedSummary: "missed"
    case .batteryWarning: "battery"
    case .rehearsal: "rehearsal"
    case .message: "message"
    }
  }

  /// The alarm, occurrence and time that a hook gets.
  private func subject(_ notification: Notification) -> (id: OccurrenceID?, at: Instant) {
    switch notification {
    case .missedSummary(let summary): (summary.first.id, summary.first.due)
    case .message(let message): (nil, message.at)
    case .firing, .followUp, .advanceWarning, .batteryWarning, .rehearsal:
      (notification.content?.id, notification.content?.at ?? .distantFuture)
    }
  }

  /// Returns `{kind, title, headline, body, due, actions, alarm?, occurrence?, note?, zone?, sound?, partner?}`. A firing
  /// also has `late`, and of a cascade `cascade`: `{step, primary, uncertainBecause?}`; a follow-up `number`, `count` and
  /// `last`; a missed summary `missed`, a list of `{alarm, title, occurrence, detail?}`; a battery warning `risk`,
  /// `predicted` in percent, and `more`, the number of further alarms at risk.
  package func json(_ notification: Notification) -> JSON {
    let subject = subject(notification)
    let content = notification.content
    var members: [String: JSON?] = [
      "kind": .string(kind(notification)), "title": .string(notification.title),
      "headline": .string(headline(notification)), "body": .string(body(notification)),
      "due": .string(zones.text(subject.at)),
      "actions": .array(notification.actions.map { .string($0.rawValue) }),
      "alarm": subject.id.map { JSON($0.alarm) },
      "occurrence": subject.id.map { JSON($0.occurrence) },
      "note": content?.note.map { .string($0) }, "zone": content?.zoneName.map { .string($0) },
      "sound": content?.sound.map { .string($0) },
      "partner": content?.partner.map { .string($0) },
    ]
    switch notification {
    case .firing(_, let firing):
      members["late"] = .bool(firing.isLate)
      members["cascade"] = firing.step.map { step in
        .object(omittingNil: [
          "step": .integer(Int64(step.number)),
          "primary": .string(firstDevice(step)),
          "uncertainBecause": step.uncertainty.map { .string(text($0)) },
        ])
      }
    case .followUp(_, let followUp):
      members["number"] = .integer(Int64(followUp.number))
      members["count"] = .integer(Int64(followUp.count))
      members["last"] = .bool(followUp.isLast)
    case .batteryWarning(_, let warning, let others):
      members["risk"] = .string(warning.risk.rawValue)
      members["predicted"] = .integer(Int64(warning.predicted))
      members["more"] = .integer(Int64(others))
    case .missedSummary(let summary):
      members["missed"] = .array(
        summary.items.map {
          .object(omittingNil: [
            "alarm": JSON($0.id.alarm), "title": .string($0.title),
            "occurrence": JSON($0.id.occurrence),
            "detail": MissedText.text($0.payload, times).map { .string($0) },
          ])
        })
    case .advanceWarning, .rehearsal, .message: break
    }
    return .object(omittingNil: members)
  }

  /// Returns the same as environment variables, for hooks that do not read JSON.
  private func variables(_ notification: Notification) -> [String: String] {
    let subject = subject(notification)
    let content = notification.content
    var result = [
      "BELFRY_KIND": kind(notification), "BELFRY_ALARM": subject.id?.alarm.text ?? "",
      "BELFRY_TITLE": notification.title, "BELFRY_NOTE": content?.note ?? "",
      "BELFRY_OCCURRENCE": subject.id?.occurrence.description ?? "",
      "BELFRY_DUE": zones.text(subject.at),
      "BELFRY_WHEN": content.map(time(of:)) ?? subject.id.map { times.full($0.occurrence) } ?? "",
      "BELFRY_HEADLINE": headline(notification), "BELFRY_BODY": body(notification),
      "BELFRY_ACTIONS": notification.actions.map(\.rawValue).joined(separator: " "),
    ]
    if let sound = content?.sound { result["BELFRY_SOUND"] = sound }
    if let zone = content?.zoneName { result["BELFRY_ZONE"] = zone }
    if let partner = content?.partner { result["BELFRY_PARTNER"] = partner }
    switch notification {
    case .firing(_, let firing):
      result["BELFRY_LATE"] = firing.isLate ? "true" : "false"
      if let step = firing.step { result["BELFRY_CASCADE_STEP"] = "\(step.number)" }
    case .followUp(_, let followUp): result["BELFRY_LAST"] = followUp.isLast ? "true" : "false"
    case .batteryWarning(_, let warning, _):
      result["BELFRY_RISK"] = warning.risk.rawValue
      result["BELFRY_PREDICTED"] = "\(warning.predicted)"
    case .advanceWarning, .missedSummary, .rehearsal, .message: break
    }
    return result
  }
}
