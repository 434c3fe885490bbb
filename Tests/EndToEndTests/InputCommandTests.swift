import TestSupport
import Testing

/// Tests of schedules, times and dates as people type them, in the commands that take them.
@Suite struct InputCommandTests {
  /// Monday, 10:00 in Berlin.
  private static let now = "2026-11-23T09:00:00Z"

  private func run(_ sandbox: Sandbox, _ arguments: [String]) async throws -> Sandbox.Output {
    try await sandbox.run(
      Sandbox.binary, arguments,
      environment: ["BELFRY_NOW": InputCommandTests.now, "TZ": "Europe/Berlin"])
  }

  private func sandbox() async throws -> Sandbox {
    let sandbox = try Sandbox()
    try await sandbox.plus()
    return sandbox
  }

  @Test(
    "The words after the title are the schedule",
    arguments: [
      (["Rent", "every", "last", "workday", "at", "9am"], "2026-11-30T09:00"),
      (["Bins", "every other tuesday 7pm except 2026-12-29"], "2026-11-24T19:00"),
      (["Tea", "in", "20m"], "2026-11-23T10:20"),
      (["Call", "every", "mon", "9am", "new", "york", "time"], "2026-11-23T09:00"),
      (["Cron", "0 9 * * 1-5"], "2026-11-24T09:00"),
      (["Timer", "Mon..Fri 08:00"], "2026-11-24T08:00"),
      (["Rule", "RRULE:FREQ=WEEKLY;BYDAY=FR", "at", "9am"], "2026-11-27T09:00"),
      (["Filter", "90", "days", "after", "done", "at", "18:00"], "2027-02-21T18:00"),
      (["Note", "--note", "x", "every", "fri", "9am"], "2026-11-27T09:00"),
      (["Option", "--schedule", "every fri 9am"], "2026-11-27T09:00"),
      (["Mixed", "every", "fri", "--at", "9am"], "2026-11-27T09:00"),
      (["Once", "--once", "tomorrow 18:00"], "2026-11-24T18:00"),
      (["Zone", "--daily", "--at", "9am", "--zone", "tokyo"], "2026-11-24T09:00"),
    ])
  func add(_ arguments: [String], _ next: String) async throws {
    let sandbox = try await sandbox()
    let output = try await run(sandbox, ["add", "--json"] + arguments)
    #expect(output.status == 0, "\(output.err)")
    #expect(output.object["nextOccurrence"] as? String == next)
  }

