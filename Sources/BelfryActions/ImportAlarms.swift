import BelfryCore
import BelfryExchange
import BelfryStore

/// The import of alarms from a calendar or another program, in one commit. Alarms that were imported before stay as they
/// are.
public struct ImportAlarms {
  private let imported: [ForeignAlarm]

  /// Creates the import of alarms.
  public init(_ imported: [ForeignAlarm]) { self.imported = imported }

  /// The result of an import.
  public struct Result {
    /// The alarms that are new.
    public let new: [ForeignAlarm]
    /// The alarms that are in the store already, with another definition.
    public let different: [ForeignAlarm]
  }

  /// Returns the result that the import would have. Nothing is recorded.
  public func preview(in store: Store) throws -> Result {
    let known = Dictionary(uniqueKeysWithValues: try store.allAlarms().alarms.map { ($0.id, $0) })
    return Result(
      new: imported.filter { known[$0.id] == nil },
      different: imported.filter { alarm in
        known[alarm.id].map { !$0.isDeleted && alarm.differs(from: $0) } ?? false
      })
  }

  /// Imports the alarms.
  ///
  /// - Throws: `StoreError.alarmLimit` if the tier doesn't allow as many alarms.
  public func perform(in store: Store) throws -> Result {
    let result = try preview(in: store)
    if !result.new.isEmpty { try store.add(change(result.new, store)) }
    return result
  }

  private func change(_ new: [ForeignAlarm], _ store: Store) -> Store.Change {
    let now = store.context.now
    var alarms: [Alarm] = []
    var events: [(event: Event, alarm: Alarm)] = []
    for item in new {
      var alarm = Alarm.created(
        id: item.id, title: item.title, note: item.note, tags: item.tags, schedule: item.schedule,
        zone: item.zone, delivery: item.delivery, at: now, device: store.device)
      alarm.enabled = item.enabled
      events.append((Event(.created, payload: .schedule(item.schedule)), alarm))
      let zone = store.context.zones.zone(of: alarm)
      for civil in item.skipped where zone.instant(of: civil) > now {
        alarm.progress.occurrences[civil] = OccurrenceRecord(
          .skipped, since: now, schedule: alarm.mergeState.stamps[.schedule])
        events.append((Event(.skipped, civil), alarm))
      }
      alarms.append(alarm)
    }
    let subject = new.count == 1 ? "Import: \(new[0].title)" : "Import \(new.count) alarms"
    return Store.Change(
      alarms: alarms, entries: store.entries(events),
      message: CommitMessage(subject, device: store.device))
  }
}

extension ForeignAlarm {
  /// Returns true if the alarm's definition differs from that of an alarm in the store.
  fileprivate func differs(from alarm: Alarm) -> Bool {
    title != alarm.title || note != alarm.note || tags != alarm.tags || schedule != alarm.schedule
      || zone != alarm.zone
  }
}

/// The skipping of occurrences that a calendar moves, cancels or completes, while an earlier import brought their series.
public struct ImportChanges {
  private let changes: [ForeignChange]

  /// Creates the import of changes.
  public init(_ changes: [ForeignChange]) { self.changes = changes }

  /// A skipped occurrence.
  public struct Skipped {
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
    try skipped(in: store) { try action($0, settings).perform(in: store).isEmpty }
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
