import TestSupport
import Testing

/// Commands from a week of use: pauses that begin later, names that several alarms have, times that replace others, and
/// answers to everything that is open.
@Suite struct WeekOfUseTests {
  private let sandbox: Sandbox

  init() async throws {
    sandbox = try Sandbox()
    try await sandbox.plus()
  }

  /// Runs a command at a UTC time of November 2026.
  private func run(_ time: String, _ words: String...) async throws -> Sandbox.Output {
    try await sandbox.belfry(words, now: "2026-11-\(time):00Z")
  }

  /// Returns the actions of an alarm in the log, the oldest first, with their occurrences.
  private func outcomes(_ name: String, at time: String) async throws -> [String] {
    let log = try await run(time, "log", name, "--json").array
    return log.reversed().compactMap { entry in
      guard let action = entry["action"] as? String, ["fired", "skipped"].contains(action) else {
        return nil
      }
      return "\(action) \(entry["occurrence"] as? String ?? "")"
    }
  }

  @Test("An alarm rings before a planned pause and after it, and not between")
  func planned() async throws {
    _ = try await run("23T08:00", "add", "Gym", "daily 09:00")
    let pause = try await run("23T08:01", "pause", "gym", "from", "wednesday", "until", "friday")
    #expect(
      pause.out
        == "Paused Gym from Wed 25 Nov 2026 until Fri 27 Nov 2026: next is Mon 23 Nov 2026, 09:00, in 59 min.\n",
      "\(pause.err)")
    let show = try await run("23T08:02", "show", "gym")
    #expect(show.out.contains("pause       from Wed 25 Nov 2026 until Fri 27 Nov 2026"))
    let log = try await run("23T08:02", "log", "gym")
    #expect(log.out.contains("from 25 Nov 00:00 until 27 Nov 00:00"), "\(log.out)")
    for day in 23...27 { _ = try await run("\(day)T09:00", "tick") }
    #expect(
      try await outcomes("gym", at: "27T09:01")
        == [
          "fired 2026-11-23T09:00", "fired 2026-11-24T09:00", "skipped 2026-11-25T09:00",
          "skipped 2026-11-26T09:00", "fired 2026-11-27T09:00",
        ])
  }

  @Test("A pause of an alarm that has one gets a new end, replaces it, or is refused")
  func second() async throws {
    _ = try await run("23T08:00", "add", "Gym", "daily 09:00")
    func paused(_ words: String...) async throws -> String {
      let output = try await sandbox.belfry(["pause", "gym"] + words, now: "2026-11-23T08:01:00Z")
      return output.status == 0
        ? String(output.out.prefix { $0 != ":" }) : String(output.err.prefix { $0 != "," })
    }
    #expect(
      try await paused("from", "wed", "until", "fri")
        == "Paused Gym from Wed 25 Nov 2026 until Fri 27 Nov 2026")
    #expect(
      try await paused("from", "thu", "to", "sun")
        == "Paused Gym from Thu 26 Nov 2026 until Sun 29 Nov 2026")
    #expect(
      try await paused("until", "tomorrow")
        == "error: Gym has a pause from Thu 26 Nov 2026 until Sun 29 Nov 2026")
    #expect(try await paused("until", "fri") == "Paused Gym until Fri 27 Nov 2026")
    #expect(try await paused("from", "wed", "until", "sat") == "Paused Gym until Sat 28 Nov 2026")
    // With --all, a pause becomes longer, never shorter.
    let all = try await run("23T08:02", "pause", "--all", "from", "fri", "until", "30 nov")
    #expect(all.out.hasPrefix("Paused Gym until Mon 30 Nov 2026"), "\(all.out)\(all.err)")
    let shorter = try await run("23T08:02", "pause", "--all", "until", "tue")
    #expect(shorter.out.hasPrefix("Nothing changed"), "\(shorter.out)\(shorter.err)")
  }

  @Test("A pause needs an end behind its beginning")
  func ends() async throws {
    _ = try await run("23T08:00", "add", "Gym", "daily 09:00")
    let open = try await run("23T08:01", "pause", "gym", "from", "wednesday")
    #expect(open.status == 2 && open.err.contains("the end of the pause is missing"), "\(open.err)")
    let reversed = try await run(
      "23T08:01", "pause", "gym", "--from", "2026-11-28", "--until", "2026-11-26")
    #expect(reversed.status == 2, "\(reversed.err)")
    #expect(reversed.err.contains("a pause from Sat 28 Nov 2026, 00:00 cannot end"))
    let twice = try await run("23T08:01", "pause", "gym", "2w", "--until", "friday")
    #expect(twice.status == 2 && twice.err.contains("given twice"), "\(twice.err)")
    // A weekday behind the beginning is the next one after it.
    let week = try await run("23T08:01", "pause", "gym", "from", "saturday", "until", "thursday")
    #expect(week.out.hasPrefix("Paused Gym from Sat 28 Nov 2026 until Thu 3 Dec 2026"))
  }

  @Test("Of several alarms, an answer or a move means the one that has the occurrence")
  func meant() async throws {
    _ = try await run("23T08:00", "add", "Plants in summer", "every sun 10:00 march to october")
    _ = try await run("23T08:00", "add", "Plants in winter", "every sun 10:00 nov to feb")
    let move = try await run("23T08:01", "move", "plants", "sunday", "to", "monday", "8:00")
    #expect(
      move.out.contains("Moved Plants in winter from Sun 29 Nov 2026, 10:00 to Mon 30 Nov 2026"),
      "\(move.out)\(move.err)")
    let skip = try await run("23T08:02", "skip", "plants", "6 dec", "--yes", "--json")
    #expect(skip.object["title"] as? String == "Plants in winter", "\(skip.err)")
    let unclear = try await run("23T08:02", "skip", "plants", "--yes")
    #expect(unclear.status == 3 && unclear.err.contains("any of 2 alarms"), "\(unclear.err)")
  }

  @Test("What stays missed behind an answer is named")
  func stillMissed() async throws {
    _ = try await run("23T08:00", "add", "Pills", "daily 09:00", "--strict")
    _ = try await run("26T09:00", "tick")
    let done = try await run("26T09:01", "done", "--all")
    #expect(
      done.out.contains(
        "Still missed: Wed 25 Nov 2026, 09:00 and 2 more. To close: belfry dismiss"),
      "\(done.out)\(done.err)")
  }

  @Test("Warnings and the latest completion are words of a new alarm")
  func words() async throws {
    let rent = try await run(
      "23T08:00", "add", "Rent", "monthly", "on", "the", "1st", "at", "9:00", "remind", "me", "a",
      "day", "before")
    #expect(rent.out.contains("monthly 1st 09:00, warns 1 day before"), "\(rent.out)\(rent.err)")
    let line = try await run(
      "23T08:00", "add", "Car inspection 15 march 9:00 with reminders two weeks and one day before")
    #expect(
      line.out.hasPrefix("Added Car inspection") && line.out.contains("warns 14 days and 1 day"),
      "\(line.out)\(line.err)")
    let edit = try await run("23T08:00", "edit", "rent", "warn", "2", "hours", "ahead")
    #expect(edit.out.contains("delivery"), "\(edit.out)\(edit.err)")
    let filter = try await run(
      "23T08:00", "add", "Filter", "every 3 months after done, last changed on 10 october at 9:00")
    #expect(filter.out.contains("first on 10 Jan 2027"), "\(filter.out)\(filter.err)")
  }

  @Test("One time of day takes the place of another")
  func replacedTime() async throws {
    _ = try await run("23T08:00", "add", "Pills", "daily 7:30 and 19:30")
    let edit = try await run("23T08:01", "edit", "pills", "19:30", "to", "20:00")
    #expect(edit.out.contains("next is Mon 23 Nov 2026, 20:00"), "\(edit.out)\(edit.err)")
    let half = try await run("23T08:01", "edit", "pills", "from", "8:00", "to", "8:15", "--json")
    let times = (half.object["schedule"] as? [String: Any])?["times"] as? [String]
    #expect(times == ["07:30", "20:15"], "\(half.err)")
    let unknown = try await run("23T08:01", "edit", "pills", "9:00", "to", "10:00")
    #expect(unknown.status == 2, "\(unknown.out)")
    #expect(unknown.err.contains("09:00 is not one of the times of day, 07:30, 20:15"))
  }

  @Test("`done all` settles all that is open, and a name only the latest")
  func everyOpen() async throws {
    _ = try await run("23T08:00", "add", "Pills", "daily 9:00", "--strict")
    for day in ["23", "24"] {
      _ = try await run("\(day)T09:00", "tick")
      _ = try await run("\(day)T09:01", "stop", "pills")
    }
    let one = try await run("24T09:02", "done", "pills")
    #expect(one.out.contains("Still pending: "), "\(one.out)\(one.err)")
    _ = try await run("24T09:03", "undo")
    let all = try await run("24T09:04", "done", "all")
    #expect(!all.out.contains("Still pending"), "\(all.out)\(all.err)")
    let list = try await run("24T09:05", "list", "--json")
    #expect(list.array.first?["state"] as? String == "active")
    let undo = try await run("24T09:06", "undo")
    #expect(undo.status == 0, "\(undo.err)")
    let again = try await run("24T09:07", "list", "pending", "--json")
    #expect(again.array.count == 1)
  }

  @Test("`when` shows the dates of an alarm, too")
  func whenAlarm() async throws {
    _ = try await run("23T08:00", "add", "Rent", "monthly on the 1st at 9:00")
    let rent = try await run("23T08:01", "when", "rent", "--count", "2")
    #expect(
      rent.out
        == "Rent: monthly 1st 09:00\n  Tue 1 Dec 2026, 09:00\n  Fri 1 Jan 2027, 09:00\n",
      "\(rent.err)")
    let document = try await run("23T08:01", "when", "rent", "--json", "--count", "1")
    #expect(document.object["next"] as? [String] == ["2026-12-01T09:00"], "\(document.err)")
    #expect(try await run("23T08:01", "when", "coffee").status == 2)
  }

  @Test("The log takes several names, and `since` among its words")
  func logWords() async throws {
    for title in ["Tea", "Pills", "Rent"] {
      _ = try await run("22T08:00", "add", title, "daily 9:00")
    }
    for title in ["tea", "pills", "rent"] { _ = try await run("23T08:30", "note", title, "x") }
    func titles(_ words: String...) async throws -> Set<String> {
      let log = try await sandbox.belfry(["log", "--json"] + words, now: "2026-11-24T08:00:00Z")
      return Set(
        log.array.compactMap { ($0["title"] as? String).map { t in "\(t) \(log.array.count)" } })
    }
    #expect(try await titles("tea", "pills") == ["Tea 4", "Pills 4"])
    #expect(
      try await titles("tea", "pills", "since", "yesterday", "evening") == ["Tea 2", "Pills 2"])
    #expect(try await titles("since", "yesterday", "rent") == ["Rent 1"])
  }

  @Test("An export into a folder gets a name")
  func exportFolder() async throws {
    _ = try await run("23T08:00", "add", "Rent", "monthly on the 1st at 9:00")
    for (options, name) in [([], "belfry.json"), (["--format", "ical"], "belfry.ics")] {
      let export = try await sandbox.belfry(
        ["export", sandbox.root] + options, now: "2026-11-23T08:01:00Z")
      #expect(export.err.contains("Wrote \(sandbox.root)/\(name)."), "\(export.err)")
    }
  }

  @Test("A skip of a named day asks nothing, and says what was skipped")
  func namedSkip() async throws {
    _ = try await run("23T08:00", "add", "Gym", "every mon, wed, fri 18:00")
    let skip = try await run("23T08:01", "skip", "gym", "friday")
    #expect(
      skip.out
        == "Skipped Gym (Fri 27 Nov 2026, 18:00); next is Mon 23 Nov 2026, 18:00, in 9 h 59 min.\n",
      "\(skip.err)")
    #expect(try await run("23T08:01", "skip", "gym").status == 2)
  }

  @Test("Statistics name what was missed, and exact times of day")
  func missedTimes() async throws {
    _ = try await run("23T08:00", "add", "Pills", "daily 7:30 and 19:30")
    _ = try await run("25T07:30", "tick")
    let stats = try await run("25T07:40", "stats", "pills")
    #expect(stats.out.contains("Pills: 23 Nov 19:30, 24 Nov 07:30, 24 Nov 19:30"), "\(stats.out)")
    #expect(stats.out.contains("\n19:30"), "\(stats.out)")
  }

  @Test("The occurrences of few days are listed by day")
  func nextByDay() async throws {
    _ = try await run("23T08:00", "add", "Pills", "daily 9:00")
    let next = try await run("23T08:01", "next", "3", "days")
    #expect(
      next.out.split(separator: "\n").filter { !$0.hasPrefix(" ") }
        == ["Today (1)", "Tomorrow (1)", "Wed 25 Nov 2026 (1)"], "\(next.out)\(next.err)")
  }

  @Test("An edit of another time of day lets the one that rings go on")
  func editWhileRinging() async throws {
    _ = try await run("23T08:00", "add", "Pills", "daily 9:00 and 19:30")
    _ = try await run("23T09:00", "tick")
    let edit = try await run("23T09:01", "edit", "pills", "19:30", "to", "20:00")
    #expect(!edit.out.contains("pending"), "\(edit.out)\(edit.err)")
    let list = try await run("23T09:02", "list", "--json").array
    #expect(list.first?["state"] as? String == "ringing", "\(list)")
    let tick = try await run("23T09:02", "tick")
    #expect(!tick.out.contains("Fired"), "\(tick.out)")
    let done = try await run("23T09:03", "done", "pills")
    #expect(done.out.contains("(Mon 23 Nov 2026, 09:00); next is Mon 23 Nov 2026, 20:00"))
  }

  @Test("A pause says if it silences nothing, and statistics count what is pending")
  func idlePause() async throws {
    _ = try await run("23T08:00", "add", "Rent", "monthly on the 1st at 9:00")
    _ = try await run("23T08:00", "add", "Tea", "daily 9:00")
    let pause = try await run(
      "23T08:01", "pause", "rent", "tea", "from", "thursday", "until", "friday")
    let lines = pause.out.split(separator: "\n")
    #expect(
      lines.first { $0.hasPrefix("Paused Rent") }?.hasSuffix(". It has no occurrence in that time.")
        == true)
    #expect(lines.first { $0.hasPrefix("Paused Tea") }?.contains("no occurrence") == false)
    _ = try await run("23T09:00", "tick")
    _ = try await run("23T09:01", "done", "tea")
    _ = try await run("24T09:00", "tick")
    _ = try await run("24T09:01", "stop", "tea")
    let stats = try await run("24T09:02", "stats", "tea")
    #expect(stats.out.contains("pending       1\n"), "\(stats.out)")
  }
}
