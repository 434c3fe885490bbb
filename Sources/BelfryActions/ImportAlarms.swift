import BelfryCore
import BelfryExchange
import BelfryStore

/// The import of alarms from a calendar or another program.
///
/// Alarms that were imported before get the title, the note, the schedule and the time zone of the document, and are
/// deleted if their item is cancelled or completed, unless somebody has edited them since. Their occurrences are moved and
/// moved back as the document says: see `ImportMoves`.
public struct ImportAlarms {
  private let imported: [ForeignAlarm]
  private let ended: [Identifier]
  private let returning: Set<Identifier>
  private let isAutomatic: Bool

  /// Creates the import of alarms.
  ///
  /// - Parameters:
  ///   - imported: The alarms of the document.
  ///   - ended: The alarms whose items are cancelled or completed, or have vanished.
  ///   - returning: The alarms that come back if they are deleted. Others stay deleted.
  ///   - isAutomatic: True for an import in the background, which `belfry undo` leaves out.
  public init(
    _ imported: [ForeignAlarm], ended: [Identifier] = [], returning: Set<Identifier> = [],
    isAutomatic: Bool = false
  ) {
    self.isAutomatic = isAutomatic
    self.imported = imported
    self.ended = ended
    self.returning = returning
  }

  /// The result of an import.
  public struct Result: Sendable {
    /// The alarms that are new.
    public let new: [ForeignAlarm]
    /// The alarms of an earlier import that differ from the document, as they were, and what the document has.
    public let updated: [(before: Alarm, after: ForeignAlarm)]
    /// The alarms of an earlier import whose items are cancelled or completed.
    public let removed: [Alarm]
    /// The alarms of an earlier import that stay as they are, because somebody has edited them since.
    public let edited: [Alarm]
    /// The moves of occurrences, of new alarms and of those of an earlier import.
    public let moves: [ImportedMove]
    /// The occurrences that the document moves to a time that has passed, and that do not ring any more.
    public let skipped: [ImportedMove]
    /// The moves of the document that somebody has changed here since, and that were not made.
    public let editedMoves: [ImportedMove]

    /// True if no alarm is new, changed or removed.
    public var isUnchanged: Bool { new.isEmpty && removed.isEmpty && changedCount == 0 }

    /// The number of alarms of an earlier import that the import changes.
    public var changedCount: Int {
      Set(updated.map(\.before.id)).union((moves + skipped).map(\.alarm)).subtracting(new.map(\.id))
        .count
    }
  }

  /// Returns the result that the import would have. Nothing is recorded.
  public func preview(in store: Store) throws -> Result { try plan(in: store).result }

  private func plan(in store: Store) throws -> (result: Result, moves: ImportMoves) {
    let known = Dictionary(uniqueKeysWithValues: try store.allAlarms().alarms.map { ($0.id, $0) })
    var updated: [(before: Alarm, after: ForeignAlarm)] = []
    var edited: [Alarm] = []
    var moving: [ForeignAlarm] = []
    for item in imported {
      guard let alarm = known[item.id], !alarm.isDeleted else { continue }
      let wasMoved = alarm.progress.moves.values.contains(where: \.isImported)
      if wasMoved || !item.moved.isEmpty || !item.substitutes.isEmpty { moving.append(item) }
      if !item.differs(from: alarm) { continue }
      if alarm.isAsImported { updated.append((alarm, item)) } else { edited.append(alarm) }
    }
    let moves = ImportMoves(moving, defining: Set(updated.map(\.before.id)))
    let moved = try moves.preview(in: store)
    let returned = Set(moved.flatMap(\.returned)).union(returning)
    let new = (imported + moved.flatMap(\.alone)).filter { item in
      known[item.id].map { $0.isDeleted && returned.contains(item.id) } ?? true
    }
    // The alarms that an earlier import made of changes that are moves now.
    let replaced = new.flatMap { $0.substitutes.values.map(\.id) } + moved.flatMap(\.replaced)
    let over = Set(ended + replaced).compactMap { known[$0] }.filter { !$0.isDeleted }
      .sorted { $0.id < $1.id }
    let (ahead, past) = new.reduce(into: ([ImportedMove](), [ImportedMove]())) { lists, item in
      let zone = store.context.zones.zone(of: item.created(at: store.context.now, on: store.device))
      for (civil, time) in item.moved.sorted(by: { $0.key < $1.key }) {
        let move = ImportedMove(
          alarm: item.id, title: item.title, zone: item.zone, civil, to: time)
        if zone.instant(of: time) > store.context.now {
          lists.0.append(move)
        } else if zone.instant(of: civil) > store.context.now {
          lists.1.append(move)
        }
      }
    }
    let result = Result(
      new: new, updated: updated, removed: over.filter(\.isAsImported),
      edited: edited + over.filter { !$0.isAsImported }, moves: ahead + moved.flatMap(\.moves),
      skipped: past + moved.flatMap(\.skipped), editedMoves: moved.flatMap(\.edited))
    return (result, moves.only(Set(moved.filter { !$0.change.events.isEmpty }.map(\.id))))
  }

