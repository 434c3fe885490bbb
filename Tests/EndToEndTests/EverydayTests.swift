import Foundation
import TestSupport
import Testing

/// Everyday commands: the welcome, the start, tiers, responses, undo, settings, sounds, pauses and the firing screen.
@Suite struct EverydayTests {
  @Test("A snooze at the end of the year 9999 leaves a readable record")
  func endOfTime() async throws {
    let sandbox = try Sandbox()
    try await sandbox.plus()
    _ = try await sandbox.belfry(
      "add", "Tea", "--daily", "--at", "09:00", "--persistent", now: "9999-12-30T08:00:00Z")
    _ = try await sandbox.belfry("tick", now: "9999-12-30T09:00:00Z")
    let snooze = try await sandbox.belfry("snooze", "tea", "8w", now: "9999-12-30T09:01:00Z")
    #expect(snooze.status == 0, "\(snooze.err)")
    let list = try await sandbox.belfry("list", "--json", now: "9999-12-30T09:02:00Z")
    #expect(list.status == 0 && list.err.isEmpty, "\(list.err)")
    #expect(list.array.first?["state"] as? String == "snoozed", "\(list.out)")
  }

  private func rent(_ options: String...) async throws -> Sandbox {
    let sandbox = try Sandbox()
    try await sandbox.plus()
    _ = try await sandbox.run(
      Sandbox.binary,
      ["add", "Rent reminder", "--weekly", "mon,fri", "--at", "09:00", "--note", "Pay landlord"]
        + options,
      environment: ["BELFRY_NOW": "2026-11-20T22:41:00Z", "TZ": "UTC", "BELFRY_DEVICE": "laptop"])
    return sandbox
  }

  private func at(_ time: String) -> String { "2026-11-23T\(time)Z" }

  private func state(_ sandbox: Sandbox, _ now: String) async throws -> String? {
    try await sandbox.belfry("list", "--json", now: now).array.first?["state"] as? String
  }

  // MARK: Welcome

