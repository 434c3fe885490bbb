import TestSupport
import Testing

/// `belfry log`: days, filters, and bulk actions.
@Suite struct LogTests {
  /// A store with two days of history.
  private func sandbox() async throws -> Sandbox {
    let sandbox = try Sandbox()
    let commands: [(String, [String])] = [
      ("2026-11-20T10:00:00Z", ["tier", "plus"]),
      ("2026-11-20T10:01:00Z", ["add", "Rent", "--daily", "--at", "09:00", "--tag", "home"]),
      ("2026-11-20T10:02:00Z", ["add", "Pills", "--daily", "--at", "09:00"]),
      ("2026-11-20T10:03:00Z", ["add", "Done", "--monthly", "1", "--at", "09:00"]),
      ("2026-11-21T09:00:00Z", ["tick"]), ("2026-11-21T09:01:00Z", ["done", "--all"]),
      ("2026-11-21T09:02:00Z", ["undo"]), ("2026-11-22T08:00:00Z", ["done", "rent"]),
      ("2026-11-22T08:01:00Z", ["delete", "pills", "--yes"]),
    ]
    for (now, arguments) in commands {
      try await sandbox.belfry(arguments, now: now).expectSuccess()
    }
    return sandbox
  }

  private static let now = "2026-11-22T10:00:00Z"

  private func log(_ sandbox: Sandbox, _ words: String...) async throws -> String {
    let log = try await sandbox.belfry(["log"] + words, now: Self.now)
    #expect(log.status == 0, "\(log.err)")
    return log.out
  }

  @Test("A heading starts each day, and bulk actions are one row with a count")
  func days() async throws {
    let sandbox = try await sandbox()
    // The order of two alarms follows from their ids.
    let log = try await log(sandbox)
      .replacing("Rent (09:00), Pills (09:00)", with: "Pills (09:00), Rent (09:00)")
    let lines = log.split(separator: "\n").map(String.init)
    #expect(
      lines == [
        "Today, Sun 22 Nov 2026",
        "  08:01  Deleted    Pills",
        "  08:00  Done       Rent (21 Nov 09:00)",
        "Yesterday, Sat 21 Nov 2026",
        "  09:02  Undone     2 alarms: Pills (09:00), Rent (09:00), done",
        "  09:01  Done       2 alarms: Pills (09:00), Rent (09:00)",
      ] + lines.filter { $0.contains("  Fired ") } + [
        "Fri 20 Nov 2026",
        "  10:03  Created    Done, monthly 1st 09:00",
        "  10:02  Created    Pills, daily 09:00",
        "  10:01  Created    Rent, daily 09:00",
      ], "\(log)")
    #expect(Set(lines).isSuperset(of: ["  09:00  Fired      Pills (09:00)"]))
  }

  @Test("Words, a time and a count select entries")
  func filters() async throws {
    let sandbox = try await sandbox()
    func rows(_ words: [String]) async throws -> Int {
      let log = try await sandbox.belfry(["log"] + words, now: Self.now)
      #expect(log.status == 0, "\(words): \(log.err)")
      return log.out.split(separator: "\n").count { $0.hasPrefix("  ") }
    }
    // An alarm can have the name of an action.
    #expect(try await rows(["done"]) == 1)
    #expect(try await rows(["fired"]) == 2)
    #expect(try await rows(["fired", "created"]) == 5)
    #expect(try await rows(["+home"]) == 5)
    #expect(try await rows(["fired", "+home"]) == 1)
    #expect(try await rows(["rent", "fired"]) == 1)
    // A part of the title of a deleted alarm.
    #expect(try await rows(["pill"]) == 5)
    #expect(try await rows(["--since", "today"]) == 2)
    #expect(try await rows(["--since", "2h"]) == 2)
    #expect(try await rows(["--since", "yesterday", "--until", "today"]) == 4)
    #expect(try await rows(["--until", "2026-11-21"]) == 3)
    #expect(try await rows(["-n", "2"]) == 2)
    #expect(try await log(sandbox, "missed") == "No log entry matches.\n")
    let json = try await sandbox.belfry("log", "fired", "--json", now: Self.now).array
    #expect(json.count == 2)
    let wrong = try await sandbox.belfry("log", "nothing", now: Self.now)
    #expect(wrong.status == 3 && wrong.out.isEmpty, "\(wrong.out)")
    #expect(try await sandbox.belfry("log", "--since", "x", now: Self.now).status == 2)
  }

  @Test("The details of an alarm show when it was done last, also after undo and redo")
  func lastDone() async throws {
    let sandbox = try await sandbox()
    func show(_ now: String) async throws -> String {
      try await sandbox.belfry("show", "rent", now: now).out
    }
    #expect(try await show(Self.now).contains("  last done   Sun 22 Nov 2026, 08:00, 2 h ago\n"))
    _ = try await sandbox.belfry("undo", "2", now: "2026-11-22T10:01:00Z")
    #expect(try await !show("2026-11-22T10:02:00Z").contains("last done"))
    _ = try await sandbox.belfry("redo", now: "2026-11-22T10:03:00Z")
    #expect(try await show("2026-11-22T10:04:00Z").contains("last done   Sun 22 Nov 2026, 08:00"))
    // Lines for defaults are left out, and the note is shown once.
    _ = try await sandbox.belfry("edit", "rent", "--note", "Pay", now: "2026-11-22T10:05:00Z")
    let shown = try await show("2026-11-22T10:06:00Z")
    #expect(shown.split(separator: "Pay").count == 2 && shown.hasSuffix("\n  Pay\n"), "\(shown)")
    for line in ["zone", "delivery", "rings on", "cascade", "identifier"] {
      #expect(!shown.contains("  \(line) "), "\(shown)")
    }
  }
}
