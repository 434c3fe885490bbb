import BelfryCore
import Git
import Glibc

extension Store {
  /// All alarms as a list shows them, and what is wrong with any.
  public struct Overview: Sendable {
    /// Those that are not deleted, in no particular order.
    public var summaries: [AlarmSummary]
    public var problems: [RecordProblem]
  }

  /// The alarms as they stand now. Takes no lock and never waits.
  public func overview() throws -> Overview {
    let view = try AlarmIndex(self)
    let summaries = view.summaries()
    view.save()
    let problems = view.problems + [try settings().problem].compactMap { $0 }
    return Overview(summaries: summaries.filter { !$0.isDeleted }, problems: problems)
  }

  /// The alarms with a title, or with their next occurrence at a moment, as they were when somebody last
  /// looked: for a hint, not for a decision. Costs the same however many files there are.
  public func likely(titled title: String, comingAt moment: Instant) throws -> [AlarmSummary] {
    guard let file = readCards() else {
      return try overview().summaries.filter { $0.title == title || $0.status.next?.at == moment }
    }
    return file.rows(titled: title, orChangingAt: moment).compactMap { file.summary($0) }
      .filter { !$0.isDeleted }
  }

  /// One alarm, from its file, or the last good version of it.
  public func alarm(_ id: Identifier) throws -> Alarm? { try alarm(id, pendingVersions()) }

  /// A reader of several alarms that looks once for the versions which the work tree lacks.
  ///
  /// It is made for one pass over some alarms: what moves the branch afterwards is not looked for again.
  public struct AlarmReader {
    private let store: Store
    private let pending: PendingVersions?

    fileprivate init(_ store: Store) {
      self.store = store
      pending = store.pendingVersions()
    }

    /// Returns what `Store.alarm(_:)` does.
    public func alarm(_ id: Identifier) throws -> Alarm? { try store.alarm(id, pending) }
  }

  /// Returns a reader for a pass over several alarms.
  public func alarmReader() -> AlarmReader { AlarmReader(self) }

  /// Alarms in full, for all cards.
  public func alarms(_ summaries: [AlarmSummary]) throws -> [Identifier: Alarm] {
    var result: [Identifier: Alarm] = [:]
    let pending = pendingVersions()
    for summary in summaries { result[summary.id] = try alarm(summary.id, pending) }
    return result
  }

  /// All alarms in full, deleted ones too, and what is wrong with any.
  public func allAlarms() throws -> (alarms: [Alarm], problems: [RecordProblem]) {
    let view = try AlarmIndex(self)
    return (Array(try alarms(view.summaries()).values), view.problems)
  }

  /// All devices, and what is wrong with the record of any.
  public func devices() -> (devices: [Device], problems: [RecordProblem]) {
    Store.devices(in: path)
  }

  static func devices(in path: String) -> (devices: [Device], problems: [RecordProblem]) {
    var devices: [Device] = []
    var problems: [RecordProblem] = []
    for name in DurableFile.names(in: path + "/devices").sorted() {
      let place = "devices/\(name)"
      do {
        guard let kind = RecordPath(place) else { throw RecordError("no record has this name") }
        guard let file = try DurableFile.read("\(path)/\(place)", limit: kind.largest) else {
          continue
        }
        if let error = kind.error(in: file.bytes) { throw error }
        devices.append(try DeviceRecord.decode(file.bytes))
      } catch {
        let reason =
          error as? RecordError
          ?? (error as? FileError).map {
            RecordError(Store.reason($0, limit: DeviceRecord.largest))
          } ?? RecordError("\(error)")
        problems.append(RecordProblem(path: place, kind: .invalid(reason, lastGood: false)))
      }
    }
    return (devices, problems)
  }

  /// Where an alarm stands now.
  public func status(_ alarm: Alarm) throws -> AlarmStatus {
    timeline(alarm).status(
      at: context.now, settings: try settings().settings, ledger: ledger())
  }

  public func timeline(_ alarm: Alarm) -> Timeline {
    Timeline(
      alarm, zone: zone(of: alarm), at: context.now, deviceContext: deviceContext(of: alarm),
      otherZones: otherZones(of: alarm),
      local: alarm.partner?.quiet == nil ? nil : context.zones.local)
  }

