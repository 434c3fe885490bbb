import BelfryCore
import Glibc

extension Store {
  /// A change of a store: alarms and log entries for one commit.
  public struct Change: Sendable {
    /// The new versions of the alarms.
    public var alarms: [Alarm]
    /// The new log entries.
    public var entries: [LogEntry]
    /// The message of the commit.
    public var message: CommitMessage

    /// Creates a change.
    public init(alarms: [Alarm], entries: [LogEntry], message: CommitMessage) {
      self.alarms = alarms
      self.entries = entries
      self.message = message
    }

    /// The files of the records, by their paths.
    var files: [String: [UInt8]?] {
      var files: [String: [UInt8]?] = [:]
      for alarm in alarms { files[AlarmRecord.path(alarm.id)] = AlarmRecord.encode(alarm) }
      for entry in entries { files[LogRecord.path(entry)] = LogRecord.encode(entry) }
      return files
    }

    /// Returns the change without the given alarms, whose files must not be written. Returns nil if nothing is left.
    func excluding(_ invalid: Set<Identifier>) -> Change? {
      if invalid.isEmpty { return self }
      var change = self
      change.alarms.removeAll { invalid.contains($0.id) }
      change.entries.removeAll { invalid.contains($0.alarm) }
      return change.alarms.isEmpty ? nil : change
    }
  }

  /// Commits a change that doesn't depend on any record.
  public func commit(_ change: Change) throws {
    try write(reconciling: .branch) { try $0.commit(change) }
  }

  /// Commits a log entry of an event, without a change of the alarm.
  public func commit(_ event: Event, of alarm: Alarm) throws {
    try commit(
      Change(
        alarms: [], entries: entries([event], of: alarm),
        message: CommitMessage(event, of: alarm, device: device)))
  }

  /// Commits new alarms.
  ///
  /// - Throws: `StoreError.alarmLimit` if the tier doesn't allow as many alarms.
  public func add(_ change: Change) throws {
    try write(reconciling: .branch) { writer in
      try requireRoom(for: change.alarms)
      try writer.commit(change)
    }
  }

  /// Changes an alarm. Reads it under the lock, including hand edits, and commits the change that `body` returns.
  ///
  /// - Parameters:
  ///   - id: The alarm.
  ///   - includingDeleted: True to change a deleted alarm, too.
  ///   - body: Receives the alarm, and returns the change, or nil for none.
  /// - Returns: The second value that `body` returns.
  /// - Throws: `StoreError.noSuchAlarm` if the alarm was deleted in the meantime, `.badRecord` if its file is not
  ///   valid, `.alarmLimit` if the tier doesn't allow another active alarm, and the errors of `body`.
  public func update<Result>(
    _ id: Identifier, includingDeleted: Bool = false, _ body: (Alarm) throws -> (Change?, Result)
  ) throws -> Result {
    try write(reconciling: .alarms([id])) { writer in
      // The content of an invalid file must not be overwritten, and an edit would restore a deleted alarm.
      guard let alarm = try writer.readAlarm(id).value(at: .alarm(id)),
        includingDeleted || !alarm.isDeleted
      else { throw StoreError.noSuchAlarm(id.text) }
      let (change, result) = try body(alarm)
      if let change {
        try requireRoom(for: change.alarms)
        try writer.commit(change)
      }
      return result
    }
  }

  /// Changes several alarms in one commit.
  ///
  /// - Parameters:
  ///   - ids: The alarms. Those that are not valid, missing or deleted are left out.
  ///   - body: Receives the alarms, and returns the change, or nil for none.
  /// - Returns: The second value that `body` returns.
  /// - Throws: `StoreError`, and the errors of `body`.
  public func update<Result>(
    _ ids: [Identifier], _ body: ([Alarm]) throws -> (Change?, Result)
  ) throws -> Result {
    try write(reconciling: .alarms(ids)) { writer in
      let alarms = try ids.compactMap { id -> Alarm? in
        // An invalid file contains the user's content, which must not be overwritten. An edit would restore a deleted
        // alarm.
        if case .good(let alarm, _) = try writer.readAlarm(id), !alarm.isDeleted {
          alarm
        } else {
          nil
        }
      }
      let (change, result) = try body(alarms)
      if let change {
        try requireRoom(for: change.alarms)
        try writer.commit(change)
      }
      return result
    }
  }

