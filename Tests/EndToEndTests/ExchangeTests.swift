import Foundation
import TestSupport
import Testing

/// Export and import of alarms, without loss or duplicates.
@Suite struct ExchangeTests {
  private func busyStore() async throws -> Sandbox {
    let sandbox = try Sandbox()
    try await sandbox.plus()
    _ = try await sandbox.belfry(
      "add", "Rent ❤️", "--weekly", "mon,fri", "--at", "09:00", "--note", "a\nb")
    _ = try await sandbox.belfry(
      "add", "Books", "--monthly", "30,31", "--at", "17:00", "--persistent")
    _ = try await sandbox.belfry("add", "Gone", "--daily", now: "2026-11-20T22:42:00Z")
    _ = try await sandbox.belfry("delete", "--yes", "gone", "--yes", now: "2026-11-20T22:43:00Z")
    _ = try await sandbox.belfry("tick", now: "2026-11-23T09:00:00Z")
    _ = try await sandbox.belfry("stop", "rent", now: "2026-11-23T09:01:00Z")
    let id = try await sandbox.belfry("show", "books", "--json").object["id"] as? String
    let file = try sandbox.alarmFile(id)
    try sandbox.write(
      try sandbox.read(file).replacing(
        "{\n  \"delivery\"", with: "{\n  \"colour\": \"red\",\n  \"delivery\""),
      to: file)
    _ = try await sandbox.belfry("tick", now: "2026-11-23T09:02:00Z")
    return sandbox
  }

  @Test func exportIsCompleteAndImportIsRepeatable() async throws {
    let sandbox = try await busyStore()
    let now = "2026-11-23T09:03:00Z"
    let export = try await sandbox.belfry("export", now: now)
    #expect(export.status == 0)
    #expect(export.err.isEmpty)
    #expect((export.object["alarms"] as? [Any])?.count == 3)
    #expect(export.out.contains("\"colour\":\"red\""))
    #expect(try await sandbox.belfry("export", now: "2027-01-01T00:00:00Z").out == export.out)
    let file = sandbox.root + "/all.json"
    #expect(try await sandbox.belfry("export", "--output", file, now: now).status == 0)
    #expect(try sandbox.read(file) == export.out)

    let other = sandbox.root + "/other"
    let first = try await sandbox.belfry("import", file, now: now, store: other, device: "server")
    #expect(first.status == 0, "\(first.err)")
    let second = try await sandbox.belfry("import", file, now: now, store: other, device: "server")
    #expect(second.out == "Nothing to import: all records are already in the store.\n")
    // Except for the new device, the export is identical.
    let back = try await sandbox.belfry("export", now: now, store: other)
    func lines(_ text: String) -> Set<Substring> {
      Set(text.split(separator: "\n").map { $0.hasSuffix(",") ? $0.dropLast() : $0 })
    }
    #expect(lines(export.out).isSubset(of: lines(back.out)))
    let pending = try await sandbox.belfry("pending", "--json", now: now, store: other)
    #expect(pending.array.count == 1)
    #expect(try await sandbox.git("status", "--porcelain", in: other).out.isEmpty)
    // An import into the same store changes nothing.
    let head = try await sandbox.git("rev-parse", "HEAD").out
    _ = try await sandbox.belfry("import", file, now: now)
    #expect(try await sandbox.git("rev-parse", "HEAD").out == head)
  }

  @Test(arguments: [
    ("{\"belfry\": \"export\"", "is not valid: line 1"),
    ("{\"belfry\": \"export\", \"format\": 9}", "reads up to 1"),
    ("{\"belfry\": \"export\", \"format\": 1, \"alarms\": [{\"id\": 3}]}", "'alarms', number 1"),
    (
      "{\"belfry\": \"export\", \"format\": 1, \"alarms\": [], \"devices\": []}",
      "'log' is not a list"
    ),
    ("[1, 2]", "neither an export"), ("", "is not valid"), ("hello", "is not valid"),
  ])
  func invalidExportChangesNothing(_ text: String, _ words: String) async throws {
    let sandbox = try Sandbox()
    _ = try await sandbox.belfry("add", "Tea", "--daily")
    let head = try await sandbox.git("rev-parse", "HEAD").out
    try sandbox.write(text, to: sandbox.root + "/x")
    let output = try await sandbox.belfry("import", sandbox.root + "/x")
    #expect(output.status == 1)
    #expect(output.err.contains(words), "\(output.err)")
    #expect(output.err.split(separator: "\n").count == 2)
    #expect(try await sandbox.git("rev-parse", "HEAD").out == head)
  }

