import BelfryCore
import Files
import Foundation
import Git
import TestSupport
import Testing

@testable import BelfryStore

/// The completion and the rollback of interrupted writes.
@Suite struct JournalRecoveryTests {
  @Test("An interrupted write is committed with its own message")
  func completion() async throws {
    let fixture = try await StoreFixture("Tea")
    let tea = try fixture.alarm("Tea")
    let message = CommitMessage("Rename Tea", device: fixture.store.device).text
    try fixture.leaveJournal(
      [AlarmRecord.path(tea.id): fixture.renamed(tea, "Coffee")], message: message)
    let head = try fixture.head()
    try fixture.writer().reconcile(JournalRecovery())
    #expect(try await fixture.subjects(since: head) == ["Rename Tea"])
    #expect(try fixture.sandbox.read(fixture.file(tea)).contains("Coffee"))
    #expect(!fixture.store.local.hasJournal)
    #expect(try await fixture.status().isEmpty)
  }

  @Test("A write that reached the branch is not committed again")
  func alreadyCommitted() async throws {
    let fixture = try await StoreFixture("Tea")
    let head = try fixture.head()
    let log = fixture.store.local.log
    // The process ended before it marked the write as applied.
    let write = try #require(try log.entries().applied.last)
    _ = try log.append(write, session: fixture.store.local.session)
    try fixture.writer().reconcile(JournalRecovery())
    #expect(try fixture.head() == head)
    #expect(!fixture.store.local.hasJournal)
  }

  @Test("A write is joined with a branch that has moved since it began")
  func movedBranch() async throws {
    let fixture = try await StoreFixture("Tea")
    let tea = try fixture.alarm("Tea")
    let start = try fixture.head()
    var noted = tea
    noted.note = "green"
    noted = noted.stamped(
      against: tea, at: fixture.store.context.now.adding(seconds: 30), device: fixture.store.device)
    try fixture.store.commit(
      Store.Change(
        alarms: [noted], entries: [], message: CommitMessage("Note", device: fixture.store.device)))
    try fixture.leaveJournal(
      [AlarmRecord.path(tea.id): fixture.renamed(tea, "Coffee")], head: start)
    try fixture.writer().reconcile(JournalRecovery())
    let joined = try fixture.alarm("Coffee")
    #expect(joined.note == "green")
    #expect(try await fixture.git("log", "-1", "--format=%B").out.contains("Recovered: true"))
    #expect(try await fixture.status().isEmpty)
  }

  @Test("A hand edit after the interruption stays in the work tree")
  func editedSince() async throws {
    let fixture = try await StoreFixture("Tea")
    let tea = try fixture.alarm("Tea")
    try fixture.leaveJournal([AlarmRecord.path(tea.id): fixture.renamed(tea, "Coffee")])
    try fixture.edit(fixture.file(tea), "\"Tea\"", "\"Mine\"")
    try fixture.writer().reconcile(JournalRecovery())
    #expect(try fixture.sandbox.read(fixture.file(tea)).contains("Mine"))
    #expect(
      try await fixture.git("show", "main:\(AlarmRecord.path(tea.id))").out.contains("Coffee"))
  }

  @Test("The journal stays if the completion fails")
  func failedCompletion() async throws {
    let fixture = try await StoreFixture("Tea")
    let tea = try fixture.alarm("Tea")
    try fixture.leaveJournal([AlarmRecord.path(tea.id): fixture.renamed(tea, "Coffee")])
    // A folder in the place of the lock is not removed as a stale lock.
    let lock = fixture.store.path + "/.git/refs/heads/main.lock"
    try DurableFile.makeFolder(lock)
    #expect(throws: (any Error).self) { try fixture.store.write(reconciling: .branch) { _ in } }
    #expect(fixture.store.local.hasJournal)
    #expect(rmdir(lock) == 0)
    try fixture.store.write(reconciling: .branch) { _ in }
    #expect(try fixture.alarm("Coffee").id == tea.id)
  }
}