  /// What was told here of the battery.
  public var batteryWarningHistory: BatteryWarningHistory { local.readBatteryWarnings() }

  /// Keeps what was told here of the battery.
  public func keep(_ notes: BatteryWarningHistory) throws { try local.write(notes) }

  /// Whether this device is one of those that ring for an alarm.
  public func ringsHere(_ alarm: Alarm) -> Bool { timeline(alarm).ringsHere }

  /// This device, as far as an alarm asks who looks; nil for one that rings everywhere.
  private func deviceContext(of alarm: Alarm) -> DeviceContext? {
    if alarm.delivery.devices.isEmpty, alarm.cascade == nil { return nil }
    let evidence = presenceEvidence
    let presence = presence(evidence)
    if alarm.cascade == nil {
      return DeviceContext(device: device, known: evidence.known, presence: presence)
    }
    let unreachable = evidence.signs.unreachable(evidence.known, at: context.now)
    var deviceContext = DeviceContext(
      device: device, known: evidence.known, unreachable: unreachable,
      unreachableSince: evidence.signs.unreachableSince(unreachable),
      zoneName: context.zones.recordedName(at: context.now), presence: presence)
    deviceContext.owners = evidence.owners
    return deviceContext
  }

  /// The alarm that a person means: its identifier, its title, or a part of either that is unique.
  ///
  /// 1. The whole identifier. 2. The whole title, in any case. 3. The start of an identifier, or a part
  /// of a title; else a part of what a partner says in an alarm. Throws `.noSuchAlarm`, or `.ambiguousAlarm` when several match equally well.
  ///
  /// - Returns: the alarm's card, and what is wrong with records that were looked at.
  public func resolve(_ name: String) throws -> (summary: AlarmSummary, problems: [RecordProblem]) {
    if let id = Identifier(name), let alarm = try? alarm(id), !alarm.isDeleted {
      return (AlarmSummary(alarm, status: try status(alarm)), [])
    }
    let view = try AlarmIndex(self)
    view.save()
    let wanted = name.lowercased()
    var summaries = view.summaries(matching: wanted).filter { !$0.isDeleted }
    if summaries.isEmpty, !wanted.isEmpty {
      // All that one partner has set has one title.
      summaries = view.summaries().filter { summary in
        !summary.isDeleted && summary.title.hasPrefix(PartnerOrigin.titlePrefix)
          && summary.note?.lowercased().contains(wanted) == true
      }
    }
    let exact = summaries.filter { $0.title.lowercased() == wanted }
    let matches = exact.isEmpty ? summaries : exact
    if matches.count == 1 { return (matches[0], view.problems) }
    if matches.isEmpty { throw StoreError.noSuchAlarm(name) }
    throw StoreError.ambiguousAlarm(
      name,
      matches.map { StoreError.AlarmName(id: $0.id, title: $0.title, note: $0.note) }
        .sorted { ($0.title, $0.id) < ($1.title, $1.id) })
  }

  // MARK: Files

  enum AlarmFile {
    case good(Alarm, DurableFileContent)
    case bad(RecordError)
    case missing
  }

