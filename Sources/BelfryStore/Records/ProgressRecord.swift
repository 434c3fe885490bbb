import BelfryCore

/// The `progress` member of an alarm's record: `{armed, cleared?, floor?, completed?, rehearsal?, generation?, moves?,
/// bases?, occurrences?}`.
///
/// `moves` has `{time?, stamp?, imported?}` by occurrence: the civil time at which it rings, which is missing if it was moved
/// back. `imported` is true for the move of an imported calendar, and missing for a person's.
///
/// An occurrence has the key `state` with what its state needs, as earlier versions of Belfry write it. If the clock
/// decided the state:
///
/// | key | content |
/// |---|---|
/// | `basis` | the position in `bases` of the stamps that led to the outcome; missing in records of version 0.1 |
/// | `answer` | the person's answer that the outcome followed; missing if there was none |
/// | `others` | further answers, which people gave on devices that did not know of each other |
/// | `seen` | the latest stamp of an answer of each device that the record has seen, if it is not that of the answer |
/// | `automatic` | further outcomes by state, which count if the first one does not |
enum ProgressRecord {
  static func decode(
    _ reader: inout RecordReader, now: Instant, _ extras: inout [String: String]
  ) throws(RecordError) -> Progress {
    guard var nested = try reader.nested("progress") else { return Progress(armed: now) }
    var progress = Progress(
      armed: try nested.required("armed", \.instant, "an instant"),
      cleared: try nested.optional("cleared", \.instant, "an instant"),
      floor: try nested.optional("floor", \.occurrence, "a date and time"),
      completed: try nested.optional("completed", \.date, "a date"),
      generation: try nested.optional("generation", \.count, "a count") ?? 0,
      rehearsal: try nested.optional("rehearsal", \.instant, "an instant"))
    progress.moves = try decodeMoves(&nested)
    let bases = try nested.optional("bases", bases, "a list of stamps by field") ?? []
    if var records = try nested.nested("occurrences") {
      for key in records.keys {
        let civil = try occurrence(key, of: "occurrences", in: records)
        guard var record = try records.nested(key) else { continue }
        progress.occurrences[civil] = try decodeOccurrence(&record, bases)
      }
    }
    extras.merge(nested.remaining(under: "progress/")) { $1 }
    return progress
  }

  private static func decodeMoves(
    _ reader: inout RecordReader
  ) throws(RecordError) -> [CivilDateTime: OccurrenceMove] {
    guard var moves = try reader.nested("moves") else { return [:] }
    var result: [CivilDateTime: OccurrenceMove] = [:]
    for key in moves.keys {
      let civil = try occurrence(key, of: "moves", in: moves)
      guard var move = try moves.nested(key) else { continue }
      result[civil] = OccurrenceMove(
        to: try move.optional("time", \.occurrence, "a date and time"),
        stamp: try move.optional("stamp", \.stamp, "a stamp"),
        isImported: try move.optional("imported", \.bool, "true or false") ?? false)
    }
    return result
  }

  private static func occurrence(
    _ key: String, of member: String, in reader: RecordReader
  ) throws(RecordError) -> CivilDateTime {
    guard let civil = CivilDateTime(key) else {
      throw reader.error(
        "'progress.\(member)' names '\(key)', which is not a date and time", at: key)
    }
    return civil
  }

  static func encode(_ alarm: Alarm) -> JSON {
    let progress = alarm.progress
    let used = Set(
      progress.occurrences.values.flatMap { $0.automatic.values.compactMap(\.basis) })
    let bases = used.map { (basis: $0, json: encode($0)) }.sorted { $0.json.line < $1.json.line }
    let positions = Dictionary(
      uniqueKeysWithValues: bases.enumerated().map { ($1.basis, Int64($0)) })
    let occurrences = progress.occurrences.map { civil, record in
      (civil.description, encode(record, alarm.stamps(for: civil), positions))
    }
    let moves = progress.moves.map { civil, move in
      (
        civil.description,
        JSON.object(omittingNil: [
          "time": move.time.map { JSON($0) }, "stamp": move.stamp.map { JSON($0) },
          "imported": move.isImported ? .bool(true) : nil,
        ])
      )
    }
    return .object(omittingNil: [
      "armed": JSON(progress.armed), "cleared": progress.cleared.map { JSON($0) },
      "floor": progress.floor.map { JSON($0) },
      "completed": progress.completed.map { JSON($0) },
      "rehearsal": progress.rehearsal.map { JSON($0) },
      "generation": progress.generation == 0 ? nil : .integer(Int64(progress.generation)),
      "moves": moves.isEmpty ? nil : .object(Dictionary(uniqueKeysWithValues: moves)),
      "bases": bases.isEmpty ? nil : .array(bases.map(\.json)),
      "occurrences": occurrences.isEmpty
        ? nil : .object(Dictionary(uniqueKeysWithValues: occurrences)),
    ])
  }

