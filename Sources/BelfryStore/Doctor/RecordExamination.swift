import BelfryCore
import Git
import Glibc

/// Looks at the records: each file, against HEAD, against the history, and the log against the alarms.
public struct RecordExamination: Sendable {
  private let store: Store

  public init(_ store: Store) {
    self.store = store
  }

  // MARK: Records

  public func records() async throws -> [Finding] {
    let view = try CardView(store)
    let cards = view.cards()
    var findings: [Finding] = view.problems.map { .record($0) }
    if let problem = try store.settings().problem { findings.append(.record(problem)) }
    var devices = 0
    for name in DurableFile.names(in: store.path + "/devices") {
      let path = "devices/\(name)"
      if let error = error(of: path) {
        findings.append(.record(RecordProblem(path: path, kind: .invalid(error, lastGood: false))))
      } else {
        devices += 1
      }
    }
    let changes = try await WorkTreeChanges(store)
    let known = Set(view.problems.map(\.path))
    let uncommitted = changes.uncommitted.filter { !known.contains($0) }
    if !uncommitted.isEmpty { findings.append(.uncommitted(uncommitted)) }
    if !changes.removed.isEmpty { findings.append(.removed(changes.removed)) }
    if !changes.strays.isEmpty { findings.append(.strays(changes.strays)) }
    let dropped = try await Dropped(store).files().keys.sorted()
    if !dropped.isEmpty { findings.append(.dropped(dropped)) }
    findings.append(
      .records(
        alarms: cards.count { !$0.isDeleted }, deleted: cards.count { $0.isDeleted },
        devices: devices))
    return findings
  }

  /// Why a file is not the record that its path says; nil when it is.
  private func error(of path: String) -> RecordError? {
    guard let kind = RecordPath(path) else { return RecordError("no record has this name") }
    do {
      guard let file = try DurableFile.read("\(store.path)/\(path)", limit: kind.largest) else {
        return nil
      }
      return kind.error(in: file.bytes)
    } catch {
      return RecordError("\(error)")
    }
  }

  // MARK: The log

  public func log() throws -> [Finding] {
    var findings: [Finding] = []
    var count = 0
    let alarms = try alarms()
    let devices = Set(
      DurableFile.names(in: store.path + "/devices").compactMap { Identifier($0.dropLast(5)) })
    var entries: [Identifier: [LogEntry]] = [:]
    let log = store.log { path, error in findings.append(.entry(path: path, error)) }
    var bad: [Finding] = []
    for entry in log {
      count += 1
      entries[entry.alarm, default: []].append(entry)
      if alarms[entry.alarm] == nil {
        bad.append(.entryOfUnknownAlarm(path: LogRecord.path(entry), entry.alarm))
      }
      if !devices.contains(entry.device) {
        bad.append(.entryOfUnknownDevice(path: LogRecord.path(entry), entry.device))
      }
    }
    findings += bad
    for (id, alarm) in alarms.sorted(by: { $0.key < $1.key }) where !alarm.isDeleted {
      for (civil, outcome) in LostAnswer.all(alarm, entries[id] ?? []) {
        findings.append(.answerLost(title: alarm.title, civil, logged: outcome))
      }
    }
    return findings + [.log(entries: count)]
  }

  private func alarms() throws -> [Identifier: Alarm] {
    try store.alarms(CardView(store).cards())
  }

  // MARK: Time

  /// How far ahead a clock may be that wrote something, in seconds.
  private static let ahead: Int64 = 86_400

  public func time() throws -> [Finding] {
    let now = store.context.now
    var findings: [Finding] = []
    if let latest = store.log().first(where: { _ in true }),
      latest.at > now.adding(seconds: RecordExamination.ahead)
    {
      findings.append(.clockBehind(latest.at, path: LogRecord.path(latest)))
    }
    for alarm in try alarms().values.sorted(by: { $0.title < $1.title }) {
      guard let stamp = alarm.latestStamp, stamp.time > now.adding(seconds: RecordExamination.ahead)
      else { continue }
      findings.append(.futureStamp(title: alarm.title, stamp))
    }
    findings.append(
      store.context.zones.works ? .zones(local: store.context.zones.local.name) : .noZoneData)
    if findings.count == 1 { findings.insert(.clock(now), at: 0) }
    return findings
  }
}

extension RecordPath {
  /// Why bytes are not a record of this kind; nil when they are.
  func error(in bytes: [UInt8]) -> RecordError? {
    do throws(RecordError) {
      switch self {
      case .alarm(let id): _ = try AlarmRecord.decode(bytes, id: id, now: Instant(seconds: 0))
      case .log: _ = try LogRecord.decode(bytes)
      case .device(let id):
        guard try DeviceRecord.decode(bytes).id == id else {
          throw RecordError("'id' is not the file's name")
        }
      case .settings: _ = try SettingsFile.decode(bytes)
      case .attributes:
        guard bytes == Store.attributes else { throw RecordError("it is not Belfry's own") }
      }
      return nil
    } catch {
      return error
    }
  }
}

