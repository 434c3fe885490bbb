import BelfryCore
import BelfryScheduler
import BelfryStore
import Files
import Git

/// The acknowledged writes of a simulation, which must still exist at the end.
struct Ledger {
  private var alarms: Set<Identifier> = []
  private var entries: Set<Identifier> = []
  private var edits: [Key: (stamp: Stamp, text: String)] = [:]
  private var tagEdits: [TagKey: (stamp: Stamp, isPresent: Bool)] = [:]
  /// The occurrences that a user has confirmed, with their revision at that time.
  private var done: [OccurrenceID: Int] = [:]
  private var skipped: Set<OccurrenceID> = []
  private var pauses: [Identifier: [Pause]] = [:]

  private struct Key: Hashable {
    let alarm: Identifier
    let field: Alarm.Field
  }

  private struct TagKey: Hashable {
    let alarm: Identifier
    let tag: AlarmTag
  }

  mutating func acknowledge(_ change: Store.Change) {
    alarms.formUnion(change.alarms.map(\.id))
    entries.formUnion(change.entries.map(\.id))
  }

  /// Records an edited field: the latest stamp must win.
  mutating func edited(_ alarm: Alarm, _ field: Alarm.Field) {
    guard let stamp = alarm.mergeState.stamps[field] else { return }
    // Each tag is an edit of its own.
    if field == .tags {
      for (tag, stamp) in alarm.mergeState.tagStamps {
        let key = TagKey(alarm: alarm.id, tag: tag)
        if let known = tagEdits[key], known.stamp > stamp { continue }
        tagEdits[key] = (stamp, alarm.tags.contains(tag))
      }
      return
    }
    let key = Key(alarm: alarm.id, field: field)
    if let known = edits[key], known.stamp > stamp { return }
    edits[key] = (stamp, alarm.text(of: field))
  }

  /// Records a pause, in which due occurrences may be skipped without another action.
  mutating func paused(_ alarm: Alarm) {
    if let pause = alarm.pause { pauses[alarm.id, default: []].append(pause) }
  }

  mutating func undone(_ alarm: Alarm) {
    paused(alarm)
    for field in Alarm.Field.allCases { edited(alarm, field) }
  }

  /// Expects that a done on one occurrence changes no later one.
  mutating func answered(_ answer: Answer, before: Alarm, _ transition: Transition) throws {
    for event in transition.events where !event.auto {
      guard let civil = event.occurrence else { continue }
      let key = OccurrenceID(alarm: before.id, occurrence: civil)
      if event.action == .skipped { skipped.insert(key) }
      guard event.action == .done else { continue }
      done[key] = max(done[key] ?? 0, event.revision)
      for (later, record) in transition.alarm.progress.occurrences
      where later > civil
        && before.progress.occurrences[later]?.answers.keys != record.answers.keys
        && !transition.events.contains(where: { $0.occurrence == later })
      {
        throw Violation("done on \(civil) changed \(later)")
      }
    }
  }

  // MARK: At the end

  func check(against end: Examination) throws {
    for id in alarms where end.alarms[id] == nil { throw Violation("alarm \(id.short) is lost") }
    let known = Set(end.log.map(\.id))
    for id in entries where !known.contains(id) { throw Violation("entry \(id.short) is lost") }
    for (key, edit) in edits {
      guard let alarm = end.alarms[key.alarm], let stamp = alarm.mergeState.stamps[key.field] else {
        throw Violation("\(key.field) of \(key.alarm.short) has lost its stamp")
      }
      if stamp < edit.stamp || (stamp == edit.stamp && alarm.text(of: key.field) != edit.text) {
        throw Violation(
          "the edit of \(key.field) of \(key.alarm.short) to \(edit.text) was lost: it is \(alarm.text(of: key.field))"
        )
      }
    }
    for (key, edit) in tagEdits {
      guard let alarm = end.alarms[key.alarm], let stamp = alarm.mergeState.tagStamps[key.tag],
        stamp > edit.stamp
          || (stamp == edit.stamp && alarm.tags.contains(key.tag) == edit.isPresent)
      else { throw Violation("the edit of the tag \(key.tag) of \(key.alarm.short) was lost") }
    }
  }

  /// Expects that every confirmed occurrence is done unless it was reopened, and that no occurrence is skipped without a
  /// user's action.
  func checkAnswers(against end: Examination) throws {
    for (key, revision) in done {
      guard let alarm = end.alarms[key.alarm] else { continue }
      if let floor = alarm.progress.floor, key.occurrence <= floor { continue }
      let record = alarm.progress.occurrences[key.occurrence]
      if record?.revision ?? 0 > revision { continue }
      guard record?.answer == .done else {
        throw Violation(
          "\(alarm.title) of \(key.occurrence) was done, and is \(record.map { "\($0)" } ?? "open")"
        )
      }
    }
    for (id, alarm) in end.alarms {
      for (civil, record) in alarm.progress.occurrences where record.state == .skipped {
        let time = alarm.progress.moves[civil]?.time ?? civil
        let isPaused = pauses[id]?.contains { $0.covers(civil) || $0.covers(time) } ?? false
        guard isPaused || skipped.contains(OccurrenceID(alarm: id, occurrence: civil)) else {
          throw Violation("\(alarm.title) of \(civil) is skipped, and nobody skipped it")
        }
      }
    }
  }

  /// Expects at most three follow-ups after a stop on each device, each of them once.
  func check(followUps heard: [Person.Heard], crashed: Set<Int>) throws {
    var asked: Set<Person.Heard> = []
    for item in heard {
      guard case .followUp(_, let followUp) = item.notification else { continue }
      if followUp.number > 3 { throw Violation("a follow-up has the number \(followUp.number)") }
      // A device that died during a follow-up may repeat it.
      if !asked.insert(item).inserted, !crashed.contains(item.device) {
        throw Violation("device\(item.device) asked twice: \(item.notification)")
      }
    }
  }
}

/// The state of a device at the end.
struct Examination {
  let tree: ObjectID
  let alarms: [Identifier: Alarm]
  let log: [LogEntry]
  private let path: String
  private let repository: Repository

  init(_ device: SimulatedDevice, at time: Instant) throws {
    let store = try device.store(at: time)
    path = device.path
    repository = try Repository.open(device.path)
    guard let head = try repository.commit(of: "refs/heads/main") else {
      throw Violation("there is no branch")
    }
    tree = try repository.commit(head).tree
    let all = try store.allAlarms()
    if let problem = all.problems.first { throw Violation("\(problem)") }
    alarms = Dictionary(uniqueKeysWithValues: all.alarms.map { ($0.id, $0) })
    log = Array(store.history.log())
  }

  static func head(_ device: SimulatedDevice) throws -> String {
    let repository = try Repository.open(device.path)
    guard let head = try repository.commit(of: "refs/heads/main") else { return "" }
    return try repository.commit(head).tree.description
  }

  /// Expects that the work tree equals the commit, byte for byte, with no file missing.
  func expectWhole() throws {
    let files = try repository.changedFiles(from: nil, to: tree)
    for file in files {
      let lying = try DurableFile.read("\(path)/\(file.path)").map { Repository.blobID($0.bytes) }
      guard lying == file.after else {
        throw Violation("\(path): \(file.path) is not as it is committed")
      }
    }
  }
}
