import BelfryCore

/// The `cascade` member of an alarm's record: `{on, every, primary?, targets, phoneTasks?, stamps?, removed?, earlier?}`.
///
/// | key | content |
/// |---|---|
/// | `targets` | the steps in order, each with `order` and `stamp` |
/// | `phoneTasks` | the step of the tasks on a phone: see `PhoneTasksRecord` |
/// | `every` | the time between two steps in seconds |
/// | `stamps` | the stamps of `on`, `every` and `primary` |
/// | `removed` | the stamps of removed targets |
/// | `earlier` | earlier versions of the cascade, each with `until` |
///
/// A target is `{device}`, `{person, device?, address?, gadget?}` or `{phone, message?}`. Each part merges by its own
/// stamp.
public enum CascadeRecord {
  /// Parses the member. Returns nil if it is missing.
  static func decode(
    _ reader: inout RecordReader, _ extras: inout [String: String]
  ) throws(RecordError) -> Cascade? {
    guard var nested = try reader.nested("cascade") else { return nil }
    let marks = nested.peek("targets").map(marks) ?? []
    var plan = Cascade.Plan(
      isOn: try nested.optional("on", \.bool, "true or false") ?? false,
      interval: try nested.optional("every", interval, "a number of seconds, 5 to 3600")
        ?? Cascade.interval,
      primary: try nested.optional("primary", \.identifier, "an identifier"),
      targets: try nested.optional(
        "targets", targets, "a list of devices, people and phones, each once")
        ?? [])
    var stamps = try removals(&nested)
    if var parts = try nested.nested("stamps") {
      for (key, part) in scalars { stamps[part] = try parts.optional(key, \.stamp, "a stamp") }
      extras.merge(parts.remaining(under: "cascade/stamps/")) { $1 }
    }
    var positions: [String: Int64] = [:]
    for (target, mark) in zip(plan.targets, marks) {
      positions[target.key] = mark.order
      if let stamp = mark.stamp {
        stamps[.target(target.key)] = max(stamp, stamps[.target(target.key)] ?? stamp)
      }
    }
    if let tasks = try nested.optional(
      "phoneTasks", PhoneTasksRecord.init, PhoneTasksRecord.expected)
    {
      tasks.add(to: &plan.targets, &positions, &stamps)
    }
    let earlier = try nested.optional("earlier", versions, "a list of earlier lists") ?? []
    extras.merge(nested.remaining(under: "cascade/")) { $1 }
    return Cascade(plan, stamps: stamps, positions: positions, earlier: earlier)
  }

  /// The keys of all parts except targets.
  private static let scalars: [(key: String, part: Cascade.Part)] = [
    ("on", .on), ("every", .every), ("primary", .primary),
  ]

  /// Returns the stamps of removed targets, by part.
  private static func removals(
    _ reader: inout RecordReader
  ) throws(RecordError) -> [Cascade.Part: Stamp] {
    guard var nested = try reader.nested("removed") else { return [:] }
    var stamps: [Cascade.Part: Stamp] = [:]
    for key in nested.keys {
      stamps[.target(key)] = try nested.required(key, \.stamp, "a stamp")
    }
    return stamps
  }

  /// Returns the position and the stamp of each target.
  private static func marks(_ json: JSON) -> [(order: Int64?, stamp: Stamp?)] {
    (json.array ?? []).map { ($0["order"]?.integer, $0["stamp"]?.stamp) }
  }

  static func encode(_ cascade: Cascade) -> JSON {
    var members = encode(cascade.plan)
    func stamp(_ part: Cascade.Part) -> JSON? {
      cascade.registers[part]?.stamp.map { JSON($0) }
    }
    members["targets"] = .array(
      cascade.allTargets.filter { $0.target != .phoneTasks }.map { target, position in
        var item = encode(target).object ?? [:]
        item["order"] = .integer(position)
        item["stamp"] = stamp(.target(target.key))
        return .object(item)
      })
    members["phoneTasks"] = PhoneTasksRecord(cascade)?.json
    let stamps = Dictionary(
      uniqueKeysWithValues: scalars.compactMap { key, part in stamp(part).map { (key, $0) } })
    if !stamps.isEmpty { members["stamps"] = .object(stamps) }
    var removed: [String: JSON] = [:]
    for case (.target(let key), let register) in cascade.registers
    where register.value == .removed && key != CascadeTarget.phoneTasks.key {
      removed[key] = stamp(.target(key))
    }
    if !removed.isEmpty { members["removed"] = .object(removed) }
    if !cascade.earlier.isEmpty {
      members["earlier"] = .array(
        cascade.earlier.map { version in
          .object(encode(version.plan).merging(["until": JSON(version.until)]) { $1 })
        })
    }
    return .object(members)
  }

  // MARK: Lists