  @Test func calendarIsExportedAndImported() async throws {
    let sandbox = try await busyStore()
    let now = "2026-11-23T09:03:00Z"
    let file = sandbox.root + "/alarms.ics"
    let export = try await sandbox.belfry("export", "--format", "ical", "-o", file, now: now)
    #expect(export.err.contains("Books: a calendar cannot express persistent ringing"))
    #expect(export.err.contains("Rent ❤️: a calendar cannot express the state pending"))
    let other = sandbox.root + "/other"
    try await sandbox.plus(store: other)
    let first = try await sandbox.belfry("import", file, "--json", now: now, store: other)
    #expect(first.object["imported"] as? Int == 2, "\(first.err)")
    let second = try await sandbox.belfry("import", file, "--json", now: now, store: other)
    #expect(second.object["imported"] as? Int == 0)
    #expect(second.object["unchanged"] as? Int == 2)
    let list = try await sandbox.belfry("list", "--json", now: now, store: other).array
    #expect(list.compactMap { $0["title"] as? String }.sorted() == ["Books", "Rent ❤️"])
    let dry = try await sandbox.belfry(
      "import", file, "--dry-run", now: now, store: sandbox.root + "/third")
    #expect(dry.out.hasPrefix("Would import 2 alarms"))
  }

  @Test("A later version of a calendar changes and deletes what an earlier one brought")
  func laterVersion() async throws {
    let sandbox = try Sandbox()
    try await sandbox.plus()
    var hour = 9
    func load(_ time: String, _ lines: String...) async throws -> Sandbox.Output {
      let event =
        ["BEGIN:VEVENT", "UID:1", "SUMMARY:Tea", "DTSTART:20261201T\(time)00"] + lines
        + ["END:VEVENT"]
      try sandbox.write(
        (["BEGIN:VCALENDAR"] + event + ["END:VCALENDAR", ""]).joined(separator: "\r\n"),
        to: sandbox.root + "/x.ics")
      hour += 1
      return try await sandbox.belfry(
        "import", sandbox.root + "/x.ics", now: "2026-11-23T\(hour):00:00Z")
    }
    func next() async throws -> String? {
      try await sandbox.belfry("next", "--json", "--count", "1", now: "2026-11-23T20:00:00Z").array
        .first?["occurrence"] as? String
    }
    _ = try await load("0900", "RRULE:FREQ=WEEKLY")
    let again = try await load("0900", "RRULE:FREQ=WEEKLY")
    #expect(again.out == "Imported 0 alarms; 1 already in the store, 0 left out.\n")
    for time in ["1000", "1100"] {
      let moved = try await load(time, "RRULE:FREQ=WEEKLY")
      #expect(moved.out.contains("1 changed") && moved.out.contains(" → "), "\(moved.out)")
    }
    #expect(try await next() == "2026-12-01T11:00")
    let cancelled = try await load("1100", "STATUS:CANCELLED")
    #expect(cancelled.out.contains("  removed: Tea\n"), "\(cancelled.out)")
    #expect(cancelled.status == 0)
    #expect(try await next() == nil)
  }