  /// Imports the alarms: one commit for the changed ones, one for those with moved occurrences, one for the deleted ones,
  /// and one for the new ones.
  ///
  /// - Throws: `StoreError.alarmLimit` if the tier doesn't allow as many alarms.
  public func perform(in store: Store) throws -> Result {
    let (result, moves) = try plan(in: store)
    let documents = Dictionary(
      result.updated.map { ($0.before.id, $0.after) }, uniquingKeysWith: { first, _ in first })
    let defined = documents.keys.filter { !moves.alarms.contains($0) }
    if !defined.isEmpty {
      _ = try EditAlarms.defining(defined.sorted(), documents)
        .perform(in: store, isAutomatic: isAutomatic)
    }
    _ = try moves.perform(in: store, isAutomatic: isAutomatic)
    if !result.removed.isEmpty {
      _ = try DeleteAlarms(result.removed.map(\.id)).perform(in: store, isAutomatic: isAutomatic)
    }
    if !result.new.isEmpty { try store.add(try change(result.new, store)) }
    return result
  }

  private func change(_ new: [ForeignAlarm], _ store: Store) throws -> Store.Change {
    let now = store.context.now
    let reader = store.alarmReader()
    var alarms: [Alarm] = []
    var events: [(event: Event, alarm: Alarm)] = []
    for item in new {
      var alarm =
        try reader.alarm(item.id).map { item.restored($0, at: now, on: store.device) }
        ?? item.created(at: now, on: store.device)
      events.append((Event(.created, payload: .schedule(item.schedule)), alarm))
      let zone = store.context.zones.zone(of: alarm)
      // An occurrence that was moved ahead of now is over.
      let over = item.moved.filter { zone.instant(of: $0.value) <= now }.keys
      for civil in (item.skipped + over).sorted() where zone.instant(of: civil) > now {
        alarm.progress.occurrences[civil] = OccurrenceRecord(
          .skipped, since: now, schedule: alarm.mergeState.stamps[.schedule])
        events.append((Event(.skipped, civil), alarm))
      }
      for (civil, time) in item.moved.sorted(by: { $0.key < $1.key })
      where zone.instant(of: time) > now {
        alarm.progress.moves[civil] = OccurrenceMove(
          to: time, stamp: Stamp.next(after: alarm.latestStamp, now: now, device: store.device),
          isImported: true)
        events.append((Event(.moved, civil, payload: .move(from: civil, to: time)), alarm))
      }
      alarms.append(alarm)
    }
    let subject = new.count == 1 ? "Import: \(new[0].title)" : "Import \(new.count) alarms"
    var message = CommitMessage(
      subject, trailers: [("Action", LogEntry.Action.created.rawValue)], device: store.device)
    message.isAutomatic = isAutomatic
    return Store.Change(alarms: alarms, entries: store.entries(events), message: message)
  }
}

extension EditAlarms {
  /// Returns the edit that gives alarms of an earlier import the definitions of a document.
  static func defining(
    _ alarms: [Identifier], _ documents: [Identifier: ForeignAlarm],
    and edit: @escaping (inout Alarm) -> Void = { _ in }
  ) -> EditAlarms {
    EditAlarms(
      alarms, stating: { _ in StatedParts(fields: Alarm.importedFields) },
      edit: { alarm in
        documents[alarm.id]?.define(&alarm)
        edit(&alarm)
      })
  }
}

extension Alarm {
  /// The fields that an import sets each time.
  fileprivate static let importedFields: Set<Field> = [.title, .note, .schedule, .zone]

  /// True if no field of the import was edited since: an import stamps all of them at the same time.
  var isAsImported: Bool {
    Set(Alarm.importedFields.map { mergeState.stamps[$0]?.time }).count == 1
  }
}

