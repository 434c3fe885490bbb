import TestSupport
import Testing

/// Tests of skipping an occurrence: each acceptance criterion and edge case.
@Suite struct SkipTests {
  private func sandbox(_ options: String...) async throws -> Sandbox {
    let sandbox = try Sandbox()
    let add = try await sandbox.run(
      Sandbox.binary, ["add", "Rent reminder"] + options,
      environment: ["BELFRY_NOW": "2026-11-20T22:41:00Z", "TZ": "UTC", "BELFRY_DEVICE": "laptop"])
    #expect(add.status == 0, "\(add.err)")
    return sandbox
  }

  private func weekly() async throws -> Sandbox {
    try await sandbox("--weekly", "mon,fri", "--at", "09:00")
  }

  private func next(_ sandbox: Sandbox, _ now: String) async throws -> String? {
    try await sandbox.belfry("list", "--json", now: now).array.first?["nextOccurrence"] as? String
  }

  // MARK: Acceptance criteria

  @Test("Skip moves to the next occurrence and prints its date")
  func skipNextOccurrence() async throws {
    let sandbox = try await weekly()
    let skip = try await sandbox.belfry("skip", "--yes", "rent", now: "2026-11-21T08:00:00Z")
    #expect(skip.out.contains("; next is Fri 27 Nov 2026, 09:00, in "), "\(skip.out)")
    #expect(try await next(sandbox, "2026-11-21T08:01:00Z") == "2026-11-27T09:00")
    let tick = try await sandbox.belfry("tick", "--json", now: "2026-11-23T09:00:00Z")
    #expect((tick.object["fired"] as? [Any])?.isEmpty == true)
    #expect(sandbox.rings.isEmpty)
    _ = try await sandbox.belfry("tick", now: "2026-11-27T09:00:00Z")
    #expect(sandbox.rings == ["Rent reminder 2026-11-27T09:00"])
  }