  @Test(
    "The welcome is three lines below the first result on a terminal, and leaves typed words alone")
  func welcome() async throws {
    let sandbox = try Sandbox()
    // The word is typed ahead, for the shell.
    let first = try await sandbox.run(
      "/bin/sh",
      [
        "-c",
        "printf 'typed ahead\n' | script -qfec \"stty cols 80; '\(Sandbox.binary)' list; head -n 1\" /dev/null",
      ],
      environment: [
        "TZ": "UTC", "BELFRY_DEVICE": "laptop", "BELFRY_NOW": at("10:00:00"),
        "TERM": "xterm-256color",
      ])
    let shown = first.out.replacing(/\u{1B}\[[0-9;]*m/, with: "")
    let result = try #require(shown.firstRange(of: "No alarms yet."), "\(shown)")
    let welcome = try #require(shown.firstRange(of: "Welcome to Belfry."), "\(shown)")
    #expect(result.upperBound < welcome.lowerBound)
    #expect(shown.contains("Scheduler: it does not run yet, so no alarm rings: belfry service"))
    // The page reports the user's hook on this machine.
    #expect(shown.contains("your own hook"), "\(shown)")
    #expect(shown[welcome.upperBound...].contains("typed ahead"), "\(shown)")
    let second = try await sandbox.onTerminal("list", input: "", welcomed: false)
    #expect(!second.out.contains("Welcome to Belfry."))
    #expect(second.out.contains("No alarms yet."))
  }

  @Test("The welcome says that an installed scheduler does not run")
  func welcomeWithStoppedScheduler() async throws {
    let sandbox = try Sandbox()
    let variables = try sandbox.systemd()
    // The crontab has Belfry's line, and no cron process runs.
    _ = try sandbox.script(
      "programs/crontab", "echo '* * * * * belfry tick --quiet # belfry service'\n")
    let processes = sandbox.root + "/proc/1"
    try FileManager.default.createDirectory(atPath: processes, withIntermediateDirectories: true)
    try sandbox.write("systemd\n", to: processes + "/comm")
    let first = try await sandbox.onTerminal(
      "list", input: "", welcomed: false,
      environment: variables.merging(["BELFRY_PROC": sandbox.root + "/proc"]) { $1 })
    let words = first.out.split(whereSeparator: \.isWhitespace).joined(separator: " ")
    #expect(words.contains("it does not run, so no alarm rings."), "\(first.out)")
    #expect(words.contains("sudo service cron start"), "\(first.out)")
  }

  @Test("The welcome follows no failure, no JSON, no pipe and no clone")
  func noWelcome() async throws {
    let sandbox = try Sandbox()
    let piped = try await sandbox.belfry("list")
    #expect(!piped.out.contains("Welcome"))
    let json = try await sandbox.onTerminal("list", "--json", input: "", welcomed: false)
    #expect(!json.out.contains("Welcome"))
    let failed = try await sandbox.onTerminal("show", "x", input: "", welcomed: false)
    #expect(!failed.out.contains("Welcome"))
    let first = try await sandbox.onTerminal("list", input: "", welcomed: false)
    #expect(first.out.contains("Welcome"))
    let other = try await Sandbox.withTea()
    _ = try await other.git("clone", "-q", "--bare", ".", other.root + "/bare.git")
    let clone = try await other.onTerminal(
      "clone", other.root + "/bare.git", "--store", other.root + "/two", input: "",
      welcomed: false)
    #expect(clone.status == 0 && !clone.out.contains("Welcome"), "\(clone.out)")
    let after = try await other.onTerminal(
      "list", "--store", other.root + "/two", input: "", welcomed: false)
    #expect(!after.out.contains("Welcome"), "\(after.out)")
  }

  // MARK: The start

  @Test(
    "belfry alone opens the full screen, shows the list on a dumb terminal, and the help elsewhere")
  func start() async throws {
    let sandbox = try await Sandbox.withTea()
    let screen = try await sandbox.onTerminal(input: "q", after: "keys", now: at("09:01:00"))
    #expect(screen.status == 0 && screen.out.contains("1 Alarms"), "\(screen.out)")
    let dumb = ["TERM": "dumb"]
    let shown = try await sandbox.onTerminal(
      input: "", now: "2026-11-20T22:42:00Z", environment: dumb)
    #expect(shown.status == 0 && shown.out.contains("Tea"), "\(shown.out)")
    #expect(shown.out.contains("To add one: belfry add TITLE WHEN."), "\(shown.out)")
    let urgent = try await sandbox.onTerminal(input: "", now: at("09:01:00"), environment: dumb)
    #expect(urgent.out.contains("To answer: belfry done ALARM"), "\(urgent.out)")
    let list = try await sandbox.onTerminal("list", input: "", now: at("09:01:00"))
    #expect(!list.out.contains("To answer:"))
    let piped = try await sandbox.run(Sandbox.binary, [])
    #expect(piped.status == 0 && piped.out.hasPrefix("Usage: belfry COMMAND"), "\(piped.out)")
  }

  @Test("The help fits a terminal of 24 lines and 80 columns, and --all lists every command")
  func help() async throws {
    let sandbox = try Sandbox()
    let help = try await sandbox.belfry("--help")
    #expect(help.status == 0)
    let lines = help.out.split(separator: "\n", omittingEmptySubsequences: false).dropLast()
    // One line is left for the prompt.
    #expect(lines.count <= 23, "\(lines.count)")
    #expect(lines.allSatisfy { $0.count <= 80 }, "\(help.out)")
    for arguments in [["help"], ["-h"], ["--store", sandbox.store, "--help"]] {
      #expect(try await sandbox.run(Sandbox.binary, arguments).out == help.out)
    }
    let all = try await sandbox.belfry("help", "--all")
    #expect(try await sandbox.belfry("--help", "--all").out == all.out)
    for command in ["add", "cascade", "partner", "import", "calls", "explain", "backup"] {
      #expect(all.out.contains("\n  \(command) "), "\(command)")
    }
    // Each command keeps its own help.
    #expect(try await sandbox.belfry("help", "list").out.contains("USAGE: belfry list"))
  }

  // MARK: Tiers

  @Test("The free tier refuses a third alarm until one is deleted")
  func paywall() async throws {
    let sandbox = try Sandbox()
    _ = try await sandbox.belfry("add", "One", "--daily", "--at", "09:00")
    _ = try await sandbox.belfry("add", "Two", "--daily", "--at", "10:00")
    let third = try await sandbox.belfry("add", "Three", "--daily", "--at", "11:00")
    #expect(third.status == 5)
    #expect(third.err.contains("you have reached the 2-alarm limit"))
    #expect(third.err.contains("any number of alarms"))
    #expect(third.err.contains("belfry tier plus"))
    #expect(try await sandbox.belfry("list", "--json").array.count == 2)
    #expect(try await sandbox.belfry("delete", "--yes", "One").status == 0)
    #expect(try await sandbox.belfry("add", "Three", "--daily", "--at", "11:00").status == 0)
    #expect(try await sandbox.belfry("add", "Four", "--daily", "--at", "12:00").status == 5)
    _ = try await sandbox.belfry("tier", "plus")
    #expect(try await sandbox.belfry("add", "Four", "--daily", "--at", "12:00").status == 0)
    // A downgrade to the free tier keeps all alarms.
    _ = try await sandbox.belfry("tier", "free")
    #expect(try await sandbox.belfry("list", "--json").array.count == 3)
  }

  @Test("No command makes more alarms active than the tier allows")
  func activeAlarmsOfTheFreeTier() async throws {
    let sandbox = try Sandbox()
    _ = try await sandbox.belfry("in", "10m", "Tea")
    _ = try await sandbox.belfry("in", "20m", "Eggs")
    _ = try await sandbox.belfry("tick", now: "2026-11-20T22:51:00Z")
    _ = try await sandbox.belfry("done", "tea", now: "2026-11-20T22:51:01Z")
    let time = "2026-11-20T22:52:00Z"
    let added = try await sandbox.belfry("add", "Pills", "--daily", "--at", "09:00", now: time)
    #expect(added.status == 0, "\(added.err)")
    func refuses(_ arguments: String...) async throws {
      let output = try await sandbox.belfry(arguments, now: time)
      #expect(output.status == 5, "\(arguments) \(output)")
      #expect(output.err.contains("2-alarm limit"), "\(arguments) \(output.err)")
    }
    try await refuses("edit", "tea", "tomorrow 9am")
    try await refuses("undo", "--skip", "1")
    // A disabled alarm counts if it has an occurrence ahead.
    #expect(try await sandbox.belfry("disable", "tea", now: time).status == 0)
    try await refuses("edit", "tea", "tomorrow 9am")
    #expect(try await sandbox.belfry("disable", "pills", now: time).status == 0)
    try await refuses("add", "Walk", "--daily", "--at", "10:00")
    #expect(try await sandbox.belfry("enable", "tea", "pills", now: time).status == 0)
    // An import brings in all alarms or none.
    let other = sandbox.root + "/other"
    _ = try await sandbox.belfry("add", "Walk", "--daily", "--at", "10:00", now: time, store: other)
    let export = try await sandbox.belfry("export", now: time, store: other)
    try sandbox.write(export.out, to: sandbox.root + "/export.json")
    try await refuses("import", sandbox.root + "/export.json")
    // An alarm that is active already can be changed, even above the limit.
    _ = try await sandbox.belfry("tier", "plus", now: time)
    #expect(
      try await sandbox.belfry("import", sandbox.root + "/export.json", now: time).status == 0)
    _ = try await sandbox.belfry("tier", "free", now: time)
    #expect(try await sandbox.belfry("edit", "walk", "daily 11:00", now: time).status == 0)
    #expect(try await sandbox.belfry("disable", "walk", now: time).status == 0)
    #expect(try await sandbox.belfry("enable", "walk", now: time).status == 0)
    try await refuses("edit", "tea", "tomorrow 9am")
  }

