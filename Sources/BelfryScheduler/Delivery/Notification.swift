import BelfryCore
import BelfryStore

/// What a person is told, as it is handed to whoever delivers it.
public struct Notification: Hashable, Sendable {
  public enum Kind: Hashable, Sendable {
    /// It rings; `late` when that is more than a minute after it was due.
    case firing(late: Bool)
    /// It was stopped and not confirmed.
    case followUp(FollowUp)
    /// It is to come; silently.
    case warning
    /// Nobody was reached in time: all of them, in one summary. The notice's own alarm is the first.
    case missed([Missed])
    /// The battery may not last until it rings, nor until so many later ones.
    case batteryWarning(BatteryWarning, more: Int)
    /// A rehearsal of the cascade: it rings for a while, and is marked as a test.
    case rehearsal
    /// News from a partner. The title is the headline.
    case message(body: String)
  }

  /// An occurrence that was missed.
  public struct Missed: Hashable, Sendable {
    public let alarm: Identifier
    public let title: String
    public let occurrence: CivilDateTime
    /// More, in words: that the cascade was unanswered either.
    public let detail: String?

    public init(
      alarm: Identifier, title: String, occurrence: CivilDateTime, detail: String? = nil
    ) {
      self.detail = detail
      self.alarm = alarm
      self.title = title
      self.occurrence = occurrence
    }
  }

  /// That it rings because those before it have stayed silent.
  public struct CascadeStep: Hashable, Sendable {
    /// The place in the cascade; the first is 1.
    public let step: Int
    /// What people call the device that rang first.
    public let primary: String
    /// Why nobody knows whether it was stopped; nil where the others could be asked.
    public let unasked: String?

    public init(step: Int, primary: String, unasked: String? = nil) {
      self.step = step
      self.primary = primary
      self.unasked = unasked
    }

    /// `Cascade 1: nobody has stopped it on laptop.`
    public var words: String {
      let reason = unasked.map { " That is not certain: \($0)." } ?? ""
      return "Cascade step \(step): not stopped on \(primary).\(reason)"
    }
  }

  public let kind: Kind
  public let alarm: Identifier
  public let title: String
  public let note: String?
  public let occurrence: CivilDateTime
  /// The name of the time zone of `occurrence`; nil when it is the device's own.
  public let zone: String?
  /// When it was due: RFC 3339 with the device's offset.
  public let due: String
  /// The name of the alarm's own sound; nil for the device's.
  public let sound: String?
  /// What can be answered to it, as a hook prints it: `stop`, `done`, `snooze`, `skip`, `remind`.
  public let actions: [String]
  /// Rings as a later cascade step; nil for who rings first.
  public let cascade: CascadeStep?
  /// The partner who has set it; nil for the store's own people.
  public let partner: String?

  public init(
    _ kind: Kind, alarm: Identifier, title: String, note: String?, occurrence: CivilDateTime,
    zone: String? = nil, due: String, sound: String? = nil, actions: [String] = [],
    cascade: CascadeStep? = nil, partner: String? = nil
  ) {
    self.zone = zone
    self.cascade = cascade
    self.partner = partner
    self.kind = kind
    self.alarm = alarm
    self.title = title
    self.note = note
    self.occurrence = occurrence
    self.due = due
    self.sound = sound
    self.actions = actions
  }

  /// What can be answered to one that rings.
  static func answers(to alarm: Alarm, _ settings: Settings) -> [String] {
    var actions = ["stop", "done"]
    if settings.snoozeEnabled { actions.append("snooze") }
    if case .once = alarm.schedule.recurrence {} else { actions.append("skip") }
    return actions
  }

  /// What can be answered to a question.
  static let answersToFollowUp = ["done", "remind"]

  /// The names of the hooks that show it, the most fitting first.
  var hooks: [String] {
    switch kind {
    case .firing, .warning, .rehearsal: ["notify"]
    case .followUp: ["follow-up", "notify"]
    case .missed: ["missed", "notify"]
    case .batteryWarning: ["battery", "notify"]
    case .message: ["message", "notify"]
    }
  }

  /// Whether it is to be heard too.
  var rings: Bool {
    switch kind {
    case .firing, .rehearsal: true
    case .followUp, .warning, .missed, .batteryWarning, .message: false
    }
  }

  // MARK: Words

  /// The occurrence in words, with its zone when that is not the device's.
  private var when: String { occurrence.spoken + (zone.map { " \($0)" } ?? "") }

  /// What is said first: the title, or the question whether it was done.
  public var headline: String {
    switch kind {
    case .firing, .warning, .message: title
    case .followUp: FollowUp.question(title)
    case .missed(let missed):
      missed.count == 1 ? "Missed: \(title)" : "\(missed.count) alarms were missed"
    case .batteryWarning(let batteryWarning, _): batteryWarning.headline
    case .rehearsal: "Test: \(title)"
    }
  }

