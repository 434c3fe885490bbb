import BelfryCore

/// The record `alarms/<id>.json`: one alarm's definition and progress.
///
/// | key | content | merge |
/// |---|---|---|
/// | `format` | 1 | – |
/// | `id` | the file's name | – |
/// | `title`, `note`, `enabled`, `schedule`, `zone`, `delivery`, `pause`, `cascade`, `partner` | the definition | each by its stamp |
/// | `cascadeZone` | the time zone that all devices of a cascade use, recorded by its first device: an IANA name, or `UTC-08:00` | by its stamp; doesn't override a deletion |
/// | `tags` | the tags, sorted | each by its stamp; between equal stamps, present |
/// | `stamps` | the last edit of each field, and of each tag: `tags.home`; a removed tag keeps its stamp | with its field or tag |
/// | `progress` | see `ProgressRecord` | maxima; occurrences by revision and rank; a higher generation replaces all but answers |
/// | `deleted` | the stamps that a deletion had seen | the maximum of each |
/// | any other key | preserved | the greater text |
public enum AlarmRecord: EditableRecord {
  /// The maximum size of a record in bytes. A larger file is rejected unread.
  public static let largest = 1 << 20

  /// Returns the path of an alarm's record within the store.
  public static func path(_ id: Identifier) -> String { "alarms/\(id).json" }

  // MARK: Reading

  /// Parses a record.
  ///
  /// - Parameters:
  ///   - bytes: The content of the file.
  ///   - id: The alarm's id according to the file name.
  ///   - now: The start of an alarm without progress, as in a handwritten record.
  /// - Throws: `RecordError` if the record is not valid.
  public static func decode(
    _ bytes: [UInt8], id: Identifier, now: Instant
  ) throws(RecordError) -> Alarm {
    var reader = try RecordReader(bytes)
    guard try reader.required("id", \.identifier, "an identifier") == id else {
      throw reader.error("'id' is not the file's name", at: "id")
    }
    let title = try reader.text("title", required: true, AlarmText.title) ?? ""
    let note = try reader.text("note", required: false) { try AlarmText.note($0) } ?? nil
    let tags = try decodeTags(&reader)
    let enabled = try reader.optional("enabled", \.bool, "true or false") ?? true
    let zone = try reader.optional("zone", zone, "floating or the name of a time zone")
    var extras: [String: String] = [:]
    let delivery = try decodeDelivery(&reader, &extras)
    let pause = try decodePause(&reader, &extras)
    let cascade = try CascadeRecord.decode(&reader, &extras)
    let cascadeZone = try reader.optional(
      "cascadeZone", ZoneLibrary.nameInRecord, "the name of a time zone, or UTC-08:00")
    let partner = try decodePartner(&reader, &extras)
    guard var scheduleReader = try reader.nested("schedule") else {
      throw RecordError("'schedule' is missing")
    }
    let schedule = try ScheduleRecord.decode(&scheduleReader)
    extras.merge(scheduleReader.remaining(under: "schedule/")) { $1 }
    let progress = try ProgressRecord.decode(&reader, now: now, &extras)
    var tagStamps: [AlarmTag: Stamp]? = [:]
    let stamps = try decodeStamps("stamps", &reader, &extras, ofTags: &tagStamps)
    var none: [AlarmTag: Stamp]?
    let deletion = try decodeStamps("deleted", &reader, &extras, ofTags: &none)
    extras.merge(reader.remaining()) { $1 }
    return Alarm(
      id: id, title: title, note: note, tags: tags, enabled: enabled, schedule: schedule,
      zone: zone ?? .floating, delivery: delivery, pause: pause, cascade: cascade,
      cascadeZone: cascadeZone, partner: partner,
      progress: progress,
      mergeState: Alarm.MergeState(
        stamps: stamps ?? [:], tagStamps: tagStamps ?? [:], deletion: deletion, extras: extras))
  }

  static func decode(
    _ bytes: [UInt8], at path: RecordPath, now: Instant
  ) throws(RecordError) -> Alarm {
    guard case .alarm(let id) = path else { throw .wrongPath }
    return try decode(bytes, id: id, now: now)
  }

  /// Returns a zone if the name is well-formed. The system may not know it, which is checked at use.
  static func zone(_ json: JSON) -> Alarm.Zone? {
    guard let name = json.string else { return nil }
    if name == "floating" { return .floating }
    return ZoneLibrary.isName(name) ? .named(name) : nil
  }

