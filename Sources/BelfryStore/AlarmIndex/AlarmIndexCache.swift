import BelfryCore
import Files
import Git
import Glibc

/// The alarm index on disk: its reads, and the updates of its rows.
///
/// A row counts only as long as its file has the row's signature. The fingerprint is that of all rows, so that a row is
/// written only if the statuses of all others are made from the same inputs.
struct AlarmIndexCache: StorePart {
  let store: Store

  /// The index as it is on disk.
  struct Content: Sendable {
    /// The number of the index's version. Each write makes another one.
    let generation: Int64
    /// The other inputs of the statuses: the time zones and the settings.
    let fingerprint: String
    /// The rows in the order of the alarms' ids.
    let rows: [CachedAlarm]

    /// Returns the row of an alarm, or nil if it has none.
    subscript(id: Identifier) -> CachedAlarm? {
      var (first, end) = (0, rows.count)
      while first < end {
        let middle = (first + end) / 2
        if rows[middle].id < id { first = middle + 1 } else { end = middle }
      }
      return first < rows.count && rows[first].id == id ? rows[first] : nil
    }
  }

  /// Returns the alarm index, or nil if there is none.
  func read() -> Content? {
    store.cache.read { database in
      guard let state = try AlarmIndexCache.state(of: database) else { return nil }
      // The bytes of all rows are in one array, which is allocated once.
      var bytes: [UInt8] = []
      var ends: [Int] = []
      bytes.reserveCapacity(Int(clamping: min(state.count, 10_000)) * CachedAlarm.typicalSize)
      ends.reserveCapacity(Int(clamping: min(state.count, 10_000)))
      try database.run("SELECT content FROM alarms ORDER BY id") {
        $0.append(0, to: &bytes)
        ends.append(bytes.count)
      }
      // A lost row would hide that the file of its alarm is missing or changed, also if another one was there twice.
      guard ends.count == state.count else { throw CacheDatabase.Failure.damaged }
      return Content(
        generation: state.generation, fingerprint: state.fingerprint,
        rows: try AlarmIndexCache.rows(in: bytes, ends))
    }
  }

  /// Returns the rows of some alarms; the result lacks those that have none.
  func rows(of ids: [Identifier]) -> [Identifier: CachedAlarm] {
    store.cache.read { database in
      var rows: [Identifier: CachedAlarm] = [:]
      try database.run("SELECT content FROM alarms WHERE id = ?", ids.map { [.text($0.text)] }) {
        let row = try AlarmIndexCache.row($0)
        rows[row.id] = row
      }
      return rows
    } ?? [:]
  }

  /// Returns the summaries with exactly this title, or nil if there is no index.
  func summaries(titled title: String) -> [AlarmSummary]? {
    store.cache.read { database in
      guard try AlarmIndexCache.state(of: database) != nil else { return nil }
      var summaries: [AlarmSummary] = []
      try database.run("SELECT content FROM alarms WHERE title = ?", [[.text(title)]]) {
        if let summary = try AlarmIndexCache.row($0).summary { summaries.append(summary) }
      }
      return summaries
    }
  }

  private static func row(_ result: CacheDatabase.Row) throws -> CachedAlarm {
    guard let row = CachedAlarm(result.bytes(0)[...]) else { throw CacheDatabase.Failure.damaged }
    return row
  }

  /// Returns rows that are one after another.
  private static func rows(in bytes: [UInt8], _ ends: [Int]) throws -> [CachedAlarm] {
    let rows = Chunks.map(ends.count, parallelFrom: Chunks.lightWork) { range in
      range.map { CachedAlarm(bytes[($0 == 0 ? 0 : ends[$0 - 1])..<ends[$0]]) }
    }
    var sorted: [CachedAlarm] = []
    sorted.reserveCapacity(rows.count)
    for row in rows {
      guard let row, sorted.last?.idBytes.lexicographicallyPrecedes(row.idBytes) ?? true else {
        throw CacheDatabase.Failure.damaged
      }
      sorted.append(row)
    }
    return sorted
  }

