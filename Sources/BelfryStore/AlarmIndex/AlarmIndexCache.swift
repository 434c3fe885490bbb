import BelfryCore
import Git
import Glibc

/// The alarm index on disk: its reads, and the updates of its rows.
struct AlarmIndexCache: StorePart {
  let store: Store

  /// The number of times that files which don't belong together are read before they count as damaged. Another process
  /// may be replacing them.
  private static let maxAttempts = 5

  /// Returns the alarm index, or nil if it is missing or damaged.
  func read() -> AlarmIndexFile? {
    for _ in 0..<AlarmIndexCache.maxAttempts {
      // Unreadable files are rebuilt.
      guard let head = readHead(), let opened = openMain(),
        let main = AlarmIndexTable(opened, .main)
      else { return nil }
      if let file = AlarmIndexFile(main, head) { return file }
    }
    return nil
  }

  /// Returns the header of the main file and the changes, or nil if one is missing or damaged. The rest of the main
  /// file can be damaged.
  func readHead() -> AlarmIndexHead? {
    for attempt in 0..<AlarmIndexCache.maxAttempts {
      if attempt > 0 { usleep(1000) }
      guard let file = openMain(),
        let main = AlarmIndexCache.header(file, .main), let changes = readChanges()
      else { return nil }
      if let head = AlarmIndexCache.head(file, main, changes) { return head }
    }
    return nil
  }

  private func readChanges() -> AlarmIndexTable? {
    let file = try? DurableFile.read(local.alarmIndexChanges, limit: AlarmIndexLayout.Limit.size)
    return (file ?? nil).flatMap {
      AlarmIndexTable($0.bytes, .changes, written: FileSignature($0.status).modified)
    }
  }

  private func openMain() -> ReadableFile? {
    // `??` doesn't accept values that cannot be copied.
    do {
      return try ReadableFile.open(local.alarmIndex)
    } catch {
      return nil
    }
  }

  private static func header(
    _ file: borrowing ReadableFile, _ kind: AlarmIndexHeader.Kind
  ) -> AlarmIndexHeader? {
    (try? file.bytes(at: 0, count: AlarmIndexLayout.Header.size)).flatMap {
      AlarmIndexHeader($0, kind)
    }
  }

  private static func head(
    _ file: borrowing ReadableFile, _ main: AlarmIndexHeader, _ changes: AlarmIndexTable
  ) -> AlarmIndexHead? {
    guard
      let fingerprint = try? file.bytes(at: main.fingerprint.lowerBound, count: Int(main.link))
    else { return nil }
    return AlarmIndexHead(
      main, fingerprint: String(decoding: fingerprint, as: UTF8.self), changes)
  }

  /// Returns the summaries with exactly this title, or nil if the index is missing or damaged.
  ///
  /// - Complexity: Reads the hashes of the titles, and the rows with the same hash.
  func summaries(titled title: String) -> [AlarmSummary]? {
    guard let file = openMain(),
      let main = AlarmIndexCache.header(file, .main), let changes = readChanges(),
      let head = AlarmIndexCache.head(file, main, changes),
      let hashes = try? file.bytes(at: main.titles.lowerBound, count: main.titles.count),
      AlarmIndexLayout.titlesChecksum(hashes) == main.titlesChecksum
    else {
      return read().map { file in file.rows(titled: title).compactMap { file.summary($0) } }
    }
    let rows = AlarmIndexTable.rows(titled: title, hashes: hashes[...])
    return head.changes.rows(titled: title).compactMap { changes.summary($0) }
      + rows.compactMap { AlarmIndexCache.summary($0, main, in: file) }
      .filter { $0.title == title && changes.index(of: $0.id) == nil }
  }

  /// Returns the summary of a row of the main file, or nil if it is damaged.
  private static func summary(
    _ index: Int, _ main: AlarmIndexHeader, in file: borrowing ReadableFile
  ) -> AlarmSummary? {
    typealias Row = AlarmIndexLayout.Row
    guard let row = try? file.bytes(at: main.start(index), count: Row.size), row.count == Row.size,
      let id = Identifier(row[Row.name..<(Row.name + Identifier.length)]),
      case let location = AlarmIndexLayout.SummaryLocation(
        number: CacheCoding.number(row, at: Row.summary)),
      let bytes = try? file.bytes(at: main.heap + location.offset, count: location.length)
    else { return nil }
    return bytes.withUnsafeBytes { raw in
      var reader = AlarmSummaryReader(raw: raw)
      return reader.summary(id)
    }
  }

  // MARK: The fingerprint

