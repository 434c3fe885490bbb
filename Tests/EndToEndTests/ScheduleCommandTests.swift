import TestSupport
import Testing

/// Tests of the schedules that the command line offers, with their messages.
@Suite struct ScheduleCommandTests {
  private static let now = "2026-11-20T22:41:00Z"

  private func sandbox() async throws -> Sandbox {
    let sandbox = try Sandbox()
    try await sandbox.plus()
    return sandbox
  }

  private static let holidays = """
    BEGIN:VCALENDAR
    VERSION:2.0
    PRODID:-//test//test//EN
    BEGIN:VEVENT
    UID:1
    DTSTART;VALUE=DATE:20261225
    DTEND;VALUE=DATE:20261227
    SUMMARY:Christmas
    END:VEVENT
    BEGIN:VEVENT
    UID:2
    DTSTART;VALUE=DATE:20200101
    RRULE:FREQ=YEARLY
    SUMMARY:New Year
    END:VEVENT
    END:VCALENDAR

    """

  private func importHolidays(_ sandbox: Sandbox) async throws {
    try sandbox.write(ScheduleCommandTests.holidays, to: sandbox.root + "/holidays.ics")
    let output = try await sandbox.belfry(
      "calendar", "import", "de-BE", sandbox.root + "/holidays.ics")
    #expect(output.status == 0, "\(output.err)")
    #expect(output.out == "Imported 12 holidays of 2026–2035 into de-BE.\n")
  }

