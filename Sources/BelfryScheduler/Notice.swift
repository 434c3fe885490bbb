import BelfryCore
import BelfryStore

/// What a person is told of one occurrence, as it is handed to whoever delivers it.
public struct Notice: Hashable, Sendable {
  public enum Kind: Hashable, Sendable {
    /// It rings; `late` when that is more than a minute after it was due.
    case firing(late: Bool)
    /// It was stopped and not confirmed.
    case followUp(FollowUp)
  }

  public let kind: Kind
  public let alarm: Identifier
  public let title: String
  public let note: String?
  public let occurrence: CivilDateTime
  /// When it was due: RFC 3339 with the device's offset.
  public let due: String

  public init(
    _ kind: Kind, alarm: Identifier, title: String, note: String?, occurrence: CivilDateTime,
    due: String
  ) {
    self.kind = kind
    self.alarm = alarm
    self.title = title
    self.note = note
    self.occurrence = occurrence
    self.due = due
  }

  /// The name of the hook that delivers it.
  var hook: String {
    switch kind {
    case .firing: "notify"
    case .followUp: "follow-up"
    }
  }

  /// What is said first: the title, or the question whether it was done.
  public var headline: String {
    switch kind {
    case .firing: title
    case .followUp: FollowUp.question(title)
    }
  }

  /// What is said then.
  public var body: String {
    switch kind {
    case .firing(let late):
      (late ? "Was due \(occurrence.spoken)." : occurrence.spoken) + (note.map { "\n\($0)" } ?? "")
    case .followUp(let followUp):
      "Stopped, not confirmed yet: \(occurrence.spoken)."
        + (followUp.isLast ? "\nThis is the last reminder; it stays pending until it is done." : "")
    }
  }

  /// What can be answered to it, as a hook prints it.
  var actions: [String] {
    switch kind {
    case .firing: ["stop", "done", "snooze", "skip"]
    case .followUp: ["done", "remind"]
    }
  }

  /// `{kind, alarm, title, headline, body, note?, occurrence, due, actions}`, and of a firing `late`, of a
  /// follow-up `number`, `count`, `last`.
  public var json: JSON {
    var members: [String: JSON?] = [
      "alarm": JSON(alarm), "title": .string(title), "note": note.map { .string($0) },
      "occurrence": JSON(occurrence), "due": .string(due), "headline": .string(headline),
      "body": .string(body), "actions": .array(actions.map { .string($0) }),
    ]
    switch kind {
    case .firing(let late):
      members["kind"] = "firing"
      members["late"] = .bool(late)
    case .followUp(let followUp):
      members["kind"] = "follow-up"
      members["number"] = .integer(Int64(followUp.number))
      members["count"] = .integer(Int64(followUp.count))
      members["last"] = .bool(followUp.isLast)
    }
    return .object(omittingNil: members)
  }

  /// The same as variables, for hooks that read no JSON.
  var variables: [String: String] {
    var result = [
      "BELFRY_ALARM": alarm.text, "BELFRY_TITLE": title, "BELFRY_NOTE": note ?? "",
      "BELFRY_OCCURRENCE": occurrence.description, "BELFRY_DUE": due,
      "BELFRY_WHEN": occurrence.spoken, "BELFRY_HEADLINE": headline, "BELFRY_BODY": body,
    ]
    switch kind {
    case .firing(let late):
      result["BELFRY_KIND"] = "firing"
      result["BELFRY_LATE"] = late ? "true" : "false"
    case .followUp(let followUp):
      result["BELFRY_KIND"] = "follow-up"
      result["BELFRY_LAST"] = followUp.isLast ? "true" : "false"
    }
    return result
  }
}