/// What the log says was answered, and the alarm's record does not know.
enum LostAnswer {
  /// The occurrences above the floor whose record is of the same reopening and below what was logged.
  static func all(
    _ alarm: Alarm, _ entries: [LogEntry]
  ) -> [(CivilDateTime, Statistics.Outcome)] {
    let revisions = Dictionary(grouping: entries.filter { $0.occurrence != nil }) { $0.occurrence }
      .compactMapValues { $0.map(\.revision).max() }
    return Statistics(entries).outcomes.filter { civil, outcome in
      guard outcome == .done, alarm.progress.floor.map({ civil > $0 }) ?? true else { return false }
      let record = alarm.progress.occurrences[civil]
      return record?.revision ?? 0 <= revisions[civil] ?? 0 && record?.state != .done
        && (record?.state != .skipped)
    }.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
  }

  /// The alarm with what its log knows.
  static func mended(_ alarm: Alarm, _ entries: [LogEntry]) -> Alarm {
    var alarm = alarm
    for (civil, _) in all(alarm, entries) {
      let told = entries.filter { $0.occurrence == civil && $0.action == .done && !$0.auto }
      guard let latest = told.max(by: { ($0.revision, $0.at) < ($1.revision, $1.at) }) else {
        continue
      }
      let record = OccurrenceRecord(
        .done, revision: latest.revision, since: latest.effective ?? latest.at)
      alarm.progress.occurrences[civil] =
        alarm.progress.occurrences[civil].map { OccurrenceRecord.join($0, record) } ?? record
    }
    return alarm
  }
}

/// How the work tree differs from HEAD, as git sees it.
struct WorkTreeChanges {
  /// Records that are new or changed.
  var uncommitted: [String] = []
  /// Records other than alarms that are gone; of alarms the cards tell.
  var removed: [String] = []
  /// Files that are no records.
  var strays: [String] = []

  init(_ store: Store) async throws {
    let outcome = try await GitCommand.run(
      [
        "--no-optional-locks", "status", "--porcelain", "-z", "--untracked-files=all",
        "--no-renames", "--ignored=no",
      ], in: store.path)
    guard outcome.status == 0 else { return }
    for line in outcome.output.split(separator: "\0") where line.utf8.count > 3 {
      let path = String(line.dropFirst(3))
      var status = stat()
      let isThere = lstat("\(store.path)/\(path)", &status) == 0
      switch RecordPath(path) {
      case nil: if isThere { strays.append(path) }
      case .alarm? where !isThere: break
      case _?: if isThere { uncommitted.append(path) } else { removed.append(path) }
      }
    }
  }
}

/// Records that the history has and HEAD lacks: absence never means deletion.
struct Dropped {
  private let store: Store

  init(_ store: Store) {
    self.store = store
  }

  /// How many of the places at which the branch has stood are looked at.
  private static let places = 100

  /// The files as they last were, by path.
  func files() async throws -> [String: [UInt8]] {
    let repository = try store.repository()
    let branch = try repository.headBranch() ?? "HEAD"
    guard let head = try repository.commit(of: branch), repository.isWhole(head) else { return [:] }
    var files: [String: [UInt8]] = [:]
    // Where the branch has stood, and somebody has moved it away from.
    for place in repository.reflog(branch).prefix(Dropped.places) {
      guard let changes = try? Healing(repository).files(seen: place, head: head) else { continue }
      for (path, content) in changes where files[path] == nil { files[path] = content }
    }
    // What a commit in the history of HEAD has removed.
    let outcome = try await GitCommand.run(
      [
        "log", "--diff-filter=D", "--raw", "--no-abbrev", "--no-renames", "--format=", "-m",
        head.description, "--", "alarms", "log", "devices", SettingsFile.path,
      ], in: store.path)
    let tree = try repository.commit(head).tree
    for line in outcome.output.split(separator: "\n") {
      let parts = line.split(separator: "\t", maxSplits: 1).map(String.init)
      let words = parts[0].split(separator: " ")
      guard parts.count == 2, words.count == 5, let blob = ObjectID(hexadecimal: words[2]),
        files[parts[1]] == nil, let kind = RecordPath(parts[1]),
        try repository.blob(at: parts[1], in: tree) == nil,
        let bytes = try? repository.blob(blob, limit: kind.largest), kind.error(in: bytes) == nil
      else { continue }
      files[parts[1]] = bytes
    }
    return files
  }
}
