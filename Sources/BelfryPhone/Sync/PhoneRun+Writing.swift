import BelfryCore
import BelfryStore
import Files

/// The writing of what differs.
extension PhoneRun {
  /// A file that has to be written.
  private struct Change {
    var name: String
    var bytes: [UInt8]
    /// The content that is replaced; nil for a new file.
    var expected: FileSignature?
    var entry: PhoneState.Entry
  }

  /// Writes and removes the files that differ from the tasks, and saves the state.
  mutating func write() async throws {
    let lock = try folder.lock()
    var changes: [Change] = []
    let deleted = Set(state.deletions.filter { $0.state != .applied }.map(\.id))
    for task in tasks.values.sorted(by: { $0.id < $1.id }) where !deleted.contains(task.id) {
      if let change = try change(to: task, in: names[task.id]) { changes.append(change) }
    }
    var removals: [String] = []
    for (id, name) in names.sorted(by: { $0.key < $1.key }) where tasks[id] == nil {
      try close(id, name, &changes, &removals)
    }
    for (name, file) in read where file.reading.id == nil && state.entries[name] == nil {
      let isNew = names.values.contains(name)
      if isNew { continue }
      state.entries[name] = PhoneState.Entry(
        signature: file.signature,
        problem: file.reading.status == .open && !file.reading.isTest
          ? "it is not published by Belfry" : "")
    }
    // The files that the phone has deleted.
    state.entries = state.entries.filter { files[$0.key] != nil }
    if folder.server == .xandikos, !changes.isEmpty || !removals.isEmpty {
      state.uncommitted.formUnion(changes.map(\.name) + removals)
    }
    if hasTemporaries { folder.removeTemporaries() }
    try place(changes)
    for name in removals {
      guard let expected = files[name] else { continue }
      if try folder.remove(name, expecting: expected) {
        report.removed += 1
      } else {
        needsAnotherPass = true
      }
      try sync.didReach(.removed)
    }
    withExtendedLifetime(lock) {}
    state.intents = []
    try save()
    try sync.didReach(.saved)
    guard !state.uncommitted.isEmpty else { return }
    try await folder.commit(state.uncommitted)
    state.uncommitted = []
    try save()
  }

  /// Returns the change that gives a task its file; nil if the file is as it should be.
  private mutating func change(to task: PhoneTask, in name: String?) throws -> Change? {
    let revision = task.revision.text
    guard let name else {
      let name = TaskProperty.fileName(task.id)
      return Change(
        name: name, bytes: TaskWriting.document(task).bytes, expected: files[name],
        entry: PhoneState.Entry(id: task.id, revision: revision))
    }
    var entry = state.entries[name] ?? PhoneState.Entry()
    if unfinished.contains(name) { return nil }
    if read[name] == nil, entry.revision == revision, entry.closed == nil { return nil }
    let isLate = read[name] == nil
    let known = state.entries[name]?.signature
    if isLate { try read(name) }
    entry = PhoneState.Entry(
      signature: files[name], id: task.id, revision: revision, closed: nil, problem: "")
    guard let file = read[name] else {
      // It was damaged, or its end is missing.
      return files[name] == nil || unfinished.contains(name)
        ? nil
        : Change(
          name: name, bytes: TaskWriting.document(task).bytes, expected: files[name], entry: entry)
    }
    if isLate, let known, !known.hasContent(of: file.signature) {
      // The phone has changed it since the folder was listed.
      needsAnotherPass = true
      return nil
    }
    if !isLate, isFromOtherPublisher(file) {
      entry.revision = file.reading.revision?.text ?? ""
      state.entries[name] = entry
      return nil
    }
    var document = file.document
    TaskWriting.update(&document, file.reading, to: task, at: now)
    if document == file.document {
      state.entries[name] = entry
      return nil
    }
    return Change(name: name, bytes: document.bytes, expected: file.signature, entry: entry)
  }

  /// Returns true for a file that another device has published since the last run.
  ///
  /// It stays until the next run for another reason. Two devices that know different things would otherwise answer each
  /// other's files without end.
  private func isFromOtherPublisher(_ file: ReadFile) -> Bool {
    guard let id = file.reading.id, let name = names[id], let written = file.reading.revision,
      let known = state.entries[name], known.signature != nil
    else { return false }
    return known.revision != written.text && file.reading.isUntouched
  }

  /// Closes the file of an occurrence that needs no answer any more: it is completed, and removed later.
  private mutating func close(
    _ id: OccurrenceID, _ name: String, _ changes: inout [Change], _ removals: inout [String]
  ) throws {
    // The tasks of another store in the same folder are not Belfry's here.
    guard let alarm = alarms[id.alarm], !unfinished.contains(name) else {
      if alarms[id.alarm] == nil {
        state.entries[name] = PhoneState.Entry(
          signature: files[name], problem: "it belongs to another store")
      }
      return
    }
    let known = state.entries[name]
    if let closed = known?.closed, read[name] == nil {
      if now.seconds(since: closed) > PhoneRun.closedTime { remove(name, &removals) }
      return
    }
    if let task = projection.settledTask(id, of: alarm), case .done(let time) = task.status {
      if now.seconds(since: time) > PhoneRun.closedTime { return remove(name, &removals) }
      guard var change = try change(to: task, in: name) else {
        // One that another device has published is still open: the next run closes it.
        if read[name]?.reading.status != .open { state.entries[name]?.closed = time }
        return
      }
      change.entry.closed = time
      changes.append(change)
      return
    }
    // A task that the phone has closed itself stays for a while, so that its app can show it.
    if let file = read[name], file.reading.status != .open, !alarm.isDeleted {
      state.entries[name] = PhoneState.Entry(
        signature: file.signature, id: id, revision: file.reading.revision?.text ?? "",
        closed: file.reading.modified.map { min($0, now) } ?? now)
      return
    }
    remove(name, &removals)
  }

  private mutating func remove(_ name: String, _ removals: inout [String]) {
    removals.append(name)
    // Before it is removed: a missing file without an entry is not a deletion by the phone.
    state.entries[name] = nil
  }

  private mutating func place(_ changes: [Change]) throws {
    if changes.isEmpty {
      try save()
      return
    }
    for change in changes {
      try folder.prepare(change.name, change.bytes)
      try sync.didReach(.prepared)
    }
    for change in changes {
      var entry = change.entry
      entry.signature = nil
      entry.isNew = change.expected == nil
      state.entries[change.name] = entry
    }
    try save()
    try sync.didReach(.planned)
    for change in changes {
      var entry = change.entry
      switch try folder.place(change.name, expecting: change.expected) {
      case .placed(let signature):
        entry.signature = signature
        report.written += 1
      case .changed:
        // It is read again, and its answer is recorded then.
        entry.signature = nil
        needsAnotherPass = true
      }
      state.entries[change.name] = entry
      try sync.didReach(.placed)
    }
  }
}