/// The update of the work tree after another program has moved the branch.
@Suite struct WorkTreeUpdateTests {
  /// A store whose branch contains a commit of another device that the work tree lacks: Tea is Coffee, and Milk is new.
  private func pushed() async throws -> (StoreFixture, tea: Alarm, start: ObjectID) {
    let fixture = try await StoreFixture("Tea")
    let tea = try fixture.alarm("Tea")
    let start = try fixture.head()
    let other = try await fixture.clone()
    try other.update(tea.id) { alarm in
      var after = alarm
      after.title = "Coffee"
      let stamped = after.stamped(against: alarm, at: other.context.now, device: other.device)
      return (
        Store.Change(
          alarms: [stamped], entries: [], message: CommitMessage("Rename", device: other.device)),
        ()
      )
    }
    try other.commit(try fixture.change("Milk", to: other))
    try await fixture.git("config", "receive.denyCurrentBranch", "ignore")
    let push = try await fixture.git("push", "-q", "origin", "main", in: other.path)
    try #require(push.status == 0, "\(push.err)")
    return (fixture, tea, start)
  }

  @Test("The files of a pushed commit are written, without another commit")
  func push() async throws {
    let (fixture, tea, _) = try await pushed()
    let head = try fixture.head()
    #expect(try fixture.sandbox.read(fixture.file(tea)).contains("Tea"))
    try fixture.writer().reconcile(WorkTreeUpdate())
    #expect(try fixture.head() == head)
    #expect(try fixture.sandbox.read(fixture.file(tea)).contains("Coffee"))
    #expect(try await fixture.status().isEmpty)
    #expect(fixture.store.local.readSeen() == head)
  }

  @Test("A hand edit is kept, and joined with the pushed version")
  func handEdit() async throws {
    let (fixture, tea, _) = try await pushed()
    try fixture.edit(fixture.file(tea), "\"08:00\"", "\"07:00\"")
    try fixture.writer().reconcile(WorkTreeUpdate())
    #expect(try fixture.sandbox.read(fixture.file(tea)).contains("07:00"))
    try fixture.store.write(reconciling: .records) { _ in }
    let text = try fixture.sandbox.read(fixture.file(tea))
    #expect(text.contains("07:00") && text.contains("Coffee"), "\(text)")
  }

  @Test("A version that cannot be read is taken over when it can be read again")
  func unreadableObject() async throws {
    let (fixture, tea, start) = try await pushed()
    let path = AlarmRecord.path(tea.id)
    let blob = try await fixture.git("rev-parse", "main:\(path)").out
    let object = fixture.object(try #require(ObjectID(hexadecimal: String(blob.prefix(40)))))
    #expect(rename(object, fixture.sandbox.root + "/object") == 0)
    try fixture.writer().reconcile(WorkTreeUpdate())
    #expect(try fixture.sandbox.read(fixture.file(tea)).contains("Tea"))
    #expect(fixture.store.local.readSeen() == start)
    #expect(rename(fixture.sandbox.root + "/object", object) == 0)
    try fixture.writer().reconcile(WorkTreeUpdate())
    #expect(try fixture.sandbox.read(fixture.file(tea)).contains("Coffee"))
    #expect(fixture.store.local.readSeen() == (try fixture.head()))
  }

  @Test("Records that the branch lost are committed again, with a notice")
  func lostRecords() async throws {
    let fixture = try await StoreFixture("Tea", "Milk")
    let milk = try fixture.alarm("Milk")
    try await fixture.git("reset", "-q", "--hard", "HEAD~1")
    let head = try fixture.head()
    try fixture.writer().reconcile(WorkTreeUpdate())
    #expect(
      try await fixture.subjects(since: head) == ["Restore records that another program removed"])
    #expect(FileManager.default.fileExists(atPath: fixture.file(milk)))
    #expect(fixture.notices.all == [.healed([AlarmRecord.path(milk.id)])])
    #expect(try await fixture.status().isEmpty)
  }

  @Test("An invalid version that another program committed is replaced by the file")
  func invalidVersion() async throws {
    let fixture = try await StoreFixture("Tea")
    let tea = try fixture.alarm("Tea")
    let text = try fixture.sandbox.read(fixture.file(tea))
    try fixture.sandbox.write("{", to: fixture.file(tea))
    try await fixture.git("commit", "-qam", "Break")
    try fixture.sandbox.write(text, to: fixture.file(tea))
    try fixture.writer().reconcile(WorkTreeUpdate())
    #expect(fixture.notices.all == [.healed([AlarmRecord.path(tea.id)])])
    #expect(try await fixture.git("show", "main:\(AlarmRecord.path(tea.id))").out == text)
  }

