import BelfryCore
import Git
import Glibc

extension Store {
  /// One change of a store: alarms and log entries that go into one commit.
  public struct Change: Sendable {
    public var alarms: [Alarm]
    public var entries: [LogEntry]
    public var message: CommitMessage

    public init(alarms: [Alarm], entries: [LogEntry], message: CommitMessage) {
      self.alarms = alarms
      self.entries = entries
      self.message = message
    }

    /// The files of its records, by their paths.
    var files: [String: [UInt8]?] {
      var files: [String: [UInt8]?] = [:]
      for alarm in alarms { files[AlarmRecord.path(alarm.id)] = AlarmRecord.encode(alarm) }
      for entry in entries { files[LogRecord.path(entry)] = LogRecord.encode(entry) }
      return files
    }

    /// The change without alarms whose files must not be written; nil when nothing is left.
    func leavingOut(_ broken: Set<Identifier>) -> Change? {
      if broken.isEmpty { return self }
      var change = self
      change.alarms.removeAll { broken.contains($0.id) }
      change.entries.removeAll { broken.contains($0.alarm) }
      return change.alarms.isEmpty ? nil : change
    }
  }

  /// Commits a change that rests on no record.
  public func commit(_ change: Change) throws {
    try locked { try StoreWriter(self).commit(change) }
  }

  /// Commits that something has happened to an alarm, which stays as it is.
  public func commit(_ event: Event, of alarm: Alarm) throws {
    try commit(
      Change(
        alarms: [], entries: entries([event], of: alarm),
        message: CommitMessage(event, of: alarm, device: device)))
  }

  /// Commits new alarms. Throws `StoreError.alarmLimit` when the tier does not allow so many.
  public func add(_ change: Change) throws {
    try locked {
      let writer = try StoreWriter(self)
      let tier = try settings().settings.tier
      if let limit = tier.alarmLimit {
        let count = try AlarmIndex(self).summaries().count { !$0.isDeleted }
        if count + change.alarms.count > limit {
          throw StoreError.alarmLimit(tier: tier, limit: limit)
        }
      }
      try writer.commit(change)
    }
  }

  /// Changes one alarm: reads it under the lock, hand edits included, and commits what `body` makes of it.
  ///
  /// Throws `StoreError.noSuchAlarm` for an alarm that was deleted since the caller has looked for it.
  ///
  /// - Parameter includingDeleted: changes a deleted alarm, too.
  /// - Returns: what `body` returns beside the change.
  public func update<Result>(
    _ id: Identifier, includingDeleted: Bool = false, _ body: (Alarm) throws -> (Change?, Result)
  ) throws -> Result {
    try locked {
      let writer = try StoreWriter(self)
      try HandEditImport(writer).absorb([id])
      switch try readAlarm(id) {
      case .good(let alarm, _):
        // An edit would bring it back.
        if alarm.isDeleted, !includingDeleted { throw StoreError.noSuchAlarm(id.text) }
        let (change, result) = try body(alarm)
        if let change { try writer.commit(change) }
        return result
      case .bad(let error):
        // What a person wrote there must not be lost under what we would write.
        throw StoreError.badRecord(path: AlarmRecord.path(id), error)
      case .missing: throw StoreError.noSuchAlarm(id.text)
      }
    }
  }

  /// Changes several alarms together: those of them that can be read and are not deleted.
  public func update<Result>(
    _ ids: [Identifier], _ body: ([Alarm]) throws -> (Change?, Result)
  ) throws -> Result {
    try locked {
      let writer = try StoreWriter(self)
      try HandEditImport(writer).absorb(ids)
      let alarms = try ids.compactMap { id -> Alarm? in
        // What a person wrote there must not be lost under what we would write, and an edit would bring a deleted one back.
        if case .good(let alarm, _) = try readAlarm(id), !alarm.isDeleted { alarm } else { nil }
      }
      let (change, result) = try body(alarms)
      if let change { try writer.commit(change) }
      return result
    }
  }

  /// What came of looking at all alarms against the clock.
  public struct Evaluated: Sendable {
    public var problems: [RecordProblem]
    /// When the first of the alarms that `body` was not called with changes; nil when none does.
    public var nextChange: Instant?
    /// Why nothing could be recorded: the alarms were evaluated all the same.
    public var failure: (any Error)?
  }