  @Test(
    "Each option leads to its next occurrences",
    arguments: [
      (["--monthly", "last workday"], ["2026-11-30", "2026-12-31", "2027-01-29"]),
      (["--monthly", "first workday,last-1 fri"], ["2026-12-01", "2026-12-18", "2027-01-04"]),
      (["--monthly", "last-2"], ["2026-11-28", "2026-12-29", "2027-01-29"]),
      (["--monthly", "fifth fri"], ["2027-01-29", "2027-04-30", "2027-07-30"]),
      (["--annual", "fourth thu of nov"], ["2026-11-26", "2027-11-25", "2028-11-23"]),
      (["--annual", "10 of mar,jun,sep,dec"], ["2026-12-10", "2027-03-10", "2027-06-10"]),
      (["--monthly", "15", "--every", "3"], ["2027-02-15", "2027-05-15", "2027-08-15"]),
      (["--daily", "--times", "2"], ["2026-11-21", "2026-11-22"]),
      (["--daily", "--ends", "2026-11-22"], ["2026-11-21", "2026-11-22"]),
      (["--weekly", "fri", "--except", "2026-11-27"], ["2026-12-04", "2026-12-11", "2026-12-18"]),
      (["--weekly", "fri", "--on-holiday", "skip"], ["2026-11-27", "2026-12-04", "2026-12-11"]),
      (
        ["--annual", "12-25", "--on-holiday", "before"], ["2026-12-24", "2027-12-25", "2028-12-25"]
      ),
      (
        ["--annual", "12-25", "--on-holiday", "after"], ["2026-12-28", "2027-12-25", "2028-12-25"]
      ),
      (["--after-done", "90d"], ["2027-02-18", "2027-05-19", "2027-08-17"]),
      (
        ["--after-done", "2w", "--start", "2026-11-23"], ["2026-11-23", "2026-12-07", "2026-12-21"]
      ),
    ])
  func options(_ options: [String], _ expected: [String]) async throws {
    let sandbox = try await sandbox()
    try await importHolidays(sandbox)
    let add = try await sandbox.belfry(["add", "Rent", "--at", "09:00"] + options, now: Self.now)
    #expect(add.status == 0, "\(add.err)")
    let next = try await sandbox.belfry("next", "rent", "--count", "3", "--json", now: Self.now)
    let dates = next.array.compactMap { ($0["occurrence"] as? String)?.prefix(10) }
    #expect(dates == expected.map { $0[...] })
    // The exported document leads to the same occurrences.
    let export = try await sandbox.belfry("export", now: Self.now)
    try sandbox.write(export.out, to: sandbox.root + "/all.json")
    let other = sandbox.root + "/other"
    _ = try await sandbox.belfry(
      "import", sandbox.root + "/all.json", now: Self.now, store: other, device: "server")
    #expect(
      try await sandbox.belfry(
        "next", "rent", "--count", "3", "--json", now: Self.now, store: other
      )
      .array.compactMap { ($0["occurrence"] as? String)?.prefix(10) } == dates)
  }

  @Test(
    "A window leads to its times, and a pending occurrence announces no follow-up after the next one"
  )
  func window() async throws {
    let sandbox = try await sandbox()
    let add = try await sandbox.belfry(
      "add", "Water", "--weekly", "mon", "--at", "09:00-17:00/2h", now: "2026-11-23T08:00:00Z")
    #expect(add.out.contains(", Mon every 2 h 09:00–17:00: "), "\(add.out)\(add.err)")
    let next = try await sandbox.belfry(
      "next", "water", "--count", "6", "--json", now: "2026-11-23T08:00:00Z")
    #expect(
      next.array.compactMap { $0["occurrence"] as? String } == [
        "2026-11-23T09:00", "2026-11-23T11:00", "2026-11-23T13:00", "2026-11-23T15:00",
        "2026-11-23T17:00", "2026-11-30T09:00",
      ])
    // The record contains the times, so that an earlier version rings at each of them.
    #expect(try sandbox.read(sandbox.alarmFile()).contains("\"13:00\""))
    let stopped = try await sandbox.belfry(
      "add", "Stretch", "--daily", "--at", "/20m", now: "2026-11-23T08:50:00Z")
    #expect(stopped.status == 0, "\(stopped.err)")
    _ = try await sandbox.belfry("tick", now: "2026-11-23T09:00:00Z")
    for (title, followUp) in [("Stretch", nil), ("Water", "2026-11-23T09:31:00Z")] {
      let stop = try await sandbox.belfry("stop", title, "--json", now: "2026-11-23T09:01:00Z")
      let pending = stop.object["pending"] as? [String: Any]
      #expect(pending?["nextFollowUp"] as? String == followUp, "\(stop.out)")
    }
    // The follow-up of a strict alarm comes nevertheless, because it stays pending.
    _ = try await sandbox.belfry("edit", "Stretch", "--strict", now: "2026-11-23T09:02:00Z")
    let show = try await sandbox.belfry("show", "Stretch", "--json", now: "2026-11-23T09:03:00Z")
    let pending = show.object["pending"] as? [String: Any]
    #expect(pending?["nextFollowUp"] as? String == "2026-11-23T09:31:00Z", "\(show.out)")
  }

  @Test(
    "Options that do not fit are refused with what to do",
    arguments: [
      (
        ["--daily", "--times", "2", "--ends", "2027-01-01"],
        "--ends and --times cannot be combined."
      ),
      (["--after-done", "9x"], "--after-done: '9x' is not a number of days"),
      (["--after-done", "90d", "--times", "3"], "--times cannot be combined with --after-done."),
      (["--after-done", "90d", "--every", "2"], "--after-done cannot be combined with --every."),
      (["--after-done", "90d", "--at", "09:00,10:00"], "exactly one time of day"),
      (["--daily", "--times", "0"], "--times: 0 is not a number from 1"),
      (["--daily", "--ends", "soon"], "--ends: 'soon' is not a date"),
      (["--daily", "--ends", "2020-01-01"], "has no future occurrence"),
      (["--daily", "--except", "someday"], "--except: 'someday' is not a date"),
      (["--daily", "--on-holiday", "never"], "--on-holiday: 'never' is not skip, before, after"),
      (["--monthly", "24th workday"], "no month has the day '24th workday'"),
      (
        ["--annual", "fourth thu of november,foo"],
        "--annual: 'foo' in 'fourth thu of november,foo' is not understood"
      ),
      (["--once", "2026-12-24T18:00", "--ends", "2027-01-01"], "a one-time alarm has no end"),
    ])
  func refusals(_ options: [String], _ words: String) async throws {
    let sandbox = try await sandbox()
    let add = try await sandbox.belfry(["add", "Rent"] + options, now: Self.now)
    #expect(add.status == 2)
    #expect(add.err.contains(words), "\(add.err)")
    #expect(try await sandbox.belfry("list", "--json").array.isEmpty)
  }

  @Test("A filter is due again after it was changed, and every day until then")
  func afterDone() async throws {
    let sandbox = try await sandbox()
    _ = try await sandbox.belfry(
      "add", "Filter", "--after-done", "90d", "--start", "2026-11-23", "--at", "18:00",
      now: Self.now)
    for day in ["2026-11-23", "2026-11-24"] {
      _ = try await sandbox.belfry("tick", now: "\(day)T18:00:00Z")
      _ = try await sandbox.belfry("tick", now: "\(day)T18:31:00Z")
      // The helper of the first tick has the clock of that day, and does not believe later deliveries.
      #expect(try await sandbox.waitForHelpers())
    }
    #expect(sandbox.rings == ["Filter 2026-11-23T18:00", "Filter 2026-11-24T18:00"])
    _ = try await sandbox.belfry("tick", now: "2026-11-25T18:00:00Z")
    let done = try await sandbox.belfry("done", "filter", now: "2026-11-25T18:20:00Z")
    #expect(
      done.out
        == "Done: Filter (Wed 25 Nov 2026, 18:00); next is Tue 23 Feb 2027, 18:00, in 90 days.\n")
    #expect(
      try await sandbox.belfry("list", "--json", now: "2026-11-26T18:00:00Z").array.first?["state"]
        as? String == "active")
    let undo = try await sandbox.belfry("undo", now: "2026-11-25T18:21:00Z")
    #expect(undo.status == 0, "\(undo.err)")
    #expect(
      try await sandbox.belfry("next", "--json", now: "2026-11-25T19:00:00Z").array
        .first?["occurrence"] as? String == "2026-11-26T18:00")
  }

  @Test("An edit keeps the limits, and 'none' removes them")
  func edits() async throws {
    let sandbox = try await sandbox()
    _ = try await sandbox.belfry(
      "add", "Bins", "--weekly", "tue", "--ends", "2027-03-01", "--except", "2026-12-29",
      "--on-holiday", "after", "--at", "19:00", now: Self.now)
    func summary(_ options: String...) async throws -> String? {
      let edit = try await sandbox.belfry(["edit", "bins"] + options, now: Self.now)
      #expect(edit.status == 0, "\(edit.err)")
      return try await sandbox.belfry("show", "bins", now: Self.now).out
        .split(separator: "\n").first { $0.contains("schedule ") }
        .map { $0.drop { $0 == " " }.dropFirst("schedule    ".count).description }
    }
    #expect(
      try await summary("--at", "19:30")
        == "every Tue 19:30, until 1 Mar 2027, except 29 Dec, or the workday after a holiday")
    #expect(
      try await summary("--weekly", "tue,fri", "--ends", "none", "--on-holiday", "none")
        == "Tue, Fri 19:30, except 29 Dec")
    #expect(try await summary("--except", "none") == "Tue, Fri 19:30")
  }

  @Test("Holiday calendars are listed, synced and removed")
  func calendars() async throws {
    let sandbox = try await sandbox()
    try await importHolidays(sandbox)
    let remote = sandbox.root + "/remote.git"
    _ = try await sandbox.git("init", "-q", "--bare", remote, in: sandbox.root)
    _ = try await sandbox.belfry("remote", "add", "origin", remote)
    _ = try await sandbox.belfry("add", "Bins", "--weekly", "fri", "--on-holiday", "after")
    #expect(try await sandbox.belfry("sync").status == 0)
    let other = sandbox.root + "/other"
    #expect(
      try await sandbox.belfry("clone", "file://" + remote, store: other, device: "server").status
        == 0)
    #expect(
      try await sandbox.belfry("calendar", store: other).out
        == "de-BE  12 holidays, 2026–2035\n")
    let show = try await sandbox.belfry("calendar", "show", "DE-be", store: other)
    #expect(show.out.hasPrefix("Fri 25 Dec 2026  Christmas\nSat 26 Dec 2026  Christmas\n"))
    let refused = try await sandbox.belfry("calendar", "remove", "de-BE", store: other)
    #expect(refused.status == 2)
    #expect(refused.err.contains("1 alarm will ring on its 12 holidays"))
    #expect(
      try await sandbox.belfry("calendar", "remove", "de-BE", "--yes", store: other).status == 0)
    #expect(try await sandbox.belfry("sync", store: other).status == 0)
    #expect(try await sandbox.belfry("sync").status == 0)
    #expect(try await sandbox.belfry("calendar", "list", "--json").array.isEmpty)
    let undo = try await sandbox.belfry("undo", store: other)
    #expect(undo.out == "Undid: Remove the holidays de-BE.\n")
    #expect(
      try await sandbox.belfry("calendar", store: other).out == "de-BE  12 holidays, 2026–2035\n")
    #expect(try await sandbox.git("status", "--porcelain").out.isEmpty)
  }

  @Test(
    "Calendar commands with wrong input say what to do",
    arguments: [
      (["import", "a/b", "x.ics"], 2, "'a/b' is not a name for a calendar"),
      (["import", "de", "/nonexistent.ics"], 1, "there is no file"),
      (["import", "de", "/etc/hostname"], 1, "is not an iCalendar file"),
      (["show", "de"], 3, "there is no calendar 'de'"),
      (["remove", "de", "--yes"], 3, "there is no calendar 'de'"),
    ])
  func calendarErrors(_ arguments: [String], _ status: Int, _ words: String) async throws {
    let output = try await sandbox().belfry(["calendar"] + arguments)
    #expect(Int(output.status) == status)
    #expect(output.err.contains(words), "\(output.err)")
    #expect(output.err.contains("hint: "))
  }

  @Test("A change of the workdays changes the next occurrences")
  func workdays() async throws {
    let sandbox = try await sandbox()
    _ = try await sandbox.belfry("add", "Rent", "--monthly", "last workday", "--at", "09:00")
    let set = try await sandbox.belfry("settings", "set", "workdays", "sat,sun")
    #expect(set.out == "Set workdays to sat,sun on all devices after their next sync.\n")
    let next = try await sandbox.belfry("list", "--json").array.first?["nextOccurrence"] as? String
    #expect(next == "2026-11-29T09:00")
    let refused = try await sandbox.belfry("settings", "set", "workdays", "never")
    #expect(refused.status == 2 && refused.err.contains("one or more weekdays"))
  }
}
