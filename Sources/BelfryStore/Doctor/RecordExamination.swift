import BelfryCore
import Files
import Glibc

/// An examination of the records: each file, its differences from HEAD and the history, the log, and the clock.
public struct RecordExamination: Sendable {
  private let store: Store

  /// Creates an examination of a store.
  public init(_ store: Store) {
    self.store = store
  }

  // MARK: Records

  /// Examines the records of alarms, settings and devices.
  public func records() async throws -> [Finding] {
    let view = try AlarmIndex(store)
    let summaries = view.summaries()
    var findings: [Finding] = view.problems.map { .record($0) }
    if let problem = try store.settings().problem { findings.append(.record(problem)) }
    findings += store.calendars.all().problems.map { .record($0) }
    let (devices, badDevices) = store.devices.all()
    findings += badDevices.map { .record($0) }
    let changes = try await WorkTreeChanges(store)
    let known = Set(view.problems.map(\.path))
    let uncommitted = changes.uncommitted.filter { !known.contains($0) }
    if !uncommitted.isEmpty { findings.append(.uncommitted(uncommitted)) }
    if !changes.removed.isEmpty { findings.append(.removed(changes.removed)) }
    if !changes.strays.isEmpty { findings.append(.strays(changes.strays)) }
    let dropped = try await DroppedRecords(store).files().keys.sorted()
    if !dropped.isEmpty { findings.append(.dropped(dropped)) }
    findings.append(
      .records(
        alarms: summaries.count { !$0.isDeleted }, deleted: summaries.count { $0.isDeleted },
        devices: devices.count))
    return findings
  }

  // MARK: The log

  /// Examines the log entries, and compares their outcomes with the alarms.
  public func log() throws -> [Finding] {
    var findings: [Finding] = []
    var count = 0
    let alarms = try alarms()
    let devices = Set(
      DurableFile.names(in: store.path + "/devices").compactMap { Identifier($0.dropLast(5)) })
    var entries: [Identifier: [LogEntry]] = [:]
    let log = store.history.log { path, error in findings.append(.entry(path: path, error)) }
    var bad: [Finding] = []
    var unknownDevices: Set<Identifier> = []
    for entry in log {
      count += 1
      entries[entry.alarm, default: []].append(entry)
      if alarms[entry.alarm] == nil {
        bad.append(.entryOfUnknownAlarm(path: LogRecord.path(entry), entry.alarm))
      }
      if !devices.contains(entry.device), unknownDevices.insert(entry.device).inserted {
        bad.append(.entryOfUnknownDevice(path: LogRecord.path(entry), entry.device))
      }
    }
    findings += bad
    for (id, alarm) in alarms.sorted(by: { $0.key < $1.key }) where !alarm.isDeleted {
      for (civil, outcome) in LostAnswer.all(
        alarm, entries[id] ?? [], at: store.context.now)
      {
        findings.append(.answerLost(title: alarm.title, civil, logged: outcome))
      }
    }
    return findings + [.log(entries: count)]
  }

  private func alarms() throws -> [Identifier: Alarm] {
    try store.alarms(AlarmIndex(store).summaries())
  }

  // MARK: Time

  /// Examines the clock, the times in the records, and the time zones.
  public func time() throws -> [Finding] {
    let now = store.context.now
    var findings: [Finding] = []
    if let latest = store.history.log().first(where: { _ in true }),
      latest.at > now.adding(seconds: Instant.tolerance)
    {
      let path = LogRecord.path(latest)
      findings.append(
        store.branch.timeAhead != nil
          ? .clockBehind(latest.at, path: path) : .writtenAhead(latest.at, path: path)
      )
    }
    for alarm in try alarms().values.sorted(by: { $0.title < $1.title }) {
      if alarm.enabled, !alarm.isDeleted, store.timeline(alarm).rearmed(alarm, at: now) != nil {
        findings.append(.settledAhead(title: alarm.title))
      }
      guard let stamp = alarm.latestStamp,
        stamp.time > now.adding(seconds: Instant.tolerance)
      else { continue }
      findings.append(.futureStamp(title: alarm.title, stamp))
    }
    findings.append(
      store.context.zones.works ? .zones(local: store.context.zones.local.name) : .noZoneData)
    if findings.count == 1 { findings.insert(.clock(now), at: 0) }
    return findings
  }
}
