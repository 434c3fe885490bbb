import BelfryCore
import Files
import Git
import Glibc

/// An import of hand edits of alarms (see `HandEdits`).
///
/// Alarms have a step of their own, because there are many: the alarm index tells which files have changed. Their edits
/// are logged.
///
/// - Precondition: The work tree agrees with the branch, apart from hand edits.
/// - Effect: At most one commit, with one log entry for each edited alarm.
/// - Cost: For one alarm whose file matches the alarm index, the status of one file. For several alarms, the branch's
///   folder of alarms and the named files. For all alarms, the status of every file.
struct HandEditImport: ReconcileStep {
  static let stage = ReconcileStage.alarms

  /// The alarms to import.
  enum Selection {
    /// The given alarms.
    case alarms([Identifier])
    /// All alarms whose files have changed, appeared or disappeared since Belfry last committed them.
    case edited
  }

  private let selection: Selection
  private let isBranchUnknown: Bool

  /// Creates an import.
  ///
  /// - Parameters:
  ///   - selection: The alarms.
  ///   - isBranchUnknown: True if the branch may lack alarms whose files match the index, so that all files are
  ///     compared with the branch.
  init(_ selection: Selection, isBranchUnknown: Bool = false) {
    self.selection = selection
    self.isBranchUnknown = isBranchUnknown
  }

  /// Imports the edits. If all alarms are checked, the writer keeps the alarm index as it was before.
  ///
  /// - Returns: The paths of the missing files that were restored, and the alarms whose files are not valid.
  @discardableResult
  func run(
    _ writer: StoreWriter, _ permit: ReconcilePermit
  ) throws -> (restored: [String], invalid: Set<RecordPath>) {
    let store = writer.store
    let ids: [Identifier]
    switch selection {
    case .alarms(let named): ids = named
    case .edited:
      let index = try AlarmIndex(store)
      index.save()
      writer.checkedAlarms = index
      ids = index.edited
    }
    if ids.isEmpty { return ([], []) }
    let rows = store.alarmIndexCache.rows(of: ids)
    if isUnchanged(ids, rows, writer) { return ([], []) }
    let settings = try store.settings().settings
    var edits = try HandEdits<AlarmRecord>(
      writer, ids.map { .alarm($0) },
      bases: Dictionary(
        uniqueKeysWithValues: rows.map { (AlarmRecord.path($0.key), $0.value.blob) }))
    // Another program has committed these files, so only the index is updated.
    store.alarmIndexCache.replace(
      edits.unchanged.map {
        store.alarmIndexCache.row($0.value, blob: $0.blob, status: $0.status, settings: settings)
      })
    var kept: [Identifier: [Event]] = [:]
    if !edits.edits.isEmpty {
      let status = try store.statusReader(settings)
      let confirms = settings.tier.confirmsCompletion
      edits.adjust { alarm, base in
        guard alarm.enabled, base.enabled,
          !Set(alarm.changedFields(from: base)).isDisjoint(with: [.schedule, .zone])
        else { return nil }
        // What rings and what is moved stays.
        let transition = store.timeline(alarm).rescheduled(
          from: store.timeline(base), status(base), at: store.context.now, confirms: confirms)
        kept[alarm.id] = transition.events
        return (.alarm(alarm.id), transition.alarm)
      }
    }
    let events = edits.edits.map { alarm, base in
      let fields = base.map { alarm.changedFields(from: $0) } ?? []
      return (
        alarm: alarm,
        event: Event(
          base == nil ? .created : .edited, payload: fields.isEmpty ? nil : .fields(fields))
      )
    }
    try edits.commit(
      events.flatMap { store.entries((kept[$0.alarm.id] ?? []) + [$0.event], of: $0.alarm) },
      message: message(events, store))
    return (edits.restored, edits.invalid)
  }

  /// Returns true if a single alarm's file matches the alarm index. This avoids the history in the common case.
  private func isUnchanged(
    _ ids: [Identifier], _ rows: [Identifier: CachedAlarm], _ writer: StoreWriter
  ) -> Bool {
    guard ids.count == 1, let row = rows[ids[0]], !isBranchUnknown else { return false }
    let path = AlarmRecord.path(ids[0])
    var status = stat()
    guard lstat("\(writer.store.path)/\(path)", &status) == 0,
      FileSignature(status) == row.signature
    else { return false }
    writer.read[path] = row.blob
    return true
  }

  private func message(_ events: [(alarm: Alarm, event: Event)], _ store: Store) -> CommitMessage {
    guard let (alarm, event) = events.first else {
      return CommitMessage("Import records that another program wrote", device: store.device)
    }
    if events.count > 1 {
      return CommitMessage(
        "Edited by hand: \(events.count) alarms",
        trailers: [("Action", LogEntry.Action.edited.rawValue)], device: store.device)
    }
    var message = CommitMessage(event, of: alarm, device: store.device)
    message.subject = "Edited by hand: \(alarm.title)"
    return message
  }
}