  private static func decodeDelivery(
    _ reader: inout RecordReader, _ extras: inout [String: String]
  ) throws(RecordError) -> Alarm.Delivery {
    guard var nested = try reader.nested("delivery") else { return Alarm.Delivery() }
    let delivery = Alarm.Delivery(
      persistent: try nested.optional("persistent", \.bool, "true or false") ?? false,
      sound: try nested.optional("sound", \.sound, "the name of a sound"),
      strict: try nested.optional("strict", \.bool, "true or false") ?? false,
      followUps: try nested.optional("followUps", \.plan, "a list of ascending seconds"),
      warnings: try nested.optional("warnings", \.warnings, "a list of descending seconds"),
      devices: try nested.optional("devices", \.devices, "a list of devices") ?? [],
      run: try nested.optional("run", \.actionName, "the name of an action"),
      runDone: try nested.optional("runDone", \.actionName, "the name of an action"))
    extras.merge(nested.remaining(under: "delivery/")) { $1 }
    return delivery
  }

  private static func decodePause(
    _ reader: inout RecordReader, _ extras: inout [String: String]
  ) throws(RecordError) -> Pause? {
    guard var nested = try reader.nested("pause") else { return nil }
    let pause = Pause(
      from: try nested.required("from", \.occurrence, "a date and time"),
      until: try nested.required("until", \.occurrence, "a date and time"))
    extras.merge(nested.remaining(under: "pause/")) { $1 }
    return pause
  }

  private static func decodePartner(
    _ reader: inout RecordReader, _ extras: inout [String: String]
  ) throws(RecordError) -> PartnerOrigin? {
    guard var nested = try reader.nested("partner") else { return nil }
    let origin = PartnerOrigin(
      name: try nested.required(
        "name", { $0.string.flatMap(PartnerOrigin.recordedName) }, "a name"),
      partnership: try nested.required("partnership", \.identifier, "an identifier"),
      request: try nested.required("request", \.identifier, "an identifier"),
      quiet: try nested.optional(
        "quiet", { $0.string.flatMap { QuietHours($0) } }, "hours such as 23:00-06:00"))
    extras.merge(nested.remaining(under: "partner/")) { $1 }
    return origin
  }

  /// Returns the JSON form of a partner alarm's origin: `{name, partnership, request, quiet?}`.
  public static func encode(_ origin: PartnerOrigin) -> JSON {
    .object(omittingNil: [
      "name": .string(origin.name), "partnership": JSON(origin.partnership),
      "request": JSON(origin.request),
      "quiet": origin.quiet.map { .string($0.description) },
    ])
  }

  /// The maximum number of tags. A merge can exceed the limit of a single edit.
  private static let maxTags = 8 * AlarmTag.maxCount

  private static func decodeTags(_ reader: inout RecordReader) throws(RecordError) -> Set<AlarmTag>
  {
    let list = try reader.optional("tags", \.array, "a list of tags") ?? []
    if list.count > maxTags {
      throw reader.error("'tags' has \(list.count) elements; the maximum is \(maxTags)", at: "tags")
    }
    var tags: Set<AlarmTag> = []
    for element in list {
      guard let text = element.string else {
        throw reader.error("'tags' is not a list of strings", at: "tags")
      }
      do {
        tags.insert(try AlarmTag(text))
      } catch {
        throw reader.error("an element of 'tags' is not a tag: \(error.reason)", at: "tags")
      }
    }
    return tags
  }

  /// The beginning of the keys of tags in `stamps`.
  private static let tagPrefix = "tags."

  /// Returns the stamps of the fields, and adds those of tags to `tagStamps` unless it is nil.
  private static func decodeStamps(
    _ key: String, _ reader: inout RecordReader, _ extras: inout [String: String],
    ofTags tagStamps: inout [AlarmTag: Stamp]?
  ) throws(RecordError) -> [Alarm.Field: Stamp]? {
    guard var nested = try reader.nested(key) else { return nil }
    var stamps: [Alarm.Field: Stamp] = [:]
    for field in Alarm.Field.allCases {
      stamps[field] = try nested.optional(field.rawValue, \.stamp, "a stamp")
    }
    for key in tagStamps == nil ? [] : nested.keys where key.hasPrefix(tagPrefix) {
      let text = String(key.dropFirst(tagPrefix.count))
      guard let tag = try? AlarmTag(text), Array(tag.text.utf8) == Array(text.utf8) else {
        continue
      }
      tagStamps?[tag] = try nested.required(key, \.stamp, "a stamp")
    }
    extras.merge(nested.remaining(under: "\(key)/")) { $1 }
    return stamps
  }