  @Test("At the limit of the tier, `add` refuses before it asks")
  func limitBeforeTheForm() async throws {
    let sandbox = try Sandbox()
    _ = try await sandbox.belfry("add", "One", "--daily", "--at", "09:00")
    _ = try await sandbox.belfry("add", "Two", "--daily", "--at", "10:00")
    for arguments in [["add"], ["add", "Three", "daily at 7"], ["at", "7", "Three"]] {
      let output = try await sandbox.onTerminal(
        arguments[0], arguments.count > 1 ? arguments[1] : "--no-animation",
        arguments.count > 2 ? arguments[2] : "--no-animation", input: "\n\n\n\n\n\n")
      #expect(output.out.contains("2-alarm limit"), "\(output.out)")
      #expect(!output.out.contains("Title") && !output.out.contains("morning"), "\(output.out)")
    }
  }

  @Test func tierIsShownAndValidated() async throws {
    let sandbox = try Sandbox()
    #expect(try await sandbox.belfry("tier").out.hasPrefix("The tier is free: at most 2 alarms"))
    #expect(try await sandbox.belfry("tier", "gold").status == 2)
    let plus = try await sandbox.belfry("tier", "premium", "--json")
    #expect(plus.object["tier"] as? String == "premium")
    #expect(plus.object["confirmsCompletion"] as? Bool == true)
    #expect(plus.object["alarmLimit"] == nil)
  }

  // MARK: Missed

