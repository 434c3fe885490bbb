import BelfryCore
import Files
import Git
import Glibc

/// The alarm index, updated in memory by a check of every record's file.
struct AlarmIndex {
  private let store: Store
  private let cached: AlarmIndexCache.Content?
  private let scan: FolderScan?
  /// True if the statuses on disk are valid at their times.
  private let statusesHold: Bool
  /// A time before the files were read, see `CachedAlarm.readAt`.
  private let readAt: Int64
  private var corrected: [Identifier: AlarmSummary?] = [:]
  /// The rows that can be saved for the next reader.
  private var changes: [Identifier: AlarmIndexCache.Change] = [:]
  /// The records that are not valid, missing, or in an unknown time zone.
  private(set) var problems: [RecordProblem] = []
  /// The alarms whose files have changed, appeared or disappeared since Belfry last committed them.
  private(set) var edited: [Identifier] = []
  /// The alarms among them whose files are not valid, and must not be overwritten.
  private(set) var invalid: Set<Identifier> = []
  /// The alarms whose status may have changed by now.
  private(set) var due: [Identifier] = []
  /// The time at which the status of another alarm changes first; nil if none does.
  private(set) var nextChange: Instant?
  /// The versions of alarms that the work tree lacks.
  private var pending: PendingVersions?

  /// Reads the alarm index, and checks every record's file.
  init(_ store: Store) throws {
    self.store = store
    readAt = FileSignature.time(in: store.path)
    cached = store.alarmIndexCache.read()
    // Another time zone or setting invalidates the statuses, but not the signatures of the files.
    statusesHold = cached.map { store.alarmIndexCache.isCurrent($0.fingerprint) } ?? false
    do {
      scan = try FolderScan.scan(store.path + "/alarms", rows: cached?.rows ?? [])
    } catch let error as FileError where cached != nil && !Store.isOutOfResources(error) {
      // If the folder cannot be read, the alarms are read from the history.
      scan = nil
    }
    var stale: [Identifier] = []
    for position in scan?.unchanged ?? [] {
      guard let row = cached?.rows[position] else { continue }
      if statusesHold, row.isValid(at: store.context.now) {
        noteChange(at: row.validUntil)
      } else {
        stale.append(row.id)
      }
    }
    for stray in (scan?.strays ?? []).sorted() {
      problems.append(
        RecordProblem(
          path: "alarms/\(stray)",
          kind: .invalid(
            RecordError("its name is not an alarm id"), lastGood: false)))
    }
    // Without the folder, every record is missing.
    let all = scan == nil ? cached?.rows.map(\.id) : nil
    pending = store.pendingVersions()
    try readRecords(
      stale + outdated(), changed: scan?.changed ?? [], removed: all ?? scan?.removed ?? [])
    assert(Set(due).isDisjoint(with: edited), "a due alarm is as Belfry committed it")
    assert(invalid.isSubset(of: edited), "an invalid file was changed since")
    assert((due + edited).allSatisfy { corrected[$0] != nil }, "no old summary is shown")
    assert(due.allSatisfy { changes[$0] != nil }, "a due alarm has a row")
    assert(nextChange.map { $0 > store.context.now } ?? true, "the next change is ahead")
  }

  /// Returns the alarms that have other versions than the index, or that the branch may have lost.
  private func outdated() -> [Identifier] {
    guard let pending else { return [] }
    guard let cached else { return Array(pending.alarms) }
    return pending.alarms.filter { pending.differs($0, from: cached[$0]?.blob) }
      + cached.rows.map(\.id).filter { pending.isUntracked($0) }
  }

  /// Includes the next change of an alarm's status in `nextChange`.
  private mutating func noteChange(at change: Instant) {
    guard change < .distantFuture else { return }
    nextChange = min(nextChange ?? change, change)
  }