  @Test("A skip is recorded in the completion log as skipped")
  func skipIsLogged() async throws {
    let sandbox = try await weekly()
    _ = try await sandbox.belfry("skip", "--yes", "rent", now: "2026-11-21T08:00:00Z")
    let log = try await sandbox.belfry("log", "--json", now: "2026-11-21T08:01:00Z").array
    #expect(log.first?["action"] as? String == "skipped")
    #expect(log.first?["occurrence"] as? String == "2026-11-23T09:00")
    #expect(
      try await sandbox.git("log", "-1", "--format=%s").out
        == "Skipped: Rent reminder (2026-11-23 09:00)\n")
  }

  @Test("A skipped occurrence appears in the history with the label Skipped")
  func skipInTheHistory() async throws {
    let sandbox = try await weekly()
    _ = try await sandbox.belfry("skip", "--yes", "rent", now: "2026-11-21T08:00:00Z")
    let log = try await sandbox.belfry("log", "rent", now: "2026-11-21T08:01:00Z").out
    #expect(log.contains("Skipped    Rent reminder (23 Nov 09:00)"))
    let stats = try await sandbox.belfry("stats", "rent", "--json", now: "2026-11-23T10:00:00Z")
    #expect(stats.object["skipped"] as? Int == 1)
  }

  @Test("A skip keeps the streak unless skipBreaksStreak is on")
  func skipKeepsTheStreak() async throws {
    let sandbox = try await weekly()
    func day(_ date: String, _ answer: String) async throws {
      _ = try await sandbox.belfry("tick", now: "\(date)T09:00:00Z")
      let yes = answer == "skip" ? ["--yes"] : []
      #expect(
        try await sandbox.belfry([answer, "rent"] + yes, now: "\(date)T09:01:00Z").status == 0)
    }
    try await day("2026-11-23", "done")
    try await day("2026-11-27", "skip")
    try await day("2026-11-30", "done")
    func streak() async throws -> Int? {
      try await sandbox.belfry("stats", "rent", "--json", now: "2026-11-30T10:00:00Z")
        .object["streak"] as? Int
    }
    #expect(try await streak() == 2)
    _ = try await sandbox.belfry(
      "settings", "set", "skipBreaksStreak", "on", now: "2026-11-30T10:00:00Z")
    #expect(try await streak() == 1)
  }

  @Test("Skip is available to Free tier users")
  func skipIsFree() async throws {
    let sandbox = try await weekly()
    #expect(try await sandbox.belfry("tier", "--json").object["tier"] as? String == "free")
    #expect(try await sandbox.belfry("skip", "--yes", "rent").status == 0)
  }

  @Test("The confirmation prompt shows the title, the date and the next occurrence")
  func skipAsksForConfirmation() async throws {
    let sandbox = try await weekly()
    let no = try await sandbox.onTerminal("skip", "rent", input: "n\n")
    #expect(
      no.out.contains(
        "Skip Rent reminder for Mon 23 Nov 2026? Next occurrence: Fri 27 Nov 2026. [y/N]"))
    #expect(try await next(sandbox, "2026-11-20T22:42:00Z") == "2026-11-23T09:00")
    let yes = try await sandbox.onTerminal("skip", "rent", input: "y\n")
    #expect(
      yes.out.contains("Skipped Rent reminder (Mon 23 Nov 2026, 09:00); next is Fri 27 Nov 2026"))
    #expect(try await next(sandbox, "2026-11-20T22:42:00Z") == "2026-11-27T09:00")
    let sure = try await sandbox.onTerminal("skip", "rent", "--yes", input: "")
    #expect(!sure.out.contains("[y/N]"))
    #expect(
      sure.out.contains("Skipped Rent reminder (Fri 27 Nov 2026, 09:00); next is Mon 30 Nov 2026"))
  }

  @Test("Skipping a one-time alarm fails with a hint to delete it")
  func onceCannotBeSkipped() async throws {
    let sandbox = try await sandbox("--once", "2026-11-24T09:00")
    let skip = try await sandbox.belfry("skip", "--yes", "rent")
    #expect(skip.status == 4)
    #expect(skip.err.contains("belfry delete"))
  }

  @Test("Skip ends a ringing, snoozed or pending occurrence")
  func skipOpenOccurrence() async throws {
    for state in ["ringing", "snoozed", "pending"] {
      let sandbox = try await weekly()
      try await sandbox.plus()
      _ = try await sandbox.belfry("tick", now: "2026-11-23T09:00:00Z")
      if state == "snoozed" {
        _ = try await sandbox.belfry("snooze", "rent", "1h", now: "2026-11-23T09:01:00Z")
      }
      if state == "pending" {
        _ = try await sandbox.belfry("stop", "rent", now: "2026-11-23T09:01:00Z")
      }
      let before = try await sandbox.belfry("list", "--json", now: "2026-11-23T09:02:00Z").array
      #expect(before.first?["state"] as? String == state)
      let skip = try await sandbox.belfry("skip", "--yes", "rent", now: "2026-11-23T09:03:00Z")
      #expect(skip.out.contains("; next is Fri 27 Nov 2026, 09:00, in "), "\(skip.out)")
      // The skip cancels the snooze and the follow-ups.
      for time in ["09:31", "10:02", "10:31"] {
        _ = try await sandbox.belfry("tick", now: "2026-11-23T\(time):00Z")
      }
      #expect(sandbox.rings.count == 1)
      let after = try await sandbox.belfry("list", "--json", now: "2026-11-23T10:32:00Z").array
      #expect(after.first?["state"] as? String == "active")
    }
  }

  // MARK: Edge cases

  @Test(
    "Skips at the end of a month keep the original day for longer months")
  func monthEnds() async throws {
    let sandbox = try await sandbox("--monthly", "31", "--at", "09:00")
    _ = try await sandbox.belfry("skip", "--yes", "rent")
    #expect(try await next(sandbox, "2026-11-21T00:00:00Z") == "2026-12-31T09:00")
    let january = "2027-02-01T00:00:00Z"
    #expect(try await next(sandbox, january) == "2027-02-28T09:00")
    _ = try await sandbox.belfry("tick", now: january)
    let skip = try await sandbox.belfry(
      "skip", "--yes", "rent", "--occurrence", "2027-02-28T09:00", now: january)
    #expect(skip.out.contains("; next is Wed 31 Mar 2027, 09:00, in "), "\(skip.out)")
    _ = try await sandbox.belfry(
      "skip", "--yes", "rent", "--occurrence", "2027-03-31T09:00", now: "2027-02-01T00:01:00Z")
    #expect(try await next(sandbox, "2027-02-02T00:00:00Z") == "2027-04-30T09:00")
    _ = try await sandbox.belfry(
      "skip", "--yes", "rent", "--occurrence", "2027-04-30T09:00", now: "2027-02-01T00:02:00Z")
    #expect(try await next(sandbox, "2027-02-02T00:00:00Z") == "2027-05-31T09:00")
  }

  @Test("A skipped annual alarm rings one year later, and on 29 February in a leap year")
  func annualAlarm() async throws {
    let sandbox = try await sandbox("--annual", "02-29", "--at", "09:00")
    #expect(try await next(sandbox, "2026-11-21T00:00:00Z") == "2027-02-28T09:00")
    let skip = try await sandbox.belfry("skip", "--yes", "rent")
    #expect(skip.out.contains("; next is Tue 29 Feb 2028, 09:00, in "), "\(skip.out)")
    _ = try await sandbox.belfry("skip", "--yes", "rent", now: "2026-11-21T00:00:00Z")
    #expect(try await next(sandbox, "2026-11-22T00:00:00Z") == "2029-02-28T09:00")
  }

  @Test("Skip with --count or --until skips several occurrences, and unskip reverts them")
  func severalOccurrences() async throws {
    let sandbox = try await weekly()
    let three = try await sandbox.belfry("skip", "--yes", "rent", "--count", "3", "--json")
    #expect(
      three.object["skipped"] as? [String] == [
        "2026-11-23T09:00", "2026-11-27T09:00", "2026-11-30T09:00",
      ])
    #expect(try await next(sandbox, "2026-11-20T22:42:00Z") == "2026-12-04T09:00")
    // The alarm rings again on the given day.
    let until = try await sandbox.belfry(
      "skip", "--yes", "rent", "--until", "2026-12-11", now: "2026-11-20T22:43:00Z")
    #expect(
      until.out.hasPrefix(
        "Skipped 2 occurrences of Rent reminder, Fri 4 Dec 2026, 09:00 to Mon 7 Dec 2026, 09:00; next is Fri 11 Dec"
      ))
    let first = try await sandbox.belfry("unskip", "rent", now: "2026-11-20T22:44:00Z")
    #expect(first.out.contains("next is Mon 23 Nov 2026, 09:00"))
    _ = try await sandbox.belfry("unskip", "rent", "--all", now: "2026-11-20T22:45:00Z")
    #expect(try await next(sandbox, "2026-11-24T00:00:00Z") == "2026-11-27T09:00")
    #expect(try await sandbox.belfry("unskip", "rent", now: "2026-11-20T22:46:00Z").status == 4)
    let nothing = try await sandbox.belfry(
      "skip", "--yes", "rent", "--until", "2026-11-22", now: "2026-11-20T22:47:00Z")
    #expect(nothing.status == 4)
    // A reverted skip has no effect.
    _ = try await sandbox.belfry("tick", now: "2026-11-23T09:00:00Z")
    #expect(sandbox.rings.count == 1)
    let stats = try await sandbox.belfry("stats", "rent", "--json", now: "2026-11-23T09:00:00Z")
    #expect(stats.object["skipped"] as? Int == 0)
  }

  @Test("Two devices that skip the same occurrence skip one cycle, not two")
  func twoDevices() async throws {
    let sandbox = try await weekly()
    let server = try await sandbox.secondDevice()
    _ = try await sandbox.belfry("skip", "--yes", "rent", now: "2026-11-21T08:00:00Z")
    _ = try await sandbox.belfry(
      "skip", "--yes", "rent", now: "2026-11-21T08:01:00Z", store: server)
    _ = try await sandbox.belfry("sync", now: "2026-11-21T08:02:00Z", store: server)
    _ = try await sandbox.belfry("sync", now: "2026-11-21T08:03:00Z")
    #expect(try await next(sandbox, "2026-11-21T08:04:00Z") == "2026-11-27T09:00")
    let stats = try await sandbox.belfry("stats", "rent", "--json", now: "2026-11-24T00:00:00Z")
    #expect(stats.object["skipped"] as? Int == 1)
  }

  @Test(
    "A past skip is not listed as upcoming, and a schedule change keeps it in the statistics")
  func pastSkip() async throws {
    let sandbox = try await sandbox("--daily", "--at", "09:00")
    _ = try await sandbox.belfry("skip", "--yes", "rent", now: "2026-11-20T23:00:00Z")
    // An unrelated write updates the alarm index, which then contains the skip.
    _ = try await sandbox.belfry(
      "add", "T", "--daily", "--at", "20:00", now: "2026-11-20T23:01:00Z")
    _ = try await sandbox.belfry("list", now: "2026-11-20T23:02:00Z")
    #expect(
      !(try await sandbox.belfry("list", now: "2026-11-21T12:00:00Z").out.contains("skips")))
    _ = try await sandbox.belfry("edit", "rent", "--at", "15:00", now: "2026-11-21T12:01:00Z")
    let stats = try await sandbox.belfry("stats", "rent", "--json", now: "2026-11-21T12:02:00Z")
    #expect(stats.object["skipped"] as? Int == 1)
  }

  @Test("A schedule change reverts the upcoming skips")
  func scheduleChangeRevertsSkips() async throws {
    let sandbox = try await weekly()
    _ = try await sandbox.belfry("skip", "--yes", "rent", now: "2026-11-21T08:00:00Z")
    _ = try await sandbox.belfry("edit", "rent", "--daily", now: "2026-11-21T08:01:00Z")
    #expect(try await next(sandbox, "2026-11-23T00:00:00Z") == "2026-11-23T09:00")
    let log = try await sandbox.belfry("log", "--json", now: "2026-11-21T08:02:00Z").array
    #expect(Set(log.prefix(2).map { $0["action"] as? String }) == ["edited", "unskipped"])
  }
}
