import BelfryCore

/// The `payload` member of a log entry's record: the facts beyond the action. `belfry log --json` prints the same object.
///
/// | kind | own keys |
/// |---|---|
/// | `schedule` | `schedule`: the schedule of a created alarm |
/// | `partnerRequest` | `partner?`: the name of the partner who requested the alarm |
/// | `fields` | `fields`: the edited fields |
/// | `restoredPart` | `part`: the restored part of the cascade, such as `cascade.every` |
/// | `cascade` | `edit`: `on`, `off`, `added`, `removed` or `moved`; `target`, or `from` and `to` |
/// | `replacedDevice` | `replaced`: the id of the device that the entry's device replaces |
/// | `deletion` | `reason`: `recalled`, `partnershipEnded` or `partnerRemoved`; `partner`: the name |
/// | `snooze` | `until`: an instant |
/// | `move` | `from`, `to`: the dates and times at which the occurrence would have rung, and rings |
/// | `pause` | `until`: a date and time |
/// | `followUp` | `number`, `count`; `unanswered`: true if it rang and nobody answered |
/// | `skippedByPause` | `earlier?`: `{count, first}` |
/// | `earlier` | `count`, `first`: the number of earlier occurrences, and the earliest one |
/// | `exhaustedCascade`, `undelivered` | – |
/// | `unansweredSteps` | `count`: the number of steps of the cascade |
/// | `undone` | `action`: the undone action |
/// | `call` | `target`, `attempt`, `test?`; `outcome`: see below |
/// | `rehearsalRequest` | – |
/// | `rehearsal` | `delivered`: true if a notification was delivered on the entry's device |
///
/// The `outcome` of a call is `answered`, `busy` or `noAnswer`; or `hookMissing` with `hook` and `folders`; or `failed`
/// with `failures`, a list of `{message}`, `{status}`, `{timeout}` (seconds) and `{notRun}`. Targets have the form of
/// `CascadeRecord`, without messages and addresses.
///
/// A payload with a kind or a word that this version doesn't know is preserved as it is.
public enum LogPayloadRecord {
  /// Returns the payload of a JSON form; nil if it is not valid.
  public static func decode(_ json: JSON) -> LogPayload? {
    var reader = RecordReader(["payload": json])
    var extras: [String: String] = [:]
    return (try? decode(&reader, &extras)) ?? nil
  }

  /// Takes the member. Returns nil if it is missing.
  static func decode(
    _ reader: inout RecordReader, _ extras: inout [String: String]
  ) throws(RecordError) -> LogPayload? {
    guard let json = reader.peek("payload"), var nested = try reader.nested("payload") else {
      return nil
    }
    let kind = try nested.required("kind", \.string, "a string")
    guard let payload = try decode(kind, &nested) else { return .unknown(json.line) }
    extras.merge(nested.remaining(under: "payload/")) { $1 }
    return payload
  }

  /// Returns the payload of a kind, or nil if the kind or a word in it is unknown.
  private static func decode(
    _ kind: String, _ reader: inout RecordReader
  ) throws(RecordError) -> LogPayload? {
    switch kind {
    case "schedule":
      guard var schedule = try reader.nested("schedule") else {
        throw reader.error("'payload.schedule' is missing")
      }
      guard let kind = schedule.peek("kind")?.string, ScheduleRecord.kinds.contains(kind) else {
        return nil
      }
      return .schedule(try ScheduleRecord.decode(&schedule))
    case "partnerRequest":
      return .partnerRequest(partner: try reader.optional("partner", plainText, text))
    case "fields":
      let names = try reader.required("fields", strings, "a list of strings")
      let fields = names.compactMap { Alarm.Field(rawValue: $0) }
      return fields.count == names.count ? .fields(fields) : nil
    case "restoredPart":
      return Cascade.Part(name: try reader.required("part", plainText, text)).map {
        .restoredPart($0)
      }
    case "cascade": return try edit(&reader).map { .cascade($0) }
    case "replacedDevice":
      return .replacedDevice(try reader.required("replaced", \.identifier, "an identifier"))
    case "deletion": return try reason(&reader).map { .deletion($0) }
    case "snooze": return .snooze(until: try reader.required("until", \.instant, "an instant"))
    case "move":
      return .move(
        from: try reader.required("from", \.occurrence, "a date and time"),
        to: try reader.required("to", \.occurrence, "a date and time"))
    case "pause":
      return .pause(
        from: try reader.optional("from", \.occurrence, "a date and time"),
        until: try reader.required("until", \.occurrence, "a date and time"))
    case "followUp":
      return .followUp(
        number: try reader.required("number", \.count, "a count"),
        count: try reader.required("count", \.count, "a count"),
        isUnanswered: try reader.optional("unanswered", \.bool, "true or false") ?? false)
    case "skippedByPause":
      return .skippedByPause(
        try reader.optional("earlier", earlier, "an object with 'count' and 'first'"))
    case "earlier":
      return .earlier(
        LogPayload.EarlierOccurrences(
          count: try reader.required("count", \.count, "a count"),
          first: try reader.required("first", \.occurrence, "a date and time")))
    case "exhaustedCascade": return .exhaustedCascade
    case "undelivered": return .undelivered
    case "unansweredSteps":
      return .unansweredSteps(try reader.required("count", \.count, "a count"))
    case "undone":
      return .undone(try reader.required("action", \.action, LogRecord.expectedAction))
    case "call": return try call(&reader).map { .call($0) }
    case "rehearsalRequest": return .rehearsalRequest
    case "rehearsal":
      return .rehearsal(
        isDelivered: try reader.required("delivered", \.bool, "true or false"))
    default: return nil
    }
  }

