import BelfryActions
import BelfryCore
import BelfryStore
import Files
import Glibc

/// One pass of a run, with what it knows.
struct PhoneRun {
  let sync: PhoneSync
  let options: PhoneOptions
  let folder: TaskFolder
  let decision: PhoneSync.Decision
  var report = PhoneReport()

  var state: PhoneState
  /// The state in the file.
  private var saved: PhoneState
  /// The files in the folder.
  var files: [String: FileSignature] = [:]
  /// The files that were read in this pass, because they are new or have changed.
  var read: [String: ReadFile] = [:]
  /// The files with answers that an interrupted run has recorded.
  var consumed: Set<String> = []
  /// The deleted files of such answers.
  private var consumedDeletions: Set<OccurrenceID> = []
  /// The alarms of the store, including deleted ones.
  var alarms: [Identifier: Alarm] = [:]
  /// The open tasks that the folder should have.
  var tasks: [OccurrenceID: PhoneTask] = [:]
  var projection: Projection
  /// The files of occurrences.
  var names: [OccurrenceID: String] = [:]
  /// True if an interrupted run has left temporary files.
  private(set) var hasTemporaries = false
  /// True if the phone has changed a file meanwhile.
  var needsAnotherPass = false

  var store: Store { sync.store }
  var now: Instant { store.context.now }

  /// A file that was read.
  struct ReadFile {
    var document: TaskDocument
    var reading: TaskReading
    var signature: FileSignature
  }

  /// The number of deletions at a time that count as skips. A wiped phone must not skip a month.
  static let maxDeletions = 3
  /// The time within which deletions count as made at once, in seconds.
  static let deletionWindow: Int64 = 600
  /// The time after which held deletions end and the tasks are written again, in seconds.
  static let holdTime: Int64 = 3600
  /// The time before the due time at which a held task is written again, in seconds.
  static let holdMargin: Int64 = 900
  /// The time for which a closed task stays in the folder, in seconds.
  static let closedTime: Int64 = 7 * 86_400
  /// The time by which the last answer may be ahead of the clock, in milliseconds. A wrong clock may have been more ahead.
  static let maxLead: Int64 = 86_400_000
  /// The time after which a file that cannot be read counts as damaged, in seconds. A program may be writing it.
  static let writingTime: Int64 = 60

  init(
    _ sync: PhoneSync, _ options: PhoneOptions, _ folder: TaskFolder, decision: PhoneSync.Decision
  ) {
    self.sync = sync
    self.options = options
    self.folder = folder
    self.decision = decision
    state = PhoneState.file(of: sync.store).read()
    saved = state
    projection = Projection(sync.store, options, settings: sync.settings)
  }

  /// Performs the pass. Returns true if another one is needed.
  mutating func perform() async throws -> Bool {
    recover()
    try readFolder()
    try sync.didReach(.read)
    try project()
    assignNames()
    if try recordAnswers() {
      projection = Projection(store, options, settings: sync.settings)
      try project()
      assignNames()
    }
    try await write()
    report.held = state.held.map(\.id)
    report.tasks = tasks.count - report.held.count { tasks[$0] != nil }
    report.problems += state.problems
    return needsAnotherPass
  }

  /// Saves the state if it has changed.
  mutating func save() throws {
    if saved == state { return }
    try PhoneState.file(of: store).replace(with: state)
    saved = state
  }

  // MARK: Recovery

  /// Completes what an interrupted run has left.
  private mutating func recover() {
    for (name, entry) in state.entries where entry.signature == nil && entry.isNew {
      if folder.isPrepared(name) {
        state.entries[name] = nil
      } else {
        state.entries[name]?.isNew = false
      }
    }
    let recorded = Set(state.intents.filter(isRecorded))
    for intent in recorded
    where state.intents.allSatisfy({ $0.name != intent.name || recorded.contains($0) }) {
      if intent.signature == nil {
        consumedDeletions.insert(intent.id)
        state.entries[intent.name] = nil
      } else {
        consumed.insert(intent.name)
      }
    }
    // A deletion whose skip was not recorded is decided about again.
    for intent in state.intents where intent.signature == nil && !recorded.contains(intent) {
      for index in state.deletions.indices where state.deletions[index].id == intent.id {
        state.deletions[index].state = .noticed
      }
    }
  }

  /// Returns true if the log has an answer.
  private func isRecorded(_ intent: PhoneState.Intent) -> Bool {
    let day = TimeZoneRules.utc.civil(at: intent.at).date
    return store.history.log(of: intent.id.alarm, since: day).contains {
      $0.via == PhoneSync.place && $0.at == intent.at
    }
  }

  // MARK: Reading