  /// Reads the records for which the index is not current.
  private mutating func readRecords(
    _ stale: [Identifier], changed: [Identifier], removed: [Identifier]
  ) throws {
    // Without an index row, HEAD decides whether a record is committed, and which records are missing.
    let isNew = changed.contains { cached?[$0] == nil }
    // An unreadable history must not prevent alarms from ringing: the files are then used as they are.
    let committed =
      cached == nil || isNew ? (try? Store.committedAlarms(store.repository())) ?? [:] : [:]
    let missing = cached == nil ? Set(committed.keys).subtracting(changed) : Set(removed)
    let ids = Set(stale).union(changed).union(missing).sorted()
    if ids.isEmpty { return }
    let settings = try store.settings().settings
    let ledger = store.ledger.read()
    for id in ids {
      let path = AlarmRecord.path(id)
      switch try store.readAlarm(id) {
      case .good(let written, let content):
        let blob = Repository.blobID(content.bytes)
        let known = cached?[id]?.blob
        let joined = pending?.joined(id, with: content.bytes)
        let alarm = joined ?? written
        if joined == nil, pending?.isUntracked(id) != true, blob == known ?? committed[id] {
          let change = store.alarmIndexCache.row(
            alarm, blob: blob, status: content.status, readAt: readAt, settings: settings)
          changes[id] = change
          if change.row.validUntil > store.context.now {
            noteChange(at: change.row.validUntil)
          } else {
            due.append(id)
          }
        } else {
          edited.append(id)
        }
        correct(alarm, settings: settings, ledger: ledger)
        if !store.context.zones.isKnown(alarm.zone) {
          problems.append(RecordProblem(path: path, kind: .unknownZone(alarm.zone.text)))
        }
      case .bad(let error):
        edited.append(id)
        invalid.insert(id)
        // An unreadable history has no valid version, but must not prevent other alarms from ringing.
        let good = (try? store.lastGood(id, pending)) ?? nil
        problems.append(
          RecordProblem(path: path, kind: .invalid(error, lastGood: good != nil)))
        if let good { correct(good, settings: settings, ledger: ledger) }
      case .missing where store.branch.detachedHead != nil:
        // The alarm may not exist yet in the checked-out commit.
        break
      case .missing:
        edited.append(id)
        // A file that never existed was not removed.
        if pending?.isNew(id) != true || cached?[id] != nil {
          problems.append(RecordProblem(path: path, kind: .removed))
        }
        if let good = (try? store.lastGood(id, pending)) ?? nil {
          correct(good, settings: settings, ledger: ledger)
        }
      }
      if corrected[id] == nil { corrected[id] = .some(nil) }
    }
  }

  private mutating func correct(_ alarm: Alarm, settings: Settings, ledger: DeliveryLedger) {
    corrected[alarm.id] = AlarmSummary(
      alarm,
      status: store.timeline(alarm).status(
        at: store.context.now, settings: settings, ledger: ledger))
  }

  /// The alarms whose status may have changed.
  var changing: [Identifier] { Set(due + edited).sorted() }

  /// The blobs of the due alarms by the paths of their files.
  var blobsOfDue: [String: ObjectID] {
    due.reduce(into: [:]) { blobs, id in
      blobs[AlarmRecord.path(id)] = changes[id]?.row.blob
    }
  }

  /// Returns all alarms, also deleted ones.
  func listing() -> AlarmListing {
    let rows = cached?.rows ?? []
    return AlarmListing(
      rows: corrected.isEmpty ? rows : rows.filter { corrected[$0.id] == nil },
      corrected.values.compactMap { $0 }.sorted { $0.id < $1.id })
  }

  /// Returns the summaries of all alarms, also of deleted ones.
  func summaries() -> [AlarmSummary] { listing().summaries }

  /// Returns the summaries of the alarms whose title contains a text, case-insensitively, or whose identifier begins
  /// with it.
  ///
  /// - Parameter text: The text in lower case.
  func summaries(matching text: String) -> [AlarmSummary] {
    if text.isEmpty { return [] }
    return summaries().filter { summary in
      summary.id.text.hasPrefix(text) || summary.title.lowercased().contains(text)
    }
  }

  /// Saves the updated rows for the next reader.
  func save() {
    // If a record is missing when the index is first saved, the index could never detect it.
    guard scan != nil, cached == nil ? edited.isEmpty : !changes.isEmpty else { return }
    let rows = Array(changes.values)
    store.alarmIndexCache.save(
      rows,
      fingerprint: store.alarmIndexCache.fingerprint(
        with: rows, after: statusesHold ? cached?.fingerprint : nil),
      after: cached?.generation)
  }
}