  @Test("A phrase changes what it names, and the answer shows the schedule before and after")
  func editKeepsTheRest() async throws {
    let sandbox = try await sandbox()
    _ = try await run(sandbox, ["add", "Gym", "tue 18:00 until 15 dec"])
    let edit = try await run(sandbox, ["edit", "gym", "to", "19:00", "+sport"])
    #expect(
      edit.out.hasPrefix(
        """
        Before: every Tue 18:00, until 15 Dec.
        Now: every Tue 19:00, until 15 Dec.
        Changed schedule, tags of Gym
        """), "\(edit.out)\(edit.err)")
    let late = try await run(sandbox, ["edit", "gym", "from", "1", "dec"])
    #expect(late.out.contains("from 1 Dec, until 15 Dec."), "\(late.out)\(late.err)")
  }

  @Test(
    "A pause has an end or a length",
    arguments: [["2w"], ["for", "2", "weeks"], ["until", "2w"], ["--until", "2w"]])
  func pause(_ end: [String]) async throws {
    let sandbox = try await sandbox()
    _ = try await run(sandbox, ["add", "Gym", "every tue 18:00"])
    let pause = try await run(sandbox, ["pause", "gym"] + end)
    #expect(pause.out.hasPrefix("Paused Gym until Mon 7 Dec 2026"), "\(pause.out)\(pause.err)")
  }

  @Test("`due:` selects the occurrences of `next`")
  func nextOnDates() async throws {
    let sandbox = try await sandbox()
    _ = try await run(sandbox, ["add", "Pills", "daily at 8:00 and 20:00"])
    _ = try await run(sandbox, ["add", "Gym", "every thu 18:00"])
    func occurrences(_ words: String...) async throws -> [String] {
      try await run(sandbox, ["next", "--json"] + words).array
        .compactMap { $0["occurrence"] as? String }
    }
    #expect(
      try await occurrences("due:tomorrow") == ["2026-11-24T08:00", "2026-11-24T20:00"])
    #expect(try await occurrences("due:today") == ["2026-11-23T20:00"])
    #expect(try await occurrences("due:2026-11-26", "Gym") == ["2026-11-26T18:00"])
    #expect(try await occurrences("due:2026-11-27", "Gym") == [])
  }

  @Test("The report of a new alarm says where a time comes from that nobody typed")
  func defaultTime() async throws {
    let sandbox = try await sandbox()
    let now = try await run(sandbox, ["add", "Bins", "every monday"])
    #expect(now.out.contains("every Mon 10:00, the time of day now: "), "\(now.out)")
    _ = try await run(sandbox, ["settings", "set", "defaultTime", "9am"])
    let later = try await run(sandbox, ["add", "Rent", "monthly"])
    #expect(later.out.contains("09:00, the default time: "), "\(later.out)")
    #expect(try await run(sandbox, ["at", "tomorrow", "Lunch"]).status == 0)
    let evening = try await run(sandbox, ["add", "Call", "every", "evening"])
    #expect(evening.err.contains("belfry settings set evening 19:00"), "\(evening.err)")
    _ = try await run(sandbox, ["settings", "set", "evening", "19:00"])
    #expect(try await run(sandbox, ["add", "Call", "every", "evening"]).status == 0)
  }

  @Test(
    "A schedule that is not clear is refused, and nothing is added",
    arguments: [
      (["add", "Rent"], "error: Rent has no schedule: on which days?"),
      (["add", "Rent", "--at", "9am"], "error: Rent has no schedule: on which days?"),
      (["add", "Pay", "rent", "evry", "mon"], "Did you mean 'every mon'?"),
      (["add", "Rent", "every", "tuesdy"], "Did you mean 'every tuesday'?"),
      (["add", "Rent", "3/4 9am"], "error: '3/4' can mean 3 Apr or 4 Mar."),
      (["add", "Rent", "every mon", "--daily"], "--daily cannot be combined with the schedule"),
      (["add", "Rent", "every mon 9am", "--at", "10:00"], "--at cannot be combined"),
      (["add", "Rent", "every mon", "--schedule", "daily"], "the schedule is given twice"),
      (["add", "Rent", "--daily", "--zone", "berln"], "Did you mean Europe/Berlin?"),
      (["at", "7", "Tea"], "error: '7' can mean 07:00 or 19:00."),
      (["at", "tomorrow", "Tea"], "error: the time is missing"),
      (
        ["add", "Passport", "expires", "3 may 2029", "remind", "the evening before"],
        "--warn 2w"
      ),
      (["add", "Tax", "return", "by", "31", "july", "2027"], "leave out 'by'"),
      (["at", "9am", "daily", "Standup"], "rings once, but 'daily' repeats it"),
      (
        ["in", "6", "weeks", "Haircut", "10am"], "hint: Write it before: belfry in 6 weeks at 10am"
      ),
      (
        ["add", "Books", "last", "day", "of", "the", "year", "9am"],
        "hint: Put the title into quotes"
      ),
      (["at", "16:45"], "error: the title is missing."),
      (["in", "20m"], "error: the title is missing."),
      (["in", "20", "Tea"], "error: '20' has no unit."),
      (["in", "soon", "Tea"], "error: 'soon' is not a length of time."),
      (["when", "every", "blurb"], "'blurb' in 'every blurb' is not understood."),
      (["when", "FREQ=MONTHLY;BYMONTHDAY=31 9am"], "cannot follow it"),
      (["when", "2020-01-01", "9am"], "has no future occurrence"),
    ])
  func refusals(_ arguments: [String], _ words: String) async throws {
    let sandbox = try await sandbox()
    let head = try await sandbox.git("rev-parse", "HEAD").out
    let output = try await run(sandbox, arguments)
    #expect(output.status == 2)
    #expect(output.err.contains(words), "\(output.err)")
    #expect(try await sandbox.git("rev-parse", "HEAD").out == head)
  }

  @Test("belfry in and belfry at add alarms that ring once")
  func oneTime() async throws {
    let sandbox = try await sandbox()
    for (arguments, title, next) in [
      (["in", "20m", "Tea"], "Tea", "2026-11-23T10:20"),
      (["in", "1", "hour", "Take the bread out"], "Take the bread out", "2026-11-23T11:00"),
      (["in", "3", "days", "Water", "plants"], "Water plants", "2026-11-26T10:00"),
      (["at", "16:45", "Call mum"], "Call mum", "2026-11-23T16:45"),
      (["at", "tomorrow", "9am", "Dentist"], "Dentist", "2026-11-24T09:00"),
      (["at", "24 dec 18:00", "Presents"], "Presents", "2026-12-24T18:00"),
    ] {
      let output = try await run(sandbox, arguments + ["--json"])
      #expect(output.status == 0, "\(output.err)")
      #expect(output.object["title"] as? String == title)
      #expect(output.object["nextOccurrence"] as? String == next)
    }
  }

  @Test("belfry when shows how a schedule is understood, and stores nothing")
  func when() async throws {
    let sandbox = try Sandbox()
    let json = try await run(sandbox, ["when", "every 2nd fri 9am until june", "--json"])
    #expect(
      json.object["understood"] as? String
        == "every 2 weeks on fri at 09:00, from 2026-11-27, until 2027-06-30")
    #expect((json.object["next"] as? [String])?.first == "2026-11-27T09:00")
    #expect((json.object["next"] as? [String])?.count == 5)
    let text = try await run(sandbox, ["when", "daily", "9am", "--count", "2"])
    #expect(text.out == "Daily 09:00\n  Tue 24 Nov 2026, 09:00\n  Wed 25 Nov 2026, 09:00\n")
    #expect(try await sandbox.run("/bin/ls", [sandbox.store]).status != 0)
  }

  @Test("A date names an occurrence if there is one on it")
  func occurrenceByDate() async throws {
    let sandbox = try await sandbox()
    _ = try await run(sandbox, ["add", "Rent", "every 1st at 9am"])
    _ = try await run(sandbox, ["add", "Pills", "daily at 9am and 9pm"])
    let skip = try await run(
      sandbox, ["skip", "--yes", "rent", "--occurrence", "1 jan", "--yes", "--json"])
    #expect(skip.object["occurrence"] as? String == "2027-01-01T09:00", "\(skip.err)")
    let several = try await run(sandbox, ["skip", "pills", "--occurrence", "tomorrow", "--yes"])
    #expect(several.status == 2)
    #expect(several.err.contains("Name one: --occurrence 2026-11-24T09:00 or 2026-11-24T21:00."))
    let none = try await run(
      sandbox, ["skip", "--yes", "rent", "--occurrence", "tomorrow", "--yes"])
    #expect(none.status == 2)
    #expect(none.err.contains("Rent has no occurrence on Tue 24 Nov 2026"))
  }

  @Test("Ends of pauses and skips, and times of completion, are moments")
  func moments() async throws {
    let sandbox = try await sandbox()
    _ = try await run(sandbox, ["add", "Rent", "daily 9am"])
    let pause = try await run(sandbox, ["pause", "rent", "--until", "friday"])
    #expect(
      pause.out.contains("until Fri 27 Nov 2026: next is Fri 27 Nov 2026, 09:00"), "\(pause.err)")
    _ = try await run(sandbox, ["resume", "rent"])
    let skip = try await run(sandbox, ["skip", "rent", "--until", "in 3 days", "--yes"])
    #expect(skip.out.contains("Thu 26 Nov 2026, 09:00"), "\(skip.out)\(skip.err)")
    let done = try await run(sandbox, ["done", "rent", "--early", "--at", "20 min ago"])
    #expect(done.out.contains("at 09:40"), "\(done.out)\(done.err)")
  }

  @Test("A phrase replaces the schedule of an alarm")
  func edit() async throws {
    let sandbox = try await sandbox()
    _ = try await run(sandbox, ["add", "Bins", "every tue 7pm"])
    let edit = try await run(
      sandbox, ["edit", "bins", "--schedule", "every other fri until june", "--json"])
    #expect(edit.object["nextOccurrence"] as? String == "2026-11-27T19:00", "\(edit.err)")
    let schedule = edit.object["schedule"] as? [String: Any]
    #expect(schedule?["interval"] as? Int == 2)
    #expect(schedule?["until"] as? String == "2027-06-30")
  }
}