  // MARK: Bases

  /// The beginning of the keys of settings.
  private static let settingPrefix = "settings."

  private static func bases(_ json: JSON) -> [AutomaticOutcome.Basis]? {
    guard let list = json.array else { return nil }
    let bases = list.compactMap { item -> AutomaticOutcome.Basis? in
      guard let members = item.object else { return nil }
      var basis = AutomaticOutcome.Basis()
      for (key, value) in members {
        guard let stamp = value.stamp else { return nil }
        // A later version may name further parts.
        if let field = Alarm.Field(rawValue: key) {
          basis.fields[field] = stamp
        } else if key.hasPrefix(settingPrefix),
          let setting = Setting(rawValue: String(key.dropFirst(settingPrefix.count)))
        {
          basis.settings[setting] = stamp
        }
      }
      return basis
    }
    return bases.count == list.count ? bases : nil
  }

  private static func encode(_ basis: AutomaticOutcome.Basis) -> JSON {
    .object(
      Dictionary(
        uniqueKeysWithValues: basis.fields.map { ($0.key.rawValue, JSON($0.value)) }
          + basis.settings.map { (settingPrefix + $0.key.rawValue, JSON($0.value)) }))
  }

  // MARK: Occurrences

  private static func decodeOccurrence(
    _ reader: inout RecordReader, _ bases: [AutomaticOutcome.Basis]
  ) throws(RecordError) -> OccurrenceRecord {
    let state = try reader.required("state", \.state, OccurrenceRecord.State.choices)
    let isAuto = try reader.optional("auto", \.bool, "true or false") ?? false
    let isDismissed = try reader.optional("dismissed", \.bool, "true or false") ?? false
    var record = OccurrenceRecord(
      .open, revision: try reader.optional("revision", \.count, "a count") ?? 0,
      snoozes: try reader.optional("snoozes", \.count, "a count") ?? 0,
      followUps: try reader.optional("followUps", \.count, "a count") ?? 0,
      exhausted: try reader.optional("exhausted", \.bool, "true or false") ?? false)
    let isAutomatic =
      state == .missed ? !isDismissed : isAuto && (state == .skipped || state == .done)
    var answers = try decodeOthers(&reader)
    let seen = try reader.optional("seen", stamps, "a list of stamps, each of another device")
    func add(_ answer: OccurrenceRecord.Answered, _ stamp: Stamp?) {
      if stamp != nil || answer != .init(.open) { answers[stamp] = answer }
      record.answers = answers
      record.seen = seen ?? stamp.map { [$0.device: $0] } ?? [:]
    }
    guard isAutomatic else {
      let (answer, stamp) = try decodeAnswer(&reader, state)
      add(answer, stamp)
      return record
    }
    record.automatic[state] = try decodeOutcome(&reader, bases)
    if var others = try reader.nested("automatic") {
      for key in others.keys {
        guard let other = OccurrenceRecord.State(rawValue: key),
          [.missed, .skipped, .done].contains(other)
        else { throw others.error("'\(key)' is not missed, skipped or done", at: key) }
        guard var outcome = try others.nested(key) else { continue }
        record.automatic[other] = try decodeOutcome(&outcome, bases)
      }
    }
    if var nested = try reader.nested("answer") {
      let (answer, stamp) = try decodeAnswer(
        &nested, nested.required("state", \.state, OccurrenceRecord.State.choices))
      add(answer, stamp)
    } else {
      add(.init(.open), nil)
    }
    return record
  }

  private static func decodeOutcome(
    _ reader: inout RecordReader, _ bases: [AutomaticOutcome.Basis]
  ) throws(RecordError) -> AutomaticOutcome {
    AutomaticOutcome(
      since: try reader.optional("since", \.instant, "an instant"),
      basis: try reader.optional(
        "basis", { json in json.count.flatMap { bases.indices.contains($0) ? bases[$0] : nil } },
        "a position in 'progress.bases'"),
      until: try reader.optional("until", \.instant, "an instant"),
      completed: try reader.optional("completed", \.date, "a date"))
  }

  private static func decodeAnswer(
    _ reader: inout RecordReader, _ state: OccurrenceRecord.State
  ) throws(RecordError) -> (OccurrenceRecord.Answered, Stamp?) {
    let answer = OccurrenceRecord.Answered(
      state, since: try reader.optional("since", \.instant, "an instant"),
      until: try reader.optional("until", \.instant, "an instant"),
      history: try reader.optional("naps", CascadeRecord.snoozes, "a list of snoozes") ?? [],
      revived: try reader.optional("revived", \.instant, "an instant"),
      schedule: try reader.optional("schedule", \.stamp, "a stamp"),
      completed: try reader.optional("completed", \.date, "a date"),
      by: try reader.optional("by", \.identifier, "an identifier"),
      doubts: Set(try reader.optional("doubts", identifiers, "a list of identifiers") ?? []))
    return (answer, try reader.optional("stamp", \.stamp, "a stamp"))
  }

