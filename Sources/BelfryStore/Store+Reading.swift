import BelfryCore
import Git
import Glibc

extension Store {
  /// The summaries of all alarms, and the invalid records.
  public struct Overview: Sendable {
    /// The alarms that are not deleted, in no particular order.
    public var summaries: [AlarmSummary]
    /// The records that are not valid.
    public var problems: [RecordProblem]
  }

  /// Returns the current summaries of all alarms. Takes no lock and never waits.
  public func overview() throws -> Overview {
    let index = try AlarmIndex(self)
    let summaries = index.summaries()
    index.save()
    let problems = index.problems + [try settings().problem].compactMap { $0 }
    return Overview(summaries: summaries.filter { !$0.isDeleted }, problems: problems)
  }

  /// Returns the alarms that have a title, or whose next occurrence is at a given time, as of the last read.
  ///
  /// The result can be outdated, so it is fit for a hint only.
  ///
  /// - Complexity: Independent of the number of files.
  public func likely(titled title: String, comingAt moment: Instant) throws -> [AlarmSummary] {
    guard let file = readAlarmIndex() else {
      return try overview().summaries.filter { $0.title == title || $0.status.next?.at == moment }
    }
    return file.rows(titled: title, orChangingAt: moment).compactMap { file.summary($0) }
      .filter { !$0.isDeleted }
  }

  /// Returns an alarm, from its file or, if that is missing or not valid, in its last valid version. Returns nil if
  /// there is no such alarm.
  public func alarm(_ id: Identifier) throws -> Alarm? { try alarm(id, pendingVersions()) }

  /// A reader for one pass over several alarms. It determines the versions that the work tree lacks only once.
  public struct AlarmReader {
    private let store: Store
    private let pending: PendingVersions?

    fileprivate init(_ store: Store) {
      self.store = store
      pending = store.pendingVersions()
    }

    /// Returns an alarm, like `Store.alarm(_:)`.
    public func alarm(_ id: Identifier) throws -> Alarm? { try store.alarm(id, pending) }
  }

  /// Returns a reader for a pass over several alarms.
  public func alarmReader() -> AlarmReader { AlarmReader(self) }

  /// Returns the alarms of the given summaries.
  public func alarms(_ summaries: [AlarmSummary]) throws -> [Identifier: Alarm] {
    var result: [Identifier: Alarm] = [:]
    let pending = pendingVersions()
    for summary in summaries { result[summary.id] = try alarm(summary.id, pending) }
    return result
  }

  /// Returns all alarms, including deleted ones, and the records that are not valid.
  public func allAlarms() throws -> (alarms: [Alarm], problems: [RecordProblem]) {
    let index = try AlarmIndex(self)
    return (Array(try alarms(index.summaries()).values), index.problems)
  }

  /// Returns the current status of an alarm.
  public func status(_ alarm: Alarm) throws -> AlarmStatus {
    timeline(alarm).status(
      at: context.now, settings: try settings().settings, ledger: ledger())
  }

  /// Returns the timeline of an alarm for this device at the current time.
  public func timeline(_ alarm: Alarm) -> Timeline {
    Timeline(
      alarm, zone: zone(of: alarm), at: context.now, deviceContext: deviceContext(of: alarm),
      otherZones: otherZones(of: alarm),
      local: alarm.partner?.quiet == nil ? nil : context.zones.local)
  }

  /// The history of this device's battery warnings.
  public var batteryWarningHistory: BatteryWarningHistory { local.batteryWarnings.read() }

  /// Saves the history of battery warnings.
  public func keep(_ notes: BatteryWarningHistory) throws {
    try local.batteryWarnings.replace(with: notes, holder: context.process)
  }

  /// Returns true if this device rings for an alarm.
  public func ringsHere(_ alarm: Alarm) -> Bool { timeline(alarm).ringsHere }

  /// Returns this device's context for an alarm, or nil for an alarm that rings on every device.
  private func deviceContext(of alarm: Alarm) -> DeviceContext? {
    if alarm.delivery.devices.isEmpty, alarm.cascade == nil { return nil }
    let evidence = devices.presenceEvidence
    let presence = devices.presence(evidence)
    if alarm.cascade == nil {
      return DeviceContext(device: device, known: evidence.known, presence: presence)
    }
    let unreachable = evidence.fetched.unreachable(evidence.known, at: context.now)
    var deviceContext = DeviceContext(
      device: device, known: evidence.known, unreachable: unreachable,
      unreachableSince: evidence.fetched.unreachableSince(unreachable),
      zoneName: context.zones.recordedName(at: context.now), presence: presence)
    deviceContext.owners = evidence.owners
    return deviceContext
  }

