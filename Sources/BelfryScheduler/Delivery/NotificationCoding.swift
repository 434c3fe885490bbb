import BelfryCore
import BelfryStore

// The JSON with which a process hands a delivery over to another process of the same version.

extension PendingDelivery {
  /// Creates a delivery from JSON; nil if it is not valid.
  init?(json: JSON) {
    guard let due = json["due"]?.instant,
      let notification = json["notification"].flatMap(Notification.init(json:))
    else { return nil }
    self.init(
      due: due, notification: notification, mayBeAnswered: json["mayBeAnswered"]?.bool ?? false)
  }

  /// The delivery as `{due, mayBeAnswered, notification}`.
  var json: JSON {
    .object([
      "due": JSON(due), "mayBeAnswered": .bool(mayBeAnswered), "notification": notification.json,
    ])
  }
}

extension Notification {
  fileprivate init?(json: JSON) {
    if json["kind"]?.string == "message" {
      guard let message = Message(json: json) else { return nil }
      self = .message(message)
      return
    }
    guard let content = Content(json: json) else { return nil }
    switch json["kind"]?.string {
    case "firing":
      self = .firing(
        content,
        Firing(
          isLate: json["late"]?.bool ?? false,
          step: json["step"].flatMap(CascadeStep.init(json:)),
          actions: (json["actions"]?.array ?? []).compactMap(\.string).compactMap(
            Action.init(rawValue:)),
          run: json["run"]?.string.flatMap { ActionName($0) }))
    case "followUp":
      guard let followUp = FollowUp(json: json, of: content.id.occurrence) else { return nil }
      self = .followUp(content, followUp)
    case "advanceWarning": self = .advanceWarning(content)
    case "rehearsal":
      guard let requested = json["requested"]?.instant else { return nil }
      self = .rehearsal(content, requested: requested)
    case "battery":
      guard let risk = json["risk"]?.string.flatMap({ BatteryPrediction.Risk(rawValue: $0) }),
        let predicted = json["predicted"]?.integer,
        let warning = BatteryWarning(
          risk: risk, predicted: Int(predicted), isAssumed: json["assumed"]?.bool ?? false)
      else { return nil }
      self = .batteryWarning(content, warning, others: Int(json["others"]?.integer ?? 0))
    case "missed":
      let items = (json["missed"]?.array ?? []).compactMap(MissedSummary.Item.init(json:))
      guard let summary = MissedSummary(items, at: content.at) else { return nil }
      self = .missedSummary(summary)
    default: return nil
    }
  }

  fileprivate var json: JSON {
    var members: [String: JSON?] = content?.members ?? [:]
    switch self {
    case .firing(_, let firing):
      members["kind"] = "firing"
      members["late"] = .bool(firing.isLate)
      members["step"] = firing.step?.json
      members["actions"] = .array(firing.actions.map { .string($0.rawValue) })
      members["run"] = firing.run.map { JSON($0) }
    case .followUp(_, let followUp):
      members["kind"] = "followUp"
      members.merge(followUp.members) { $1 }
    case .advanceWarning: members["kind"] = "advanceWarning"
    case .rehearsal(_, let requested):
      members["kind"] = "rehearsal"
      members["requested"] = JSON(requested)
    case .batteryWarning(_, let warning, let others):
      members["kind"] = "battery"
      members["risk"] = .string(warning.risk.rawValue)
      members["predicted"] = .integer(Int64(warning.predicted))
      if warning.isAssumed { members["assumed"] = .bool(true) }
      members["others"] = .integer(Int64(others))
    case .missedSummary(let summary):
      let first = summary.first
      members = Content(id: first.id, title: first.title, at: summary.at).members
      members["kind"] = "missed"
      members["missed"] = .array(summary.items.map(\.json))
    case .message(let message): members = message.members
    }
    return .object(omittingNil: members)
  }
}

extension Notification.Content {
  fileprivate init?(json: JSON) {
    guard let id = OccurrenceID(json: json), let title = json["title"]?.string,
      let time = json["at"]?.instant
    else { return nil }
    self.init(
      id: id, title: title, note: json["note"]?.string, zoneName: json["zone"]?.string, at: time,
      sound: json["sound"]?.string, partner: json["partner"]?.string,
      movedTo: json["movedTo"]?.occurrence)
  }

  fileprivate var members: [String: JSON?] {
    [
      "alarm": JSON(id.alarm), "occurrence": JSON(id.occurrence), "title": .string(title),
      "at": JSON(at), "note": note.map { .string($0) }, "zone": zoneName.map { .string($0) },
      "sound": sound.map { .string($0) }, "partner": partner.map { .string($0) },
      "movedTo": movedTo.map { JSON($0) },
    ]
  }
}

