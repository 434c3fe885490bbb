import BelfryActions
import BelfryCore
import BelfryStore
import Foundation
import TestSupport
import Testing

@testable import BelfryPhone

/// Runs between a store and a folder, with a person who answers on both sides.
@Suite struct PhoneSyncTests {
  @Test("Each occurrence of the next 30 days has a task, and each alarm at least its next one")
  func publication() async throws {
    let world = try await PhoneFixture()
    let pills = try world.add("Pills", "daily at 9:00 and 21:00")
    let passport = try world.add(
      "Passport", "every 1 march at 10:00", note: "Photo, 35 × 45 mm; two",
      tags: [AlarmTag("home")],
      delivery: Alarm.Delivery(persistent: true, warnings: WarningPlan([86_400])))
    let report = try await world.run()
    #expect(report.written == 63)
    #expect(report.tasks == 63)
    #expect(world.names.count { $0.hasPrefix(pills.text) } == 62)
    let reading = try world.reading(occurrence(passport, "2027-03-01T10:00"))
    #expect(reading.title == "Passport")
    #expect(reading.note.trimmingCharacters(in: .newlines) == "Photo, 35 × 45 mm; two")
    #expect(reading.due == .instant(Instant(rfc3339: "2027-03-01T09:00:00Z")!))
    #expect(reading.tags == ["home"])
    #expect(
      reading.alerts.map(\.time) == [
        Instant(rfc3339: "2027-03-01T09:00:00Z")!, Instant(rfc3339: "2027-02-28T09:00:00Z")!,
      ])
    let text = try world.text(occurrence(passport, "2027-03-01T10:00"))
    #expect(text.contains("PRIORITY:1\r\n"))
    #expect(text.contains("TRIGGER;VALUE=DATE-TIME:20270301T090000Z\r\n"))
    #expect(!text.contains("DTSTART"))
  }

  @Test("An unchanged folder is not written, and a change writes only the files that differ")
  func unchanged() async throws {
    let world = try await PhoneFixture()
    let rent = try world.add("Rent", "monthly on the 1st at 9:00")
    try world.add("Pills", "daily at 21:00")
    try await world.run()
    let before = try signatures(world)
    #expect(try await world.run().isUnchanged)
    #expect(try signatures(world) == before)
    _ = try EditAlarms.renaming([rent], to: "Pay rent").perform(in: world.store)
    #expect(try await world.run().written == 1)
    world.advance(minutes: 24 * 60)
    // One day later: one more task of the pills.
    let report = try await world.run()
    #expect(report.written == 1)
  }

  private func signatures(_ world: PhoneFixture) throws -> [String: String] {
    Dictionary(
      uniqueKeysWithValues: try world.names.map { name in
        let attributes = try FileManager.default.attributesOfItem(atPath: "\(world.folder)/\(name)")
        return (name, "\(attributes[.modificationDate]!) \(attributes[.systemFileNumber]!)")
      })
  }

  @Test(
    "A completed task is done at its time, also before it was due, and a second completion changes nothing"
  )
  func completion() async throws {
    let world = try await PhoneFixture()
    let rent = try world.add("Rent", "weekly on tuesday at 9:00")
    let first = occurrence(rent, "2026-12-01T09:00")
    try await world.run()
    world.advance(minutes: 1)
    try world.complete(first)
    let report = try await world.run()
    #expect(report.recorded.map(\.action) == [.done])
    #expect(try world.phase(first) == .done)
    #expect(world.log(of: rent) == ["laptop created", "phone done 2026-12-01T09:00"])
    #expect(try await world.run().isUnchanged)
    try world.edit(first) { $0.set("X-NOTE", "again") }
    #expect(try await world.run().recorded.isEmpty)
    #expect(try world.text(first).contains("X-NOTE:again"))
    // A week after it was done, the task is removed.
    world.advance(minutes: 7 * 24 * 60 + 1)
    _ = try await world.run()
    #expect(!world.names.contains(TaskProperty.fileName(first)))
    #expect(world.log(of: rent).count { $0.hasPrefix("phone") } == 1)
  }

  @Test("An answer in Belfry completes the task, and an undo opens it again")
  func answersHere() async throws {
    let world = try await PhoneFixture()
    let rent = try world.add("Rent", "weekly on tuesday at 9:00")
    let first = occurrence(rent, "2026-12-01T09:00")
    try await world.run()
    world.set("2026-12-01T08:05:00Z")
    try world.answer(.done(), first)
    try await world.run()
    #expect(try world.reading(first).status == .completed(world.now))
    _ = try await UndoLastAction().perform(in: world.store)
    try await world.run()
    #expect(try world.reading(first).status == .open)
    try world.answer(.skip(), first)
    try await world.run()
    #expect(!world.names.contains(TaskProperty.fileName(first)))
    #expect(world.log(of: rent).allSatisfy { !$0.hasPrefix("phone") })
  }

  @Test("Cancelled and deleted tasks skip their occurrence once, and delete a one-time alarm")
  func skips() async throws {
    let world = try await PhoneFixture()
    let pills = try world.add("Pills", "daily at 9:00")
    let dentist = try world.add("Dentist", "15 dec 14:00")
    try await world.run()
    try world.edit(occurrence(pills, "2026-12-01T09:00")) { $0.set("STATUS", "CANCELLED") }
    try world.delete(occurrence(pills, "2026-12-02T09:00"))
    try world.delete(occurrence(dentist, "2026-12-15T14:00"))
    let report = try await world.run()
    #expect(report.recorded.count == 3)
    #expect(report.held.isEmpty)
    #expect(try world.phase(occurrence(pills, "2026-12-01T09:00")) == .skippedAhead)
    #expect(try world.phase(occurrence(pills, "2026-12-02T09:00")) == .skippedAhead)
    #expect(try world.phase(occurrence(pills, "2026-12-03T09:00")) == .upcoming)
    #expect(try world.store.alarm(dentist)?.isDeleted == true)
    #expect(try await world.run().isUnchanged)
    // An unskip brings the task back.
    try world.answer(.unskip(), occurrence(pills, "2026-12-02T09:00"))
    try await world.run()
    #expect(try world.reading(occurrence(pills, "2026-12-02T09:00")).status == .open)
  }

  @Test("More than three deletions at once are held, and end with a decision, or after an hour")
  func held() async throws {
    let world = try await PhoneFixture()
    let pills = try world.add("Pills", "daily at 9:00")
    try await world.run()
    func wipe() throws {
      for name in world.names {
        try FileManager.default.removeItem(atPath: "\(world.folder)/\(name)")
      }
    }
    try wipe()
    let report = try await world.run()
    #expect(report.held.count == 31)
    #expect(world.names.isEmpty)
    #expect(world.log(of: pills) == ["laptop created"])
    #expect(try await world.run().held.count == 31)
    try await world.run(.restore)
    #expect(world.names.count == 31)

    try wipe()
    #expect(try await world.run().held.count == 31)
    world.advance(minutes: 61)
    #expect(try await world.run().held.isEmpty)
    #expect(world.names.count == 31)

    world.advance(minutes: 60)
    for day in 2...5 { try world.delete(occurrence(pills, "2026-12-0\(day)T09:00")) }
    #expect(try await world.run().held.count == 4)
    let decided = try await world.run(.skip)
    #expect(decided.recorded.count == 4)
    #expect(decided.held.isEmpty)
    #expect(try world.phase(occurrence(pills, "2026-12-05T09:00")) == .skippedAhead)
  }

  @Test("Deletions that arrive one after another are held from the fourth on")
  func slowWipe() async throws {
    let world = try await PhoneFixture()
    let pills = try world.add("Pills", "daily at 9:00")
    try await world.run()
    for name in world.names {
      try FileManager.default.removeItem(atPath: "\(world.folder)/\(name)")
      try await world.run()
    }
    #expect(world.log(of: pills).count { $0.hasPrefix("phone skipped") } == 3)
  }

  @Test("A folder that is missing, empty or another one skips nothing")
  func replacedFolder() async throws {
    let world = try await PhoneFixture()
    let pills = try world.add("Pills", "weekly on friday at 9:00")
    try await world.run()
    let aside = world.folder + "-aside"
    try FileManager.default.moveItem(atPath: world.folder, toPath: aside)
    await #expect(throws: PhoneError.folderMissing(path: world.folder)) { try await world.run() }
    try FileManager.default.createDirectory(
      atPath: world.folder, withIntermediateDirectories: true)
    await #expect(throws: PhoneError.folderReplaced(path: world.folder)) { try await world.run() }
    try FileManager.default.removeItem(atPath: world.folder)
    try FileManager.default.moveItem(atPath: aside, toPath: world.folder)
    #expect(try await world.run().isUnchanged)
    #expect(world.log(of: pills) == ["laptop created"])
  }

  @Test(
    "A snooze and the end of a reminder on the phone snooze and stop, and the follow-up reminds there"
  )
  func reactions() async throws {
    let world = try await PhoneFixture()
    let rent = try world.add("Rent", "weekly on tuesday at 9:00")
    let first = occurrence(rent, "2026-12-01T09:00")
    try await world.run()
    world.set("2026-12-01T08:02:00Z")
    try world.edit(first) { task in
      task.set("X-MOZ-LASTACK", "20261201T080100Z")
      task.set("X-MOZ-SNOOZE-TIME", "20261201T081500Z")
    }
    try await world.run()
    #expect(try world.phase(first) == .snoozed)
    #expect(
      try world.reading(first).alerts.compactMap(\.time)
        == [Instant(rfc3339: "2026-12-01T08:15:00Z")!])
    #expect(try await world.run().isUnchanged)

    world.set("2026-12-01T08:16:00Z")
    // Another change does not repeat the old snooze, nor take it for a stop.
    try world.edit(first) { $0.set("X-COLOR", "red") }
    try await world.run()
    #expect(try world.phase(first) == .ringing)
    try world.edit(first) { $0.set("X-MOZ-LASTACK", "20261201T081530Z") }
    try await world.run()
    #expect(try world.phase(first) == .pending)
    // +30 minutes after the stop.
    #expect(
      try world.reading(first).alerts.compactMap(\.time)
        == [Instant(rfc3339: "2026-12-01T08:45:30Z")!])
    #expect(
      world.log(of: rent).filter { $0.hasPrefix("phone") } == [
        "phone snoozed 2026-12-01T09:00", "phone stopped 2026-12-01T09:00",
      ])
    // An answer in Belfry tells the app to end the reminder.
    #expect(
      try world.reading(first).acknowledged == Instant(rfc3339: "2026-12-01T08:15:30Z")!)
    #expect(try await world.run().isUnchanged)
  }

  @Test("A snooze that is over before Belfry reads of it is no stop: the occurrence rings again")
  func endedSnooze() async throws {
    let world = try await PhoneFixture()
    let rent = try world.add("Rent", "weekly on tuesday at 9:00")
    let first = occurrence(rent, "2026-12-01T09:00")
    try await world.run()
    world.set("2026-12-01T09:30:00Z")
    try world.edit(first) { task in
      task.set("X-MOZ-LASTACK", "20261201T080100Z")
      task.set("X-MOZ-SNOOZE-TIME", "20261201T081500Z")
    }
    try await world.run()
    #expect(try world.phase(first) == .ringing)
    #expect(world.log(of: rent).last == "phone snoozed 2026-12-01T09:00")
    #expect(try await world.run().isUnchanged)
  }

  @Test("What another device has published is no answer to a device that does not know of it yet")
  func publishedElsewhere() async throws {
    let world = try await PhoneFixture()
    let rent = try world.add("Rent", "weekly on tuesday at 9:00")
    let first = occurrence(rent, "2026-12-01T09:00")
    try await world.run()
    let earlier = try world.backup()
    world.set("2026-12-01T08:02:00Z")
    try world.answer(.snooze(seconds: 3600), first)
    try await world.run()
    let snoozed = try world.text(first)
    // The store of the other device: before the snooze, and without its own notes about the folder.
    try world.restore(earlier)
    try world.write(Array(snoozed.utf8), to: TaskProperty.fileName(first))
    #expect(try await world.run().recorded.isEmpty)
    #expect(try world.phase(first) == .ringing)
  }

  @Test("Another title, note and due time edit and move; without edits, they are put back")
  func edits() async throws {
    let world = try await PhoneFixture()
    let rent = try world.add("Rent", "weekly on tuesday at 9:00", note: "Bank")
    let first = occurrence(rent, "2026-12-01T09:00")
    try await world.run()
    try world.edit(first) { task in
      task.set("SUMMARY", "Pay rent\\, now")
      task.set("DESCRIPTION", "Other bank")
      task.set("DUE;TZID=Europe/Berlin", "20261201T173000")
    }
    try await world.run()
    let alarm = try #require(try world.store.alarm(rent))
    #expect(alarm.title == "Pay rent, now")
    #expect(alarm.note == "Other bank")
    #expect(
      alarm.progress.moves.mapValues { $0.time?.description } == [
        first.occurrence: "2026-12-01T17:30"
      ])
    #expect(try world.reading(occurrence(rent, "2026-12-08T09:00")).title == "Pay rent, now")
    #expect(try await world.run().isUnchanged)

    try await world.configure(PhoneOptions(acceptsEdits: false))
    try world.edit(first) { $0.set("SUMMARY", "No rent") }
    #expect(try await world.run().recorded.isEmpty)
    #expect(try world.reading(first).title == "Pay rent, now")
    try world.complete(first)
    #expect(try await world.run().recorded.map(\.action) == [.done])
  }

  @Test("With neutral titles, nothing about an alarm is in the folder, and answers work")
  func neutral() async throws {
    let world = try await PhoneFixture(options: PhoneOptions(isNeutral: true))
    let id = try world.add(
      "Antidepressant", "daily at 9:00", note: "20 mg", tags: [AlarmTag("health")])
    try await world.run()
    for name in world.names {
      let text = try String(contentsOfFile: "\(world.folder)/\(name)", encoding: .utf8)
      for word in ["Antidepressant", "20 mg", "health"] { #expect(!text.contains(word)) }
    }
    let first = occurrence(id, "2026-11-30T09:00")
    try world.edit(first) { $0.set("SUMMARY", "x") }
    #expect(try await world.run().recorded.isEmpty)
    try world.complete(first)
    #expect(try await world.run().recorded.map(\.action) == [.done])
    #expect(try world.store.alarm(id)?.title == "Antidepressant")
  }

  @Test(
    "Another title is in the reminders, too, and neutral titles replace those that are published")
  func titles() async throws {
    let world = try await PhoneFixture()
    let id = try world.add(
      "Antidepressant", "daily at 9:00", note: "20 mg", tags: [AlarmTag("health")])
    try await world.run()
    let first = occurrence(id, "2026-11-30T09:00")
    // The app writes the file again with words of its own in one of the reminders.
    try world.edit(first) { task in
      task.set("SUMMARY", "Evening pill")
      var alarm = TaskComponent("VALARM")
      alarm.set("ACTION", "DISPLAY")
      alarm.set("DESCRIPTION", "Words of the app")
      alarm.set("TRIGGER", "-PT5M")
      task.items.append(.component(alarm))
    }
    try await world.run()
    for name in world.names {
      let text = try String(contentsOfFile: "\(world.folder)/\(name)", encoding: .utf8)
      #expect(!text.contains("Antidepressant") && text.contains("DESCRIPTION:Evening pill"))
    }
    #expect(try world.text(first).contains("DESCRIPTION:Words of the app"))
    try await world.configure(PhoneOptions(isNeutral: true))
    try await world.run()
    for name in world.names {
      let text = try String(contentsOfFile: "\(world.folder)/\(name)", encoding: .utf8)
      for word in ["Evening pill", "20 mg", "health"] { #expect(!text.contains(word), "\(name)") }
    }
    #expect(try await world.run().written == 0)
  }

  @Test("Only alarms with one of the tags are published")
  func tags() async throws {
    let world = try await PhoneFixture(options: PhoneOptions(tags: [try AlarmTag("home")]))
    try world.add("Rent", "weekly on tuesday at 9:00", tags: [AlarmTag("home")])
    let work = try world.add("Report", "weekly on friday at 9:00")
    try await world.run()
    #expect(!world.names.isEmpty)
    #expect(world.names.allSatisfy { !$0.hasPrefix(work.text) })
  }

  @Test("A new task becomes an alarm: by the words of its title, by its due time, or for the inbox")
  func captures() async throws {
    let world = try await PhoneFixture()
    try await world.run()
    try world.create("Rent every month on the 1st at 9:00 +home", uid: "one", "X-FOO:bar")
    try world.create("Call the plumber", uid: "two", "DUE:20261204T170000Z")
    try world.create("Milk", uid: "three")
    try world.create("Done already", uid: "four", "STATUS:COMPLETED")
    let report = try await world.run()
    #expect(report.recorded.map(\.action) == [.created, .created, .created])
    let alarms = try world.store.allAlarms().alarms.sorted { $0.title < $1.title }
    #expect(alarms.map(\.title) == ["Call the plumber", "Milk", "Rent"])
    #expect(
      alarms.map(\.schedule.summary) == [
        "once on 2026-12-04 at 18:00", "once on 2026-12-01 at 09:00",
        "monthly on the 1st at 09:00",
      ])
    #expect(alarms.map { $0.tags.map(\.text) } == [[], ["inbox"], ["home"]])
    #expect(world.log().allSatisfy { $0.hasPrefix("phone created") })
    // The app's file is the task of the first occurrence.
    let text = try String(contentsOfFile: world.folder + "/one.ics", encoding: .utf8)
    #expect(text.contains("SUMMARY:Rent\r\n"))
    #expect(text.contains("X-FOO:bar\r\n"))
    #expect(text.contains("UID:one\r\n"))
    #expect(world.names.count { $0.hasPrefix(alarms[2].id.text) } == 0)
    #expect(try await world.run().isUnchanged)
    // A title that says more takes it out of the inbox.
    let milk = try String(contentsOfFile: world.folder + "/three.ics", encoding: .utf8)
      .replacing("SUMMARY:Milk", with: "SUMMARY:Milk every friday at 18:00")
    try world.write(Array(milk.utf8), to: "three.ics")
    try await world.run()
    let edited = try #require(try world.store.alarm(alarms[1].id))
    #expect(edited.title == "Milk")
    #expect(edited.tags.isEmpty)
    #expect(edited.schedule.summary == "weekly on fri at 18:00")
  }

  @Test(
    "Words without a time of day mean the default time, and an hour from now if that has passed today"
  )
  func withoutTime() async throws {
    let world = try await PhoneFixture(now: "2026-11-30T12:00:00Z")
    for (index, title) in ["Trash on mondays", "Dentist tomorrow", "Call home today"].enumerated() {
      try world.write(
        Array(
          "BEGIN:VCALENDAR\r\nBEGIN:VTODO\r\nUID:t\(index)\r\nSUMMARY:\(title)\r\nEND:VTODO\r\nEND:VCALENDAR\r\n"
            .utf8), to: "t\(index).ics")
    }
    try await world.run()
    let summaries = try world.store.allAlarms().alarms.map { "\($0.title): \($0.schedule.summary)" }
    #expect(
      summaries.sorted() == [
        "Call home: once on 2026-11-30 at 14:00", "Dentist: once on 2026-12-01 at 09:00",
        "Trash: weekly on mon at 09:00",
      ])
  }

  @Test("A folder that cannot be written leaves the present one as it is")
  func unwritable() async throws {
    let world = try await PhoneFixture()
    try world.add("Pills", "daily at 9:00")
    try await world.run()
    let before = world.names
    try Data().write(to: URL(fileURLWithPath: world.sandbox.root + "/file"))
    // Its mark is in the way: the folder can be listed, but nothing can be put into its place.
    let blocked = world.sandbox.root + "/blocked"
    try FileManager.default.createDirectory(
      atPath: blocked + "/.belfry/x", withIntermediateDirectories: true)
    for folder in [world.sandbox.root + "/file", blocked] {
      await #expect(throws: PhoneSetup.Failure.self) {
        try await PhoneSetup(world.store, folder: folder).perform(options: PhoneOptions())
      }
    }
    #expect(world.names == before)
    #expect(try await world.run().isUnchanged)
  }

  @Test("A run that waited for a setup uses the folder of the setup")
  func waitedForSetup() async throws {
    let world = try await PhoneFixture()
    try world.add("Pills", "daily at 9:00")
    try await world.run()
    let (waiting, count) = (world.sync(), world.names.count)
    let other = world.sandbox.root + "/other"
    _ = try await PhoneSetup(world.store, folder: other).perform(options: PhoneOptions())
    #expect(try await waiting.run().written == count)
    #expect(world.names.isEmpty)
    _ = try await PhoneSetup.remove(
      try #require(PhoneConfiguration.read(of: world.store)), of: world.store, keepingTasks: false)
    #expect(try await waiting.run() == PhoneReport())
  }

  @Test("Tasks that were in the folder before the setup become no alarms")
  func earlierTasks() async throws {
    let world = try await PhoneFixture()
    let other = world.sandbox.root + "/list"
    try FileManager.default.createDirectory(atPath: other, withIntermediateDirectories: true)
    let task =
      "BEGIN:VCALENDAR\r\nBEGIN:VTODO\r\nUID:m\r\nSUMMARY:Milk\r\nEND:VTODO\r\nEND:VCALENDAR\r\n"
    try task.write(toFile: other + "/m.ics", atomically: true, encoding: .utf8)
    let (_, leftAlone) = try await PhoneSetup(world.store, folder: other)
      .perform(options: PhoneOptions())
    #expect(leftAlone == 1)
    let sync = PhoneSync(
      world.store, settings: world.settings, input: world.sync().input)
    let report = try await sync.run()
    #expect(report.isUnchanged)
    #expect(report.problems.isEmpty)
    #expect(try String(contentsOfFile: other + "/m.ics", encoding: .utf8) == task)
  }

  @Test("Files that cannot be used are ignored and reported, and hurt nothing")
  func hostileFiles() async throws {
    let world = try await PhoneFixture()
    let rent = try world.add("Rent", "weekly on tuesday at 9:00")
    try await world.run()
    try world.write([UInt8](repeating: 65, count: 2 << 20), to: "large.ics")
    try world.write(Array("no calendar".utf8), to: "text.ics")
    try world.write([0xFF, 0xFE, 0x00], to: "bytes.ics")
    symlink("/etc/passwd", world.folder + "/link.ics")
    mkfifo(world.folder + "/pipe.ics", 0o600)
    mkdir(world.folder + "/folder.ics", 0o700)
    try world.create("\u{1B}[31mEvil\u{7}", uid: "x..\\,etc")
    let deep = String(repeating: "BEGIN:VTODO\r\n", count: 100_000)
    try world.write(Array(deep.utf8), to: "deep.ics")
    world.advance(minutes: 5)
    let report = try await world.run()
    #expect(report.problems.count >= 4)
    #expect(world.names.contains("large.ics"))
    let evil = try #require(
      try world.store.allAlarms().alarms.first { $0.title.contains("Evil") })
    #expect(evil.title.unicodeScalars.allSatisfy { $0.value >= 0x20 })
    #expect(try world.phase(occurrence(rent, "2026-12-01T09:00")) == .upcoming)
    #expect(try await world.run().isUnchanged)
  }

  @Test("The tasks of another store in the same folder stay")
  func otherStore() async throws {
    let world = try await PhoneFixture()
    try world.add("Rent", "weekly on tuesday at 9:00")
    try await world.run()
    let stranger = occurrence(Identifier("bbbbbbbbbbbbbbbbbbbbbbbbbb")!, "2026-12-01T09:00")
    let text = try String(contentsOfFile: "\(world.folder)/\(world.names[0])", encoding: .utf8)
    let alarm = try #require(TaskProperty.identity(fileName: world.names[0])).alarm
    try world.write(
      Array(text.replacing(alarm.text, with: stranger.alarm.text).utf8),
      to: TaskProperty.fileName(stranger))
    try await world.run()
    #expect(try world.reading(stranger).title == "Rent")
    #expect(try await world.run().isUnchanged)
  }

  @Test("Without its local state, a run finds every task and answers nothing")
  func lostState() async throws {
    let world = try await PhoneFixture()
    let pills = try world.add("Pills", "daily at 9:00")
    try await world.run()
    let path = PhoneState.file(of: world.store).path
    try FileManager.default.removeItem(atPath: path)
    #expect(try await world.run().isUnchanged)
    try FileManager.default.removeItem(atPath: path)
    try world.complete(occurrence(pills, "2026-12-01T09:00"))
    try world.delete(occurrence(pills, "2026-12-02T09:00"))
    try await world.run()
    #expect(try world.phase(occurrence(pills, "2026-12-01T09:00")) == .done)
    // It cannot be known that it was deleted: a false alarm is better than a missed one.
    #expect(try world.reading(occurrence(pills, "2026-12-02T09:00")).status == .open)
  }

  @Test("The due time of a new task counts more than words that only look like a schedule")
  func dueTimes() async throws {
    let world = try await PhoneFixture()
    try await world.run()
    try world.create("Task utc", uid: "a", "DUE:20261207T170000Z")
    try world.create("Review daily", uid: "b", "DUE:20261208T170000Z")
    try world.create("Tea daily at 16:00", uid: "c", "DUE:20261209T170000Z")
    try world.create(
      "Renew the passport", uid: "d", "DUE;VALUE=DATE:20261210", "BEGIN:VALARM", "ACTION:DISPLAY",
      "TRIGGER;RELATED=END:PT0S", "END:VALARM")
    try world.create(
      "Train", uid: "e", "DUE:20261211T170000Z", "CATEGORIES:Trip,My Stuff", "PRIORITY:5",
      "BEGIN:VALARM", "ACTION:DISPLAY", "TRIGGER;RELATED=END:-PT30M", "END:VALARM")
    try world.create(
      "Water", uid: "f", "DTSTART:20261205T170000Z", "DUE:20261205T170000Z", "RRULE:FREQ=WEEKLY")
    try await world.run()
    let alarms = try world.store.allAlarms().alarms.sorted { $0.title < $1.title }
    #expect(
      alarms.map { "\($0.title): \($0.schedule.summary), \($0.zone.text)" } == [
        "Renew the passport: once on 2026-12-10 at 09:00, floating",
        "Review daily: once on 2026-12-08 at 18:00, floating",
        "Task utc: once on 2026-12-07 at 18:00, floating", "Tea: daily at 16:00, floating",
        "Train: once on 2026-12-11 at 18:00, floating",
        "Water: weekly on sat at 18:00, floating",
      ])
    #expect(alarms[4].delivery.warnings?.seconds == [1800])
    let train = try String(contentsOfFile: world.folder + "/e.ics", encoding: .utf8)
    for line in ["CATEGORIES:Trip,My Stuff", "PRIORITY:5", "DUE:20261211T170000Z"] {
      #expect(train.contains("\(line)\r\n"), "\(line)")
    }
    #expect(try await world.run().isUnchanged)
  }

  @Test("A tag and a priority of the app stay, and those of Belfry follow the alarm")
  func labels() async throws {
    let world = try await PhoneFixture()
    let rent = try world.add(
      "Rent", "weekly on tuesday at 9:00", tags: [AlarmTag("home"), AlarmTag("money")])
    let first = occurrence(rent, "2026-12-01T09:00")
    try await world.run()
    try world.edit(first) { task in
      task.set("CATEGORIES", "Home,money,My Stuff")
      task.set("PRIORITY", "5")
    }
    try await world.run()
    _ = try EditAlarms.tagging(
      [rent], .change(adding: [try AlarmTag("flat")], removing: [try AlarmTag("money")])
    ).perform(in: world.store)
    try await world.run()
    let text = try world.text(first)
    #expect(text.contains("CATEGORIES:Home,My Stuff,flat\r\n"))
    #expect(text.contains("PRIORITY:5\r\n"))
  }

  @Test("Deletions rest for a moment in the daemon, so that those of a wipe are seen together")
  func rest() async throws {
    let world = try await PhoneFixture()
    let pills = try world.add("Pills", "daily at 9:00")
    try await world.run()
    func background() async throws -> PhoneReport {
      let sync = world.sync()
      return try await PhoneSync(
        world.store, settings: sync.settings, input: sync.input,
        deletionRest: 3
      ).run()
    }
    for day in 1...5 {
      try world.delete(occurrence(pills, "2026-12-0\(day)T09:00"))
      #expect(try await background().recorded.isEmpty)
      world.now = world.now.adding(seconds: 1)
    }
    world.now = world.now.adding(seconds: 3)
    #expect(try await background().held.count == 5)
    #expect(world.log(of: pills) == ["laptop created"])
    try await world.run(.restore)
    world.advance(minutes: 30)
    try world.delete(occurrence(pills, "2026-12-09T09:00"))
    #expect(try await background().recorded.isEmpty)
    world.now = world.now.adding(seconds: 3)
    #expect(try await background().recorded.map(\.action) == [.skipped])
  }

  @Test("Words behind Belfry's line belong to the note, and a line with a dash is the person's own")
  func noteBehindLine() async throws {
    let world = try await PhoneFixture()
    let rent = try world.add("Rent", "weekly on tuesday at 9:00", note: "Bank")
    let first = occurrence(rent, "2026-12-01T09:00")
    try await world.run()
    let line = try #require(try world.reading(first).hasFooter ? try footer(world, first) : nil)
    try world.edit(first) { $0.set("DESCRIPTION", "Bank\\n\\n\(line)\\nand call") }
    try await world.run()
    #expect(try world.store.alarm(rent)?.note == "Bank\nand call")
    #expect(try world.reading(first).note == "Bank\nand call")
    try world.edit(first) { $0.set("DESCRIPTION", "To be\\n— Shakespeare") }
    try await world.run()
    #expect(try world.store.alarm(rent)?.note == "To be\n— Shakespeare")
    #expect(try await world.run().isUnchanged)
  }

  private func footer(_ world: PhoneFixture, _ id: OccurrenceID) throws -> String {
    let bytes = Array(try Data(contentsOf: URL(fileURLWithPath: world.path(id))))
    let value = try #require(try TaskDocument(bytes).task?.first("DESCRIPTION")?.value)
    return value.components(separatedBy: "\\n").last ?? ""
  }

  @Test("A second snooze while it is snoozed counts, also if it ends earlier")
  func secondSnooze() async throws {
    let world = try await PhoneFixture()
    let rent = try world.add("Rent", "weekly on tuesday at 9:00")
    let first = occurrence(rent, "2026-12-01T09:00")
    try await world.run()
    func snooze(until: String, at time: String, _ now: String) async throws -> Instant? {
      world.set(now)
      try world.edit(first) { task in
        task.set("X-MOZ-SNOOZE-TIME", until)
        task.set("X-MOZ-LASTACK", time)
      }
      try await world.run()
      return try world.store.alarm(rent)?.progress.occurrences[first.occurrence]?.snooze.until
    }
    #expect(
      try await snooze(until: "20261202T080000Z", at: "20261201T080010Z", "2026-12-01T08:01:00Z")
        == Instant(rfc3339: "2026-12-02T08:00:00Z"))
    #expect(
      try await snooze(until: "20261201T083000Z", at: "20261201T080200Z", "2026-12-01T08:02:10Z")
        == Instant(rfc3339: "2026-12-01T08:30:00Z"))
    #expect(try await world.run().isUnchanged)
  }
}