  @Test(
    "If the earlier commit is unknown, missing files are written, and uncommitted files are committed"
  )
  func unknownCommit() async throws {
    let (fixture, tea, _) = try await pushed()
    let device = try fixture.sandbox.read(
      "\(fixture.store.path)/\(DeviceRecord.path(fixture.store.device))")
    let id = fixture.store.context.makeIdentifier()
    try fixture.sandbox.write(
      device.replacing(fixture.store.device.text, with: id.text),
      to: "\(fixture.store.path)/\(DeviceRecord.path(id))")
    #expect(unlink(fixture.store.local.folder + "/seen") == 0)
    let head = try fixture.head()
    try fixture.writer().reconcile(WorkTreeUpdate())
    #expect(try fixture.store.overview().summaries.map(\.title).sorted().contains("Milk"))
    #expect(
      try await fixture.subjects(since: head).contains("Import records that another program wrote"))
    #expect(
      try await fixture.git("ls-tree", "main", "--", DeviceRecord.path(id)).out.contains(id.text))
    #expect(fixture.store.local.readSeen() == (try fixture.head()))
    withExtendedLifetime(tea) {}
  }
}

/// Merges of git without Belfry's merge driver.
@Suite struct MergeConflictResolverTests {
  /// A store and a clone that have renamed the same alarm.
  private func diverged() async throws -> (StoreFixture, Store, Alarm) {
    let fixture = try await StoreFixture("Tea")
    let tea = try fixture.alarm("Tea")
    let other = try await fixture.clone()
    for (store, title) in [(other, "Coffee"), (fixture.reopened(), "Green tea")] {
      try store.update(tea.id) { alarm in
        var after = alarm
        after.title = title
        return (
          Store.Change(
            alarms: [after.stamped(against: alarm, at: store.context.now, device: store.device)],
            entries: [], message: CommitMessage("Rename", device: store.device)), ()
        )
      }
    }
    return (fixture, other, tea)
  }

  @Test("A merge with conflicts is joined and committed before a write")
  func merge() async throws {
    let (fixture, other, tea) = try await diverged()
    let pull = try await fixture.git("pull", "-q", "--no-rebase", other.path, "main")
    #expect(pull.status != 0)
    try fixture.store.write(reconciling: .branch) { _ in }
    #expect(try fixture.alarm("Green tea").id == tea.id)
    #expect(fixture.notices.all == [.joined([AlarmRecord.path(tea.id)], .nothing)])
    #expect(try await fixture.git("log", "-1", "--format=%P").out.split(separator: " ").count == 2)
    #expect(try await fixture.status().isEmpty)
  }

  @Test("A file with conflicts that somebody has begun to resolve is moved to the quarantine")
  func editedConflict() async throws {
    let (fixture, other, tea) = try await diverged()
    try await fixture.git("pull", "-q", "--no-rebase", other.path, "main")
    let file = fixture.file(tea)
    let typed = try fixture.sandbox.read(file) + "to be continued"
    try fixture.sandbox.write(typed, to: file)
    try fixture.store.write(reconciling: .branch) { _ in }
    #expect(try fixture.alarm("Green tea").id == tea.id)
    let aside = fixture.notices.all.compactMap { notice -> String? in
      if case .setAside(_, let destination) = notice { destination } else { nil }
    }
    #expect(try aside.map { try fixture.sandbox.read($0) } == [typed])
  }

  @Test("In a rebase, the joined records are staged, and the write is refused")
  func rebase() async throws {
    let (fixture, other, tea) = try await diverged()
    let pull = try await fixture.git("pull", "-q", "--rebase", other.path, "main")
    #expect(pull.status != 0)
    let change = try fixture.change("Milk")
    let error = #expect(throws: StoreError.self) { try fixture.store.commit(change) }
    guard case .operationInProgress(.rebase)? = error else {
      Issue.record("\(String(describing: error))")
      return
    }
    #expect(fixture.notices.all.count == 1)
    #expect(try await fixture.git("diff", "--name-only", "--diff-filter=U").out.isEmpty)
    #expect(try fixture.sandbox.read(fixture.file(tea)).contains("\"Green tea\""))
    let finish = try await fixture.git("-c", "core.editor=true", "rebase", "--continue")
    #expect(finish.status == 0, "\(finish.err)")
    try fixture.store.commit(change)
    #expect(try fixture.store.overview().summaries.map(\.title).sorted() == ["Green tea", "Milk"])
  }