  /// What the clock does to all alarms: evaluates those whose status may have changed.
  ///
  /// A store that cannot be written to keeps no alarm from firing: the alarms are then taken as they
  /// lie, nothing is committed, and the reason is returned.
  ///
  /// - Parameter body: is called once with them, and says what is to be committed, together.
  public func evaluate(_ body: ([Alarm]) throws -> Change?) throws -> Evaluated {
    let view = try AlarmIndex(self)
    if view.due.isEmpty, view.unsettled.isEmpty, settingsAreSettled, past == nil, !hasIncoming,
      isZoneRecorded, movedHead == nil || adoptionFailure != nil, !local.hasJournal
    {
      view.save()
      return Evaluated(problems: view.problems, nextChange: view.nextChange)
    }
    do {
      return try locked {
        let writer = try StoreWriter(self)
        if hasIncoming { _ = try writer.takeIncoming() }
        // Somebody may have written while we waited.
        let before = try AlarmIndex(self)
        before.save()
        if !before.unsettled.isEmpty { try HandEditImport(writer).absorb(before.unsettled) }
        try SettingsHandEditImport(writer).absorb()
        try recordZone(writer)
        if let change = try body(alarms(before))?.leavingOut(before.broken) {
          try writer.commit(change)
        }
        return Evaluated(problems: before.problems, nextChange: before.nextChange)
      }
    } catch {
      _ = try body(lyingAlarms(view))
      return Evaluated(problems: view.problems, nextChange: view.nextChange, failure: error)
    }
  }

  /// Returns the alarms whose status may have changed, as they lie: for whoever cannot wait until the store can be
  /// written to.
  public func alarmsToEvaluate() throws -> [Alarm] { try lyingAlarms(AlarmIndex(self)) }

  private func lyingAlarms(_ view: AlarmIndex) throws -> [Alarm] {
    try past == nil ? alarms(view) : branchAlarms() ?? alarms(view)
  }

  /// All alarms as the branch has them, while the work tree shows the past; nil without such a branch.
  func branchAlarms() throws -> [Alarm]? {
    let repository = try repository()
    guard let head = try branchHead(repository) else { return nil }
    let blobs = try Store.alarms(repository, in: try repository.commit(head).tree)
    return blobs.compactMap { id, blob in
      // What is not valid there is known from a version before, if from any.
      guard let bytes = try? repository.blob(blob, limit: AlarmRecord.largest) else { return nil }
      return try? AlarmRecord.decode(bytes, id: id, now: context.now)
    }
  }

  /// The branch to read while a commit of the past is checked out: that of another name on which Belfry wrote last,
  /// when it is ahead.
  private func branchHead(_ repository: Repository) throws -> ObjectID? {
    let head = try repository.commit(of: "refs/heads/\(Repository.branch)")
    guard let seen = local.readSeen(), (try? repository.commit(seen)) != nil else { return head }
    guard let head else { return seen }
    return (try? repository.isAncestor(head, of: seen)) == true ? seen : head
  }

  private func alarms(_ view: AlarmIndex) throws -> [Alarm] {
    let pending = pendingVersions()
    return try Set(view.due + view.unsettled).sorted().compactMap { try alarm($0, pending) }
  }

  /// Log entries of this device, now, for events in the order in which they happened.
  ///
  /// - Parameter moments: when each of them happened; nil for now.
  public func entries(
    _ events: [(event: Event, alarm: Alarm)], at moments: [Instant]? = nil
  ) -> [LogEntry] {
    // Entries of one moment sort by their identifiers.
    let ids = events.map { _ in context.makeIdentifier() }.sorted()
    return zip(ids, events).enumerated().map { index, pair in
      LogEntry(
        pair.1.event, of: pair.1.alarm, id: pair.0, at: moments?[index] ?? context.now,
        device: device)
    }
  }

  public func entries(
    _ events: [Event], of alarm: Alarm, at moment: Instant? = nil
  ) -> [LogEntry] {
    entries(
      events.map { ($0, alarm) }, at: moment.map { Array(repeating: $0, count: events.count) })
  }

  /// The change that a transition makes: its last event names it.
  public func change(_ transition: Transition) -> Change? { change(transition, at: nil) }

  /// The same with its log entries at another moment than now.
  public func change(_ transition: Transition, at moment: Instant?) -> Change? {
    guard let last = transition.events.last else { return nil }
    var message = CommitMessage(last, of: transition.alarm, device: device)
    let same = transition.events.filter { $0.action == last.action && $0.auto == last.auto }
    if same.count > 1, let first = same.first?.occurrence {
      message.subject =
        "\(last.action.label): \(transition.alarm.title) (\(same.count) from \(first.date) \(first.time))"
    }
    return Change(
      alarms: [transition.alarm],
      entries: entries(transition.events, of: transition.alarm, at: moment),
      message: message)
  }
}

extension StoreWriter {
  func commit(_ change: Store.Change) throws {
    try commit(change.files, message: change.message)
  }
}

/// Takes hand edits up: what an editor, a script or another git wrote into the work tree.
struct HandEditImport {
  private let writer: StoreWriter
  private var store: Store { writer.store }

  init(_ writer: StoreWriter) {
    self.writer = writer
  }