  @Test("What a person has edited since, an import leaves as it is")
  func editedSince() async throws {
    let sandbox = try Sandbox()
    try await sandbox.plus()
    func load(_ lines: String, at hour: Int) async throws -> Sandbox.Output {
      try sandbox.write(
        "BEGIN:VCALENDAR\r\nBEGIN:VEVENT\r\nUID:1\r\nSUMMARY:Tea\r\n\(lines)\r\nEND:VEVENT\r\nEND:VCALENDAR\r\n",
        to: sandbox.root + "/x.ics")
      return try await sandbox.belfry(
        "import", sandbox.root + "/x.ics", now: "2026-11-23T\(hour):00:00Z")
    }
    _ = try await load("DTSTART:20261201T090000", at: 10)
    _ = try await sandbox.belfry("edit", "Tea", "--at", "08:00", now: "2026-11-23T11:00:00Z")
    for lines in ["DTSTART:20261201T100000", "DTSTART:20261201T090000\r\nSTATUS:CANCELLED"] {
      let output = try await load(lines, at: 12)
      #expect(output.err.contains("Tea differs from the file, but was edited here"))
      let list = try await sandbox.belfry("list", "--json", now: "2026-11-23T13:00:00Z").array
      #expect(list.compactMap { $0["nextOccurrence"] as? String } == ["2026-12-01T08:00"])
    }
  }

  @Test("An import of foreign alarms is undone, and that of an export is not passed over")
  func undoOfImports() async throws {
    let sandbox = try Sandbox()
    try await sandbox.plus()
    try sandbox.write(
      "BEGIN:VCALENDAR\r\nBEGIN:VEVENT\r\nUID:1\r\nSUMMARY:Tea\r\nDTSTART:20261201T090000\r\nEND:VEVENT\r\nEND:VCALENDAR\r\n",
      to: sandbox.root + "/x.ics")
    _ = try await sandbox.belfry("import", sandbox.root + "/x.ics")
    let export = sandbox.root + "/x.json"
    _ = try await sandbox.belfry("export", "-o", export)
    let undo = try await sandbox.belfry("undo")
    #expect(undo.out == "Undid: Import: Tea; the alarm is deleted.\n", "\(undo.out)\(undo.err)")
    let other = sandbox.root + "/other"
    try await sandbox.plus(store: other)
    _ = try await sandbox.belfry("import", export, store: other)
    let merged = try await sandbox.belfry("undo", store: other)
    #expect(merged.status == 4 && merged.err.contains("merges records as a sync does"))
  }

  @Test("Undo shows the values that change")
  func valuesOfUndo() async throws {
    let sandbox = try Sandbox()
    _ = try await sandbox.belfry("add", "Tea", "daily", "9am")
    _ = try await sandbox.belfry("edit", "Tea", "10am", "--title", "Oat")
    let edit = try await sandbox.belfry("undo")
    #expect(edit.out.hasSuffix("  title: Oat → Tea\n  schedule: daily 10:00 → daily 09:00\n"))
    _ = try await sandbox.belfry("settings", "set", "snooze", "5m")
    #expect(try await sandbox.belfry("undo").out == "Undid: Set snooze to 5m.\n  snooze: 5m → 9m\n")
  }

  @Test("An item that Belfry cannot represent is named, and the exit code says so")
  func leftOut() async throws {
    let sandbox = try Sandbox()
    try sandbox.write(
      "BEGIN:VCALENDAR\r\nBEGIN:VEVENT\r\nUID:1\r\nSUMMARY:Tea\r\nDTSTART:20261201T090000\r\nRRULE:FREQ=SECONDLY\r\nEND:VEVENT\r\nEND:VCALENDAR\r\n",
      to: sandbox.root + "/x.ics")
    let output = try await sandbox.belfry("import", sandbox.root + "/x.ics")
    #expect(output.status == 1 && output.err.contains("left out: Tea: "), "\(output.err)")
    #expect(output.out == "Imported 0 alarms; 0 already in the store, 1 left out.\n")
  }

  @Test func tierLimitAppliesToImport() async throws {
    let sandbox = try Sandbox()
    let events = (1...3).map {
      "BEGIN:VEVENT\r\nUID:\($0)\r\nSUMMARY:x\($0)\r\nDTSTART:20261224T1\($0)0000\r\nEND:VEVENT\r\n"
    }.joined()
    try sandbox.write("BEGIN:VCALENDAR\r\n\(events)END:VCALENDAR\r\n", to: sandbox.root + "/x.ics")
    let output = try await sandbox.belfry("import", sandbox.root + "/x.ics")
    #expect(output.status == 5)
    #expect(try await sandbox.belfry("list", "--json").array.isEmpty)
  }
}