  private mutating func readFolder() throws {
    let lock = try folder.lock()
    defer { withExtendedLifetime(lock) {} }
    let listing = try folder.list { state.entries[$0] != nil }
    files = listing.files
    hasTemporaries = listing.hasTemporaries
    if listing.ignored > 0 {
      report.problems.append(
        .init(name: nil, reason: "\(listing.ignored) names are no regular .ics files"))
    }
    if listing.isTooLarge {
      report.problems.append(
        .init(name: nil, reason: "only \(TaskFolder.maxForeignFiles) files are looked at"))
    }
    for (name, signature) in files {
      if let known = state.entries[name]?.signature, signature.hasContent(of: known) { continue }
      if state.entries[name]?.problem == PhoneState.earlier { continue }
      try read(name)
    }
    // The phone may have changed a file again since its answer was recorded.
    for intent in state.intents where consumed.contains(intent.name) {
      let isSame = intent.signature.map { read[intent.name]?.signature.hasContent(of: $0) == true }
      if isSame != true { consumed.remove(intent.name) }
    }
  }

  /// Reads a file, or notes why it cannot be used.
  mutating func read(_ name: String) throws {
    func ignore(_ reason: String, _ signature: FileSignature?) {
      var entry = state.entries[name] ?? PhoneState.Entry()
      entry.signature = signature
      entry.problem = reason
      state.entries[name] = entry
    }
    let file: (bytes: [UInt8], signature: FileSignature)?
    do {
      file = try folder.read(name)
    } catch {
      return ignore(
        error.number == EFBIG
          ? "larger than \(TaskFolder.maxSize >> 20) MB"
          : "cannot be read (\(String(cString: strerror(error.number))))",
        files[name])
    }
    guard let file else {
      files[name] = nil
      return
    }
    files[name] = file.signature
    do throws(TaskDocument.ReadError) {
      let document = try TaskDocument(file.bytes)
      guard let reading = TaskReading(document, zones: store.context.zones) else { throw .noTask }
      state.entries[name]?.problem = ""
      read[name] = ReadFile(document: document, reading: reading, signature: file.signature)
    } catch {
      // A program that writes in place may not be finished.
      let age = now.milliseconds - file.signature.modified / 1_000_000
      if error == .notACalendar, abs(age) < PhoneRun.writingTime * 1000 {
        unfinished.insert(name)
        return
      }
      ignore(
        error == .noTask ? "it has no task" : "it is no complete iCalendar file", file.signature)
    }
  }

  /// The files that another program may be writing.
  private(set) var unfinished: Set<String> = []

  // MARK: The store

  /// Reads the alarms and the tasks that the folder should have.
  private mutating func project() throws {
    alarms = Dictionary(uniqueKeysWithValues: try store.allAlarms().alarms.map { ($0.id, $0) })
    tasks = [:]
    for alarm in alarms.values {
      for task in projection.tasks(of: alarm) { tasks[task.id] = task }
    }
  }

  /// Finds the file of each occurrence. Of several, the one with Belfry's name counts.
  private mutating func assignNames() {
    names = [:]
    var candidates: [(OccurrenceID, String)] = []
    for (name, file) in read { if let id = file.reading.id { candidates.append((id, name)) } }
    for (name, entry) in state.entries where read[name] == nil && files[name] != nil {
      if let id = entry.id { candidates.append((id, name)) }
    }
    for (id, name) in candidates.sorted(by: { $0.1 < $1.1 }) {
      if names[id] == nil || name == TaskProperty.fileName(id) { names[id] = name }
    }
    for (id, name) in captured() where names[id] == nil { names[id] = name }
    for (id, name) in candidates where names[id] != name {
      state.entries[name] = PhoneState.Entry(
        signature: files[name], id: nil, problem: "another file has the same task")
    }
  }

  /// Returns the files of new tasks, each with the first occurrence of the alarm that was made of it.
  private func captured() -> [(OccurrenceID, String)] {
    read.compactMap { name, file in
      guard file.reading.id == nil, !file.reading.uid.isEmpty else { return nil }
      let id = PhoneCapture.identifier(file.reading)
      guard alarms[id] != nil else { return nil }
      return tasks.values.filter { $0.id.alarm == id }.min { $0.due < $1.due }.map { ($0.id, name) }
    }
  }

  // MARK: Deletions

  /// Returns the occurrences whose tasks the phone has deleted since the last run.
  ///
  /// Of several devices that publish, each removes files whose occurrences are withdrawn, before the others know. So none of
  /// them takes a missing file for a deletion by the phone.
  func newDeletions() -> [OccurrenceID] {
    if store.devices.sharesPhoneCollection { return [] }
    return state.entries.compactMap { name, entry -> OccurrenceID? in
      guard files[name] == nil, entry.closed == nil, entry.problem.isEmpty, let id = entry.id,
        tasks[id] != nil, names[id] == nil, !consumedDeletions.contains(id)
      else { return nil }
      return id
    }.sorted()
  }

  /// Returns the time at which a held deletion ends.
  func holdEnd(of deletion: PhoneState.Deletion) -> Instant {
    let end = min(deletion.noticed, now).adding(seconds: PhoneRun.holdTime)
    guard let due = tasks[deletion.id]?.due else { return end }
    return min(end, due.adding(seconds: -PhoneRun.holdMargin))
  }
}