extension ForeignAlarm {
  /// Returns true if the alarm's definition differs from that of an alarm in the store.
  fileprivate func differs(from alarm: Alarm) -> Bool {
    title != alarm.title || note != alarm.note || schedule != alarm.schedule || zone != alarm.zone
  }

  /// Returns the alarm as a new one.
  fileprivate func created(at now: Instant, on device: Identifier) -> Alarm {
    var alarm = Alarm.created(
      id: id, title: title, note: note, tags: tags, schedule: schedule, zone: zone,
      delivery: delivery, at: now, device: device)
    alarm.enabled = enabled
    return alarm
  }

  /// Returns a deleted alarm as it is in the document, also with the tags of this import. Its later stamps override the
  /// deletion.
  fileprivate func restored(_ deleted: Alarm, at now: Instant, on device: Identifier) -> Alarm {
    var alarm = deleted
    define(&alarm)
    alarm.tags.formUnion(tags)
    return alarm.stamped(against: deleted, at: now, device: device)
      .restating(
        StatedParts(fields: Alarm.importedFields), since: deleted, at: now, device: device)
  }

  /// Gives an alarm the definition of the document.
  fileprivate func define(_ alarm: inout Alarm) {
    alarm.title = title
    alarm.note = note
    alarm.schedule = schedule
    alarm.zone = zone
  }
}

/// The skipping of occurrences that a calendar moves, cancels or completes, while an earlier import brought their series.
public struct ImportChanges {
  private let changes: [ForeignChange]
  private let isAutomatic: Bool

  /// Creates the import of changes.
  ///
  /// - Parameter isAutomatic: True for an import in the background, which `belfry undo` leaves out.
  public init(_ changes: [ForeignChange], isAutomatic: Bool = false) {
    (self.changes, self.isAutomatic) = (changes, isAutomatic)
  }

  /// A skipped occurrence.
  public struct Skipped: Sendable {
    /// The alarm.
    public let alarm: Alarm
    /// The occurrence.
    public let occurrence: CivilDateTime
  }

  /// Returns the occurrences that the import would skip. Nothing is recorded.
  public func preview(in store: Store, settings: Settings) throws -> [Skipped] {
    try skipped(in: store) { try action($0, settings).preview(in: store).isEmpty }
  }

  /// Skips the occurrences. Those that cannot be skipped any more, or are skipped already, stay as they are.
  public func perform(in store: Store, settings: Settings) throws -> [Skipped] {
    try skipped(in: store) {
      try action($0, settings).perform(in: store, isAutomatic: isAutomatic).isEmpty
    }
  }

  private func action(_ skipped: Skipped, _ settings: Settings) -> AnswerAlarms {
    AnswerAlarms(
      .skip(), toPossible: [OccurrenceID(alarm: skipped.alarm.id, occurrence: skipped.occurrence)],
      settings: settings)
  }

  private func skipped(
    in store: Store, isUnchanged: (Skipped) throws -> Bool
  ) throws -> [Skipped] {
    let reader = store.alarmReader()
    var result: [Skipped] = []
    for change in changes {
      guard let alarm = try reader.alarm(change.alarm), !alarm.isDeleted else { continue }
      let zone = store.context.zones.zone(of: alarm)
      for ring in change.rings {
        let skipped = Skipped(alarm: alarm, occurrence: zone.civil(at: ring))
        if try !isUnchanged(skipped) { result.append(skipped) }
      }
    }
    return result
  }
}

/// The import of the records of an export, in one commit. They merge by the rules of a sync.
public struct ImportRecords {
  private let records: [String: [UInt8]]

  /// Creates the import of valid records, by their paths.
  public init(_ records: [String: [UInt8]]) { self.records = records }

  /// The number of alarms among the records.
  public var alarmCount: Int { count("alarms/") }

  /// The number of log entries among the records.
  public var entryCount: Int { count("log/") }

  private func count(_ folder: String) -> Int { records.keys.count { $0.hasPrefix(folder) } }

  /// Merges the records. Records that are in the store already change nothing.
  ///
  /// - Throws: `StoreError`, such as `.alarmLimit`.
  public func perform(in store: Store) throws -> SyncResult {
    try store.take(
      records, subject: "Import \(alarmCount) alarms and \(entryCount) log entries")
  }
}
