import Foundation
import TestSupport
import Testing

/// The full screen on a real terminal: each key ends with the same store as the command line's verb.
@Suite struct FullScreenTests {
  private func sandbox(rings: Bool = false) async throws -> Sandbox {
    let sandbox = try Sandbox()
    try await sandbox.prepare(["tier", "plus"], now: "2026-11-23T08:00:00Z")
    try await sandbox.prepare(
      ["add", "Rent reminder", "every", "mon,fri", "at", "9am", "--note", "Pay landlord"],
      now: "2026-11-23T08:00:00Z")
    if rings { try await sandbox.prepare(["tick"], now: "2026-11-23T09:00:00Z") }
    return sandbox
  }

  /// Returns the details of the only alarm, without what differs between two stores.
  private func details(_ sandbox: Sandbox, _ word: String = "rent") async throws -> String {
    let list = try await sandbox.belfry("list", "--finished", now: "2026-11-23T09:01:30Z")
    let show = try await sandbox.belfry("show", word, now: "2026-11-23T09:01:30Z")
    return (list.out + show.out + show.err).replacing(#/[a-z2-7]{8,26}/#, with: "ID")
  }

  private static let typed = "2026-11-23T09:01:00Z"

  @Test(
    "Each key changes the store as the verb does",
    arguments: [
      (true, "d", ["done", "rent"]), (true, "s", ["stop", "rent"]),
      (true, "z", ["snooze", "rent"]),
      (true, "S", ["skip", "rent", "--yes"]), (true, "Z1h\r", ["snooze", "rent", "1h"]),
      (false, "S", ["skip", "rent", "--yes"]), (false, "xy", ["delete", "rent", "--yes"]),
      (false, "xn", ["list"]), (false, "t", ["disable", "rent"]),
      (false, "p2 weeks\r", ["pause", "rent", "2", "weeks"]),
      (false, "mtomorrow 15:00\r", ["move", "rent", "tomorrow", "15:00"]),
      (false, "r\u{15}Pay the rent\r", ["rename", "rent", "Pay the rent"]),
      (false, ":note rent call first\r", ["note", "rent", "call", "first"]),
      (false, ":tag +home rent\r", ["tag", "+home", "rent"]),
      (false, "t:sync\ru", ["list"]), (false, "dy", ["done", "rent", "--early"]),
    ])
  func verbs(rings: Bool, keys: String, words: [String]) async throws {
    let (screen, line) = (try await sandbox(rings: rings), try await sandbox(rings: rings))
    let shown = try await screen.onTerminal("ui", input: keys + "q", after: "keys", now: Self.typed)
    #expect(shown.status == 0, "\(shown.out)")
    let output = try await line.belfry(words, now: Self.typed)
    #expect(output.status == 0, "\(output.err)")
    let (after, expected) = (try await details(screen), try await details(line))
    #expect(after == expected)
  }

  @Test("A typed phrase becomes an alarm, also the first one of all")
  func add() async throws {
    let sandbox = try Sandbox()
    let shown = try await sandbox.onTerminal(
      "ui", input: "aWater plants every friday at 18:00 +home\rq", after: "keys", now: Self.typed)
    #expect(shown.out.contains("No alarms yet."), "\(shown.out)")
    let list = try await sandbox.belfry("list", now: Self.typed)
    #expect(list.out.contains("Water plants  +home  Fri 18:00"), "\(list.out)")
  }

  @Test("Without a schedule, add shows what is typed means, and prints the result below the prompt")
  func addOnly() async throws {
    let sandbox = try Sandbox()
    let shown = try await sandbox.onTerminal(
      "add", "Water plants", input: "every someday\r", after: "every mon,fri",
      then: ("\u{17}\u{17}friday at 18:00\r", after: "error:"), now: Self.typed)
    #expect(shown.status == 0, "\(shown.out)")
    // The last lines are on the terminal of the shell.
    let end = shown.out.components(separatedBy: "\u{1B}[?1049l").last ?? ""
    #expect(end.contains("Added Water plants") && end.contains("27 Nov"), "\(shown.out)")
    let left = try await sandbox.onTerminal(
      "add", input: "\u{3}", after: "A new alarm", now: Self.typed)
    #expect(left.status == 1 && left.out.contains("no alarm was added."), "\(left.out)")
    let list = try await sandbox.belfry("list", "--json", now: Self.typed)
    #expect(list.array.count == 1)
  }

  @Test("A date in the past is refused in words while it is typed")
  func pastDate() async throws {
    let sandbox = try await sandbox()
    let shown = try await sandbox.onTerminal(
      "add", input: "Call 1 jan 2020 9am", after: "A new alarm",
      then: ("\u{3}", after: "has no future occurrence"), now: Self.typed)
    #expect(shown.status == 1 && !shown.out.contains("noFutureOccurrence"), "\(shown.out)")
  }

  @Test("The screen of somebody new is a welcome, which no command repeats")
  func welcome() async throws {
    let sandbox = try Sandbox()
    let shown = try await sandbox.onTerminal(
      "ui", input: "q", after: "Notifications:", now: Self.typed, welcomed: false)
    #expect(shown.status == 0 && shown.out.contains("Welcome to Belfry."), "\(shown.out)")
    #expect(shown.out.contains("it does not run yet, so no alarm rings: belfry service install"))
    let added = try await sandbox.onTerminal(
      "add", "Tea", "daily", "9am", input: "", now: Self.typed, welcomed: false)
    #expect(added.out.contains("Added Tea") && !added.out.contains("Welcome"), "\(added.out)")
  }

  @Test("Without a change, edit shows a form")
  func editOnly() async throws {
    let sandbox = try await sandbox()
    let shown = try await sandbox.onTerminal(
      "edit", "rent", input: " and deposit\t\u{5}, 18:00\r", after: "Ring until answered",
      now: Self.typed)
    #expect(shown.status == 0, "\(shown.out)")
    let end = shown.out.components(separatedBy: "\u{1B}[?1049l").last ?? ""
    #expect(end.contains("Changed schedule, title of Rent reminder and deposit"), "\(shown.out)")
    let same = try await sandbox.onTerminal(
      "edit", "rent", input: "\r", after: "Ring until answered", now: Self.typed)
    #expect(same.status == 0 && same.out.contains("Nothing has changed."), "\(same.out)")
    let left = try await sandbox.onTerminal(
      "edit", "rent", input: "\u{3}", after: "Ring until answered", now: Self.typed)
    #expect(left.status == 1 && left.out.contains("nothing was changed."), "\(left.out)")
  }

  @Test("A change by another command is shown without a key, and the terminal is restored")
  func live() async throws {
    let sandbox = try await sandbox()
    async let screen = sandbox.onTerminal(
      "ui", input: "", after: "keys", then: ("q", after: "Second alarm"), now: Self.typed)
    for _ in 0..<200 {
      let files = try FileManager.default.contentsOfDirectory(atPath: sandbox.root)
      let shown = files.filter { $0.hasPrefix("terminal-") }
        .compactMap { FileManager.default.contents(atPath: "\(sandbox.root)/\($0)") }
      if shown.contains(where: { String(decoding: $0, as: UTF8.self).contains("keys") }) { break }
      try await Task.sleep(for: .milliseconds(50))
    }
    _ = try await sandbox.belfry("add", "Second alarm", "daily", "at", "7pm", now: Self.typed)
    let ended = try await screen
    #expect(ended.status == 0)
    #expect(ended.out.contains("\u{1B}[?1000l") && ended.out.contains("\u{1B}[?1049l"))
  }

  @Test("The linear mode prints lines, takes commands and numbers, and reports changes")
  func plain() async throws {
    let sandbox = try await sandbox(rings: true)
    let input = "1\\nadd Pills daily at 7pm\\ndone 1\\nlist\\nnonsense\\nquit\\n"
    let output = try await sandbox.run(
      "/bin/sh", ["-c", "printf '\(input)' | '\(Sandbox.binary)' ui --plain"],
      environment: ["TZ": "UTC", "BELFRY_DEVICE": "laptop", "BELFRY_NOW": Self.typed])
    let lines = output.out.split(separator: "\n").map(String.init)
    #expect(
      lines.first == "1: Rent reminder, ringing, next Fri 09:00, since 09:00, Mon, Fri 09:00",
      "\(output.out)")
    #expect(output.out.contains("Pay landlord"))
    #expect(output.out.contains("Added Pills"))
    #expect(output.out.contains("Done: Rent reminder (Mon 23 Nov 2026, 09:00)"))
    #expect(lines.contains("1: Pills, today 19:00, daily 19:00"), "\(output.out)")
    #expect(!output.out.contains("\u{1B}"))
    #expect(output.status == 0)
  }