  private static let text = "a string without control characters"

  private static func strings(_ json: JSON) -> [String]? {
    guard let list = json.array else { return nil }
    let texts = list.compactMap(plainText)
    return texts.count == list.count ? texts : nil
  }

  private static func earlier(_ json: JSON) -> LogPayload.EarlierOccurrences? {
    guard let count = json["count"]?.count, let first = json["first"]?.occurrence else {
      return nil
    }
    return LogPayload.EarlierOccurrences(count: count, first: first)
  }

  /// Takes the member `target`. Returns nil if its kind is unknown.
  private static func target(
    _ reader: inout RecordReader
  ) throws(RecordError) -> CascadeTarget? {
    let json = reader.peek("target")
    if let members = json?.object, !CascadeRecord.isKnownTarget(members) { return nil }
    return try reader.required(
      "target", CascadeRecord.loggedTarget, "a device, a person or a phone")
  }

  private static func edit(
    _ reader: inout RecordReader
  ) throws(RecordError) -> LogPayload.CascadeEdit? {
    switch try reader.required("edit", \.string, "a string") {
    case "on": return .on
    case "off": return .off
    case "added": return try target(&reader).map { .added($0) }
    case "removed": return try target(&reader).map { .removed($0) }
    case "moved":
      return .moved(
        from: try reader.required("from", \.count, "a count"),
        to: try reader.required("to", \.count, "a count"))
    default: return nil
    }
  }

  private static func reason(
    _ reader: inout RecordReader
  ) throws(RecordError) -> LogPayload.DeletionReason? {
    let reason = try reader.required("reason", \.string, "a string")
    guard ["recalled", "partnershipEnded", "partnerRemoved"].contains(reason) else { return nil }
    let partner = try reader.required("partner", plainText, text)
    switch reason {
    case "recalled": return .recalled(partner: partner)
    case "partnershipEnded": return .partnershipEnded(partner: partner)
    default: return .partnerRemoved(partner: partner)
    }
  }

  private static func call(_ reader: inout RecordReader) throws(RecordError) -> LogPayload.Call? {
    guard let outcome = try LogPayloadRecord.outcome(&reader),
      let target = try LogPayloadRecord.target(&reader)
    else { return nil }
    return LogPayload.Call(
      target: target, attempt: try reader.required("attempt", \.count, "a count"),
      outcome: outcome, isTest: try reader.optional("test", \.bool, "true or false") ?? false)
  }

  private static func outcome(_ reader: inout RecordReader) throws(RecordError) -> CallOutcome? {
    switch try reader.required("outcome", \.string, "a string") {
    case "answered": return .answered
    case "busy": return .busy
    case "noAnswer": return .noAnswer
    case "hookMissing":
      return .hookMissing(
        name: try reader.required("hook", plainText, text),
        folders: try reader.required("folders", strings, "a list of strings"))
    case "failed":
      let list = try reader.required("failures", \.array, "a list")
      let failures = list.compactMap(failure)
      return failures.count == list.count ? .failed(failures) : nil
    default: return nil
    }
  }

  private static func failure(_ json: JSON) -> CallOutcome.HookFailure? {
    guard let members = json.object, members.count == 1 else { return nil }
    if let message = members["message"].flatMap(plainText) { return .message(message) }
    if let status = members["status"]?.integer { return .exited(status: Int32(clamping: status)) }
    if let seconds = members["timeout"]?.count { return .timedOut(seconds: seconds) }
    return members["notRun"].flatMap(plainText).map { .notRun($0) }
  }

  // MARK: Encoding