  struct DurableFileContent {
    let bytes: [UInt8]
    let status: stat
  }

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
    } catch let error as FileError where !Store.isOurs(error) {
      return .bad(RecordError(Store.reason(error, limit: AlarmRecord.largest)))
    }
  }

  /// Whether a file could not be read for a reason that is not the file's.
  static func isOurs(_ error: FileError) -> Bool {
    [EMFILE, ENFILE, ENOMEM].contains(error.number)
  }

  /// Why a file in a record's place cannot be read.
  static func reason(_ error: FileError, limit: Int) -> String {
    switch error.number {
    case EISDIR: "it is a folder"
    case ELOOP: "it is a symbolic link"
    case EINVAL: "it is not a regular file"
    case EFBIG: "it is larger than any record: the limit is \(limit >> 10) KiB"
    case EACCES: "it may not be read by this user"
    default: "it cannot be read: \(String(cString: strerror(error.number)))"
    }
  }

  /// The last version of an alarm that was good: the one that the cards know, else that of the history.
  func lastGood(_ id: Identifier) throws -> (alarm: Alarm, blob: ObjectID)? {
    let repository = try repository()
    var known: ObjectID?
    if let summaries = readCards(), let index = summaries.index(of: id) {
      known = summaries.row(index)?.blob
    }
    guard
      let (bytes, blob) = try lastGoodVersion(of: AlarmRecord.path(id), repository, known: known)
    else { return nil }
    return (try AlarmRecord.decode(bytes, id: id, now: context.now), blob)
  }

  /// How far back a version is looked for that is good, in commits.
  private static let farBack = 5_000

  /// The last version of a record that was good: in HEAD, or where somebody else has committed a bad one,
  /// before.
  ///
  /// - Parameter known: a version to be tried first.
  func lastGoodVersion(
    of path: String, _ repository: Repository, known: ObjectID? = nil
  ) throws -> (bytes: [UInt8], blob: ObjectID)? {
    guard let kind = RecordPath(path) else { return nil }
    var tried: Set<ObjectID> = []
    func version(_ blob: ObjectID) -> [UInt8]? {
      // One that is not there or not good leaves the next.
      guard tried.insert(blob).inserted,
        let bytes = try? repository.blob(blob, limit: kind.largest), kind.error(in: bytes) == nil
      else { return nil }
      return bytes
    }
    if let known, let bytes = version(known) { return (bytes, known) }
    guard let head = (try? repository.commit(of: "HEAD")) ?? nil else { return nil }
    var found: (bytes: [UInt8], blob: ObjectID)?
    var count = 0
    // A history that ends in a damaged commit ends there.
    try? repository.visitHistory(from: head) { commit in
      count += 1
      let blob = (try? repository.blob(at: path, in: commit.tree)) ?? nil
      if let blob, let bytes = version(blob) {
        found = (bytes, blob)
        return false
      }
      // What HEAD does not have at all was never committed, or is dropped, which is found otherwise.
      return (blob != nil || commit.id != head) && count < Store.farBack
    }
    return found
  }

  /// The blobs of the alarms in HEAD.
  static func committedAlarms(
    _ repository: Repository, only id: Identifier? = nil
  ) throws -> [Identifier: ObjectID] {
    guard let head = try repository.commit(of: "HEAD") else { return [:] }
    return try alarms(repository, in: try repository.commit(head).tree, only: id)
  }

  /// The blobs of the alarms in a tree.
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

  // MARK: Cards

  func readCards() -> AlarmIndexFile? {
    // A cache that cannot be read is made anew.
    (try? DurableFile.read(local.summaries, limit: 1 << 30)).flatMap { $0 }.flatMap {
      AlarmIndexFile($0.bytes, written: FileSignature($0.status).modified)
    }
  }

  /// What the cards depend on besides the records.
  var fingerprint: String { "\(context.zones.fingerprint) \(settingsSignature ?? "-")" }

  /// The row and card of an alarm whose file is as it was written.
  func row(
    _ alarm: Alarm, blob: ObjectID, status file: stat, settings: Settings
  ) -> (row: AlarmIndexFile.Row, summary: AlarmSummary) {
    // What has rung matters to what counts for no later moment; which warnings were given does.
    let ledger = alarm.delivery.warnings == nil ? DeliveryLedger() : self.ledger()
    let summary = AlarmSummary(
      alarm, status: timeline(alarm).status(at: context.now, settings: settings, ledger: ledger))
    return (
      AlarmIndexFile.Row(
        id: alarm.id, signature: FileSignature(file), blob: blob, validFrom: context.now,
        validUntil: isZoneKnown(alarm) ? summary.status.validUntil : context.now), summary
    )
  }

  func isZoneKnown(_ alarm: Alarm) -> Bool {
    guard case .named(let name) = alarm.zone else { return true }
    return context.zones.zone(named: name) != nil
  }

  /// Brings the cards in step with files that this process has just written and committed.
  func updateCards(
    files: [String: [UInt8]?], blobs: [String: ObjectID?], written: [String: stat]
  ) {
    guard let summaries = readCards(), summaries.fingerprint == fingerprint,
      let settings = try? settings().settings
    else {
      // A store whose cards are missing gets them now: they are what a removed record is missed by.
      try? AlarmIndex(self).save()
      return
    }
    var changes: [Identifier: (row: AlarmIndexFile.Row, summary: AlarmSummary)?] = [:]
    for (path, content) in files {
      guard case .alarm(let id) = RecordPath(path) else { continue }
      // A file that was left as it lies stays unsettled: its card knows the version before.
      guard let content, let blob = blobs[path] ?? nil, let status = written[path],
        let alarm = try? AlarmRecord.decode(content, id: id, now: context.now)
      else { continue }
      changes[id] = row(alarm, blob: blob, status: status, settings: settings)
    }
    keep(changes)
  }

  /// Replaces some of the cards, if there are any at all.
  func keep(_ changes: [Identifier: (row: AlarmIndexFile.Row, summary: AlarmSummary)?]) {
    guard !changes.isEmpty, let summaries = readCards() else { return }
    saveCards(
      AlarmIndexFile.bytes(
        from: summaries, replacing: changes, folder: summaries.folder,
        fingerprint: summaries.fingerprint))
  }

  func saveCards(_ bytes: [UInt8]) {
    // A cache: when it cannot be written, the next reader does without.
    _ = try? DurableFile.write(
      bytes, to: local.summaries, temporary: local.temporaryCards, syncing: false)
  }
}