  @Test("Conflicts in a file that is not a record are left to the user")
  func stray() async throws {
    let (fixture, other, _) = try await diverged()
    for folder in [other.path, fixture.store.path] {
      try fixture.sandbox.write("\(folder)\n", to: folder + "/README")
      try await fixture.git("add", "README", in: folder)
      try await fixture.git("commit", "-qm", "Readme", in: folder)
    }
    #expect(try await fixture.git("pull", "-q", "--no-rebase", other.path, "main").status != 0)
    let change = try fixture.change("Milk")
    #expect(throws: StoreError.self) { try fixture.store.commit(change) }
    #expect(fixture.notices.all.isEmpty)
    #expect(
      try await fixture.git("diff", "--name-only", "--diff-filter=U").out.contains("README"))
  }
}

/// The merge of commits that other devices pushed.
@Suite struct IncomingMergeTests {
  /// A store with an incoming commit that adds Milk.
  private func incoming() async throws -> (StoreFixture, reference: String) {
    let fixture = try await StoreFixture("Tea")
    let other = try await fixture.clone()
    try other.commit(try fixture.change("Milk", to: other))
    let reference = "\(StoreSync.incoming)\(other.device)"
    try await fixture.git("fetch", "-q", other.path, "main:\(reference)")
    return (fixture, reference)
  }

  @Test("An incoming commit is merged, and its reference removed")
  func merge() async throws {
    let (fixture, reference) = try await incoming()
    try fixture.store.write(reconciling: .evaluation) { writer in
      // The evaluation sees the merged alarms.
      #expect(try writer.checkedAlarms?.summaries().count == 2)
    }
    #expect(try fixture.store.overview().summaries.map(\.title).sorted() == ["Milk", "Tea"])
    #expect(try await fixture.git("rev-parse", "-q", "--verify", reference).status != 0)
    #expect(try await fixture.status().isEmpty)
  }

  @Test("A commit that belongs to no store is discarded")
  func noStore() async throws {
    let fixture = try await StoreFixture("Tea")
    let head = try fixture.head()
    let tree = try await fixture.git("rev-parse", "main:alarms").out.prefix(40)
    let commit = try await fixture.git("commit-tree", "-m", "Other", String(tree)).out.prefix(40)
    let reference = "\(StoreSync.incoming)other"
    try await fixture.git("update-ref", reference, String(commit))
    try fixture.writer().reconcile(IncomingMerge())
    #expect(try fixture.head() == head)
    #expect(try await fixture.git("rev-parse", "-q", "--verify", reference).status != 0)
  }

  @Test("A commit with an unreadable object stays, and the write goes on")
  func unreadableObject() async throws {
    let (fixture, reference) = try await incoming()
    let head = try fixture.head()
    let line = try await fixture.git("diff-tree", "-r", "main", reference, "--", "alarms").out
    let blob = try #require(ObjectID(hexadecimal: String(line.split(separator: " ")[3])))
    #expect(unlink(fixture.object(blob)) == 0)
    try fixture.store.write(reconciling: .evaluation) { _ in }
    #expect(try fixture.head() == head)
    #expect(try await fixture.git("rev-parse", "-q", "--verify", reference).status == 0)
  }
}

/// The steps for records other than alarms.
@Suite struct RecordStepTests {
  @Test("Dropped records are committed again, except over a file of the user")
  func droppedRecords() async throws {
    let fixture = try await StoreFixture("Tea")
    let (one, two) = (try fixture.change("Milk"), try fixture.change("Bread"))
    let files = one.files.merging(two.files) { one, _ in one }.compactMapValues { $0 }
    try fixture.sandbox.write("mine", to: fixture.file(two.alarms[0]))
    let restored = try fixture.writer().reconcile(DroppedRecordRestoration(files))
    #expect(restored == files.keys.sorted())
    #expect(FileManager.default.fileExists(atPath: fixture.file(one.alarms[0])))
    #expect(try fixture.sandbox.read(fixture.file(two.alarms[0])) == "mine")
  }