  private static func encode(_ plan: Cascade.Plan) -> [String: JSON] {
    var members: [String: JSON] = [
      "on": .bool(plan.isOn), "every": .integer(plan.interval),
      "targets": .array(plan.targets.filter { $0 != .phoneTasks }.map(encode)),
    ]
    members["primary"] = plan.primary.map { JSON($0) }
    return members
  }

  private static func interval(_ json: JSON) -> Int64? {
    json.integer.flatMap { Cascade.intervals.contains($0) ? $0 : nil }
  }

  private static func versions(_ json: JSON) -> [Cascade.Version]? {
    guard let list = json.array, list.count <= 64 else { return nil }
    let versions = list.compactMap { item -> Cascade.Version? in
      guard let until = item["until"]?.instant,
        let targets = item["targets"].map(targets) ?? []
      else { return nil }
      return Cascade.Version(
        plan: Cascade.Plan(
          isOn: item["on"]?.bool ?? false,
          interval: item["every"].flatMap(interval) ?? Cascade.interval,
          primary: item["primary"]?.identifier, targets: targets), until: until)
    }
    return versions.count == list.count ? versions : nil
  }

  // MARK: Targets

  /// The maximum number of targets. A merge can exceed the limit of a single edit.
  private static let maxTargets = 8 * Cascade.maxTargets

  /// Returns the targets, or nil if one is not valid or repeated.
  private static func targets(_ json: JSON) -> [CascadeTarget]? {
    guard let list = json.array, list.count <= maxTargets else { return nil }
    let targets = list.compactMap(target)
    guard targets.count == list.count, Set(targets.map(\.key)).count == targets.count else {
      return nil
    }
    return targets
  }

  /// Returns true if an object is a target of a kind that this version knows.
  static func isKnownTarget(_ members: [String: JSON]) -> Bool {
    ["device", "person", "phone", "phoneTasks"].contains { members[$0] != nil }
  }

  /// Parses a target whose address may be missing. Returns nil if it is not valid.
  static func loggedTarget(_ json: JSON) -> CascadeTarget? { target(json, needsAddress: false) }

  private static func target(_ json: JSON) -> CascadeTarget? { target(json, needsAddress: true) }

  private static func target(_ json: JSON, needsAddress: Bool) -> CascadeTarget? {
    func text(_ key: String, _ longest: Int) -> String?? {
      guard let value = json[key] else { return .some(nil) }
      guard let text = plainText(value), !text.isEmpty, text.count <= longest else { return nil }
      return text
    }
    if json["phone"] != nil {
      guard let number = json["phone"]?.string, let phone = try? PhoneNumber(number),
        let message = text("message", CascadeTarget.longestMessage)
      else { return nil }
      return .phone(phone, message: message)
    }
    if json["person"] != nil {
      guard let name = text("person", CascadePerson.longestName) ?? nil,
        let address = text("address", CascadePerson.longestAddress),
        let gadget = text("gadget", CascadePerson.longestName)
      else { return nil }
      let device = json["device"]?.identifier
      if device == nil, json["device"] != nil || (needsAddress && address == nil) { return nil }
      return .person(CascadePerson(name: name, device: device, address: address, gadget: gadget))
    }
    // A record has this target outside the list.
    if !needsAddress, json["phoneTasks"]?.bool == true { return .phoneTasks }
    return json["device"]?.identifier.map { .device($0) }
  }

  /// Returns the JSON form of a target: `{device}`, `{person, device?, address?, gadget?}`, `{phone, message?}` or, in
  /// the log, `{phoneTasks}`.
  static func encode(_ target: CascadeTarget) -> JSON {
    switch target {
    case .device(let id): .object(["device": JSON(id)])
    case .person(let person):
      .object(omittingNil: [
        "person": .string(person.name), "device": person.device.map { JSON($0) },
        "address": person.address.map { .string($0) }, "gadget": person.gadget.map { .string($0) },
      ])
    case .phone(let number, let message):
      .object(omittingNil: [
        "phone": .string(number.e164), "message": message.map { .string($0) },
      ])
    case .phoneTasks: .object(["phoneTasks": .bool(true)])
    }
  }

  // MARK: Snoozes

  /// Returns the snoozes of an occurrence, or nil if the value is not valid.
  static func snoozes(_ json: JSON) -> [CascadeRun.Snooze]? {
    guard let list = json.array, list.count <= 8 * OccurrenceRecord.maxSnoozeHistory else {
      return nil
    }
    let snoozes = list.compactMap { item -> CascadeRun.Snooze? in
      guard let at = item["at"]?.instant, let until = item["until"]?.instant else { return nil }
      return CascadeRun.Snooze(at: at, until: until, by: item["by"]?.identifier)
    }
    return snoozes.count == list.count ? snoozes : nil
  }

  /// Returns the JSON form of a snooze: `{at, until, by?}`.
  static func encode(_ snooze: CascadeRun.Snooze) -> JSON {
    .object(omittingNil: [
      "at": JSON(snooze.at), "until": JSON(snooze.until), "by": snooze.by.map { JSON($0) },
    ])
  }
}