  /// The result of an evaluation of all alarms.
  public struct Evaluated: Sendable {
    /// The records that are not valid.
    public var problems: [RecordProblem]
    /// The time at which the status of an alarm that was not evaluated changes first; nil if none does.
    public var nextChange: Instant?
    /// The reason that the change was not committed; nil if it was. The alarms were evaluated nevertheless.
    public var failure: (any Error)?
  }

  /// Evaluates the alarms whose status may have changed, and commits the result.
  ///
  /// A read-only store prevents no alarm from firing: the alarms are then evaluated as they are in the work tree,
  /// nothing is committed, and the reason is returned.
  ///
  /// - Parameter body: Receives the alarms, and returns the change to commit, or nil for none. It is called a second
  ///   time if the change could not be committed.
  public func evaluate(_ body: ([Alarm]) throws -> Change?) throws -> Evaluated {
    let index = try AlarmIndex(self)
    if index.due.isEmpty, index.edited.isEmpty, editedKinds.isEmpty,
      branch.detachedHead == nil, !sync.hasIncoming,
      devices.isZoneRecorded, branch.movedHead == nil || adoptionFailure != nil, !local.hasJournal
    {
      index.save()
      checkpoint.runIfIdle()
      return Evaluated(problems: index.problems, nextChange: index.nextChange)
    }
    do {
      return try write(reconciling: .evaluation) { writer in
        // Another process may have written before the lock was acquired.
        let before = try writer.checkedAlarms ?? AlarmIndex(self)
        let alarms = try alarms(changingIn: before, writer)
        if let change = try body(alarms)?.excluding(before.invalid) {
          try writer.commit(change)
        }
        return Evaluated(problems: before.problems, nextChange: before.nextChange)
      }
    } catch {
      _ = try body(workTreeAlarms(index))
      return Evaluated(problems: index.problems, nextChange: index.nextChange, failure: error)
    }
  }

  /// Returns the alarms whose status may have changed, as the reconciliation left them.
  func alarms(changingIn index: AlarmIndex, _ writer: StoreWriter) throws -> [Alarm] {
    writer.read.merge(index.blobsOfDue) { read, _ in read }
    let pending = pendingVersions()
    return try index.changing.compactMap { try alarm($0, pending, in: writer.readAlarm($0)) }
  }

  /// Returns the alarms whose status may have changed, as they are in the work tree, for a caller that cannot wait
  /// until the store is writable.
  public func alarmsToEvaluate() throws -> [Alarm] { try workTreeAlarms(AlarmIndex(self)) }

  private func workTreeAlarms(_ index: AlarmIndex) throws -> [Alarm] {
    try branch.detachedHead == nil ? alarms(index) : branch.alarms() ?? alarms(index)
  }

  private func alarms(_ index: AlarmIndex) throws -> [Alarm] {
    let pending = pendingVersions()
    return try index.changing.compactMap { try alarm($0, pending) }
  }

  /// Returns log entries of this device for events in chronological order.
  ///
  /// - Parameters:
  ///   - events: The events, each with its alarm.
  ///   - moments: The time of each event; nil for the current time.
  public func entries(
    _ events: [(event: Event, alarm: Alarm)], at moments: [Instant]? = nil
  ) -> [LogEntry] {
    // Entries of the same time sort by their identifiers.
    let ids = events.map { _ in context.makeIdentifier() }.sorted()
    return zip(ids, events).enumerated().map { index, pair in
      LogEntry(
        pair.1.event, of: pair.1.alarm, id: pair.0, at: moments?[index] ?? context.now,
        device: device)
    }
  }

  /// Returns log entries of this device for the events of one alarm, in chronological order.
  ///
  /// - Parameter moment: The time of the entries; nil for the current time.
  public func entries(
    _ events: [Event], of alarm: Alarm, at moment: Instant? = nil
  ) -> [LogEntry] {
    entries(
      events.map { ($0, alarm) }, at: moment.map { Array(repeating: $0, count: events.count) })
  }

  /// Returns the change for a transition, or nil if the transition has no events. Its message describes the last event.
  public func change(_ transition: Transition) -> Change? { change(transition, at: nil) }

  /// Returns the change for a transition whose log entries have another time.
  ///
  /// - Parameter moment: The time; nil for the current time.
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