  @Test("Files that cannot be records go to the quarantine, and the last valid versions return")
  func unusableFiles() async throws {
    let fixture = try await StoreFixture("Tea")
    let tea = try fixture.alarm("Tea")
    let text = try fixture.sandbox.read(fixture.file(tea))
    try fixture.sandbox.write("{", to: fixture.file(tea))
    try fixture.sandbox.write("a list", to: fixture.store.path + "/alarms/notes.txt")
    let newer = fixture.store.context.makeIdentifier()
    let newerPath = "\(fixture.store.path)/alarms/\(newer).json"
    try fixture.sandbox.write("{\"format\": 99, \"id\": \"\(newer)\"}", to: newerPath)
    var items: [String] = []
    let step = UnusableFileQuarantine(Quarantine(fixture.store)) { item in
      switch item {
      case .quarantined(let path, let destination):
        items.append(path)
        #expect(FileManager.default.fileExists(atPath: destination))
      case .restored(let paths): items += paths.map { "restored \($0)" }
      default: Issue.record("\(item)")
      }
    }
    try fixture.writer().reconcile(step)
    let path = AlarmRecord.path(tea.id)
    #expect(items.sorted() == [path, "alarms/notes.txt", "restored \(path)"].sorted())
    #expect(items.last == "restored \(path)")
    #expect(try fixture.sandbox.read(fixture.file(tea)) == text)
    #expect(FileManager.default.fileExists(atPath: newerPath), "A later version can read it.")
  }

  @Test("An edited device is committed with a new stamp, and an invalid file stays as it is")
  func devices() async throws {
    let fixture = try await StoreFixture()
    let path = "\(fixture.store.path)/\(DeviceRecord.path(fixture.store.device))"
    let original = try fixture.sandbox.read(path)
    try fixture.edit(path, "laptop", "desk")
    let head = try fixture.head()
    try fixture.writer().reconcile(DeviceHandEditImport())
    #expect(try await fixture.subjects(since: head) == ["Edited by hand: devices"])
    let before = try DeviceRecord.decode(Array(original.utf8))
    let after = fixture.store.devices.own
    #expect(after.name == "desk")
    #expect(try #require(after.stamp) > #require(before.stamp))
    // Nothing is left to do, and an invalid file stays as it is.
    let settled = try fixture.head()
    try fixture.sandbox.write("{", to: path)
    try fixture.writer().reconcile(DeviceHandEditImport())
    #expect(try fixture.head() == settled)
    #expect(try fixture.sandbox.read(path) == "{")
  }

  @Test("A new zone of this device is committed once")
  func timeZone() async throws {
    let fixture = try await StoreFixture("Tea")
    let head = try fixture.head()
    let store = fixture.reopened(zone: "Europe/Berlin")
    for _ in 0..<2 { try store.write(reconciling: .evaluation) { _ in } }
    #expect(try await fixture.subjects(since: head) == ["Time zone: laptop (Europe/Berlin)"])
    #expect(store.devices.own.zone == "Europe/Berlin")
  }

  @Test("A missing record is restored without a commit if HEAD has a valid version")
  func missingRecord() async throws {
    let fixture = try await StoreFixture()
    let path = DeviceRecord.path(fixture.store.device)
    let text = try fixture.sandbox.read("\(fixture.store.path)/\(path)")
    #expect(unlink("\(fixture.store.path)/\(path)") == 0)
    let head = try fixture.head()
    #expect(try fixture.writer().reconcile(MissingRecordRestoration([path, "README"])) == [path])
    #expect(try fixture.sandbox.read("\(fixture.store.path)/\(path)") == text)
    #expect(try fixture.head() == head)
  }

  @Test("A missing record is restored from the history if HEAD has an invalid version")
  func missingInvalidRecord() async throws {
    let fixture = try await StoreFixture()
    let path = DeviceRecord.path(fixture.store.device)
    let text = try fixture.sandbox.read("\(fixture.store.path)/\(path)")
    try fixture.sandbox.write("{", to: "\(fixture.store.path)/\(path)")
    try await fixture.git("commit", "-qam", "Break")
    #expect(unlink("\(fixture.store.path)/\(path)") == 0)
    let head = try fixture.head()
    #expect(try fixture.writer().reconcile(MissingRecordRestoration([path])) == [path])
    #expect(try await fixture.subjects(since: head) == ["Restore the last valid version"])
    #expect(try fixture.sandbox.read("\(fixture.store.path)/\(path)") == text)
  }