/// The cards as they are on disk, corrected by a look at every record's file.
struct AlarmIndex {
  private let store: Store
  private let file: AlarmIndexFile?
  private let folder: FileSignature?
  private var corrected: [Identifier: AlarmSummary?] = [:]
  /// What can be kept for the next reader.
  private var changes: [Identifier: (row: AlarmIndexFile.Row, summary: AlarmSummary)?] = [:]
  private(set) var problems: [RecordProblem] = []
  /// The alarms whose files have changed, come or gone since they were last committed by Belfry.
  private(set) var unsettled: [Identifier] = []
  /// Those among them whose files are not valid, and not to be overwritten.
  private(set) var broken: Set<Identifier> = []
  /// The alarms to which something may be due by now.
  private(set) var due: [Identifier] = []
  /// When the status of another alarm changes first; nil when none does.
  private(set) var nextChange: Instant?
  /// The versions of alarms that the work tree lacks.
  private var pending: PendingVersions?

  init(_ store: Store) throws {
    self.store = store
    file = store.readCards()
    // Another zone or setting leaves nothing of the statuses, but what the rows tell of the files holds.
    let statusesHold = file?.fingerprint == store.fingerprint
    let scan: FolderScan?
    do {
      scan = try FolderScan.scan(store.path + "/alarms", summaries: file)
    } catch let error as FileError where file != nil && !Store.isOurs(error) {
      // The folder cannot be read; each alarm is known from the history.
      scan = nil
    }
    folder = scan?.folder
    let now = store.context.now
    var doubtful: [Identifier] = []
    for (index, unchanged) in (scan?.unchanged ?? []).enumerated() where unchanged {
      guard let file else { break }
      if statusesHold, file.isValid(index, at: now) {
        expect(file.validUntil(index))
      } else if let id = file.identifier(index) {
        doubtful.append(id)
      }
    }
    for stray in (scan?.strays ?? []).sorted() {
      problems.append(
        RecordProblem(
          path: "alarms/\(stray)",
          kind: .invalid(
            RecordError("its name is not an alarm's identifier"), lastGood: false)))
    }
    // Without the folder every record is missing.
    let all =
      scan == nil ? file.map { file in (0..<file.count).compactMap { file.identifier($0) } } : nil
    pending = store.pendingVersions()
    try look(
      doubtful + behind(), changed: scan?.changed ?? [], removed: all ?? scan?.removed ?? [])
  }

  /// The alarms of which there are other versions than those of the cards, or that the branch may have lost.
  private func behind() -> [Identifier] {
    guard let pending else { return [] }
    guard let file else { return Array(pending.alarms) }
    let rows = (0..<file.count).compactMap { file.identifier($0) }
    return pending.alarms.filter { id in
      pending.differs(id, from: file.index(of: id).flatMap { file.row($0)?.blob })
    } + rows.filter { pending.isUntracked($0) }
  }