  /// What is said then.
  public var body: String {
    switch kind {
    case .firing(let late):
      return (cascade.map { "\($0.words)\n" } ?? "")
        + (late && cascade == nil ? "Was due \(when)." : when)
        + (note.map { "\n\($0)" } ?? "")
    case .rehearsal:
      return "This is a test of the cascade. Nothing is due, and no response is needed."
    case .message(let body): return body
    case .warning: return "Comes \(when)." + (note.map { "\n\($0)" } ?? "")
    case .followUp(let followUp):
      return "Stopped, not confirmed yet: \(when)."
        + (followUp.isLast ? "\nThis is the last reminder; it stays pending until it is done." : "")
    case .batteryWarning(let batteryWarning, let more):
      let others = more == 0 ? "" : ", and \(more) more"
      return "\(batteryWarning.action)\n\(batteryWarning.title): \(title), \(when)\(others)."
    case .missed(let missed) where missed.count == 1:
      return "Was due \(when)."
        + (missed[0].detail.map { "\n\($0.prefix(1).uppercased() + $0.dropFirst())." } ?? "")
    case .missed(let missed):
      let lines = missed.prefix(Notification.mostLines).map { item in
        "\(item.title), \(item.occurrence.spoken)" + (item.detail.map { ": \($0)" } ?? "")
      }
      let more = missed.count - lines.count
      return (lines + (more > 0 ? ["and \(more) more: belfry list"] : [])).joined(separator: "\n")
    }
  }

  /// So many of what was missed are named.
  private static let mostLines = 8

  /// What to type.
  var command: String? {
    let id = alarm.short
    switch kind {
    case .firing:
      let others = actions.filter { $0 != "stop" }.joined(separator: ", ")
      return "belfry stop \(id)   (or: \(others))"
    case .followUp: return "belfry done \(id)   (or wait)"
    case .missed(let missed):
      return missed.count == 1 ? "belfry done \(id)   (or: dismiss)" : "belfry list"
    case .warning, .batteryWarning, .rehearsal, .message: return nil
    }
  }

  /// Whether a terminal sounds its bell for it.
  var sounds: Bool {
    switch kind {
    case .firing, .followUp, .missed, .rehearsal: true
    case .warning, .message: false
    case .batteryWarning(let batteryWarning, _): batteryWarning.risk == .critical
    }
  }

  /// What a terminal shows of it: nothing in it is obeyed.
  var lines: [String] {
    func plain(_ text: String) -> String {
      String(String.UnicodeScalarView(text.unicodeScalars.filter { !$0.isHidden }))
    }
    let body = self.body.split(separator: "\n").map { "   " + plain(String($0)) }
    return ["** " + plain(headline)] + body + [command.map { "   \($0)" }].compactMap { $0 }
  }

  // MARK: As hooks get it

  private var kindName: String {
    switch kind {
    case .firing: "firing"
    case .followUp: "follow-up"
    case .warning: "warning"
    case .missed: "missed"
    case .batteryWarning: "battery"
    case .rehearsal: "rehearsal"
    case .message: "message"
    }
  }

  /// `{kind, alarm, title, headline, body, note?, occurrence, zone?, due, sound?, actions, partner?}`, and of a firing `late`, of a
  /// follow-up `number`, `count`, `last`, of a cascade `cascade`: `{step, primary, unasked?}`, of what was missed `missed`: a list of
  /// `{alarm, title, occurrence, detail?}`, of a batteryWarning
  /// `risk`, `predicted` in percent, and `more`, for how many later alarms it holds too.
  public var json: JSON {
    var members: [String: JSON?] = [
      "kind": .string(kindName), "alarm": JSON(alarm), "title": .string(title),
      "note": note.map { .string($0) }, "occurrence": JSON(occurrence),
      "zone": zone.map { .string($0) }, "due": .string(due),
      "headline": .string(headline), "body": .string(body), "sound": sound.map { .string($0) },
      "actions": .array(actions.map { .string($0) }), "partner": partner.map { .string($0) },
      "cascade": cascade.map {
        .object(omittingNil: [
          "step": .integer(Int64($0.step)), "primary": .string($0.primary),
          "unasked": $0.unasked.map { .string($0) },
        ])
      },
    ]
    switch kind {
    case .firing(let late): members["late"] = .bool(late)
    case .followUp(let followUp):
      members["number"] = .integer(Int64(followUp.number))
      members["count"] = .integer(Int64(followUp.count))
      members["last"] = .bool(followUp.isLast)
    case .warning, .rehearsal, .message: break
    case .batteryWarning(let batteryWarning, let more):
      members["risk"] = .string(batteryWarning.risk.rawValue)
      members["predicted"] = .integer(Int64(batteryWarning.predicted))
      members["more"] = .integer(Int64(more))
    case .missed(let missed):
      members["missed"] = .array(
        missed.map {
          .object(omittingNil: [
            "alarm": JSON($0.alarm), "title": .string($0.title), "occurrence": JSON($0.occurrence),
            "detail": $0.detail.map { .string($0) },
          ])
        })
    }
    return .object(omittingNil: members)
  }