  @Test("Without a terminal, or on a dumb one, the reason is told")
  func refusals() async throws {
    let sandbox = try await sandbox()
    let piped = try await sandbox.belfry("ui", now: Self.typed)
    #expect(piped.status == 4 && piped.err.contains("needs a terminal"), "\(piped.err)")
    let dumb = try await sandbox.onTerminal(
      "ui", input: "", now: Self.typed, environment: ["TERM": "dumb"])
    #expect(dumb.status == 4 && dumb.out.contains("'dumb'"), "\(dumb.out)")
  }

  @Test(
    "Each page is read from the store",
    arguments: [
      ("3", "Created:", ["laptop"]), ("4", "Lateness", ["1 done", "all"]),
      ("5", "Delivery", ["Devices (1)", "Rings on this device until tomorrow 12:00"]),
      ("6", "Invite", ["no partners"]), ("7", "defaultTime", ["All devices", "snooze"]),
    ])
  func pages(key: String, last: String, texts: [String]) async throws {
    let sandbox = try await sandbox(rings: true)
    _ = try await sandbox.belfry("done", "rent", now: Self.typed)
    let shown = try await sandbox.onTerminal(
      "ui", input: key, after: "keys", then: ("q", after: last), now: "2026-11-23T09:02:00Z")
    #expect(shown.status == 0)
    for text in texts { #expect(shown.out.contains(text), "\(text): \(shown.out)") }
  }

  @Test("Enter on a setting asks for its value, and on one that is on or off changes it")
  func settings() async throws {
    let sandbox = try await sandbox()
    let shown = try await sandbox.onTerminal(
      "ui", input: "7", after: "keys", then: ("jj\r\u{15}12m\rk\rq", after: "defaultTime"),
      now: Self.typed)
    #expect(shown.status == 0)
    let snooze = try await sandbox.belfry("settings", "get", "snooze", now: Self.typed)
    #expect(snooze.out == "12m\n", "\(shown.out)")
    let enabled = try await sandbox.belfry("settings", "get", "snoozeEnabled", now: Self.typed)
    #expect(enabled.out == "off\n", "\(shown.out)")
  }
}
