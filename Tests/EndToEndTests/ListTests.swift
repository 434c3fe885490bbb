import TestSupport
import Testing

/// `belfry list` and `belfry next`: one line for each alarm, grouped by day.
@Suite struct ListTests {
  private static let monday = "2026-11-23T09:05:00Z"

  /// A store with alarms in every group. The ids in its output are replaced by `ID`.
  private func sandbox() async throws -> Sandbox {
    let sandbox = try Sandbox()
    let commands: [(String, [String])] = [
      ("2026-11-20T10:00:00Z", ["tier", "plus"]),
      ("2026-11-20T10:01:00Z", ["add", "Rent reminder", "--weekly", "mon,fri", "--at", "09:00"]),
      ("2026-11-20T10:02:00Z", ["add", "Pills", "--daily", "--at", "08:00,21:00"]),
      (
        "2026-11-20T10:03:00Z",
        ["add", "Team call", "--weekly", "wed", "--at", "09:00", "--zone", "Asia/Tokyo"]
      ),
      ("2026-11-20T10:04:00Z", ["add", "Taxes", "--annual", "03-15", "--at", "08:00"]),
      ("2026-11-20T10:05:00Z", ["add", "Dentist", "--once", "2026-12-24T18:00"]),
      ("2026-11-20T10:06:00Z", ["add", "Old", "--daily", "--at", "07:00"]),
      ("2026-11-20T10:07:00Z", ["disable", "old"]),
      ("2026-11-20T10:08:00Z", ["add", "Bins", "--weekly", "tue", "--at", "19:00"]),
      ("2026-11-20T10:09:00Z", ["add", "Tea", "--weekly", "mon", "--at", "16:00"]),
      ("2026-11-20T21:00:05Z", ["done", "pills", "--early"]),
      ("2026-11-23T08:00:00Z", ["tick"]), ("2026-11-23T08:01:00Z", ["stop", "pills"]),
      ("2026-11-23T09:00:00Z", ["tick"]),
      ("2026-11-23T09:01:00Z", ["skip", "bins", "--yes"]),
      ("2026-11-23T09:02:00Z", ["pause", "taxes", "--until", "2027-01-04"]),
    ]
    for (now, arguments) in commands {
      try await sandbox.prepare(arguments, now: now)
    }
    return sandbox
  }

  private func withoutIds(_ text: String) -> String {
    text.replacing(#/\n  [a-z2-7]{8}  /#, with: "\n  ID  ")
  }

  @Test("Without a terminal, no cell is cut")
  func transcript() async throws {
    let sandbox = try await sandbox()
    let list = try await sandbox.belfry("list", now: Self.monday)
    #expect(
      list.out == """
        Now (2)
          ringing   Rent reminder  next Fri 09:00      since 09:00        Mon, Fri 09:00
          pending   Pills  4 missed, next today 21:00  since 08:00        daily 08:00, 21:00
        Today (1)
                    Tea                                today 16:00        every Mon 16:00
        Next 7 days (1)
                    Team call                          Wed 00:00          every Wed 09:00 Asia/Tokyo
        Later (3)
                    Bins  skips tomorrow 19:00         1 Dec 19:00        every Tue 19:00
                    Dentist                            24 Dec 18:00       once
          paused    Taxes  until 4 Jan 2027            15 Mar 2027 08:00  annual 15 Mar 08:00
        Disabled (1)
          disabled  Old                                                   daily 07:00

        """, "\(list.out)")
  }

  @Test("Ids are shown where titles are equal, and for all alarms on request")
  func ids() async throws {
    let sandbox = try await sandbox()
    let plain = try await sandbox.belfry("list", now: Self.monday).out
    #expect(plain.firstMatch(of: #/\([a-z2-7]{8}\)/#) == nil)
    _ = try await sandbox.belfry(
      "add", "DENTIST", "--once", "2027-01-24T18:00", now: Self.monday)
    let list = try await sandbox.belfry("list", now: Self.monday).out
    #expect(list.matches(of: #/(Dentist|DENTIST) \([a-z2-7]{8}\)  /#).count == 2, "\(list)")
    #expect(list.matches(of: #/\([a-z2-7]{8}\)/#).count == 2)
    // The other alarm needs its id, too, if the filter leaves it out.
    let filtered = try await sandbox.belfry("list", "due:2027-01-24", now: Self.monday).out
    #expect(filtered.contains("DENTIST ("), "\(filtered)")
    let narrow = try await sandbox.belfry(
      "list", now: Self.monday, environment: ["COLUMNS": "40"]
    ).out
    #expect(narrow.matches(of: #/\([a-z2-7]{8}\)/#).count == 2, "\(narrow)")
    let all = try await sandbox.belfry("list", "--ids", now: Self.monday).out
    #expect(withoutIds(all).matches(of: #/\n  ID  /#).count == 9, "\(all)")
  }