  /// The same as variables, for hooks that read no JSON.
  var variables: [String: String] {
    var result = [
      "BELFRY_KIND": kindName, "BELFRY_ALARM": alarm.text, "BELFRY_TITLE": title,
      "BELFRY_NOTE": note ?? "", "BELFRY_OCCURRENCE": occurrence.description, "BELFRY_DUE": due,
      "BELFRY_WHEN": when, "BELFRY_HEADLINE": headline, "BELFRY_BODY": body,
      "BELFRY_ACTIONS": actions.joined(separator: " "),
    ]
    if let sound { result["BELFRY_SOUND"] = sound }
    if let zone { result["BELFRY_ZONE"] = zone }
    if let cascade { result["BELFRY_CASCADE_STEP"] = "\(cascade.step)" }
    if let partner { result["BELFRY_PARTNER"] = partner }
    switch kind {
    case .firing(let late): result["BELFRY_LATE"] = late ? "true" : "false"
    case .followUp(let followUp): result["BELFRY_LAST"] = followUp.isLast ? "true" : "false"
    case .batteryWarning(let batteryWarning, _):
      result["BELFRY_RISK"] = batteryWarning.risk.rawValue
      result["BELFRY_PREDICTED"] = "\(batteryWarning.predicted)"
    case .warning, .missed, .rehearsal, .message: break
    }
    return result
  }
}

// MARK: From one process to another

extension Notification {
  /// All there is of it, for another process that is to deliver it.
  var handover: JSON {
    guard case .object(var members) = json else { return json }
    if case .followUp(let followUp) = kind {
      members["since"] = JSON(followUp.since)
      members["asked"] = JSON(followUp.due)
    }
    return .object(members)
  }

  /// Nil when it is none.
  init?(handover json: JSON) {
    guard let alarm = json["alarm"]?.identifier, let title = json["title"]?.string,
      let occurrence = json["occurrence"]?.occurrence, let due = json["due"]?.string,
      let kind = Notification.kind(json, occurrence)
    else { return nil }
    self.init(
      kind, alarm: alarm, title: title, note: json["note"]?.string, occurrence: occurrence,
      zone: json["zone"]?.string, due: due, sound: json["sound"]?.string,
      actions: (json["actions"]?.array ?? []).compactMap(\.string),
      cascade: json["cascade"].flatMap { cascade in
        guard let step = cascade["step"]?.integer, let primary = cascade["primary"]?.string else {
          return nil
        }
        return CascadeStep(
          step: Int(step), primary: primary, unasked: cascade["unasked"]?.string)
      }, partner: json["partner"]?.string)
  }

  private static func kind(_ json: JSON, _ occurrence: CivilDateTime) -> Kind? {
    switch json["kind"]?.string {
    case "firing": return .firing(late: json["late"]?.bool ?? false)
    case "warning": return .warning
    case "rehearsal": return .rehearsal
    case "message": return json["body"]?.string.map { .message(body: $0) }
    case "battery":
      guard let risk = json["risk"]?.string.flatMap({ BatteryPrediction.Risk(rawValue: $0) }),
        let predicted = json["predicted"]?.integer,
        let batteryWarning = BatteryWarning(risk: risk, predicted: Int(predicted))
      else { return nil }
      return .batteryWarning(batteryWarning, more: Int(json["more"]?.integer ?? 0))
    case "follow-up":
      guard let number = json["number"]?.integer, let count = json["count"]?.integer,
        let since = json["since"]?.instant, let due = json["asked"]?.instant
      else { return nil }
      return .followUp(
        FollowUp(
          occurrence: occurrence, since: since, number: Int(number), count: Int(count), due: due))
    case "missed":
      return .missed(
        (json["missed"]?.array ?? []).compactMap { item in
          guard let alarm = item["alarm"]?.identifier, let title = item["title"]?.string,
            let occurrence = item["occurrence"]?.occurrence
          else { return nil }
          return Missed(
            alarm: alarm, title: title, occurrence: occurrence, detail: item["detail"]?.string)
        })
    default: return nil
    }
  }
}
