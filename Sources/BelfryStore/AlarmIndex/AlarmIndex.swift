import BelfryCore
import Git
import Glibc

/// The alarm index, updated in memory by a check of every record's file.
struct AlarmIndex {
  private let store: Store
  private let file: AlarmIndexFile?
  private let scan: FolderScan?
  /// True if the statuses of the file are valid at their times.
  private let statusesHold: Bool
  private var corrected: [Identifier: AlarmSummary?] = [:]
  /// The rows that can be saved for the next reader.
  private var changes: [Identifier: AlarmIndexFile.Change?] = [:]
  /// The records that are not valid, missing, or in an unknown time zone.
  private(set) var problems: [RecordProblem] = []
  /// The alarms whose files have changed, appeared or disappeared since Belfry last committed them.
  private(set) var unsettled: [Identifier] = []
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
    file = store.alarmIndexCache.read()
    // Another time zone or setting invalidates the statuses, but not the signatures of the files.
    let statusesHold = file.map { store.alarmIndexCache.isCurrent($0.fingerprint) } ?? false
    self.statusesHold = statusesHold
    do {
      scan = try FolderScan.scan(store.path + "/alarms", summaries: file) {
        FolderChanges.ask(store.localFolder, of: $0, since: $1)
      }
    } catch let error as FileError where file != nil && !Store.isOutOfResources(error) {
      // If the folder cannot be read, the alarms are read from the history.
      scan = nil
    }
    var stale: [Identifier] = []
    if let file, let unchanged = scan?.unchanged {
      let now = store.context.now
      let parts = Chunks.map(file.count, parallelFrom: Chunks.lightWork) { range in
        var part = (stale: [Identifier](), nextChange: Instant.distantFuture)
        for index in range where unchanged.contains(index, in: file) {
          if statusesHold, file.isValid(index, at: now) {
            part.nextChange = min(part.nextChange, file.validUntil(index))
          } else if let id = file.identifier(index) {
            part.stale.append(id)
          }
        }
        return [part]
      }
      for part in parts {
        stale += part.stale
        noteChange(at: part.nextChange)
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
    let all = scan == nil ? file?.identifiers : nil
    pending = store.pendingVersions()
    try readRecords(
      stale + outdated(), changed: scan?.changed ?? [], removed: all ?? scan?.removed ?? [])
  }

  /// Returns the alarms that have other versions than the index, or that the branch may have lost.
  private func outdated() -> [Identifier] {
    guard let pending else { return [] }
    guard let file else { return Array(pending.alarms) }
    return pending.alarms.filter { id in
      pending.differs(id, from: file.index(of: id).flatMap { file.row($0)?.blob })
    } + file.identifiers.filter { pending.isUntracked($0) }
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
    let isNew = changed.contains { file?.index(of: $0) == nil }
    // An unreadable history must not prevent alarms from ringing: the files are then used as they are.
    let committed =
      file == nil || isNew ? (try? Store.committedAlarms(store.repository())) ?? [:] : [:]
    let missing = file == nil ? Set(committed.keys).subtracting(changed) : Set(removed)
    let ids = Set(stale).union(changed).union(missing).sorted()
    if ids.isEmpty { return }
    let settings = try store.settings().settings
    let ledger = store.ledger.read()
    for id in ids {
      let path = AlarmRecord.path(id)
      switch try store.readAlarm(id) {
      case .good(let written, let content):
        let blob = Repository.blobID(content.bytes)
        let known = file.flatMap { file in file.index(of: id).flatMap { file.row($0)?.blob } }
        let joined = pending?.joined(id, with: content.bytes)
        let alarm = joined ?? written
        if joined == nil, pending?.isUntracked(id) != true, blob == known ?? committed[id] {
          let row = store.alarmIndexCache.row(
            alarm, blob: blob, status: content.status, settings: settings)
          changes[id] = row
          if row.row.validUntil > store.context.now {
            noteChange(at: row.row.validUntil)
          } else {
            due.append(id)
          }
        } else {
          unsettled.append(id)
        }
        correct(alarm, settings: settings, ledger: ledger)
        if !store.context.zones.isKnown(alarm.zone) {
          problems.append(RecordProblem(path: path, kind: .unknownZone(alarm.zone.text)))
        }
      case .bad(let error):
        unsettled.append(id)
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
        unsettled.append(id)
        // A file that never existed was not removed.
        if pending?.isNew(id) != true || file?.index(of: id) != nil {
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
  var changing: [Identifier] { Set(due + unsettled).sorted() }

  /// The blobs of the due alarms by the paths of their files.
  var blobsOfDue: [String: ObjectID] {
    due.reduce(into: [:]) { blobs, id in
      guard let change = changes[id], let change else { return }
      blobs[AlarmRecord.path(id)] = change.row.blob
    }
  }

  /// Returns the summaries of all alarms.
  func summaries() -> [AlarmSummary] {
    let known = file.map { file in
      Chunks.map(file.count) { range in
        range.compactMap { file.isUsed($0) ? file.summary($0) : nil }
      }
    }
    if corrected.isEmpty { return known ?? [] }
    return (known ?? []).filter { corrected[$0.id] == nil } + corrected.values.compactMap { $0 }
  }

  /// Returns all alarms that are not deleted.
  func listing() -> AlarmListing {
    AlarmListing(
      file, replaced: Set(corrected.keys.compactMap { file?.index(of: $0) }),
      others: corrected.values.compactMap { $0 })
  }

  /// Returns the summaries of the alarms that ring next, in the order of their next occurrences.
  ///
  /// - Parameter limit: The maximum number of alarms, at least 1.
  func summaries(ringingFirst limit: Int) -> [AlarmSummary] {
    let file = self.file
    let rows = file?.count ?? 0
    let replaced = Set(corrected.keys.compactMap { file?.index(of: $0) })
    let others = corrected.values.compactMap { $0 }
    var first = Smallest<Upcoming>(limit)
    let known = Chunks.map(rows, parallelFrom: Chunks.lightWork) { range in
      var first = Smallest<Upcoming>(limit)
      for index in range {
        guard let file, let next = file.next(index), file.isUsed(index), !replaced.contains(index)
        else { continue }
        first.insert(Upcoming(next: next, order: file.order(index), index: index))
      }
      return first.elements()
    }
    for element in known { first.insert(element) }
    for (index, summary) in others.enumerated() where !summary.isDeleted {
      guard let next = summary.next?.at else { continue }
      first.insert(Upcoming(next: next, order: .max, index: rows + index))
    }
    return first.elements().compactMap { upcoming in
      upcoming.index < rows ? file?.summary(upcoming.index) : others[upcoming.index - rows]
    }
  }

  /// The next occurrence of an alarm, ordered by its time.
  private struct Upcoming: Comparable, Sendable {
    let next: Instant
    /// The order of the row by the alarm's id. Alarms whose row is not current come last.
    let order: Int
    /// The row, or behind the rows the number of an alarm whose row is not current.
    let index: Int

    static func < (a: Upcoming, b: Upcoming) -> Bool {
      if a.next != b.next { return a.next < b.next }
      return a.order != b.order ? a.order < b.order : a.index < b.index
    }
  }

  /// Returns the summaries of the alarms whose title contains a text, case-insensitively, or whose identifier begins
  /// with it.
  ///
  /// - Parameter text: The text in lower case.
  func summaries(matching text: String) -> [AlarmSummary] {
    func matches(_ summary: AlarmSummary) -> Bool {
      summary.id.text.hasPrefix(text) || summary.title.lowercased().contains(text)
    }
    guard !text.isEmpty else { return [] }
    // The index can compare only ASCII letters case-insensitively.
    guard let file, text.utf8.allSatisfy({ $0 < 0x80 }) else {
      return summaries().filter(matches)
    }
    return file.rows(matching: Array(text.utf8)).compactMap { file.summary($0) }
      .filter { corrected[$0.id] == nil } + corrected.values.compactMap { $0 }.filter(matches)
  }

  /// The number of files that have changed since the saved moment above which a later moment is saved, so that the next
  /// reader looks at fewer.
  private static let maxWatched = 64

  /// Saves the updated rows for the next reader.
  func save() {
    guard let scan else { return }
    // While there is a stray, or a new file without a row, no signature is saved, so that every command reads the names
    // and finds it.
    let hasRows = unsettled.allSatisfy { id in
      file?.index(of: id) != nil || !scan.changed.contains(id)
    }
    let signature = scan.strays.isEmpty && hasRows ? scan.folder : AlarmFolderState.unknown
    // The index can claim to be current only if each file is as its row describes it.
    let isCurrent =
      unsettled.isEmpty && pending == nil && scan.strays.isEmpty && scan.removed.isEmpty
      && scan.changed.allSatisfy { changes[$0] != nil }
    let isWatched =
      !isCurrent || scan.token == nil || scan.watchedCount ?? .max <= AlarmIndex.maxWatched
    if changes.isEmpty, isWatched, let file, file.vouches(forFolder: signature) { return }
    // If a record is missing when the index is first saved, the index could never detect it.
    if file == nil, !unsettled.isEmpty { return }
    let folder = AlarmFolderState(
      signature: signature, token: isCurrent ? scan.token : file?.folder.token)
    store.alarmIndexCache.write(
      AlarmIndexFile.output(
        from: file, replacing: changes, folder: folder,
        fingerprint: store.alarmIndexCache.fingerprint(
          with: changes, after: statusesHold ? file?.fingerprint : nil)),
      replacing: file?.head)
  }
}