  /// The row of the table `state`.
  private struct State {
    let generation: Int64
    let fingerprint: String
    let count: Int64
  }

  /// Returns the state, or nil if the database has no alarm index.
  private static func state(of database: CacheDatabase) throws -> State? {
    var state: State?
    try database.run("SELECT generation, fingerprint, count FROM state") {
      state = State(generation: $0.number(0), fingerprint: $0.text(1), count: $0.number(2))
    }
    return state
  }

  // MARK: The fingerprint

  /// Returns a text that changes with the inputs of the statuses other than the records of alarms: the settings, the
  /// calendars, the devices, and the rules of the time zones. The last line has the names of these zones.
  ///
  /// It also changes with each boot: a power failure can leave an old status beside a new fingerprint.
  private func fingerprint(_ zones: Set<String>) -> String {
    var status = stat()
    let devices = stat(path + "/devices", &status) == 0 ? FileSignature(status) : nil
    let inputs = [
      ProcessIdentity.currentBoot ?? "", context.zones.fingerprint(of: zones),
      SettingsFile.signature(of: store) ?? "-",
      CalendarRecord.signature(of: store) ?? "", "\(devices?.inode ?? 0) \(devices?.modified ?? 0)",
    ]
    return inputs.joined(separator: " ") + "\n" + zones.sorted().joined(separator: " ")
  }

  /// Returns the names of the zones in a fingerprint.
  private static func zones(in fingerprint: String) -> Set<String> {
    let line = fingerprint.split(separator: "\n", omittingEmptySubsequences: false).last ?? ""
    return Set(line.split(separator: " ").map(String.init))
  }

  /// Returns true if statuses with a fingerprint are still valid at their times.
  func isCurrent(_ fingerprint: String) -> Bool {
    fingerprint == self.fingerprint(AlarmIndexCache.zones(in: fingerprint))
  }

  /// Returns the fingerprint of an index with new rows.
  ///
  /// - Parameters:
  ///   - rows: The new rows.
  ///   - known: The present fingerprint, whose other rows stay; nil if there are none.
  func fingerprint(with rows: [Change], after known: String?) -> String {
    var zones = store.deviceZones.names(of: store)
    zones.formUnion(known.map(AlarmIndexCache.zones) ?? [])
    for change in rows { zones.insert(change.summary.zone) }
    zones.remove(Alarm.Zone.floating.text)
    return fingerprint(zones)
  }

  // MARK: Rows

  /// A new row, and its summary.
  typealias Change = (row: CachedAlarm, summary: AlarmSummary)

  /// Returns the row of an alarm whose file matches its blob.
  ///
  /// - Parameter readAt: A time before the file was read, see `CachedAlarm.readAt`; nil if it is not known, so that the
  ///   next reader reads the file again.
  func row(
    _ alarm: Alarm, blob: ObjectID, status file: stat, readAt: Int64? = nil, settings: Settings
  ) -> Change {
    // The ledger affects only statuses that are not cached, except through advance warnings.
    let ledger = alarm.delivery.warnings == nil ? DeliveryLedger() : store.ledger.read()
    let summary = AlarmSummary(
      alarm,
      status: store.timeline(alarm).status(at: context.now, settings: settings, ledger: ledger))
    let signature = FileSignature(file)
    return (
      CachedAlarm(
        id: alarm.id, signature: signature, readAt: readAt ?? signature.changed, blob: blob,
        validFrom: context.now,
        validUntil: hasNamedZones(alarm) ? summary.status.validUntil : context.now,
        summary: summary),
      summary
    )
  }

  /// Returns true if the system has the zone of an alarm, and if its summary names all zones on which the alarm's status
  /// depends. It doesn't name that of a cascade that was edited lately.
  private func hasNamedZones(_ alarm: Alarm) -> Bool {
    let cascadeZone = alarm.cascadeZone(at: context.now)
    return context.zones.isKnown(alarm.zone)
      && (cascadeZone == nil || cascadeZone == alarm.shownZone)
  }