  private static func decodeOthers(
    _ reader: inout RecordReader
  ) throws(RecordError) -> [Stamp?: OccurrenceRecord.Answered] {
    var others: [Stamp?: OccurrenceRecord.Answered] = [:]
    let list = try reader.optional("others", objects, "a list of answers") ?? []
    for members in list {
      var nested = RecordReader(members)
      let (answer, stamp) = try decodeAnswer(
        &nested, nested.required("state", \.state, OccurrenceRecord.State.choices))
      others[stamp] = answer
    }
    return others
  }

  private static func objects(_ json: JSON) -> [[String: JSON]]? {
    guard let list = json.array else { return nil }
    let objects = list.compactMap(\.object)
    return objects.count == list.count ? objects : nil
  }

  private static func identifiers(_ json: JSON) -> [Identifier]? {
    guard let list = json.array else { return nil }
    let identifiers = list.compactMap(\.identifier)
    return identifiers.count == list.count ? identifiers : nil
  }

  /// Returns the stamps of a list by device.
  private static func stamps(_ json: JSON) -> [Identifier: Stamp]? {
    guard let list = json.array else { return nil }
    let stamps = list.compactMap(\.stamp)
    let result = Dictionary(stamps.map { ($0.device, $0) }, uniquingKeysWith: max)
    return result.count == list.count ? result : nil
  }

  private static func encode(
    _ record: OccurrenceRecord, _ stamps: [Alarm.Field: Stamp],
    _ positions: [AutomaticOutcome.Basis: Int64]
  ) -> JSON {
    var members: [String: JSON?] = [
      "revision": .integer(Int64(record.revision)),
      "snoozes": record.snooze.count == 0 ? nil : .integer(Int64(record.snooze.count)),
      "followUps": record.followUps == 0 ? nil : .integer(Int64(record.followUps)),
      "exhausted": record.exhausted ? true : nil,
      "others": record.others.isEmpty ? nil : .array(others(record)),
      "seen": record.seen == record.stamp.map { [$0.device: $0] } ?? [:]
        ? nil : .array(record.seen.values.sorted().map { JSON($0) }),
    ]
    guard let (state, outcome) = record.outcome(under: stamps) else {
      members.merge(encode(record.given, record.stamp)) { $1 }
      members["dismissed"] = record.dismissed ? true : nil
      return .object(omittingNil: members)
    }
    members.merge(encode(outcome, positions)) { $1 }
    members["state"] = .string(state.rawValue)
    members["auto"] = state == .missed ? nil : true
    let others = record.automatic.filter { $0.key != state }.map {
      ($0.key.rawValue, JSON.object(omittingNil: encode($0.value, positions)))
    }
    members["automatic"] =
      others.isEmpty ? nil : .object(Dictionary(uniqueKeysWithValues: others))
    let answer = JSON.object(omittingNil: encode(record.given, record.stamp))
    members["answer"] = answer == .object(["state": "open"]) ? nil : answer
    return .object(omittingNil: members)
  }

  private static func encode(
    _ outcome: AutomaticOutcome, _ positions: [AutomaticOutcome.Basis: Int64]
  ) -> [String: JSON?] {
    [
      "since": outcome.since.map { JSON($0) }, "until": outcome.until.map { JSON($0) },
      "basis": outcome.basis.flatMap { positions[$0] }.map { .integer($0) },
      "completed": outcome.completed.map { JSON($0) },
    ]
  }

  private static func encode(
    _ answer: OccurrenceRecord.Answered, _ stamp: Stamp?
  ) -> [String: JSON?] {
    [
      "state": .string(answer.state.rawValue), "since": answer.since.map { JSON($0) },
      "until": answer.until.map { JSON($0) },
      "naps": answer.history.isEmpty ? nil : .array(answer.history.map(CascadeRecord.encode)),
      "revived": answer.revived.map { JSON($0) }, "schedule": answer.schedule.map { JSON($0) },
      "completed": answer.completed.map { JSON($0) }, "by": answer.by.map { JSON($0) },
      "stamp": stamp.map { JSON($0) },
      "doubts": answer.doubts.isEmpty ? nil : .array(answer.doubts.sorted().map { JSON($0) }),
    ]
  }

  private static func others(_ record: OccurrenceRecord) -> [JSON] {
    record.others.map { (stamp: $0.key, json: JSON.object(omittingNil: encode($0.value, $0.key))) }
      .sorted { ($0.stamp?.description ?? "") < ($1.stamp?.description ?? "") }.map(\.json)
  }
}