  @Test("Uncommitted records are committed, and other files are left alone")
  func uncommittedRecords() async throws {
    let fixture = try await StoreFixture()
    let own = DeviceRecord.path(fixture.store.device)
    let (id, bad) = (fixture.store.context.makeIdentifier(), fixture.store.context.makeIdentifier())
    let text = try fixture.sandbox.read("\(fixture.store.path)/\(own)")
    let paths = [DeviceRecord.path(id), DeviceRecord.path(bad), "devices/notes.txt", "README"]
    try fixture.sandbox.write(
      text.replacing(fixture.store.device.text, with: id.text),
      to: "\(fixture.store.path)/\(paths[0])")
    for path in paths.dropFirst() {
      try fixture.sandbox.write("{", to: "\(fixture.store.path)/\(path)")
    }
    #expect(try fixture.writer().reconcile(UncommittedRecordImport(paths)) == [paths[0]])
    #expect(try await fixture.git("ls-files").out.split(separator: "\n").contains("\(paths[0])"))
    let head = try fixture.head()
    #expect(
      try fixture.writer().reconcile(UncommittedRecordImport(Array(paths.dropFirst()))).isEmpty)
    #expect(try fixture.head() == head)
  }

  @Test("The daily audit restores removed records with a notice, once a day")
  func dailyAudit() async throws {
    let fixture = try await StoreFixture("Tea")
    let path = DeviceRecord.path(fixture.store.device)
    #expect(unlink("\(fixture.store.path)/\(path)") == 0)
    try await fixture.store.maintenance.runDaily()
    #expect(fixture.notices.all == [.restored([path])])
    #expect(unlink("\(fixture.store.path)/\(path)") == 0)
    try await fixture.store.maintenance.runDaily()
    #expect(fixture.notices.all.count == 1)
    try await fixture.reopened(now: "2026-11-21T22:42:00Z").maintenance.runDaily()
    #expect(fixture.notices.all.count == 2)
  }

  @Test("An outcome that only the log contains returns to the alarm, once")
  func lostAnswer() async throws {
    let fixture = try await StoreFixture("Tea")
    let tea = try fixture.alarm("Tea")
    let store = fixture.reopened(now: "2026-11-21T08:00:30Z")
    try store.update(tea.id) { (alarm) throws -> (Store.Change?, Void) in
      let transition = try store.timeline(alarm).answer(
        .done(), at: store.context.now, settings: Settings(), ledger: store.ledger.read())
      return (store.change(transition), ())
    }
    let answered = try fixture.sandbox.read(fixture.file(tea))
    try fixture.writer().commit(
      [AlarmRecord.path(tea.id): AlarmRecord.encode(tea)],
      message: CommitMessage("Lose the outcome", device: nil))
    let head = try fixture.head()
    var titles: [String] = []
    for _ in 0..<2 {
      let repository = try store.repository()
      let writer = StoreWriter(
        store, repository, branch: "refs/heads/main", signature: try store.signature(repository),
        hold: try CollectionHold(repository), seen: store.local.readSeen())
      try writer.reconcile(
        LostAnswerRestoration { item in
          if case .answers(let title, _) = item { titles.append(title) }
        })
    }
    #expect(titles == ["Tea"])
    #expect(try await fixture.subjects(since: head) == ["Restore 1 answer from the log: Tea"])
    #expect(answered.contains("2026-11-21T08:00"))
    #expect(try fixture.sandbox.read(fixture.file(tea)).contains("2026-11-21T08:00"))
  }

  @Test("An alarm that a clock that was ahead settled is re-armed, once")
  func futureOutcomes() async throws {
    let fixture = try await StoreFixture("Tea")
    let tea = try fixture.alarm("Tea")
    let ahead = fixture.reopened(now: "2027-11-21T08:00:30Z")
    try ahead.update(tea.id) { (alarm) throws -> (Store.Change?, Void) in
      let transition = try ahead.timeline(alarm).answer(
        .done(), at: ahead.context.now, settings: Settings(), ledger: ahead.ledger.read())
      return (ahead.change(transition), ())
    }
    let head = try fixture.head()
    var titles: [String] = []
    for _ in 0..<2 {
      try fixture.writer().reconcile(
        FutureOutcomeRemoval { item in
          if case .rearmed(let title) = item { titles.append(title) }
        })
    }
    #expect(titles == ["Tea"])
    #expect(try await fixture.subjects(since: head) == ["Re-armed: Tea (a clock was ahead)"])
  }
}