  // MARK: Writing

  /// Returns the canonical document of an alarm.
  public static func encode(_ alarm: Alarm) -> [UInt8] {
    JSON.object(omittingNil: [
      "format": .integer(RecordFormat.current), "id": JSON(alarm.id), "title": .string(alarm.title),
      "note": alarm.note.map { .string($0) },
      "tags": alarm.tags.isEmpty ? nil : .array(alarm.tags.sorted().map { JSON($0) }),
      "enabled": .bool(alarm.enabled),
      "schedule": ScheduleRecord.encode(alarm.schedule), "zone": .string(alarm.zone.text),
      "delivery": .object(omittingNil: [
        "persistent": .bool(alarm.delivery.persistent),
        "sound": alarm.delivery.sound.map { .string($0) },
        "strict": alarm.delivery.strict ? true : nil,
        "followUps": alarm.delivery.followUps.map { JSON($0) },
        "warnings": alarm.delivery.warnings.map { JSON($0) },
        "devices": alarm.delivery.devices.isEmpty
          ? nil : .array(alarm.delivery.devices.sorted().map { JSON($0) }),
        "run": alarm.delivery.run.map { JSON($0) },
        "runDone": alarm.delivery.runDone.map { JSON($0) },
      ]), "pause": alarm.pause.map { .object(["from": JSON($0.from), "until": JSON($0.until)]) },
      "cascade": alarm.cascade.map(CascadeRecord.encode),
      "cascadeZone": alarm.cascadeZone.map { .string($0) }, "partner": alarm.partner.map(encode),
      "progress": ProgressRecord.encode(alarm),
      "stamps": encode(alarm.mergeState.stamps, alarm.mergeState.tagStamps),
      "deleted": alarm.mergeState.deletion.map { encode($0, [:]) },
    ]).adding(alarm.mergeState.extras).document
  }

  private static func encode(_ stamps: [Alarm.Field: Stamp], _ tags: [AlarmTag: Stamp]) -> JSON {
    .object(
      Dictionary(
        uniqueKeysWithValues: stamps.map { ($0.key.rawValue, JSON($0.value)) }
          + tags.map { (tagPrefix + $0.key.text, JSON($0.value)) }))
  }
}

extension RecordReader {
  /// Returns a member's text after conversion, or nil if an optional member is missing.
  fileprivate mutating func text<Value>(
    _ key: String, required isRequired: Bool, _ convert: (String) throws -> Value
  ) throws(RecordError) -> Value? {
    let given =
      isRequired
      ? try required(key, \.string, "a string") : try optional(key, \.string, "a string")
    guard let given else { return nil }
    do {
      return try convert(given)
    } catch let failure as AlarmTextError {
      throw error(failure.reason, at: key)
    } catch {
      throw self.error("\(error)", at: key)
    }
  }
}

extension AlarmTextError {
  /// The reason as a clause, without a period.
  public var reason: String {
    switch self {
    case .titleEmpty: "the title has no visible characters"
    case .titleTooLong(let count):
      "the title has \(count) characters; the maximum is \(AlarmText.longestTitle)"
    case .titleControl(let scalar): "the title contains the control character \(scalar.codePoint)"
    case .noteTooLong(let count):
      "the note has \(count) characters; the maximum is \(AlarmText.longestNote)"
    case .noteControl(let scalar): "the note contains the control character \(scalar.codePoint)"
    }
  }
}

extension TagError {
  /// The reason as a clause about the tag, without a period.
  public var reason: String {
    switch self {
    case .empty: "it has no characters"
    case .tooLong(let count): "it has \(count) characters; the maximum is \(AlarmTag.maxLength)"
    case .invalidStart(let scalar):
      "it starts with \(scalar.shown); tags start with a letter, a digit or '_'"
    case .invalidCharacter(let scalar):
      "it contains \(scalar.shown); tags consist of letters, digits, '-', '_' and '.'"
    }
  }
}

extension Unicode.Scalar {
  /// The character in quotation marks; the code point of one that is not visible.
  fileprivate var shown: String {
    let isVisible =
      !AlarmText.isControl(self) && !isHidden && !properties.isWhitespace
      && !properties.isDefaultIgnorableCodePoint
    return isVisible ? "'\(self)'" : codePoint
  }

  /// The code point in the form `U+001B`.
  fileprivate var codePoint: String {
    let digits = String(value, radix: 16, uppercase: true)
    return "U+" + String(repeating: "0", count: max(0, 4 - digits.count)) + digits
  }
}