extension OccurrenceID {
  fileprivate init?(json: JSON) {
    guard let alarm = json["alarm"]?.identifier, let occurrence = json["occurrence"]?.occurrence
    else { return nil }
    self.init(alarm: alarm, occurrence: occurrence)
  }
}

extension Notification.CascadeStep {
  fileprivate init?(json: JSON) {
    guard let number = json["number"]?.integer else { return nil }
    let since = json["since"]?.instant
    let uncertainty: Notification.Uncertainty? =
      switch (json["uncertainty"]?.string, since) {
      case ("noRemote", _): .noRemote
      case ("neverSynced", _): .neverSynced
      case ("remoteUnreachable", let since?): .remoteUnreachable(since: since)
      case ("notSynced", let since?): .notSynced(since: since)
      default: nil
      }
    self.init(
      number: Int(number), firstDevice: json["firstDevice"]?.string, uncertainty: uncertainty)
  }

  fileprivate var json: JSON {
    var members: [String: JSON?] = [
      "number": .integer(Int64(number)), "firstDevice": firstDevice.map { .string($0) },
    ]
    switch uncertainty {
    case .noRemote: members["uncertainty"] = "noRemote"
    case .neverSynced: members["uncertainty"] = "neverSynced"
    case .remoteUnreachable(let since):
      members["uncertainty"] = "remoteUnreachable"
      members["since"] = JSON(since)
    case .notSynced(let since):
      members["uncertainty"] = "notSynced"
      members["since"] = JSON(since)
    case nil: break
    }
    return .object(omittingNil: members)
  }
}

extension FollowUp {
  fileprivate init?(json: JSON, of occurrence: CivilDateTime) {
    guard let number = json["number"]?.integer, let count = json["count"]?.integer,
      let since = json["since"]?.instant, let due = json["followUpDue"]?.instant
    else { return nil }
    self.init(
      occurrence: occurrence, since: since, number: Int(number), count: Int(count), due: due)
  }

  fileprivate var members: [String: JSON?] {
    [
      "number": .integer(Int64(number)), "count": .integer(Int64(count)), "since": JSON(since),
      "followUpDue": JSON(due),
    ]
  }
}

extension Notification.MissedSummary.Item {
  fileprivate init?(json: JSON) {
    guard let id = OccurrenceID(json: json), let title = json["title"]?.string,
      let due = json["due"]?.instant
    else { return nil }
    self.init(
      id: id, title: title, due: due,
      payload: json["payload"].flatMap { LogPayloadRecord.decode($0) },
      movedTo: json["movedTo"]?.occurrence)
  }

  fileprivate var json: JSON {
    .object(omittingNil: [
      "alarm": JSON(id.alarm), "occurrence": JSON(id.occurrence), "title": .string(title),
      "due": JSON(due), "payload": payload.map(LogPayloadRecord.encode),
      "movedTo": movedTo.map { JSON($0) },
    ])
  }
}

extension Notification.Message {
  fileprivate init?(json: JSON) {
    guard let id = json["id"]?.identifier, let headline = json["headline"]?.string,
      let body = json["body"]?.string, let time = json["at"]?.instant
    else { return nil }
    self.init(id: id, headline: headline, body: body, at: time)
  }

  fileprivate var members: [String: JSON?] {
    [
      "kind": "message", "id": JSON(id), "headline": .string(headline), "body": .string(body),
      "at": JSON(at),
    ]
  }
}

extension DeliveryOutcome {
  /// Creates an outcome from JSON.
  init(json: JSON) {
    if let owner = json["owner"]?.string {
      self = .ongoing(owner: owner)
    } else if json["withdrawn"]?.bool == true {
      self = .withdrawn
    } else if let reasons = json["reasons"]?.array {
      self = .undelivered(reasons.compactMap(\.string))
    } else {
      self = .delivered(json["answer"]?.string.flatMap { DeliveredAnswer($0[...], snooze: 0) })
    }
  }

  /// The outcome as JSON: `owner` of a delivery that continues, `withdrawn`, the `reasons` of a failure, or the `answer`.
  var json: JSON {
    switch self {
    case .ongoing(let owner): .object(["owner": .string(owner)])
    case .withdrawn: .object(["withdrawn": true])
    case .undelivered(let reasons): .object(["reasons": .array(reasons.map { .string($0) })])
    case .delivered(let answer?): .object(["answer": .string(answer.line)])
    case .delivered(nil): .object([:])
    }
  }
}