  /// Validates records whose files may have changed, stamps the fields that did, and commits them as
  /// the user's edit.
  ///
  /// 1. A valid file: the fields that differ from the last version known, under the same stamp, are
  ///    stamped now; the result is joined with the versions known, so that a stale file takes nothing back.
  /// 2. A file that is not valid stays as it is; the last good version stays in use.
  /// 3. A file that is gone is put back: only `belfry delete` deletes.
  ///
  /// - Parameter isBranchUnknown: compares with the branch also those whose files are as the cards know them: it is not
  ///   known whether the branch has them.
  func absorb(_ ids: [Identifier], isBranchUnknown: Bool = false) throws {
    if ids.isEmpty { return }
    let summaries = store.readCards()
    let committed: [Identifier: ObjectID]
    if ids.count == 1, let id = ids.first, !isBranchUnknown {
      // The common case, an alarm that is as it was, is seen without looking into the history.
      if let summaries, let index = summaries.index(of: id), isUnchanged(summaries, index, id) {
        return
      }
      committed = try Store.committedAlarms(writer.repository, only: id)
    } else {
      committed = try Store.committedAlarms(writer.repository)
    }

    var files: [String: [UInt8]?] = [:]
    var clean: [Identifier: (row: AlarmIndexFile.Row, summary: AlarmSummary)?] = [:]
    var edits: [(alarm: Alarm, fields: [Alarm.Field], isNew: Bool)] = []
    let settings = try store.settings().settings
    for id in ids {
      let known = summaries.flatMap { summaries in
        summaries.index(of: id).flatMap { summaries.row($0)?.blob }
      }
      let head = committed[id]
      switch try store.readAlarm(id) {
      case .bad: continue
      case .missing:
        guard let good = try store.lastGood(id) else { continue }
        var alarm = good.alarm
        // The cards may know an earlier version than the branch has.
        if let head, head != good.blob, let theirs = try version(head, id) {
          alarm = Alarm.join(alarm, theirs)
        }
        files[AlarmRecord.path(id)] = AlarmRecord.encode(alarm)
      case .good(let written, let content):
        let base = try version(known, id) ?? version(head, id)
        let stamped = written.stamped(
          against: base, at: store.context.now, device: store.device)
        var result = base.map { Alarm.join(stamped, $0) } ?? stamped
        if let head, head != known, let theirs = try version(head, id) {
          result = Alarm.join(result, theirs)
        }
        let bytes = AlarmRecord.encode(result)
        if let head, bytes == content.bytes, Repository.blobID(bytes) == head {
          // Another git has committed it: all it needs is a card.
          clean[id] = store.row(
            result, blob: head, status: content.status, settings: settings)
        } else {
          files[AlarmRecord.path(id)] = bytes
        }
        if stamped != written {
          edits.append((result, base.map { result.changedFields(from: $0) } ?? [], base == nil))
        }
      }
    }
    store.keep(clean)
    guard !files.isEmpty else { return }
    var message = CommitMessage("Take up what another program wrote", device: store.device)
    for edit in edits {
      let event = Event(
        edit.isNew ? .created : .edited,
        detail: edit.fields.isEmpty ? nil : edit.fields.map(\.rawValue).joined(separator: ", "))
      for entry in store.entries([event], of: edit.alarm) {
        files[LogRecord.path(entry)] = LogRecord.encode(entry)
      }
      if edits.count == 1 {
        message = CommitMessage(event, of: edit.alarm, device: store.device)
        message.subject = "Edited by hand: \(edit.alarm.title)"
      }
    }
    if edits.count > 1 {
      message = CommitMessage(
        "Edited by hand: \(edits.count) alarms",
        trailers: [("Action", LogEntry.Action.edited.rawValue)], device: store.device)
    }
    try commitChanged(files, committed: committed, message: message)
  }

  /// Commits what differs from HEAD; the rest is only written, as its card is.
  private func commitChanged(
    _ files: [String: [UInt8]?], committed: [Identifier: ObjectID], message: CommitMessage
  ) throws {
    let differs = files.contains { path, content in
      guard case .alarm(let id) = RecordPath(path), let content else { return true }
      return Repository.blobID(content) != committed[id]
    }
    if differs {
      try writer.commit(files, message: message)
    } else if let head = try writer.head() {
      try writer.write(files) { _ in head }
    }
  }

  private func isUnchanged(_ summaries: AlarmIndexFile, _ index: Int, _ id: Identifier) -> Bool {
    var status = stat()
    return lstat("\(store.path)/\(AlarmRecord.path(id))", &status) == 0
      && FileSignature(status) == summaries.signature(index)
  }

  private func version(_ blob: ObjectID?, _ id: Identifier) throws -> Alarm? {
    guard let blob, let bytes = try? writer.repository.blob(blob, limit: AlarmRecord.largest) else {
      return nil
    }
    // A version that was never good is no version.
    return try? AlarmRecord.decode(bytes, id: id, now: store.context.now)
  }
}