  /// Returns the JSON form of a payload.
  public static func encode(_ payload: LogPayload) -> JSON {
    func object(_ kind: String, _ members: [String: JSON?] = [:]) -> JSON {
      .object(omittingNil: members.merging(["kind": .string(kind)]) { $1 })
    }
    switch payload {
    case .schedule(let schedule):
      return object("schedule", ["schedule": ScheduleRecord.encode(schedule)])
    case .partnerRequest(let partner):
      return object("partnerRequest", ["partner": partner.map { .string($0) }])
    case .fields(let fields):
      return object("fields", ["fields": .array(fields.map { .string($0.rawValue) })])
    case .restoredPart(let part): return object("restoredPart", ["part": .string(part.name)])
    case .cascade(let edit): return object("cascade", members(edit))
    case .replacedDevice(let device): return object("replacedDevice", ["replaced": JSON(device)])
    case .deletion(let reason): return object("deletion", members(reason))
    case .snooze(let until): return object("snooze", ["until": JSON(until)])
    case .move(let from, let to):
      return object("move", ["from": JSON(from), "to": JSON(to)])
    case .pause(let from, let until):
      return object("pause", ["from": from.map { JSON($0) }, "until": JSON(until)])
    case .followUp(let number, let count, let isUnanswered):
      return object(
        "followUp",
        [
          "number": .integer(Int64(number)), "count": .integer(Int64(count)),
          "unanswered": isUnanswered ? true : nil,
        ])
    case .skippedByPause(let earlier):
      return object("skippedByPause", ["earlier": earlier.map { .object(members($0)) }])
    case .earlier(let earlier): return object("earlier", members(earlier))
    case .exhaustedCascade: return object("exhaustedCascade")
    case .undelivered: return object("undelivered")
    case .unansweredSteps(let count):
      return object("unansweredSteps", ["count": .integer(Int64(count))])
    case .undone(let action): return object("undone", ["action": .string(action.rawValue)])
    case .call(let call): return object("call", members(call))
    case .rehearsalRequest: return object("rehearsalRequest")
    case .rehearsal(let isDelivered):
      return object("rehearsal", ["delivered": .bool(isDelivered)])
    case .unknown(let text): return JSON(fragment: text) ?? .object([:])
    }
  }

  private static func members(_ edit: LogPayload.CascadeEdit) -> [String: JSON?] {
    switch edit {
    case .on: ["edit": "on"]
    case .off: ["edit": "off"]
    case .added(let target): ["edit": "added", "target": CascadeRecord.encode(target)]
    case .removed(let target): ["edit": "removed", "target": CascadeRecord.encode(target)]
    case .moved(let from, let to):
      ["edit": "moved", "from": .integer(Int64(from)), "to": .integer(Int64(to))]
    }
  }

  private static func members(_ reason: LogPayload.DeletionReason) -> [String: JSON?] {
    switch reason {
    case .recalled(let partner): ["reason": "recalled", "partner": .string(partner)]
    case .partnershipEnded(let partner):
      ["reason": "partnershipEnded", "partner": .string(partner)]
    case .partnerRemoved(let partner): ["reason": "partnerRemoved", "partner": .string(partner)]
    }
  }

  private static func members(_ earlier: LogPayload.EarlierOccurrences) -> [String: JSON] {
    ["count": .integer(Int64(earlier.count)), "first": JSON(earlier.first)]
  }

  private static func members(_ call: LogPayload.Call) -> [String: JSON?] {
    var members: [String: JSON?] = [
      "target": CascadeRecord.encode(call.target), "attempt": .integer(Int64(call.attempt)),
      "test": call.isTest ? true : nil,
    ]
    switch call.outcome {
    case .answered: members["outcome"] = "answered"
    case .busy: members["outcome"] = "busy"
    case .noAnswer: members["outcome"] = "noAnswer"
    case .hookMissing(let name, let folders):
      members["outcome"] = "hookMissing"
      members["hook"] = .string(name)
      members["folders"] = .array(folders.map { .string($0) })
    case .failed(let failures):
      members["outcome"] = "failed"
      members["failures"] = .array(
        failures.map { failure in
          switch failure {
          case .message(let message): .object(["message": .string(message)])
          case .exited(let status): .object(["status": .integer(Int64(status))])
          case .timedOut(let seconds): .object(["timeout": .integer(Int64(seconds))])
          case .notRun(let reason): .object(["notRun": .string(reason)])
          }
        })
    }
    return members
  }
}

extension JSON {
  /// The action of a log entry; nil if the value is not the name of one. A name of a newer version is valid.
  var action: LogEntry.Action? {
    guard let name = string, (1...64).contains(name.utf8.count),
      name.utf8.allSatisfy({ $0 < 0x80 && Character(Unicode.Scalar($0)).isLetter })
    else { return nil }
    return LogEntry.Action(rawValue: name)
  }
}