  /// Returns the alarm that a text names, by the first rule that has a match:
  ///
  /// 1. The whole identifier.
  /// 2. The whole title, case-insensitively.
  /// 3. The beginning of an identifier, or a part of a title.
  /// 4. A part of the note of an alarm that a partner has set.
  ///
  /// - Returns: The alarm's summary, and the invalid records that were found.
  /// - Throws: `StoreError.noSuchAlarm`, or `.ambiguousAlarm` if several alarms match equally well.
  public func resolve(_ name: String) throws -> (summary: AlarmSummary, problems: [RecordProblem]) {
    if let id = Identifier(name), let alarm = try? alarm(id), !alarm.isDeleted {
      return (AlarmSummary(alarm, status: try status(alarm)), [])
    }
    let index = try AlarmIndex(self)
    index.save()
    let wanted = name.lowercased()
    var summaries = index.summaries(matching: wanted).filter { !$0.isDeleted }
    if summaries.isEmpty, !wanted.isEmpty {
      // All alarms of a partner have the same title.
      summaries = index.summaries().filter { summary in
        !summary.isDeleted && summary.title.hasPrefix(PartnerOrigin.titlePrefix)
          && summary.note?.lowercased().contains(wanted) == true
      }
    }
    let exact = summaries.filter { $0.title.lowercased() == wanted }
    let matches = exact.isEmpty ? summaries : exact
    if matches.count == 1 { return (matches[0], index.problems) }
    if matches.isEmpty { throw StoreError.noSuchAlarm(name) }
    throw StoreError.ambiguousAlarm(
      name,
      matches.map { StoreError.AlarmName(id: $0.id, title: $0.title, note: $0.note) }
        .sorted { ($0.title, $0.id) < ($1.title, $1.id) })
  }

  // MARK: Files

  /// The result of reading an alarm's file.
  enum AlarmFile {
    case good(Alarm, DurableFileContent)
    case bad(RecordError)
    case missing
  }

  /// The content of a file, with its status.
  struct DurableFileContent {
    let bytes: [UInt8]
    let status: stat
  }

  /// Reads an alarm's file.
  ///
  /// - Throws: `FileError` if the process is out of file descriptors or memory. Other errors make the file `bad`.
  func readAlarm(_ id: Identifier) throws -> AlarmFile {
    do {
      guard
        let file = try DurableFile.read(
          "\(path)/\(AlarmRecord.path(id))", limit: AlarmRecord.largest)
      else { return .missing }
      let alarm = try AlarmRecord.decode(file.bytes, id: id, now: context.now)
      return .good(alarm, DurableFileContent(bytes: file.bytes, status: file.status))
    } catch let error as RecordError {
      return .bad(error)
    } catch let error as FileError where !Store.isOutOfResources(error) {
      return .bad(RecordError(Store.reason(error, limit: AlarmRecord.largest)))
    }
  }

  /// Returns true if a file could not be read because the process is out of file descriptors or memory. The file itself
  /// can be valid.
  static func isOutOfResources(_ error: FileError) -> Bool {
    [EMFILE, ENFILE, ENOMEM].contains(error.number)
  }

  /// Returns the reason that a record's file cannot be read.
  static func reason(_ error: FileError, limit: Int) -> String {
    switch error.number {
    case EISDIR: "it is a folder"
    case ELOOP: "it is a symbolic link"
    case EINVAL: "it is not a regular file"
    case EFBIG: "it is larger than any record: the limit is \(limit >> 10) KiB"
    case EACCES: "this user has no permission to read it"
    default: "it cannot be read: \(String(cString: strerror(error.number)))"
    }
  }

  /// Returns the last valid version of an alarm: the one in the alarm index, or else the latest one in the history.
  func lastGood(_ id: Identifier) throws -> (alarm: Alarm, blob: ObjectID)? {
    let repository = try repository()
    var known: ObjectID?
    if let file = readAlarmIndex(), let index = file.index(of: id) {
      known = file.row(index)?.blob
    }
    guard
      let (bytes, blob) = try lastGoodVersion(of: AlarmRecord.path(id), repository, known: known)
    else { return nil }
    return (try AlarmRecord.decode(bytes, id: id, now: context.now), blob)
  }

  /// The maximum number of commits to search for a valid version.
  private static let maxDepth = 5_000