  private mutating func expect(_ change: Instant) {
    guard change < .distantFuture else { return }
    nextChange = min(nextChange ?? change, change)
  }

  /// Reads the records that the cards cannot answer for.
  private mutating func look(
    _ doubtful: [Identifier], changed: [Identifier], removed: [Identifier]
  ) throws {
    // Without a card HEAD tells whether a record is as committed, and which are missing.
    let isNew = changed.contains { file?.index(of: $0) == nil }
    // A history that cannot be read keeps no alarm from ringing: the files are taken as they lie.
    let committed =
      file == nil || isNew ? (try? Store.committedAlarms(store.repository())) ?? [:] : [:]
    let gone = file == nil ? Set(committed.keys).subtracting(changed) : Set(removed)
    let ids = Set(doubtful).union(changed).union(gone).sorted()
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
            expect(row.row.validUntil)
          } else {
            due.append(id)
          }
        } else {
          unsettled.append(id)
        }
        keep(alarm, settings: settings, ledger: ledger)
        if !store.isZoneKnown(alarm) {
          problems.append(RecordProblem(path: path, kind: .unknownZone(alarm.zone.text)))
        }
      case .bad(let error):
        unsettled.append(id)
        broken.insert(id)
        // A history that cannot be read has none, and keeps no other alarm from ringing.
        let good = (try? store.lastGood(id, pending)) ?? nil
        problems.append(
          RecordProblem(path: path, kind: .invalid(error, lastGood: good != nil)))
        if let good { keep(good, settings: settings, ledger: ledger) }
      case .missing where store.past != nil:
        // It was not there yet.
        break
      case .missing:
        unsettled.append(id)
        // Nobody has removed a file that was never there.
        if pending?.isNew(id) != true || file?.index(of: id) != nil {
          problems.append(RecordProblem(path: path, kind: .removed))
        }
        if let good = (try? store.lastGood(id, pending)) ?? nil {
          keep(good, settings: settings, ledger: ledger)
        }
      }
      if corrected[id] == nil { corrected[id] = .some(nil) }
    }
  }

  private mutating func keep(_ alarm: Alarm, settings: Settings, ledger: DeliveryLedger) {
    corrected[alarm.id] = AlarmSummary(
      alarm,
      status: store.timeline(alarm).status(
        at: store.context.now, settings: settings, ledger: ledger))
  }

  /// All cards.
  func summaries() -> [AlarmSummary] {
    let known = file.map { file in
      Chunks.map(file.count) { range in range.compactMap { file.summary($0) } }
    }
    if corrected.isEmpty { return known ?? [] }
    return (known ?? []).filter { corrected[$0.id] == nil } + corrected.values.compactMap { $0 }
  }

  /// The cards whose title holds a text, in any case, or whose identifier starts with it.
  ///
  /// - Parameter wanted: lower case.
  func summaries(matching wanted: String) -> [AlarmSummary] {
    func matches(_ summary: AlarmSummary) -> Bool {
      summary.id.text.hasPrefix(wanted) || summary.title.lowercased().contains(wanted)
    }
    guard !wanted.isEmpty else { return [] }
    // Of other letters than ASCII's the case is more than a bit.
    guard let file, wanted.utf8.allSatisfy({ $0 < 0x80 }) else {
      return summaries().filter(matches)
    }
    return file.rows(matching: Array(wanted.utf8)).compactMap { file.summary($0) }
      .filter { corrected[$0.id] == nil } + corrected.values.compactMap { $0 }.filter(matches)
  }

  /// Keeps what was learned for the next reader.
  func save() {
    guard let folder else { return }
    if changes.isEmpty, let file, file.folder == folder, file.vouches(for: folder) { return }
    // Cards that begin without a record that is missing would never miss it again.
    if file == nil, !unsettled.isEmpty { return }
    store.saveCards(
      AlarmIndexFile.bytes(
        from: file, replacing: changes, folder: folder,
        fingerprint: store.fingerprint))
  }
}