  @Test("A pipe is as wide as COLUMNS")
  func columns() async throws {
    let sandbox = try await sandbox()
    for (columns, isCut) in [("60", true), ("x", false), ("0", false), ("300", false)] {
      let list = try await sandbox.belfry(
        "list", now: Self.monday, environment: ["COLUMNS": columns]
      ).out
      let widest = list.split(separator: "\n").map(\.count).max() ?? 0
      #expect((widest <= 60) == isCut, "\(columns): \(list)")
    }
  }

  @Test("The locale and the setting determine the clock")
  func clock() async throws {
    let sandbox = try await sandbox()
    let american = ["LANG": "en_US.UTF-8"]
    let list = try await sandbox.belfry("list", now: Self.monday, environment: american)
    #expect(list.out.contains("daily 8:00 AM, 9:00 PM"), "\(list.out)")
    #expect(list.out.contains("Dec 24 6:00 PM"))
    let set = try await sandbox.belfry("settings", "set", "clock", "24h", now: Self.monday)
    #expect(set.out == "Set clock to 24h on this device.\n", "\(set.err)")
    let show = try await sandbox.belfry(
      "show", "dentist", now: Self.monday, environment: american)
    #expect(show.out.contains("Thu, Dec 24, 2026, 18:00"), "\(show.out)")
    _ = try await sandbox.belfry("settings", "set", "clock", "12h", now: Self.monday)
    let next = try await sandbox.belfry("next", "--count", "1", now: Self.monday)
    #expect(next.out.contains("today 4:00 PM"), "\(next.out)")
    let done = try await sandbox.belfry("done", "rent", now: Self.monday)
    #expect(done.out.contains("9:00 AM"), "\(done.out)")
    let json = try await sandbox.belfry("settings", "--json", now: Self.monday)
    #expect(json.object["clock"] as? String == "12h")
    let wrong = try await sandbox.belfry("settings", "set", "clock", "13h", now: Self.monday)
    #expect(wrong.status == 2 && wrong.err.contains("12h, 24h or auto"), "\(wrong.err)")
    // Documents do not depend on the clock.
    let occurrences = try await sandbox.belfry("next", "--json", now: Self.monday)
    #expect(occurrences.array.first?["at"] as? String == "2026-11-23T16:00:00Z")
  }

  @Test("Upcoming occurrences have the headings of the list, and show the time in another zone")
  func next() async throws {
    let sandbox = try await sandbox()
    let next = try await sandbox.belfry("next", "--count", "5", now: Self.monday)
    #expect(
      next.out == """
        Today (2)
          today 16:00     Tea
          today 21:00     Pills
        Tomorrow (2)
          tomorrow 08:00  Pills
          tomorrow 21:00  Pills
        Next 7 days (1)
          Wed 00:00       Team call  09:00 Asia/Tokyo

        """, "\(next.out)")
  }

  @Test("Cards show all details of each alarm")
  func cards() async throws {
    let sandbox = try await sandbox()
    let cards = try await sandbox.belfry("list", "--cards", now: Self.monday)
    #expect(cards.out.hasPrefix("Rent reminder [weekly]\n  RINGING since Mon 23 Nov 2026, 09:00\n"))
    #expect(cards.out.contains("Paused until Mon 4 Jan 2027, 00:00"), "\(cards.out)")
  }

  @Test("On a terminal, the lines fit its width")
  func terminal() async throws {
    let sandbox = try await sandbox()
    let list = try await sandbox.onTerminal("list", input: "", now: Self.monday)
    #expect(list.out.contains("Now (2)"), "\(list.out)")
    let lines = list.out.split(whereSeparator: \.isNewline)
    #expect(lines.contains { $0.contains("Team call") && $0.contains("Wed 00:00") }, "\(list.out)")
  }
}