  /// Returns the last valid version of a record: the one in HEAD, or an earlier one if another program has committed an
  /// invalid version.
  ///
  /// - Parameters:
  ///   - path: The path of the record.
  ///   - repository: The store's repository.
  ///   - known: A version to try first.
  func lastGoodVersion(
    of path: String, _ repository: Repository, known: ObjectID? = nil
  ) throws -> (bytes: [UInt8], blob: ObjectID)? {
    guard let kind = RecordPath(path) else { return nil }
    var tried: Set<ObjectID> = []
    func version(_ blob: ObjectID) -> [UInt8]? {
      // A missing or invalid version is skipped.
      guard tried.insert(blob).inserted,
        let bytes = try? repository.blob(blob, limit: kind.largest), kind.error(in: bytes) == nil
      else { return nil }
      return bytes
    }
    if let known, let bytes = version(known) { return (bytes, known) }
    guard let head = (try? repository.commit(of: "HEAD")) ?? nil else { return nil }
    var found: (bytes: [UInt8], blob: ObjectID)?
    var count = 0
    // The search ends at a damaged commit.
    try? repository.visitHistory(from: head) { commit in
      count += 1
      let blob = (try? repository.blob(at: path, in: commit.tree)) ?? nil
      if let blob, let bytes = version(blob) {
        found = (bytes, blob)
        return false
      }
      // A record that HEAD lacks was never committed, or another program has removed it, which `BranchRestoration`
      // handles.
      return (blob != nil || commit.id != head) && count < Store.maxDepth
    }
    return found
  }

  /// Returns the blobs of the alarms in HEAD.
  ///
  /// - Parameter id: The only alarm to return; nil for all.
  static func committedAlarms(
    _ repository: Repository, only id: Identifier? = nil
  ) throws -> [Identifier: ObjectID] {
    guard let head = try repository.commit(of: "HEAD") else { return [:] }
    return try alarms(repository, in: try repository.commit(head).tree, only: id)
  }

  /// Returns the blobs of the alarms in a tree.
  ///
  /// - Parameter id: The only alarm to return; nil for all.
  static func alarms(
    _ repository: Repository, in tree: ObjectID, only id: Identifier? = nil
  ) throws -> [Identifier: ObjectID] {
    let root = try repository.tree(tree)
    guard let folder = try root.entry(named: "alarms"), folder.mode == .folder else { return [:] }
    let alarms = try repository.tree(folder.id)
    if let id {
      guard let entry = try alarms.entry(named: "\(id).json") else { return [:] }
      return [id: entry.id]
    }
    var result: [Identifier: ObjectID] = [:]
    for entry in try alarms.entries() where entry.mode == .file && entry.name.hasSuffix(".json") {
      if let id = Identifier(entry.name.dropLast(5)) { result[id] = entry.id }
    }
    return result
  }

  // MARK: Alarm index

  /// Returns the alarm index, or nil if it is missing or damaged.
  func readAlarmIndex() -> AlarmIndexFile? {
    // An unreadable index is rebuilt.
    (try? DurableFile.read(local.summaries, limit: 1 << 30)).flatMap { $0 }.flatMap {
      AlarmIndexFile($0.bytes, written: FileSignature($0.status).modified)
    }
  }

  /// A text that changes with the inputs of the alarm index other than the records.
  var fingerprint: String { "\(context.zones.fingerprint) \(settingsSignature ?? "-")" }

  /// Returns the row and the summary of an alarm whose file matches its blob.
  func row(
    _ alarm: Alarm, blob: ObjectID, status file: stat, settings: Settings
  ) -> (row: AlarmIndexFile.Row, summary: AlarmSummary) {
    // The ledger affects only statuses that are not cached, except through advance warnings.
    let ledger = alarm.delivery.warnings == nil ? DeliveryLedger() : self.ledger()
    let summary = AlarmSummary(
      alarm, status: timeline(alarm).status(at: context.now, settings: settings, ledger: ledger))
    return (
      AlarmIndexFile.Row(
        id: alarm.id, signature: FileSignature(file), blob: blob, validFrom: context.now,
        validUntil: isZoneKnown(alarm) ? summary.status.validUntil : context.now), summary
    )
  }

  /// Returns true if this system knows the alarm's time zone.
  func isZoneKnown(_ alarm: Alarm) -> Bool {
    guard case .named(let name) = alarm.zone else { return true }
    return context.zones.zone(named: name) != nil
  }

  /// Updates the alarm index with files that this process has just written and committed.
  func updateAlarmIndex(
    files: [String: [UInt8]?], blobs: [String: ObjectID?], written: [String: stat]
  ) {
    guard let file = readAlarmIndex(), file.fingerprint == fingerprint,
      let settings = try? settings().settings
    else {
      // A missing index is rebuilt now, because a removed record is detected only with an index.
      try? AlarmIndex(self).save()
      return
    }
    var changes: [Identifier: (row: AlarmIndexFile.Row, summary: AlarmSummary)?] = [:]
    for (path, content) in files {
      guard case .alarm(let id) = RecordPath(path) else { continue }
      // The row of a file that was not written keeps the previous version, so the next read finds the difference.
      guard let content, let blob = blobs[path] ?? nil, let status = written[path],
        let alarm = try? AlarmRecord.decode(content, id: id, now: context.now)
      else { continue }
      changes[id] = row(alarm, blob: blob, status: status, settings: settings)
    }
    replaceRows(changes)
  }