  /// Returns a text that changes with the inputs of the statuses other than the records of alarms: the settings, the
  /// calendars, the devices, and the rules of the time zones. The last line has the names of these zones.
  private func fingerprint(_ zones: Set<String>) -> String {
    var status = stat()
    let devices = stat(path + "/devices", &status) == 0 ? FileSignature(status) : nil
    let inputs = [
      context.zones.fingerprint(of: zones), store.settingsSignature ?? "-",
      store.calendars.signature, "\(devices?.inode ?? 0) \(devices?.modified ?? 0)",
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
    let zones = AlarmIndexCache.zones(in: fingerprint)
    return !zones.contains(AlarmIndexCache.tooManyZones) && fingerprint == self.fingerprint(zones)
  }

  /// Returns the fingerprint of an index with new rows.
  ///
  /// - Parameters:
  ///   - rows: The new rows.
  ///   - known: The present fingerprint, whose other rows stay; nil if there are none.
  func fingerprint(
    with rows: [Identifier: AlarmIndexFile.Change?], after known: String?
  ) -> String {
    var zones = store.deviceZones.names(of: store)
    zones.formUnion(known.map(AlarmIndexCache.zones) ?? [])
    for row in rows.values { if let row { zones.insert(row.summary.zone) } }
    zones.remove(Alarm.Zone.floating.text)
    let all = fingerprint(zones)
    return all.utf8.count < AlarmIndexLayout.Limit.fingerprintLength
      ? all : fingerprint([AlarmIndexCache.tooManyZones])
  }

  /// The text in the place of more names than a fingerprint can contain. Its statuses are never valid.
  private static let tooManyZones = "*"

  /// Returns the row and the summary of an alarm whose file matches its blob.
  func row(
    _ alarm: Alarm, blob: ObjectID, status file: stat, settings: Settings
  ) -> AlarmIndexFile.Change {
    // The ledger affects only statuses that are not cached, except through advance warnings.
    let ledger = alarm.delivery.warnings == nil ? DeliveryLedger() : store.ledger.read()
    let summary = AlarmSummary(
      alarm,
      status: store.timeline(alarm).status(at: context.now, settings: settings, ledger: ledger))
    return (
      AlarmIndexFile.Row(
        id: alarm.id, signature: FileSignature(file), blob: blob, validFrom: context.now,
        validUntil: hasNamedZones(alarm) ? summary.status.validUntil : context.now),
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

  /// Updates the alarm index with files that this process has just written and committed.
  ///
  /// - Complexity: Independent of the number of alarms, unless the main file is written again.
  func update(
    files: [String: [UInt8]?], blobs: [String: ObjectID?], written: [String: stat]
  ) {
    guard let head = readHead(), isCurrent(head.fingerprint),
      let settings = try? store.settings().settings
    else {
      // A missing index is rebuilt now, because a removed record is detected only with an index.
      try? AlarmIndex(store).save()
      return
    }
    let alarms = files.keys.compactMap { path -> (id: Identifier, path: String)? in
      guard case .alarm(let id) = RecordPath(path) else { return nil }
      return (id, path)
    }
    let rows = Chunks.map(alarms.count) { range in
      alarms[range].compactMap { id, path -> AlarmIndexFile.Change? in
        // The row of a file that was not written keeps the previous version, so the next read finds the difference.
        guard let content = files[path] ?? nil, let blob = blobs[path] ?? nil,
          let status = written[path],
          let alarm = try? AlarmRecord.decode(content, id: id, now: context.now)
        else { return nil }
        return row(alarm, blob: blob, status: status, settings: settings)
      }
    }
    replace(rows.reduce(into: [:]) { $0[$1.row.id] = .some($1) }, head)
  }

  /// Replaces rows of the alarm index, if it exists.
  func replace(_ rows: [Identifier: AlarmIndexFile.Change?]) {
    if !rows.isEmpty, let head = readHead() { replace(rows, head) }
  }

  private func replace(_ rows: [Identifier: AlarmIndexFile.Change?], _ head: AlarmIndexHead) {
    if rows.isEmpty { return }
    let fingerprint = fingerprint(replacing: rows, in: head)
    if fingerprint == head.fingerprint,
      let changes = head.changes(replacing: rows, folder: head.changes.header.folder)
    {
      return write(AlarmIndexFile.Output(main: nil, changes: changes), replacing: head)
    }
    guard let file = read() else { return }
    write(
      AlarmIndexFile.output(
        from: file, replacing: rows, folder: file.folder,
        fingerprint: self.fingerprint(replacing: rows, in: file.head)),
      replacing: file.head)
  }

  /// Returns the fingerprint of an index with some rows replaced. An outdated one stays, so that its other rows are not
  /// taken for current.
  private func fingerprint(
    replacing rows: [Identifier: AlarmIndexFile.Change?], in head: AlarmIndexHead
  ) -> String {
    isCurrent(head.fingerprint)
      ? fingerprint(with: rows, after: head.fingerprint) : head.fingerprint
  }

  /// Writes the alarm index.
  ///
  /// An error is ignored: the next reader finds the difference, or rebuilds the index.
  ///
  /// - Parameters:
  ///   - output: The files.
  ///   - old: The index from which the files were made; nil for none. If another process has replaced it, nothing is
  ///     written, because rows would be lost.
  func write(_ output: AlarmIndexFile.Output, replacing old: AlarmIndexHead?) {
    let prepared = local.temporaryIndex + "-changes"
    do {
      // A full disk must not leave a new main file without its changes.
      try DurableFile.write(
        output.changes, to: prepared, temporary: prepared + "~", syncing: false)
      if let old, readHead()?.isSame(as: old) != true { throw FileError("write", prepared) }
      if let main = output.main {
        try DurableFile.write(
          main, to: local.alarmIndex, temporary: local.temporaryIndex, syncing: false)
      }
      guard rename(prepared, local.alarmIndexChanges) == 0 else {
        throw FileError("write", local.alarmIndexChanges)
      }
    } catch {
      _ = unlink(prepared)
    }
  }

  /// Removes the alarm index. The next reader rebuilds it.
  func remove() {
    _ = unlink(local.alarmIndexChanges)
    _ = unlink(local.alarmIndex)
  }
}

extension Store {
  /// The alarm index of this store on disk.
  var alarmIndexCache: AlarmIndexCache { AlarmIndexCache(store: self) }
}