  @Test("A missed occurrence is shown until it is dismissed")
  func missedUntilDismissed() async throws {
    let sandbox = try await rent()
    _ = try await sandbox.belfry("tick", now: at("09:00:00"))
    let tick = try await sandbox.belfry("tick", "--json", now: at("09:30:00"))
    #expect((tick.object["missed"] as? [Any])?.count == 1)
    #expect(
      try await sandbox.belfry("list", "--cards", now: at("18:00:00")).out.contains(
        "Missed: Mon 23 Nov"))
    #expect(try await state(sandbox, "2026-11-26T09:00:00Z") == "missed")
    let dismiss = try await sandbox.belfry("dismiss", "rent", now: at("18:00:00"))
    #expect(dismiss.out.hasPrefix("Dismissed Rent reminder (Mon 23 Nov 2026, 09:00)"))
    #expect(try await state(sandbox, at("18:01:00")) == "active")
    let stats = try await sandbox.belfry("stats", "rent", "--json", now: at("18:01:00"))
    #expect(stats.object["missed"] as? Int == 1)
    #expect(try await sandbox.belfry("dismiss", "rent", now: at("18:02:00")).status == 4)
  }

  @Test("A missed occurrence is shown until it is done or skipped")
  func missedUntilDone() async throws {
    for answer in [
      ["done", "rent"], ["skip", "--yes", "rent", "--occurrence", "2026-11-23T09:00"],
    ] {
      let sandbox = try await rent()
      // The downtime is longer than the grace.
      _ = try await sandbox.belfry("tick", now: at("22:00:00"))
      #expect(sandbox.rings.isEmpty)
      #expect(try await state(sandbox, at("22:01:00")) == "missed")
      let output = try await sandbox.run(
        Sandbox.binary, answer,
        environment: ["BELFRY_NOW": at("22:02:00"), "TZ": "UTC", "BELFRY_DEVICE": "laptop"])
      #expect(output.status == 0, "\(output.err)")
      #expect(try await state(sandbox, at("22:03:00")) == "active")
    }
  }

  // MARK: Done

  @Test func doneAcceptsEarlierTime() async throws {
    let sandbox = try await rent()
    _ = try await sandbox.belfry("tick", now: at("09:00:00"))
    let done = try await sandbox.belfry("done", "rent", "--at", "09:10", now: at("09:20:00"))
    #expect(done.out.hasPrefix("Done: Rent reminder (Mon 23 Nov 2026, 09:00) at 09:10;"))
    let stats = try await sandbox.belfry("stats", "rent", "--json", now: at("09:30:00"))
    #expect(stats.object["lastDone"] as? String == at("09:10:00"))
    #expect(stats.object["medianLatenessSeconds"] as? Int == 600)
    for wrong in ["25:00", ""] {
      #expect(
        try await sandbox.belfry("done", "rent", "--at", wrong, now: at("09:30:00")).status == 2)
    }
    let future = try await sandbox.belfry(
      "done", "rent", "--at", "2026-11-24T09:00", now: at("09:30:00"))
    #expect(future.status == 2)
    #expect(future.err.contains("in the future"))
  }

  @Test func doneBeforeDueNeedsEarlyOption() async throws {
    let sandbox = try await rent()
    let refused = try await sandbox.belfry("done", "rent", now: at("08:00:00"))
    #expect(refused.status == 4)
    #expect(refused.err.contains("--early"))
    let done = try await sandbox.belfry("done", "rent", "--early", now: at("08:00:00"))
    #expect(done.out.contains("Done: Rent reminder (Mon 23 Nov 2026, 09:00)"))
    #expect(done.out.contains("next is Fri 27 Nov 2026"))
    _ = try await sandbox.belfry("tick", now: at("09:00:00"))
    #expect(sandbox.rings.isEmpty)
    let stats = try await sandbox.belfry("stats", "rent", "--json", now: at("10:00:00"))
    #expect(stats.object["done"] as? Int == 1)
  }

  // MARK: Undo

  @Test func undoRestoresPreviousState() async throws {
    let sandbox = try await rent()
    _ = try await sandbox.belfry("tick", now: at("09:00:00"))
    _ = try await sandbox.belfry("done", "rent", now: at("09:01:00"))
    let undo = try await sandbox.belfry("undo", now: at("09:02:00"))
    #expect(undo.out == "Undid: Done: Rent reminder (Mon 23 Nov 2026, 09:00); it rings again.\n")
    #expect(try await state(sandbox, at("09:03:00")) == "ringing")
    // The alarm rings once more, as the message says.
    _ = try await sandbox.belfry("tick", now: at("09:03:00"))
    #expect(sandbox.rings.count == 2)
    _ = try await sandbox.belfry("tick", now: at("09:03:30"))
    #expect(sandbox.rings.count == 2)
    let stats = try await sandbox.belfry("stats", "rent", "--json", now: at("09:04:00"))
    #expect(stats.object["done"] as? Int == 0)
    _ = try await sandbox.belfry("stop", "rent", now: at("09:05:00"))
    _ = try await sandbox.belfry("skip", "--yes", "rent", now: at("09:06:00"))
    _ = try await sandbox.belfry("undo", now: at("09:07:00"))
    #expect(try await state(sandbox, at("09:08:00")) == "pending")
    _ = try await sandbox.belfry("undo", now: at("09:09:00"))
    #expect(try await state(sandbox, at("09:10:00")) == "ringing")
    #expect(try await sandbox.git("log", "-1", "--format=%s").out.hasPrefix("Undo: Stopped: Rent"))
    #expect(try await sandbox.git("status", "--porcelain").out.isEmpty)
  }

  @Test func undoRevertsEditsDisablesAndDeletions() async throws {
    let sandbox = try await rent()
    _ = try await sandbox.belfry("tick", now: at("09:00:00"))
    _ = try await sandbox.belfry("stop", "rent", now: at("09:01:00"))
    _ = try await sandbox.belfry("edit", "rent", "--title", "Other", now: at("09:02:00"))
    _ = try await sandbox.belfry("disable", "other", now: at("09:03:00"))
    _ = try await sandbox.belfry("delete", "--yes", "other", now: at("09:04:00"))
    #expect(try await sandbox.belfry("list", "--json", now: at("09:05:00")).array.isEmpty)
    _ = try await sandbox.belfry("undo", now: at("09:05:00"))
    #expect(try await state(sandbox, at("09:06:00")) == "disabled")
    _ = try await sandbox.belfry("undo", now: at("09:06:00"))
    // The occurrence that the disable cleared is pending again.
    #expect(try await state(sandbox, at("09:07:00")) == "pending")
    _ = try await sandbox.belfry("undo", now: at("09:07:00"))
    let alarm = try await sandbox.belfry("list", "--json", now: at("09:08:00")).array.first
    #expect(alarm?["title"] as? String == "Rent reminder")
    _ = try await sandbox.belfry("undo", now: at("09:08:00"))
    #expect(try await state(sandbox, at("09:09:00")) == "ringing")
    // The creation of a ringing alarm cannot be undone, but the earlier command can.
    let created = try await sandbox.belfry("undo", now: at("09:10:00"))
    #expect(created.status == 4)
    #expect(created.err.contains("Rent reminder has had an occurrence since"))
    #expect(created.err.contains("belfry undo --skip 1"))
    let tier = try await sandbox.belfry("undo", "--skip", "1", now: at("09:11:00"))
    #expect(tier.out.contains("Undid: Set tier to plus."))
    #expect(try await sandbox.belfry("tier", "--json").object["tier"] as? String == "free")
    let nothing = try await sandbox.belfry("undo", "--skip", "1", now: at("09:12:00"))
    #expect(nothing.status == 4)
    #expect(nothing.err.contains("nothing to undo"))
  }

  @Test func undoneDisableKeepsFollowUpProgress() async throws {
    let sandbox = try await rent()
    _ = try await sandbox.belfry("tick", now: at("09:00:00"))
    _ = try await sandbox.belfry("stop", "rent", now: at("09:00:00"))
    _ = try await sandbox.belfry("tick", now: at("09:30:00"))
    _ = try await sandbox.belfry("disable", "rent", now: at("09:31:00"))
    _ = try await sandbox.belfry("undo", now: at("09:32:00"))
    let pending = try await sandbox.belfry("pending", "--json", now: at("09:33:00")).array.first
    #expect(pending?["since"] as? String == at("09:00:00"))
    #expect(pending?["followUpsSent"] as? Int == 1)
    #expect(pending?["nextFollowUp"] as? String == at("10:00:00"))
    // A second disable without undo clears the pending occurrence.
    _ = try await sandbox.belfry("disable", "rent", now: at("09:34:00"))
    _ = try await sandbox.belfry("enable", "rent", now: at("09:35:00"))
    #expect(try await sandbox.belfry("pending", "--json", now: at("09:36:00")).out == "[]\n")
  }

  @Test func enableSkipsPastOccurrencesAfterUndo() async throws {
    let sandbox = try await rent()
    _ = try await sandbox.belfry("tick", now: at("09:00:00"))
    _ = try await sandbox.belfry("disable", "rent", now: at("09:01:00"))
    _ = try await sandbox.belfry("undo", now: at("09:02:00"))
    #expect(try await state(sandbox, at("09:02:30")) == "ringing")
    _ = try await sandbox.belfry("disable", "rent", now: at("09:03:00"))
    let log = try await sandbox.belfry("log", "--json", now: at("09:03:30")).array
    #expect(Set(log.prefix(2).map { $0["action"] as? String }) == ["disabled", "cleared"])
    _ = try await sandbox.belfry("enable", "rent", now: at("09:04:00"))
    #expect(try await state(sandbox, at("09:05:00")) == "active")
  }

  @Test func concurrentDoneStaysAfterUndo() async throws {
    let sandbox = try await rent()
    let server = try await sandbox.secondDevice()
    _ = try await sandbox.belfry("tick", now: at("09:00:00"))
    _ = try await sandbox.belfry("done", "rent", now: at("09:05:00"))
    _ = try await sandbox.belfry("undo", now: at("09:05:30"))
    _ = try await sandbox.belfry("done", "rent", now: at("09:06:00"), store: server)
    for store in [server, sandbox.store, server] {
      _ = try await sandbox.belfry("sync", now: at("09:07:00"), store: store)
    }
    // The undo takes back its own response only, on both devices and in the log.
    for store in [sandbox.store, server] {
      let list = try await sandbox.belfry("list", "--json", now: at("09:08:00"), store: store)
      #expect(list.array.first?["state"] as? String == "active")
      let stats = try await sandbox.belfry(
        "stats", "rent", "--json", now: at("09:08:00"), store: store)
      #expect(stats.object["done"] as? Int == 1)
    }
  }

  @Test func undoRevertsDisableOfRingingAlarm() async throws {
    let sandbox = try await rent()
    _ = try await sandbox.belfry("tick", now: at("09:00:00"))
    _ = try await sandbox.belfry("disable", "rent", now: at("09:01:00"))
    let undo = try await sandbox.belfry("undo", now: at("09:02:00"))
    #expect(undo.out.contains("it rings again"))
    #expect(try await state(sandbox, at("09:03:00")) == "ringing")
  }

  @Test("Repeated undo reverts one command at a time, even within one second")
  func undoStepByStep() async throws {
    let sandbox = try Sandbox()
    let now = at("08:00:00")
    func runCommand(_ words: String...) async throws -> String {
      let output = try await sandbox.run(
        Sandbox.binary, words,
        environment: ["BELFRY_NOW": now, "TZ": "UTC", "BELFRY_DEVICE": "laptop"])
      #expect(output.status == 0, "\(words) \(output.err)")
      return output.out
    }
    func title() async throws -> String? {
      try await sandbox.belfry("list", "--json", now: now).array.first?["title"] as? String
    }
    _ = try await runCommand("add", "A", "--daily", "--at", "09:00")
    for title in ["A1", "A2", "A3"] { _ = try await runCommand("edit", "A", "--title", title) }
    _ = try await runCommand("disable", "A")
    _ = try await runCommand("enable", "A")
    _ = try await runCommand("skip", "--yes", "A")
    _ = try await runCommand("skip", "--yes", "A")
    _ = try await runCommand("unskip", "A")
    for grace in ["1h", "2h"] { _ = try await runCommand("settings", "set", "grace", grace) }
    for words in ["Set grace to 2h", "Set grace to 1h", "Unskipped", "Skipped", "Skipped"] {
      #expect(try await runCommand("undo").hasPrefix("Undid: \(words)"))
    }
    #expect(try await runCommand("undo").hasPrefix("Undid: Enabled"))
    #expect(try await runCommand("undo").hasPrefix("Undid: Disabled"))
    for expected in ["A2", "A1", "A"] {
      _ = try await runCommand("undo")
      #expect(try await title() == expected)
    }
    #expect(try await runCommand("undo") == "Undid: Created: A; the alarm is deleted.\n")
    #expect(try await sandbox.belfry("undo", now: now).status == 4)
  }

  @Test func undoKeepsAlarmThatAnotherDeviceEdited() async throws {
    let sandbox = try await rent()
    let server = try await sandbox.secondDevice()
    _ = try await sandbox.belfry(
      "edit", "rent", "--note", "IBAN", now: at("08:00:00"), store: server)
    _ = try await sandbox.belfry("sync", now: at("08:01:00"), store: server)
    _ = try await sandbox.belfry("sync", now: at("08:02:00"))
    let undo = try await sandbox.belfry("undo", now: at("08:03:00"))
    #expect(undo.status == 4)
    #expect(undo.err.contains("the note of Rent reminder was changed since"))
    #expect(try await sandbox.belfry("list", "--json", now: at("08:04:00")).array.count == 1)
  }

  @Test func snoozeReportsEarlierNextOccurrence() async throws {
    let sandbox = try await rent()
    _ = try await sandbox.belfry("tick", now: at("09:00:00"))
    let snooze = try await sandbox.belfry("snooze", "rent", "1w", now: at("09:01:00"))
    #expect(
      snooze.out.contains(
        "The next occurrence comes first and replaces it: Fri 27 Nov 2026, 09:00."))
    // The list shows the missed occurrence and the ringing one.
    _ = try await sandbox.belfry("tick", now: "2026-11-27T09:00:00Z")
    let list = try await sandbox.belfry("list", "--cards", now: "2026-11-27T09:01:00Z").out
    #expect(list.contains("RINGING since Fri 27 Nov"))
    #expect(list.contains("Missed: Mon 23 Nov 2026, 09:00"))
  }

  @Test func longDowntimeIsReportedInOneLine() async throws {
    let sandbox = try await rent()
    let tick = try await sandbox.belfry("tick", now: "2027-03-01T22:00:00Z")
    let lines = tick.out.split(separator: "\n").filter { $0.hasPrefix("Missed") }
    #expect(
      lines == [
        "Missed: Rent reminder, 29 times from Mon 23 Nov 2026, 09:00 to Mon 1 Mar 2027, 09:00."
      ])
  }

  @Test func undoneEnableRestoresNoPastOccurrence() async throws {
    let sandbox = try await rent()
    _ = try await sandbox.belfry("disable", "rent", now: at("08:00:00"))
    _ = try await sandbox.belfry("enable", "rent", now: at("10:00:00"))
    let undo = try await sandbox.belfry("undo", now: at("10:01:00"))
    #expect(undo.out.contains("it is disabled"))
    _ = try await sandbox.belfry("enable", "rent", now: at("10:02:00"))
    // Occurrences during the disabled period do not ring.
    #expect(try await state(sandbox, at("10:03:00")) == "active")
  }

  @Test func undoAfterSyncReachesOtherDevice() async throws {
    let sandbox = try await rent()
    let server = try await sandbox.secondDevice()
    _ = try await sandbox.belfry("tick", now: at("09:00:00"))
    _ = try await sandbox.belfry("done", "rent", now: at("09:01:00"))
    _ = try await sandbox.belfry("sync", now: at("09:02:00"))
    _ = try await sandbox.belfry("sync", now: at("09:03:00"), store: server)
    // The other device has no command to undo.
    #expect(try await sandbox.belfry("undo", now: at("09:04:00"), store: server).status == 4)
    _ = try await sandbox.belfry("undo", now: at("09:05:00"))
    _ = try await sandbox.belfry("sync", now: at("09:06:00"))
    _ = try await sandbox.belfry("sync", now: at("09:07:00"), store: server)
    for store in [sandbox.store, server] {
      let list = try await sandbox.belfry("list", "--json", now: at("09:08:00"), store: store)
      #expect(list.array.first?["state"] as? String == "ringing")
    }
    let (one, two) = (
      try await sandbox.git("rev-parse", "HEAD^{tree}").out,
      try await sandbox.git("rev-parse", "HEAD^{tree}", in: server).out
    )
    #expect(one == two)
  }

  @Test func undoIsRefusedAfterResponseOfAnotherDevice() async throws {
    let sandbox = try await rent()
    _ = try await sandbox.belfry("tick", now: at("09:00:00"))
    _ = try await sandbox.belfry("stop", "rent", now: at("09:01:00"))
    let server = try await sandbox.secondDevice()
    _ = try await sandbox.belfry("done", "rent", now: at("09:03:00"), store: server)
    _ = try await sandbox.belfry("sync", now: at("09:04:00"), store: server)
    _ = try await sandbox.belfry("sync", now: at("09:05:00"))
    let undo = try await sandbox.belfry("undo", now: at("09:06:00"))
    #expect(undo.status == 4)
    #expect(undo.err.contains("is now done"))
    #expect(try await state(sandbox, at("09:07:00")) == "active")
  }

  // MARK: Settings

  @Test func settingsPersistAndAreShown() async throws {
    let sandbox = try await rent()
    for (name, value) in [
      ("snoozeEnabled", "off"), ("slideToStop", "on"), ("sound", "tritone"),
      ("unmuteSound", "on"), ("openScreen", "on"), ("terminalNotices", "off"),
      ("fixedZone", "on"), ("snooze", "12m"), ("grace", "6h"), ("ringTimeout", "5m"),
    ] {
      let set = try await sandbox.belfry("settings", "set", name, value)
      #expect(set.status == 0, "\(set.err)")
      #expect(try await sandbox.belfry("settings", "get", name).out == "\(value)\n")
    }
    let all = try await sandbox.belfry("settings", "--json").object
    #expect(all["snoozeEnabled"] as? Bool == false)
    #expect(all["snooze"] as? Int == 720)
    #expect(all["sound"] as? String == "tritone")
    let notifications = all["notifications"] as? [String: Any]
    #expect(notifications?["reachable"] as? Bool == true)
    #expect((notifications?["detail"] as? String)?.contains(sandbox.hooks) == true)
    #expect(try await sandbox.belfry("settings").out.contains("Nothing is copied to other devices"))
    // Settings of this device are not in the store.
    let shared = try sandbox.read(sandbox.store + "/settings.json")
    #expect(shared.contains("\"fixedZone\": true"))
    #expect(!shared.contains("tritone"))
    #expect(try sandbox.read(sandbox.home + "/.config/belfry/settings.json").contains("tritone"))
    _ = try await sandbox.belfry("tick", now: at("09:00:00"))
    let snooze = try await sandbox.belfry("snooze", "rent", now: at("09:01:00"))
    #expect(snooze.status == 4)
    #expect(snooze.err.contains("settings set snoozeEnabled on"))
    // The shorter ring timeout applies.
    _ = try await sandbox.belfry("tick", now: at("09:05:00"))
    #expect(try await state(sandbox, at("09:05:01")) == "missed")
    _ = try await sandbox.belfry("settings", "unset", "sound")
    #expect(try await sandbox.belfry("settings", "get", "sound").out == "bell\n")
  }

  @Test func fixedZoneUsesCurrentZone() async throws {
    let sandbox = try Sandbox()
    _ = try await sandbox.belfry("settings", "set", "fixedZone", "on")
    let add = try await sandbox.belfry(
      "add", "Tea", "--daily", "--at", "09:00", "--json", zone: "Europe/Berlin")
    #expect(add.object["zone"] as? String == "Europe/Berlin")
    let floating = try await sandbox.belfry(
      "add", "Milk", "--daily", "--at", "09:00", "--zone", "floating", "--json",
      zone: "Europe/Berlin")
    #expect(floating.object["zone"] as? String == "floating")
  }

  @Test(arguments: [
    ["set", "snooze", "soon"], ["set", "nothing", "on"], ["set", "sound", "trumpet"],
    ["set", "followUps", "1h,30m"], ["set", "tier", "gold"], ["get", "colour"],
    ["get", "snooze.length"], ["set", "follow-ups", "none"],
    ["set", "snoozeEnabled", "maybe"], ["set", "grace", "5000d"],
  ])
  func invalidSettingsAreRefused(_ words: [String]) async throws {
    let sandbox = try Sandbox()
    let output = try await sandbox.run(Sandbox.binary, ["settings"] + words)
    #expect(output.status == 2)
    #expect(output.err.split(separator: "\n").count == 2, "\(output.err)")
  }

  @Test func settingsReportNotificationChannels() async throws {
    let sandbox = try Sandbox()
    try FileManager.default.removeItem(atPath: sandbox.hooks)
    let settings = try await sandbox.belfry(
      "settings", "--json", environment: ["DBUS_SESSION_BUS_ADDRESS": "unix:path=/nonexistent"])
    let notifications = settings.object["notifications"] as? [String: Any]
    let detail = notifications?["detail"] as? String ?? ""
    if notifications?["reachable"] as? Bool == true {
      #expect(detail.hasPrefix("terminals only"))
    } else {
      #expect(!detail.isEmpty)
    }
  }

  @Test func invalidDeviceSettingsAreReported() async throws {
    let sandbox = try await rent()
    try sandbox.write("{ nonsense", to: sandbox.home + "/.config/belfry/settings.json")
    let get = try await sandbox.belfry("settings", "get", "sound")
    #expect(get.out == "bell\n")
    #expect(get.err.contains("is not valid"))
    #expect(try await sandbox.belfry("settings", "set", "sound", "pulse").status == 1)
    #expect(
      try sandbox.read(sandbox.home + "/.config/belfry/settings.json") == "{ nonsense")
  }

  // MARK: Sounds

  @Test func soundsAreListedAndPlayed() async throws {
    let sandbox = try Sandbox()
    #expect(try await sandbox.belfry("sounds").out.hasPrefix("* bell"))
    #expect(try await sandbox.belfry("sounds", "--json").array.count == 5)
    let players = ["PATH": sandbox.root, "BELFRY_SOUND": ""]
    let none = try await sandbox.belfry("sounds", "play", environment: players)
    #expect(none.status == 1)
    #expect(none.err.contains("alsa-utils"))
    try sandbox.write(
      "#!/bin/sh\n/bin/cat \"$1\" > '\(sandbox.root)/played'\n", to: sandbox.root + "/aplay",
      mode: 0o755)
    let play = try await sandbox.belfry("sounds", "play", "pulse", environment: players)
    #expect(play.out == "Played pulse.\n")
    #expect(
      try Data(contentsOf: URL(filePath: sandbox.root + "/played")).starts(with: Data("RIFF".utf8)))
    try sandbox.write(
      "#!/bin/sh\necho no card >&2\nexit 1\n", to: sandbox.root + "/aplay", mode: 0o755)
    let broken = try await sandbox.belfry("sounds", "play", environment: players)
    #expect(broken.status == 1)
    #expect(broken.err.contains("no card"))
    #expect(try await sandbox.belfry("sounds", "play", "trumpet").status == 2)
    #expect(try await sandbox.belfry("add", "Tea", "--daily", "--sound", "trumpet").status == 2)
    let tea = try await sandbox.belfry("add", "Tea", "--daily", "--sound", "pulse")
    #expect(tea.status == 0)
    #expect(try sandbox.read(sandbox.alarmFile()).contains("\"sound\": \"pulse\""))
  }

  // MARK: Pauses

  @Test("A pause reports missing arguments, unchanged pauses and the effect of its undo")
  func pauses() async throws {
    let sandbox = try await rent()
    let bare = try await sandbox.belfry("pause", now: at("08:00:00"))
    #expect(
      bare.status == 2
        && bare.err.contains("name alarms, select some such as +work, or use --all."), "\(bare.err)"
    )
    let endless = try await sandbox.belfry("pause", "--all", now: at("08:00:00"))
    #expect(endless.status == 2 && endless.err.contains("--until"), "\(endless.err)")
    let idle = try await sandbox.belfry("resume", "rent", now: at("08:00:00"))
    #expect(idle.out == "Nothing changed: the alarm is not paused.\n")
    _ = try await sandbox.belfry("pause", "rent", "--until", "2026-12-20", now: at("08:00:00"))
    let shorter = try await sandbox.belfry(
      "pause", "--all", "--until", "2026-11-30", now: at("08:01:00"))
    #expect(shorter.out.contains("paused for at least as long"))
    let one = try await sandbox.belfry(
      "pause", "rent", "--until", "2026-11-30", now: at("08:02:00"))
    #expect(one.out.hasPrefix("Paused Rent reminder until Mon 30 Nov"), "\(one.out)")
    _ = try await sandbox.belfry("resume", "--all", now: at("08:03:00"))
    // A pause does not silence a ringing occurrence, so its undo does not restart it.
    _ = try await sandbox.belfry("tick", now: at("09:00:00"))
    _ = try await sandbox.belfry("pause", "rent", "--until", "2026-11-30", now: at("09:01:00"))
    let undo = try await sandbox.belfry("undo", now: at("09:02:00"))
    #expect(undo.out.hasSuffix("; it rings.\n"), "\(undo.out)")
    let usage = try await sandbox.belfry("service", "install", "--nonsense")
    #expect(usage.err.contains("See 'belfry help service install'."), "\(usage.err)")
  }

  // MARK: The firing screen

  @Test(arguments: [
    ("d", "Done: Rent reminder", "active"), ("s", "Stopped Rent reminder", "pending"),
    ("ky", "Skipped Rent reminder (Mon 23 Nov 2026, 09:00); next is Fri 27 Nov 2026,", "active"),
    ("knq", "keeps ringing: belfry ring", "ringing"),
    ("z", "Snoozed Rent reminder", "snoozed"), ("1", "it rings again at 10:0", "snoozed"),
    ("q", "keeps ringing: belfry ring", "ringing"), ("\u{1B}", "keeps ringing", "ringing"),
  ])
  func firingScreenKeyRecordsResponse(_ key: String, _ words: String, _ state: String) async throws
  {
    let sandbox = try await rent()
    _ = try await sandbox.belfry("tick", now: at("09:00:00"))
    let ring = try await sandbox.onTerminal(
      "ring", input: key, after: "leave it ringing", now: at("09:00:30"))
    #expect(ring.status == 0, "\(ring.out)")
    let parts = ring.out.split(separator: "\u{1B}[?1049l")
    #expect(ring.out.contains("\u{1B}[?1049h"))
    #expect(parts.first?.contains("Rent reminder") == true)
    #expect(parts.first?.contains("Pay landlord") == true)
    #expect(parts.first?.contains("[weekly]") == true)
    // The screen is black, and the cursor is visible again.
    #expect(parts.first?.contains("48;5;16m") == true)
    #expect(ring.out.contains("\u{1B}[?25h"))
    #expect(parts.last?.contains(words) == true, "\(ring.out)")
    #expect(try await self.state(sandbox, at("09:01:00")) == state)
  }

  @Test("The firing screen of a moved occurrence shows the time to which it was moved")
  func firingScreenOfMoved() async throws {
    let sandbox = try await rent()
    let move = try await sandbox.belfry("move", "rent", "tomorrow", "15:00", now: at("08:00:00"))
    #expect(move.status == 0, "\(move.err)")
    _ = try await sandbox.belfry("tick", now: "2026-11-24T15:00:00Z")
    let ring = try await sandbox.onTerminal(
      "ring", input: "q", after: "leave it ringing", now: "2026-11-24T15:01:00Z")
    #expect(ring.out.contains("Tue 24 Nov 2026"), "\(ring.out)")
    #expect(!ring.out.contains("Mon 23 Nov 2026"), "\(ring.out)")
  }

  @Test("The firing screen asks before a skip, and offers none for an alarm that rings once")
  func firingScreenSkips() async throws {
    let sandbox = try await rent()
    _ = try await sandbox.belfry("tick", now: at("09:00:00"))
    let asked = try await sandbox.onTerminal(
      "ring", input: "k", after: "leave it ringing", then: ("q", after: "Skip this occurrence?"),
      now: at("09:00:30"))
    #expect(asked.out.contains("[k] skip"))
    #expect(asked.out.contains("Skip this occurrence? [y] yes, [n] no"), "\(asked.out)")
    _ = try await sandbox.belfry("done", "rent", now: at("09:01:00"))
    _ = try await sandbox.belfry(
      "add", "Dentist", "--once", "2026-11-23T10:00", now: at("09:02:00"))
    _ = try await sandbox.belfry("tick", now: at("10:00:00"))
    let once = try await sandbox.onTerminal(
      "ring", "dentist", input: "kyq", after: "leave it ringing", now: at("10:00:30"))
    #expect(once.out.contains("Dentist keeps ringing"), "\(once.out)")
    #expect(!once.out.contains("[k] skip"), "\(once.out)")
  }

  @Test func firingScreenNeedsRingingAlarmAndTerminal() async throws {
    let sandbox = try await rent()
    let idle = try await sandbox.onTerminal("ring", input: "")
    #expect(idle.status == 4)
    #expect(idle.out.contains("nothing rings"))
    _ = try await sandbox.belfry("tick", now: at("09:00:00"))
    let piped = try await sandbox.belfry("ring", now: at("09:01:00"))
    #expect(piped.status == 4)
    #expect(piped.err.contains("needs a terminal"))
  }

  @Test("ring --wait shows a clock until an alarm rings, and again after the answer")
  func bedsideClock() async throws {
    let sandbox = try await rent()
    // The clock of the test passes 09:00 while the screen is open.
    let ring = try await sandbox.onTerminal(
      "ring", "--wait", input: "d", after: "leave it ringing", then: ("q", after: "Done: Rent"),
      now: at("08:59:58"))
    #expect(ring.status == 0, "\(ring.out)")
    #expect(ring.out.contains("next: Rent reminder"))
    #expect(ring.out.contains("today 09:00, in less than a minute"), "\(ring.out)")
    #expect(ring.out.contains("alarms ring only while this screen is open"))
    #expect(ring.out.contains("Pay landlord"))
    let clock = try #require(ring.out.split(separator: "leave it ringing").last)
    #expect(clock.contains("Fri 09:00"), "\(clock)")
    #expect(try await state(sandbox, at("09:01:00")) == "active")
    let piped = try await sandbox.belfry("ring", "--wait", now: at("09:01:00"))
    #expect(piped.status == 4)
  }

  @Test("The bedside clock survives a store that cannot be read for a time")
  func bedsideClockWithoutStore() async throws {
    let sandbox = try await rent()
    async let ring = sandbox.onTerminal(
      "ring", "--wait", input: "", after: "next: Rent", then: ("q", after: "next: Reopened"),
      now: at("08:00:00"))
    func waitFor(_ text: String) async throws {
      for _ in 0..<600 {
        let files = try FileManager.default.contentsOfDirectory(atPath: sandbox.root)
        let shown = files.filter { $0.hasPrefix("terminal-") }
          .compactMap { FileManager.default.contents(atPath: "\(sandbox.root)/\($0)") }
        if shown.contains(where: { String(decoding: $0, as: UTF8.self).contains(text) }) { return }
        try await Task.sleep(for: .milliseconds(50))
      }
      Issue.record("the terminal does not show '\(text)'")
    }
    try await waitFor("next: Rent")
    let away = sandbox.store + "-away"
    try FileManager.default.moveItem(atPath: sandbox.store, toPath: away)
    try await waitFor("The store cannot be read")
    try FileManager.default.moveItem(atPath: away, toPath: sandbox.store)
    _ = try await sandbox.belfry("edit", "rent", "--title", "Reopened", now: at("08:00:10"))
    #expect(try await ring.status == 0)
  }

  @Test func tickOpensFiringScreenOnTerminal() async throws {
    let sandbox = try await rent()
    let tick = try await sandbox.onTerminal(
      "tick", "--ring", input: "d", after: "leave it ringing", now: at("09:00:00"))
    #expect(tick.out.contains("Fired: Rent reminder"))
    #expect(tick.out.contains("Done: Rent reminder"))
    #expect(try await state(sandbox, at("09:01:00")) == "active")
    // Without a terminal, the tick delivers as usual.
    _ = try await sandbox.belfry("tick", "--ring", now: "2026-11-27T09:00:00Z")
    #expect(sandbox.rings.count == 2)
  }

  @Test(
    "The firing screen has no snooze key without snoozing, and no immediate stop key with slideToStop"
  )
  func firingScreenKeysFollowSettings() async throws {
    let sandbox = try await rent()
    _ = try await sandbox.belfry("settings", "set", "snoozeEnabled", "off")
    _ = try await sandbox.belfry("settings", "set", "slideToStop", "on")
    _ = try await sandbox.belfry("tick", now: at("09:00:00"))
    let ring = try await sandbox.onTerminal(
      "ring", input: "szq", after: "leave it ringing", now: at("09:00:30"))
    #expect(ring.out.contains("hold [Space] for 3 s to stop"))
    #expect(!ring.out.contains("snooze:"))
    #expect(ring.out.contains("keeps ringing"))
    #expect(try await state(sandbox, at("09:01:00")) == "ringing")
  }
}