  /// Replaces rows of the alarm index, if it exists.
  func replaceRows(_ changes: [Identifier: (row: AlarmIndexFile.Row, summary: AlarmSummary)?]) {
    guard !changes.isEmpty, let file = readAlarmIndex() else { return }
    saveAlarmIndex(
      AlarmIndexFile.bytes(
        from: file, replacing: changes, folder: file.folder, fingerprint: file.fingerprint))
  }

  /// Writes the alarm index.
  func saveAlarmIndex(_ bytes: [UInt8]) {
    // A write error is ignored: the next reader rebuilds the index.
    _ = try? DurableFile.write(
      bytes, to: local.summaries, temporary: local.temporaryIndex, syncing: false)
  }
}

/// The alarm index, updated in memory by a check of every record's file.
struct AlarmIndex {
  private let store: Store
  private let file: AlarmIndexFile?
  private let folder: FileSignature?
  private var corrected: [Identifier: AlarmSummary?] = [:]
  /// The rows that can be saved for the next reader.
  private var changes: [Identifier: (row: AlarmIndexFile.Row, summary: AlarmSummary)?] = [:]
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
    file = store.readAlarmIndex()
    // Another time zone or setting invalidates the statuses, but not the signatures of the files.
    let statusesHold = file?.fingerprint == store.fingerprint
    let scan: FolderScan?
    do {
      scan = try FolderScan.scan(store.path + "/alarms", summaries: file)
    } catch let error as FileError where file != nil && !Store.isOutOfResources(error) {
      // If the folder cannot be read, the alarms are read from the history.
      scan = nil
    }
    folder = scan?.folder
    let now = store.context.now
    var stale: [Identifier] = []
    for (index, unchanged) in (scan?.unchanged ?? []).enumerated() where unchanged {
      guard let file else { break }
      if statusesHold, file.isValid(index, at: now) {
        noteChange(at: file.validUntil(index))
      } else if let id = file.identifier(index) {
        stale.append(id)
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
    let all =
      scan == nil ? file.map { file in (0..<file.count).compactMap { file.identifier($0) } } : nil
    pending = store.pendingVersions()
    try readRecords(
      stale + outdated(), changed: scan?.changed ?? [], removed: all ?? scan?.removed ?? [])
  }

  /// Returns the alarms that have other versions than the index, or that the branch may have lost.
  private func outdated() -> [Identifier] {
    guard let pending else { return [] }
    guard let file else { return Array(pending.alarms) }
    let rows = (0..<file.count).compactMap { file.identifier($0) }
    return pending.alarms.filter { id in
      pending.differs(id, from: file.index(of: id).flatMap { file.row($0)?.blob })
    } + rows.filter { pending.isUntracked($0) }
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
    let ledger = store.ledger()
    for id in ids {
      let path = AlarmRecord.path(id)
      switch try store.readAlarm(id) {
      case .good(let written, let content):
        let blob = Repository.blobID(content.bytes)
        let known = file.flatMap { file in file.index(of: id).flatMap { file.row($0)?.blob } }
        let joined = pending?.joined(id, with: content.bytes)
        let alarm = joined ?? written
        if joined == nil, pending?.isUntracked(id) != true, blob == known ?? committed[id] {
          let row = store.row(alarm, blob: blob, status: content.status, settings: settings)
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
        if !store.isZoneKnown(alarm) {
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
      case .missing where store.past != nil:
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

  /// Returns the summaries of all alarms.
  func summaries() -> [AlarmSummary] {
    let known = file.map { file in
      Chunks.map(file.count) { range in range.compactMap { file.summary($0) } }
    }
    if corrected.isEmpty { return known ?? [] }
    return (known ?? []).filter { corrected[$0.id] == nil } + corrected.values.compactMap { $0 }
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

  /// Saves the updated rows for the next reader.
  func save() {
    guard let folder else { return }
    if changes.isEmpty, let file, file.folder == folder, file.vouches(for: folder) { return }
    // If a record is missing when the index is first saved, the index could never detect it.
    if file == nil, !unsettled.isEmpty { return }
    store.saveAlarmIndex(
      AlarmIndexFile.bytes(
        from: file, replacing: changes, folder: folder,
        fingerprint: store.fingerprint))
  }
}
