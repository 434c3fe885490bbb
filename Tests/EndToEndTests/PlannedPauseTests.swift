import TestSupport
import Testing

/// Pauses with a later beginning, and names that only one alarm can mean because of the occurrence behind them.
@Suite struct PlannedPauseTests {
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
}