  // MARK: Writing

  /// Updates the alarm index with files that this process has just written and committed.
  ///
  /// - Complexity: Independent of the number of alarms, unless the other inputs of the statuses have changed.
  func update(
    files: [String: [UInt8]?], blobs: [String: ObjectID?], written: [String: stat]
  ) {
    let alarms = files.keys.compactMap { path -> (id: Identifier, path: String)? in
      guard case .alarm(let id) = RecordPath(path) else { return nil }
      return (id, path)
    }
    guard let settings = try? store.settings().settings else { return rebuild() }
    let rows = Chunks.map(alarms.count) { range in
      alarms[range].compactMap { id, path -> Change? in
        // The row of a file that was not written keeps the previous version, so the next read finds the difference.
        guard let content = files[path] ?? nil, let blob = blobs[path] ?? nil,
          let status = written[path],
          let alarm = try? AlarmRecord.decode(content, id: id, now: context.now)
        else { return nil }
        return row(alarm, blob: blob, status: status, settings: settings)
      }
    }
    let isUpdated = store.cache.write { database in
      guard let state = try AlarmIndexCache.state(of: database), isCurrent(state.fingerprint)
      else { return false }
      if rows.isEmpty { return true }
      try AlarmIndexCache.write(
        rows, fingerprint: fingerprint(with: rows, after: state.fingerprint),
        generation: state.generation, to: database)
      return true
    }
    if isUpdated == false { rebuild() }
  }

  /// Builds a missing index, because a removed record is detected only with one.
  private func rebuild() { try? AlarmIndex(store).save() }

  /// Replaces rows of the alarm index, if it exists.
  func replace(_ rows: [Change]) {
    if rows.isEmpty { return }
    _ = store.cache.write { database in
      guard let state = try AlarmIndexCache.state(of: database) else { return }
      // An outdated fingerprint stays, so that the other rows are not taken for current.
      let fingerprint =
        isCurrent(state.fingerprint)
        ? fingerprint(with: rows, after: state.fingerprint) : state.fingerprint
      try AlarmIndexCache.write(
        rows, fingerprint: fingerprint, generation: state.generation, to: database)
    }
  }

  /// Saves rows that a reader has made, unless another process has written to the index since then.
  ///
  /// - Parameters:
  ///   - rows: The rows.
  ///   - fingerprint: The other inputs of all statuses.
  ///   - generation: The generation of the index that was read; nil without one.
  func save(_ rows: [Change], fingerprint: String, after generation: Int64?) {
    _ = store.cache.write { database in
      guard try AlarmIndexCache.state(of: database)?.generation == generation else { return }
      try AlarmIndexCache.write(
        rows, fingerprint: fingerprint, generation: generation, to: database)
    }
  }

  private static func write(
    _ rows: [Change], fingerprint: String, generation: Int64?, to database: CacheDatabase
  ) throws {
    assert(rows.allSatisfy { $0.row.id == $0.summary.id }, "a row has the summary of its alarm")
    try database.run(
      "INSERT OR REPLACE INTO alarms (id, title, content) VALUES (?, ?, ?)",
      rows.map { [.text($0.row.id.text), .text($0.summary.title), .bytes(Array($0.row.bytes))] })
    // A reader of a removed index must not take a new one for it.
    let next = generation.map { $0 &+ 1 } ?? .random(in: 0...Int64.max)
    try database.execute("DELETE FROM state")
    try database.run(
      "INSERT INTO state (generation, fingerprint, count) SELECT ?, ?, count(*) FROM alarms",
      [[.number(next), .text(fingerprint)]])
  }
}

extension Store {
  /// The alarm index of this store on disk.
  var alarmIndexCache: AlarmIndexCache { AlarmIndexCache(store: self) }
}
